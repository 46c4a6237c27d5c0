"""The picture of a graph, or of a comparison, as a static SVG: no script, no external parts.

It is a picture wherever SVG works: on GitHub, in VS Code, in print, in other programs than
browsers. It is a table of layers. A layer has its variables beside it, each with its slots, and
arrows lead from a layer to those that are called on its result. Shape, colour and legend show the
kind; sign, line and word show the state. Colour is never the only mark.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import VALUE_ROLES, Node, Role
from ckpt_viz.object_graph.overlay import QUIET, Comparison, Overlay, State
from ckpt_viz.render import text
from ckpt_viz.render.families import family_of
from ckpt_viz.render.outline import MAX_ROWS
from ckpt_viz.render.palette import DARK, LIGHT
from ckpt_viz.render.row_tree import Row
from ckpt_viz.render.row_words import left_out, line_of, rows_of
from ckpt_viz.render.signs import verdict_sign
from ckpt_viz.render.svg_flow import Bracket, flow_of
from ckpt_viz.render.svg_pills import pill_lines, pills_of
from ckpt_viz.render.svg_text import FONT, cut_to, lines_of, pixels, shorter
from ckpt_viz.render.text import printable, shortened, side_by_side
from ckpt_viz.render.views import View

_MAX_WIDTH, _MIN_WIDTH = 1000, 640  # pixels; GitHub shows at most some 1000
_ROW, _LINE = (
    26,
    18,
)  # the heights of a row, and of a line of a sentence or of a second row of pills
_MARGIN, _GAP = 16, 20
_ICON, _ICON_HEIGHT = 17, 14
_INDENT, _MAX_INDENT = 28, 360  # of a level, and of all levels together
_NAME, _SMALL = 13, 12  # sizes of text; 11 is the least
_MAX_NAME, _MAX_KIND, _MAX_VALUE = 230, 160, 260
_MAX_NOTES = 3
_MAX_LINES = 4  # of a sentence above the table


def _colors(colors: Mapping[str, str]) -> str:
    root = "svg.ckv-static"
    rules = [
        f"{root} .back{{fill:{colors['back']}}}",
        f"{root} text{{fill:{colors['fore']}}}",
        f"{root} .faint{{fill:{colors['faint']}}}",
        f"{root} .tree{{stroke:{colors['branch']}}}",
        f"{root} .flow{{stroke:{colors['edge']}}}",
        f"{root} .line{{stroke:{colors['line']}}}",
        f"{root} .mark{{fill:{colors['mark']}}}",
        f"{root} .sign{{stroke:{colors['back']}}}",
        f"{root} .tab{{fill:{colors['object']}}}",
        f"{root} .dashed+.sign{{stroke:{colors['object']}}}",
        f"{root} .container{{stroke:{colors['container']}}}",
        f"{root} :is(.object,.layer){{stroke:{colors['object']};fill:{colors['back']}}}",
        *(
            f"{root} .{kind}{{stroke:{colors[kind]};fill:{colors[f'{kind}-tint']}}}"
            for kind in ("variable", "optimizer", "slot")
        ),
    ]
    return "".join(rules)


# A constant: a page that shows the picture can allow exactly this style, by its hash. In print, the
# colours are the light ones.
STYLE = (
    f"svg.ckv-static text{{font:{_SMALL}px {FONT};white-space:pre;unicode-bidi:isolate}}"
    f"svg.ckv-static .name{{font-size:{_NAME}px}}"
    "svg.ckv-static .strong{font-weight:bold}"
    "svg.ckv-static .small{font-size:11px}"
    "svg.ckv-static .end{text-anchor:end}"
    "svg.ckv-static .gone{text-decoration:line-through}"
    "svg.ckv-static :is(.tree,.flow,.line){fill:none;stroke-width:1}"
    "svg.ckv-static .flow{stroke-width:1.3}"
    "svg.ckv-static .icon{stroke-width:1.4}"
    "svg.ckv-static .optimizer{stroke-width:1.8}"
    "svg.ckv-static .container{fill:none}"
    "svg.ckv-static .sign{fill:none;stroke-width:1.6}"
    "svg.ckv-static .dashed{stroke-dasharray:2.5 1.8}"
    f"{_colors(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colors(DARK)}}}"
)

_SHAPES = {
    "object": '<rect class="icon object{}" x="{x}" y="{y}" width="17" height="14" rx="3"/>',
    "layer": '<rect class="icon layer{}" x="{x}" y="{y}" width="17" height="14" rx="3"/>',
    "container": '<path class="icon container{}" d="M{x} {y}m5 0h-5v14h5m7 -14h5v14h-5"/>',
    "group": '<path class="icon object" d="M{x} {y}m3 3h14v11h-14zm-3 8v-11h14"/>',
    "variable": '<rect class="icon variable{}" x="{x}" y="{y}" width="17" height="14" rx="7"/>',
    "slot": '<rect class="icon slot dashed{}" x="{x}" y="{y}" width="14" height="14"/>',
    "optimizer": '<path class="icon optimizer{}" d="M{x} {y}m4 0h9l4 7l-4 7h-9l-4 -7z"/>',
}
_GONE = (State.SAVED_ONLY, State.ONLY_A)  # with the name struck through
_KINDS = {
    Role.LAYER: "layer",
    Role.CONTAINER: "container",
    Role.BOOKKEEPING: "container",
    Role.VARIABLE: "variable",
    Role.OPTIMIZER: "optimizer",
    Role.SLOT: "slot",
}
_LEGEND = ("layer", "object", "container", "variable", "slot", "optimizer")


def to_svg(
    graph: Graph,
    overlay: Overlay | None = None,
    *,
    notes: Iterable[str] = (),
    max_rows: int = MAX_ROWS,
    view: View = "layers",
) -> str:
    """Return the picture as SVG, of at most `max_rows` rows; `overlay` is of this graph.

    A graph alone is shown as its layers, in at most 60 rows, or with all its `objects`.

    Names from checkpoints are text in it, escaped and without control characters. The same graph
    gives the same picture.
    """
    table = _Table(graph, overlay, rows_of(graph, overlay, max_rows, view), view)
    width = table.width
    header = [*_wrapped(sentences(graph, overlay, notes), width)]
    top = _MARGIN + _LINE * len(header) + _GAP
    foot = top + table.height + _GAP // 2
    footer = [*_wrapped([("faint", left_out(graph, table.rows) or "")], width)]
    legend = [*table.legend(foot)]
    foot += _ROW if legend else 0
    height = foot + _LINE * len(footer) + _MARGIN
    what = cut_to(shortened(graph.title), width)
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ckv-static" width="{width}" '
            f'height="{_number(height)}" viewBox="0 0 {width} {_number(height)}" role="group">\n',
            f"<title>{_escaped(what)}</title>\n",
            f"<desc>{_escaped(_description(graph, overlay, table.rows))}</desc>\n",
            f"<style>{STYLE}</style>\n",
            f'<rect class="back" width="{width}" height="{_number(height)}"/>\n',
            *_paragraphs(header, _MARGIN),
            *table.head(top - 6),
            *table.branches(top),
            '<g role="list">\n',
            *table.drawn(top),
            "</g>\n",
            *legend,
            *_paragraphs(footer, foot),
            "</svg>\n",
        )
    )


class _Table:
    """The rows of the picture, and where each part of them is."""

    def __init__(
        self, graph: Graph, overlay: Overlay | None, rows: Sequence[Row], view: View
    ) -> None:
        self.rows = rows
        self._graph, self._overlay = graph, overlay
        self._texts = [line_of(graph, overlay, row) for row in rows]
        self._indent = min(_INDENT, _MAX_INDENT / max(row.level for row in rows))
        is_picture = view == "layers" and overlay is None
        self._pills = pills_of(graph, rows, self._texts) if is_picture else {}
        inside = {pill.place for pills in self._pills.values() for pill in pills}
        self._lines = [place for place in range(len(rows)) if place not in inside]
        self._labels = [shorter(line.name, _MAX_NAME, _NAME, is_bold=True) for line in self._texts]
        self._kinds = [self._kind_of(place) for place in range(len(rows))]
        self._arrange()
        calls = graph.calls if is_picture else ()
        self._flow = flow_of(graph.layers, calls, rows, self._lines) if calls else ()

    def _kind_of(self, place: int) -> str:
        """Return what a row says of itself beside its name."""
        row, line = self.rows[place], self._texts[place]
        if row.node_id is None or row.hanging:
            return line.kind
        node = self._graph.nodes[row.node_id]
        type_name = "" if node.role in VALUE_ROLES else node.type_name or ""
        return cut_to(shortened(type_name), _MAX_KIND)

    def _arrange(self) -> None:
        """Find the columns, as wide as their texts, and the height of each line."""
        lines, texts = self._lines, self._texts
        self._body = max(map(self._end_of_name, lines)) + _GAP
        parameters = [f"{row.parameters:,}" for row in self.rows if row.parameters]
        column = max([0.0, *(pixels(number) for number in parameters)])
        self._number_width = column + _GAP if column else 0.0
        if self._number_width:
            self._number_width = max(self._number_width, pixels("parameters", 11) + _GAP)
        room = _MAX_WIDTH - _MARGIN - self._number_width - self._body
        self._pill_lines = {place: pill_lines(pills, room) for place, pills in self._pills.items()}
        ends = [
            self._body + sum(pill.width + 6 for pill in pills) - 6
            for of_row in self._pill_lines.values()
            for pills in of_row
        ]
        values = [cut_to(texts[place].rest, _MAX_VALUE) for place in lines]
        self._values = dict(zip(lines, values, strict=True))
        widest = max(map(pixels, values))
        self._glyph = self._body + (widest + _GAP if widest else 0)
        has_glyphs = any(line.glyph for line in texts)
        self._note = self._glyph + (_ROW * 0.7 if has_glyphs else 0)
        most = _MAX_WIDTH - _MARGIN - self._number_width - self._note
        self._notes = {
            place: cut_to(side_by_side(texts[place].note, texts[place].below), most)
            for place in lines
        }
        ends += [self._body + widest, *(self._note + pixels(n) for n in self._notes.values())]
        width = max(ends) + self._number_width + _MARGIN
        self.width = int(min(_MAX_WIDTH, max(_MIN_WIDTH, width)))
        self._tops: dict[int, float] = {}
        self.height = 0.0
        for place in lines:
            self._tops[place] = self.height
            more = max(len(self._pill_lines.get(place, ())) - 1, 0)
            self.height += _ROW + more * (_LINE + 6)

    def _left(self, place: int) -> float:
        return _MARGIN + (self.rows[place].level - 1) * self._indent

    def _end_of_name(self, place: int) -> float:
        kind = self._kinds[place]
        start = self._left(place) + _ICON + 6 + self._name_width(place)
        return start + (pixels(kind) + 8 if kind else 0)

    def _name_width(self, place: int) -> float:
        return pixels(self._labels[place], _NAME, is_bold=self._is_bold(place))

    def _is_bold(self, place: int) -> bool:
        """Return whether a name is bold: layers and what holds them, but no value."""
        row = self.rows[place]
        if row.node_id is None:
            return row.group is not None
        return self._graph.nodes[row.node_id].role in (Role.LAYER, Role.OPTIMIZER)

    def head(self, base: float) -> Iterator[str]:
        """Yield the name of the column of numbers, and a line below the header."""
        if self._number_width:
            yield _text(self.width - _MARGIN, base, "parameters", "faint small end") + "\n"
        end = self.width - _MARGIN
        yield f'<path class="line" d="M{_MARGIN} {_number(base + 5.5)}H{end}"/>\n'

    def drawn(self, top: float) -> Iterator[str]:
        """Yield the rows, each with its sentence as title: for tooltips and for screen readers."""
        for place in self._lines:
            yield self._row(place, top + self._tops[place])
            for number, pills in enumerate(self._pill_lines.get(place, ())):
                x, y = self._body, top + self._tops[place] + 3 + number * (_LINE + 6)
                for pill in pills:
                    sentence = _escaped(self._texts[pill.place].sentence)
                    parts = "".join(pill.drawn(x, y, _escaped))
                    yield f'<g role="listitem"><title>{sentence}</title>{parts}</g>\n'
                    x += pill.width + 6

    def _row(self, place: int, top: float) -> str:
        row, line, overlay = self.rows[place], self._texts[place], self._overlay
        left, base = self._left(place), top + _ROW / 2 + 4.5
        icon = self._icon(place, left, top + (_ROW - _ICON_HEIGHT) / 2)
        mark = overlay.marks[row.node_id].state if overlay and row.node_id is not None else None
        shade = "name strong" if self._is_bold(place) else "name" if icon else "name faint"
        shade += " gone" if mark in _GONE else ""
        is_loud = mark is not None and mark not in QUIET
        label = left + _ICON + 6 if icon else left
        number = f"{row.parameters:,}" if row.parameters else ""
        is_value = row.node_id is not None and bool(self._graph.nodes[row.node_id].attributes)
        value_look = "" if is_value or row.hanging else "faint"
        return "".join(
            (
                f'<g role="listitem"><title>{_escaped(line.sentence)}</title>',
                icon,
                _text(label, base, self._labels[place], shade),
                _text(label + self._name_width(place) + 8, base, self._kinds[place], "faint"),
                ""
                if place in self._pills
                else _text(self._body, base, self._values[place], value_look),
                _text(self._glyph, base, line.glyph, "mark strong" if is_loud else "faint"),
                _text(self._note, base, self._notes[place], "mark" if is_loud else "faint"),
                _text(self.width - _MARGIN, base, number, "faint end"),
                "</g>\n",
            )
        )

    def _icon(self, place: int, left: float, top: float) -> str:
        """Return the shape of a node's role, or of a group; "" for a row that counts the rest."""
        row = self.rows[place]
        at = {"x": _number(left), "y": _number(top)}
        if row.group is not None:
            return _SHAPES["group"].format(**at)
        if row.node_id is None:
            return ""
        node = self._graph.nodes[row.node_id]
        overlay = self._overlay
        is_other = overlay is not None and row.node_id >= overlay.base_size
        kind = _KINDS.get(node.role, "object")
        is_dashed = is_other or row.hanging > 0
        shape = _SHAPES[kind].format(" dashed" if is_dashed else "", **at)
        return shape + (_tab(node, is_other, left, top) if kind == "layer" else "")

    def branches(self, top: float) -> Iterator[str]:
        """Yield the lines from parents to children, and the arrows along which tensors go."""
        called = {arrow.consumer for arrow in self._flow}
        steps: dict[int, list[str]] = {}
        last: dict[int, float] = {}
        for place in self._lines:
            parent = self.rows[place].parent
            if parent < 0 or (place in called and parent in steps):
                continue
            x = self._left(parent) + _ICON / 2
            y = top + self._tops[place] + _ROW / 2
            end = max(x, self._left(place) - 3)
            steps.setdefault(parent, []).append(f"M{_number(x)} {_number(y)}H{_number(end)}")
            last[parent] = y
        for parent, ticks in steps.items():
            trunk = _number(self._left(parent) + _ICON / 2)
            start = top + self._tops[parent] + (_ROW + _ICON_HEIGHT) / 2 + 1
            path = f"M{trunk} {_number(start)}V{_number(last[parent])}{''.join(ticks)}"
            yield f'<path class="tree" d="{path}"/>\n'
        for arrow in self._flow:
            yield f'<path class="flow" d="{self._arrow(arrow, top)}"/>\n'

    def _arrow(self, arrow: Bracket, top: float) -> str:
        """Return the path of an arrow: straight to the next layer, or around those between."""
        start, end = (
            top + self._tops[place] + _ROW / 2 for place in (arrow.producer, arrow.consumer)
        )
        left = self._left(arrow.consumer)
        if not arrow.lane:
            x, tip = _number(left + _ICON / 2), _number(end - _ICON_HEIGHT / 2 - 1)
            begin = _number(start + _ICON_HEIGHT / 2 + 1)
            return f"M{x} {begin}V{tip}m-3 -4l3 4l3 -4"
        around = _number(left - 3 - 4 * arrow.lane)
        if self.rows[arrow.consumer].parent == arrow.producer:  # from the line of the tree
            trunk = _number(self._left(arrow.producer) + _ICON / 2)
            begin = f"M{trunk} {_number(start + _ICON_HEIGHT / 2 + 5)}"
        else:
            begin = f"M{_number(left - 1)} {_number(start + 3)}"
        return f"{begin}H{around}V{_number(end - 2)}H{_number(left - 2)}m-4 -3l4 3l-4 3"

    def legend(self, top: float) -> Iterator[str]:
        """Yield the icons of the picture with their words."""
        nodes, overlay = self._graph.nodes, self._overlay
        kinds = {
            _KINDS.get(nodes[row.node_id].role, "object")
            for row in self.rows
            if row.node_id is not None
        }
        slots = {name: s for pills in self._pills.values() for p in pills for name, s in p.slots}
        kinds |= {"slot"} if slots else set()
        x, base = float(_MARGIN), top + _ROW / 2 + 4.5
        for kind in _LEGEND:
            if kind not in kinds or overlay is not None:
                continue
            letters = ", ".join(f"{letter} {name}" for name, letter in slots.items())
            word = f"slot: {letters}" if kind == "slot" and letters else kind
            word = cut_to(word, 300)
            if x + _ICON + 6 + pixels(word) > self.width - _MARGIN:
                break
            yield _SHAPES[kind].format("", x=_number(x), y=_number(base - 11.5))
            yield _tab(Node(), False, x, base - 11.5) if kind == "layer" else ""
            yield _text(x + _ICON + 6, base, word, "faint") + "\n"
            x += _ICON + 6 + pixels(word) + _GAP


def _tab(node: Node, is_other: bool, x: float, y: float) -> str:
    """Return what makes a box a layer: it is solid, with the sign of its family."""
    family = family_of(node.type_name or "")
    width = 6 if family is None else 0 if is_other else _ICON
    tab = (
        f'<rect class="tab" x="{_number(x)}" y="{_number(y)}" width="{width}" '
        f'height="{_ICON_HEIGHT}" rx="3"/>'
    )
    if family is None:
        return tab
    sign = (
        f'<svg class="sign" x="{_number(x + 2.5)}" y="{_number(y + 1)}" width="12" height="12" '
        f'viewBox="0 0 12 12"><path d="{family.path}"/></svg>'
    )
    return f"{tab if width else ''}{sign}"


def _wrapped(sentences: Iterable[tuple[str, str]], width: float) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with its look, in lines that fit into the picture."""
    for look, sentence in sentences:
        if sentence:
            size = _NAME if "name" in look else _SMALL
            for line in lines_of(sentence, (width - 2 * _MARGIN) / 1.08, size, _MAX_LINES):
                yield look, line


def sentences(
    graph: Graph, overlay: Overlay | None, notes: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the lines above the outline: source, verdict, and how each path led to its files."""
    yield "name strong", shortened(graph.title)
    if overlay is None:
        yield "faint", _nodes_words(graph)
    else:
        glyph = verdict_sign(overlay.comparison, overlay.passes).glyph
        look = "strong" if overlay.passes else "mark strong"
        yield look, f"{glyph} {shortened(overlay.headline)}"
        if overlay.comparison is Comparison.CHECK:
            yield "faint", _verdicts(overlay)
    left_open = text.advice(graph) if overlay is None else overlay.notes
    for alarm in text.alarms(graph):
        yield "mark", shortened(alarm)
    for note in [*left_open, *notes, *text.notes(graph)][:_MAX_NOTES]:
        is_warning = overlay is None and note in left_open
        yield "mark" if is_warning else "faint", shortened(note)


def _verdicts(overlay: Overlay) -> str:
    return "   ".join(
        f"{verdict_sign(overlay.comparison, verdict.passes).glyph} {shortened(verdict.name)}"
        for verdict in overlay.verdicts
    )


def _description(graph: Graph, overlay: Overlay | None, rows: Sequence[Row]) -> str:
    what = "Outline of an object graph" if overlay is None else shortened(overlay.headline)
    return ". ".join(filter(None, (what, _nodes_words(graph), left_out(graph, rows))))


def _nodes_words(graph: Graph) -> str:
    """Return the kind of source and the number of nodes of each role, without the title."""
    return text.summary(graph).removeprefix(f"{printable(graph.title)} ")


def _paragraphs(lines: Iterable[tuple[str, str]], top: float) -> Iterator[str]:
    for place, (look, line) in enumerate(lines):
        yield _text(_MARGIN, top + _LINE * place + 12, line, look) + "\n"


def _text(x: float, y: float, words: str, look: str = "") -> str:
    if not words:
        return ""
    styled = f' class="{look}"' if look else ""
    return f'<text{styled} x="{_number(x)}" y="{_number(y)}">{_escaped(words)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _escaped(words: str) -> str:
    """Return text for XML; as a precaution, replace unprintable characters that remain."""
    return html.escape(printable(words))

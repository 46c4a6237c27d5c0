"""The outline of a graph, or of a comparison, as a static SVG: no script, no external parts.

It is a picture wherever SVG works: on GitHub, in print, in other programs than browsers. Shape,
colour and word show the kind; sign, line and word show the state. Colour is never the only mark.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import QUIET, Comparison, Overlay, State
from ckpt_viz.render import text
from ckpt_viz.render.families import family_of
from ckpt_viz.render.outline import MAX_ROWS
from ckpt_viz.render.palette import DARK, LIGHT
from ckpt_viz.render.row_tree import Row
from ckpt_viz.render.row_words import RowText, columns_of, cut, left_out, line_of, rows_of
from ckpt_viz.render.signs import verdict_sign
from ckpt_viz.render.text import printable, shortened, side_by_side
from ckpt_viz.render.views import View

_ROW = 20  # pixels
_CHARACTER = 7.25  # pixels per character at size 12 in most fixed-width fonts
_MARGIN, _GAP, _ICON = 16, 20, 16
_INDENT, _MAX_INDENT = 18, 540  # of a level, and of all levels together
_MIN_WIDTH = 800  # so that the verdicts of a check fit in a line
_MAX_NOTES = 3
_MAX_LINES = 4  # of a sentence above the outline


def _colors(colors: Mapping[str, str]) -> str:
    root = "svg.ckv-static"
    rules = [
        f"{root} .back{{fill:{colors['back']}}}",
        f"{root} text{{fill:{colors['fore']}}}",
        f"{root} .faint{{fill:{colors['faint']}}}",
        f"{root} .tree{{stroke:{colors['branch']}}}",
        f"{root} .mark{{fill:{colors['mark']}}}",
        f"{root} .layer{{stroke:{colors['object']}}}",
        f"{root} .container{{stroke:{colors['container']}}}",
        f"{root} .tab{{fill:{colors['object']}}}",
        f"{root} .sign{{stroke:{colors['back']}}}",
        f"{root} .dashed+.sign{{stroke:{colors['object']}}}",
        *(
            f"{root} .{kind}{{stroke:{colors[kind]};fill:{colors[kind]}}}"
            for kind in ("object", "variable", "optimizer", "slot")
        ),
    ]
    return "".join(rules)


# A constant: a page that shows the picture can allow exactly this style, by its hash. In print, the
# colours are the light ones.
STYLE = (
    "svg.ckv-static text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"
    "'DejaVu Sans Mono','Liberation Mono',monospace;white-space:pre;unicode-bidi:isolate}"
    "svg.ckv-static .strong{font-weight:bold}"
    "svg.ckv-static .gone{text-decoration:line-through}"
    "svg.ckv-static .tree{fill:none;stroke-width:1}"
    "svg.ckv-static .icon{fill-opacity:.18;stroke-width:1.5}"
    "svg.ckv-static .optimizer{stroke-width:2}"
    "svg.ckv-static :is(.layer,.container){fill:none}"
    "svg.ckv-static .object{fill-opacity:0}"
    "svg.ckv-static .sign{fill:none;stroke-width:1.6}"
    "svg.ckv-static .dashed{stroke-dasharray:2.5 1.8}"
    f"{_colors(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colors(DARK)}}}"
)

_SHAPES = {
    "object": '<rect class="icon object{}" x="{x}" y="{y}" width="14" height="11" rx="3"/>',
    "layer": '<rect class="icon layer{}" x="{x}" y="{y}" width="14" height="11" rx="2"/>',
    "container": '<path class="icon container{}" d="M{x} {y}m4 0h-4v11h4m6 -11h4v11h-4"/>',
    "group": '<path class="icon object" d="M{x} {y}m2.5 2.5h11.5v8.5h-11.5zm-2.5 6v-8.5h11.5"/>',
    "variable": '<rect class="icon variable{}" x="{x}" y="{y}" width="14" height="11" rx="5.5"/>',
    "slot": '<rect class="icon slot dashed{}" x="{x}" y="{y}" width="11" height="11"/>',
    "optimizer": '<path class="icon optimizer{}" d="M{x} {y}m3.5 0h7l3.5 5.5l-3.5 5.5h-7'
    'l-3.5 -5.5z"/>',
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


def to_svg(
    graph: Graph,
    overlay: Overlay | None = None,
    *,
    notes: Iterable[str] = (),
    max_rows: int = MAX_ROWS,
    view: View = "layers",
) -> str:
    """Return the outline as SVG, in at most `max_rows` rows; `overlay` is of this graph.

    A graph alone is shown as its layers, in at most 60 rows, or with all its `objects`.

    Names from checkpoints are text in it, escaped and without control characters. The same graph
    gives the same picture.
    """
    rows = rows_of(graph, overlay, max_rows, view)
    lines = [line_of(graph, overlay, row) for row in rows]
    indent = min(_INDENT, _MAX_INDENT / max(row.level for row in rows))
    columns = _Columns(rows, lines, indent)
    header = list(_wrapped(sentences(graph, overlay, notes), columns.width))
    top = _MARGIN + _ROW * len(header) + _ROW // 2
    footer = list(_wrapped([("faint", left_out(graph, rows) or "")], columns.width))
    foot = top + _ROW * len(rows) + _ROW // 2
    height = foot + _ROW * len(footer) + _MARGIN
    what = cut(shortened(graph.title), 200)
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ckv-static" width="{columns.width}" '
            f'height="{height}" viewBox="0 0 {columns.width} {height}" role="group">\n',
            f"<title>{_escaped(what)}</title>\n",
            f"<desc>{_escaped(_description(graph, overlay, rows))}</desc>\n",
            f"<style>{STYLE}</style>\n",
            f'<rect class="back" width="{columns.width}" height="{height}"/>\n',
            *_paragraphs(header, _MARGIN),
            *_branches(rows, columns, top),
            '<g role="list">\n',
            *(
                columns.drawn(graph, overlay, row, line, top + _ROW * place)
                for place, (row, line) in enumerate(zip(rows, lines, strict=True))
            ),
            "</g>\n",
            *_paragraphs(footer, foot),
            "</svg>\n",
        )
    )


class _Columns:
    """The positions of the columns: each is as wide as its text."""

    def __init__(self, rows: Sequence[Row], lines: Sequence[RowText], indent: float) -> None:
        self._indent = indent
        ends = [
            self.left(row.level) + _ICON + 4 + _pixels(line.label)
            for row, line in zip(rows, lines, strict=True)
        ]
        self._kind = max(ends) + _GAP
        self._value = _after(self._kind, [line.kind for line in lines])
        self._glyph = _after(self._value, [line.value for line in lines])
        has_glyphs = any(line.glyph for line in lines)
        self._note = self._glyph + (_CHARACTER * 2 if has_glyphs else 0)
        end = _after(self._note, [side_by_side(line.note, line.below) for line in lines]) - _GAP
        self.width = max(_MIN_WIDTH, int(end) + _MARGIN)

    def _below(self, line: RowText) -> float:
        return _after(self._note, [line.note], gap=2 * _CHARACTER)

    def left(self, level: int) -> float:
        return _MARGIN + (level - 1) * self._indent

    def drawn(
        self, graph: Graph, overlay: Overlay | None, row: Row, line: RowText, top: float
    ) -> str:
        """Return a row, with its sentence as title: for the tooltip and for screen readers."""
        left, base = self.left(row.level), top + 14
        is_other = overlay is not None and (row.node_id or 0) >= overlay.base_size
        icon = _icon(graph, row, is_other, left, top)
        mark = overlay.marks[row.node_id].state if overlay and row.node_id is not None else None
        shade = "" if icon else "faint"
        shade = "gone" if mark in _GONE else shade
        is_loud = mark is not None and mark not in QUIET
        look = "mark strong" if is_loud else "faint"
        label_left = left + _ICON + 4 if icon else left
        return "".join(
            (
                f'<g role="listitem"><title>{_escaped(line.sentence)}</title>',
                icon,
                _text(label_left, base, line.label, shade),
                _text(self._kind, base, line.kind, "faint"),
                _text(self._value, base, line.value),
                _text(self._glyph, base, line.glyph, look),
                _text(self._note, base, line.note, "mark" if is_loud else "faint"),
                _text(self._below(line), base, line.below, "mark"),
                "</g>\n",
            )
        )


def _after(left: float, column: Iterable[str], gap: float = _GAP) -> float:
    """Return the start of the next column; an empty one takes no space."""
    width = max(map(_pixels, column))
    return left + width + gap if width else left


def _icon(graph: Graph, row: Row, is_other: bool, left: float, top: float) -> str:
    """Return the shape of a node's role, or of a group; "" for a row that counts the rest."""
    if row.group is not None:
        return _SHAPES["group"].format(x=_number(left), y=_number(top + 4.5))
    if row.node_id is None:
        return ""
    node = graph.nodes[row.node_id]
    kind = _KINDS.get(node.role, "object")
    x = left + (1.5 if kind == "slot" else 0)
    dashed = " dashed" if is_other else ""
    shape = _SHAPES[kind].format(dashed, x=_number(x), y=_number(top + 4.5))
    return shape + (_tab(node, is_other, x, top + 4.5) if kind == "layer" else "")


def _tab(node: Node, is_other: bool, x: float, y: float) -> str:
    """Return what makes a box a layer: it is solid, with the sign of its family."""
    family = family_of(node.type_name or "")
    width = 5 if family is None else 0 if is_other else 14
    tab = (
        f'<rect class="tab" x="{_number(x)}" y="{_number(y)}" width="{width}" height="11" rx="2"/>'
    )
    if family is None:
        return tab
    sign = (
        f'<svg class="sign" x="{_number(x + 2)}" y="{_number(y + 0.5)}" width="10" height="10" '
        f'viewBox="0 0 12 12"><path d="{family.path}"/></svg>'
    )
    return f"{tab if width else ''}{sign}"


def _wrapped(sentences: Iterable[tuple[str, str]], width: int) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with its look, in lines that fit into the picture."""
    for look, sentence in sentences:
        most = int((width - 2 * _MARGIN) / _CHARACTER)
        if _pixels(sentence) > len(sentence) * _CHARACTER:
            most //= 2  # wide characters
        for line in textwrap.wrap(sentence, most, max_lines=_MAX_LINES, placeholder=" …"):
            yield look, line


def sentences(
    graph: Graph, overlay: Overlay | None, notes: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield the lines above the outline: source, verdict, and how each path led to its files."""
    yield "strong", shortened(graph.title)
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
        yield "faint", shortened(note)


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
        yield _text(_MARGIN, top + _ROW * place + 14, line, look) + "\n"


def _branches(rows: Sequence[Row], columns: _Columns, top: float) -> Iterator[str]:
    """Yield the lines that lead from parents to children, one path for each parent."""
    steps: dict[int, list[str]] = {}
    last: dict[int, int] = {}
    for place, row in enumerate(rows):
        if row.parent >= 0:
            end = columns.left(row.level) - 2
            x = columns.left(rows[row.parent].level) + 7
            y = _number(top + _ROW * place + 10)
            steps.setdefault(row.parent, []).append(f"M{_number(x)} {y}H{_number(max(x, end))}")
            last[row.parent] = place
    for parent, ticks in steps.items():
        trunk = _number(columns.left(rows[parent].level) + 7)
        start, end = top + _ROW * parent + 17, top + _ROW * last[parent] + 10
        yield (
            f'<path class="tree" d="M{trunk} {_number(start)}V{_number(end)}{"".join(ticks)}"/>\n'
        )


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


def _pixels(words: str) -> float:
    return sum(map(columns_of, words)) * _CHARACTER

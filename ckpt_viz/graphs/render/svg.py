"""The picture of a graph as a static SVG: no script, no external parts.

It is a picture wherever SVG works: on GitHub, in VS Code, in print, in other programs than
browsers. It is a table of layers. A layer has its variables beside it, each with its slots, and
arrows lead from a layer to those that are called on its result. Shape, colour and legend show the
kind. Colour is never the only mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ckpt_viz.graphs.nodes.nodes import VALUE_ROLES, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render import text
from ckpt_viz.graphs.render.outline import MAX_ROWS
from ckpt_viz.graphs.render.row_tree import Row
from ckpt_viz.graphs.render.row_words import left_out, line_of, rows_of
from ckpt_viz.graphs.render.svg_flow import Bracket, flow_of
from ckpt_viz.graphs.render.svg_parts import (
    GAP,
    ICON,
    ICON_HEIGHT,
    KINDS,
    LINE,
    MARGIN,
    MAX_WIDTH,
    MIN_WIDTH,
    NAME,
    ROW,
    SHAPES,
    document,
    escaped,
    icon_of,
    paragraphs,
    px,
    tab,
    text_at,
    wrapped,
)
from ckpt_viz.graphs.render.svg_pills import pill_lines, pills_of
from ckpt_viz.graphs.render.svg_text import cut_to, pixels, shorter
from ckpt_viz.graphs.render.text import printable, shortened
from ckpt_viz.graphs.render.views import View

_INDENT, _MAX_INDENT = 28, 360  # of a level, and of all levels together
_MAX_NAME, _MAX_KIND, _MAX_VALUE = 230, 160, 260
_MAX_NOTES = 3
_LEGEND = ("layer", "object", "container", "variable", "slot", "optimizer")


def to_svg(
    graph: Graph,
    *,
    notes: Iterable[str] = (),
    max_rows: int = MAX_ROWS,
    view: View = "layers",
) -> str:
    """Return the picture as SVG: the layers in at most 60 rows, or all `objects`.

    Of objects, it has at most `max_rows` rows. Names from checkpoints are text in it, escaped and
    without control characters. The same graph gives the same picture.
    """
    table = _Table(graph, rows_of(graph, max_rows, view), view)
    width = table.width
    header = [*wrapped(sentences(graph, notes), width)]
    top = MARGIN + LINE * len(header) + GAP
    foot = top + table.height + GAP // 2
    footer = [*wrapped([("faint", left_out(graph, table.rows) or "")], width)]
    legend = [*table.legend(foot)]
    foot += ROW if legend else 0
    return document(
        cut_to(shortened(graph.title), width),
        _description(graph, table.rows),
        width,
        foot + LINE * len(footer) + MARGIN,
        (
            *paragraphs(header, MARGIN),
            *table.head(top - 6),
            *table.branches(top),
            '<g role="list">\n',
            *table.drawn(top),
            "</g>\n",
            *legend,
            *paragraphs(footer, foot),
        ),
    )


class _Table:
    """The rows of the picture, and where each part of them is."""

    def __init__(self, graph: Graph, rows: Sequence[Row], view: View) -> None:
        self.rows = rows
        self._graph = graph
        self._texts = [line_of(graph, row) for row in rows]
        self._indent = min(_INDENT, _MAX_INDENT / max(row.level for row in rows))
        is_picture = view == "layers"
        self._pills = pills_of(graph, rows, self._texts) if is_picture else {}
        inside = {pill.place for pills in self._pills.values() for pill in pills}
        self._lines = [place for place in range(len(rows)) if place not in inside]
        self._labels = [shorter(line.name, _MAX_NAME, NAME, is_bold=True) for line in self._texts]
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
        self._body = max(map(self._end_of_name, lines)) + GAP
        parameters = [f"{row.parameters:,}" for row in self.rows if row.parameters]
        column = max([0.0, *(pixels(number) for number in parameters)])
        self._number_width = column + GAP if column else 0.0
        if self._number_width:
            self._number_width = max(self._number_width, pixels("parameters", 11) + GAP)
        room = MAX_WIDTH - MARGIN - self._number_width - self._body
        self._pill_lines = {place: pill_lines(pills, room) for place, pills in self._pills.items()}
        ends = [
            self._body + sum(pill.width + 6 for pill in pills) - 6
            for of_row in self._pill_lines.values()
            for pills in of_row
        ]
        values = [cut_to(texts[place].rest, _MAX_VALUE) for place in lines]
        self._values = dict(zip(lines, values, strict=True))
        widest = max(map(pixels, values))
        self._note = self._body + (widest + GAP if widest else 0)
        most = MAX_WIDTH - MARGIN - self._number_width - self._note
        self._notes = {place: cut_to(texts[place].note, most) for place in lines}
        ends += [self._body + widest, *(self._note + pixels(n) for n in self._notes.values())]
        width = max(ends) + self._number_width + MARGIN
        self.width = int(min(MAX_WIDTH, max(MIN_WIDTH, width)))
        self._tops: dict[int, float] = {}
        self.height = 0.0
        for place in lines:
            self._tops[place] = self.height
            more = max(len(self._pill_lines.get(place, ())) - 1, 0)
            self.height += ROW + more * (LINE + 6)

    def _left(self, place: int) -> float:
        return MARGIN + (self.rows[place].level - 1) * self._indent

    def _end_of_name(self, place: int) -> float:
        kind = self._kinds[place]
        start = self._left(place) + ICON + 6 + self._name_width(place)
        return start + (pixels(kind) + 8 if kind else 0)

    def _name_width(self, place: int) -> float:
        return pixels(self._labels[place], NAME, is_bold=self._is_bold(place))

    def _is_bold(self, place: int) -> bool:
        """Return whether a name is bold: layers and what holds them, but no value."""
        row = self.rows[place]
        if row.node_id is None:
            return row.group is not None
        return self._graph.nodes[row.node_id].role in (Role.LAYER, Role.OPTIMIZER)

    def head(self, base: float) -> Iterator[str]:
        """Yield the name of the column of numbers, and a line below the header."""
        if self._number_width:
            yield text_at(self.width - MARGIN, base, "parameters", "faint small end") + "\n"
        end = self.width - MARGIN
        yield f'<path class="line" d="M{MARGIN} {px(base + 5.5)}H{end}"/>\n'

    def drawn(self, top: float) -> Iterator[str]:
        """Yield the rows, each with its sentence as title: for tooltips and for screen readers."""
        for place in self._lines:
            yield self._row(place, top + self._tops[place])
            for number, pills in enumerate(self._pill_lines.get(place, ())):
                x, y = self._body, top + self._tops[place] + 3 + number * (LINE + 6)
                for pill in pills:
                    sentence = escaped(self._texts[pill.place].sentence)
                    parts = "".join(pill.drawn(x, y))
                    yield f'<g role="listitem"><title>{sentence}</title>{parts}</g>\n'
                    x += pill.width + 6

    def _row(self, place: int, top: float) -> str:
        row, line = self.rows[place], self._texts[place]
        left, base = self._left(place), top + ROW / 2 + 4.5
        icon = self._icon(place, left, top + (ROW - ICON_HEIGHT) / 2)
        shade = "name strong" if self._is_bold(place) else "name" if icon else "name faint"
        label = left + ICON + 6 if icon else left
        number = f"{row.parameters:,}" if row.parameters else ""
        is_value = row.node_id is not None and bool(self._graph.nodes[row.node_id].attributes)
        value_look = "" if is_value or row.hanging else "faint"
        return "".join(
            (
                f'<g role="listitem"><title>{escaped(line.sentence)}</title>',
                icon,
                text_at(label, base, self._labels[place], shade),
                text_at(label + self._name_width(place) + 8, base, self._kinds[place], "faint"),
                ""
                if place in self._pills
                else text_at(self._body, base, self._values[place], value_look),
                text_at(self._note, base, self._notes[place], "faint"),
                text_at(self.width - MARGIN, base, number, "faint end"),
                "</g>\n",
            )
        )

    def _icon(self, place: int, left: float, top: float) -> str:
        """Return the shape of a node's role, or of a group; "" for a row that counts the rest."""
        row = self.rows[place]
        if row.lost is not None:
            return icon_of(Node(), left, top, is_dashed=True)
        if row.group is not None:
            return icon_of(None, left, top)
        if row.node_id is None:
            return ""
        return icon_of(self._graph.nodes[row.node_id], left, top, is_dashed=row.hanging > 0)

    def branches(self, top: float) -> Iterator[str]:
        """Yield the lines from parents to children, and the arrows along which tensors go."""
        called = {arrow.consumer for arrow in self._flow}
        steps: dict[int, list[str]] = {}
        last: dict[int, float] = {}
        for place in self._lines:
            parent = self.rows[place].parent
            if parent < 0 or (place in called and parent in steps):
                continue
            x = self._left(parent) + ICON / 2
            y = top + self._tops[place] + ROW / 2
            end = max(x, self._left(place) - 3)
            steps.setdefault(parent, []).append(f"M{px(x)} {px(y)}H{px(end)}")
            last[parent] = y
        for parent, ticks in steps.items():
            trunk = px(self._left(parent) + ICON / 2)
            start = top + self._tops[parent] + (ROW + ICON_HEIGHT) / 2 + 1
            path = f"M{trunk} {px(start)}V{px(last[parent])}{''.join(ticks)}"
            yield f'<path class="tree" d="{path}"/>\n'
        for arrow in self._flow:
            yield f'<path class="flow" d="{self._arrow(arrow, top)}"/>\n'

    def _arrow(self, arrow: Bracket, top: float) -> str:
        """Return the path of an arrow: straight to the next layer, or around those between."""
        start, end = (
            top + self._tops[place] + ROW / 2 for place in (arrow.producer, arrow.consumer)
        )
        left = self._left(arrow.consumer)
        if not arrow.lane:
            x, tip = px(left + ICON / 2), px(end - ICON_HEIGHT / 2 - 1)
            begin = px(start + ICON_HEIGHT / 2 + 1)
            return f"M{x} {begin}V{tip}m-3 -4l3 4l3 -4"
        around = px(left - 3 - 4 * arrow.lane)
        if self.rows[arrow.consumer].parent == arrow.producer:  # from the line of the tree
            trunk = px(self._left(arrow.producer) + ICON / 2)
            begin = f"M{trunk} {px(start + ICON_HEIGHT / 2 + 5)}"
        else:
            begin = f"M{px(left - 1)} {px(start + 3)}"
        return f"{begin}H{around}V{px(end - 2)}H{px(left - 2)}m-4 -3l4 3l-4 3"

    def legend(self, top: float) -> Iterator[str]:
        """Yield the icons of the picture with their words."""
        nodes = self._graph.nodes
        kinds = {
            KINDS.get(nodes[row.node_id].role, "object")
            for row in self.rows
            if row.node_id is not None
        }
        slots = {name: s for pills in self._pills.values() for p in pills for name, s in p.slots}
        kinds |= {"slot"} if slots else set()
        x, base = float(MARGIN), top + ROW / 2 + 4.5
        for kind in _LEGEND:
            if kind not in kinds:
                continue
            letters = ", ".join(f"{letter} {name}" for name, letter in slots.items())
            word = f"slot: {letters}" if kind == "slot" and letters else kind
            word = cut_to(word, 300)
            if x + ICON + 6 + pixels(word) > self.width - MARGIN:
                break
            yield SHAPES[kind].format("", x=px(x), y=px(base - 11.5))
            yield tab(Node(), False, x, base - 11.5) if kind == "layer" else ""
            yield text_at(x + ICON + 6, base, word, "faint") + "\n"
            x += ICON + 6 + pixels(word) + GAP


def sentences(graph: Graph, notes: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the lines above the rows: source, alarms, advice, and how the path led to its files."""
    yield "name strong", shortened(graph.title)
    yield "faint", _nodes_words(graph)
    for alarm in text.alarms(graph):
        yield "mark", shortened(alarm)
    advice = text.advice(graph)
    for note in [*advice, *notes, *text.notes(graph)][:_MAX_NOTES]:
        yield "mark" if note in advice else "faint", shortened(note)


def _description(graph: Graph, rows: Sequence[Row]) -> str:
    what = "Outline of an object graph"
    return ". ".join(filter(None, (what, _nodes_words(graph), left_out(graph, rows))))


def _nodes_words(graph: Graph) -> str:
    """Return the kind of source and the number of nodes of each role, without the title."""
    return text.summary(graph).removeprefix(f"{printable(graph.title)} ")

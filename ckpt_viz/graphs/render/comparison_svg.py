"""The table of a comparison as a static SVG: where each value goes, as the explorer shows it.

It is what GitHub, VS Code and print show of a check or a diff: the sentence, and a row for each
part. Sign, word and line show what happens; colour is never the only mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.comparison_table import CellSign, ComparisonTable, TableCell
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.comparison_rows import (
    ComparisonRow,
    heads_of,
    rows_of,
    sentences_of,
    sums_of,
)
from ckpt_viz.graphs.render.signs import CELLS
from ckpt_viz.graphs.render.svg_parts import (
    BADGE,
    GAP,
    ICON,
    ICON_HEIGHT,
    LINE,
    MARGIN,
    MAX_WIDTH,
    MIN_WIDTH,
    NAME,
    ROW,
    badge,
    document,
    escaped,
    icon_of,
    paragraphs,
    px,
    text_at,
    wrapped,
)
from ckpt_viz.graphs.render.svg_text import cut_to, pixels, shorter
from ckpt_viz.graphs.render.text import shortened

MAX_ROWS = 40
# How wide the texts are that have room in any table, and how much wider they may be in others.
_NAME, _FACTS, _WORDS = 150, 84, 132
_SCALES = 3.0, 2.5, 2.0, 1.7, 1.4, 1.2, 1.0
_MAX_NOTES = 8  # with the sentence
_SPACE = 6  # between the parts of a cell


def comparison_svg(overlay: Overlay, max_rows: int = MAX_ROWS) -> str:
    """Return the picture of the table as SVG, of at most `max_rows` rows.

    Names from checkpoints are text in it, escaped and without control characters. The same table
    gives the same picture.
    """
    table = overlay.table
    rows = [*rows_of(table, max_rows)]
    for scale in _SCALES:
        picture = _Picture(overlay.graph, table, rows, scale)
        if picture.fits:
            break
    width = picture.width
    header = [*wrapped([*sentences_of(overlay)][:_MAX_NOTES], width)]
    top = MARGIN + LINE * len(header) + GAP * 2
    return document(
        cut_to(shortened(overlay.graph.title), width),
        f"{shortened(table.sentence)} {shortened(table.verdict)}".strip(),
        width,
        top + ROW * len(picture.rows) + MARGIN,
        (
            *paragraphs(header, MARGIN),
            *picture.head(top),
            '<g role="list">\n',
            *picture.drawn(top),
            "</g>\n",
        ),
    )


class _Picture:
    """The rows, and where each of their columns begins, for texts of some width."""

    def __init__(
        self, graph: Graph, table: ComparisonTable, rows: Sequence[ComparisonRow], scale: float
    ) -> None:
        self.rows, self._scale = rows, scale
        self._nodes = graph.nodes
        self._heads, self._sums = heads_of(table), sums_of(table)
        last = len(self._heads) - 1
        self._starts = [float(MARGIN)]
        for column in range(last + 1):
            widest = max(
                pixels(self._heads[column]) * 1.08 + _SPACE + pixels(self._sums[column]),
                *(self._width_in(row, column, last) for row in rows),
                0.0,
            )
            self._starts.append(self._starts[-1] + widest + GAP)
        numbers = [pixels(f"{row.values:,}") for row in rows]
        end = self._starts.pop() + max([pixels("values", 11), *numbers])
        self.fits = end + MARGIN <= MAX_WIDTH
        self.width = int(min(MAX_WIDTH, max(MIN_WIDTH, end + MARGIN)))

    def head(self, top: float) -> Iterator[str]:
        """Yield the heads of the columns with their sums, and a line below them."""
        for x, head, total in zip(self._starts, self._heads, self._sums, strict=True):
            yield text_at(x, top - 12, head, "strong")
            after = x + pixels(head, is_bold=True) + _SPACE
            yield text_at(after, top - 12, total, "faint") + "\n"
        yield text_at(self.width - MARGIN, top - 12, "values", "faint small end") + "\n"
        yield f'<path class="line" d="M{MARGIN} {px(top - 4.5)}H{self.width - MARGIN}"/>\n'

    def drawn(self, top: float) -> Iterator[str]:
        """Yield the rows, each with its sentence as title: for tooltips and for screen readers."""
        for place, row in enumerate(self.rows):
            yield self._row(row, top + place * ROW)

    def _row(self, row: ComparisonRow, top: float) -> str:
        parts = zip(self._heads, row.columns, strict=False)
        sentence = "; ".join(f"{head}: {words}" for head, words in parts if words)
        saved, *middle, live = self._starts
        middle_of_row = top + ROW / 2
        is_gone = not row.live and any(cell.sign is CellSign.NOWHERE for cell in row.cells[-1:])
        return "".join(
            (
                f'<g role="listitem"><title>{escaped(sentence)}</title>',
                *self._name(row, saved, top, is_saved=True, is_gone=is_gone),
                *(
                    self._cell(cell, x, middle_of_row)
                    for x, cell in zip(middle, row.cells, strict=False)
                ),
                *self._name(row, live, top, is_saved=False),
                text_at(self.width - MARGIN, middle_of_row + 4.5, f"{row.values:,}", "faint end"),
                "</g>\n",
            )
        )

    def _name(
        self,
        row: ComparisonRow,
        x: float,
        top: float,
        *,
        is_saved: bool,
        is_gone: bool = False,
    ) -> Iterator[str]:
        """Yield the icon, the name and the facts of one side."""
        name, facts = self._texts(row, is_saved=is_saved)
        base = top + ROW / 2 + 4.5
        if row.line is None or not name:
            yield text_at(x, base, name or facts, "faint")
            return
        node = row.line.saved_node if is_saved else row.line.live_node
        yield icon_of(
            None if node is None else self._nodes[node],
            *(x, top + (ROW - ICON_HEIGHT) / 2),
            is_dashed=is_saved and not row.live,
        )
        is_bold = self._is_bold(node)
        look = f"name{' strong' * is_bold}{' gone' * is_gone}"
        yield text_at(x + ICON + _SPACE, base, name, look)
        after = x + ICON + _SPACE + pixels(name, NAME, is_bold=is_bold) + _SPACE
        yield text_at(after, base, facts, "faint")

    def _is_bold(self, node: int | None) -> bool:
        """Return whether a name is bold: that of a layer, of a block, or of an optimizer."""
        return node is None or self._nodes[node].role in (Role.LAYER, Role.OPTIMIZER)

    def _width_in(self, row: ComparisonRow, column: int, last: int) -> float:
        """Return how wide a row is in a column."""
        if 0 < column < last:
            cells = row.cells[column - 1 : column]
            return max(
                [0.0, *(BADGE + _SPACE + pixels(self._words(cell), is_bold=True) for cell in cells)]
            )
        name, facts = self._texts(row, is_saved=column == 0)
        if row.line is None or not name:
            return pixels(name or facts)
        width = ICON + _SPACE + pixels(name, NAME, is_bold=True)
        return width + (_SPACE + pixels(facts) if facts else 0)

    def _texts(self, row: ComparisonRow, *, is_saved: bool) -> tuple[str, str]:
        """Return the name and the facts of one side, as wide as there is room for."""
        name, facts = (row.saved, row.saved_facts) if is_saved else (row.live, row.live_facts)
        return shorter(name, _NAME * self._scale, NAME, is_bold=True), cut_to(
            facts, (_FACTS if name else _NAME) * self._scale
        )

    def _words(self, cell: TableCell) -> str:
        return cut_to(shortened(cell.words), _WORDS * self._scale, is_bold=True)

    def _cell(self, cell: TableCell, x: float, middle: float) -> str:
        """Return a sign and words; what the eye passes over is faint."""
        sign = CELLS[cell.sign]
        looks = {"quiet": "faint", "ring": "strong", "loud": "mark", "hollow": ""}
        words = text_at(x + BADGE + _SPACE, middle + 4.5, self._words(cell), looks[sign.look])
        return badge(sign, x, middle) + words

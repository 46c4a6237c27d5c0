"""The table of a comparison in words and signs: what each picture of it shows, and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.overlay.comparison_table import CellSign, ComparisonTable, TableCell, TableLine
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.signs import CELLS
from ckpt_viz.graphs.render.text import shortened
from ckpt_viz.ground.text import count

_HERE = TableCell(CellSign.HERE, CELLS[CellSign.HERE].word)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of the picture of a table.

    `line` is the line of the table; None for a row that counts others. `cells` are what the call
    does and, in a table with two columns for that, the fix. A side without the part has no name:
    its facts tell why.
    """

    line: TableLine | None
    saved: str
    saved_facts: str
    cells: Sequence[TableCell]
    live: str
    live_facts: str
    values: int

    @property
    def columns(self) -> Sequence[str]:
        """The texts of the columns."""
        saved, live = (
            " ".join(filter(None, words))
            for words in ((self.saved, self.saved_facts), (self.live, self.live_facts))
        )
        return saved, *(cell.words for cell in self.cells), live


def heads_of(table: ComparisonTable) -> Sequence[str]:
    """Return the heads of the columns that a picture shows."""
    saved, call, fix, live = table.heads
    return (saved, call, live) if table.is_one_column else (saved, call, fix, live)


def sums_of(table: ComparisonTable) -> Sequence[str]:
    """Return the number of values in each of these columns."""
    totals = table.totals
    middle = totals.restored, None if table.is_one_column else totals.fixed
    return (
        count(totals.saved, "value"),
        *(f"{number:,} of {totals.live:,}" for number in middle if number is not None),
        count(totals.live, "value"),
    )


def rows_of(table: ComparisonTable, most: int) -> Iterator[ComparisonRow]:
    """Yield the rows of a picture of at most so many."""
    first = table.at_first(most)
    for line in first.lines:
        plain, fixed = line.plain, line.fixed
        cells = [plain] if table.is_one_column or fixed is None else [plain, fixed]
        names = shortened(line.saved), shortened(line.saved_facts), cells
        yield ComparisonRow(
            line, *names, shortened(line.live), shortened(line.live_facts), line.values
        )
    if first.left_out:
        words = f"… {count(first.left_out, 'more line')}"
        yield ComparisonRow(None, words, "", (), "", "", first.left_values)
    if first.quiet:
        words = f"… {count(first.quiet, 'other value')}"
        here = [_HERE] * (len(heads_of(table)) - 2)
        yield ComparisonRow(None, words, "", here, "", "", first.quiet)


def sentences_of(overlay: Overlay) -> Iterator[tuple[str, str]]:
    """Yield the sentences above the rows, each with its look: what is compared, what changed."""
    table = overlay.table
    yield "faint", shortened(overlay.graph.title)
    yield "name strong", shortened(table.sentence)
    yield "faint", shortened(table.verdict)
    for note in dict.fromkeys((*overlay.notes, *table.notes)):
        yield "faint", shortened(note)

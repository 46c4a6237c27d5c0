"""The text of a check: what changed, what the call does, the folded table, and the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.overlay.comparison_table import TableCell
from ckpt_viz.graphs.render.comparison_text import grid_of, painted, unpainted
from ckpt_viz.graphs.render.signs import CELLS
from ckpt_viz.ground.text import count, end_of, printable
from ckpt_viz.ground.wording import Wording
from ckpt_viz.matching.restore_table.cells import (
    HERE,
    WIDEST,
    fixed_cell,
    no_object,
    not_saved,
    plain_cell,
    value_look,
)
from ckpt_viz.matching.restore_table.folded_rows import FoldedRows, run_of
from ckpt_viz.matching.restore_table.folding import Folding
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow, RestoreTable, Why


@dataclass(frozen=True)
class FirstWords:
    """What a person needs to know before anything else, and what to do about it."""

    says: str
    step: str


@dataclass(frozen=True)
class CheckText:
    """The parts of the text that are no rows.

    Attributes:
        title: What is restored, and into what.
        first: What comes before all that the call does; None for nothing.
        changes: What somebody did to the program, in one sentence; "" for nothing.
        verdict: What the call and the asserts do.
        call: The checked call, such as `restore()`.
        notes: What the table cannot tell, a sentence each.
        following: What to do next, a sentence each.
    """

    title: str
    first: FirstWords | None
    changes: str
    verdict: str
    call: str
    notes: Sequence[str]
    following: Sequence[str]

    @property
    def sentence(self) -> str:
        """The sentence above the table of a picture."""
        first = "" if self.first is None else self.first.says
        return f"{first} {self.changes}".strip()

    @property
    def every_note(self) -> Sequence[str]:
        """The notes of a picture: what to do about the first words is one."""
        return self.notes if self.first is None else [self.first.step, *self.notes]

    def of(self, table: RestoreTable, *, color: bool = False) -> str:
        """Return the text, at most about forty lines; with `color`, for a terminal of ECMA-48."""
        first = "" if self.first is None else f"{self.first.says} {self.first.step}"
        said = (self.title, first, self.changes, self.verdict)
        lines = [printable(line) for line in said if line]
        grid = [*_grid(table, self.call, painted if color else unpainted)]
        if grid:
            lines += ["", *grid, ""]
        return "\n".join([*lines, *map(printable, (*self.notes, *self.following))])


def _grid(table: RestoreTable, call: str, paint: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of the table; none if every value is in its own place, or without a file."""
    folding = Folding(table)
    lines = [] if table.saved is None else folding.loud_lines()
    if not lines:
        return
    quiet = len(table.rows) - sum(len(line.rows) for line in lines)
    cells = [_cells(folding, line) for line in lines]
    heads = [*heads_of(call)]
    if is_one_column(table.rows):
        cells, heads = [_without_fix(row) for row in cells], _without_fix(heads)
    if quiet:
        others = f"… {count(quiet, 'other value')}"
        here = [_words(HERE)] * (len(heads) - 2)
        cells.append([others, *here, "", ""])
    shown = [[printable(cell) for cell in row] for row in ([*heads, ""], *cells)]
    yield from grid_of(shown, paint)


def heads_of(call: str) -> tuple[str, str, str, str]:
    """Return the heads of the columns of names and of what happens."""
    return "as saved", call, "with the fix", "in the program"


def is_one_column(rows: Iterable[RestoreRow]) -> bool:
    """Return whether the fix does what the call does with all rows, and has no guess."""
    return all(map(_is_same, rows))


def _is_same(row: RestoreRow) -> bool:
    """Return whether the fix does what the call does, or there is none; a guess may do more."""
    plain, fixed = row.plain.place, None if row.fixed is None else row.fixed.place
    is_same = plain is fixed is not Destination.INTO and row.why_left is not Why.GUESS
    return fixed is None or is_same


def _without_fix(row: list[str]) -> list[str]:
    return [*row[:2], *row[3:]]


def _cells(folding: Folding, line: FoldedRows) -> list[str]:
    shows_shapes = len(line.rows) == 1 and _differs(line)
    first, table = line.rows[0], folding.table
    saved = _name(line.saved, line, value_look(table.saved, first.saved) if shows_shapes else "")
    live = _name(line.live, line, value_look(table.live, first.live) if shows_shapes else "")
    saved = saved or not_saved(table)
    live = live or no_object(line)
    number = count(len(line.rows), "value")
    return [saved, _words(plain_cell(folding, line)), _words(fixed_cell(line)), live, number]


def _words(cell: TableCell | None) -> str:
    return "" if cell is None else f"{CELLS[cell.sign].glyph} {cell.words}"


def _differs(line: FoldedRows) -> bool:
    whys = {why for row in line.rows for why in (row.plain.why, row.why_left)}
    return bool(whys & {Why.SHAPE, Why.DTYPE})


def _name(names: tuple[str, ...], line: FoldedRows, look: str) -> str:
    if not names[0]:
        return ""
    if len(names) == 1:
        return end_of(names[0], WIDEST) + (f" {look}" if look else "")
    if line.is_run:
        return end_of(run_of(names), WIDEST)
    return f"{end_of(names[0], WIDEST)} and {line.parts - 1} more"


def following(table: RestoreTable, wording: Wording, *, raises: bool) -> Iterator[str]:
    """Yield what to do next; `raises` says that the checked call does."""
    guesses = sum(row.saved is not None and row.why_left is Why.GUESS for row in table.rows)
    is_harmful = raises or any(row.plain.place is Destination.RESHAPES for row in table.rows)
    if table.fixed > table.restored or (is_harmful and table.fixed):
        kept = table.in_program - table.fixed
        number = f"{table.fixed} of {count(table.in_program, 'value')}"
        more = f"; {kept:,} {'keeps its' if kept == 1 else 'keep their'} own" if kept else ""
        unbuilt = sum(row.why_left is Why.NOT_BUILT for row in table.rows)
        if unbuilt and not kept:
            number = count(table.fixed, "value")
            more = f"; {unbuilt:,} {'stays' if unbuilt == 1 else 'stay'} in the file"
        elif not kept:
            number = f"all {count(table.in_program, 'value')}"
        yield f"{_at_first(wording.fix)} restores {number}{more}."
    if guesses:
        yield f"{_at_first(wording.guesses)} also takes {count(guesses, 'guess', 'guesses')}."
    if any(not row.is_quiet for row in table.rows):
        yield f"{wording.details} tells why, with TensorFlow's names."


def _at_first(words: str) -> str:
    """Return words at the beginning of a sentence; code keeps its letters."""
    return f"The {words.removeprefix('the ')}" if words.startswith("the ") else words

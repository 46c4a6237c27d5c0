"""The table of a comparison as data: a line for each part, as a picture or a payload shows it.

What fills the lines of a restore is in `restore_table`, and of a diff in `graph_diff`. Whoever
shows the table computes no cell of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

NO_LINE = -1


class CellSign(str, Enum):
    """What happens to the values of a line, as a sign; render/signs.json has its character."""

    HERE = "here"  # the values get into their own place
    LIKELY = "likely"  # the same, though no name proves that the place is theirs
    ELSEWHERE = "elsewhere"  # into another place, or from another one
    NOWHERE = "nowhere"  # the values stay in the file
    FAILS = "fails"  # the restore of the values raises
    MISFIT = "misfit"  # the values stay, since their objects have another shape or dtype
    KEEPS = "keeps"  # the program keeps its own values
    WAITS = "waits"  # until an object is built
    CHANGED = "changed"  # of two graphs: both have other numbers
    ASKS = "asks"  # only a person or the object's own code can tell


@dataclass(frozen=True, slots=True)
class TableCell:
    """What one way to restore does with the values of a line: a sign, and at most five words.

    If only some of the values go this way, it begins with their count.
    """

    sign: CellSign
    words: str


@dataclass(frozen=True, slots=True)
class TableLine:
    """A part, or a run of alike parts, on both sides.

    Attributes:
        parent: The place of the line that this one is inside of; NO_LINE for none.
        saved: The name in the file; "" for what only the program has.
        live: The name in the program; "" for what only the file has.
        saved_facts: The shape or the number of layers in the file.
        live_facts: The class, the shape or the number of layers in the program.
        saved_node: The node of the merged graph for the part in the file.
        live_node: The node for it in the program.
        plain: What the checked call does.
        fixed: What the fix does; None without a fix.
        values: The number of values, slot variables included.
        guess: The place of the question about these values; None for none.
    """

    parent: int
    saved: str
    live: str
    saved_facts: str
    live_facts: str
    saved_node: int | None
    live_node: int | None
    plain: TableCell
    fixed: TableCell | None
    values: int
    guess: int | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether the call and the fix put each value into its own place."""
        signs = {cell.sign for cell in (self.plain, self.fixed) if cell is not None}
        return signs == {CellSign.HERE}


@dataclass(frozen=True, slots=True)
class Totals:
    """The numbers of values in a comparison, slot variables included.

    Attributes:
        saved: All values of the file.
        live: All values that the program has or that a restore makes in it.
        restored: Those that the checked call puts into their places, but for its error; of a diff,
            those without a difference.
        fixed: Those that the fix puts into their places; None without a fix.
    """

    saved: int
    live: int
    restored: int
    fixed: int | None


@dataclass(frozen=True, slots=True)
class TableGuess:
    """What a person can accept with a tick.

    Attributes:
        values: The number of values that it adds to the fix.
        question: What the person answers with the tick.
        tick: What the tick does.
        taken: What a line says whose values the tick restores, as `TableCell.words`.
    """

    values: int
    question: str
    tick: str
    taken: str


@dataclass(frozen=True, slots=True)
class FirstLines:
    """What a picture shows of a table.

    Attributes:
        lines: The lines in it.
        quiet: How many values without a line get into their own places.
        left_out: How many other lines it leaves out.
        left_values: The number of values in these.
    """

    lines: Sequence[TableLine]
    quiet: int = 0
    left_out: int = 0
    left_values: int = 0


@dataclass(frozen=True)
class ComparisonTable:
    """Where each value goes, folded into lines, and the sentences above and below these.

    Attributes:
        sentence: What has changed; "" for nothing.
        verdict: What the checked call and the asserts do.
        heads: What the columns show: as saved, the call, the fix and the program; of a diff, "" for
            what it has not.
        notes: What no line tells, a sentence each.
        is_one_column: Whether the fix does what the call does in every line: one column says both.
        lines: The lines, each before those inside of it.
        totals: The numbers of values.
        guessed: What each guess asks, in their order.
        worst: Of a diff, the node of the merged graph with the first NaN that the sentence tells;
            None for none, and until values were read.
    """

    sentence: str
    verdict: str
    heads: tuple[str, str, str, str]
    notes: Sequence[str]
    is_one_column: bool
    lines: Sequence[TableLine]
    totals: Totals
    guessed: Sequence[TableGuess] = ()
    worst: int | None = None

    @cached_property
    def cell_of(self) -> Mapping[int, TableCell]:
        """What the checked call does, by node of the merged graph: that of its innermost line."""
        of_saved = {line.saved_node: line.plain for line in self.lines}
        cells = of_saved | {line.live_node: line.plain for line in self.lines}
        return {node: cell for node, cell in cells.items() if node is not None}

    def at_first(self, most: int) -> FirstLines:
        """Return what a picture of at most so many lines shows: the outermost lines.

        Of too many, the quiet ones are counted together, and then the last ones.
        """
        lines = [line for line in self.lines if line.parent == NO_LINE]
        if len(lines) <= most:
            return FirstLines(lines)
        loud = [line for line in lines if not line.is_quiet]
        quiet = sum(line.values for line in lines if line.is_quiet)
        shown = loud[: most - 2]
        left = loud[len(shown) :]
        return FirstLines(shown, quiet, len(left), sum(line.values for line in left))

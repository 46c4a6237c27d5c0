"""The table of a restore: a row for each value of either side, whatever restores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.pairs import Certainty


class Destination(str, Enum):
    """Where a saved value goes, or what a value of the program alone does."""

    HERE = "here"  # into the object of its row, or into one that the restore makes for it
    INTO = "into"  # into the object of another row; of a live value alone: it gets such a value
    RESHAPES = "reshapes"  # into the object of its row, which has a wrong shape then
    STAYS = "stays"  # in the file
    KEEPS = "keeps"  # the object of the program keeps its own value
    WAITS = "waits"  # until its object exists
    UNKNOWN = "unknown"  # the object's own code decides


class Why(str, Enum):
    """The kind of a reason why a value is not where it belongs."""

    ABSENT = "absent"  # the other side has no counterpart
    NOT_TRACKED = "not tracked"  # an optimizer alone leads to it, and TensorFlow to no counterpart
    SHAPE = "shape"
    DTYPE = "dtype"
    DAMAGED = "damaged"  # its bytes are missing, or do not match their checksum
    AFTER_ERROR = "after error"  # the call has raised before
    FAILURE = "failure"  # anything else that the restore of this value raises
    NOT_REACHED = "not reached"  # its object is there, under a name where the call does not look
    OCCUPIED = "occupied"  # its object gets another saved value
    GUESS = "guess"  # only order or shape suggests its object
    OTHER_MEANING = "other meaning"  # in the optimizer's class of today
    NOT_BUILT = "not built"  # its part, or its optimizer, has no variables yet
    NO_CODE = "no code"  # only the object's own code restores such values


class ValueCell(NamedTuple):
    """What one way to restore does with the value of a row.

    `why` it is not where it belongs, if it is not, and the class of the `error` of a failure.
    `other` belongs to `Destination.INTO`: the live object that gets the saved value, or in the row
    of a live value alone, the saved node that it comes from. Of a value that a fix leaves out, it
    is the object to which the value belongs or may belong. `certainty` is that of a fix, and
    `is_part` says that it copies what both shapes have. `would` is what the call does with a value
    after its error, if it could go on.
    """

    place: Destination
    why: Why | None = None
    other: int | None = None
    certainty: Certainty | None = None
    would: ValueCell | None = None
    is_part: bool = False
    error: str = ""

    @property
    def meant(self) -> ValueCell:
        """What the call does but for its error."""
        return self if self.would is None else self.would


class RestoreRow(NamedTuple):
    """One value: the saved node, the live object, and what happens to them.

    `plain` is what the checked call does, and `fixed` what the fix does, None without a fix. A
    value that only one side has is None on the other side.
    """

    saved: int | None
    live: int | None
    plain: ValueCell
    fixed: ValueCell | None

    @property
    def why_left(self) -> Why | None:
        """Why the fix does not restore the value; None without a fix, too."""
        return None if self.fixed is None else self.fixed.why

    @property
    def is_made(self) -> bool:
        """Whether a restore makes the object of the value, such as the counter of saves."""
        cells = [self.plain] if self.fixed is None else [self.plain, self.fixed]
        return self.live is None and any(cell.place is Destination.HERE for cell in cells)

    @property
    def is_quiet(self) -> bool:
        """Whether the fix and the call, but for its error, put the value into its own object."""
        is_fixed = self.fixed is None or self.fixed.place is Destination.HERE
        return is_fixed and self.plain.meant.place is Destination.HERE


@dataclass(frozen=True)
class RestoreTable:
    """The rows of a restore, in saved order; those of the program alone follow.

    `saved` is None if no checkpoint can be read.
    """

    saved: Graph | None
    live: Graph
    rows: Sequence[RestoreRow]

    @cached_property
    def in_program(self) -> int:
        """The number of values that the program has, or that a restore makes in it."""
        return sum(row.live is not None or row.is_made for row in self.rows)

    @cached_property
    def restored(self) -> int:
        """The number of these that the checked call restores into their places."""
        cells = (row.plain for row in self.rows if row.live is not None or row.is_made)
        return sum(cell.place is Destination.HERE for cell in cells)

    @cached_property
    def fixed(self) -> int:
        """The number of these that the fix restores."""
        cells = (row.fixed for row in self.rows if row.live is not None or row.is_made)
        return sum(cell is not None and cell.place is Destination.HERE for cell in cells)

    @cached_property
    def lacks_unknown(self) -> bool:
        """Whether a file is missing whose values no other file of the checkpoint lists."""
        lost = () if self.saved is None else lost_files(self.saved.stored_in)
        return any(files.holds_unknown for files in lost)

    @cached_property
    def not_restored(self) -> Sequence[tuple[RestoreRow, ValueCell]]:
        """The rows of what the fix does not restore now, if there is a fix, and what it does.

        A counter of saves is none of them where the other side counts no saves: a program without a
        Checkpoint, and a file of names.
        """
        lonely = set[tuple[int | None, int | None]]()
        if self.saved is not None:
            lonely.add((self.saved.save_counter, None))
        if self.saved is not None and self.saved.is_name_based:
            lonely.add((None, self.live.save_counter))
        return [
            (row, row.fixed)
            for row in self.rows
            if row.fixed is not None
            and row.fixed.place is not Destination.HERE
            and (row.saved, row.live) not in lonely
        ]

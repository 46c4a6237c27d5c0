"""What one save did to one variable. This module needs no NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ckpt_viz.files.values.row import ValueRow


class CellState(str, Enum):
    """What one checkpoint says of a variable, against the checkpoint before."""

    FIRST = "first"
    CHANGED = "changed"
    EQUAL = "equal"
    RESHAPED = "reshaped"
    ABSENT = "absent"
    DAMAGED = "damaged"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Cell:
    """A variable in one checkpoint, and how it differs from the last one that has it.

    Attributes:
        state: What the checkpoint says of it. EQUAL: the bytes are those of before. UNREAD: the
            values were not read, because the work was interrupted.
        values: Its statistics, None if they were not read.
        l2: The Euclidean norm of the difference.
        relative: The same as a fraction of the norm before; infinite if that was 0, or if all
            elements that changed are left out.
        max_abs: The largest difference of an element.
        at: The index of that element.
        changed: The fraction of the elements that have other bits.
        since_first: The norm of the difference to the first checkpoint that has it, as a fraction
            of the norm then; infinite if an element became NaN or infinite, or was it.
        error: Why it cannot be read.
        left_out: How many elements have other bits, but count in no difference, because they are
            NaN or infinite in this checkpoint or in the one before.
        units: In the last of several cells that were read together, which indices of the last axis
            changed in any of them.
    """

    state: CellState
    values: ValueRow | None = None
    l2: float | None = None
    relative: float | None = None
    max_abs: float | None = None
    at: tuple[int, ...] | None = None
    changed: float | None = None
    since_first: float | None = None
    error: str | None = None
    left_out: int = 0
    units: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A variable over time: a cell for each checkpoint.

    `key`, `name`, `place`, `node_id`, `dtype` and `shape` are those in the last checkpoint that
    has it. `is_state` says that it belongs to an optimizer, or counts. `spread` is given
    if the checkpoints were compared without an order: the root mean square distance to their mean,
    as a fraction of its norm.
    """

    key: str
    name: str
    place: str
    node_id: int
    dtype: str | None
    shape: tuple[int, ...] | None
    cells: tuple[Cell, ...]
    is_state: bool = False
    spread: float | None = None

    @property
    def total(self) -> float | None:
        """How much it changed from the first to the last checkpoint, or how far members differ."""
        if self.spread is not None:
            return self.spread
        shares = [cell.since_first for cell in self.cells if cell.since_first is not None]
        return shares[-1] if shares else None

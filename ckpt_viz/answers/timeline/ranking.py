"""Which variables changed most, as far as a percentage of their norm tells it.

A bias that begins near zero changes by millions of percent, which says nothing of the training.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from ckpt_viz.answers.timeline.cells import CellState, HistoryRow
from ckpt_viz.ground.text import percent

NEAR_ZERO = 0.01
"""Elements begin near zero if their root mean square is less than this share of the median one."""
NEAR_ZERO_GROWTH = 10.0
"""They also grow, by this factor at least."""
GROWN = 2.0
"""Ratio of norms from which a variable "grew to" a multiple, rather than changed by a share."""


class Size(NamedTuple):
    """The norm of a variable in the first and the last checkpoint with its last shape.

    `mean_square` is the root mean square of its elements in the first one.
    """

    first: float
    last: float
    mean_square: float

    @property
    def growth(self) -> float:
        """How many times its first norm the last one is; infinite from zero."""
        if self.first == 0:
            return math.inf if self.last else 1.0
        return self.last / self.first


class Ranking:
    """The changes of some variables, which are compared with each other."""

    def __init__(self, rows: Sequence[HistoryRow], variables: Iterable[HistoryRow]) -> None:
        """Rank rows; `variables` are those whose size is the usual one.

        What optimizers keep has sizes of its own: that of the others says nothing of it.
        """
        self._sizes = {id(row): size for row in rows if (size := size_of(row)) is not None}
        usual = [self._sizes[id(row)].mean_square for row in variables if id(row) in self._sizes]
        known = [size for size in usual if size > 0]
        self._least = NEAR_ZERO * median(known) if known else 0.0

    def began_near_zero(self, row: HistoryRow) -> bool:
        """Return whether the first elements were so small that a percentage says little."""
        size = self._sizes.get(id(row))
        if size is None or row.spread is not None or not size.last:
            return False
        is_small = size.first == 0 or (size.mean_square < self._least and not row.is_state)
        return is_small and size.growth >= NEAR_ZERO_GROWTH

    def growth(self, row: HistoryRow) -> float:
        """Return how many times its first norm a row's norm is."""
        size = self._sizes.get(id(row))
        return 1.0 if size is None else size.growth

    def place(self, row: HistoryRow) -> tuple[bool, float]:
        """Return what sorts rows: the largest change first, those from near zero last."""
        if self.began_near_zero(row) and not _broken(row):
            return True, -self._sizes[id(row)].last
        return False, -(row.total or 0.0)

    def words(self, row: HistoryRow) -> str:
        """Return the change of a row in few letters."""
        if self.began_near_zero(row) and self._sizes[id(row)].first:
            return "from ≈ 0"
        if row.total is not None and math.isinf(row.total) and (broken := _broken(row)):
            return broken
        return percent(row.total)


def _broken(row: HistoryRow) -> str:
    """Return "NaN" or "Inf" if the first or the last values have some, else ""."""
    known = [cell.values for cell in row.cells if cell.values is not None]
    ends = known[:1] + known[-1:]
    inf = "Inf" if any(values.inf for values in ends) else ""
    return "NaN" if any(values.nan for values in ends) else inf


def size_of(row: HistoryRow) -> Size | None:
    """Return how large a variable was and is, None if that is not known."""
    if row.shape is None or 0 in row.shape:
        return None
    reshaped = [n for n, cell in enumerate(row.cells) if cell.state is CellState.RESHAPED]
    norms = [
        cell.values.l2
        for cell in row.cells[reshaped[-1] if reshaped else 0 :]
        if cell.values is not None and cell.values.l2 is not None
    ]
    if not norms:
        return None
    return Size(norms[0], norms[-1], norms[0] / math.sqrt(math.prod(row.shape)))

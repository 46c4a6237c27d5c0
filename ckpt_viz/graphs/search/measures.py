"""What the values of each node measure, for search and colour.

labextension/src/data/measures.ts derives the same measures from the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

COLUMNS = (
    *("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "norm"),
    *("unreadable", "before", "moved", "largest", "changed"),
)
"""What is known of a node's values; the last four only in a comparison.

`norm` is the Euclidean norm. `unreadable` counts the tensors that cannot be read. Of the value on
the other side, `before` is the norm and `moved` the norm of the difference; `largest` is the
largest difference of an element, and `changed` the fraction of the elements with other bits.
"""


@dataclass(frozen=True)
class Measures:
    """Statistics of the values of each node.

    `columns` has for each name of COLUMNS a float64 per node; NaN where the node has no such
    number. `unread` counts the tensors that were not read, because the work was interrupted.
    """

    columns: Mapping[str, Numbers]
    unread: int = 0

    @property
    def unreadable(self) -> int:
        """The number of tensors that cannot be read."""
        return int(np.nansum(self.columns["unreadable"]))

    def __getitem__(self, name: str) -> Numbers:
        """Return a measure of the grammar, one number per node; NaN for none."""
        return _DERIVED[name](self.columns) if name in _DERIVED else self.columns[name]


def no_measures(size: int) -> dict[str, Numbers]:
    """Return the columns of so many nodes without values."""
    return {name: np.full(size, np.nan) for name in COLUMNS}


def _share(part: Numbers, whole: Numbers) -> Numbers:
    """Return a fraction; of nothing, everything is infinitely much."""
    with np.errstate(all="ignore"):
        return np.where((whole == 0) & (part == 0), 0.0, part / whole)


_DERIVED: Mapping[str, Callable[[Mapping[str, Numbers]], Numbers]] = {
    "change": lambda columns: _share(columns["moved"], columns["before"]),
    "zeros": lambda columns: _share(columns["zeros"], columns["count"]),
}
_ARE: Mapping[str, Callable[[Mapping[str, Numbers]], npt.NDArray[np.bool_]]] = {
    "inf": lambda columns: columns["inf"] > 0,
    "nan": lambda columns: columns["nan"] > 0,
    "unchanged": lambda columns: columns["changed"] == 0,
    "unreadable": lambda columns: columns["unreadable"] > 0,
    "zero": lambda columns: (columns["count"] > 0) & (columns["zeros"] == columns["count"]),
}
PROPERTIES: Sequence[str] = tuple(_ARE)
"""The values of `is:` about values."""


def nodes_that_are(value: str, measures: Measures) -> npt.NDArray[np.bool_]:
    """Return by node whether its values are `nan`, `inf`, `zero`, `unchanged` or such."""
    return _ARE[value](measures.columns)

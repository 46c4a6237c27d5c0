"""What a tensor's row of a table of values says. This module needs no NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct

Number = int | float
COLUMNS = (
    *("key", "name", "dtype", "count", "nbytes", "zeros", "nan", "inf"),
    *("min", "max", "mean", "std", "l2"),
)
"""What a table of values can be sorted by."""
MAX_ROWS = 40
"""The rows of a table that `print` shows."""


_COUNTS, _EDGES = Struct("<64q"), Struct("<65d")


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many finite elements are in each of 64 bins.

    >>> row = cv.graph("ckpts/ckpt-3").values(progress=False)["net.head.w"]
    >>> sum(row.histogram.counts), len(row.histogram.edges)
    (12, 65)

    `edges` are 65 floats in ascending order. A bin includes its lower edge, not its upper one.
    `below` counts the elements less than the first edge, `above` those from the last edge on. So
    all counts together are the number of finite elements. An element equal to the largest float64
    counts in the last bin.
    """

    below: int
    above: int
    _packed: bytes = field(repr=False)  # a history keeps many thousands: tuples are 4 times larger

    @classmethod
    def of(cls, counts: Sequence[int], edges: Sequence[float], below: int, above: int) -> Histogram:
        """Return a histogram of 64 counts between 65 edges."""
        return cls(below, above, _COUNTS.pack(*counts) + _EDGES.pack(*edges))

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of elements in each bin."""
        return _COUNTS.unpack_from(self._packed)

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges between the bins, in ascending order."""
        return _EDGES.unpack_from(self._packed, _COUNTS.size)


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many strings there are, and the bytes of the shortest, of the longest and of all.

    `shortest` and `longest` are None without any string.
    """

    count: int
    shortest: int | None
    longest: int | None
    total: int

    def joined(self, other: Lengths) -> Lengths:
        """Return the lengths of the strings of both."""
        if not self.count or not other.count:
            return self if self.count else other
        return Lengths(
            self.count + other.count,
            min(self.shortest or 0, other.shortest or 0),
            max(self.longest or 0, other.longest or 0),
            self.total + other.total,
        )


@dataclass(frozen=True, slots=True)
class ValueRow:
    """The statistics of one stored tensor.

    >>> row = cv.graph("ckpts/ckpt-3").values(progress=False)["net.head.w"]
    >>> row.min, row.max, row.nan, row.zeros
    (4.0, 4.0, 0, 0)

    `key` is the checkpoint key, `name` the node's name as TensorFlow prints it, and `place` its
    place in the outline, with the attribute if the node has several tensors. `dtype` is
    TensorFlow's name, and `nbytes` counts stored bytes. They and `shape` are None if the source
    does not give them.

    `count` is the number of elements; `zeros` includes -0.0. `min`, `max`, `mean`, `std` (of the
    population, as `np.std`), `l2` (the Euclidean norm) and `histogram` are those of the finite
    elements, None without any. `min` and `max` of integers are exact; bool counts as 0 and 1.
    Complex numbers count by their magnitude, which is infinite if a float64 cannot hold it. `l2` is
    infinity if a float64 cannot hold it.

    Strings have a `count` and `lengths`, and None elsewhere. If the tensor cannot be read, `error`
    says why, and all statistics are None. So they are if nothing is wrong, but the values are no
    numbers for NumPy, like the state of an iterator: then `note` says why.
    """

    key: str
    name: str
    place: str
    node_id: int
    dtype: str | None
    shape: tuple[int, ...] | None
    nbytes: int | None
    count: int | None = None
    zeros: int | None = None
    nan: int | None = None
    inf: int | None = None
    min: Number | None = None
    max: Number | None = None
    mean: float | None = None
    std: float | None = None
    l2: float | None = None
    histogram: Histogram | None = field(default=None, repr=False)
    lengths: Lengths | None = None
    error: str | None = None
    note: str | None = None

    @property
    def has_problem(self) -> bool:
        """Whether the tensor has a NaN or an infinity, or cannot be read."""
        return bool(self.nan or self.inf or self.error is not None)


@dataclass(frozen=True, slots=True)
class Total:
    """The statistics of several tensors together, as in `ValueRow`.

    `tensors` counts them, `unreadable` those of them that could not be read and are missing in all
    other numbers. `strings` counts the elements that are strings; `count` is without them.
    """

    tensors: int
    unreadable: int
    count: int
    strings: int
    zeros: int
    nan: int
    inf: int
    l2: float
    nbytes: int

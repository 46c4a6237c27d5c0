"""What becomes of the bytes of tensors: their statistics, and how they change over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, ClassVar, NamedTuple, TypeVar

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.values.difference import (
    Difference,
    Units,
    difference_of,
    joined_difference,
    joined_units,
    units_of_both,
)
from ckpt_viz.files.values.histogram import histogram_of
from ckpt_viz.files.values.moments import l2_of, mean_of, std_of
from ckpt_viz.files.values.partial import (
    Partial,
    is_whole,
    joined_partial,
    no_elements,
    partial_of,
)
from ckpt_viz.files.values.ranges import FoldState, Once, Piece, Span
from ckpt_viz.files.values.row import Lengths, ValueRow
from ckpt_viz.files.values.spread import Spread, spread_of
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder
from ckpt_viz.formats.arrays.tensors import numpy_dtype
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_bytes import ChecksumOfStrings, checksum_for
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.crc32c import combine
from ckpt_viz.formats.storage.sstable import mask_crc32c

T = TypeVar("T")
LOCAL_BYTES = 1 << 23  # 8 MiB: they stay in the processor's cache
_BLOCK_BYTES = 1 << 20  # of several checkpoints, whose numbers are in memory together
# Measured: the statistics of weights take up to 11 bytes an element, and 140 kB in all.
_RESULT_SHARE, _RESULT_BYTES = 3, 1 << 17
_ROW_BYTES = 2_000  # measured, with the differences
_IDENTITY = ("key", "name", "place", "node_id", "dtype", "shape", "nbytes")


class Measured(NamedTuple):
    """The statistics of bytes, and their crc32c from the beginning of their range on, not masked.

    What is neither numbers nor strings has no statistics.
    """

    statistics: Partial | Lengths | None
    crc32c: int


# --- statistics


class Statistics:
    """The fold that measures the values of a tensor, and tests them against their checksum."""

    at_once = LOCAL_BYTES

    def begin(self, piece: Piece) -> FoldState:
        """Return what becomes of no bytes yet."""
        stored = piece.spans[0].stored
        return Once(lambda chunks: measured(chunks, stored, LOCAL_BYTES), str)

    def joined(
        self, before: Measured | str | None, now: Measured | str, piece: Piece
    ) -> Measured | str:
        """Return the statistics of both, or why a checksum differs."""
        return joined_measured(before, now, piece.spans[0])

    def result_bytes(self, piece: Piece) -> int:
        """Return what the statistics may take."""
        return _partial_bytes(piece.size)


def measured(chunks: Iterator[bytes], stored: StoredRange, block_bytes: int) -> Measured:
    """Return the statistics of stored bytes; raise FormatError if they contradict themselves."""
    dtype, shape = stored.dtype, stored.shape
    if numpy_dtype(dtype) is None or dtype == "string":
        checksum = checksum_for(dtype, shape or (), stored.byte_order)
        assert checksum is not None
        for data in chunks:
            checksum.extend(data, stored.place)
        checksum.finish(stored.place)
        return Measured(_lengths(checksum), checksum.value)
    statistics, crc = no_elements(dtype), 0
    for data in chunks:
        crc = checksums.extend(crc, data)
        # In the same blocks wherever the file is: then the sums are the same to the last bit.
        of_chunk = _in_blocks(data, dtype, stored.byte_order, stored.place, block_bytes)
        statistics = reduce(joined_partial, of_chunk, statistics)
    return Measured(statistics, crc)


def measure_array(flat: memoryview, dtype: str, place: str) -> Partial:
    """Return the statistics of the little-endian bytes of an array."""
    size = ELEMENT_BYTES[dtype] or 1
    blocks = _in_blocks(flat, dtype, "little", place, LOCAL_BYTES // size * size)
    return reduce(joined_partial, blocks, no_elements(dtype))


def _in_blocks(
    data: bytes | memoryview, dtype: str, byte_order: ByteOrder, place: str, block_bytes: int
) -> Iterator[Partial]:
    flat = memoryview(data)
    for start in range(0, len(flat), block_bytes):
        yield partial_of(flat[start : start + block_bytes], dtype, byte_order, place)


def _lengths(checksum: object) -> Lengths | None:
    if not isinstance(checksum, ChecksumOfStrings):
        return None
    return Lengths(checksum.count, checksum.shortest, checksum.longest, checksum.total)


def joined_measured(
    before: Measured | str | None, now: Measured | str, span: Span
) -> Measured | str:
    """Return the statistics of the spans before and of one together, or why a checksum differs."""
    if isinstance(before, str) or isinstance(now, str):
        return before if isinstance(before, str) else now
    statistics, crc = now
    if before is not None:
        statistics = _joined_statistics(before.statistics, statistics)
        crc = combine(before.crc32c, crc, span.size) if span.begin else crc
    return (_why_damaged(crc, span) if span.is_last else None) or Measured(statistics, crc)


def _joined_statistics(
    a: Partial | Lengths | None, b: Partial | Lengths | None
) -> Partial | Lengths | None:
    if isinstance(a, Partial) and isinstance(b, Partial):
        return joined_partial(a, b)
    return a.joined(b) if isinstance(a, Lengths) and isinstance(b, Lengths) else None


def _why_damaged(crc: int, span: Span) -> str | None:
    """Return why the crc32c of a range is not that of the index."""
    masked = mask_crc32c(crc)
    if span.stored.crc32c in (None, masked):
        return None
    return (
        f"{span.stored.place}: masked crc32c is 0x{masked:08x}, the index says "
        f"0x{span.stored.crc32c:08x}"
    )


def _partial_bytes(size: int) -> int:
    """Return what the statistics of so many bytes may take."""
    return min(_RESULT_SHARE * size, _RESULT_BYTES)


# --- changes over time


@dataclass(frozen=True)
class OverTime:
    """The fold that compares a tensor at each time with the time before, and with the first.

    `units` is the size of the last axis if pieces are whole rows of it, else 0. `members` is given
    if the times are to be compared with each other: for each member, the time whose bytes it has.
    `is_whole` says that the tensor has one piece: its statistics are then a row, which takes less
    memory.
    """

    units: int = 0
    members: tuple[int, ...] = ()
    is_whole: bool = False
    at_once: ClassVar[int] = 1 << 25

    def begin(self, piece: Piece) -> _Follower:
        """Return what becomes of no bytes yet."""
        return _Follower(self, piece)

    def joined(self, before: Followed | None, now: Followed, piece: Piece) -> Followed:
        """Return what became of the elements of both."""
        measured = now.measured
        if not self.is_whole:
            known = before.measured if before is not None else [None] * len(piece.at)
            measured = tuple(map(_joined_at_time, known, measured, piece.at))
        if before is None:
            return now._replace(measured=measured)
        both_differ = partial(_of_both, joined_difference)
        return Followed(
            measured,
            tuple(map(both_differ, before.since_last, now.since_last)),
            tuple(map(both_differ, before.since_first, now.since_first)),
            _of_both(units_of_both, before.units, now.units),
            _of_both(Spread.joined, before.spread, now.spread),
        )

    def result_bytes(self, piece: Piece) -> int:
        """Return what the statistics and differences may take."""
        sizes = [span.size for span in piece.spans]
        return _ROW_BYTES * len(sizes) if self.is_whole else sum(map(_partial_bytes, sizes))


class Followed(NamedTuple):
    """A tensor at each time: its statistics, and how it differs from before and from the first.

    None where the bytes are those of the time before. A sentence says why they cannot be read; the
    next ones then compare with the last that could be. `units` are those that changed at any time.
    """

    measured: tuple[Measured | ValueRow | str | None, ...]
    since_last: tuple[Difference | None, ...]
    since_first: tuple[Difference | None, ...]
    units: Units | None = None
    spread: Spread | None = None


class _Follower:
    """What became of a piece up to now. It keeps the bytes of the time before and of the first."""

    def __init__(self, fold: OverTime, piece: Piece) -> None:
        times = len(piece.at)
        self._fold, self._piece = fold, piece
        self._measured: list[Measured | ValueRow | str | None] = [None] * times
        self._since_last: list[Difference | None] = [None] * times
        self._since_first: list[Difference | None] = [None] * times
        self._units: Units | None = None
        self._first: tuple[bytes, ByteOrder] | None = None
        self._last: tuple[bytes, ByteOrder] | None = None
        self._kept: dict[int, tuple[bytes, ByteOrder]] = {}

    def take(self, time: int, chunks: Iterator[bytes]) -> None:
        span, data = self._piece.at[time], b"".join(chunks)
        assert span is not None
        stored = span.stored
        blocks = (data[at : at + _BLOCK_BYTES] for at in range(0, len(data), _BLOCK_BYTES))
        measurement = measured(blocks, stored, _BLOCK_BYTES)
        self._measured[time] = measurement
        if self._fold.is_whole:
            row = ValueRow("", "", "", 0, stored.dtype, None, None)
            self._measured[time] = filled(row, measurement.statistics)
        why = _why_damaged(measurement.crc32c, span) if span.size == stored.size else None
        if why is not None:  # damaged bytes are nothing to compare with
            self._measured[time] = why
            return
        now = data, stored.byte_order
        if self._fold.members:
            self._kept[time] = now
            return
        if self._last is not None and self._first is not None:
            delta = self._differs(self._last, now, self._fold.units)
            self._units = joined_units(self._units, delta.units)
            self._since_last[time] = delta._replace(units=None)
            is_second = self._last is self._first
            self._since_first[time] = (
                self._since_last[time] if is_second else self._differs(self._first, now, 0)
            )
        self._first = self._first or now
        self._last = now

    def fail(self, time: int, error: CkptVizError) -> None:
        self._measured[time] = str(error)

    def result(self) -> Followed:
        return Followed(
            tuple(self._measured),
            tuple(self._since_last),
            tuple(self._since_first),
            self._units,
            self._spread(),
        )

    def _spread(self) -> Spread | None:
        kept = [self._kept.get(time) for time in self._fold.members]
        known = [member for member in kept if member is not None]
        if not known or len(known) < len(kept):
            return None
        return spread_of([data for data, _ in known], self._dtype, [order for _, order in known])

    def _differs(
        self, was: tuple[bytes, ByteOrder], now: tuple[bytes, ByteOrder], units: int
    ) -> Difference:
        first = self._piece.first // (ELEMENT_BYTES[self._dtype] or 1)
        orders = was[1], now[1]
        return difference_of(was[0], now[0], self._dtype, orders, first=first, units=units)

    @property
    def _dtype(self) -> str:
        return self._piece.spans[0].stored.dtype


def _joined_at_time(
    before: Measured | ValueRow | str | None,
    now: Measured | ValueRow | str | None,
    span: Span | None,
) -> Measured | str | None:
    assert not isinstance(before, ValueRow) and not isinstance(now, ValueRow)
    return None if now is None or span is None else joined_measured(before, now, span)


def _of_both(join: Callable[[T, T], T], a: T | None, b: T | None) -> T | None:
    return None if a is None or b is None else join(a, b)


# --- rows


def with_statistics(row: ValueRow, statistics: ValueRow) -> ValueRow:
    """Return a row with the statistics that another one has."""
    return replace(statistics, **{name: getattr(row, name) for name in _IDENTITY})


def filled(row: ValueRow, total: Partial | Lengths | None) -> ValueRow:
    """Return the row with the statistics of all of its tensor's elements."""
    if total is None:
        return row
    if isinstance(total, Lengths):
        return replace(row, count=total.count, lengths=total)
    fields: dict[str, Any] = {
        name: getattr(total, name) for name in ("count", "zeros", "nan", "inf")
    }
    low, high = total.low, total.high
    if low is not None and high is not None:
        assert row.dtype is not None
        is_constant = low == high
        fields |= {
            "min": low,
            "max": high,
            "mean": float(low) if is_constant else min(max(mean_of(total.moments), low), high),
            "std": 0.0 if is_constant else std_of(total.moments),
            "l2": l2_of(total.moments),
            "histogram": histogram_of(
                total.bins, total.zeros, float(low), float(high), is_whole=is_whole(row.dtype)
            ),
        }
    return replace(row, **fields)

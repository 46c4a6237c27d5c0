"""A tensor's row, from the statistics of its pieces as they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ckpt_viz.files.values.histogram import histogram_of
from ckpt_viz.files.values.moments import l2_of, mean_of, std_of
from ckpt_viz.files.values.partial import Partial, is_whole, joined_partial, no_elements
from ckpt_viz.files.values.pieces import PIECE_BYTES, Measured, Piece, cut
from ckpt_viz.files.values.row import Lengths, ValueRow
from ckpt_viz.files.values.strings import NO_STRINGS, joined_lengths
from ckpt_viz.formats.bundles.stored_ranges import StoredRange
from ckpt_viz.formats.storage.crc32c import combine
from ckpt_viz.formats.storage.sstable import mask_crc32c

_IDENTITY = ("key", "name", "place", "node_id", "dtype", "shape", "nbytes")


class _PieceOfRange(NamedTuple):
    """A piece, its range, and whether it is the last of that."""

    stored: StoredRange
    piece: Piece
    is_last: bool


class _State(NamedTuple):
    """The pieces that joined: their statistics, number, and crc32c within their range."""

    statistics: Partial | Lengths
    number: int = 0
    crc32c: int = 0
    error: str | None = None


class Assembly:
    """The statistics of a tensor's first pieces together, and of later ones that came earlier.

    Pieces join in their order, so that the result does not depend on which worker was faster. Each
    piece joins by one assignment. So an interrupted program can go on with it.
    """

    def __init__(
        self, row: ValueRow, ranges: tuple[StoredRange, ...], most: int = PIECE_BYTES
    ) -> None:
        assert row.dtype is not None
        self._row = row
        self._parts = tuple(_parts(ranges, row.dtype, most))
        self._state = _State(NO_STRINGS if row.dtype == "string" else no_elements(row.dtype))
        self._waiting: dict[int, Measured | str] = {}

    @property
    def is_done(self) -> bool:
        """Whether all pieces arrived, or one shows that the tensor cannot be read."""
        return self._state.error is not None or self._state.number == len(self._parts)

    def missing(self) -> Iterator[tuple[int, str, Piece]]:
        """Yield number, path and piece of what is still needed."""
        for number in range(self._state.number, len(self._parts)):
            if number not in self._waiting:
                part = self._parts[number]
                yield number, part.stored.path, part.piece

    def add(self, number: int, measured: Measured | str) -> None:
        """Add the statistics of a piece, or why it cannot be read."""
        self._waiting[number] = measured
        while not self.is_done and self._state.number in self._waiting:
            next_number = self._state.number
            self._state = self._joined(self._waiting[next_number], self._parts[next_number])
            del self._waiting[next_number]

    def fail(self, error: str) -> None:
        """Give up the tensor."""
        self._state = self._state._replace(error=error)

    def finished(self) -> ValueRow:
        """Return the row, once all is done."""
        if self._state.error is not None:
            return replace(self._row, error=self._state.error)
        return filled(self._row, self._state.statistics)

    def _joined(self, measured: Measured | str, part: _PieceOfRange) -> _State:
        before = self._state
        if isinstance(measured, str):
            return before._replace(error=measured)
        stored, piece = part.stored, part.piece
        is_first = piece.offset == stored.offset
        crc = measured.crc32c
        if not is_first:
            crc = combine(before.crc32c, crc, piece.size)
        masked, error = mask_crc32c(crc), None
        if part.is_last and masked != stored.crc32c:
            error = (
                f"{stored.place}: masked crc32c is 0x{masked:08x}, the index says "
                f"0x{stored.crc32c:08x}"
            )
        statistics = joined_statistics(before.statistics, measured.statistics)
        return _State(statistics, before.number + 1, crc, error)


def _parts(ranges: tuple[StoredRange, ...], dtype: str, most: int) -> Iterator[_PieceOfRange]:
    for stored in ranges:
        end = stored.offset + stored.size
        for piece in cut(stored, dtype, most):
            yield _PieceOfRange(stored, piece, piece.offset + piece.size == end)


def joined_statistics(a: Partial | Lengths, b: Partial | Lengths) -> Partial | Lengths:
    """Return the statistics of the elements of both, which are of one dtype."""
    if isinstance(a, Partial):
        assert isinstance(b, Partial)
        return joined_partial(a, b)
    assert isinstance(b, Lengths)
    return joined_lengths(a, b)


def with_statistics(row: ValueRow, statistics: ValueRow) -> ValueRow:
    """Return a row with the statistics that another one has."""
    return replace(statistics, **{name: getattr(row, name) for name in _IDENTITY})


def filled(row: ValueRow, total: Partial | Lengths) -> ValueRow:
    """Return the row with the statistics of all of its tensor's elements."""
    if isinstance(total, Lengths):
        return replace(row, count=total.count, lengths=total)
    row = replace(row, count=total.count, zeros=total.zeros, nan=total.nan, inf=total.inf)
    low, high = total.low, total.high
    if low is None or high is None:
        return row
    assert row.dtype is not None
    is_constant = low == high
    return replace(
        row,
        min=low,
        max=high,
        mean=float(low) if is_constant else min(max(mean_of(total.moments), low), high),
        std=0.0 if is_constant else std_of(total.moments),
        l2=l2_of(total.moments),
        histogram=histogram_of(
            total.bins, total.zeros, float(low), float(high), is_whole=is_whole(row.dtype)
        ),
    )

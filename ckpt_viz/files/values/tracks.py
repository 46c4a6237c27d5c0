"""Pieces of tensors at several times, which any process can read and compare on its own.

A task reads each range of each file once. It keeps the bytes of two checkpoints at a time, that
before and the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.values.assembly import filled
from ckpt_viz.files.values.difference import Difference, Units, difference_of, joined_units
from ckpt_viz.files.values.partial import joined_partial, no_elements, partial_of
from ckpt_viz.files.values.pieces import Measured, result_bytes
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.spread import Spread, spread_of
from ckpt_viz.formats.arrays.dtypes import ByteOrder
from ckpt_viz.formats.storage import checksums, confinement
from ckpt_viz.formats.storage.files import File, open_file
from ckpt_viz.formats.storage.sstable import brief, mask_crc32c

PIECE_BYTES = 1 << 23  # 8 MiB; three of them and their numbers in blocks are in memory
_BLOCK_BYTES = 1 << 20
_ROW_BYTES = 2_000  # measured, with the differences


class Where(NamedTuple):
    """A range of a file, or memory of no size; `key` is that of its tensor.

    `crc32c` is the masked checksum of the bytes, None if it covers more than them.
    """

    path: str
    offset: int
    size: int
    byte_order: ByteOrder
    key: str
    crc32c: int | None = None

    @property
    def place(self) -> str:
        """Where the bytes are, for errors."""
        return f"{self.path}: {brief(self.key)} at offset {self.offset}"


class PieceOverTime(NamedTuple):
    """A piece of a tensor at each time; None where its bytes are those of the time before.

    `first` is the flat index of its first element, `units` the size of the last axis if the piece
    is whole rows of it, else 0. `name` is for the caller. `members` is given if the times are to be
    compared with each other: for each member, the time whose bytes it has. `is_whole` says that the
    piece is the tensor: its statistics are then a row, which takes less memory than a partial.
    """

    name: tuple[int, int]
    dtype: str
    first: int
    units: int
    at: tuple[Where | None, ...]
    members: tuple[int, ...] = ()
    is_whole: bool = False

    @property
    def size(self) -> int:
        """The bytes to read."""
        return sum(where.size for where in self.at if where is not None)

    @property
    def result_bytes(self) -> int:
        """What the statistics may take."""
        sizes = [where.size for where in self.at if where is not None]
        return _ROW_BYTES * len(sizes) if self.is_whole else sum(map(result_bytes, sizes))


class Track(NamedTuple):
    """Parts that a task follows through the same times. `limit` is the confinement to read in."""

    parts: tuple[PieceOverTime, ...]
    limit: confinement.Limit | None = None

    @property
    def size(self) -> int:
        """The bytes to read."""
        return sum(part.size for part in self.parts)


class Followed(NamedTuple):
    """A part at each time: its statistics, and how it differs from before and from the first.

    None where the bytes are those of the time before. A sentence says why they cannot be read; the
    next ones then compare with the last that could be. `units` are those that changed at any time.
    """

    measured: tuple[Measured | ValueRow | str | None, ...]
    since_last: tuple[Difference | None, ...]
    since_first: tuple[Difference | None, ...]
    units: Units | None = None
    spread: Spread | None = None


def follow_in_memory(part: PieceOverTime, values: Sequence[Callable[[], bytes]]) -> Followed:
    """Return what became of a part whose bytes functions return, one for each time."""
    follower = _Follower(part)
    for time, where in enumerate(part.at):
        if where is not None:
            try:
                follower.take(time, values[time]())
            except CkptVizError as error:
                follower.take(time, str(error))
    return follower.followed()


def follow(track: Track, on_read: Callable[[int], object] | None = None) -> tuple[Followed, ...]:
    """Return what became of each part; it raises no CkptVizError.

    `on_read` gets the bytes that were read of each checkpoint; what it raises ends the reading.
    """
    with ExitStack() as stack:
        if track.limit is not None and confinement.current() is None:
            root, hidden = track.limit.root, track.limit.shows_hidden
            scope = confinement.confined_to(root, shows_hidden=hidden, most_bytes=track.size)
            stack.enter_context(scope)
        followers = [_Follower(part) for part in track.parts]
        for time in range(len(track.parts[0].at)):
            for follower, data in _read(followers, time):
                follower.take(time, data)
            if on_read is not None:
                places = (part.at[time] for part in track.parts)
                on_read(sum(where.size for where in places if where is not None))
        return tuple([follower.followed() for follower in followers])


class _Follower:
    """What became of a part up to now."""

    def __init__(self, part: PieceOverTime) -> None:
        times = len(part.at)
        self.part = part
        self._measured: list[Measured | ValueRow | str | None] = [None] * times
        self._since_last: list[Difference | None] = [None] * times
        self._since_first: list[Difference | None] = [None] * times
        self._units: Units | None = None
        self._first: tuple[bytes, ByteOrder] | None = None
        self._last: tuple[bytes, ByteOrder] | None = None
        self._kept: dict[int, tuple[bytes, ByteOrder]] = {}

    def take(self, time: int, data: bytes | str) -> None:
        """Take the bytes of the next time, or the reason why they cannot be read."""
        where = self.part.at[time]
        assert where is not None
        if isinstance(data, str):
            self._measured[time] = data
            return
        try:
            measurement = measured(data, self.part.dtype, where.byte_order, where.place)
        except CkptVizError as error:
            self._measured[time] = str(error)
            return
        self._measured[time] = self._row(measurement) if self.part.is_whole else measurement
        masked = mask_crc32c(measurement.crc32c)
        if where.crc32c not in (None, masked):  # damaged bytes are nothing to compare with
            self._measured[time] = (
                f"{where.place}: masked crc32c is 0x{masked:08x}, the index says "
                f"0x{where.crc32c:08x}"
            )
            return
        now = data, where.byte_order
        if self.part.members:
            self._kept[time] = now
            return
        if self._last is not None and self._first is not None:
            delta = self._differs(self._last, now, self.part.units)
            self._units = joined_units(self._units, delta.units)
            self._since_last[time] = delta._replace(units=None)
            is_second = self._last is self._first
            self._since_first[time] = (
                self._since_last[time] if is_second else self._differs(self._first, now, 0)
            )
        self._first = self._first or now
        self._last = now

    def followed(self) -> Followed:
        return Followed(
            tuple(self._measured),
            tuple(self._since_last),
            tuple(self._since_first),
            self._units,
            self._spread(),
        )

    def _spread(self) -> Spread | None:
        kept = [self._kept.get(time) for time in self.part.members]
        known = [member for member in kept if member is not None]
        if not known or len(known) < len(kept):
            return None
        return spread_of(
            [data for data, _ in known], self.part.dtype, [order for _, order in known]
        )

    def _row(self, measurement: Measured) -> ValueRow:
        return filled(ValueRow("", "", "", 0, self.part.dtype, None, None), measurement.statistics)

    def _differs(
        self, was: tuple[bytes, ByteOrder], now: tuple[bytes, ByteOrder], units: int
    ) -> Difference:
        part, orders = self.part, (was[1], now[1])
        return difference_of(was[0], now[0], part.dtype, orders, first=part.first, units=units)


def measured(data: bytes, dtype: str, byte_order: ByteOrder, place: str) -> Measured:
    """Return the statistics of stored bytes, in blocks that fit a cache, and their crc32c."""
    statistics, crc = no_elements(dtype), 0
    for start in range(0, len(data), _BLOCK_BYTES):
        block = data[start : start + _BLOCK_BYTES]
        crc = checksums.extend(crc, block)
        statistics = joined_partial(statistics, partial_of(block, dtype, byte_order, place))
    return Measured(statistics, crc)


def _read(followers: Sequence[_Follower], time: int) -> Iterator[tuple[_Follower, bytes | str]]:
    """Yield the bytes of each part that has new ones; ranges that touch are read at once."""
    pairs = ((follower.part.at[time], follower) for follower in followers)
    new = [(where, follower) for where, follower in pairs if where is not None]
    new.sort(key=lambda pair: (pair[0].path, pair[0].offset))
    groups: list[list[tuple[Where, _Follower]]] = []
    for where, follower in new:
        last = groups[-1][-1][0] if groups else None
        touches = (
            last is not None and last.path == where.path and last.offset + last.size == where.offset
        )
        if touches:
            groups[-1].append((where, follower))
        else:
            groups.append([(where, follower)])
    files: dict[str, File | str] = {}
    ends: dict[str, int] = {}
    for where, _ in new:
        ends[where.path] = max(ends.get(where.path, 0), where.offset + where.size)
    with ExitStack() as stack:
        for group in groups:
            start, path = group[0][0].offset, group[0][0].path
            if path not in files:
                files[path] = _opened(path, ends[path], stack)
            data = _range(files[path], start, sum(where.size for where, _ in group))
            for where, follower in group:
                if isinstance(data, str):
                    yield follower, data
                else:
                    begin = where.offset - start
                    yield follower, data[begin : begin + where.size]


def _opened(path: str, end: int, stack: ExitStack) -> File | str:
    try:
        return stack.enter_context(open_file(path, end=end))
    except CkptVizError as error:
        return str(error)


def _range(file: File | str, offset: int, size: int) -> bytes | str:
    if isinstance(file, str):
        return file
    try:
        return file.read(offset, size)
    except CkptVizError as error:
        return str(error)

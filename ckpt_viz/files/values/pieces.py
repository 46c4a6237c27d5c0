"""Pieces of tensors in files, which any process can read and measure on its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from ckpt_viz.errors import CkptVizError, FormatError
from ckpt_viz.files.values.partial import Partial, joined_partial, no_elements, partial_of
from ckpt_viz.files.values.row import Lengths
from ckpt_viz.files.values.strings import stored_lengths
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder
from ckpt_viz.formats.bundles.stored_ranges import StoredRange
from ckpt_viz.formats.storage import checksums, confinement
from ckpt_viz.formats.storage.files import File, is_remote, open_file

PIECE_BYTES = 1 << 26  # 64 MiB; a multiple of the size of every element
# A read of a local file: its bytes stay in the processor's cache.
LOCAL_BYTES = 1 << 23  # 8 MiB
_STRING_BYTES = 1 << 24  # 16 MiB
# Measured: the statistics of weights take up to 11 bytes an element, and 140 kB in all.
_RESULT_SHARE, _RESULT_BYTES = 3, 1 << 17
_MOST_RESULT_BYTES = 1 << 24  # of a task: those of small tensors are larger than the tensors


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a stored range: `size` bytes at `offset` of a file.

    `count` is the number of strings, for strings only: their range is one piece.
    """

    offset: int
    size: int
    dtype: str
    count: int
    place: str


class Task(NamedTuple):
    """Pieces that follow each other in a file without a gap, at most 64 MiB, or strings.

    `names` are for the caller, one for each piece. `limit` is the confinement to read in.
    """

    path: str
    byte_order: ByteOrder
    pieces: tuple[Piece, ...]
    names: tuple[Any, ...]
    limit: confinement.Limit | None = None

    @property
    def offset(self) -> int:
        """Where the first piece begins."""
        return self.pieces[0].offset

    @property
    def size(self) -> int:
        """The bytes of all pieces."""
        return sum(piece.size for piece in self.pieces)

    @property
    def result_bytes(self) -> int:
        """What the statistics of the pieces may take."""
        return sum(result_bytes(piece.size) for piece in self.pieces)


class Measured(NamedTuple):
    """The statistics of a piece, and the crc32c of its bytes, not masked."""

    statistics: Partial | Lengths
    crc32c: int


def cut(stored: StoredRange, dtype: str, most: int = PIECE_BYTES) -> Iterator[Piece]:
    """Yield the pieces of a range of at most so many bytes; one even if it has no bytes."""
    if dtype == "string":
        yield Piece(stored.offset, stored.size, dtype, stored.count, stored.place)
        return
    for start in range(0, max(stored.size, 1), most):
        size = min(most, stored.size - start)
        yield Piece(stored.offset + start, size, dtype, 0, stored.place)


def measure(task: Task) -> tuple[Measured | str, ...]:
    """Return the statistics of each piece, or a sentence why it cannot be read.

    It raises no CkptVizError, so that other tasks go on.
    """
    with _confined(task):
        try:
            with open_file(task.path, end=task.offset + task.size) as file:
                is_small = len(task.pieces) > 1
                data = file.read(task.offset, task.size) if is_small else None
                return tuple([_measured(task, piece, file, data) for piece in task.pieces])
        except CkptVizError as error:
            return (str(error),) * len(task.pieces)


def result_bytes(size: int) -> int:
    """Return how many bytes the statistics of a piece of so many bytes may take."""
    return min(_RESULT_SHARE * size, _RESULT_BYTES)


def fits(task_bytes: int, result_bytes: int, path: str) -> bool:
    """Return whether pieces of these bytes in all may be one task, which reads them at once."""
    most = PIECE_BYTES if is_remote(path) else LOCAL_BYTES
    return task_bytes <= most and result_bytes <= _MOST_RESULT_BYTES


def _confined(task: Task) -> AbstractContextManager[object]:
    """Enter the task's confinement, unless the thread is in it: new threads and processes are not.

    The caller of an executor has counted the bytes.
    """
    if task.limit is None or confinement.current() is not None:
        return nullcontext()
    root, shows_hidden = task.limit.root, task.limit.shows_hidden
    return confinement.confined_to(root, shows_hidden=shows_hidden, most_bytes=task.size)


def _measured(task: Task, piece: Piece, file: File, data: bytes | None) -> Measured | str:
    try:
        if data is not None:
            start = piece.offset - task.offset
            reads = iter([data[start : start + piece.size]])
        else:
            reads = _reads(file, piece)
        if piece.dtype == "string":
            return Measured(*stored_lengths(reads, piece.count, task.byte_order, piece.place))
        return _measured_numbers(reads, piece, task.byte_order)
    except FormatError as error:
        return str(error)


def _reads(file: File, piece: Piece) -> Iterator[bytes]:
    most = PIECE_BYTES if is_remote(file.path) else LOCAL_BYTES
    most = _STRING_BYTES if piece.dtype == "string" else most
    for start in range(0, piece.size, most):
        yield file.read(piece.offset + start, min(most, piece.size - start))


def _measured_numbers(reads: Iterator[bytes], piece: Piece, byte_order: ByteOrder) -> Measured:
    statistics, crc = no_elements(piece.dtype), 0
    for data in reads:
        crc = checksums.extend(crc, data)
        # In the same blocks wherever the file is: then the sums are the same to the last bit.
        for start in range(0, len(data), LOCAL_BYTES):
            block = memoryview(data)[start : start + LOCAL_BYTES]
            part = partial_of(block, piece.dtype, byte_order, piece.place)
            statistics = joined_partial(statistics, part)
    return Measured(statistics, crc)


def measure_array(flat: memoryview, dtype: str, place: str) -> Partial:
    """Return the statistics of the little-endian bytes of an array, in blocks that fit a cache."""
    step = LOCAL_BYTES // (ELEMENT_BYTES[dtype] or 1) * (ELEMENT_BYTES[dtype] or 1)
    blocks = (flat[start : start + step] for start in range(0, len(flat), step))
    return reduce(
        joined_partial,
        (partial_of(block, dtype, "little", place) for block in blocks),
        no_elements(dtype),
    )

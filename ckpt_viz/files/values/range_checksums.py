"""The crc32c of ranges of files, each byte read once, also where ranges overlap."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import reduce
from itertools import islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, GoneError
from ckpt_viz.files.values.ranges import FoldState, Once, Piece, Request, cut, folded
from ckpt_viz.files.values.running import Begin, progress_of
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_bytes import UndecodedVariantError, VarintError, checksum_for
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.crc32c import combine, without_beginning
from ckpt_viz.graphs.nodes.nodes import Fault

PIECE_BYTES = 1 << 24  # 16 MiB
_RESULT_BYTES = 1 << 10  # of a piece: some numbers


def crcs_of(
    ranges: Iterable[StoredRange], title: str, *, executor: Executor | None, begin: Begin
) -> tuple[dict[StoredRange, int | Fault], int]:
    """Return the crc32c of each range with bytes, not masked, and the number of bytes read.

    In place of a crc32c it has the fault in the bytes. Without a class of error, that is any.
    """
    wanted = sorted(ranges)
    clusters = list(_clusters(each for each in wanted if each.size and not is_encoded(each)))
    pieces = [piece for cluster in clusters for piece in cluster.pieces]
    pieces += filter(is_encoded, wanted)
    fold = Crc32c()
    requests = [
        Request(cut(fold, [[piece]], sys.maxsize if piece.dtype else PIECE_BYTES))
        for piece in pieces
    ]
    nbytes = sum(piece.size for piece in pieces)
    with progress_of(title, nbytes, begin) as on_read:
        by_number = dict(enumerate(requests))
        reading = folded(by_number, lambda _: PIECE_BYTES, executor=executor, on_read=on_read)
        deque(reading, maxlen=0)
    values = (request.value for request in requests)
    crcs: dict[StoredRange, int | Fault] = {}
    for cluster in clusters:
        crcs.update(cluster.checksums(list(islice(values, len(cluster.pieces)))))
    crcs.update(zip(filter(is_encoded, wanted), values, strict=True))
    return crcs, nbytes


def is_encoded(stored: StoredRange) -> bool:
    """Return whether bytes are read in their order from the first on, to know what they are."""
    return stored.dtype in ("string", "variant")


class _Cluster(NamedTuple):
    """Ranges of a file that overlap, and the pieces between all of their beginnings and ends.

    Each piece is read once. So a file whose ranges claim more costs no more than its size.
    """

    ranges: tuple[StoredRange, ...]
    pieces: tuple[StoredRange, ...]

    def checksums(self, crcs: Sequence[int | Fault]) -> Iterator[tuple[StoredRange, int | Fault]]:
        """Yield each range with its crc32c, not masked, or why some of its bytes are unread.

        It follows from those of two beginnings of all bytes; `crcs` are those of the pieces.
        """
        if len(self.pieces) == 1:
            yield self.ranges[0], crcs[0]
            return
        beginnings, crc = {self.pieces[0].offset: 0}, 0
        unread: list[tuple[int, Fault]] = []
        for piece, of_piece in zip(self.pieces, crcs, strict=True):
            if isinstance(of_piece, Fault):
                unread.append((piece.offset, of_piece))
                of_piece = 0
            crc = combine(crc, of_piece, piece.size) if crc else of_piece
            beginnings[piece.offset + piece.size] = crc
        for stored in self.ranges:
            end = stored.offset + stored.size
            place = bisect_left(unread, stored.offset, key=itemgetter(0))
            if place < len(unread) and unread[place][0] < end:
                yield stored, unread[place][1]
                continue
            whole, beginning = beginnings[end], beginnings[stored.offset]
            yield stored, without_beginning(whole, beginning, stored.size) if beginning else whole


def _clusters(ranges: Iterable[StoredRange]) -> Iterator[_Cluster]:
    """Yield sorted, different ranges by overlap."""
    together: list[StoredRange] = []
    end = 0
    for stored in ranges:
        if together and (stored.path != together[0].path or stored.offset >= end):
            yield _cluster(together)
            together = []
        end = max(end, stored.offset + stored.size) if together else stored.offset + stored.size
        together.append(stored)
    if together:
        yield _cluster(together)


def _cluster(ranges: Sequence[StoredRange]) -> _Cluster:
    if len(ranges) == 1:
        return _Cluster(tuple(ranges), tuple(ranges))
    cuts = sorted({place for each in ranges for place in (each.offset, each.offset + each.size)})
    pieces = (
        ranges[0]._replace(offset=begin, size=until - begin) for begin, until in pairwise(cuts)
    )
    return _Cluster(tuple(ranges), tuple(pieces))


class Crc32c:
    """The fold that computes the crc32c of bytes, and tests the checksums inside of them."""

    at_once = 1 << 20  # what fits into a processor's cache is twice as fast

    def begin(self, piece: Piece) -> FoldState:
        """Return what becomes of no bytes yet."""
        stored = piece.spans[0].stored
        return Once(
            lambda chunks: _crc32c(chunks, stored),
            lambda error: Fault(str(error), _raised_by(error) if stored.dtype else ""),
        )

    def joined(self, before: int | Fault | None, now: int | Fault, piece: Piece) -> int | Fault:
        """Return the crc32c of both."""
        if before is None or isinstance(before, Fault):
            return now if before is None else before
        return now if isinstance(now, Fault) else combine(before, now, piece.size)

    def result_bytes(self, piece: Piece) -> int:
        """Return what the crc32c takes."""
        return _RESULT_BYTES


def _crc32c(chunks: Iterator[bytes], stored: StoredRange) -> int:
    if not stored.dtype:
        return reduce(checksums.extend, chunks, 0)
    checksum = checksum_for(stored.dtype, stored.shape or (), stored.byte_order)
    assert checksum is not None
    for data in chunks:
        checksum.extend(data, stored.place)
    checksum.finish(stored.place)
    return checksum.value


def _raised_by(error: CkptVizError) -> str:
    """Return the class of what TensorFlow raises when it decodes a string or a variant."""
    if isinstance(error, VarintError):
        return "OutOfRangeError"
    if isinstance(error, UndecodedVariantError):
        return "InternalError"
    return "NotFoundError" if isinstance(error, GoneError) else "DataLossError"

"""Checksums of many ranges of files, each byte read once, in pieces of at most 16 MiB.

Ranges may be of any size, and overlap: a file that claims so must not cost more than its size.
Where they overlap, the file is cut at every beginning and end. The checksum of a range then follows
from those of two beginnings of the part in which they overlap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.crc32c import combine, without_beginning
from ckpt_viz.formats.storage.files import File, is_remote, open_file

PIECE_BYTES = 1 << 24  # 16 MiB
_READ_BYTES = 1 << 20  # of a local file: what fits into a processor's cache is twice as fast
_GAP_BYTES = 1 << 12  # bytes between two parts that are read, too: one read is faster than two


class Range(NamedTuple):
    """Bytes of a file."""

    path: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + self.size


class Stretch(NamedTuple):
    """A task: `size` bytes of a file to read, with the parts whose checksums are needed.

    `parts` are beginnings and ends, in bytes of the file.
    """

    path: str
    offset: int
    size: int
    parts: tuple[tuple[int, int], ...]

    @property
    def nbytes(self) -> int:
        """The number of bytes in the parts."""
        return sum(end - start for start, end in self.parts)


class Cluster(NamedTuple):
    """Ranges of a file that overlap, and the places where the file is cut for them."""

    ranges: tuple[Range, ...]
    cuts: tuple[int, ...]


def checksums_in(stretch: Stretch) -> tuple[int, ...] | str:
    """Return the crc32c of each part of a stretch, not masked; or why it cannot be read."""
    most = stretch.size if is_remote(stretch.path) else _READ_BYTES
    try:
        with open_file(stretch.path, end=stretch.offset + stretch.size) as file:
            return tuple(_checksums(file, stretch, most))
    except CkptVizError as error:
        return str(error)


def _checksums(file: File, stretch: Stretch, most: int) -> Iterator[int]:
    """Yield the crc32c of each part; read at most so many bytes at a time."""
    data, base = b"", stretch.offset
    for start, end in stretch.parts:
        crc, place = 0, start
        while place < end:
            if not base <= place < base + len(data):
                base = place
                data = file.read(base, min(most, stretch.offset + stretch.size - base))
            until = min(end, base + len(data))
            crc = checksums.extend(crc, data[place - base : until - base])
            place = until
        yield crc


def clusters_of(ranges: Iterable[Range]) -> Iterator[Cluster]:
    """Yield the different ranges with bytes, in the order of files and offsets, by overlap."""
    for _, in_file in groupby(sorted({span for span in ranges if span.size}), attrgetter("path")):
        together: list[Range] = []
        end = 0
        for span in in_file:
            if together and span.offset >= end:
                yield _cluster(together)
                together = []
            together.append(span)
            end = max(end, span.end) if len(together) > 1 else span.end
        yield _cluster(together)


def _cluster(ranges: Sequence[Range]) -> Cluster:
    start, end = ranges[0].offset, max(span.end for span in ranges)
    cuts = {start, end, *range(start, end, PIECE_BYTES)}
    cuts.update(span.offset for span in ranges)
    cuts.update(span.end for span in ranges)
    return Cluster(tuple(ranges), tuple(sorted(cuts)))


def stretches_of(clusters: Iterable[Cluster]) -> Iterator[Stretch]:
    """Yield the tasks whose parts are all that is between the cuts."""
    parts: list[tuple[int, int]] = []
    path = ""
    for cluster in clusters:
        for start, end in pairwise(cluster.cuts):
            is_near = parts and start - parts[-1][1] <= _GAP_BYTES
            is_small = parts and end - parts[0][0] <= PIECE_BYTES
            if parts and not (is_near and is_small and cluster.ranges[0].path == path):
                yield _stretch(path, parts)
                parts = []
            path = cluster.ranges[0].path
            parts.append((start, end))
    if parts:
        yield _stretch(path, parts)


def _stretch(path: str, parts: Sequence[tuple[int, int]]) -> Stretch:
    start, end = parts[0][0], parts[-1][1]
    return Stretch(path, start, end - start, tuple(parts))


def checksums_of(
    clusters: Iterable[Cluster], checksums: Mapping[tuple[str, int], int | str]
) -> dict[Range, int | str]:
    """Return the crc32c of each range, not masked; or why some of its bytes cannot be read.

    `checksums` holds what the tasks have returned, by file and by the beginning of each part.
    """
    crcs: dict[Range, int | str] = {}
    for cluster in clusters:
        path = cluster.ranges[0].path
        beginnings, crc = {cluster.cuts[0]: 0}, 0
        unread: list[tuple[int, str]] = []
        for start, end in pairwise(cluster.cuts):
            part = checksums[path, start]
            if isinstance(part, str):
                unread.append((start, part))
                part = 0
            crc = combine(crc, part, end - start) if crc else part
            beginnings[end] = crc
        for span in cluster.ranges:
            place = bisect_left(unread, (span.offset,))
            if place < len(unread) and unread[place][0] < span.end:
                crcs[span] = unread[place][1]
                continue
            whole, beginning = beginnings[span.end], beginnings[span.offset]
            crcs[span] = without_beginning(whole, beginning, span.size) if beginning else whole
    return crcs

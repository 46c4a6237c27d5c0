"""Tensors in boxes: parts whose elements follow each other, in the tensor and in each slice of it.

So a tensor of any size, whole or in slices, is read in ranges of a few MiB in the order of its
elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder, tensor_bytes
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.arrays.tensors import encode
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_ranges import stored_ranges
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.files import File, open_file
from ckpt_viz.formats.storage.sstable import mask_crc32c
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import shape_words

_MOST_WHOLE_BYTES = 1 << 30  # 1 GiB: a tensor that can only be read at once
_MOST_COMPARED = 10_000_000  # pairs of a box and a slice


class Box(NamedTuple):
    """A part of a tensor; `first` is the flat index of its first element."""

    start: tuple[int, ...]
    shape: tuple[int, ...]
    first: int

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def boxes_of(shape: tuple[int, ...], most: int) -> Iterator[Box]:
    """Yield the boxes of a tensor in the order of its elements, each of at most so many.

    A box has one index of the leading axes, a range of one axis, and all of the others.

    >>> [(box.start, box.shape) for box in boxes_of((2, 5), 3)]
    [((0, 0), (1, 3)), ((0, 3), (1, 2)), ((1, 0), (1, 3)), ((1, 3), (1, 2))]
    """
    if 0 in shape:
        return
    axis = 0
    while axis < len(shape) and math.prod(shape[axis + 1 :]) > most:
        axis += 1
    if axis == len(shape):
        yield Box((), (), 0)
        return
    inner = shape[axis + 1 :]
    step = max(1, most // math.prod(inner))
    first = 0
    for leading in product(*map(range, shape[:axis])):
        for begin in range(0, shape[axis], step):
            size = min(step, shape[axis] - begin)
            start = (*leading, begin, *([0] * len(inner)))
            box = Box(start, (*([1] * axis), size, *inner), first)
            yield box
            first += box.elements


class Boxed(Protocol):
    """A tensor that is read box by box, in the order of its elements."""

    byte_order: ByteOrder

    def read(self, box: Box) -> bytes:
        """Return the bytes of the next box; raise CkptVizError if they cannot be read."""
        ...


def boxed(graph: Graph, key: str, dtype: str, shape: tuple[int, ...], stack: ExitStack) -> Boxed:
    """Return a stored tensor of numbers, to be read in boxes; `stack` closes its files.

    Raises:
        FormatError: Bytes are missing, or do not fit the shape.
        UnsupportedError: It can only be read at once, and has more than 1 GiB.
    """
    if isinstance(graph.stored_in, Bundle):
        return _InRanges(graph.stored_in, key, dtype, shape, stack)
    size = tensor_bytes(dtype, shape) or 0
    if size > _MOST_WHOLE_BYTES:
        raise UnsupportedError(
            f"{graph.title}: {key}: has {size} bytes, and its format is read at once; expected at "
            f"most {_MOST_WHOLE_BYTES}"
        )
    return _InMemory(encode(graph.read(key), dtype).tobytes(), ELEMENT_BYTES[dtype] or 1)


class _InMemory:
    byte_order: ByteOrder = "little"

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = data, size

    def read(self, box: Box) -> bytes:
        begin = box.first * self._size
        return self._data[begin : begin + box.elements * self._size]


class _InRanges:
    """A tensor of a bundle, whole or in slices."""

    def __init__(
        self, bundle: Bundle, key: str, dtype: str, shape: tuple[int, ...], stack: ExitStack
    ) -> None:
        self.byte_order: ByteOrder = bundle.byte_order
        self._size, self._place = ELEMENT_BYTES[dtype] or 1, f"{bundle.index}: {key}"
        ranges = stored_ranges(bundle, key)
        slices: Sequence[SliceExtent] = bundle.entries[key].slices or (
            SliceExtent((0,) * len(shape), shape),
        )
        files: dict[str, File] = {}
        ends: dict[str, int] = {}
        for stored in ranges:
            ends[stored.path] = max(ends.get(stored.path, 0), stored.offset + stored.size)
        for path, end in ends.items():
            files[path] = stack.enter_context(open_file(path, end=end))
        self._parts = [
            _SliceBytes(place, stored, files[stored.path])
            for place, stored in zip(slices, ranges, strict=True)
            if stored.size
        ]
        self._compared = 0

    def read(self, box: Box) -> bytes:
        self._compared += len(self._parts)
        if self._compared > _MOST_COMPARED:
            raise UnsupportedError(
                f"{self._place}: has {len(self._parts)} slices, too many for its size"
            )
        met = [(part, common) for part in self._parts if (common := _common(part.place, box))]
        if len(met) == 1 and met[0][1].shape == box.shape:
            return met[0][0].read(met[0][1].elements * self._size)
        array = np.empty((*box.shape, self._size), np.uint8)
        missing = box.elements
        for part, common in met:
            data = part.read(common.elements * self._size)
            index = tuple(
                slice(at - origin, at - origin + size)
                for at, origin, size in zip(common.start, box.start, common.shape, strict=True)
            )
            array[index] = np.frombuffer(data, np.uint8).reshape(*common.shape, self._size)
            missing -= common.elements
        if missing:
            raise FormatError(
                f"{self._place}: its slices lack {missing} elements of {shape_words(box.shape)}"
            )
        return array.tobytes()


class _SliceBytes:
    """A slice and its bytes; its elements come in their order, so they are read in one go."""

    def __init__(self, place: SliceExtent, stored: StoredRange, file: File) -> None:
        self.place, self._stored, self._file = place, stored, file
        self._done = self._crc = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes; raise FormatError after the last ones if the checksum differs."""
        stored = self._stored
        data = self._file.read(stored.offset + self._done, size)
        self._crc = checksums.extend(self._crc, data)
        self._done += size
        masked = mask_crc32c(self._crc)
        if self._done == stored.size and masked != stored.crc32c:
            raise FormatError(
                f"{stored.place}: masked crc32c is 0x{masked:08x}, the index says "
                f"0x{stored.crc32c:08x}"
            )
        return data


def _common(part: SliceExtent, box: Box) -> Box | None:
    """Return the elements that a slice and a box share, None without any."""
    start = tuple(map(max, part.start, box.start))
    ends = [
        min(at + size, box_at + length)
        for at, size, box_at, length in zip(*part, box.start, box.shape, strict=True)
    ]
    shape = tuple(end - begin for begin, end in zip(start, ends, strict=True))
    return Box(start, shape, -1) if min(shape, default=1) > 0 else None

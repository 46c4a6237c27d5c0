"""The values of HDF5's data sets: contiguous, compact or in chunks that went through filters."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.hdf5_files.hdf5_objects import (
    UNDEFINED,
    DatasetHeader,
    GlobalHeaps,
    StoredAttribute,
    StoredFilter,
)
from ckpt_viz.formats.hdf5_files.hdf5_types import ElementType
from ckpt_viz.formats.storage.streams import FileStream
from ckpt_viz.formats.storage.unpacking import Allowance, cost, inflated, most_packed

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3
_FILTERS = {
    4: "szip",
    5: "n-bit",
    6: "scale-offset",
    32000: "lzf",
    32001: "blosc",
    32004: "lz4",
    32008: "bitshuffle",
    32013: "zfp",
    32015: "zstd",
    32026: "blosc2",
}
_REPACK = "convert the file with `h5repack -f NONE -l CONTI old.h5 new.h5`"

_SPARE_CHUNKS = 1_000  # entries of an index for chunks that an array has no more
_TEXT_BYTES = 50  # of a `bytes` object, besides its bytes


class _Chunk(NamedTuple):
    """The position of a chunk in the array and in the file; a set bit of `mask` omits a filter."""

    corner: tuple[int, ...]
    address: int
    size: int
    mask: int


def fault_of(
    header: DatasetHeader, size: int
) -> tuple[type[FormatError | UnsupportedError], str] | None:
    """Return why a data set cannot be read, None if it may be readable; `size` is the file's."""
    unsupported = _unsupported(header)
    if unsupported is not None:
        return UnsupportedError, unsupported
    damage = _damage(header, size)
    if damage is not None:
        return FormatError, f"{damage}; copy the file again"
    return excess_of(cost_of(header), Allowance(size))


def _unsupported(header: DatasetHeader) -> str | None:
    elements, layout = header.elements, header.layout
    if header.shape is None:
        return "it is empty: it has no value, not even a scalar"
    if elements.dtype is None:
        return f"it has {elements.words}, and TensorFlow has no dtype for these"
    if layout.kind is None:
        return f"{layout.words}; {_REPACK}"
    for stored in header.filters:
        if stored.number not in (_DEFLATE, _SHUFFLE, _FLETCHER32):
            name = _FILTERS.get(stored.number, "unknown")
            return f"its chunks went through the filter {stored.number} ({name}); {_REPACK}"
    return None


def _damage(header: DatasetHeader, size: int) -> str | None:
    elements, layout, shape = header.elements, header.layout, header.shape or ()
    if elements.size == 0:
        return "its elements have 0 bytes, expected at least 1"
    numbers = [stored.number for stored in header.filters]
    if len(set(numbers)) < len(numbers):
        return f"its chunks went through the filters {numbers}, expected each once"
    needed = math.prod(shape) * elements.size
    if layout.kind == "chunked" and (len(layout.chunk) != len(shape) or 0 in layout.chunk):
        return f"its chunks have the shape {layout.chunk}, expected {len(shape)} sizes from 1"
    if layout.kind == "compact" and len(layout.data) < needed:
        return f"its header has {len(layout.data)} bytes of values, expected {needed}"
    end = layout.address + needed
    if layout.kind == "contiguous" and needed and layout.address != UNDEFINED and end > size:
        return f"its values end at byte {end}, beyond the file's end at byte {size}"
    return None


def excess_of(cost: int, allowance: Allowance) -> tuple[type[UnsupportedError], str] | None:
    """Return why a data set costs more than is left, None if it does not; spend its cost."""
    try:
        allowance.spend(cost)
    except UnsupportedError as error:
        return UnsupportedError, f"{error}; {_REPACK}"
    return None


def cost_of(header: DatasetHeader) -> int:
    """Return what it costs to read a data set that has no damage (see `unpacking`)."""
    shape, layout, chunks = header.shape or (), header.layout, 1
    if layout.kind == "chunked":
        counts = tuple(map(_parts, shape, layout.chunk))
        chunks, shape = math.prod(counts), tuple(map(int.__mul__, counts, layout.chunk))
    of_element = header.elements.size + (_TEXT_BYTES if header.elements.texts else 0)
    return cost(chunks, math.prod(shape) * of_element)


def _parts(whole: int, part: int) -> int:
    return -(-whole // part)


def read_value(header: DatasetHeader, stream: FileStream, place: str) -> Array:
    """Return the value of a data set that has no fault."""
    from ckpt_viz.formats.arrays import tensors

    elements, shape = header.elements, header.shape or ()
    data = _stored(header, stream, math.prod(shape))
    if elements.texts:
        return tensors.of_strings(list(_texts(elements, data, GlobalHeaps(stream))), shape, place)
    assert elements.dtype is not None
    return tensors.decode(data, elements.dtype, shape, elements.order, place)


def first_elements(
    header: DatasetHeader, stream: FileStream, count: int, place: str
) -> Array | None:
    """Return the first elements of a data set that has no fault, None if that is not cheap."""
    from ckpt_viz.formats.arrays import tensors

    elements = header.elements
    if header.layout.kind == "chunked" or elements.texts or elements.dtype is None:
        return None
    count = min(count, math.prod(header.shape or ()))
    data = _stored(header, stream, count)
    return tensors.decode(data, elements.dtype, (count,), elements.order, place)


def texts_of(attribute: StoredAttribute, heaps: GlobalHeaps) -> list[bytes]:
    """Return the texts of an attribute."""
    count = math.prod(attribute.shape or ())
    data = attribute.data[: count * attribute.elements.size]
    texts = list(_texts(attribute.elements, data, heaps))
    if len(texts) < count:
        raise FormatError(f"found {len(texts)} texts, expected {count}")
    return texts


def _texts(elements: ElementType, data: bytes, heaps: GlobalHeaps) -> Iterator[bytes]:
    size = elements.size
    for start in range(0, len(data), size):
        text = data[start : start + size]
        match elements.texts:
            case "variable":
                yield heaps.text(text)
            case "terminated":
                yield text.partition(b"\0")[0]
            case "padded":
                yield text.rstrip(b"\0")
            case _:
                yield text.rstrip(b" ").rstrip(b"\0")


def _stored(header: DatasetHeader, stream: FileStream, count: int) -> bytes:
    """Return the bytes of the first elements, as stored."""
    size, layout = count * header.elements.size, header.layout
    if layout.kind == "compact":
        return layout.data[:size]
    if not size:
        return b""
    if layout.kind == "chunked" and layout.address != UNDEFINED:
        return _from_chunks(header, stream)
    if layout.address == UNDEFINED:
        return _fill(header) * count
    stream.seek(layout.address)
    return stream.read(size)


def _fill(header: DatasetHeader) -> bytes:
    return header.fill or bytes(header.elements.size)


def _from_chunks(header: DatasetHeader, stream: FileStream) -> bytes:
    import numpy as np

    shape, chunk_shape = header.shape or (), header.layout.chunk
    of_element = np.dtype((np.void, header.elements.size))
    whole: Any = np.full(shape, np.void(_fill(header)), of_element)
    size = math.prod(chunk_shape) * of_element.itemsize
    left = most_packed(cost_of(header))  # many chunks may share their bytes
    for chunk in _chunks(stream, header):
        if any(map(int.__ge__, chunk.corner, shape)):
            continue  # left over from when the array was larger
        if any(map(int.__mod__, chunk.corner, chunk_shape)):
            raise FormatError(
                f"found a chunk at {chunk.corner}, expected multiples of {chunk_shape}"
            )
        left -= chunk.size
        if left < 0:
            raise FormatError(
                f"found chunks that are stored in more bytes than {math.prod(shape)} elements need"
            )
        stream.seek(chunk.address)
        data = _unfiltered(stream.read(chunk.size), header.filters, chunk.mask, size)
        if len(data) != size:
            raise FormatError(f"found a chunk of {len(data)} bytes, expected {size}")
        slices = tuple(map(slice, chunk.corner, map(int.__add__, chunk.corner, chunk_shape)))
        target = whole[slices]
        part = np.frombuffer(data, of_element).reshape(chunk_shape)
        target[...] = part[tuple(map(slice, target.shape))]
    return bytes(whole.tobytes())


def _chunks(stream: FileStream, header: DatasetHeader) -> Iterator[_Chunk]:
    """Yield the chunks in an index; several entries for the same one count once."""
    from pyfive.btree import BTreeV1RawDataChunks

    dims = len(header.layout.chunk) + 1
    count = math.prod(map(_parts, header.shape or (), header.layout.chunk)) + _SPARE_CHUNKS
    with stream.at_most(5 * count, count * (24 + 8 * dims)):
        tree = BTreeV1RawDataChunks(stream, header.layout.address, dims)
    entries = {
        tuple(key["chunk_offset"][:-1]): (address, key["chunk_size"], key["filter_mask"])
        for node in tree.all_nodes[0]
        for key, address in zip(node["keys"], node["addresses"], strict=True)
    }
    for corner, (address, size, mask) in entries.items():
        yield _Chunk(corner, address, size, mask)


def _unfiltered(data: bytes, filters: tuple[StoredFilter, ...], mask: int, size: int) -> bytes:
    """Return a chunk as it was before the filters; it has `size` bytes."""
    most = size + 4 * len(filters)  # a checksum for each
    for number, stored in reversed(list(enumerate(filters))):
        if mask >> number & 1:
            continue
        if stored.number == _DEFLATE:
            data = inflated(data, most)
        elif stored.number == _SHUFFLE:
            data = _unshuffled(data, stored.parameters[0])
        else:
            data = _without_checksum(data)
        if len(data) > most:
            raise FormatError(f"found a chunk of more than {most} bytes, expected {size}")
    return data


def _unshuffled(data: bytes, size: int) -> bytes:
    """Return elements of some bytes; stored are their first bytes, then their second ones ..."""
    import numpy as np

    end = len(data) // size * size
    planes = np.frombuffer(data[:end], np.uint8).reshape(size, -1)
    return bytes(planes.T.tobytes()) + data[end:]


def _without_checksum(data: bytes) -> bytes:
    content, stored = data[:-4], data[-4:]
    first, second = fletcher32(content)
    # HDF5 1.6.2 and older stored the bytes of each sum in the other order.
    for order in "<>":
        sums = struct.unpack(f"{order}HH", stored)
        if (sums[0] % 65535, sums[1] % 65535) == (first, second):
            return content
    raise FormatError(f"found the checksum {stored.hex()}, expected {second:04x}{first:04x}")


def fletcher32(data: bytes) -> tuple[int, int]:
    """Return HDF5's checksum of some bytes as its two sums, from 0 to 65534."""
    import numpy as np

    words = np.frombuffer(data + b"\0" * (len(data) % 2), ">u2").astype(np.uint64)
    second = 0
    for start in range(0, len(words), 1 << 16):  # so that no sum exceeds 64 bits
        part = words[start : start + (1 << 16)]
        weights = np.arange(len(words) - start, len(words) - start - len(part), -1) % 65535
        second += int((part * weights.astype(np.uint64)).sum())
    return int(words.sum()) % 65535, second % 65535


def size_in_memory(header: DatasetHeader) -> int:
    """Return the bytes of a value; 0 for texts of variable length: only the values show it."""
    if header.elements.texts == "variable" or header.shape is None:
        return 0
    return math.prod(header.shape) * header.elements.size

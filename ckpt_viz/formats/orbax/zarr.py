"""Reads arrays of Zarr 2 and 3, as Orbax writes them: their description, and values in chunks.

The reader knows the codecs that Orbax uses: bytes, Zstandard, gzip, CRC-32C and shards. It takes
the parts of an array from any function from keys to bytes. Sources: the specifications of Zarr 2
and 3, and that of the codec `sharding_indexed`.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder
from ckpt_viz.formats.orbax.zstd import unpacked
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.unpacking import cost, inflated, most_packed

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

DESCRIPTIONS = {2: ".zarray", 3: "zarr.json"}
"""The names under which each version describes an array."""

Get: TypeAlias = Callable[[str, int], bytes | None]
"""Returns a part of an array by its key, None for one that is not stored.

It gets the most bytes that the part may have, and raises CkptVizError for more.
"""
Shape: TypeAlias = tuple[int, ...]

_MAX_RANK = 64
_MAX_SIZE = 1 << 62
_MAX_CHECKSUMS = 8  # codecs of a chunk
_ABSENT = (1 << 64) - 1  # the offset and the size of a chunk that a shard lacks
_PLACE_BYTES, _CHECKSUM_BYTES = 16, 4
_OTHER_READER = "read it with tensorstore, which Orbax installs"
_V2_TYPE = re.compile(r"([<>|])([biufc])([0-9]{1,2})")
_KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


class _Codecs(NamedTuple):
    """How the bytes of a chunk are stored: its order of bytes, and then codecs by name."""

    order: ByteOrder
    names: tuple[str, ...]


class _Sharding(NamedTuple):
    """How a chunk of the array, a shard, holds smaller ones."""

    chunk: Shape
    places: _Codecs
    is_at_end: bool


@dataclass(frozen=True, slots=True)
class ZarrArray:
    """The description of an array.

    `dtype` is TensorFlow's name, None for a type that TensorFlow has not. `fault` says why the
    values cannot be read, None if they may be readable.
    """

    dtype: str | None
    shape: Shape
    chunk: Shape
    codecs: _Codecs
    sharding: _Sharding | None
    separator: str
    prefix: str
    fill: Any
    fault: str | None

    @property
    def size(self) -> int:
        """The bytes of the value, without compression."""
        return math.prod(self.shape) * (ELEMENT_BYTES.get(self.dtype or "") or 0)

    @property
    def cost(self) -> int:
        """What it costs to unpack all chunks (see `unpacking`)."""
        chunk, of_indexes = self.chunk, 0
        if self.sharding is not None:
            chunk = self.sharding.chunk
            listed = math.prod(_count(self.chunk, chunk))
            of_indexes = math.prod(_count(self.shape, self.chunk)) * listed * _PLACE_BYTES
        count = math.prod(_count(self.shape, chunk))
        of_element = ELEMENT_BYTES.get(self.dtype or "") or 0
        return cost(count, count * math.prod(chunk) * of_element + of_indexes)

    @property
    def keys(self) -> Iterator[str]:
        """The keys of its chunks."""
        return map(self._key, _numbers(_count(self.shape, self.chunk)))

    def read(self, get: Get, place: str) -> Array:
        """Return the value; it is read-only. `place` is for messages.

        Raises FormatError for damaged parts, and UnsupportedError for an array with a `fault`.
        """
        import numpy as np

        from ckpt_viz.formats.arrays import tensors

        if self.fault is not None or self.dtype is None:
            raise UnsupportedError(f"{place}: {self.fault}")
        of_element = np.dtype((np.void, ELEMENT_BYTES[self.dtype] or 1))
        whole: Any = np.full(self.shape, np.void(_fill(self, of_element.itemsize)), of_element)
        for corner, shape, data in self._chunks(get, place, of_element.itemsize):
            ends = map(int.__add__, corner, shape)
            target = whole[tuple(map(slice, corner, ends)) or ...]  # a view, also of a scalar
            part: Any = np.frombuffer(data, of_element).reshape(shape)
            target[...] = part[tuple(map(slice, target.shape)) or ...]
        return tensors.decode(
            bytes(whole.tobytes()), self.dtype, self.shape, self.codecs.order, place
        )

    def _chunks(self, get: Get, place: str, size: int) -> Iterator[tuple[Shape, Shape, bytes]]:
        """Yield the stored chunks that hold elements: their corners, shapes and bytes."""
        left = most_packed(self.cost)  # many keys may lead to the same bytes
        for number in _numbers(_count(self.shape, self.chunk)):
            data = get(self._key(number), left)
            if data is None:
                continue
            left -= len(data)
            corner = tuple(map(int.__mul__, number, self.chunk))
            where = f"{place}: chunk {self._key(number)}"
            if self.sharding is None:
                yield corner, self.chunk, _decoded(data, self.codecs, self.chunk, size, where)
            else:
                yield from self._of_shard(self.sharding, data, corner, size, where)

    def _of_shard(
        self, sharding: _Sharding, data: bytes, corner: Shape, size: int, where: str
    ) -> Iterator[tuple[Shape, Shape, bytes]]:
        counts = _count(self.chunk, sharding.chunk)
        places = _places(sharding, data, math.prod(counts), where)
        for number, (offset, length) in zip(_numbers(counts), places, strict=True):
            inner = tuple(map(int.__add__, corner, map(int.__mul__, number, sharding.chunk)))
            if offset == length == _ABSENT or any(map(int.__ge__, inner, self.shape)):
                continue
            if offset + length > len(data):
                raise FormatError(
                    f"{where}: has {len(data)} bytes, but its index names bytes {offset} to "
                    f"{offset + length}"
                )
            part = data[offset : offset + length]
            yield inner, sharding.chunk, _decoded(part, self.codecs, sharding.chunk, size, where)

    def _key(self, number: Shape) -> str:
        if self.prefix:
            return self.separator.join([self.prefix, *map(str, number)])
        return self.separator.join(map(str, number)) or "0"


def _count(shape: Shape, chunk: Shape) -> Shape:
    """Return how many chunks there are in each dimension."""
    return tuple(-(-size // of_chunk) for size, of_chunk in zip(shape, chunk, strict=True))


def _numbers(counts: Shape) -> Iterator[Shape]:
    """Return the numbers of chunks, in the order of rows."""
    return iter(()) if 0 in counts else product(*map(range, counts))


def _fill(array: ZarrArray, size: int) -> bytes:
    """Return the stored bytes of the element that parts which are not stored consist of."""
    import numpy as np

    from ckpt_viz.formats.arrays import tensors

    dtype = array.dtype or ""
    is_number = tensors.numpy_dtype(dtype) is not None
    if not array.fill or not is_number or not isinstance(array.fill, (bool, int, float)):
        return bytes(size)
    element = tensors.encode(tensors.in_dtype(np.array(array.fill), dtype), dtype).tobytes()
    return element if array.codecs.order == "little" else element[::-1]


# --- chunks


def _decoded(data: bytes, codecs: _Codecs, shape: Shape, size: int, where: str) -> bytes:
    """Return the bytes of a chunk's elements."""
    needed = math.prod(shape) * size
    decoded = _unpacked(data, codecs, needed, where)
    if len(decoded) != needed:
        raise FormatError(f"{where}: has {len(decoded)} bytes, expected {needed}")
    return decoded


def _unpacked(data: bytes, codecs: _Codecs, needed: int, where: str) -> bytes:
    most = needed + _CHECKSUM_BYTES * _MAX_CHECKSUMS
    try:
        for name in reversed(codecs.names):
            data = _DECODERS[name](data, most)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error
    except UnsupportedError as error:
        raise FormatError(f"{where}: {error}; expected {needed} bytes") from error
    return data


def _without_checksum(data: bytes, most: int) -> bytes:
    content, stored = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if checksums.value(content) != int.from_bytes(stored, "little"):
        raise FormatError("its checksum does not match its bytes")
    return content


def _inflated(data: bytes, most: int) -> bytes:
    return inflated(data, most, zlib.MAX_WBITS | 32)


_DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "zstd": unpacked,
    "gzip": _inflated,
    "zlib": _inflated,
    "crc32c": _without_checksum,
}


def _places(sharding: _Sharding, data: bytes, count: int, where: str) -> list[tuple[int, int]]:
    """Return where a shard has each of its chunks: the offset and the size."""
    needed = _PLACE_BYTES * count
    size = needed + _CHECKSUM_BYTES * len(sharding.places.names)
    if size > len(data):
        raise FormatError(f"{where}: has {len(data)} bytes, expected an index of {size}")
    stored = data[-size:] if sharding.is_at_end else data[:size]
    index = _unpacked(stored, sharding.places, needed, where)
    numbers = [
        int.from_bytes(index[at : at + 8], sharding.places.order) for at in range(0, needed, 8)
    ]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


# --- descriptions


def zarr_array(description: Mapping[str, Any], version: int) -> ZarrArray:
    """Return the array that the JSON of `.zarray` or `zarr.json` describes.

    Raises FormatError for a description without a sound shape.
    """
    try:
        return _of_version_2(description) if version == 2 else _of_version_3(description)
    except (AttributeError, KeyError, TypeError) as error:
        raise FormatError(f"lacks a part of the description: {error!r:.200}") from error


def _shape(value: Any, what: str, least: int = 0) -> Shape:
    is_shape = isinstance(value, list) and len(value) <= _MAX_RANK
    if not is_shape or not all(type(n) is int and least <= n < _MAX_SIZE for n in value):
        raise FormatError(f"has the {what} {value!r:.100}, expected sizes from {least}")
    if math.prod(value) >= _MAX_SIZE:
        raise FormatError(f"has the {what} {value!r:.100}, expected fewer elements")
    return tuple(value)


def _chunk(value: Any, shape: Shape) -> Shape:
    chunk = _shape(value, "chunk shape", least=1)
    if len(chunk) != len(shape):
        raise FormatError(f"has chunks of {len(chunk)} sizes, expected {len(shape)}")
    return chunk


def _of_version_2(words: Mapping[str, Any]) -> ZarrArray:
    shape = _shape(words["shape"], "shape")
    dtype, order = _dtype_of_version_2(words["dtype"])
    compressor = words.get("compressor")
    names = () if compressor is None else (compressor["id"],)
    faults = [_fault_of_dtype(dtype, words["dtype"]), _fault_of_codecs(names)]
    if words.get("filters"):
        faults.append(f"its chunks went through filters; {_OTHER_READER}")
    if words.get("order", "C") != "C":
        faults.append(f"its elements are in the order of columns; {_OTHER_READER}")
    return ZarrArray(
        dtype,
        shape,
        _chunk(words["chunks"], shape),
        _Codecs(order, names),
        None,
        _separator(words.get("dimension_separator", ".")),
        "",
        words.get("fill_value"),
        next(filter(None, faults), None),
    )


def _dtype_of_version_2(value: Any) -> tuple[str | None, ByteOrder]:
    match = _V2_TYPE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return _known(value), "little"
    sign, kind, size = match.groups()
    name = "bool" if kind == "b" else f"{_KINDS[kind]}{8 * int(size)}"
    return _known(name), "big" if sign == ">" else "little"


def _of_version_3(words: Mapping[str, Any]) -> ZarrArray:
    shape = _shape(words["shape"], "shape")
    chunk = _chunk(words["chunk_grid"]["configuration"]["chunk_shape"], shape)
    codecs = [_Codec(codec) for codec in words["codecs"][:_MAX_CHECKSUMS]]
    fault = None if len(words["codecs"]) == len(codecs) else "has too many codecs"
    sharding = None
    if len(codecs) == 1 and codecs[0].name == "sharding_indexed":
        how = codecs[0].configuration
        index, of_index = _codecs([_Codec(codec) for codec in how["index_codecs"][:3]])
        is_at_end = how.get("index_location", "end") == "end"
        sharding = _Sharding(_chunk(how["chunk_shape"], shape), index, is_at_end)
        codecs = [_Codec(codec) for codec in how["codecs"][:_MAX_CHECKSUMS]]
        if not set(index.names) <= {"crc32c"}:
            of_index = f"the index of its shards is compressed; {_OTHER_READER}"
        if any(map(int.__mod__, chunk, sharding.chunk)):
            raise FormatError("has shards that are no multiples of their chunks")
        fault = fault or of_index
    own, of_codecs = _codecs(codecs)
    encoding = words.get("chunk_key_encoding", {})
    is_default = encoding.get("name", "default") == "default"
    options = encoding.get("configuration", {})
    dtype = _known(words["data_type"])
    return ZarrArray(
        dtype,
        shape,
        chunk,
        own,
        sharding,
        _separator(options.get("separator", "/" if is_default else ".")),
        "c" if is_default else "",
        words.get("fill_value"),
        fault or of_codecs or _fault_of_dtype(dtype, words["data_type"]),
    )


class _Codec:
    """A codec of Zarr 3, which may be a name alone."""

    def __init__(self, words: Any) -> None:
        self.name: Any = words if isinstance(words, str) else words["name"]
        how = {} if isinstance(words, str) else words.get("configuration", {})
        if not isinstance(how, Mapping):
            raise FormatError(f"has a codec {self.name!r:.100} without a configuration")
        self.configuration: Mapping[str, Any] = how


def _codecs(codecs: list[_Codec]) -> tuple[_Codecs, str | None]:
    """Return how bytes are stored, and why this reader cannot decode them."""
    order: ByteOrder = "little"
    if codecs and codecs[0].name == "bytes":
        order = "big" if codecs[0].configuration.get("endian") == "big" else "little"
        names = tuple(codec.name for codec in codecs[1:])
        return _Codecs(order, names), _fault_of_codecs(names)
    first = codecs[0].name if codecs else "none"
    return _Codecs(order, ()), f"begins with the codec {first!r:.100}; {_OTHER_READER}"


def _fault_of_codecs(names: tuple[Any, ...]) -> str | None:
    unknown = [name for name in names if not isinstance(name, str) or name not in _DECODERS]
    if not unknown:
        return None
    return f"its chunks went through the codec {unknown[0]!r:.100}; {_OTHER_READER}"


def _fault_of_dtype(dtype: str | None, value: Any) -> str | None:
    if dtype is not None and ELEMENT_BYTES.get(dtype):
        return None
    return f"has elements of the type {value!r:.100}, and TensorFlow has no dtype for these"


def _known(name: Any) -> str | None:
    is_known = isinstance(name, str) and ELEMENT_BYTES.get(name) is not None
    return name if is_known else None


def _separator(value: Any) -> str:
    if value not in (".", "/"):
        raise FormatError(f"has the separator {brief(str(value))}, expected '.' or '/'")
    return str(value)

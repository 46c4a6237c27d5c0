"""Reads a tensor bundle, the files of a checkpoint: an index and data shards.

`<prefix>.index` is a table from keys to where each tensor's bytes lie in
`<prefix>.data-00000-of-00001` and its siblings. Opening reads the index alone. From
TensorFlow's tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math
import os
import stat
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

import google_crc32c

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.protos import BundleEntryProto, BundleHeaderProto, TensorShapeProto, parse
from ckpt_viz.formats.sstable import GIT_LFS_POINTER, brief, mask_crc32c, read_table, read_varint

Shape = tuple[int, ...] | None
"""None: of unknown rank."""

MAX_INDEX_BYTES = 1 << 28  # 256 MiB; a tensor takes some 100 bytes

_BUNDLE_VERSION = 1  # kTensorBundleVersion: what this reader understands
_MAX_RANK = 254  # TensorShape::MaxDimensions
_MAX_ELEMENTS = (1 << 63) - 1
_MAX_MATCHES = 256
_BYTE_ORDERS: Mapping[int, Literal["little", "big"]] = {0: "little", 1: "big"}

# DataType in tensorflow/core/framework/types.proto: name, and bytes an element
# takes in a shard; None where that varies. The 4-bit and 2-bit types take one byte.
_DTYPES: Mapping[int, tuple[str, int | None]] = {
    1: ("float32", 4),
    2: ("float64", 8),
    3: ("int32", 4),
    4: ("uint8", 1),
    5: ("int16", 2),
    6: ("int8", 1),
    7: ("string", None),
    8: ("complex64", 8),
    9: ("int64", 8),
    10: ("bool", 1),
    11: ("qint8", 1),
    12: ("quint8", 1),
    13: ("qint32", 4),
    14: ("bfloat16", 2),
    15: ("qint16", 2),
    16: ("quint16", 2),
    17: ("uint16", 2),
    18: ("complex128", 16),
    19: ("float16", 2),
    20: ("resource", None),
    21: ("variant", None),
    22: ("uint32", 4),
    23: ("uint64", 8),
    24: ("float8_e5m2", 1),
    25: ("float8_e4m3fn", 1),
    26: ("float8_e4m3fnuz", 1),
    27: ("float8_e4m3b11fnuz", 1),
    28: ("float8_e5m2fnuz", 1),
    29: ("int4", 1),
    30: ("uint4", 1),
    31: ("int2", 1),
    32: ("uint2", 1),
    33: ("float4_e2m1fn", 1),
}
_ELEMENT_BYTES = dict(_DTYPES.values())


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored tensor, from a BundleEntryProto.

    `dtype` is TensorFlow's name, or "unknown dtype 99". `shape` is None where the rank
    is unknown. The tensor's `size` bytes begin at byte `offset` of shard `shard`;
    `crc32c` is their checksum, masked as stored.

    A tensor that was saved in slices has no bytes of its own: shard, offset and
    checksum are 0, and `size` is that of the whole tensor (0 for strings, whose size
    only the slices tell).
    """

    dtype: str
    shape: Shape
    shard: int
    offset: int
    size: int
    crc32c: int
    is_sliced: bool


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checkpoint's index: `entries` by key, in the order of the keys.

    Neither the header nor the hidden entries of slices are among them. `byte_order`
    is that of the numbers in the shards.
    """

    prefix: str
    num_shards: int
    byte_order: Literal["little", "big"]
    entries: Mapping[str, Entry] = field(repr=False)
    _keys: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", tuple(self.entries))

    def matching(self, checkpoint_key: str) -> tuple[Entry, ...]:
        """Return the entries that an attribute's `checkpoint_key` stands for.

        That is the entry of this key, else those whose keys begin with it: a table
        saves `.../table-keys` and `.../table-values`, an iterator
        `.../ITERATOR_STATE`. None if there are more than 256, which no object saves:
        a forged graph could ask for all entries once per attribute.
        """
        if checkpoint_key in self.entries:
            return (self.entries[checkpoint_key],)
        start = bisect_left(self._keys, checkpoint_key)
        end = bisect_left(
            self._keys, True, lo=start, key=lambda key: not key.startswith(checkpoint_key)
        )
        if not checkpoint_key or end - start > _MAX_MATCHES:
            return ()
        return tuple(self.entries[key] for key in self._keys[start:end])

    def read_bytes(self, key: str) -> bytes:
        """Return a tensor's bytes as stored: row-major, in the bundle's byte order.

        Raises KeyError for a key that is not in `entries`.
        """
        entry = self.entries[key]
        expected = _tensor_bytes(entry.dtype, entry.shape)
        if expected is None:
            raise UnsupportedError(
                f"{self.prefix}: {brief(key)}: cannot read {entry.dtype} {entry.shape}"
            )
        if entry.size != expected:
            raise FormatError(
                f"{self.prefix}.index: {brief(key)}: size is {entry.size} bytes, "
                f"expected {expected} for {entry.dtype} {entry.shape}"
            )
        data = self._stored_bytes(key)
        self._check_crc32c(key, google_crc32c.value(data))
        return data

    def read_string_scalar(self, key: str) -> bytes:
        """Return the one string that a tensor holds: the object graph, say.

        Raises KeyError for a key that is not in `entries`.
        """
        entry = self.entries[key]
        if entry.dtype != "string" or entry.shape != ():
            raise FormatError(
                f"{self.prefix}.index: {brief(key)}: is {entry.dtype} {entry.shape}, "
                "expected a string scalar"
            )
        data = self._stored_bytes(key)
        # The length as a varint, its masked crc32c in 4 bytes, the string. The
        # entry's checksum takes the length as a fixed-width number.
        length, position = read_varint(data, 0, self._place(key))
        string = data[position + 4 :]
        if length != len(string):
            raise FormatError(
                f"{self._place(key)}: the string has {len(string)} bytes, its length says {length}"
            )
        fixed = length.to_bytes(4 if length < 1 << 32 else 8, self.byte_order)
        self._check_crc32c(key, google_crc32c.extend(google_crc32c.value(fixed), data[position:]))
        return string

    def _stored_bytes(self, key: str) -> bytes:
        entry = self.entries[key]
        if entry.is_sliced:
            raise UnsupportedError(
                f"{self.prefix}: {brief(key)}: saved in slices, which ckpt_viz does not read yet"
            )
        return _read_range(self._shard_path(entry), entry.offset, entry.size, key)

    def _check_crc32c(self, key: str, crc: int) -> None:
        found, stored = mask_crc32c(crc), self.entries[key].crc32c
        if found != stored:
            raise FormatError(
                f"{self._place(key)}: masked crc32c is 0x{found:08x}, the index says 0x{stored:08x}"
            )

    def _place(self, key: str) -> str:
        entry = self.entries[key]
        return f"{self._shard_path(entry)}: {brief(key)} at offset {entry.offset}"

    def _shard_path(self, entry: Entry) -> str:
        return f"{self.prefix}.data-{entry.shard:05d}-of-{self.num_shards:05d}"


def open_bundle(prefix: str) -> Bundle:
    """Return the bundle whose index is `<prefix>.index`. Reads no shard.

    Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    path = f"{prefix}.index"
    rows = read_table(_read_index(prefix), path)
    header = _header(rows, path)
    shapes: dict[bytes, Shape] = {}
    entries: dict[str, Entry] = {}
    for raw_key, value in rows:
        if raw_key.startswith(b"\x00"):  # one slice of a tensor (saved_tensor_slice_util.cc)
            continue
        # Escaped, a key that is not UTF-8 can be printed and encoded anywhere, unlike
        # surrogates. Object graphs name only keys that are UTF-8.
        key = raw_key.decode("utf-8", "backslashreplace")
        try:
            if key in entries:
                raise FormatError("a second key reads the same, once escaped")
            entries[key] = _entry(value, header.num_shards, shapes)
        except FormatError as error:
            raise FormatError(f"{path}: entry {brief(key)}: {error}") from error
    return Bundle(
        prefix=prefix,
        num_shards=header.num_shards,
        byte_order=_BYTE_ORDERS[header.endianness],
        entries=MappingProxyType(dict(sorted(entries.items()))),
    )


def _header(rows: Iterator[tuple[bytes, bytes]], path: str) -> Any:
    """Return the BundleHeaderProto, the value of the table's first key, which is empty."""
    key, value = next(rows, (None, b""))
    if key != b"":
        found = "there are no keys" if key is None else f"the first key is {brief(key)}"
        raise FormatError(f"{path}: {found}, expected b'', the header's")
    place = f"{path}: header"
    header = parse(BundleHeaderProto, value, place)
    if header.num_shards < 1:
        raise FormatError(f"{place}: num_shards is {header.num_shards}, expected at least 1")
    if header.endianness not in _BYTE_ORDERS:
        raise FormatError(f"{place}: endianness is {header.endianness}, expected 0 or 1")
    if header.version.min_consumer > _BUNDLE_VERSION:
        raise UnsupportedError(
            f"{place}: needs a reader of version {header.version.min_consumer}, "
            f"ckpt_viz has version {_BUNDLE_VERSION}"
        )
    return header


def _entry(value: bytes, num_shards: int, shapes: dict[bytes, Shape]) -> Entry:
    """Return an entry; `shapes` keeps those met before, by their encoding."""
    proto = parse(BundleEntryProto, value, "value")
    offset, size, shard = proto.offset, proto.size, proto.shard_id
    if offset < 0 or size < 0:
        raise FormatError(f"offset is {offset}, size {size}, expected at least 0")
    if not 0 <= shard < num_shards:
        raise FormatError(f"shard is {shard}, expected 0 to {num_shards - 1}")
    encoded = proto.shape
    if encoded not in shapes:
        shapes[encoded] = _shape(encoded)
    shape = shapes[encoded]
    number = proto.dtype
    dtype = _DTYPES[number][0] if number in _DTYPES else f"unknown dtype {number}"
    is_sliced = bool(proto.slices)
    if is_sliced:
        size = _tensor_bytes(dtype, shape) or 0
    return Entry(dtype, shape, shard, offset, size, proto.crc32c, is_sliced)


def _shape(encoded: bytes) -> Shape:
    proto = parse(TensorShapeProto, encoded, "shape")
    if proto.unknown_rank:
        return None
    shape = tuple(dim.size for dim in proto.dim)
    if len(shape) > _MAX_RANK:
        raise FormatError(f"has {len(shape)} dimensions, expected at most {_MAX_RANK}")
    if min(shape, default=0) < 0 or math.prod(shape) > _MAX_ELEMENTS:
        raise FormatError(f"shape is {shape}, expected sizes from 0, below 2**63 elements in all")
    return shape


def _tensor_bytes(dtype: str, shape: Shape) -> int | None:
    """Return a tensor's size in a shard, None where dtype or shape do not tell."""
    element_bytes = _ELEMENT_BYTES.get(dtype)
    if element_bytes is None or shape is None:
        return None
    return math.prod(shape) * element_bytes


def _read_index(prefix: str) -> bytes:
    path = f"{prefix}.index"
    try:
        file = _open(path)
    except FileNotFoundError as error:
        raise CheckpointNotFoundError(
            f"{prefix}: no such checkpoint; expected a file {path}"
        ) from error
    with file:
        found = _file_bytes(file)
        if found > MAX_INDEX_BYTES:
            raise UnsupportedError(
                f"{path}: has {found} bytes, expected at most {MAX_INDEX_BYTES} in an index"
            )
        return file.read(found)


def _read_range(path: str, offset: int, size: int, key: str) -> bytes:
    """Return bytes of a shard, the tensor `key`; allocates only what the file has."""
    wanted = f"bytes {offset} to {offset + size}, of {brief(key)}"
    try:
        file = _open(path)
    except FileNotFoundError as error:
        raise FormatError(
            f"{path}: no such file, expected {wanted}; the copy is probably partial"
        ) from error
    with file:
        found = _file_bytes(file)
        if offset + size > found:
            raise FormatError(f"{path}: has {found} bytes, expected {wanted}; {_why_short(file)}")
        file.seek(offset)
        return file.read(size)


def _open(path: str) -> BinaryIO:
    """Open a file; raises FileNotFoundError, and CkptVizError for any other reason."""
    try:
        # Before opening: opening a named pipe would wait for a writer.
        if stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "rb")
    # A file on the way where a directory should be; a NUL in the path.
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise FileNotFoundError(path) from error
    except OSError as error:
        raise CkptVizError(f"{path}: cannot be read: {error.strerror}") from error
    raise CkptVizError(f"{path}: cannot be read: not a regular file")


def _file_bytes(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _why_short(file: BinaryIO) -> str:
    if file.read(len(GIT_LFS_POINTER)) == GIT_LFS_POINTER:
        return "it is a Git LFS pointer: run `git lfs pull`"
    return "the copy is probably partial"

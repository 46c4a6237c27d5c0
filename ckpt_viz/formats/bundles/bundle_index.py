"""Reads the index of a tensor bundle: a table of the places of tensors in the data shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ckpt_viz.errors import FormatError, GoneError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import ByteOrder, Shape, dtype_name, parse_shape, tensor_bytes
from ckpt_viz.formats.arrays.protos import BundleEntryProto, BundleHeaderProto, parse
from ckpt_viz.formats.arrays.slices import check_key_bytes, slice_key, slice_of
from ckpt_viz.formats.bundles.entries import Entry
from ckpt_viz.formats.storage.files import File, open_file
from ckpt_viz.formats.storage.sstable import Table, brief, read_table

MAX_INDEX_BYTES = 1 << 28  # 256 MiB; a tensor takes some 100 bytes
_LARGE_INDEX_BYTES = 1 << 24
_BUNDLE_VERSION = 1  # kTensorBundleVersion: the version that this reader understands
_BYTE_ORDERS: Mapping[int, ByteOrder] = {0: "little", 1: "big"}


def holds_header(file: File) -> bool:
    """Return whether a file is the index of a bundle; read only the beginning of the table.

    Raises CkptVizError for a file that is not a table, or that cannot be read.
    """
    _header(Table(file).rows(), file.path)
    return True


class BundleIndex(NamedTuple):
    """What an index holds, as `Bundle` has it."""

    num_shards: int
    byte_order: ByteOrder
    entries: Mapping[str, Entry]
    parts: Mapping[str, tuple[Entry | None, ...]]


def read_bundle_index(prefix: str, path: str) -> BundleIndex:
    """Return what the index at a path holds."""
    rows = read_table(_read_index(prefix, path), path)
    header = _header(rows, path)
    shapes: dict[bytes, Shape] = {}
    hidden: dict[bytes, bytes] = {}
    sliced: dict[str, tuple[bytes, Any]] = {}
    entries: dict[str, Entry] = {}
    for raw_key, value in rows:
        if raw_key.startswith(b"\x00"):  # one slice of a tensor
            hidden[raw_key] = value
            continue
        # An escaped key that is not UTF-8 can be printed and encoded anywhere, unlike one with
        # surrogates. Object graphs name only UTF-8 keys.
        key = raw_key.decode("utf-8", "backslashreplace")
        try:
            if key in entries:
                raise FormatError("a second key reads the same, once escaped")
            proto = parse(BundleEntryProto, value, "value")
            entries[key] = _entry(proto, header.num_shards, shapes)
        except FormatError as error:
            raise FormatError(f"{path}: entry {brief(key)}: {error}") from error
        if proto.slices:
            sliced[key] = raw_key, proto.slices
    parts: dict[str, tuple[Entry | None, ...]] = {}
    key_bytes = 0
    for key, (raw_key, slices) in sliced.items():
        key_bytes += len(raw_key) * len(slices)
        try:
            check_key_bytes(key_bytes)
            keys = [slice_key(raw_key, part) for part in slices]
            parts[key] = tuple(
                [_part(hidden.get(part_key), header.num_shards) for part_key in keys]
            )
            entries[key] = _sliced(entries[key], slices, parts[key])
        except FormatError as error:
            raise FormatError(f"{path}: entry {brief(key)}: {error}") from error
    return BundleIndex(
        num_shards=header.num_shards,
        byte_order=_BYTE_ORDERS[header.endianness],
        entries=MappingProxyType({key: entries[key] for key in sorted(entries)}),
        parts=MappingProxyType(parts),
    )


def _header(rows: Iterator[tuple[bytes, bytes]], path: str) -> Any:
    """Return the BundleHeaderProto, the value of the table's first key, which is empty."""
    key, value = next(rows, (None, b""))
    if key != b"":
        beginning = "there are no keys" if key is None else f"the first key is {brief(key)}"
        raise FormatError(f"{path}: {beginning}, expected b'', the header's")
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


def _entry(proto: Any, num_shards: int, shapes: dict[bytes, Shape]) -> Entry:
    """Return an entry without its slices; `shapes` caches earlier ones by encoding."""
    offset, size, shard = proto.offset, proto.size, proto.shard_id
    if offset < 0 or size < 0:
        raise FormatError(f"offset is {offset}, size {size}, expected at least 0")
    if not 0 <= shard < num_shards:
        raise FormatError(f"shard is {shard}, expected 0 to {num_shards - 1}")
    encoded = proto.shape
    if encoded not in shapes:
        shapes[encoded] = parse_shape(encoded)
    return Entry(dtype_name(proto.dtype), shapes[encoded], shard, offset, size, proto.crc32c)


def _part(value: bytes | None, num_shards: int) -> Entry | None:
    """Return the entry of a slice, None if it does not exist."""
    if value is None:
        return None
    try:
        return _entry(parse(BundleEntryProto, value, "value"), num_shards, {})
    except FormatError as error:
        raise FormatError(f"a slice's {error}") from error


def _sliced(entry: Entry, slices: Any, parts: tuple[Entry | None, ...]) -> Entry:
    """Return the entry of a tensor in slices."""
    size = tensor_bytes(entry.dtype, entry.shape)
    if size is None:
        size = sum(part.size for part in parts if part is not None)
    where = tuple([slice_of(part, entry.shape) for part in slices])
    return Entry(entry.dtype, entry.shape, 0, 0, size, 0, where)


def _read_index(prefix: str, path: str) -> bytes:
    try:
        file = open_file(path)
    except GoneError as error:
        raise GoneError(f"{prefix}: no such checkpoint; expected a file {path}") from error
    with file:
        if file.size > MAX_INDEX_BYTES:
            raise UnsupportedError(
                f"{path}: has {file.size} bytes, expected at most {MAX_INDEX_BYTES} in an index"
            )
        if file.size > _LARGE_INDEX_BYTES:
            Table(file)  # raises if it is not a table, such as a file with a hole of any size
        return file.read(0, file.size)

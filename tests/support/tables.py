"""Writes LevelDB tables and tensor bundles, well formed or not, byte by byte.

It follows only the format, so that the readers are not tested against themselves; in test_bundle.py
TensorFlow reads these files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cramjam
import google_crc32c

MAGIC = bytes.fromhex("57fb808b247547db")
FLOAT32, INT32, STRING, INT64, VARIANT = 1, 3, 7, 9, 21

Rows = Iterable[tuple[bytes, bytes]]


def varint(value: int) -> bytes:
    """Encode a 64-bit number; a negative one takes ten bytes, as in a protocol buffer.

    >>> varint(300).hex()
    'ac02'
    """
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def masked_crc32c(data: bytes) -> int:
    crc = int(google_crc32c.value(data))
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# --- tables


def entry(shared: int, key: bytes, value: bytes) -> bytes:
    """One entry of a block: a key whose first `shared` bytes are the previous key's."""
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def block(entries: bytes, restarts: Sequence[int] = (0,)) -> bytes:
    return entries + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def stored(payload: bytes, block_type: int = 0) -> bytes:
    """A block of the file: with its type and its checksum."""
    typed = payload + bytes([block_type])
    return typed + struct.pack("<I", masked_crc32c(typed))


def handle(offset: int, size: int) -> bytes:
    return varint(offset) + varint(size)


def footer(index: bytes, metaindex: bytes = handle(0, 0)) -> bytes:
    return (metaindex + index).ljust(40, b"\x00") + MAGIC


def table_of_blocks(
    payloads: Iterable[bytes],
    handles: Sequence[bytes] | None = None,
    separators: Sequence[bytes] | None = None,
    block_type: int = 0,
) -> bytes:
    """A table of the given blocks; a block whose type is compressed must be compressed already.

    Other `handles` make the index wrong. `separators` is the last key of each block; it matters to
    readers that search, as TensorFlow does.
    """
    data = b""
    found = []
    for payload in payloads:
        found.append(handle(len(data), len(payload)))
        data += stored(payload, block_type)
    handles = found if handles is None else handles
    separators = separators or [struct.pack(">I", number) for number in range(len(handles))]
    index = block(b"".join(entry(0, *row) for row in zip(separators, handles, strict=True)))
    return data + stored(index) + footer(handle(len(data), len(index)))


def table(
    rows: Rows, *, rows_per_block: int = 1000, restart_interval: int = 16, snappy: bool = False
) -> bytes:
    """A well-formed table of rows that are in order."""
    rows = list(rows)
    chunks = [rows[i : i + rows_per_block] for i in range(0, len(rows), rows_per_block)]
    payloads = [_compressed(chunk, restart_interval) for chunk in chunks]
    if snappy:
        payloads = [bytes(cramjam.snappy.compress_raw(payload)) for payload in payloads]
    separators = [chunk[-1][0] for chunk in chunks]
    return table_of_blocks(payloads, separators=separators, block_type=int(snappy))


def _compressed(rows: Rows, restart_interval: int) -> bytes:
    entries = bytearray()
    restarts = []
    previous = b""
    for number, (key, value) in enumerate(rows):
        shared = 0
        if number % restart_interval == 0:
            restarts.append(len(entries))
        else:
            limit = min(len(previous), len(key))
            while shared < limit and previous[shared] == key[shared]:
                shared += 1
        entries += entry(shared, key[shared:], value)
        previous = key
    return block(bytes(entries), restarts)


# --- bundles


def field(number: int, value: int | bytes) -> bytes:
    """A field of a protocol buffer: a varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def header(num_shards: int = 1, *, endianness: int = 0, min_consumer: int = 0) -> bytes:
    """A BundleHeaderProto."""
    version = field(1, 1) + field(2, min_consumer)
    return field(1, num_shards) + field(2, endianness) + field(3, version)


def shape(*sizes: int) -> bytes:
    """A TensorShapeProto."""
    return b"".join(field(2, field(1, size)) for size in sizes)


def bundle_entry(
    dtype: int = FLOAT32,
    dims: bytes = b"",
    *,
    shard: int = 0,
    offset: int = 0,
    size: int = 0,
    crc32c: int = 0,
    slices: Sequence[bytes] = (),
) -> bytes:
    """A BundleEntryProto, with a masked checksum."""
    return (
        field(1, dtype)
        + field(2, dims)
        + field(3, shard)
        + field(4, offset)
        + field(5, size)
        + varint(6 << 3 | 5)
        + struct.pack("<I", crc32c)
        + b"".join(field(7, one) for one in slices)
    )


def slice_proto(*extents: tuple[int, int]) -> bytes:
    """A TensorSliceProto of starts and lengths; a length of -1 is left out."""
    return b"".join(
        field(1, field(1, start) + (field(2, length) if length >= 0 else b""))
        for start, length in extents
    )


def slice_key(name: bytes, *extents: tuple[int, int]) -> bytes:
    """The key of a slice; for names without the bytes 00 and ff, numbers from -1 to 63."""
    numbers = b"".join(bytes([0x80 ^ number & 0xFF]) for extent in extents for number in extent)
    return b"\x00" + name + b"\x00\x01" + bytes([1, len(extents)]) + numbers


@dataclass(frozen=True)
class Tensor:
    """Something to store: its bytes in the shard, and what their checksum covers."""

    dtype: int
    dims: bytes
    data: bytes
    checked: bytes


def raw(dtype: int, dims: bytes, data: bytes) -> Tensor:
    return Tensor(dtype, dims, data, data)


def floats(*values: float) -> Tensor:
    return raw(FLOAT32, shape(len(values)), struct.pack(f"<{len(values)}f", *values))


def string(value: bytes, *, byte_order: str = "<") -> Tensor:
    """A string scalar."""
    return strings([value], b"", byte_order=byte_order)


def strings(values: Sequence[bytes], dims: bytes, *, byte_order: str = "<") -> Tensor:
    lengths = struct.pack(f"{byte_order}{len(values)}I", *map(len, values))
    rest = struct.pack(f"{byte_order}I", masked_crc32c(lengths)) + b"".join(values)
    varints = b"".join(varint(len(value)) for value in values)
    return Tensor(STRING, dims, varints + rest, lengths + rest)


def write_index(prefix: Path | str, rows: Rows, *, snappy: bool = False) -> str:
    """Write `<prefix>.index` and return the prefix."""
    Path(f"{prefix}.index").write_bytes(table(rows, snappy=snappy))
    return str(prefix)


def write_bundle(
    prefix: Path | str, tensors: Mapping[str, Tensor], *, endianness: int = 0, shards: int = 1
) -> str:
    """Write a bundle and return its prefix; tensors go to its shards in turn."""
    stored = {key.encode(): tensor for key, tensor in tensors.items()}
    return write_rows(prefix, stored, {}, endianness=endianness, shards=shards)


def write_rows(
    prefix: Path | str,
    tensors: Mapping[bytes, Tensor],
    others: Mapping[bytes, bytes],
    *,
    endianness: int = 0,
    shards: int = 1,
) -> str:
    """Write a bundle: tensors, in its shards in turn, and rows of the index that have no bytes."""
    rows = {b"": header(shards, endianness=endianness), **others}
    data = [b""] * shards
    for number, (key, tensor) in enumerate(tensors.items()):
        shard = number % shards
        rows[key] = bundle_entry(
            tensor.dtype,
            tensor.dims,
            shard=shard,
            offset=len(data[shard]),
            size=len(tensor.data),
            crc32c=masked_crc32c(tensor.checked),
        )
        data[shard] += tensor.data
    for shard, stored in enumerate(data):
        Path(f"{prefix}.data-{shard:05d}-of-{shards:05d}").write_bytes(stored)
    return write_index(prefix, sorted(rows.items()))


Extents = tuple[tuple[int, int], ...]


def write_holes(prefix: Path | str, sizes: Mapping[str, int], *, number: int) -> str:
    """Write a checkpoint of float32 tensors of so many bytes, all holes, which take no space.

    Their checksums are the number, so that checkpoints of different numbers differ.
    """
    offset, rows = 0, []
    for name, size in sorted(sizes.items()):
        entry = bundle_entry(FLOAT32, shape(size // 4), offset=offset, size=size, crc32c=number)
        rows.append((name.encode(), entry))
        offset += size
    write_index(prefix, [(b"", header()), *rows])
    with open(f"{prefix}.data-00000-of-00001", "wb") as file:
        file.truncate(offset)
    return str(prefix)


def write_sliced(
    prefix: Path,
    dims: bytes,
    slices: Mapping[Extents, Tensor],
    name: bytes = b"w",
    shards: int = 1,
) -> str:
    """Write a bundle of one tensor, saved in slices, which need not fit together."""
    dtype = next(iter(slices.values())).dtype
    whole = bundle_entry(dtype, dims, slices=[slice_proto(*extents) for extents in slices])
    parts = {slice_key(name, *extents): tensor for extents, tensor in slices.items()}
    return write_rows(prefix, parts, {name: whole}, shards=shards)


# --- V1 checkpoints


def contents(*tensors: bytes, min_consumer: int = 0) -> bytes:
    """A SavedTensorSlices that is a table of contents, of SavedSliceMetas."""
    versions = field(2, field(1, 1) + field(2, min_consumer))
    return field(1, b"".join(field(1, tensor) for tensor in tensors) + versions)


def slice_meta(name: bytes, dtype: int, dims: bytes, *slices: Extents) -> bytes:
    """A SavedSliceMeta."""
    listed = b"".join(field(4, slice_proto(*extents)) for extents in slices)
    return field(1, name) + field(2, dims) + field(3, dtype) + listed


def saved_slice(tensor_proto: bytes) -> bytes:
    """A SavedTensorSlices with values, without name and extent, which no reader needs."""
    return field(2, field(3, tensor_proto))


def packed_floats(number: int, *values: float) -> bytes:
    """A packed repeated field of a TensorProto."""
    return field(number, struct.pack(f"<{len(values)}f", *values))


def write_v1(path: Path, *values: float) -> None:
    """Write a V1 checkpoint of one file, or a shard, with the float32 `w`."""
    extents: Extents = ((0, -1),)
    meta = contents(slice_meta(b"w", FLOAT32, shape(len(values)), extents))
    row = (slice_key(b"w", *extents), saved_slice(packed_floats(5, *values)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(table([(b"", meta), row]))

"""Writes LevelDB tables and tensor bundles, well formed or not, byte by byte.

From the format alone, so that the readers are not tested against themselves;
test_bundle.py has TensorFlow read what is written here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import google_crc32c

MAGIC = bytes.fromhex("57fb808b247547db")
FLOAT32, INT32, STRING, INT64 = 1, 3, 7, 9

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
    """A block as it stands in the file: with its type and its checksum."""
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
) -> bytes:
    """A table of the given blocks.

    Other `handles` make the index say what is not so; `separators`, the last key of
    each block, matter to readers that search, as TensorFlow does.
    """
    data = b""
    found = []
    for payload in payloads:
        found.append(handle(len(data), len(payload)))
        data += stored(payload)
    handles = found if handles is None else handles
    separators = separators or [struct.pack(">I", number) for number in range(len(handles))]
    index = block(b"".join(entry(0, *row) for row in zip(separators, handles, strict=True)))
    return data + stored(index) + footer(handle(len(data), len(index)))


def table(rows: Rows, *, rows_per_block: int = 1000, restart_interval: int = 16) -> bytes:
    """A well-formed table of rows that are in order."""
    rows = list(rows)
    chunks = [rows[i : i + rows_per_block] for i in range(0, len(rows), rows_per_block)]
    payloads = [_compressed(chunk, restart_interval) for chunk in chunks]
    return table_of_blocks(payloads, separators=[chunk[-1][0] for chunk in chunks])


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


@dataclass(frozen=True)
class Tensor:
    """Something to store: its bytes in the shard, and what their checksum covers."""

    dtype: int
    dims: bytes
    data: bytes
    checked: bytes


def floats(*values: float) -> Tensor:
    data = struct.pack(f"<{len(values)}f", *values)
    return Tensor(FLOAT32, shape(len(values)), data, data)


def string(value: bytes, *, byte_order: str = "<") -> Tensor:
    """A string scalar."""
    length = struct.pack(f"{byte_order}I", len(value))
    rest = struct.pack(f"{byte_order}I", masked_crc32c(length)) + value
    return Tensor(STRING, b"", varint(len(value)) + rest, length + rest)


def write_index(prefix: Path | str, rows: Rows) -> str:
    """Write `<prefix>.index` and return the prefix."""
    Path(f"{prefix}.index").write_bytes(table(rows))
    return str(prefix)


def write_bundle(prefix: Path, tensors: Mapping[str, Tensor], *, endianness: int = 0) -> str:
    """Write a bundle of one shard and return its prefix."""
    rows = [(b"", header(endianness=endianness))]
    data = b""
    for key, tensor in sorted(tensors.items()):
        crc32c = masked_crc32c(tensor.checked)
        proto = bundle_entry(
            tensor.dtype, tensor.dims, offset=len(data), size=len(tensor.data), crc32c=crc32c
        )
        rows.append((key.encode(), proto))
        data += tensor.data
    Path(f"{prefix}.data-00000-of-00001").write_bytes(data)
    return write_index(prefix, rows)

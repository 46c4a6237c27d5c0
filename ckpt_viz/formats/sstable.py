"""Reads a LevelDB table: the format of a checkpoint's `.index` file.

Blocks, the last of which is the index of the others, then a footer of 48 bytes.
A block is prefix-compressed entries, restart points for binary search, a type
byte and a checksum. From TensorFlow's tensorflow/core/lib/io/format.cc, block.cc
and table_builder.cc.

Nothing in the bytes is believed before it is checked: whatever they are, time
and memory stay proportional to their number.
"""

from __future__ import annotations

from collections.abc import Iterator

import google_crc32c

from ckpt_viz.errors import FormatError, UnsupportedError

GIT_LFS_POINTER = b"version https://git-lfs"

_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5  # the type, and a masked crc32c of the payload and the type
_VARINT_BYTES = 10

# TensorFlow and LevelDB set a restart point every 16 keys, and a key is never longer
# than the bytes stored since the last one: written out, the keys of a block are at
# most 16 times as long as the block.
_KEY_BYTES_PER_BLOCK_BYTE = 16


def read_table(data: bytes, path: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a table, in the order of the keys (bytewise).

    `data` is the whole file; `path` is for messages. What comes before a fault is
    yielded, then FormatError or UnsupportedError is raised.
    """
    last: bytes | None = None
    for place, block in _data_blocks(data, path):
        for key, value in _entries(block, place):
            if last is not None and key <= last:
                raise FormatError(
                    f"{place}: key {brief(key)} comes after {brief(last)}, "
                    "expected keys to increase"
                )
            last = key
            yield key, value


def read_varint(data: bytes, position: int, place: str) -> tuple[int, int]:
    """Return the varint at a position, and the position after it.

    >>> read_varint(bytes([0xAC, 0x02, 0xFF]), 0, "here")
    (300, 2)
    """
    value = 0
    for count, byte in enumerate(data[position : position + _VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position + count + 1
    raise FormatError(
        f"{place}: the varint at byte {position} does not end within "
        f"{min(_VARINT_BYTES, len(data) - position)} bytes"
    )


def mask_crc32c(crc: int) -> int:
    """Return a checksum as TensorFlow stores it (masked, tsl/lib/hash/crc32c.h)."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def brief(key: bytes | str) -> str:
    """Return a key as messages show it: quoted, escaped, the end of a giant one left out."""
    return repr(key) if len(key) <= 300 else f"{key[:300]!r}..."


def _data_blocks(data: bytes, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield each data block's place, for messages, and its entries.

    A block may not begin before the previous one ends: repeated blocks would let
    a small file stand for an endless table.
    """
    previous_end = 0
    place, index = _read_block(data, *_index_handle(data, path), path)
    for _, value in _entries(index, place):
        offset, position = read_varint(value, 0, f"{place}: block handle")
        size, _ = read_varint(value, position, f"{place}: block handle")
        if offset < previous_end:
            raise FormatError(
                f"{path}: block at offset {offset}: overlaps the one before it, "
                f"expected an offset of at least {previous_end}"
            )
        yield _read_block(data, offset, size, path)
        previous_end = offset + size + _TRAILER_BYTES


def _index_handle(data: bytes, path: str) -> tuple[int, int]:
    """Return offset and size of the index block, from the footer."""
    if len(data) < _FOOTER_BYTES or not data.endswith(_MAGIC):
        raise FormatError(f"{path}: {_why_no_table(data)}")
    place = f"{path}: footer"
    position = len(data) - _FOOTER_BYTES
    for _ in ("offset", "size"):  # of the metaindex block, which TensorFlow leaves empty
        _, position = read_varint(data, position, place)
    offset, position = read_varint(data, position, place)
    size, _ = read_varint(data, position, place)
    return offset, size


def _why_no_table(data: bytes) -> str:
    if data.startswith(GIT_LFS_POINTER):
        return "a Git LFS pointer, not the file it stands for; run `git lfs pull`"
    if len(data) < _FOOTER_BYTES:
        found = f"the file has {len(data)} bytes, expected at least {_FOOTER_BYTES}"
    else:
        found = f"the last 8 bytes are {data[-8:].hex()}, expected the table magic {_MAGIC.hex()}"
    # TensorFlow's first key is the empty one, so its first entry has no key bytes.
    if data.startswith(b"\x00\x00"):
        return f"begins like a TensorFlow checkpoint index but is cut short or damaged: {found}"
    return f"not a TensorFlow checkpoint index: {found}"


def _read_block(data: bytes, offset: int, size: int, path: str) -> tuple[str, bytes]:
    """Return a block's place, for messages, and its entries, decompressed.

    Offset and size, in bytes, are as the file says; the size excludes the trailer.
    """
    place = f"{path}: block at offset {offset}"
    crc_at = offset + size + 1
    limit = len(data) - _FOOTER_BYTES
    if crc_at + 4 > limit:
        raise FormatError(
            f"{place}: ends at {crc_at + 4}, expected at most {limit}, where the footer begins"
        )
    found = mask_crc32c(google_crc32c.value(data[offset:crc_at]))
    stored = int.from_bytes(data[crc_at : crc_at + 4], "little")
    if found != stored:
        raise FormatError(f"{place}: masked crc32c is 0x{found:08x}, the file says 0x{stored:08x}")
    block = _decompress(data[offset : crc_at - 1], data[crc_at - 1], place)
    return place, _without_restarts(block, place)


def _decompress(block: bytes, block_type: int, place: str) -> bytes:
    match block_type:
        case 0:
            return block
        case 1:  # TensorFlow up to 1.1 wrote these; bound the length before decompressing
            raise UnsupportedError(
                f"{place}: compressed with snappy, which ckpt_viz does not read yet"
            )
    raise FormatError(f"{place}: type is {block_type}, expected 0 (stored) or 1 (snappy)")


def _without_restarts(block: bytes, place: str) -> bytes:
    """Return the entries of a block, without the restart points that follow them.

    Reading in sequence needs no restart points; a writer sets at least one.
    """
    count = int.from_bytes(block[-4:], "little")
    if not 1 <= count <= len(block) // 4 - 1:
        raise FormatError(f"{place}: has {count} restart points in its {len(block)} bytes")
    return block[: len(block) - 4 * (count + 1)]


def _entries(block: bytes, place: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values; a key repeats the first `shared` bytes of the key before it."""
    key = b""
    budget = _KEY_BYTES_PER_BLOCK_BYTE * len(block)
    start = 0
    while start < len(block):
        shared, unshared, size, position = _lengths(block, start, place)
        value_at = position + unshared
        end = value_at + size
        if shared > len(key):
            raise FormatError(
                f"{place}: the entry at byte {start} shares {shared} bytes "
                f"with the key before it, which has {len(key)}"
            )
        if end > len(block):
            raise FormatError(
                f"{place}: the entry at byte {start} ends at byte {end}, "
                f"expected at most {len(block)}"
            )
        budget -= shared + unshared
        if budget < 0:
            raise FormatError(
                f"{place}: its keys have more than {_KEY_BYTES_PER_BLOCK_BYTE} "
                f"times its {len(block)} bytes"
            )
        key = key[:shared] + block[position:value_at]
        yield key, block[value_at:end]
        start = end


def _lengths(block: bytes, position: int, place: str) -> tuple[int, int, int, int]:
    """Return the three varints that an entry begins with, and the position after them."""
    # As in TensorFlow's DecodeEntry: nearly always each is one byte, and this is the
    # innermost loop of opening a checkpoint.
    if position + 3 <= len(block):
        shared, unshared, size = block[position : position + 3]
        if shared | unshared | size < 0x80:
            return shared, unshared, size, position + 3
    shared, position = read_varint(block, position, place)
    unshared, position = read_varint(block, position, place)
    size, position = read_varint(block, position, place)
    return shared, unshared, size, position

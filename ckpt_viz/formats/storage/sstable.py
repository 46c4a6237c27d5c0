"""Reads a LevelDB table: the format of a checkpoint's `.index` file, and of a V1 checkpoint.

The file has blocks, the last one an index of the others, and a footer of 48 bytes. A block consists
of prefix-compressed entries, restart points for binary search, a type byte and a checksum. From
TensorFlow's tensorflow/core/lib/io/format.cc, block.cc and table_builder.cc.

The reader trusts no bytes before it checks them: for any file, time and memory remain proportional
to its size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.files import BytesFile, File
from ckpt_viz.formats.storage.unpacking import Allowance

GIT_LFS_POINTER = b"version https://git-lfs"

MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
FOOTER_BYTES = 48
_TRAILER_BYTES = 5  # the type, and a masked crc32c of the payload and the type
_VARINT_BYTES = 10

# TensorFlow and LevelDB set a restart point every 16 keys. A key is never longer than the bytes
# stored since the last restart point. So the keys of a block, written out, are at most 16 times as
# long as the block.
_KEY_BYTES_PER_BLOCK_BYTE = 16
_MAX_KEY_BYTES = 1 << 28  # 256 MiB in a table; a tensor's key has some 60 bytes


class _Block(NamedTuple):
    """The position of a data block; no key in it is greater than `last_key`."""

    last_key: bytes
    offset: int
    size: int


class StoredBlock(NamedTuple):
    """The bytes of a block that its checksum covers, the type included; `crc32c` is masked."""

    offset: int
    size: int
    crc32c: int


class Table:
    """A table in a file; only its footer and its index were read."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._blocks = tuple(_data_blocks(file))

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and values, in the order of the keys (bytewise).

        Yields the rows before a fault, then raises FormatError or UnsupportedError.
        """
        last: bytes | None = None
        budget = _MAX_KEY_BYTES
        for _, offset, size in self._blocks:
            place, block = _read_block(self._file, offset, size)
            for row in _entries(block, place):
                key = row[0]
                budget -= len(key)
                if budget < 0:
                    raise UnsupportedError(
                        f"{place}: the keys up to here have more than {_MAX_KEY_BYTES} bytes, "
                        "expected at most that many"
                    )
                if last is not None and key <= last:
                    raise FormatError(
                        f"{place}: key {brief(key)} comes after {brief(last)}, "
                        "expected keys to increase"
                    )
                last = key
                yield row

    def block_of(self, key: bytes) -> StoredBlock | None:
        """Return the block that may hold a key, None if no block can; read only its checksum."""
        for _, offset, size in self._blocks_for(key):
            _check_end(self._file, offset, size)
            stored = self._file.read(offset + size + 1, _TRAILER_BYTES - 1)
            return StoredBlock(offset, size + 1, int.from_bytes(stored, "little"))
        return None

    def _blocks_for(self, key: bytes) -> tuple[_Block, ...]:
        number = bisect_left(self._blocks, key, key=lambda block: block.last_key)
        return self._blocks[number : number + 1]

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key; read only the block that may hold it."""
        return next((value for other, value in self.rows_beside(key) if other == key), None)

    def rows_beside(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows of the block that may hold a key."""
        for _, offset, size in self._blocks_for(key):
            place, block = _read_block(self._file, offset, size)
            yield from _entries(block, place)


def read_table(data: bytes, path: str) -> Iterator[tuple[bytes, bytes]]:
    """Return the rows of a table; `data` is the whole file; see `Table.rows`."""
    return Table(BytesFile(path, data)).rows()


def ends_like_a_table(file: File) -> bool:
    """Return whether the file ends like a table."""
    return file.size >= FOOTER_BYTES and file.read(file.size - 8, 8) == MAGIC


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
    """Return a key for messages: quoted, escaped, and without the end of a giant one."""
    return repr(key) if len(key) <= 300 else f"{key[:300]!r}..."


def _data_blocks(file: File) -> Iterator[_Block]:
    """Yield the positions of the data blocks, from the index.

    A block may not begin before the previous one ends: repeated blocks would let a small file claim
    to be an endless table.
    """
    previous_end = 0
    place, index = _read_block(file, *_index_handle(file))
    for last_key, value in _entries(index, place):
        offset, position = read_varint(value, 0, f"{place}: block handle")
        size, _ = read_varint(value, position, f"{place}: block handle")
        if offset < previous_end:
            raise FormatError(
                f"{_place(file, offset)}: overlaps the one before it, "
                f"expected an offset of at least {previous_end}"
            )
        yield _Block(last_key, offset, size)
        previous_end = offset + size + _TRAILER_BYTES


def _index_handle(file: File) -> tuple[int, int]:
    """Return offset and size of the index block, from the footer."""
    start = max(0, file.size - FOOTER_BYTES)
    footer = file.read(start, file.size - start)
    if len(footer) < FOOTER_BYTES or not footer.endswith(MAGIC):
        raise _no_table(file, footer)
    place = f"{file.path}: footer"
    position = 0
    for _ in ("offset", "size"):  # of the metaindex block, which TensorFlow leaves empty
        _, position = read_varint(footer, position, place)
    offset, position = read_varint(footer, position, place)
    size, _ = read_varint(footer, position, place)
    return offset, size


def _no_table(file: File, footer: bytes) -> FormatError:
    path, start = file.path, file.read(0, min(file.size, 2))
    if len(footer) < FOOTER_BYTES:
        footer_fault = f"the file has {len(footer)} bytes, expected at least {FOOTER_BYTES}"
    else:
        footer_fault = (
            f"the last 8 bytes are {footer[-8:].hex()}, expected the table magic {MAGIC.hex()}"
        )
    fault = "not a TensorFlow checkpoint index"
    # TensorFlow's first key is the empty one, so its first entry has no key bytes.
    if start == b"\x00\x00":
        fault = "begins like a TensorFlow checkpoint index but is cut short or damaged"
    return FormatError(f"{path}: {fault}: {footer_fault}", file=path, fault=fault)


def _place(file: File, offset: int) -> str:
    return f"{file.path}: block at offset {offset}"


def _read_block(file: File, offset: int, size: int) -> tuple[str, bytes]:
    """Return a block's position, for messages, and its entries, decompressed.

    The file gives offset and size in bytes; the size excludes the trailer.
    """
    place = _check_end(file, offset, size)
    stored = file.read(offset, size + _TRAILER_BYTES)
    masked = mask_crc32c(checksums.value(stored[:-4]))
    expected = int.from_bytes(stored[-4:], "little")
    if masked != expected:
        raise FormatError(
            f"{place}: masked crc32c is 0x{masked:08x}, the file says 0x{expected:08x}"
        )
    block = _decompress(stored[:-_TRAILER_BYTES], stored[-_TRAILER_BYTES], place)
    return place, _without_restarts(block, place)


def _check_end(file: File, offset: int, size: int) -> str:
    """Return a block's position, for messages; raise FormatError if it reaches the footer."""
    place = _place(file, offset)
    end, limit = offset + size + _TRAILER_BYTES, file.size - FOOTER_BYTES
    if end > limit:
        raise FormatError(
            f"{place}: ends at {end}, expected at most {limit}, where the footer begins"
        )
    return place


def _decompress(block: bytes, block_type: int, place: str) -> bytes:
    match block_type:
        case 0:
            return block
        case 1:  # every V1 file of TensorFlow up to 1.1, and some indexes of later versions
            return _decompress_snappy(block, place)
    raise FormatError(f"{place}: type is {block_type}, expected 0 (stored) or 1 (snappy)")


def _decompress_snappy(block: bytes, place: str) -> bytes:
    import cramjam  # here, because TensorFlow compresses no checkpoint's index

    size, _ = read_varint(block, 0, f"{place}: snappy")
    try:
        Allowance(len(block)).spend(size)
    except UnsupportedError as error:
        raise FormatError(f"{place}: {error}") from error
    try:
        decompressed = bytearray(size)
        length = cramjam.snappy.decompress_raw_into(block, decompressed)
    except MemoryError as error:
        raise CkptVizError(f"{place}: its {size} bytes do not fit into memory") from error
    except cramjam.DecompressionError as error:
        raise FormatError(f"{place}: its {len(block)} bytes are not snappy: {error}") from error
    if length != size:
        raise FormatError(f"{place}: decompresses to {length} bytes, its length says {size}")
    return bytes(decompressed)


def _without_restarts(block: bytes, place: str) -> bytes:
    """Return the entries of a block, without the restart points that follow them.

    Sequential reading needs no restart points; a writer sets at least one.
    """
    count = int.from_bytes(block[-4:], "little")
    if not 1 <= count <= len(block) // 4 - 1:
        raise FormatError(f"{place}: has {count} restart points in its {len(block)} bytes")
    return block[: len(block) - 4 * (count + 1)]


def _entries(block: bytes, place: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values; a key repeats the first `shared` bytes of the key before it."""
    key, start, block_end = b"", 0, len(block)
    budget = _KEY_BYTES_PER_BLOCK_BYTE * block_end
    while start < block_end:
        shared, unshared, size, position = _lengths(block, start, place)
        value_at = position + unshared
        end = value_at + size
        if shared > len(key):
            raise FormatError(
                f"{place}: the entry at byte {start} shares {shared} bytes "
                f"with the key before it, which has {len(key)}"
            )
        if end > block_end:
            raise FormatError(
                f"{place}: the entry at byte {start} ends at byte {end}, "
                f"expected at most {block_end}"
            )
        budget -= shared + unshared
        if budget < 0:
            raise FormatError(
                f"{place}: its keys have more than {_KEY_BYTES_PER_BLOCK_BYTE} "
                f"times its {block_end} bytes"
            )
        key = key[:shared] + block[position:value_at]
        yield key, block[value_at:end]
        start = end


def _lengths(block: bytes, position: int, place: str) -> tuple[int, int, int, int]:
    """Return the three varints at the start of an entry, and the position after them."""
    # As in TensorFlow's DecodeEntry: nearly always each is one byte, and this is the innermost loop
    # of opening a checkpoint.
    if position + 3 <= len(block):
        shared, unshared, size = block[position : position + 3]
        if shared | unshared | size < 0x80:
            return shared, unshared, size, position + 3
    shared, position = read_varint(block, position, place)
    unshared, position = read_varint(block, position, place)
    size, position = read_varint(block, position, place)
    return shared, unshared, size, position

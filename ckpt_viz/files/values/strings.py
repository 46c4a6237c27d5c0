"""The lengths of strings, from the stored bytes in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ckpt_viz.errors import FormatError
from ckpt_viz.files.values.row import Lengths
from ckpt_viz.formats.arrays.dtypes import ByteOrder
from ckpt_viz.formats.arrays.tensors import Array
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import mask_crc32c

_MOST_VARINT_BYTES = 10
_CHECKSUM_BYTES = 4
_BLOCK_BYTES = 1 << 20  # 1 MiB; arrays for the lengths in them take some 40 times as much
_SUMMABLE = 1 << 40  # a million lengths below it have a sum of less than 64 bits


NO_STRINGS = Lengths(0, None, None, 0)


def joined_lengths(a: Lengths, b: Lengths) -> Lengths:
    """Return the lengths of the strings of both."""
    shortest = [length for length in (a.shortest, b.shortest) if length is not None]
    longest = [length for length in (a.longest, b.longest) if length is not None]
    return Lengths(
        a.count + b.count,
        min(shortest, default=None),
        max(longest, default=None),
        a.total + b.total,
    )


def lengths_of(sizes: Array) -> Lengths:
    """Return the lengths of strings of these sizes in bytes."""
    if not sizes.size:
        return NO_STRINGS
    longest = int(sizes.max())
    total = int(sizes.sum()) if longest < _SUMMABLE else sum(sizes.tolist())
    return Lengths(sizes.size, int(sizes.min()), longest, total)


def stored_lengths(
    pieces: Iterator[bytes], count: int, byte_order: ByteOrder, place: str
) -> tuple[Lengths, int]:
    """Return the lengths of `count` stored strings, and the crc32c that the index should have.

    It keeps no more than a piece in memory, whatever the lengths say. Raises FormatError for bytes
    that are not those of so many strings.
    """
    lengths, crc, read, rest = NO_STRINGS, 0, 0, b""
    left, pieces = count, _blocks(pieces)
    for piece in pieces:
        read += len(piece)
        rest += piece
        if left:
            sizes, used = _varints(rest, left, place)
            lengths, left = joined_lengths(lengths, lengths_of(sizes)), left - sizes.size
            crc = checksums.extend(crc, _fixed(sizes, byte_order))
            rest = rest[used:]
        if not left and len(rest) >= _CHECKSUM_BYTES:
            break
    if not read and not count:  # TensorFlow writes 4 bytes for no strings, and also reads 0
        return NO_STRINGS, 0
    if left or len(rest) < _CHECKSUM_BYTES:
        raise FormatError(f"{place}: ends within the lengths of its {count} strings")
    stored = int.from_bytes(rest[:_CHECKSUM_BYTES], byte_order)
    if mask_crc32c(crc) != stored:
        raise FormatError(
            f"{place}: masked crc32c of the lengths is 0x{mask_crc32c(crc):08x}, "
            f"the file says 0x{stored:08x}"
        )
    crc = checksums.extend(crc, rest)
    size = len(rest) - _CHECKSUM_BYTES
    for piece in pieces:
        size += len(piece)
        crc = checksums.extend(crc, piece)
    if size != lengths.total:
        raise FormatError(
            f"{place}: its strings have {size} bytes, their lengths say {lengths.total}"
        )
    return lengths, crc


def _blocks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _BLOCK_BYTES):
            yield piece[start : start + _BLOCK_BYTES]


def _varints(data: bytes, most: int, place: str) -> tuple[Array, int]:
    """Return the varints at the start of the bytes, at most so many, and the bytes they take."""
    flat = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(flat < 0x80)[:most]
    if not ends.size:
        if flat.size >= _MOST_VARINT_BYTES:
            raise _too_long(place)
        return np.empty(0, np.uint64), 0
    used = int(ends[-1]) + 1
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts + 1
    if int(sizes.max()) > _MOST_VARINT_BYTES:
        raise _too_long(place)
    places = np.arange(used) - np.repeat(starts, sizes)
    is_tenth = places == _MOST_VARINT_BYTES - 1
    if np.any(flat[:used][is_tenth] > 1):
        raise _too_long(place)
    bits = (flat[:used] & np.uint8(0x7F)).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.add.reduceat(bits, starts), used


def _too_long(place: str) -> FormatError:
    return FormatError(f"{place}: the length of a string has more than 64 bits")


def _fixed(sizes: Array, byte_order: ByteOrder) -> bytes:
    """Return lengths as the checksum covers them: in 4 bytes, or in 8 if they need it."""
    letter = "<" if byte_order == "little" else ">"
    if not np.any(sizes >> np.uint64(32)):
        return sizes.astype(f"{letter}u4").tobytes()
    numbers = sizes.tolist()
    return b"".join([size.to_bytes(4 if size < 1 << 32 else 8, byte_order) for size in numbers])

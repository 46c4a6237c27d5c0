"""The bytes of tensors in a shard: how strings are stored, and what checksums cover.

From TensorFlow's tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import google_crc32c

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.dtypes import ByteOrder, tensor_bytes
from ckpt_viz.formats.sstable import mask_crc32c, read_varint
from ckpt_viz.formats.table_writer import encode_varint

_CHECKSUM_BYTES = 4


class Checksum(Protocol):
    """The crc32c of a tensor, from its stored bytes in pieces of any size."""

    @property
    def value(self) -> int:
        """The checksum of all pieces up to now, not masked."""

    def extend(self, piece: bytes, place: str) -> None:
        """Add the next bytes; `place` is for errors."""


def checksum_for(dtype: str, shape: tuple[int, ...], byte_order: ByteOrder) -> Checksum | None:
    """Return a new checksum for a tensor, None for a dtype whose checksum covers other bytes."""
    if dtype == "string":
        return _ChecksumOfStrings(math.prod(shape), byte_order)
    return _ChecksumOfBytes() if tensor_bytes(dtype, shape) is not None else None


class _ChecksumOfBytes:
    def __init__(self) -> None:
        self.value = 0

    def extend(self, piece: bytes, place: str) -> None:
        self.value = google_crc32c.extend(self.value, piece)


class _ChecksumOfStrings:
    """It covers the lengths as numbers of fixed width, although they are stored as varints."""

    def __init__(self, count: int, byte_order: ByteOrder) -> None:
        self.value = 0
        self._lengths_left = count
        self._byte_order = byte_order
        self._length = self._shift = 0  # of the varint that the pieces have begun

    def extend(self, piece: bytes, place: str) -> None:
        position, fixed = 0, bytearray()
        while self._lengths_left and position < len(piece):
            self._length |= (piece[position] & 0x7F) << self._shift
            if self._length >> 64 or self._shift > 63:
                raise FormatError(f"{place}: the length of a string has more than 64 bits")
            if piece[position] < 0x80:
                fixed += _fixed(self._length, self._byte_order)
                self._lengths_left -= 1
                self._length = self._shift = 0
            else:
                self._shift += 7
            position += 1
        lengths = google_crc32c.extend(self.value, bytes(fixed))
        self.value = google_crc32c.extend(lengths, piece[position:])


def encode_strings(strings: Sequence[bytes]) -> bytes:
    """Return strings as a shard stores them, in little-endian order.

    >>> encode_strings([b"a", b"bc"])[:2].hex(), encode_strings([b"a", b"bc"])[6:]
    ('0102', b'abc')
    """
    fixed = b"".join([_fixed(len(one), "little") for one in strings])
    checksum = mask_crc32c(google_crc32c.value(fixed)).to_bytes(_CHECKSUM_BYTES, "little")
    return b"".join([*(encode_varint(len(one)) for one in strings), checksum, *strings])


def decode_strings(
    data: bytes, count: int, byte_order: ByteOrder, place: str
) -> tuple[list[bytes], int]:
    """Return a tensor's strings, at most as many as `data` has bytes, and the crc32c.

    The stored form is the lengths as varints, their masked crc32c in 4 bytes, and the strings. The
    checksums treat the lengths as fixed-width numbers (WriteStringTensor).
    """
    if not data:  # TensorFlow writes 4 bytes for no strings, and also reads 0
        return [], 0
    lengths, position = _string_lengths(data, count, place)
    start = position + _CHECKSUM_BYTES
    if start + sum(lengths) != len(data):
        raise FormatError(
            f"{place}: its strings have {len(data) - start} bytes, their lengths say {sum(lengths)}"
        )
    fixed = b"".join([_fixed(length, byte_order) for length in lengths])
    crc = google_crc32c.value(fixed)
    stored = int.from_bytes(data[position:start], byte_order)
    if mask_crc32c(crc) != stored:
        raise FormatError(
            f"{place}: masked crc32c of the lengths is 0x{mask_crc32c(crc):08x}, "
            f"the file says 0x{stored:08x}"
        )
    strings = []
    for length in lengths:
        strings.append(data[start : start + length])
        start += length
    return strings, google_crc32c.extend(crc, data[position:])


def _string_lengths(data: bytes, count: int, place: str) -> tuple[list[int], int]:
    """Return the lengths at the start of the bytes, and the position after them."""
    lengths = []
    position = 0
    for _ in range(count):
        length, position = read_varint(data, position, place)
        lengths.append(length)
    return lengths, position


def _fixed(length: int, byte_order: ByteOrder) -> bytes:
    return length.to_bytes(4 if length < 1 << 32 else 8, byte_order)

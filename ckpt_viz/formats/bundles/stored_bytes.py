"""The bytes of tensors in a shard: how strings are stored, and what checksums cover.

From TensorFlow's tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.dtypes import ByteOrder, tensor_bytes
from ckpt_viz.formats.arrays.protos import VariantTensorDataProto, parse
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import mask_crc32c, read_varint
from ckpt_viz.formats.storage.table_writer import encode_varint

_CHECKSUM_BYTES = 4
_MAX_SHIFT = 63  # of the last byte of a varint
_AT_ONCE = 4096  # lengths
_MOST_DECODED = 1 << 16  # bytes of a damaged variant
# What TensorFlow itself stores in checkpoints as variants.
_VARIANT_TYPES = frozenset(
    {
        *("tensorflow::Iterator", "tensorflow::TensorList", "tensorflow::TensorMap"),
        *("tensorflow::data::Optional", "tensorflow.data.CompressedElement"),
        *("tensorflow::DatasetVariantWrapper", "RaggedTensorVariant"),
    }
)


class VarintError(FormatError):
    """A stored length is no number; TensorFlow reads past its limit there."""


class UndecodedVariantError(FormatError):
    """A damaged element has no type that TensorFlow knows; it decodes before it tests checksums."""


class Checksum(Protocol):
    """The crc32c of a tensor, from its stored bytes in pieces of any size."""

    @property
    def value(self) -> int:
        """The checksum of all pieces up to now, not masked."""

    def extend(self, piece: bytes, place: str) -> None:
        """Add the next bytes; `place` is for errors.

        Raises FormatError if the bytes contradict a checksum among them.
        """

    def finish(self, place: str) -> None:
        """Raise FormatError if the bytes end too early."""


def checksum_for(dtype: str, shape: tuple[int, ...], byte_order: ByteOrder) -> Checksum | None:
    """Return a new checksum for a tensor, None for a dtype whose checksum is unknown."""
    if dtype == "string":
        return _ChecksumOfStrings(math.prod(shape), byte_order)
    if dtype == "variant":
        return _ChecksumOfVariants(math.prod(shape), byte_order)
    return _ChecksumOfBytes() if tensor_bytes(dtype, shape) is not None else None


class _ChecksumOfBytes:
    def __init__(self) -> None:
        self.value = 0

    def extend(self, piece: bytes, place: str) -> None:
        self.value = checksums.extend(self.value, piece)

    def finish(self, place: str) -> None:
        """Accept any end: the size is that of the tensor."""


class _Varints:
    """Reads varints from pieces that may end within one."""

    def __init__(self) -> None:
        self._value = self._shift = 0

    @property
    def is_begun(self) -> bool:
        """Whether the last piece has ended within a varint."""
        return self._shift > 0

    def read(self, piece: bytes, position: int, place: str) -> tuple[int | None, int]:
        """Return the next varint, None if the piece ends in it, and the position after it."""
        while position < len(piece):
            byte = piece[position]
            position += 1
            self._value |= (byte & 0x7F) << self._shift
            if self._value >> 64 or self._shift > _MAX_SHIFT:
                raise VarintError(f"{place}: a length has more than 64 bits")
            if byte < 0x80:
                value = self._value
                self._value = self._shift = 0
                return value, position
            self._shift += 7
        return None, position


class _ChecksumOfStrings:
    """It covers the lengths as numbers of fixed width, although they are stored as varints.

    The lengths have a checksum of their own, after them.
    """

    def __init__(self, count: int, byte_order: ByteOrder) -> None:
        self.value = 0
        self._lengths_left = count
        self._byte_order = byte_order
        self._varints = _Varints()
        self._stored = b""  # the checksum of the lengths, as far as it is read
        self._bytes_left = 0

    def extend(self, piece: bytes, place: str) -> None:
        position = self._read_lengths(piece, place)
        if not self._lengths_left and len(self._stored) < _CHECKSUM_BYTES:
            end = position + _CHECKSUM_BYTES - len(self._stored)
            self._stored += piece[position:end]
            if len(self._stored) == _CHECKSUM_BYTES:
                _check_lengths(self.value, self._stored, self._byte_order, place)
                self.value = checksums.extend(self.value, self._stored)
                self._add_strings(piece[end:])
            return
        self._add_strings(piece[position:])

    def _read_lengths(self, piece: bytes, place: str) -> int:
        position, fixed = 0, bytearray()
        while self._lengths_left and position < len(piece):
            few = piece[position : position + min(self._lengths_left, _AT_ONCE)]
            is_whole = len(few) == min(self._lengths_left, _AT_ONCE) and not self._varints.is_begun
            if is_whole and few.isascii():
                lengths, position = list(few), position + len(few)  # nearly always short strings
            else:
                length, position = self._varints.read(piece, position, place)
                lengths = [] if length is None else [length]
            for length in lengths:
                fixed += _fixed(length, self._byte_order)
            self._bytes_left += sum(lengths)
            self._lengths_left -= len(lengths)
        self.value = checksums.extend(self.value, bytes(fixed))
        return position

    def _add_strings(self, data: bytes) -> None:
        self.value = checksums.extend(self.value, data)
        self._bytes_left -= len(data)

    def finish(self, place: str) -> None:
        is_empty = not self._lengths_left and not self._stored and not self._bytes_left
        if is_empty:  # TensorFlow writes 4 bytes for no strings, and also reads 0
            return
        if self._lengths_left or len(self._stored) < _CHECKSUM_BYTES or self._bytes_left:
            raise FormatError(f"{place}: its strings do not have the lengths that are stored")


class _ChecksumOfVariants:
    """Each element has its length as a varint, its bytes, and the checksum up to there, masked.

    The checksum covers a length as a number of 8 bytes, and each of these checksums
    (WriteVariantTensor).
    """

    def __init__(self, count: int, byte_order: ByteOrder) -> None:
        self.value = 0
        self._left = count
        self._byte_order = byte_order
        self._varints = _Varints()
        self._bytes_left: int | None = None  # of the element, once its length is known
        self._element = bytearray()  # its beginning
        self._stored = b""

    def extend(self, piece: bytes, place: str) -> None:
        position = 0
        while position < len(piece):
            if not self._left:
                raise FormatError(f"{place}: has bytes after its last element")
            if self._bytes_left is None:
                length, position = self._varints.read(piece, position, place)
                if length is not None:
                    fixed = length.to_bytes(8, self._byte_order)
                    self.value = checksums.extend(self.value, fixed)
                    self._bytes_left = length
            elif self._bytes_left:
                data = piece[position : position + self._bytes_left]
                self.value = checksums.extend(self.value, data)
                self._element += data[: _MOST_DECODED + 1 - len(self._element)]
                self._bytes_left -= len(data)
                position += len(data)
            else:
                position = self._read_checksum(piece, position, place)

    def _read_checksum(self, piece: bytes, position: int, place: str) -> int:
        end = position + _CHECKSUM_BYTES - len(self._stored)
        self._stored += piece[position:end]
        if len(self._stored) == _CHECKSUM_BYTES:
            stored = int.from_bytes(self._stored, self._byte_order)
            if mask_crc32c(self.value) != stored:
                error = FormatError if _is_decodable(self._element) else UndecodedVariantError
                raise error(
                    f"{place}: masked crc32c after an element is 0x{mask_crc32c(self.value):08x}, "
                    f"the file says 0x{stored:08x}"
                )
            self._element.clear()
            self.value = checksums.extend(self.value, self._stored)
            self._left -= 1
            self._bytes_left, self._stored = None, b""
        return min(end, len(piece))

    def finish(self, place: str) -> None:
        if self._left:
            raise FormatError(f"{place}: ends {self._left} elements too early")


def _is_decodable(element: bytearray) -> bool:
    """Return whether a stored variant seems to have a type that TensorFlow can decode.

    Also if it is no message at all, or too large to ask: TensorFlow then raises DataLossError.
    """
    if len(element) > _MOST_DECODED:
        return True
    try:
        name: str = parse(VariantTensorDataProto, bytes(element), "variant").type_name
    except FormatError:
        return True
    return name in _VARIANT_TYPES


def encode_strings(strings: Sequence[bytes]) -> bytes:
    """Return strings as a shard stores them, in little-endian order.

    >>> encode_strings([b"a", b"bc"])[:2].hex(), encode_strings([b"a", b"bc"])[6:]
    ('0102', b'abc')
    """
    fixed = b"".join([_fixed(len(string), "little") for string in strings])
    checksum = mask_crc32c(checksums.value(fixed)).to_bytes(_CHECKSUM_BYTES, "little")
    return b"".join([*(encode_varint(len(string)) for string in strings), checksum, *strings])


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
    crc = checksums.value(fixed)
    _check_lengths(crc, data[position:start], byte_order, place)
    strings = []
    for length in lengths:
        strings.append(data[start : start + length])
        start += length
    return strings, checksums.extend(crc, data[position:])


def _string_lengths(data: bytes, count: int, place: str) -> tuple[list[int], int]:
    """Return the lengths at the start of the bytes, and the position after them."""
    lengths = []
    position = 0
    for _ in range(count):
        length, position = read_varint(data, position, place)
        lengths.append(length)
    return lengths, position


def _check_lengths(crc: int, stored: bytes, byte_order: ByteOrder, place: str) -> None:
    """Raise FormatError if the checksum of the lengths is not the stored one."""
    expected = int.from_bytes(stored, byte_order)
    if mask_crc32c(crc) != expected:
        raise FormatError(
            f"{place}: masked crc32c of the lengths is 0x{mask_crc32c(crc):08x}, "
            f"the file says 0x{expected:08x}"
        )


def _fixed(length: int, byte_order: ByteOrder) -> bytes:
    return length.to_bytes(4 if length < 1 << 32 else 8, byte_order)

"""The bytes of tensors in a shard: how strings are stored, and what checksums cover.

From TensorFlow's tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from struct import pack
from typing import Protocol

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.dtypes import ByteOrder, tensor_bytes
from ckpt_viz.formats.arrays.protos import VariantTensorDataProto, parse
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import mask_crc32c
from ckpt_viz.formats.storage.wire import encode_varint

_CHECKSUM_BYTES = 4
_VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]", re.DOTALL)
_VARINT_BYTES = 10
_AT_ONCE = 1 << 14  # bytes of lengths
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
        return ChecksumOfStrings(math.prod(shape), byte_order)
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


class ChecksumOfStrings:
    """It covers the lengths as numbers of fixed width, although they are stored as varints.

    The lengths have a checksum of their own, after them. `count` is the number of strings, and
    `total` that of their bytes; `shortest` and `longest` are None without any string.
    """

    def __init__(self, count: int, byte_order: ByteOrder, lengths: list[int] | None = None) -> None:
        self.value = self.total = 0
        self.count = count
        self.shortest: int | None = None
        self.longest: int | None = None
        self._lengths = lengths  # gets all of them
        self._lengths_left = count
        self._byte_order = byte_order
        self._rest = b""  # of the bytes before: the beginning of a length
        self._stored = b""  # the checksum of the lengths, as far as it is read
        self._bytes = 0

    def extend(self, piece: bytes, place: str) -> None:  # noqa: D102
        if self._lengths_left:
            piece = self._after_lengths(self._rest + piece, place)
        if not self._lengths_left and len(self._stored) < _CHECKSUM_BYTES:
            missing = _CHECKSUM_BYTES - len(self._stored)
            self._stored += piece[:missing]
            piece = piece[missing:]
            if len(self._stored) == _CHECKSUM_BYTES:
                _check_lengths(self.value, self._stored, self._byte_order, place)
                self.value = checksums.extend(self.value, self._stored)
        self.value = checksums.extend(self.value, piece)
        self._bytes += len(piece)

    def _after_lengths(self, data: bytes, place: str) -> bytes:
        """Read lengths from the beginning of the bytes; return what comes after them."""
        position = 0
        while self._lengths_left and position < len(data):
            few = data[position : position + _AT_ONCE]
            if few[: self._lengths_left].isascii():
                lengths = list(few[: self._lengths_left])  # nearly always short strings
                position += len(lengths)
            else:
                varints = _VARINT.findall(few)[: self._lengths_left]
                if not varints and len(few) < _VARINT_BYTES:  # the rest is in the next piece
                    break
                numbers = {varint: _number(varint, place) for varint in set(varints or [few])}
                lengths = [numbers[varint] for varint in varints]
                position += sum(map(len, varints))
            self._add(lengths)
        self._rest = data[position:] if self._lengths_left else b""
        return b"" if self._lengths_left else data[position:]

    def _add(self, lengths: list[int]) -> None:
        shortest, longest = min(lengths), max(lengths)
        self.shortest = shortest if self.shortest is None else min(self.shortest, shortest)
        self.longest = longest if self.longest is None else max(self.longest, longest)
        self.total += sum(lengths)
        self._lengths_left -= len(lengths)
        self.value = checksums.extend(self.value, _fixed(lengths, self._byte_order))
        if self._lengths is not None:
            self._lengths += lengths

    def finish(self, place: str) -> None:  # noqa: D102
        if not self.count and not self._stored:  # TensorFlow writes 4 bytes, and also reads 0
            return
        if len(self._stored) < _CHECKSUM_BYTES:
            raise FormatError(f"{place}: ends within the lengths of its {self.count} strings")
        if self._bytes != self.total:
            raise FormatError(
                f"{place}: its strings have {self._bytes} bytes, their lengths say {self.total}"
            )


def _number(varint: bytes, place: str) -> int:
    """Return the length that is stored so; raise VarintError for more than 64 bits."""
    number = 0
    for byte in reversed(varint[: _VARINT_BYTES + 1]):
        number = number << 7 | byte & 0x7F
    if len(varint) > _VARINT_BYTES or varint[-1] & 0x80 or number >> 64:
        raise VarintError(f"{place}: a length has more than 64 bits")
    return number


class _ChecksumOfVariants:
    """Each element has its length as a varint, its bytes, and the checksum up to there, masked.

    The checksum covers a length as a number of 8 bytes, and each of these checksums
    (WriteVariantTensor).
    """

    def __init__(self, count: int, byte_order: ByteOrder) -> None:
        self.value = 0
        self._left = count
        self._byte_order = byte_order
        self._varint = b""  # the beginning of a length
        self._bytes_left: int | None = None  # of the element, once its length is known
        self._element = bytearray()  # its beginning
        self._stored = b""

    def extend(self, piece: bytes, place: str) -> None:
        position = 0
        while position < len(piece):
            if not self._left:
                raise FormatError(f"{place}: has bytes after its last element")
            if self._bytes_left is None:
                self._varint += piece[position : position + 1]
                position += 1
                if self._varint[-1] < 0x80 or len(self._varint) > _VARINT_BYTES:
                    length = _number(self._varint, place)
                    fixed = length.to_bytes(8, self._byte_order)
                    self.value = checksums.extend(self.value, fixed)
                    self._bytes_left, self._varint = length, b""
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
    fixed = _fixed([len(string) for string in strings], "little")
    checksum = mask_crc32c(checksums.value(fixed)).to_bytes(_CHECKSUM_BYTES, "little")
    return b"".join([*(encode_varint(len(string)) for string in strings), checksum, *strings])


def decode_strings(
    data: bytes, count: int, byte_order: ByteOrder, place: str
) -> tuple[list[bytes], int]:
    """Return a tensor's strings, at most as many as `data` has bytes, and the crc32c.

    The stored form is the lengths as varints, their masked crc32c in 4 bytes, and the strings. The
    checksums treat the lengths as fixed-width numbers (WriteStringTensor).
    """
    lengths: list[int] = []
    checksum = ChecksumOfStrings(count, byte_order, lengths)
    checksum.extend(data, place)
    checksum.finish(place)
    strings, start = [], len(data) - checksum.total
    for length in lengths:
        strings.append(data[start : start + length])
        start += length
    return strings, checksum.value


def _check_lengths(crc: int, stored: bytes, byte_order: ByteOrder, place: str) -> None:
    """Raise FormatError if the checksum of the lengths is not the stored one."""
    expected = int.from_bytes(stored, byte_order)
    if mask_crc32c(crc) != expected:
        raise FormatError(
            f"{place}: masked crc32c of the lengths is 0x{mask_crc32c(crc):08x}, "
            f"the file says 0x{expected:08x}"
        )


def _fixed(lengths: list[int], byte_order: ByteOrder) -> bytes:
    """Return lengths as the checksum covers them: in 4 bytes, or in 8 if they need it."""
    if max(lengths, default=0) < 1 << 32:
        letter = "<" if byte_order == "little" else ">"
        return pack(f"{letter}{len(lengths)}I", *lengths)
    return b"".join([n.to_bytes(4 if n < 1 << 32 else 8, byte_order) for n in lengths])

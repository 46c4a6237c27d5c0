"""The types and shapes of HDF5's data sets and attributes, from the messages in object headers.

From "HDF5 File Format Specification Version 3.0", IV.A.2. pyfive takes every floating-point number
for IEEE's and evaluates the tags of opaque types, so it reads neither.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Literal

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.dtypes import ByteOrder

REFERENCE_BYTES = 16  # of a text of variable length: its length, and its place in a global heap

_MAX_RANK = 32  # H5S_MAX_RANK
_CLASSES = {
    2: "times",
    4: "bit fields",
    5: "opaque bytes",
    6: "records of several fields",
    7: "references",
    9: "lists of variable length",
    10: "arrays",
    11: "complex numbers of HDF5 2.0",
}
# Bit offset, precision, place and size of the exponent, place and size of the mantissa, and bias.
_FLOATS = {
    (0, 16, 10, 5, 0, 10, 15): "float16",
    (0, 16, 7, 8, 0, 7, 127): "bfloat16",
    (0, 32, 23, 8, 0, 23, 127): "float32",
    (0, 64, 52, 11, 0, 52, 1023): "float64",
}
_FLOAT_BYTES = 20  # of a Datatype message of floats
_MEMBER_BYTES = {1: 40, 2: 12, 3: 3, 4: 3, 5: 3}  # what comes before a member's type, by version
_IMPLIED_BIT = 2  # of the mantissa, as IEEE's numbers have it
_BOOLS = (b"FALSE\0\0\0TRUE\0\0\0\0\0\1", b"FALSE\0TRUE\0\0\1")  # as h5py names them

TextKind = Literal["", "variable", "terminated", "padded", "padded with spaces"]
_FIXED: dict[int, TextKind] = {0: "terminated", 2: "padded with spaces"}


@dataclass(frozen=True, slots=True)
class ElementType:
    """The type of a data set's elements.

    `dtype` is TensorFlow's name, or None with `words` for what the elements are. `size` is in
    bytes, of an element as stored. `texts` says how they end.
    """

    dtype: str | None
    size: int
    order: ByteOrder = "little"
    texts: TextKind = ""
    words: str = ""


def element_type(message: bytes) -> ElementType:
    """Return the type that a Datatype message describes."""
    class_and_version, low, high, _, size = struct.unpack_from("<4BI", message)
    order: ByteOrder = "big" if low & 1 else "little"
    match class_and_version & 15:
        case 0:
            return _integers(message, low, size, order)
        case 1:
            return _floats(message, low, high, size, order)
        case 3:
            return ElementType("string", size, texts=_FIXED.get(low & 15, "padded"))
        case 6:
            return _complex(message, low, size)
        case 8:
            base = element_type(message[8:])
            is_bool = base.size == 1 and message[20:].startswith(_BOOLS)
            return ElementType("bool", 1) if is_bool else base
        case 9 if low & 15 == 1:
            return ElementType("string", REFERENCE_BYTES, texts="variable")
        case kind if kind in _CLASSES:
            return ElementType(None, size, words=_CLASSES[kind])
        case kind:
            raise FormatError(f"found elements of class {kind}, expected one from 0 to 11")


def is_opaque(elements: ElementType) -> bool:
    """Return whether elements are bytes without a meaning: Keras stores bfloat16 so."""
    return elements.words == _CLASSES[5]


def _integers(message: bytes, low: int, size: int, order: ByteOrder) -> ElementType:
    first_bit, bits = struct.unpack_from("<HH", message, 8)
    if size not in (1, 2, 4, 8) or (first_bit, bits) != (0, 8 * size):
        return ElementType(None, size, words=f"integers of {bits} bits in {size} bytes")
    return ElementType(f"{'int' if low & 8 else 'uint'}{bits}", size, order)


def _floats(message: bytes, low: int, sign: int, size: int, order: ByteOrder) -> ElementType:
    layout = struct.unpack_from("<HH4BI", message, 8)
    dtype = _FLOATS.get(layout)
    is_plain = low >> 4 & 3 == _IMPLIED_BIT and not low & 0x40 and sign == 8 * size - 1
    if dtype is None or not is_plain or layout[1] != 8 * size:
        return ElementType(None, size, words=f"floats of an unknown kind, of {size} bytes")
    return ElementType(dtype, size, order)


def _complex(message: bytes, members: int, size: int) -> ElementType:
    """Return the type of records: complex numbers if they are two floats, as h5py stores them."""
    start = _MEMBER_BYTES.get(message[0] >> 4, 0)
    names = message[8:10] + message[8 + start + _FLOAT_BYTES :][:2]
    if members == 2 and names == b"r\0i\0":
        part = element_type(message[8 + start :])
        dtype = {"float32": "complex64", "float64": "complex128"}.get(part.dtype or "")
        if dtype is not None and size == 2 * part.size:
            return ElementType(dtype, size, part.order)
    return ElementType(None, size, words=_CLASSES[6])


def parse_dataspace(message: bytes) -> tuple[int, ...] | None:
    """Return the shape that a Dataspace message describes, None if there is not even a scalar."""
    version, rank, _, kind = struct.unpack_from("<4B", message)
    if version not in (1, 2):
        raise FormatError(f"found a dataspace of version {version}, expected 1 or 2")
    if rank > _MAX_RANK:
        raise FormatError(f"found {rank} dimensions, expected at most {_MAX_RANK}")
    if version == 2 and kind == 2:
        return None
    shape: tuple[int, ...] = struct.unpack_from(f"<{rank}Q", message, 8 if version == 1 else 4)
    if math.prod(shape) >= 1 << 63:
        raise FormatError(f"found a shape of {math.prod(shape)} elements, expected below 2**63")
    return shape

"""The kinds of tensors that TensorFlow stores: their dtypes, shapes and sizes in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.protos import TensorShapeProto, parse
from ckpt_viz.ground.text import shape_words

Shape: TypeAlias = tuple[int, ...] | None
"""None: the rank is unknown."""
ByteOrder: TypeAlias = Literal["little", "big"]

_MAX_RANK = 254  # TensorShape::MaxDimensions
_MAX_ELEMENTS = (1 << 63) - 1

# DataType in tensorflow/core/framework/types.proto: name, and the bytes that an element takes in a
# shard; None if that varies. The 4-bit and 2-bit types take one byte.
_DTYPES: Mapping[int, tuple[str, int | None]] = {
    1: ("float32", 4),
    2: ("float64", 8),
    3: ("int32", 4),
    4: ("uint8", 1),
    5: ("int16", 2),
    6: ("int8", 1),
    7: ("string", None),
    8: ("complex64", 8),
    9: ("int64", 8),
    10: ("bool", 1),
    11: ("qint8", 1),
    12: ("quint8", 1),
    13: ("qint32", 4),
    14: ("bfloat16", 2),
    15: ("qint16", 2),
    16: ("quint16", 2),
    17: ("uint16", 2),
    18: ("complex128", 16),
    19: ("float16", 2),
    20: ("resource", None),
    21: ("variant", None),
    22: ("uint32", 4),
    23: ("uint64", 8),
    24: ("float8_e5m2", 1),
    25: ("float8_e4m3fn", 1),
    26: ("float8_e4m3fnuz", 1),
    27: ("float8_e4m3b11fnuz", 1),
    28: ("float8_e5m2fnuz", 1),
    29: ("int4", 1),
    30: ("uint4", 1),
    31: ("int2", 1),
    32: ("uint2", 1),
    33: ("float4_e2m1fn", 1),
}
ELEMENT_BYTES = dict(_DTYPES.values())
QUANTIZED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint32": "int32",
    "qint16": "int16",
    "quint16": "uint16",
}
OF_ML_DTYPES = {name for number, (name, _) in _DTYPES.items() if number == 14 or number >= 24}


def is_float(dtype: str | None) -> bool:
    """Return whether a dtype is one of floating-point numbers, of any size.

    >>> is_float("bfloat16"), is_float("complex64")
    (True, False)
    """
    return dtype in ELEMENT_BYTES and dtype is not None and dtype.startswith(("float", "bfloat"))


def dtype_name(number: int) -> str:
    """Return TensorFlow's name of a DataType.

    >>> dtype_name(14), dtype_name(99)
    ('bfloat16', 'unknown dtype 99')
    """
    return _DTYPES[number][0] if number in _DTYPES else f"unknown dtype {number}"


def dtype_number(name: str) -> int:
    """Return the DataType of a name that `dtype_name` returned.

    >>> dtype_number("bfloat16"), dtype_number("unknown dtype 99")
    (14, 99)
    """
    known = next((number for number, (known, _) in _DTYPES.items() if known == name), None)
    return int(name.rpartition(" ")[2]) if known is None else known


def encode_shape(shape: tuple[int, ...]) -> bytes:
    """Return the TensorShapeProto of a shape.

    >>> parse_shape(encode_shape((2, 0)))
    (2, 0)
    """
    proto: Any = TensorShapeProto()
    for size in shape:
        proto.dim.add(size=size)
    encoded: bytes = proto.SerializeToString()
    return encoded


def parse_shape(encoded: bytes) -> Shape:
    """Return the shape that a TensorShapeProto encodes, if a tensor can have this shape."""
    proto = parse(TensorShapeProto, encoded, "shape")
    if proto.unknown_rank:
        return None
    shape = tuple(dim.size for dim in proto.dim)
    if len(shape) > _MAX_RANK:
        raise FormatError(f"has {len(shape)} dimensions, expected at most {_MAX_RANK}")
    if min(shape, default=0) < 0 or math.prod(shape) > _MAX_ELEMENTS:
        words = shape_words(shape)
        raise FormatError(f"shape is {words}, expected sizes from 0, below 2**63 elements in all")
    return shape


def tensor_bytes(dtype: str, shape: Shape) -> int | None:
    """Return a tensor's size in a shard, None if dtype and shape do not determine it.

    >>> tensor_bytes("float32", (2, 3)), tensor_bytes("string", (2, 3))
    (24, None)
    """
    element_bytes = ELEMENT_BYTES.get(dtype)
    if element_bytes is None or shape is None:
        return None
    return math.prod(shape) * element_bytes

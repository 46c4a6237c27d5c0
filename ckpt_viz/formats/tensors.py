"""The kinds of tensors that TensorFlow stores, and their bytes as numpy arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ckpt_viz.errors import DtypeError, FormatError, UnsupportedError
from ckpt_viz.formats.protos import TensorShapeProto, parse

Shape: TypeAlias = tuple[int, ...] | None
"""None: of unknown rank."""
ByteOrder: TypeAlias = Literal["little", "big"]
Array: TypeAlias = npt.NDArray[Any]

_MAX_RANK = 254  # TensorShape::MaxDimensions
_MAX_ELEMENTS = (1 << 63) - 1

# DataType in tensorflow/core/framework/types.proto: name, and bytes an element
# takes in a shard; None where that varies. The 4-bit and 2-bit types take one byte.
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
_ELEMENT_BYTES = dict(_DTYPES.values())
_QUANTIZED = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint32": "int32",
    "qint16": "int16",
    "quint16": "uint16",
}
_OF_ML_DTYPES = {name for number, (name, _) in _DTYPES.items() if number == 14 or number >= 24}


def dtype_name(number: int) -> str:
    """Return TensorFlow's name of a DataType.

    >>> dtype_name(14), dtype_name(99)
    ('bfloat16', 'unknown dtype 99')
    """
    return _DTYPES[number][0] if number in _DTYPES else f"unknown dtype {number}"


def parse_shape(encoded: bytes) -> Shape:
    """Return the shape that a TensorShapeProto encodes, if a tensor can have it."""
    proto = parse(TensorShapeProto, encoded, "shape")
    if proto.unknown_rank:
        return None
    shape = tuple(dim.size for dim in proto.dim)
    if len(shape) > _MAX_RANK:
        raise FormatError(f"has {len(shape)} dimensions, expected at most {_MAX_RANK}")
    if min(shape, default=0) < 0 or math.prod(shape) > _MAX_ELEMENTS:
        raise FormatError(f"shape is {shape}, expected sizes from 0, below 2**63 elements in all")
    return shape


def tensor_bytes(dtype: str, shape: Shape) -> int | None:
    """Return a tensor's size in a shard, None where dtype or shape do not tell.

    >>> tensor_bytes("float32", (2, 3)), tensor_bytes("string", (2, 3))
    (24, None)
    """
    element_bytes = _ELEMENT_BYTES.get(dtype)
    if element_bytes is None or shape is None:
        return None
    return math.prod(shape) * element_bytes


def numpy_dtype(dtype: str) -> np.dtype[Any] | None:
    """Return the numpy dtype that stands for a dtype of TensorFlow, None if none does.

    Strings are objects (of `bytes`). Quantized integers are the integers they are stored
    as: TensorFlow's own dtypes for them, of one field, have no plain form in numpy.

    >>> numpy_dtype("qint8"), numpy_dtype("variant")
    (dtype('int8'), None)
    """
    if dtype == "string":
        return np.dtype(object)
    if _ELEMENT_BYTES.get(dtype) is None:
        return None
    if dtype not in _OF_ML_DTYPES:
        return np.dtype(_QUANTIZED.get(dtype, dtype))
    import ml_dtypes  # here: few tensors need it, opening a checkpoint none

    found = getattr(ml_dtypes, dtype, None)  # an older one lacks the newest kinds
    return None if found is None else np.dtype(found)


def decode(
    data: bytes, dtype: str, shape: tuple[int, ...], byte_order: ByteOrder, place: str
) -> Array:
    """Return the array that a tensor's stored bytes stand for; it cannot be written to.

    Not for strings. Raises DtypeError, with the bytes, where numpy has no such dtype, and
    FormatError where the bytes do not fit the shape.
    """
    numpys = numpy_dtype(dtype)
    if numpys is None:
        raise no_dtype(dtype, data, place)
    expected = tensor_bytes(dtype, shape)
    if len(data) != expected:
        raise FormatError(
            f"{place}: has {len(data)} bytes, expected {expected} for {dtype} {shape}"
        )
    flat = np.frombuffer(data, np.uint8)
    if byte_order != sys.byteorder:
        # ml_dtypes' have no other byte order, so bytes are swapped before they get a dtype.
        swapped = numpys.itemsize // (2 if numpys.kind == "c" else 1)
        flat = flat.view(f"u{swapped}").byteswap().view(np.uint8)
    if dtype == "bool" and np.any(flat > 1):
        raise FormatError(f"{place}: has a byte of {flat.max()}, expected 0 or 1 for bool")
    return frozen(in_shape(flat.view(numpys), shape, place))


def of_strings(strings: Sequence[bytes], shape: tuple[int, ...], place: str) -> Array:
    """Return an array of `bytes`, which cannot be written to."""
    flat = np.fromiter(strings, object, len(strings))
    return frozen(in_shape(flat, shape, place))


def in_shape(flat: Array, shape: tuple[int, ...], place: str) -> Array:
    """Return an array in a shape for which it has the right number of elements.

    Raises UnsupportedError for a shape that numpy does not allow: of more than 64
    dimensions, or with a 0 beside giants.
    """
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise UnsupportedError(f"{place}: numpy has no arrays of this shape: {error}") from error


def frozen(array: Array) -> Array:
    """Return the array, made read-only: what a file holds does not change by assignment."""
    array.flags.writeable = False
    return array


def no_dtype(dtype: str, raw: bytes, place: str) -> DtypeError:
    """Return the error for a tensor that was read but has no numpy dtype."""
    remedy = "; pip install -U ml_dtypes" if dtype in _OF_ML_DTYPES else ""
    return DtypeError(
        f"{place}: no numpy dtype stands for {dtype}{remedy}; "
        f"its {len(raw)} bytes are in this error's attribute `raw`",
        raw,
    )

"""The values of tensors: stored bytes as NumPy arrays.

`dtypes` holds the code that only describes tensors, because importing NumPy takes as long as
opening a checkpoint. Only code that reads values imports this module.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ckpt_viz.errors import DtypeError, FormatError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import (
    ELEMENT_BYTES,
    OF_ML_DTYPES,
    QUANTIZED,
    ByteOrder,
    is_float,
    tensor_bytes,
)
from ckpt_viz.formats.arrays.slices import SliceExtent, why_incomplete
from ckpt_viz.formats.arrays.small_numbers import numbers_of_patterns, patterns_of_numbers, rounded
from ckpt_viz.ground.text import shape_words

Array: TypeAlias = npt.NDArray[Any]


def numpy_dtype(dtype: str) -> np.dtype[Any] | None:
    """Return the NumPy dtype of values of a TensorFlow dtype, None if there is none.

    Strings are objects (of `bytes`). Quantized integers become the integers in which they are
    stored: TensorFlow's own dtypes for them, of one field, have no plain form in NumPy. Small
    numbers have the dtypes of ml_dtypes. Without it, they are float32, int8 or uint8.

    >>> numpy_dtype("qint8"), numpy_dtype("variant")
    (dtype('int8'), None)
    """
    if dtype == "string":
        return np.dtype(object)
    if ELEMENT_BYTES.get(dtype) is None:
        return None
    if dtype not in OF_ML_DTYPES:
        return np.dtype(QUANTIZED.get(dtype, dtype))
    return _of_ml_dtypes(dtype) or numbers_of_patterns(dtype).dtype


@cache
def _of_ml_dtypes(dtype: str) -> np.dtype[Any] | None:
    """Return a dtype of ml_dtypes, None without it; an older one lacks the newest kinds."""
    try:
        import ml_dtypes  # here, because few tensors need it, and opening a checkpoint never does
    except ImportError:  # in the page: its engine has no ml_dtypes
        return None
    scalar_type = getattr(ml_dtypes, dtype, None)
    return None if scalar_type is None else np.dtype(scalar_type)


def _is_widened(dtype: str) -> bool:
    """Return whether arrays have the numbers of a dtype in a wider one."""
    return dtype in OF_ML_DTYPES and _of_ml_dtypes(dtype) is None


def decode(
    data: bytes, dtype: str, shape: tuple[int, ...], byte_order: ByteOrder, place: str
) -> Array:
    """Return the array in a tensor's stored bytes; it is read-only.

    Not for strings. Raises DtypeError, with the bytes, if NumPy has no such dtype, and FormatError
    if the bytes do not fit the shape.
    """
    if numpy_dtype(dtype) is None:
        raise no_dtype(dtype, data, place)
    expected = tensor_bytes(dtype, shape)
    if len(data) != expected:
        raise FormatError(
            f"{place}: has {len(data)} bytes, expected {expected} for {dtype} {shape_words(shape)}"
        )
    flat = np.frombuffer(data, np.uint8)
    if byte_order != sys.byteorder:
        # ml_dtypes' types have no other byte order, so swap bytes before they get a dtype.
        flat = swapped(flat, dtype)
    if dtype == "bool" and np.any(flat > 1):
        raise FormatError(f"{place}: has a byte of {flat.max()}, expected 0 or 1 for bool")
    return frozen(in_shape(of_bytes(flat, dtype), shape, place))


def of_bytes(flat: Array, dtype: str) -> Array:
    """Return the numbers, flat, in bytes of the native byte order."""
    if _is_widened(dtype):
        return np.asarray(numbers_of_patterns(dtype)[flat.view(f"u{ELEMENT_BYTES[dtype]}")])
    numpys = numpy_dtype(dtype)
    assert numpys is not None
    return flat.view(numpys)


def encode(array: Array, dtype: str) -> Array:
    """Return the bytes of an array of numbers as a shard stores them, in little-endian order."""
    stored = patterns_of_numbers(array, dtype) if _is_widened(dtype) else array
    flat = np.ascontiguousarray(stored).reshape(-1).view(np.uint8)
    return flat if sys.byteorder == "little" else swapped(flat, dtype)


def in_little_endian(data: bytes | memoryview, dtype: str) -> Array:
    """Return the numbers in some bytes of a shard: the inverse of `encode`."""
    flat = np.frombuffer(data, np.uint8)
    return of_bytes(flat if sys.byteorder == "little" else swapped(flat, dtype), dtype)


def cast(array: Array, dtype: str, place: str) -> Array:
    """Return an array of floats in another dtype of floats, each rounded to the nearest one.

    Raises UnsupportedError if a number is too large for the dtype, or infinite, or NaN, and the
    dtype has none of these.
    """
    if numpy_dtype(dtype) is None:
        raise UnsupportedError(f"{place}: numpy has no dtype for {dtype}, expected one that it has")
    with np.errstate(over="ignore", invalid="ignore"):
        new = in_dtype(array, dtype)
    is_lost = _is_lost(array, new, dtype)
    if is_lost.any():
        number = float(np.asarray(array)[is_lost].reshape(-1)[0])
        why = "too large for" if math.isfinite(number) else "absent from"
        raise UnsupportedError(
            f"{place}: found {number:g}, {why} {dtype}; expected numbers of its range, choose "
            "another dtype"
        )
    return frozen(new)


def _is_lost(array: Array, new: Array, dtype: str) -> Array:
    if dtype == "float4_e2m1fn":  # all its numbers are finite: ml_dtypes takes one of these
        return np.asarray(~np.isfinite(rounded(array, dtype)))
    is_other = np.isnan(new) != np.isnan(array)
    return np.asarray(is_other | (np.isfinite(new) != np.isfinite(array)))


def in_dtype(array: Array, dtype: str) -> Array:
    """Return an array in another dtype of numbers, converted as NumPy does."""
    if _is_widened(dtype) and is_float(dtype):
        return rounded(array, dtype)
    return np.asarray(array.astype(numpy_dtype(dtype)))


def swapped(flat: Array, dtype: str) -> Array:
    """Return the bytes of numbers in the other byte order."""
    size = (ELEMENT_BYTES[dtype] or 1) // (2 if dtype.startswith("complex") else 1)
    other: Array = flat.view(f"u{size}").byteswap().view(np.uint8)
    return other


def of_strings(strings: Sequence[bytes], shape: tuple[int, ...], place: str) -> Array:
    """Return an array of `bytes`, which is read-only."""
    flat = np.fromiter(strings, object, len(strings))
    return frozen(in_shape(flat, shape, place))


def put_together(
    shape: tuple[int, ...], slices: Sequence[SliceExtent], values: Sequence[Array], place: str
) -> Array:
    """Return the array whose slices have these values.

    The slices are inside the shape. Raises FormatError if they overlap or leave gaps.
    """
    reason = why_incomplete(shape, slices)
    if reason is not None:
        raise FormatError(f"{place}: {reason}")
    count = math.prod(shape)
    whole = in_shape(np.empty(count, values[0].dtype), shape, place)
    filled = in_shape(np.zeros(count, bool), shape, place)
    for (start, sizes), value in zip(slices, values, strict=True):
        where = tuple(slice(first, first + size) for first, size in zip(start, sizes, strict=True))
        if filled[where].any():
            words = shape_words(sizes)
            raise FormatError(f"{place}: the slice of {words} at {start} overlaps another")
        filled[where] = True
        whole[where] = value
    return frozen(whole)


def in_shape(flat: Array, shape: tuple[int, ...], place: str) -> Array:
    """Return an array in a shape for which it has the right number of elements.

    Raises UnsupportedError for a shape that NumPy does not allow: one with more than 64 dimensions,
    or with a 0 beside giant dimensions.
    """
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise UnsupportedError(f"{place}: numpy has no arrays of this shape: {error}") from error


def frozen(array: Array) -> Array:
    """Return the array, made read-only: assignment must not change a file's values."""
    array.flags.writeable = False
    return array


def no_dtype(dtype: str, raw: bytes, place: str) -> DtypeError:
    """Return the error for a tensor that was read but has no NumPy dtype."""
    return DtypeError(
        f"{place}: numpy has no dtype for {dtype}; "
        f"its {len(raw)} bytes are in this error's attribute `raw`",
        raw,
    )

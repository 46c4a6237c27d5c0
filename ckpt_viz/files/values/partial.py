"""The statistics of a piece of a tensor, which join to those of the tensor."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, reduce
from operator import iadd

import numpy as np

from ckpt_viz.errors import FormatError
from ckpt_viz.files.values.fine_bins import (
    BLOCK,
    VALUES,
    Bins,
    FineBins,
    fine_bins,
    joined_bins,
    no_bins,
    summed,
)
from ckpt_viz.files.values.moments import Moments, joined_moments, moments_of, moments_of_counted
from ckpt_viz.files.values.row import Number
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, OF_ML_DTYPES, ByteOrder
from ckpt_viz.formats.arrays.small_numbers import numbers_of_patterns
from ckpt_viz.formats.arrays.tensors import Array, numpy_dtype, of_bytes

_CHUNK = 1 << 19  # elements that are converted to float64 at a time
_FEW_PATTERNS = 1 << 12  # of which sorting is faster than a table of 65,536
_EXACT = 1 << 53  # from here on a float64 does not hold every integer


@dataclass(frozen=True, slots=True)
class Partial:
    """The statistics of some elements of a tensor.

    `low` and `high` are the extremes of the finite elements, None without any. They are exact:
    `int` for integers. Moments and bins count finite elements, but no bin has zeros.
    """

    count: int
    zeros: int
    nan: int
    inf: int
    low: Number | None
    high: Number | None
    moments: Moments
    bins: Bins


def no_elements(dtype: str) -> Partial:
    """Return the statistics of no elements of a dtype."""
    return Partial(0, 0, 0, 0, None, None, Moments(), no_bins(_width(dtype)))


def partial_of(
    stored: bytes | memoryview, dtype: str, byte_order: ByteOrder, place: str
) -> Partial:
    """Return the statistics of the stored bytes of whole elements.

    Not for strings, nor for dtypes without a form in NumPy. `place` is for errors. Raises
    FormatError for a bool that is neither 0 nor 1.
    """
    flat = np.frombuffer(stored, np.uint8)
    if not flat.size:
        return no_elements(dtype)
    with np.errstate(all="ignore"):  # a file may have any patterns
        return _of_flat(flat, dtype, byte_order, place)


def _of_flat(flat: Array, dtype: str, byte_order: ByteOrder, place: str) -> Partial:
    if ELEMENT_BYTES[dtype] in (1, 2):
        return _of_patterns(flat, dtype, byte_order, place)
    numpy_type = numpy_dtype(dtype)
    assert numpy_type is not None
    numbers = flat.view(numpy_type)
    if byte_order != sys.byteorder:
        numbers = numbers.view(numpy_type.newbyteorder()).astype(numpy_type)
    if numpy_type.kind == "f":
        return _of_floats(numbers)
    chunks = (numbers[start : start + _CHUNK] for start in range(0, numbers.size, _CHUNK))
    if numpy_type.kind == "c":
        return reduce(joined_partial, (_of_floats(_magnitudes(chunk)) for chunk in chunks))
    return reduce(joined_partial, map(_of_integers, chunks))


def joined_partial(a: Partial, b: Partial) -> Partial:
    """Return the statistics of the elements of both."""
    if not a.count or not b.count:
        return a if a.count else b
    return Partial(
        a.count + b.count,
        a.zeros + b.zeros,
        a.nan + b.nan,
        a.inf + b.inf,
        min((low for low in (a.low, b.low) if low is not None), default=None),
        max((high for high in (a.high, b.high) if high is not None), default=None),
        joined_moments(a.moments, b.moments),
        joined_bins(a.bins, b.bins),
    )


def is_whole(dtype: str) -> bool:
    """Return whether a dtype's numbers are integers; bool is one."""
    numpy_type = numpy_dtype(dtype)
    is_named_so = dtype.startswith(("int", "uint"))
    return numpy_type is not None and (numpy_type.kind in "iub" or is_named_so)


def _width(dtype: str) -> int:
    size = ELEMENT_BYTES[dtype]
    if size in (1, 2):
        return VALUES
    return 32 if dtype == "float32" else 64


def _of_floats(numbers: Array) -> Partial:
    """Return the statistics of float32 or float64 numbers."""
    zeros = nan = inf = 0
    extremes: list[float] = []
    moments = Moments()
    scratch = np.empty(min(BLOCK, numbers.size), np.float64)
    for start in range(0, numbers.size, BLOCK):
        block = numbers[start : start + BLOCK]
        low, high = float(block.min()), float(block.max())
        zeros += int(np.count_nonzero(block == 0))
        if not np.isfinite(low) or not np.isfinite(high):  # NaN makes both NaN
            number_of_nan = int(np.count_nonzero(np.isnan(block)))
            block = block[np.isfinite(block)]
            size = min(BLOCK, numbers.size - start)
            nan, inf = nan + number_of_nan, inf + size - number_of_nan - block.size
            if not block.size:
                continue
            low, high = float(block.min()), float(block.max())
        extremes += (low, high)
        wide = scratch[: block.size]
        wide[:] = block
        moments = joined_moments(moments, moments_of(wide, max(-low, high)))
    return Partial(
        numbers.size,
        zeros,
        nan,
        inf,
        min(extremes, default=None),
        max(extremes, default=None),
        moments,
        fine_bins(numbers),
    )


def _of_integers(numbers: Array) -> Partial:
    """Return the statistics of integers of 32 or 64 bits."""
    low, high = int(numbers.min()), int(numbers.max())
    wide = numbers.astype(np.float64)
    floored = wide.copy()
    if max(-low, high) >= _EXACT:
        # Clear bits that no fine bin has, so that the conversion rounds no number into another bin.
        is_large = np.abs(wide) >= _EXACT
        mask = np.array(-2048).astype(numbers.dtype)
        floored[is_large] = (numbers[is_large] & mask).astype(np.float64)
    zeros = numbers.size - int(np.count_nonzero(numbers))
    moments = moments_of(wide, float(max(-low, high)))
    return Partial(numbers.size, zeros, 0, 0, low, high, moments, fine_bins(floored))


def _magnitudes(numbers: Array) -> Array:
    """Return the magnitudes of complex numbers as float64; NaN if any part is."""
    magnitudes: Array = np.abs(numbers.astype(np.complex128))
    magnitudes[np.isnan(numbers)] = np.nan
    return magnitudes


def _of_patterns(flat: Array, dtype: str, byte_order: ByteOrder, place: str) -> Partial:
    """Return the statistics of elements of 8 or 16 bits, from the number of each pattern."""
    size = ELEMENT_BYTES[dtype] or 1
    patterns = flat.view(f"u{size}")
    is_swapped = size > 1 and byte_order != sys.byteorder
    if size > 1 and patterns.size <= _FEW_PATTERNS:
        used, counts = np.unique(
            patterns.byteswap() if is_swapped else patterns, return_counts=True
        )
        order = np.argsort(values_of_patterns(dtype)[used], kind="stable")
        return _of_counted(used[order], counts[order], dtype, place)
    blocks = (patterns[start : start + BLOCK] for start in range(0, patterns.size, BLOCK))
    of_blocks = (
        np.bincount(block.byteswap() if is_swapped else block, minlength=1 << (8 * size))
        for block in blocks
    )
    all_counts = reduce(iadd, of_blocks)
    order = _by_value(dtype)
    used = order.compress((all_counts != 0).take(order))
    return _of_counted(used, all_counts[used], dtype, place)


def _of_counted(used: Array, counts: Array, dtype: str, place: str) -> Partial:
    """Return the statistics of elements whose patterns in use are counted, by ascending values."""
    if dtype == "bool" and used[-1] > 1:
        raise FormatError(f"{place}: has a byte of {used[-1]}, expected 0 or 1 for bool")
    values, total = values_of_patterns(dtype)[used], int(counts.sum())
    is_finite = np.isfinite(values)
    nan = int(counts[np.isnan(values)].sum())
    keys, sums = summed(values[is_finite], counts[is_finite])
    kind = int if is_whole(dtype) else float
    is_zero = keys == 0
    return Partial(
        total,
        int(sums[is_zero].sum()),
        nan,
        total - nan - int(sums.sum()),
        kind(keys[0]) if keys.size else None,
        kind(keys[-1]) if keys.size else None,
        moments_of_counted(keys, sums),
        FineBins(VALUES, 0, keys[~is_zero], sums[~is_zero]),
    )


@cache
def _by_value(dtype: str) -> Array:
    """Return the patterns of a dtype of 8 or 16 bits by ascending values, NaN last."""
    return np.argsort(values_of_patterns(dtype), kind="stable")


@cache
def values_of_patterns(dtype: str) -> Array:
    """Return the value of each pattern of a dtype of 8 or 16 bits, as float64."""
    size = ELEMENT_BYTES[dtype] or 1
    patterns = np.arange(1 << (8 * size), dtype=f"u{size}")
    if dtype == "bool":
        return patterns.astype(np.float64)
    with np.errstate(invalid="ignore"):
        is_small = dtype in OF_ML_DTYPES
        numbers = numbers_of_patterns(dtype) if is_small else of_bytes(patterns, dtype)
        values: Array = numbers.astype(np.float64)
    return values

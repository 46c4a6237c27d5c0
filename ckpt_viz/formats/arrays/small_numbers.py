"""Numbers for which NumPy has no dtype: bfloat16, float8, and integers of 4 and 2 bits.

A table has the number of each bit pattern, exactly, because float32 has all of them. What counts,
measures and compares such numbers needs the table alone. ml_dtypes only gives arrays its dtypes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

_NO_PATTERN = 256
_NAN = 0x7FC00000  # NumPy's NaN as float32


class _Float(NamedTuple):
    """The parts of a pattern of at most 8 bits: sign, exponent, mantissa.

    All patterns between `infinity` and the sign are NaN. Without infinity, `nan` is the only one,
    and only if it is not the pattern of -0 it may have a sign.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    nan: int
    infinity: int = _NO_PATTERN


_FLOATS = {
    "float8_e5m2": _Float(5, 2, 15, 0x7E, 0x7C),
    "float8_e4m3fn": _Float(4, 3, 7, 0x7F),
    "float8_e4m3fnuz": _Float(4, 3, 8, 0x80),
    "float8_e4m3b11fnuz": _Float(4, 3, 11, 0x80),
    "float8_e5m2fnuz": _Float(5, 2, 16, 0x80),
    "float4_e2m1fn": _Float(2, 1, 1, _NO_PATTERN),
}
_INTEGERS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}


@cache
def numbers_of_patterns(dtype: str) -> Numbers:
    """Return the number of each pattern, as float32, int8 or uint8.

    Patterns that are different floats, or different NaNs, have different bits here, too.
    """
    if dtype == "bfloat16":  # the upper half of a float32
        numbers: Numbers = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    elif dtype in _INTEGERS:
        unused = 8 - _INTEGERS[dtype]
        shifted = np.arange(256, dtype=np.uint8) << unused
        numbers = shifted.view(np.uint8 if dtype.startswith("u") else np.int8) >> unused
    else:
        numbers = _floats(_FLOATS[dtype])
    numbers.flags.writeable = False
    return numbers


def _floats(kind: _Float) -> Numbers:
    patterns = np.arange(256, dtype=np.int32)
    sign = 1 << (kind.exponent_bits + kind.mantissa_bits)
    size, unit = patterns & (sign - 1), 1 << kind.mantissa_bits
    exponent, mantissa = size // unit, size % unit
    digits = mantissa + np.where(exponent > 0, unit, 0)
    numbers: Numbers = np.ldexp(
        digits.astype(np.float32), np.maximum(exponent, 1) - kind.bias - kind.mantissa_bits
    )
    numbers[size == kind.infinity] = np.inf
    numbers[patterns >= sign] *= -1
    is_nan = (size > kind.infinity) | ((patterns if kind.nan == sign else size) == kind.nan)
    numbers.view(np.int32)[is_nan] = _NAN | (patterns ^ kind.nan)[is_nan]
    return numbers


def patterns_of_numbers(numbers: Numbers, dtype: str) -> Numbers:
    """Return the patterns of some numbers, flat, as uint8 or uint16.

    Raises ValueError for numbers that no pattern has.
    """
    table = numbers_of_patterns(dtype)
    bits = table.view(f"u{table.itemsize}")
    wanted = np.ascontiguousarray(numbers, table.dtype).reshape(-1).view(bits.dtype)
    used, first = np.unique(bits, return_index=True)
    places = np.searchsorted(used, wanted).clip(max=len(used) - 1)
    if (used[places] != wanted).any():
        raise ValueError(f"found a number that {dtype} has not")
    patterns: Numbers = first[places].astype(np.uint8 if len(table) == 256 else np.uint16)
    return patterns


def rounded(numbers: Numbers, dtype: str) -> Numbers:
    """Return floats rounded to the nearest ones of a dtype, ties to the even pattern.

    Too large ones become infinite, or NaN if the dtype has no infinity.
    """
    table = numbers_of_patterns(dtype)
    positive = table[: int(np.argmax(np.signbit(table) | ~np.isfinite(table)))].astype(np.float64)
    has_infinity = bool(np.isinf(table).any())
    # One number more decides from where on numbers are too large.
    edges = np.append(positive, 2 * positive[-1] - positive[-2])
    sizes = np.abs(np.asarray(numbers, np.float64))
    above = np.searchsorted(edges, sizes).clip(1, len(edges) - 1)
    up, down = edges[above] - sizes, sizes - edges[above - 1]
    nearest = above - ((down < up) | ((down == up) & (above % 2 == 1)))
    values = np.append(positive, np.inf if has_infinity else np.nan).astype(np.float32)
    new: Numbers = np.copysign(values[nearest], numbers).astype(np.float32)
    new[np.isnan(numbers) | np.isnan(new)] = np.nan
    has_minus_zero = bool((np.signbit(table) & (table == 0)).any())
    return new if has_minus_zero else new + np.float32(0)

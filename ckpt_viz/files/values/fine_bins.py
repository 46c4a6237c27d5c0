"""Counts of numbers in fine bins, which join exactly, however a tensor was cut into pieces.

A fine bin is the first bits of a float's pattern: sign, exponent, and some bits of the mantissa. So
the range need not be known in advance. The first 16 bits give the coarse bins. Each coarse bin has
2**k fine bins. If the numbers use few coarse bins, k is larger, and the bins of a narrow range are
finer. Because k depends on the coarse bins alone, pieces agree on it when they join.

A fine bin holds the numbers from its lower edge on, without its upper edge. For negative numbers
this is that of the pattern minus one. Zeros, infinities and NaNs are in no bin.

Of few numbers, the numbers themselves take the place of bins, until they join others.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from ckpt_viz.formats.arrays.tensors import Array

BLOCK = 1 << 17  # elements; the arrays for a block's arithmetic fit into a cache of 2 MB
COARSE_BITS = 16
VALUES = 0  # the `width` of counts of single values
_COARSE = 1 << COARSE_BITS
_FEW = 1 << 14  # elements from which on a table of all coarse bins is faster than sorting
# The most fine bins in use, unless there are more coarse ones. A float64 has 4 bits of its mantissa
# in the coarse bin, a float32 has 7.
_MOST_FINE = {32: 1 << 12, 64: 1 << 14}
_INFINITY = {32: 0x7F80, 64: 0x7FF0}  # the coarse bin of infinity
_FIRST = {32: 1, 64: 3} if sys.byteorder == "little" else {32: 0, 64: 0}


class FineBins(NamedTuple):
    """How many numbers are in each fine bin that is in use, in the order of the `keys`.

    `width` is that of the floats in bits, and `extra` the bits of a key after the first 16. For
    dtypes of at most 16 bits the width is 0 (`VALUES`), and the keys are the values as float64.
    """

    width: int
    extra: int
    keys: Array
    counts: Array


class SortedNumbers(NamedTuple):
    """A few finite numbers without zeros, as float32 or float64 of this `width`, ascending."""

    width: int
    numbers: Array

    @property
    def extra(self) -> int:
        """The `extra` of the fine bins of these numbers."""
        keys = _patterns(self.numbers, self.width) >> (self.width - COARSE_BITS)
        used = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
        return _extra_bits(used if keys.size else 0, self.width)


Bins = FineBins | SortedNumbers


def no_bins(width: int) -> FineBins:
    """Return the bins of no numbers."""
    extra = 0 if width == VALUES else width - COARSE_BITS
    keys = np.empty(0, np.float64 if width == VALUES else np.uint64)
    return FineBins(width, extra, keys, np.empty(0, np.int64))


def fine_bins(floats: Array) -> Bins:
    """Return the bins of float32 or float64 numbers, in native byte order and of any size."""
    width = floats.dtype.itemsize * 8
    if floats.size <= _FEW:
        return SortedNumbers(width, np.sort(floats[np.isfinite(floats) & (floats != 0)]))
    coarse = _coarse_counts(floats, width)
    used = np.flatnonzero(coarse != 0)  # NumPy looks faster for true marks than for numbers
    if not used.size:
        return no_bins(width)
    extra = _extra_bits(used.size, width)
    if not extra:
        return FineBins(width, 0, used.astype(np.uint64), coarse[used])
    return _split(floats, width, used, extra)


def joined_bins(bins: Bins, other: Bins) -> FineBins:
    """Return the bins of the numbers of both."""
    a, b = binned(bins), binned(other)
    extra = min(a.extra, b.extra)
    a, b = _coarsened(a, extra), _coarsened(b, extra)
    keys = np.concatenate((a.keys, b.keys))
    order = np.argsort(keys, kind="stable")
    keys, counts = summed(keys[order], np.concatenate((a.counts, b.counts))[order])
    all_bins = FineBins(a.width, extra, keys, counts)
    if a.width == VALUES or not keys.size:
        return all_bins
    coarse = keys >> np.uint64(extra)
    used = 1 + int(np.count_nonzero(coarse[1:] != coarse[:-1]))
    return _coarsened(all_bins, min(extra, _extra_bits(used, a.width)))


def binned(bins: Bins) -> FineBins:
    """Return fine bins, also of few numbers."""
    if isinstance(bins, FineBins):
        return bins
    width, numbers = bins
    if not numbers.size:
        return no_bins(width)
    keys = np.sort(_keys(numbers, width))
    extra = bins.extra
    fine, counts = summed(
        keys >> np.uint64(width - COARSE_BITS - extra), np.ones(keys.size, np.int64)
    )
    return FineBins(width, extra, fine, counts)


def bounds(bins: FineBins) -> tuple[Array, Array]:
    """Return the lower and the upper edge of each bin, as float64; both are the value for values.

    The outermost bins of float64 end at its largest numbers.
    """
    if bins.width == VALUES:
        return bins.keys, bins.keys
    return _bounds(bins.keys, bins.width, bins.extra)


def floor_to_bins(numbers: Array, width: int, extra: int) -> tuple[Array, Array]:
    """Return lower and upper edge of the bin of each float64 number, also where it is not in use.

    Numbers beyond the range of float32 remain as they are, because no bin of float32 is there.
    """
    if width == VALUES:
        return numbers, numbers
    if width == 64:
        return _bounds(_keys(numbers, 64) >> np.uint64(48 - extra), 64, extra)
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    narrow = np.where(narrow > numbers, np.nextafter(narrow, np.float32(-np.inf)), narrow)
    low, high = _bounds(_keys(narrow, 32) >> np.uint64(16 - extra), 32, extra)
    is_beyond = np.abs(numbers) >= 2.0**128
    return np.where(is_beyond, numbers, low), np.where(is_beyond, numbers, high)


def _extra_bits(used: int, width: int) -> int:
    """Return how many more bits keys have if so many coarse bins are in use."""
    most = width - COARSE_BITS
    return min(most, max(0, (_MOST_FINE[width] // used).bit_length() - 1)) if used else most


def _keys(floats: Array, width: int) -> Array:
    """Return the patterns of floats as uint64, those of negative ones minus one; zeros are 0."""
    return _patterns(floats + 0.0, width).astype(np.uint64)


def _patterns(floats: Array, width: int) -> Array:
    """Return the patterns of floats without -0.0, those of negative ones minus one."""
    patterns = floats.view(f"u{width // 8}")
    keys: Array = patterns - (patterns >> (width - 1))
    return keys


def _coarse_counts(floats: Array, width: int) -> Array:
    """Return the number of elements of all 65,536 coarse bins."""
    totals = np.zeros(_COARSE, np.int64)
    scratch = np.empty(min(BLOCK, floats.size), f"u{width // 8}")
    patterns = floats.view(scratch.dtype)
    sign = np.array(width - 1, scratch.dtype)
    zeros = negative_infinities = 0
    first, step, infinity = _FIRST[width], width // 16, _INFINITY[width]
    for start in range(0, floats.size, BLOCK):
        block = patterns[start : start + BLOCK]
        keys = scratch[: block.size]
        np.right_shift(block, sign, out=keys)
        np.subtract(block, keys, out=keys)
        counts = _counted(keys.view(np.uint16)[first::step])
        totals += counts
        if counts[0]:
            zeros += block.size - int(np.count_nonzero(block))
        if counts[_COARSE // 2 + infinity - 1]:
            negative_infinities += int(np.count_nonzero(floats[start : start + BLOCK] == -np.inf))
    totals[0] -= zeros
    totals[_COARSE // 2 + infinity - 1] -= negative_infinities
    totals[infinity : _COARSE // 2] = 0  # infinity, NaNs, and -0.0, whose key is below zero
    totals[_COARSE // 2 + infinity :] = 0
    return totals


def _counted(keys: Array) -> Array:
    """Return how often each coarse key occurs."""
    # Equal keys in a row, as of zeros, are slow to count: each addition waits for the one before.
    middle = keys[keys.size // 2]
    if keys[0] == middle == keys[-1] and bool((keys == middle).all()):
        counts = np.zeros(_COARSE, np.int64)
        counts[middle] = keys.size
        return counts
    return np.bincount(keys, minlength=_COARSE)


def _split(floats: Array, width: int, used: Array, extra: int) -> FineBins:
    """Return the fine bins of numbers whose coarse bins in use are known."""
    table = np.zeros(_COARSE, np.intp)  # 0 for what is in no bin
    table[used] = np.arange(1, used.size + 1) << extra
    counts = np.zeros((used.size + 1) << extra, np.int64)
    shift = np.array(width - COARSE_BITS - extra, f"u{width // 8}")
    mask = np.array((1 << extra) - 1, shift.dtype)
    sign = np.array(width - 1, shift.dtype)
    patterns = floats.view(shift.dtype)
    first, step = _FIRST[width], width // 16
    for start in range(0, floats.size, BLOCK):
        block = patterns[start : start + BLOCK]
        keys = block - (block >> sign)
        places = table[keys.view(np.uint16)[first::step]]
        keys >>= shift
        keys &= mask
        places += keys.astype(np.intp)
        counts += np.bincount(places, minlength=counts.size)
    _remove_specials(counts, floats, used, extra, _INFINITY[width])
    counts = counts[1 << extra :]
    kept = np.flatnonzero(counts != 0)
    keys = (used.astype(np.uint64)[kept >> extra] << np.uint64(extra)) | (
        kept & ((1 << extra) - 1)
    ).astype(np.uint64)
    return FineBins(width, extra, keys, counts[kept])


def _remove_specials(counts: Array, floats: Array, used: Array, extra: int, infinity: int) -> None:
    """Subtract +0.0 and minus infinity, whose patterns are in bins of finite numbers."""
    blocks = [floats[start : start + BLOCK] for start in range(0, floats.size, BLOCK)]
    if used[0] == 0:
        counts[1 << extra] -= sum(
            int(np.count_nonzero((block == 0) & ~np.signbit(block))) for block in blocks
        )
    place = int(np.searchsorted(used, _COARSE // 2 + infinity - 1))
    if place < used.size and used[place] == _COARSE // 2 + infinity - 1:
        last = ((place + 2) << extra) - 1
        counts[last] -= sum(int(np.count_nonzero(block == -np.inf)) for block in blocks)


def _coarsened(bins: FineBins, extra: int) -> FineBins:
    if extra == bins.extra or not bins.keys.size:
        return bins._replace(extra=extra)
    keys, counts = summed(bins.keys >> np.uint64(bins.extra - extra), bins.counts)
    return FineBins(bins.width, extra, keys, counts)


def summed(keys: Array, counts: Array) -> tuple[Array, Array]:
    """Return each of the sorted keys once, with the sum of its counts."""
    if not keys.size:
        return keys, counts
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.add.reduceat(counts, starts)


def _bounds(keys: Array, width: int, extra: int) -> tuple[Array, Array]:
    shift = np.uint64(width - COARSE_BITS - extra)
    negative = np.uint64(1 << (COARSE_BITS + extra - 1))
    is_negative = keys >= negative
    magnitudes = keys & (negative - np.uint64(1))
    nearer = _magnitudes(magnitudes << shift, width)
    farther = _magnitudes((magnitudes + np.uint64(1)) << shift, width)
    return np.where(is_negative, -farther, nearer), np.where(is_negative, -nearer, farther) + 0.0


def _magnitudes(patterns: Array, width: int) -> Array:
    """Return the float64 of patterns without a sign; for infinity the number that it would be."""
    if width == 64:
        numbers = patterns.view(np.float64)
        return np.where(np.isinf(numbers), np.finfo(np.float64).max, numbers)
    narrow = patterns.astype(np.uint32).view(np.float32).astype(np.float64)
    return np.where(np.isinf(narrow), 2.0**128, narrow)

"""A histogram of 64 bins with exact counts, from the fine bins of a tensor.

The rule: take the quantiles 0.1 % and 99.9 % of the finite elements that are not zero. Extend the
range between them by half of it on both sides, but not beyond the extremes. If at least 0.1 % of
the elements are zero, the range includes 0. `below` and `above` count the elements outside of the
edges.

Bins are equally wide, by a power of two or 1.5 times one, and their edges are multiples of the
width. These are edges of fine bins, so that each fine bin is in one of the 64. For integers, the
edges are integers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ckpt_viz.files.values.fine_bins import VALUES, Bins, SortedNumbers, bounds, floor_to_bins
from ckpt_viz.files.values.row import Histogram
from ckpt_viz.formats.arrays.tensors import Array

BINS = 64
_OUTLIERS = 1000  # one of so many elements, on each side


def histogram_of(bins: Bins, zeros: int, low: float, high: float, *, is_whole: bool) -> Histogram:
    """Return the histogram of finite elements; `low` and `high` are their extremes."""
    ranked = _ranked(bins)
    first, last = _range(ranked, zeros, low, high)
    edges = _edges(first, last, ranked, is_whole=is_whole)
    below = ranked.below(edges) + np.where(edges > 0, zeros, 0)
    counts, above = np.diff(below), ranked.total + zeros - int(below[-1])
    if edges[-1] == sys.float_info.max:
        counts[-1], above = counts[-1] + above, 0
    return Histogram.of(counts.tolist(), edges.tolist(), int(below[0]), above)


class _Ranked(NamedTuple):
    """Bins in ascending order of their lower edges `lows`, or numbers themselves.

    `until` has how many numbers there are up to each bin, and is None for numbers.
    """

    width: int
    extra: int
    lows: Array
    highs: Array | None
    until: Array | None

    @property
    def total(self) -> int:
        """How many numbers there are."""
        return self.lows.size if self.until is None else int(self.until[-1])

    def between(self, rank: int, other: int) -> tuple[float, float]:
        """Return the lower edge of the bin with the number of a rank, the upper one of another."""
        if self.until is None or self.highs is None:
            lows, highs = floor_to_bins(self.lows[[rank, other]], self.width, self.extra)
            return float(lows[0]), float(highs[1])
        first, last = np.searchsorted(self.until, [rank, other], side="right")
        return float(self.lows[first]), float(self.highs[last])

    def below(self, edges: Array) -> Array:
        """Return how many numbers are below each edge."""
        places = np.searchsorted(self.lows, edges)
        return places if self.until is None else np.append(0, self.until)[places]


def _ranked(bins: Bins) -> _Ranked:
    if isinstance(bins, SortedNumbers):
        return _Ranked(bins.width, bins.extra, bins.numbers.astype(np.float64), None, None)
    lows, highs = bounds(bins)
    order = np.argsort(lows, kind="stable")
    until = np.cumsum(bins.counts[order]) if order.size else None
    return _Ranked(bins.width, bins.extra, lows[order], highs[order], until)


def _range(ranked: _Ranked, zeros: int, low: float, high: float) -> tuple[float, float]:
    """Return the range of the elements that are no outliers."""
    total = ranked.total
    if not total:
        return 0.0, 0.0
    most = total // _OUTLIERS
    first, last = ranked.between(most, total - most - 1)
    half = last / 2 - first / 2  # half of the range, which itself may be too large for a float
    first, last = max(low, first - half), min(high, last + half)
    if zeros * _OUTLIERS >= zeros + total:
        first, last = min(first, 0.0), max(last, 0.0)
    return first, last


def _edges(first: float, last: float, bins: _Ranked, *, is_whole: bool) -> Array:
    """Return 65 edges around a range, each an edge of a fine bin."""
    if first == last:
        first, last = _around(first, is_whole=is_whole)
    for width in _widths(last / BINS - first / BINS, is_whole=is_whole):
        begin, end = math.floor(first / width), math.floor(last / width) + 1
        if end - begin > BINS:
            continue
        edges = _multiples(_begin(begin, end, width, first, last), width)
        snapped, above = floor_to_bins(edges, bins.width, bins.extra)
        if snapped[-1] != edges[-1]:
            snapped[-1] = above[-1]
        if bins.width == VALUES or bool((snapped[1:] > snapped[:-1]).all()):
            return snapped
    raise AssertionError(f"no 64 bins from {first} to {last}")


def _around(value: float, *, is_whole: bool) -> tuple[float, float]:
    """Return a range for elements that are all equal."""
    if value == 0:
        return (0.0, 1.0) if is_whole else (-1.0, 1.0)
    half = max(abs(value) / 2, math.ulp(0.0))
    return max(value - half, -sys.float_info.max), min(value + half, sys.float_info.max)


def _begin(begin: int, end: int, width: float, first: float, last: float) -> int:
    """Return where 64 bins begin, so that those in use are in the middle.

    Ranges without negative numbers get no bins for them, nor the reverse.
    """
    begin -= (BINS - (end - begin)) // 2
    if first >= 0:
        begin = max(begin, 0)
    elif last < 0:
        begin = min(begin, -BINS)
    if width < 2.0**900:
        return begin
    most = -(-(1 << 1024) // int(width))  # multiples that a float64 holds, but for the last
    return max(-most, min(begin, most - BINS))


def _multiples(begin: int, width: float) -> Array:
    most = sys.float_info.max
    with np.errstate(over="ignore"):
        edges: Array = np.clip((begin + np.arange(BINS + 1)) * width, -most, most)
    return edges + 0.0  # no -0.0


def _widths(least: float, *, is_whole: bool) -> Iterator[float]:
    """Yield widths from about `least` on: powers of two, and 1.5 times those."""
    smallest = 0 if is_whole else -1074
    exponent = max(math.frexp(least)[1] - 1, smallest) if least else smallest
    while exponent < 1024:
        power = math.ldexp(1.0, exponent)
        yield power
        if exponent > smallest:
            yield 1.5 * power
        exponent += 1

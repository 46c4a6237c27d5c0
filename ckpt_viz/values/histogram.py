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

import numpy as np

from ckpt_viz.formats.tensors import Array
from ckpt_viz.values.fine_bins import VALUES, FineBins, bounds, floor_to_bins
from ckpt_viz.values.row import Histogram

BINS = 64
_OUTLIERS = 1000  # one of so many elements, on each side


def histogram_of(
    bins: FineBins, zeros: int, low: float, high: float, *, is_whole: bool
) -> Histogram:
    """Return the histogram of finite elements; `low` and `high` are their extremes."""
    lows, highs = bounds(bins)
    order = np.argsort(lows, kind="stable")
    lows, highs, counts = lows[order], highs[order], bins.counts[order]
    first, last = _range(lows, highs, counts, zeros, low, high)
    edges = _edges(first, last, bins, is_whole=is_whole)
    lows, counts = np.append(lows, 0.0), np.append(counts, zeros)
    places = np.searchsorted(edges, lows, side="right")
    if edges[-1] == sys.float_info.max:
        places = np.minimum(places, BINS)
    found = np.zeros(BINS + 2, np.int64)
    np.add.at(found, places, counts)
    return Histogram(
        tuple(found[1:-1].tolist()), tuple(edges.tolist()), int(found[0]), int(found[-1])
    )


def _range(
    lows: Array, highs: Array, counts: Array, zeros: int, low: float, high: float
) -> tuple[float, float]:
    """Return the range of the elements that are no outliers."""
    if not counts.size:
        return 0.0, 0.0
    until, total = np.cumsum(counts), int(counts.sum())
    most = total // _OUTLIERS
    first = float(lows[np.searchsorted(until, most, side="right")])
    last = float(highs[np.searchsorted(until, total - most, side="left")])
    half = last / 2 - first / 2  # half of the range, which itself may be too large for a float
    first, last = max(low, first - half), min(high, last + half)
    if zeros * _OUTLIERS >= zeros + total:
        first, last = min(first, 0.0), max(last, 0.0)
    return first, last


def _edges(first: float, last: float, bins: FineBins, *, is_whole: bool) -> Array:
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

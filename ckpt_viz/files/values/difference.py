"""The difference of two tensors of one dtype and shape, from pieces that join."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from ckpt_viz.files.values.fine_bins import BLOCK
from ckpt_viz.files.values.moments import Moments, joined_moments, l2_of, moments_of
from ckpt_viz.files.values.partial import values_of_patterns
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, ByteOrder
from ckpt_viz.formats.arrays.tensors import Array, numpy_dtype, swapped

MOST_UNITS = 1 << 16
"""The largest size of a last axis for which `difference_of` reports each unit."""


class Units(NamedTuple):
    """By index of the last axis, whether any element changed, and whether any has a bit set.

    Of several times, `nonzero` is that of the last.
    """

    changed: Array
    nonzero: Array


class Difference(NamedTuple):
    """How elements differ from what they were.

    `changed` counts the elements of other bits, and `left_out` those of them that are not
    finite on both sides. `moments` are those of the differences of elements
    that are finite on both sides. `largest` is the greatest magnitude among them, at flat index
    `at`; `at` is -1 without any. `units` is None for a tensor of less than two dimensions.
    """

    elements: int = 0
    changed: int = 0
    moments: Moments = Moments()
    largest: float = 0.0
    at: int = -1
    left_out: int = 0
    units: Units | None = None

    @property
    def l2(self) -> float:
        """The Euclidean norm of the differences."""
        return l2_of(self.moments)

    def share_of(self, norm: float) -> float:
        """Return the norm as a fraction of another one; infinity if only NaN or infinities changed.

        A change to NaN, or back, has no size: 0 would say that nothing has changed.
        """
        return math.inf if self.left_out and not self.l2 else relative(self.l2, norm)


def difference_of(
    was: bytes,
    now: bytes,
    dtype: str,
    byte_orders: tuple[ByteOrder, ByteOrder],
    *,
    first: int = 0,
    units: int = 0,
) -> Difference:
    """Return how stored bytes of whole elements differ from what they were.

    `first` is the flat index of the first element. `units` is the size of the last axis if the
    bytes are whole rows of it, else 0. Complex numbers differ by their magnitude. Not for strings.
    """
    size = ELEMENT_BYTES[dtype] or 1
    patterns = [
        native_patterns(data, dtype, order)
        for data, order in zip((was, now), byte_orders, strict=True)
    ]
    difference = Difference()
    step = BLOCK if not units else max(1, BLOCK // units) * units
    with np.errstate(all="ignore"):  # a file may have any patterns
        for start in range(0, len(now) // size, step):
            before, after = (pattern[start : start + step] for pattern in patterns)
            is_other = before != after
            if is_other.ndim > 1:
                is_other = is_other.any(axis=1)
            part = _of_block(before, after, is_other, dtype, first + start)
            part = part._replace(units=_units(is_other, after, units))
            difference = joined_difference(difference, part)
    return difference


def joined_difference(a: Difference, b: Difference) -> Difference:
    """Return the difference of the elements of both; `a` has the first of them."""
    if not a.elements:
        return b
    if not b.elements:
        return a
    larger = b if b.at >= 0 and (a.at < 0 or b.largest > a.largest) else a
    units = None
    if a.units is not None and b.units is not None:
        units = units_of_both(a.units, b.units)
    return Difference(
        a.elements + b.elements,
        a.changed + b.changed,
        joined_moments(a.moments, b.moments),
        larger.largest,
        larger.at,
        a.left_out + b.left_out,
        units,
    )


def units_of_both(a: Units, b: Units) -> Units:
    """Return what changed in either of two parts of a tensor."""
    return Units(a.changed | b.changed, a.nonzero | b.nonzero)


def joined_units(before: Units | None, now: Units | None) -> Units | None:
    """Return what changed at either of two times."""
    if before is None or now is None:
        return before or now
    return Units(before.changed | now.changed, now.nonzero)


def _of_block(before: Array, after: Array, is_other: Array, dtype: str, first: int) -> Difference:
    changed = int(np.count_nonzero(is_other))
    if not changed:
        return Difference(len(after), 0, Moments(len(after), 0, 0.0, 0.0))
    was, now = as_numbers(before, dtype), as_numbers(after, dtype)
    delta = now - was
    if delta.dtype.kind == "c":
        delta = np.abs(delta)
    sizes = np.abs(delta)
    place, left_out = int(np.argmax(sizes)), 0
    largest = float(sizes[place])
    if not math.isfinite(largest):  # NaN and infinity are the largest
        is_finite = np.isfinite(was) & np.isfinite(now)
        delta = np.clip(delta, -sys.float_info.max, sys.float_info.max)  # finite ones overflow, too
        sizes = np.where(is_finite, np.abs(delta), -1.0)
        place = int(np.argmax(sizes))
        largest = float(sizes[place])
        left_out = int(np.count_nonzero(is_other & ~is_finite))
        if largest < 0:
            return Difference(len(after), changed, left_out=left_out)
        delta = delta[is_finite]
    moments = moments_of(delta, largest)
    return Difference(len(after), changed, moments, largest, first + place, left_out)


def _units(is_other: Array, after: Array, units: int) -> Units | None:
    if not 1 < units <= MOST_UNITS:
        return None
    is_nonzero: Array = after != 0
    if is_nonzero.ndim > 1:
        is_nonzero = np.any(is_nonzero, axis=1)
    rows = is_other.reshape(-1, units), is_nonzero.reshape(-1, units)
    return Units(*(np.asarray(marks.any(axis=0)) for marks in rows))


def as_numbers(patterns: Array, dtype: str) -> Array:
    """Return the numbers of some patterns as float64, or as complex128."""
    size = ELEMENT_BYTES[dtype] or 1
    if size in (1, 2):
        return values_of_patterns(dtype)[patterns]
    numpy_type = numpy_dtype(dtype)
    assert numpy_type is not None
    flat = np.ascontiguousarray(patterns).view(numpy_type).reshape(-1)
    return flat.astype(np.complex128 if numpy_type.kind == "c" else np.float64)


def native_patterns(data: bytes, dtype: str, byte_order: ByteOrder) -> Array:
    """Return the patterns of stored elements; of 16 bytes, the two halves of each."""
    flat = np.frombuffer(data, np.uint8)
    size = ELEMENT_BYTES[dtype] or 1
    if byte_order != sys.byteorder:
        flat = swapped(flat, dtype)
    return flat.view(f"u{size}") if size <= 8 else flat.view(np.uint64).reshape(-1, size // 8)


def index_at(place: int, shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the index of the element at a flat place; None for no place, -1."""
    if place < 0 or shape is None:
        return None
    return tuple(map(int, np.unravel_index(place, shape)))


def relative(difference: float, norm: float) -> float:
    """Return a difference as a fraction of a norm; infinity if there was nothing before.

    >>> relative(1.0, 4.0), relative(0.0, 0.0), relative(1.0, 0.0)
    (0.25, 0.0, inf)
    """
    if difference == 0:
        return 0.0
    return difference / norm if norm else math.inf

"""Differences and spreads of tensors, however they were cut; NumPy is the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.files.values.difference import Difference, difference_of, joined_difference
from ckpt_viz.files.values.spread import Spread, spread_of
from ckpt_viz.formats.arrays.dtypes import ByteOrder
from ckpt_viz.formats.arrays.tensors import Array, numpy_dtype
from tests.support.dtypes import NUMBERS

LITTLE: tuple[ByteOrder, ByteOrder] = ("little", "little")


def any_array(rng: np.random.Generator, dtype: str, count: int) -> Array:
    """Return numbers of any pattern, NaN and infinities among them."""
    found = numpy_dtype(dtype)
    assert found is not None
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    array: Array = np.frombuffer(rng.bytes(count * found.itemsize), found).copy()
    return array


def as_float(array: Array) -> Array:
    with np.errstate(all="ignore"):
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


@pytest.mark.parametrize("dtype", NUMBERS)
@given(st.integers(0, 2**32), st.integers(0, 60), st.data())
def test_difference_of_every_dtype(dtype: str, seed: int, count: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    was, now = any_array(rng, dtype, count), any_array(rng, dtype, count)
    same = rng.random(count) < 0.5
    now[same] = was[same]
    cuts = sorted(data.draw(st.lists(st.integers(0, count), max_size=4)))
    found = Difference()
    for start, end in zip([0, *cuts], [*cuts, count], strict=True):
        parts = was[start:end].tobytes(), now[start:end].tobytes()
        found = joined_difference(found, difference_of(*parts, dtype, LITTLE, first=start))
    size = was.itemsize
    bits = [np.frombuffer(one.tobytes(), f"V{size}") for one in (was, now)]
    assert found.changed == int((bits[0] != bits[1]).sum())
    a, b = as_float(was), as_float(now)
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(all="ignore"):
        delta = np.abs(b - a)
    delta = np.minimum(delta, np.finfo(float).max)
    scale = float(delta[finite].max(initial=0.0))
    expected = scale * math.sqrt(float(((delta[finite] / scale) ** 2).sum())) if scale else 0.0
    assert found.l2 == pytest.approx(expected, rel=1e-9)
    if finite.any() and found.changed:
        assert found.largest == pytest.approx(scale)
        assert delta[found.at] == scale and finite[found.at]


def test_bytes_of_other_orders_are_compared_as_numbers() -> None:
    array = np.array([1.5, -2.0, 7.0], np.float32)
    big = array.astype(">f4").tobytes()
    assert difference_of(array.tobytes(), big, "float32", ("little", "big")).changed == 0


def test_units_of_the_last_axis_tell_which_of_them_changed() -> None:
    was = np.arange(12, dtype=np.float32).reshape(4, 3)
    now = was.copy()
    now[2, 1] += 1
    now[:, 0] = 0
    found = difference_of(was.tobytes(), now.tobytes(), "float32", LITTLE, units=3)
    assert found.units is not None
    assert found.units.changed.tolist() == [True, True, False]
    assert found.units.nonzero.tolist() == [False, True, True]


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 50), st.integers(0, 50))
def test_spread_is_that_of_numpy_however_it_was_cut(
    seed: int, members: int, count: int, cut: int
) -> None:
    rng = np.random.default_rng(seed)
    arrays = rng.normal(size=(members, count)).astype(np.float32)
    cut = min(cut, count)
    found = Spread(np.zeros((members, members)), np.zeros(members), 0.0)
    for piece in (arrays[:, :cut], arrays[:, cut:]):
        given_bytes = [one.tobytes() for one in piece]
        found = found.joined(spread_of(given_bytes, "float32", ["little"] * members))
    wide = arrays.astype(np.float64)
    apart = wide[:, None] - wide[None]
    assert found.squares == pytest.approx((apart**2).sum(axis=2), abs=1e-9)
    mean = wide.mean(axis=0)
    assert found.to_mean == pytest.approx(((wide - mean) ** 2).sum(axis=1))
    assert found.mean == pytest.approx(float(mean @ mean))

"""Statistics of pieces equal NumPy's of the whole tensor, for every dtype and every cut."""

from __future__ import annotations

import bisect
import math
import sys
from functools import reduce
from itertools import pairwise
from typing import Any

import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckpt_viz.files.values.fine_bins import binned
from ckpt_viz.files.values.folds import filled
from ckpt_viz.files.values.partial import Partial, joined_partial, no_elements, partial_of
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES
from ckpt_viz.formats.arrays.tensors import numpy_dtype
from ckpt_viz.formats.storage.crc32c import combine
from tests.support.amounts import amount
from tests.support.dtypes import NUMBERS

INTEGERS = tuple(name for name in NUMBERS if "int" in name)
FLOATS = ("float32", "float64")
_MAX = sys.float_info.max


def measured(
    stored: bytes, dtype: str, cuts: tuple[int, ...] = (), order: Any = "little"
) -> Partial:
    size = ELEMENT_BYTES[dtype] or 1
    edges = [0, *sorted(cuts), len(stored) // size]
    pieces = [
        partial_of(stored[start * size : end * size], dtype, order, "a tensor")
        for start, end in pairwise(edges)
    ]
    return reduce(joined_partial, pieces, no_elements(dtype))


def row(found: Partial, dtype: str) -> ValueRow:
    return filled(ValueRow("k", "n", "n", 0, dtype, (found.count,), 0), found)


def same(a: Partial, b: Partial) -> bool:
    """Whether all but the moments are equal, bit by bit."""
    is_equal = (a.count, a.zeros, a.nan, a.inf, a.low, a.high) == (
        *(b.count, b.zeros, b.nan, b.inf, b.low, b.high),
    )
    bins, others = binned(a.bins), binned(b.bins)
    is_equal = is_equal and bins[:2] == others[:2]
    return is_equal and all(map(np.array_equal, bins[2:], others[2:]))


def elements(stored: bytes, dtype: str) -> list[Any]:
    """The elements as Python's numbers; complex ones by their magnitude."""
    found = numpy_dtype(dtype)
    assert found is not None
    array = np.frombuffer(stored, np.uint8).view(found)
    if found.kind == "c":
        with np.errstate(all="ignore"):
            magnitudes = np.abs(array.astype(np.complex128))
        magnitudes[np.isnan(array)] = np.nan
        return list(magnitudes.tolist())
    if dtype in INTEGERS:
        return [int(one) for one in array]
    with np.errstate(invalid="ignore"):
        return list(array.astype(np.float64).tolist())


def check_against_python(stored: bytes, dtype: str, cuts: tuple[int, ...]) -> None:
    whole, found = measured(stored, dtype), measured(stored, dtype, cuts)
    assert same(whole, found)
    values = elements(stored, dtype)
    finite = [one for one in values if math.isfinite(one)]
    said = row(found, dtype)
    assert said.count == len(values)
    assert said.nan == sum(one != one for one in values)
    assert said.inf == sum(one in (math.inf, -math.inf) for one in values)
    assert said.zeros == sum(one == 0 for one in values)
    if not finite:
        assert (said.min, said.max, said.mean, said.std, said.l2, said.histogram) == (None,) * 6
        return
    assert (said.min, said.max) == (min(finite), max(finite))
    check_moments(said, finite)
    check_histogram(said, finite)
    assert row(whole, dtype).histogram == said.histogram


def check_moments(said: ValueRow, finite: list[Any]) -> None:
    """By Python's exact sums, of numbers that a power of two keeps in range."""
    exponent = math.frexp(max(map(abs, finite)))[1]
    scaled = [math.ldexp(one, -exponent) for one in finite]
    mean = math.fsum(scaled) / len(scaled)
    std = math.sqrt(math.fsum((one - mean) ** 2 for one in scaled) / len(scaled))
    l2 = math.sqrt(math.fsum(one * one for one in scaled))
    assert said.mean is not None and said.std is not None and said.l2 is not None
    ulp = math.ulp(0.0)
    near = max(map(abs, scaled)) * 1e-13 + math.ldexp(ulp, -exponent)
    assert math.ldexp(said.mean, -exponent) == pytest.approx(mean, rel=1e-12, abs=near)
    assert math.ldexp(said.std, -exponent) == pytest.approx(std, rel=1e-10, abs=near)
    if math.isinf(said.l2):
        assert l2 >= 2.0 ** (1024 - exponent) * (1 - 1e-12)
    else:
        assert said.l2 == pytest.approx(math.ldexp(l2, exponent), rel=1e-12, abs=ulp)


def check_histogram(said: ValueRow, finite: list[Any]) -> None:
    found = said.histogram
    assert found is not None
    assert len(found.counts) == 64 and len(found.edges) == 65
    assert all(map(math.isfinite, found.edges))
    assert all(a < b for a, b in pairwise(found.edges))
    counts = [0] * 66
    for one in finite:  # Python compares integers with floats exactly
        place = bisect.bisect_right(found.edges, one)
        counts[min(place, 64) if found.edges[-1] == _MAX else place] += 1
    assert (found.below, *found.counts, found.above) == tuple(counts)


class Stored:
    """The bytes of a tensor and where to cut them; its `repr` is short."""

    def __init__(self, dtype: str, data: bytes, cuts: list[int]) -> None:
        self.dtype, self.data, self.cuts = dtype, data, tuple(cuts)

    def __repr__(self) -> str:
        return f"{self.dtype} {self.data[:40]!r}… {self.cuts}"


@st.composite
def stored_tensors(draw: st.DrawFn) -> Stored:
    """Any patterns; or numbers around a value with zeros, NaNs, infinities, limits, denormals."""
    dtype = draw(st.sampled_from(NUMBERS))
    count = draw(st.one_of(st.integers(0, 40), st.sampled_from([5000, 140_000])))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    size, found = ELEMENT_BYTES[dtype], numpy_dtype(dtype)
    assert size and found is not None
    count = min(count, 5000) if dtype not in FLOATS else count
    if dtype == "bool":
        stored = rng.integers(0, 2, count, np.uint8).tobytes()
    elif dtype in FLOATS and draw(st.booleans()):
        scale = 10.0 ** draw(st.integers(-44, 37))
        mean = draw(st.sampled_from([0.0, 1.0, 50.0]))
        array = ((rng.standard_normal(count) + mean) * scale).astype(found)
        limits = np.finfo(dtype)
        special = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, -0.5, -2, 1]
        special += [float(one) for one in (limits.max, limits.min, limits.tiny)]
        special += [-5e-324 if dtype == "float64" else -1e-45]
        few = np.array(draw(st.lists(st.sampled_from(special), min_size=1)), found)
        is_special = rng.random(count) < draw(st.sampled_from([0.0, 0.0005, 0.1, 1.0]))
        array[is_special] = rng.choice(few, int(is_special.sum()))
        stored = array.tobytes()
    elif size >= 4 and found.kind in "iu" and draw(st.booleans()):
        ends = np.iinfo(found)
        array = rng.integers(max(-300, int(ends.min)), 1000, count).astype(found)
        array[rng.random(count) < 0.1] = draw(st.sampled_from([ends.min, ends.max, 0]))
        stored = array.tobytes()
    else:
        stored = rng.bytes(count * size)
    return Stored(dtype, stored, draw(st.lists(st.integers(0, count), max_size=5)))


@given(stored_tensors())
@settings(max_examples=amount(250, 10_000), deadline=None)
def test_statistics_of_any_pieces_are_those_of_the_whole_tensor(tensor: Stored) -> None:
    check_against_python(tensor.data, tensor.dtype, tensor.cuts)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_dtype_has_statistics(dtype: str) -> None:
    rng = np.random.default_rng(7)
    size = ELEMENT_BYTES[dtype] or 1
    stored = rng.integers(0, 2, 3000 * size, np.uint8).tobytes()
    check_against_python(stored, dtype, (1, 1000))
    if dtype != "bool":
        check_against_python(rng.bytes(3000 * size), dtype, (0, 2999))


@pytest.mark.parametrize("dtype", [one for one in NUMBERS if (ELEMENT_BYTES[one] or 1) > 1])
def test_big_endian_bytes_have_the_same_statistics(dtype: str) -> None:
    size = ELEMENT_BYTES[dtype] or 1
    size = size // 2 if dtype.startswith("complex") else size
    stored = np.random.default_rng(3).bytes(160 * 16)
    swapped = np.frombuffer(stored, f"u{size}").byteswap().tobytes()
    mine, other = measured(stored, dtype), measured(swapped, dtype, (5,), "big")
    assert same(mine, other)


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_tensors_have_the_bins_of_small_ones_together(dtype: str) -> None:
    """Tensors of over 4096 elements are counted by tables, smaller ones by sorting."""
    rng = np.random.default_rng(5)
    array = np.concatenate(
        [rng.standard_normal(9000), [0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40] * 50]
    ).astype(dtype)
    array[:100] = -np.finfo(dtype).max
    stored = array.tobytes()
    assert same(measured(stored, dtype), measured(stored, dtype, tuple(range(0, 9000, 1000))))


def test_numbers_far_from_zero_are_told_apart_by_the_histogram() -> None:
    array = np.random.default_rng(5).normal(1.0, 1e-3, 100_000).astype(np.float32)
    found = row(measured(array.tobytes(), "float32"), "float32").histogram
    assert found is not None
    assert sum(one > 0 for one in found.counts) > 20
    assert found.counts == tuple(np.histogram(array.astype(float), found.edges)[0])


def test_bins_of_weights_are_equally_wide() -> None:
    array = np.random.default_rng(5).normal(0, 0.02, 100_000).astype(np.float32)
    found = row(measured(array.tobytes(), "float32"), "float32").histogram
    assert found is not None
    assert len(set(np.diff(found.edges))) == 1
    assert sum(one > 0 for one in found.counts) > 30


def test_outliers_are_counted_beside_the_bins() -> None:
    array = np.random.default_rng(5).normal(0, 1, 10_000).astype(np.float32)
    array[:3], array[3:5] = 1e30, -1e30
    found = row(measured(array.tobytes(), "float32"), "float32").histogram
    assert found is not None
    assert (found.below, found.above) == (2, 3)
    assert found.edges[0] > -20 and found.edges[-1] < 20


def test_the_few_weights_of_a_pruned_tensor_are_no_outliers() -> None:
    array = np.zeros(100_000, np.float32)
    array[:50] = np.linspace(-1, 1, 50)
    found = row(measured(array.tobytes(), "float32"), "float32").histogram
    assert found is not None
    assert (found.below, found.above) == (0, 0)
    assert sum(found.counts) == 100_000


@pytest.mark.parametrize("value", [0.0, 0.5, -3.0, 1e-45, 3e38])
def test_a_constant_is_in_one_bin_with_edges_around_it(value: float) -> None:
    array = np.full(10_000, value, np.float32)
    said = row(measured(array.tobytes(), "float32", (17,)), "float32")
    assert (said.mean, said.std) == (float(array[0]), 0.0)
    assert said.histogram is not None
    (place,) = np.flatnonzero(said.histogram.counts)
    assert said.histogram.edges[place] <= float(array[0]) < said.histogram.edges[place + 1]
    assert 0 < place < 63 or value == 1e-45


@pytest.mark.parametrize("dtype", INTEGERS)
def test_few_integers_have_a_bin_each(dtype: str) -> None:
    found = numpy_dtype(dtype)
    array = np.array([0, 0, 1, 1, 1], np.int8).astype(found)
    said = row(measured(array.tobytes(), dtype), dtype)
    assert said.histogram is not None
    filled_bins = {
        edge: number
        for edge, number in zip(said.histogram.edges, said.histogram.counts, strict=False)
        if number
    }
    assert filled_bins == {0: 2, 1: 3}
    assert (said.min, said.max, type(said.max)) == (0, 1, int)


def test_limits_of_64_bits_are_exact() -> None:
    for dtype in ("int64", "uint64"):
        limits = np.iinfo(dtype)
        array = np.array([limits.min, limits.max, limits.max - 1], dtype)
        said = row(measured(array.tobytes(), dtype, (1, 2)), dtype)
        assert (said.min, said.max) == (limits.min, limits.max)


def test_sums_neither_overflow_nor_vanish() -> None:
    large = row(measured(np.full(1000, 1e300).tobytes(), "float64", (10,)), "float64")
    assert large.l2 == pytest.approx(1e300 * math.sqrt(1000))
    small = row(measured(np.full(1000, 1e-300).tobytes(), "float64", (10,)), "float64")
    assert small.l2 == pytest.approx(1e-300 * math.sqrt(1000))
    mixed = np.array([1e300, -1e300, 1e-300] * 100)
    said = row(measured(mixed.tobytes(), "float64", (1, 200)), "float64")
    assert said.std == pytest.approx(1e300 * math.sqrt(2 / 3))
    eights = row(measured(np.full(100_000, 127, np.int8).tobytes(), "int8"), "int8")
    assert eights.mean == 127.0
    assert eights.l2 == pytest.approx(127 * math.sqrt(100_000))


def test_a_small_deviation_beside_a_large_mean_is_exact() -> None:
    array = (1e8 + np.random.default_rng(1).standard_normal(200_000)).astype(np.float64)
    said = row(measured(array.tobytes(), "float64", (1, 70_000)), "float64")
    assert said.std == pytest.approx(math.sqrt(np.var(array - 1e8)), rel=1e-9)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_checksums_of_pieces_join(first: bytes, second: bytes) -> None:
    crcs = google_crc32c.value(first), google_crc32c.value(second)
    assert combine(*crcs, len(second)) == google_crc32c.value(first + second)

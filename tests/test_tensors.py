from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.formats.arrays import tensors
from ckpt_viz.formats.arrays.dtypes import ByteOrder, dtype_name, tensor_bytes
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.arrays.tensors import (
    cast,
    decode,
    encode,
    numpy_dtype,
    of_strings,
    put_together,
)

NAMES = [dtype_name(number) for number in range(1, 34)]
NUMERIC = [name for name in NAMES if name not in ("string", "resource", "variant")]
OTHER_ORDER: ByteOrder = "big" if sys.byteorder == "little" else "little"


def test_every_dtype_has_a_name_and_a_size() -> None:
    assert all(not name.startswith("unknown") for name in NAMES)
    assert dtype_name(0) == "unknown dtype 0"
    assert dtype_name(34) == "unknown dtype 34"
    sized = [name for name in NAMES if tensor_bytes(name, (2, 3)) is not None]
    assert sized == NUMERIC
    assert tensor_bytes("float32", None) is None


@pytest.mark.parametrize("name", NUMERIC)
def test_every_dtype_of_numbers_is_decoded(name: str) -> None:
    dtype = numpy_dtype(name)
    assert dtype is not None
    values = np.array([[0, 1]]).astype(dtype)
    stored = encode(values, name).tobytes()
    assert tensor_bytes(name, (1, 2)) == len(stored)
    decoded = decode(stored, name, (1, 2), "little", "x")
    assert decoded.dtype == dtype
    assert decoded.tobytes() == values.tobytes()
    assert decode(b"", name, (0, 2), OTHER_ORDER, "x").shape == (0, 2)


@given(numpy_strategies.arrays(numpy_strategies.complex_number_dtypes(endianness=">"), (2, 3)))
def test_complex_numbers_of_the_other_byte_order_are_swapped_part_by_part(values: Any) -> None:
    decoded = decode(values.tobytes(), values.dtype.name, (2, 3), "big", "x")
    assert decoded.tobytes() == values.astype(values.dtype.newbyteorder("=")).tobytes()


def test_4_bit_numbers_take_a_byte_each() -> None:
    decoded = decode(bytes([0xFF, 0x07, 0xF8]), "int4", (3,), "little", "x")
    assert decoded.astype(int).tolist() == [-1, 7, -8]


def test_what_ml_dtypes_is_too_old_for_becomes_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    # It came with ml_dtypes 0.5.
    monkeypatch.delattr(ml_dtypes, "float4_e2m1fn", raising=False)
    tensors._of_ml_dtypes.cache_clear()
    try:
        decoded = decode(b"\1\2", "float4_e2m1fn", (2,), "little", "x")
        assert (decoded.dtype.name, decoded.tolist()) == ("float32", [0.5, 1.0])
        assert encode(decoded, "float4_e2m1fn").tobytes() == b"\1\2"
        assert cast(np.array([1.2]), "float4_e2m1fn", "x").tolist() == [1.0]
        with pytest.raises(UnsupportedError, match="too large for float4_e2m1fn"):
            cast(np.array([9.0]), "float4_e2m1fn", "x")
    finally:
        tensors._of_ml_dtypes.cache_clear()


@pytest.mark.parametrize(
    ("dtype", "number", "message"),
    [
        ("float4_e2m1fn", 9.0, "found 9, too large for"),
        ("float4_e2m1fn", np.nan, "found nan, absent from"),
        ("float8_e4m3fn", np.inf, "found inf, absent from"),
        ("float8_e4m3fn", 1e3, "found 1000, too large for"),
        ("float8_e5m2", 1e6, r"found 1e\+06, too large for"),
    ],
)
def test_a_cast_refuses_what_a_dtype_does_not_have(dtype: str, number: float, message: str) -> None:
    kept = cast(np.array([np.nan, np.inf, 1.2, -0.5]), "bfloat16", "x").astype(float)
    assert kept == pytest.approx([np.nan, np.inf, 1.2, -0.5], rel=0.01, nan_ok=True)
    with pytest.raises(UnsupportedError, match=f"x: {message} {dtype}"):
        cast(np.array([0.5, number]), dtype, "x")


def test_bytes_that_do_not_fit_the_shape_are_refused() -> None:
    with pytest.raises(FormatError, match=r"x: has 3 bytes, expected 8 for float32 2"):
        decode(b"123", "float32", (2,), "little", "x")


def test_strings_keep_the_zeros_they_end_with() -> None:
    values = [b"a\0", b"", b"\0\0", b"b" * 100]
    decoded = of_strings(values, (2, 2), "x")
    assert decoded.tolist() == [values[:2], values[2:]]
    assert decoded.dtype == object
    assert not decoded.flags.writeable


names = st.sampled_from([*NUMERIC, "variant", "unknown dtype 99"])
shapes = st.lists(st.integers(0, 4) | st.just(1 << 40), max_size=3).map(tuple)


@given(st.binary(max_size=40), names, shapes, st.sampled_from(["little", "big"]))
def test_any_bytes_give_an_array_of_the_shape_or_our_error(
    data: bytes, name: str, shape: tuple[int, ...], byte_order: ByteOrder
) -> None:
    try:
        assert decode(data, name, shape, byte_order, "x").shape == shape
    except CkptVizError as error:
        assert str(error).startswith("x: ")


# --- slices


@st.composite
def partitions(draw: st.DrawFn) -> tuple[tuple[int, ...], list[SliceExtent]]:
    """A shape, and slices that cut it up: each cuts one of the slices before it in two."""
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=3)))
    slices = [SliceExtent((0,) * len(shape), shape)]
    for _ in range(draw(st.integers(0, 5))):
        start, sizes = slices.pop(draw(st.integers(0, len(slices) - 1)))
        axis = draw(st.integers(0, len(shape) - 1))
        at = draw(st.integers(0, sizes[axis]))
        rest = list(start)
        rest[axis] += at
        for first, size in ((start, at), (tuple(rest), sizes[axis] - at)):
            slices.append(SliceExtent(first, (*sizes[:axis], size, *sizes[axis + 1 :])))
    return shape, draw(st.permutations(slices))


@given(partitions())
def test_slices_of_any_partition_are_put_together(
    partition: tuple[tuple[int, ...], list[SliceExtent]],
) -> None:
    shape, slices = partition
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    parts = [
        whole[tuple(slice(a, a + n) for a, n in zip(start, sizes, strict=True))]
        for start, sizes in slices
    ]
    assert np.array_equal(put_together(shape, slices, parts, "x"), whole)


@given(partitions(), st.data())
def test_partition_with_one_slice_moved_or_lost_is_refused(
    partition: tuple[tuple[int, ...], list[SliceExtent]], data: st.DataObject
) -> None:
    shape, slices = partition
    slices = [one for one in slices if 0 not in one.shape]
    if len(slices) < 2:
        return
    lost = data.draw(st.integers(0, len(slices) - 1))
    other = slices[lost - 1]
    for wrong in ([*slices[:lost], *slices[lost + 1 :]], [*slices, other]):
        values = [np.zeros(one.shape) for one in wrong]
        with pytest.raises(FormatError, match="x: its slices have"):
            put_together(shape, wrong, values, "x")
    same_size = [
        other if one == slices[lost] and one.shape == other.shape else one for one in slices
    ]
    if same_size != slices:
        with pytest.raises(FormatError, match="overlaps another"):
            put_together(shape, same_size, [np.zeros(one.shape) for one in same_size], "x")

"""Checksums of parts, against those of the whole."""

import random

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.formats.storage import crc32c
from ckpt_viz.formats.storage.crc32c import advance, combine, without_beginning

crcs = st.integers(0, (1 << 32) - 1)
sizes = st.integers(0, 1 << 63)


@given(st.binary(), st.binary(max_size=1000))
def test_two_parts_combine_to_the_whole(first: bytes, second: bytes) -> None:
    crc, beginning, end = map(google_crc32c.value, (first + second, first, second))
    assert combine(beginning, end, len(second)) == crc
    assert without_beginning(crc, beginning, len(second)) == end


@given(crcs, sizes, sizes)
def test_to_advance_twice_is_to_advance_by_the_sum(crc: int, first: int, second: int) -> None:
    assert advance(advance(crc, first), second) == advance(crc, first + second)


def test_megabytes_of_zeros_combine_as_google_computes_them() -> None:
    zeros = bytes(5_000_001)
    crc = google_crc32c.value(b"kernel")
    whole = google_crc32c.extend(crc, zeros)
    assert combine(crc, google_crc32c.value(zeros), len(zeros)) == whole


@given(crcs, st.binary(max_size=300))
def test_our_own_is_that_of_google(crc: int, data: bytes) -> None:
    assert crc32c.extend(crc, data) == google_crc32c.extend(crc, data)


@pytest.mark.parametrize("size", [(1 << 14) - 1, 1 << 14, (1 << 17) + 13, 3_000_001])
def test_lanes_of_numpy_give_that_of_google(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert np.uint32(crc32c.extend(77, memoryview(data))) == google_crc32c.extend(77, data)

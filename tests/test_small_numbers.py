"""bfloat16, float8 and integers of 4 and 2 bits, with ml_dtypes and without it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ckpt_viz.formats.arrays.dtypes import OF_ML_DTYPES, is_float
from ckpt_viz.formats.arrays.small_numbers import numbers_of_patterns, patterns_of_numbers, rounded
from tests.support import small_answers
from tests.support.dtypes import NUMBERS

DTYPES = tuple(sorted(OF_ML_DTYPES.intersection(NUMBERS)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_pattern_has_the_number_that_ml_dtypes_gives_it(dtype: str) -> None:
    numbers = numbers_of_patterns(dtype)
    patterns = np.arange(len(numbers), dtype=np.uint16 if dtype == "bfloat16" else np.uint8)
    with np.errstate(invalid="ignore"):
        expected = patterns.view(getattr(ml_dtypes, dtype)).astype(np.float64)
        np.testing.assert_array_equal(numbers.astype(np.float64), expected, strict=True)
    is_number = ~np.isnan(expected)
    assert (np.signbit(numbers) == np.signbit(expected))[is_number].all()
    used = np.frombuffer(small_answers.patterns_of(dtype), patterns.dtype)
    assert (patterns_of_numbers(numbers[used], dtype) == used).all()


@pytest.mark.parametrize("dtype", [*filter(is_float, DTYPES)])
def test_floats_are_rounded_as_ml_dtypes_rounds_them(dtype: str) -> None:
    numbers = numbers_of_patterns(dtype)
    finite = np.unique(numbers[np.isfinite(numbers)].astype(np.float64))
    between = (finite[1:] + finite[:-1]) / 2
    nearby = np.nextafter(between.astype(np.float32), np.float32(np.inf))
    given = np.concatenate([finite, between, nearby, [np.inf, -np.inf, np.nan, 1e38, -0.0]])
    given = given.astype(np.float32)
    if dtype == "float4_e2m1fn":  # ml_dtypes makes 6 of what is too large, and we an error
        given = given[np.abs(given) <= 6]
    with np.errstate(all="ignore"):
        expected = given.astype(getattr(ml_dtypes, dtype)).astype(np.float32)
        new = rounded(given, dtype)
    np.testing.assert_array_equal(new, expected, strict=True)
    assert (np.signbit(new) == np.signbit(expected))[~np.isnan(new)].all()


def test_without_ml_dtypes_all_answers_and_files_are_the_same(tmp_path: Path) -> None:
    small_answers.write_checkpoints(tmp_path, DTYPES)
    expected = small_answers.answers(tmp_path)
    command = [sys.executable, "-m", small_answers.__name__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    without = json.loads(done.stdout)
    assert without.keys() == expected.keys()
    assert [each for each in expected if expected[each] != without[each]] == []

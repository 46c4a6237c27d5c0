"""The dry run of `load_weights` against Keras, for random models and random edits of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.amounts import amount
from tests.support.keras_random_pairs import try_pair

pytestmark = pytest.mark.tf

CHUNKS, PAIRS = 4, amount(80, 2000)
_LEAST = 0.2  # of few: Keras makes no such models for the others, often half of them


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_keras_does_what_the_dry_run_says(chunk: int, seed: int, tmp_path: Path) -> None:
    library, count = ("tf_keras" if chunk == 0 else "keras"), PAIRS // CHUNKS
    start = seed + chunk * count
    tried = 0
    for number in range(start, start + count):
        try:
            tried += try_pair(number, tmp_path, library)
        except Exception as error:
            raise AssertionError(f"try_pair({number}, ..., {library!r})") from error
    assert tried >= count * _LEAST

"""The dry run of `load_weights` against Keras, for random models and random edits of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.amounts import amount
from tests.support.keras_random_pairs import try_pair

pytestmark = pytest.mark.tf

CHUNKS, PAIRS = 4, amount(40, 2000)
_MOST_TRIES = 4  # for each pair: of many edited models, Keras makes none


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_keras_does_what_the_dry_run_says(chunk: int, seed: int, tmp_path: Path) -> None:
    library, wanted = ("tf_keras" if chunk == 0 else "keras"), PAIRS // CHUNKS
    start = seed + chunk * wanted * _MOST_TRIES
    compared = 0
    for number in range(start, start + wanted * _MOST_TRIES):
        try:
            compared += try_pair(number, tmp_path, library)
        except Exception as error:
            raise AssertionError(f"try_pair({number}, ..., {library!r})") from error
        if compared == wanted:
            break
    assert compared == wanted

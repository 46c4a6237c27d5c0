"""The dry run of `load_weights` against Keras, for random models and random edits of them."""

from __future__ import annotations

import pytest

from tests.programs.weights_loading import law_of
from tests.support.amounts import amount

pytestmark = pytest.mark.tf


@pytest.mark.parametrize(("library", "share"), [("keras", 0.75), ("tf_keras", 0.25)])
def test_keras_does_what_the_dry_run_says(library: str, share: float, seed: int) -> None:
    pytest.importorskip(library)
    law_of(library).hold(seed, round(share * amount(40, 2000)))

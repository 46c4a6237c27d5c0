"""The law of test_check_table for random pairs: TensorFlow decides."""

from __future__ import annotations

import pytest

from tests.programs.pairs import FAMILIES, law_of
from tests.programs.recipes import Family
from tests.support.amounts import amount

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

# Each case is four pairs.
CASES = {"plain": amount(60, 1150), "keras 3": amount(13, 130), "tf_keras": amount(6, 55)}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_check_and_restore_agree(family: Family, seed: int) -> None:
    if not family.is_available():
        pytest.skip(f"{family.name} is not installed")
    law_of(family).hold(seed, CASES[family.name])

"""The law of test_check_table for random pairs: TensorFlow decides."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.support.amounts import amount
from tests.support.pairs import FAMILIES, as_text, cases, make_case, run
from tests.support.recipes import Case, Family

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

# Each case is four pairs, but for sources that cannot be saved.
CASES = {"plain": amount(115, 1150), "keras 3": amount(13, 130), "tf_keras": amount(6, 55)}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pairs")


def _many(family: str) -> Callable[[Any], Any]:
    """Run a test on random cases of a family; `tests.support.check_pairs` shrinks a failure."""
    configured = settings(
        max_examples=CASES[family],
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: configured(given(case=cases(family))(test))


def _assert_agreement(case: Case, directory: Path) -> None:
    if not FAMILIES[case.family].is_available():
        pytest.skip(f"{case.family} is not installed")
    for goal, _, outcome in run(case, directory):
        if isinstance(outcome, Exception):
            text = shlex.quote(as_text(case._replace(goals=(goal,))))
            command = f"python -m tests.support.check_pairs --case {text}"
            raise AssertionError(f"{outcome}\nto shrink it: {command}") from outcome


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_most_sources_can_be_saved(family: Family, directory: Path) -> None:
    """Of a source that cannot, `run` gives nothing to compare."""
    if not family.is_available():
        pytest.skip(f"{family.name} is not installed")
    made = [make_case(Random(seed), family) for seed in range(20)]
    assert sum(any(run(case, directory)) for case in made) >= 15


@_many("plain")
def test_check_and_restore_agree_on_plain_objects(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)


@_many("keras 3")
def test_check_and_restore_agree_on_keras_3_models(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)


@_many("tf_keras")
def test_check_and_restore_agree_on_tf_keras_models(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)

"""The law of test_check_table over pairs that nobody thought of: TensorFlow decides."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.oracle import silence_tensorflow
from tests.pairs import FAMILIES, as_text, cases, run
from tests.recipes import Case

pytestmark = pytest.mark.tf

# Of the usual number of examples; each case is four pairs, but for sources that cannot be saved.
CASES = {"plain": 1150, "keras 3": 130, "tf_keras": 55}
SCALE = int(os.environ.get("CKPT_VIZ_EXAMPLES", "150")) / 150


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    silence_tensorflow()
    return tmp_path_factory.mktemp("pairs")


def _many(family: str) -> Callable[[Any], Any]:
    """Run a test on cases of a family, as they come: `tests.check_pairs` shrinks one that fails."""
    configured = settings(
        max_examples=max(1, round(CASES[family] * SCALE)),
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: configured(given(case=cases(family))(test))


def _assert_agreement(case: Case, directory: Path) -> None:
    if not FAMILIES[case.family].is_available():
        pytest.skip("needs Keras 3")
    for goal, _, outcome in run(case, directory):
        if isinstance(outcome, Exception):
            text = shlex.quote(as_text(case._replace(goals=(goal,))))
            command = f"python -m tests.check_pairs --case {text}"
            raise AssertionError(f"{outcome}\nto shrink it: {command}") from outcome


@_many("plain")
def test_check_and_restore_agree_on_plain_objects(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)


@_many("keras 3")
def test_check_and_restore_agree_on_keras_3_models(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)


@_many("tf_keras")
def test_check_and_restore_agree_on_tf_keras_models(case: Case, directory: Path) -> None:
    _assert_agreement(case, directory)

"""The fix of a load of Keras' own files: values go by names, whatever the format and version."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.test_keras_files import saved, trained

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
FORMS = (".keras", ".h5", ".weights.h5")


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


@pytest.fixture
def keras_3() -> ModuleType:
    return pytest.importorskip("keras")  # type: ignore[no-any-return]


def _trained(keras: Any, units: int = 2) -> Any:
    layers, inputs = keras.layers, keras.Input((5, 3))
    x = layers.Dense(4, name="body")(inputs)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.LSTM(3, name="rnn")(x)
    model = keras.Model(inputs, layers.Dense(units, name="head")(x))
    return trained(model, keras.optimizers.Adam())


def _values(variables: Any) -> list[Any]:
    return [np.asarray(v.numpy()) for v in (variables() if callable(variables) else variables)]


def _assert_state(old: Any, new: Any, *, has_slots: bool) -> None:
    """Assert that a model has the values of another; the one of Keras 3 has a rate, too."""
    for a, b in zip(old.get_weights(), new.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    saved_state, state = _values(old.optimizer.variables), _values(new.optimizer.variables)
    assert state[0] == saved_state[0]
    if has_slots:
        slots = saved_state[len(saved_state) - 18 :], state[len(state) - 18 :]
        for a, b in zip(*slots, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_either_keras_restores_into_keras_3(
    keras: ModuleType, keras_3: ModuleType, form: str, tmp_path: Path
) -> None:
    old = _trained(keras)
    path = saved(old, tmp_path / "x", form, keras.__name__ == "keras")
    # Weights alone of Keras 2 do not tell the class of the optimizer.
    has_slots = keras.__name__ == "keras" or form != ".weights.h5"
    new = _with_other_values(keras_3)
    fix = cv.check(new, path).fix()
    assert len(fix.pairs) == 11 + 1 + (18 if has_slots else 0) + (keras.__name__ == "keras")
    assert not fix.is_applied
    fix.apply()
    assert fix.is_applied
    _assert_state(old, new, has_slots=has_slots)
    by_code = _with_other_values(keras_3)
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        exec(cv.check(by_code, path).fix().code, {"ckpt": by_code})
    finally:
        os.chdir(before)
    _assert_state(old, by_code, has_slots=has_slots)


def _with_other_values(keras: Any, units: int = 2) -> Any:
    model = _trained(keras, units)
    for variable in (*model.weights, *model.optimizer.variables):
        variable.assign(np.full(variable.shape, -3).astype(str(variable.dtype)))
    return model


def test_layers_that_took_each_others_values_get_their_own(
    keras_3: ModuleType, tmp_path: Path
) -> None:
    def two(first: str, second: str) -> Any:
        layers = keras_3.layers
        both = [layers.Dense(3, name=first), layers.Dense(3, name=second)]
        return trained(keras_3.Sequential([keras_3.Input((3,)), *both]), keras_3.optimizers.SGD())

    old, new = two("a", "b"), two("b", "a")
    path = saved(old, tmp_path / "x", ".weights.h5")
    check = cv.check(new, path)
    assert [finding.kind.value for finding in check.findings] == ["misplaced", "misplaced"]
    check.fix().apply()
    for name in "ab":
        for mine, theirs in zip(
            new.get_layer(name).weights, old.get_layer(name).weights, strict=True
        ):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_a_new_head_keeps_its_own_values(keras_3: ModuleType, tmp_path: Path) -> None:
    old, new = _trained(keras_3), _with_other_values(keras_3, units=7)
    path = saved(old, tmp_path / "x", ".keras")
    check = cv.check(new, path)
    assert check.raises is not None
    fix = check.fix().apply()
    assert fix.is_applied
    assert len(fix.pairs) == 31 - 6
    for name in ("body", "norm", "rnn"):
        for mine, theirs in zip(
            new.get_layer(name).weights, old.get_layer(name).weights, strict=True
        ):
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    assert (new.get_layer("head").kernel.numpy() == -3).all()


def test_a_fix_that_cannot_read_all_changes_nothing(keras_3: ModuleType, tmp_path: Path) -> None:
    old, new = _trained(keras_3), _with_other_values(keras_3)
    path = saved(old, tmp_path / "x", ".weights.h5")
    fix = cv.check(new, path).fix()
    path.unlink()
    with pytest.raises(cv.CkptVizError):
        fix.apply()
    assert all((value == -3).all() for value in _values(new.weights))

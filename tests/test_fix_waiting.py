"""Programs whose objects are not built yet: a plain restore waits for them, and so does its fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import ckpt, keras_2, keras_3, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
ONE = np.ones((1, 3), np.float32)


def unbuilt(keras: Any) -> Any:
    class Model(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = keras.layers.Dense(3)

        def call(self, inputs: Any) -> Any:
            return self.hidden(inputs)

    return Model()


def built(keras: Any) -> Any:
    model = unbuilt(keras)
    model(ONE)
    return model


@pytest.mark.parametrize("method", ["save", "write"])
def test_the_fix_of_a_model_that_is_not_built_waits_for_it(method: str, tmp_path: Path) -> None:
    was, model = built(keras_2()), unbuilt(keras_2())
    path = str(getattr(ckpt(model=was), method)(str(tmp_path / "model")))
    live = ckpt(model=model)
    check = cv.check(live, path)
    assert "unrelated" not in {finding.kind.value for finding in check.findings}
    fix = check.fix()
    assert not fix.changes and not fix.unused
    exec(fix.code, {"ckpt": live, "path": path})
    model(ONE)
    np.testing.assert_array_equal(model.hidden.kernel, was.hidden.kernel)
    assert "# These are restored as soon as their objects are built:" in fix.code


@KERAS
def test_models_and_their_optimizer_wait_together(keras: Any, tmp_path: Path) -> None:
    def live(make: Any) -> Any:
        models = {name: make(keras()) for name in ("encoder", "decoder")}
        return ckpt(optimizer=keras().optimizers.Adam(), **models)

    def train(one: Any) -> None:
        trained = one.encoder.trainable_variables + one.decoder.trainable_variables
        one.optimizer.build(trained)

    was, now = live(built), live(unbuilt)
    train(was)
    check = cv.check(now, was.save(str(tmp_path / "model")))
    assert not any("other variables" in finding.why for finding in check.findings)
    assert not check.fix().changes


def test_what_is_gone_is_told_beside_what_waits(tmp_path: Path) -> None:
    was = ckpt(model=built(keras_2()), step=var(3))
    path = was.save(str(tmp_path / "model"))
    fix = cv.check(ckpt(model=unbuilt(keras_2())), path).fix()
    assert [change.why for change in fix.changes] == ["step is gone."]
    assert fix.unused == ("step/.ATTRIBUTES/VARIABLE_VALUE",)


def test_an_iterator_of_other_stages_stays_out_of_the_code(tmp_path: Path) -> None:
    import tensorflow as tf

    data = tf.data.Dataset.range(10)
    path = ckpt(net=module(w=var(3.0)), data=iter(data)).save(str(tmp_path / "model"))
    live = ckpt(net=module(w=var(0.0)), data=iter(data.batch(2)))
    fix = cv.check(live, path).fix()
    exec(fix.code, {"ckpt": live, "path": path})
    assert float(live.net.w) == 3.0
    assert not any("data" in key for key in fix.pairs)


def test_names_of_slim_are_those_of_layers(tmp_path: Path) -> None:
    from tests.support.programs import save_by_name

    keras = keras_3()
    saved = {
        f"net/{layer}/{own}": np.random.rand(*shape).astype(np.float32)
        for layer, width in (("fc1", 4), ("fc2", 2))
        for own, shape in (("weights", (4, width)), ("biases", (width,)))
    }
    layers = keras.layers.Dense(4, name="fc1"), keras.layers.Dense(2, name="fc2")
    model = keras.Sequential([keras.Input((4,)), *layers])
    cv.check(model, save_by_name(tmp_path / "model", saved)).fix().apply()
    for weight, value in zip(model.weights, saved.values(), strict=True):
        np.testing.assert_array_equal(weight, value)


@pytest.mark.parametrize("is_by_code", [False, True])
def test_an_optimizer_that_is_not_built_waits_beside_a_renamed_part(
    is_by_code: bool, tmp_path: Path
) -> None:
    """A legacy optimizer has no variable before its first step, so nothing is to be restored."""
    keras = keras_2()

    def live(name: str) -> Any:
        layer = keras.layers.Dense(3)
        layer.build((None, 4))
        return ckpt(model=module(**{name: layer}), optimizer=keras.optimizers.legacy.Adam())

    was, now = live("a"), live("b")
    for one in (was.model.a, was.model.a):
        was.optimizer.apply_gradients([(np.ones(w.shape, np.float32), w) for w in one.weights])
    path = was.save(str(tmp_path / "model"))
    fix = cv.check(now, path).fix()
    assert not fix.unused
    exec(fix.code, {"ckpt": now, "path": path}) if is_by_code else fix.apply()
    slots = [now.optimizer.get_slot(w, name) for w in now.model.b.weights for name in "mv"]
    saved = [was.optimizer.get_slot(w, name) for w in was.model.a.weights for name in "mv"]
    assert int(now.optimizer.iterations) == 2
    for slot, other in zip(slots, saved, strict=True):
        np.testing.assert_array_equal(slot, other)

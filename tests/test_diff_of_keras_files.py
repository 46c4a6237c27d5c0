"""A Keras model, or a Checkpoint with one, beside each file that Keras wrote of it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.matrices import pairwise

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
GENERATIONS = ("keras", "tf_keras")
FILES = (".weights.h5", ".keras", ".h5")
PROGRAMS = ("functional", "sequential", "subclassed")


def _model(
    keras: Any, program: str, layers: int, *, is_named: bool, outputs: int = 3, bias: bool = True
) -> Any:
    def dense(name: str, units: int = 4, **options: Any) -> Any:
        return keras.layers.Dense(units, **options, **({"name": name} if is_named else {}))

    hidden = [dense(f"d{number}") for number in range(layers)]
    head = dense("head", outputs, use_bias=bias)
    if program == "subclassed":

        class Net(keras.Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.blocks = hidden
                self.head = head

            def call(self, values: Any) -> Any:
                for layer in self.blocks:
                    values = layer(values)
                return self.head(values)

        net = Net()
        net(np.zeros((2, 4), np.float32))
        return net
    if program == "sequential":
        model = keras.Sequential([*hidden, head])
        model.build((None, 4))
        return model
    entry = values = keras.Input((4,))
    for layer in (*hidden, head):
        values = layer(values)
    return keras.Model(entry, values)


def _train(keras: Any, model: Any) -> None:
    model.compile(keras.optimizers.Adam(), "mse", run_eagerly=True)
    outputs = model(np.zeros((2, 4), np.float32)).shape[-1]
    model.train_on_batch(np.ones((2, 4), np.float32), np.ones((2, outputs), np.float32))


def _write(keras: Any, model: Any, path: Path) -> str:
    weights_alone = path.suffixes == [".weights", ".h5"] or keras.__name__ == "tf_keras"
    is_archive = path.suffix == ".keras"
    (model.save if is_archive or not weights_alone else model.save_weights)(str(path))
    return str(path)


CASES = pairwise(product(GENERATIONS, PROGRAMS, (1, 4, 12), (True, False), (True, False), FILES))


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize("keras_name, program, layers, is_named, is_trained, file", CASES)
def test_an_unchanged_model_has_no_difference_from_its_file(
    keras_name: str,
    program: str,
    layers: int,
    is_named: bool,
    is_trained: bool,
    file: str,
    tmp_path: Path,
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(keras_name)
    model = _model(keras, program, layers, is_named=is_named)
    if is_trained:
        _train(keras, model)
    path = _write(keras, model, tmp_path / f"net{file}")
    parts = {"optimizer": model.optimizer} if is_trained else {}
    for live in (model, tf.train.Checkpoint(model=model, **parts)):
        found = cv.diff(live, path, values=True, progress=False)
        assert found.is_empty, str(found)
        assert found.values == ()
        assert cv.diff(path, live).is_empty
        assert found.common == len(list(_values_of(path)))


def _values_of(path: str) -> list[str]:
    graph = cv.graph(path)
    return [value.checkpoint_key for node in graph.nodes for value in node.attributes]


def _change_value(model: Any) -> None:
    kernel = model.layers[-1].kernel
    kernel.assign(kernel + 1)


EDITS: dict[str, tuple[dict[str, Any], Callable[[cv.GraphDiff], object], object]] = {
    "resized": ({"outputs": 5}, lambda found: len(found.shape), 2),
    "no bias": ({"bias": False}, lambda found: len(found.only_a), 1),
    "other value": ({}, lambda found: len(found.value), 1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "keras_name, program, is_named, is_trained, file, edit",
    pairwise(product(GENERATIONS, PROGRAMS[::2], (True, False), (True, False), FILES, EDITS)),
)
def test_one_change_is_one_difference(
    keras_name: str,
    program: str,
    is_named: bool,
    is_trained: bool,
    file: str,
    edit: str,
    tmp_path: Path,
) -> None:
    keras = pytest.importorskip(keras_name)
    options, count, expected = EDITS[edit]
    before = _model(keras, program, 4, is_named=is_named)
    after = _model(keras, program, 4, is_named=is_named, **options)
    for model in (before, after):
        if is_trained:
            _train(keras, model)
    if edit == "other value":
        after = before
    path = _write(keras, before, tmp_path / f"net{file}")
    if edit == "other value":
        _change_value(after)
    found = cv.diff(path, after, values=True, progress=False)
    has_states = is_trained and not (keras_name == "tf_keras" and file == ".h5")
    states = 3 if has_states and edit != "other value" else 1
    assert count(found) == expected * states, str(found)  # type: ignore[operator]
    assert found.moved == ()


def test_a_renamed_layer_has_moved_in_a_file_of_names(tmp_path: Path) -> None:
    keras = pytest.importorskip("tf_keras")
    layers = [keras.layers.Dense(4, name=name, input_shape=(4,)) for name in ("old", "new")]
    before, after = (keras.Sequential([layer]) for layer in layers)
    before.save_weights(str(tmp_path / "net.h5"))
    found = cv.diff(tmp_path / "net.h5", after)
    assert [names[0] for names in found.moved] == [
        "(root).old",
        "(root).old.kernel",
        "(root).old.bias",
    ]


@pytest.mark.parametrize("file", FILES)
def test_another_name_at_the_same_place_is_told(file: str, tmp_path: Path) -> None:
    import keras

    dense = keras.layers.Dense
    for name in ("fc", "projection"):
        # The numbers of automatic names tell nothing, also of layers without weights.
        layers = [dense(4, name=name), dense(3), keras.layers.Dropout(0.1), dense(2)]
        model = keras.Sequential([keras.Input((4,)), *layers])
        path = str(tmp_path / (name + file))
        model.save_weights(path) if "weights" in file else model.save(path)
    diff = cv.diff(tmp_path / f"fc{file}", tmp_path / f"projection{file}")
    if file == ".h5":  # where the name is the place
        assert "fc seems to be projection now" in str(diff)
        assert "called" not in str(diff)
        return
    assert str(diff).splitlines()[1].startswith("In b, fc is called projection. 6 values")
    assert diff.overlay.table.sentence == str(diff).splitlines()[1]


def test_values_beside_the_model_are_told(tmp_path: Path) -> None:
    import tensorflow as tf

    keras = pytest.importorskip("keras")
    model = _model(keras, "functional", 1, is_named=True)
    model.save_weights(str(tmp_path / "net.weights.h5"))
    found = cv.diff(
        tf.train.Checkpoint(net=model, step=tf.Variable(3)), tmp_path / "net.weights.h5"
    )
    assert found.is_empty
    assert found.notes == ("Keras does not write step into such a file.",)

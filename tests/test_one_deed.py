"""The same edit of a program has the same sentence, whatever kind of file is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _functional(keras: Any, head: str, outputs: int) -> Any:
    entry = keras.Input((4,))
    body = keras.layers.Dense(4, name="body")(entry)
    return keras.Model(entry, keras.layers.Dense(outputs, name=head)(body))


def _subclassed(keras: Any, head: str, outputs: int) -> Any:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = keras.layers.Dense(4)
            setattr(self, head, keras.layers.Dense(outputs))

        def call(self, values: Any) -> Any:
            return getattr(self, head)(self.body(values))

    net = Net()
    net(np.zeros((2, 4), np.float32))
    return net


REPLACED, RESIZED = "You replaced the head with out.", "out is larger: 3 → 5."


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize(
    "keras_name, build, file, sentence",
    [
        ("keras", _functional, "", REPLACED),
        ("keras", _functional, ".weights.h5", REPLACED),
        ("keras", _functional, ".keras", REPLACED),
        ("keras", _functional, ".h5", REPLACED),
        ("keras", _subclassed, "", REPLACED),
        ("keras", _subclassed, ".weights.h5", REPLACED),
        ("keras", _subclassed, ".h5", RESIZED),  # which has the names that Keras made
        ("tf_keras", _functional, "", REPLACED),
        ("tf_keras", _functional, ".weights.h5", RESIZED),  # which has no names
        ("tf_keras", _functional, ".h5", REPLACED),
        ("tf_keras", _subclassed, "", REPLACED),
        ("tf_keras", _subclassed, ".weights.h5", RESIZED),
        ("tf_keras", _subclassed, ".h5", RESIZED),
    ],
)
def test_another_head_is_one_deed_for_every_kind_of_file(
    keras_name: str, build: Any, file: str, sentence: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(keras_name)
    before, after = build(keras, "head", 3), build(keras, "out", 5)
    path = str(tmp_path / f"net{file}")
    live = after
    if not file:
        path = tf.train.Checkpoint(before).save(path)
        live = tf.train.Checkpoint(after)
    elif keras_name == "keras" and file != ".weights.h5":
        before.save(path)
    else:
        before.save_weights(path)
    assert str(cv.check(live, path)).splitlines()[1] == sentence

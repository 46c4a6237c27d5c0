"""A program and the checkpoint of its twin, whose restore plays in the tests of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def program_and_path(directory: Path) -> tuple[Any, str]:
    """Return a program that has renamed a layer, lost a variable and got another one."""
    import tensorflow as tf

    def checkpoint(layer: str, variable: str) -> Any:
        net = tf.keras.Sequential()
        dense = tf.keras.layers.Dense(5)
        dense.build((None, 1))
        setattr(net, layer, dense)
        adam = tf.keras.optimizers.Adam(0.1)
        adam.build(dense.trainable_variables)
        parts = {variable: tf.Variable([1.0, 2.0]), "step": tf.Variable(3)}
        return tf.train.Checkpoint(net=net, optimizer=adam, **parts)

    return checkpoint("dense1", "new"), checkpoint("l1", "old").save(str(directory / "ckpt"))

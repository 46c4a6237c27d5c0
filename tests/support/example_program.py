"""The program of the examples in docstrings: its checkpoints, and what it is since they were saved.

`net.hidden` is called `net.body` now, and `net.head` has five columns in place of three.
"""

from __future__ import annotations

from typing import Any


def names_of_examples() -> dict[str, Any]:
    """Write the checkpoints into the working directory; return the names that examples use."""
    import tensorflow as tf

    import ckpt_viz as cv

    class Layer(tf.Module):  # type: ignore[misc]
        def __init__(self, rows: int, columns: int) -> None:
            self.w = tf.Variable(tf.ones([rows, columns]))
            self.b = tf.Variable(tf.zeros([columns]))

    def program(columns: int, **layers: Layer) -> Any:
        net = tf.train.Checkpoint(**layers, head=Layer(4, columns))
        return tf.train.Checkpoint(step=tf.Variable(0), net=net)

    saved = program(3, hidden=Layer(2, 4))
    manager = tf.train.CheckpointManager(saved, "ckpts", max_to_keep=None)
    for _ in range(3):
        saved.step.assign_add(10)
        saved.net.head.w.assign_add(tf.ones([4, 3]))
        manager.save()
    variable = tf.Variable([1.0, 2.0])
    adam = tf.keras.optimizers.Adam()
    adam.apply_gradients([(tf.ones([2]), variable)])
    tf.train.Checkpoint(variable=variable, optimizer=adam).save("adam/ckpt")
    return {"cv": cv, "tf": tf, "ckpt": program(5, body=Layer(2, 4))}

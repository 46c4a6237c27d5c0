"""The values of live objects are those of their variables now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv

pytestmark = pytest.mark.tf


@pytest.fixture
def trained() -> Any:
    """A checkpoint of a Keras 3 model and its optimizer, after a step."""
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    model.compile(optimizer, "mse", run_eagerly=True)
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 4)))
    return tf.train.Checkpoint(model=model, optimizer=optimizer)


def test_a_live_model_has_the_values_that_its_checkpoint_has(trained: Any, tmp_path: Path) -> None:
    live = cv.graph(trained).values(progress=False)
    saved = cv.graph(trained.write(str(tmp_path / "ckpt"))).values(progress=False)
    assert len(saved) > 5
    mine = {row.key: row for row in live}
    for row in saved:
        found = mine[row.key]
        assert (found.dtype, found.shape, found.count) == (row.dtype, row.shape, row.count)
        assert (found.min, found.max, found.histogram) == (row.min, row.max, row.histogram)


def test_live_values_are_those_of_now() -> None:
    import tensorflow as tf

    v = tf.Variable([1.0, 2.0])
    graph = cv.graph(tf.train.Checkpoint(v=v))
    assert graph.values("name:v")[0].max == 2.0
    v.assign([5.0, float("nan")])
    (row,) = graph.values("name:v")
    assert (row.max, row.nan) == (5.0, 1)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "bool", "complex64", "uint64", "int4"])
def test_live_variables_of_other_dtypes(dtype: str) -> None:
    import tensorflow as tf

    v = tf.Variable(tf.cast(tf.constant([0, 1, 1]), dtype))
    (row,) = cv.graph(tf.train.Checkpoint(v=v)).values("name:v")
    assert (row.dtype, row.count, row.zeros, row.max) == (dtype, 3, 1, 1)


def test_live_strings_have_lengths() -> None:
    import tensorflow as tf

    v = tf.Variable(["a", "bcd"])
    (row,) = cv.graph(tf.train.Checkpoint(v=v)).values("name:v")
    assert row.lengths is not None
    assert (row.count, row.lengths.longest, row.lengths.total) == (2, 3, 4)


def test_values_that_only_code_knows_are_marked() -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    rows = cv.graph(tf.train.Checkpoint(table=table, v=tf.Variable(3))).values()
    notes = {row.name: (row.note, row.error) for row in rows}
    why, error = notes["(root).table"]
    assert "only code of MutableHashTable itself knows" in str(why)
    assert (error, notes["(root).v"]) == (None, (None, None))


def test_a_checkpoint_of_tensorflow_has_the_values_that_it_reads(tmp_path: Path) -> None:
    """TensorFlow writes strings, quantized numbers and bfloat16 in its own way."""
    import tensorflow as tf

    values = {
        "b": tf.constant([1.5, -2, 0], tf.bfloat16),
        "q": tf.quantization.quantize([-1.0, 0.5, 1.0], -1, 1, tf.qint8).output,
        "s": tf.constant([b"", b"x" * 200]),
        "z": tf.constant([3 + 4j], tf.complex128),
    }
    prefix = str(tmp_path / "ckpt")
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=list(values.values()),
    )
    b, q, s, z = cv.graph(prefix).values()
    assert (b.min, b.max, b.zeros) == (-2.0, 1.5, 1)
    assert b.mean == pytest.approx(-1 / 6)
    assert (q.dtype, q.min, q.max) == ("qint8", -128, 127)
    assert s.lengths is not None and s.lengths.longest == 200
    assert (z.min, z.error) == (5.0, None)

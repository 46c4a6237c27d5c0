"""Writes the checkpoints of the page's examples: `python -m benchmarks.page_examples`.

They go to `labextension/page/examples.zip`. The values of large models are zeros, so that the page
stays small. `labextension/page/examples.json` says what the page shows of each.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import chdir
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
from keras import layers

import ckpt_viz as cv
from benchmarks import models

TARGET = Path(__file__).parents[1] / "labextension" / "page" / "examples.zip"
_FEW = 64  # values that are kept
_WITHOUT_TIME = (1980, 1, 1, 0, 0, 0)


def guide() -> None:
    """Write the training loop of TensorFlow's guide, after thirty steps."""
    keras.utils.set_random_seed(1)
    net, optimizer, step = models.Net(), keras.optimizers.Adam(0.1), tf.Variable(1)
    data = tf.data.Dataset.from_tensor_slices(tf.range(10.0)[:, None]).repeat().batch(2)
    iterator = iter(data)
    checkpoint = tf.train.Checkpoint(step=step, optimizer=optimizer, net=net, iterator=iterator)
    for _ in range(30):
        inputs = next(iterator)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(inputs) - inputs) ** 2)
        gradients = tape.gradient(loss, net.variables)
        optimizer.apply_gradients(zip(gradients, net.variables, strict=True))
        step.assign_add(1)
    checkpoint.save("guide/ckpt")


def renamed_layer() -> None:
    """Write a CNN before and after a layer got another name."""
    keras.utils.set_random_seed(2)
    models._cnn("conv2", "fc", 10).write("renamed/before")
    models._cnn("features", "fc", 10).write("renamed/after")


def another_head() -> None:
    """Write MobileNetV2 for a thousand classes, and for ten."""
    _in_zeros(models._mobilenet()).write("head/before")
    _in_zeros(models._mobilenet(10)).write("head/after")


def training() -> None:
    """Write eight saves of a training in which one layer dies and one never moves."""
    keras.utils.set_random_seed(4)
    model = keras.Sequential(
        [
            layers.Input((8,)),
            layers.Dense(16, activation="relu", name="first"),
            layers.Dense(16, activation="relu", name="frozen", trainable=False),
            layers.Dense(16, activation="relu", name="second"),
            layers.Dense(1, name="head"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), "mse")
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, "training", max_to_keep=None)
    inputs = tf.random.normal((256, 8))
    for save in range(8):
        manager.save()
        model.fit(inputs, tf.reduce_sum(inputs, 1), epochs=2, verbose=0)
        step.assign_add(1000)
        if save == 4:
            second = model.get_layer("second")
            second.kernel.assign(tf.zeros_like(second.kernel))
            second.bias.assign(-tf.ones_like(second.bias))


def others() -> None:
    """Write models of the gallery."""
    _in_zeros(models._mobilenet()).write("mobilenet/ckpt")
    for graph, name in ((models.transformer(), "transformer"), (models.gan(), "gan")):
        checkpoint = graph.source
        assert isinstance(checkpoint, tf.train.Checkpoint)
        _in_zeros(checkpoint).write(f"{name}/ckpt")
    models.tensorflow_1()


def _in_zeros(checkpoint: tf.train.Checkpoint) -> tf.train.Checkpoint:
    graph = cv.graph(checkpoint)
    for node_id in range(len(graph.nodes)):
        value = graph.object(node_id)
        value = getattr(value, "value", value)  # of a variable of Keras
        if isinstance(value, tf.Variable) and value.shape.num_elements() > _FEW:
            value.assign(tf.zeros_like(value))
    return checkpoint


def main() -> None:
    """Write the archive: the same files in the same order, without their times."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for write in (guide, renamed_layer, another_head, training, others):
            write()
        with zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(filter(Path.is_file, Path().rglob("*"))):
                info = zipfile.ZipInfo(path.as_posix(), _WITHOUT_TIME)
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=9)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

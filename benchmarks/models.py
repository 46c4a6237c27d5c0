"""The models whose pictures and figures `benchmarks.pictures` makes, small enough for any machine.

Each function returns what `cv.graph`, `cv.check` or `cv.show` would. Checkpoints are written into
the current directory, so that pictures show short paths.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
from keras import layers

import ckpt_viz as cv
from ckpt_viz import ObjectGraph, RestoreCheck

Source = ObjectGraph | RestoreCheck | cv.Explorer


class Net(tf.keras.Model):
    """The linear model of TensorFlow's guide."""

    def __init__(self) -> None:
        super().__init__()
        self.l1 = layers.Dense(5)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Return the predictions."""
        return self.l1(x)


def guide() -> ObjectGraph:
    """Return the training loop of TensorFlow's guide, after one step."""
    net, optimizer = Net(), keras.optimizers.Adam(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(tf.ones((2, 1))))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables, strict=True))
    return cv.graph(tf.train.Checkpoint(step=tf.Variable(1), optimizer=optimizer, net=net))


def _cnn(second: str, head: str, classes: int) -> tf.train.Checkpoint:
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv1"),
            layers.MaxPooling2D(name="pool"),
            layers.Conv2D(32, 3, activation="relu", name=second),
            layers.GlobalAveragePooling2D(name="average"),
            layers.Dropout(0.2, name="dropout"),
            layers.Dense(classes, name=head),
        ]
    )
    # The attributes of a program, which a restore goes by.
    parts = {layer.name: layer for layer in model.layers}
    return tf.train.Checkpoint(**parts)


def changed_cnn() -> tuple[tf.train.Checkpoint, tf.train.Checkpoint]:
    """Save a CNN as cnn/ckpt-1; return it, and one with a renamed layer and another head."""
    saved = _cnn("conv2", "fc", 10)
    saved.save("cnn/ckpt")
    return saved, _cnn("features", "fc", 12)


def cnn_check() -> RestoreCheck:
    """Return the check of a CNN whose layer has another name, and which has another head."""
    _, changed = changed_cnn()
    return cv.check(changed, "cnn/ckpt-1")


def trained() -> cv.Explorer:
    """Return the change of a CNN in a few steps of training; one kernel has a NaN afterwards."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu", name="conv1"),
            layers.BatchNormalization(name="bn1"),
            layers.Conv2D(32, 3, activation="relu", name="conv2"),
            layers.GlobalAveragePooling2D(name="average"),
            layers.Dense(10, activation="softmax", name="fc"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    ckpt = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    images, digits = tf.random.normal((64, 28, 28, 1)), tf.range(64) % 10
    model.fit(images, digits, verbose=0)
    before = ckpt.save("trained/ckpt")
    model.fit(images, digits, epochs=5, verbose=0)
    kernel = model.get_layer("conv2").kernel
    values = kernel.numpy()
    values[0, 0, 0, 0] = float("nan")
    kernel.assign(values)
    explorer = cv.show(before, against=ckpt.save("trained/ckpt"), measure="change")
    explorer.view = "layers"
    return explorer


def _mobilenet(classes: int = 1000) -> tf.train.Checkpoint:
    model = keras.applications.MobileNetV2(weights=None, classes=classes)
    return tf.train.Checkpoint(model=model, optimizer=_built(keras.optimizers.Adam(), model))


def mobilenet() -> ObjectGraph:
    """Return MobileNetV2 with Adam, live."""
    return cv.graph(_mobilenet())


def mobilenet_saved() -> ObjectGraph:
    """Return the same model as a checkpoint holds it."""
    return cv.graph(_mobilenet().save("mobilenet/ckpt"))


def mobilenet_check() -> RestoreCheck:
    """Return the check of its checkpoint against a program with seven classes."""
    return cv.check(_mobilenet(7), _mobilenet().save("mobilenet_check/ckpt"))


def transformer() -> ObjectGraph:
    """Return a transformer of twelve blocks with AdamW."""
    tokens = keras.Input((32,), dtype="int32", name="tokens")
    x = layers.Embedding(1000, 64, name="embed")(tokens)
    for block in range(12):
        attended = layers.MultiHeadAttention(4, 16, name=f"block{block}_attn")(x, x)
        x = layers.Add(name=f"block{block}_add1")([x, attended])
        x = layers.LayerNormalization(name=f"block{block}_norm1")(x)
        hidden = layers.Dense(256, activation="gelu", name=f"block{block}_ffn_in")(x)
        hidden = layers.Dense(64, name=f"block{block}_ffn_out")(hidden)
        x = layers.Add(name=f"block{block}_add2")([x, hidden])
        x = layers.LayerNormalization(name=f"block{block}_norm2")(x)
    model = keras.Model(tokens, layers.Dense(1000, name="lm_head")(x), name="transformer")
    optimizer = _built(keras.optimizers.AdamW(), model)
    return cv.graph(tf.train.Checkpoint(model=model, optimizer=optimizer))


def gan() -> ObjectGraph:
    """Return a generator and a discriminator, each with its optimizer."""
    generator = keras.Sequential(
        [layers.Input((16,)), layers.Dense(64, activation="relu"), layers.Dense(784)]
    )
    discriminator = keras.Sequential(
        [layers.Input((784,)), layers.Dense(64), layers.LeakyReLU(), layers.Dense(1)]
    )
    return cv.graph(
        tf.train.Checkpoint(
            generator=generator,
            discriminator=discriminator,
            generator_optimizer=_built(keras.optimizers.Adam(), generator),
            discriminator_optimizer=_built(keras.optimizers.Adam(), discriminator),
        )
    )


def tensorflow_1() -> ObjectGraph:
    """Return a checkpoint of TensorFlow 1 with the names of two dense layers and Momentum."""
    shapes = {"hidden": (20, 50), "output": (50, 10)}
    values = {f"{layer}/kernel": shape for layer, shape in shapes.items()}
    values |= {f"{layer}/bias": shape[1:] for layer, shape in shapes.items()}
    values |= {f"{name}/Momentum": shape for name, shape in values.items()}
    return cv.graph(_written_by_name(values, "tensorflow_1/model"))


def bert() -> ObjectGraph:
    """Return a checkpoint with the names of a BERT of twelve layers, small in width."""
    width = 16
    values: dict[str, tuple[int, ...]] = {"bert/embeddings/word_embeddings": (1000, width)}
    for layer in range(12):
        place = f"bert/encoder/layer_{layer}"
        attention = [f"{place}/attention/self/{part}" for part in ("query", "key", "value")]
        for dense in (*attention, f"{place}/attention/output/dense"):
            values |= {f"{dense}/kernel": (width, width), f"{dense}/bias": (width,)}
        values |= {f"{place}/intermediate/dense/kernel": (width, 4 * width)}
        values |= {f"{place}/intermediate/dense/bias": (4 * width,)}
        values |= {f"{place}/output/dense/kernel": (4 * width, width)}
        values |= {f"{place}/output/dense/bias": (width,)}
        for norm in ("attention/output", "output"):
            values |= {f"{place}/{norm}/LayerNorm/{part}": (width,) for part in ("beta", "gamma")}
    values |= {"bert/pooler/dense/kernel": (width, width), "bert/pooler/dense/bias": (width,)}
    return cv.graph(_written_by_name(values, "bert/model.ckpt"))


def _written_by_name(values: dict[str, tuple[int, ...]], prefix: str) -> str:
    os.makedirs(os.path.dirname(prefix), exist_ok=True)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, shape in values.items():
            tf.compat.v1.get_variable(name, shape)
        tf.compat.v1.train.get_or_create_global_step()
        session.run(tf.compat.v1.global_variables_initializer())
        path: str = tf.compat.v1.train.Saver().save(session, prefix)
    return path


def modules() -> ObjectGraph:
    """Return 50,000 modules and variables, which are no layers."""
    root = tf.Module()
    root.blocks = []
    for _ in range(12_500):
        block, block.inner = tf.Module(), tf.Module()
        block.w, block.b = tf.Variable([0.0]), tf.Variable([0.0])
        root.blocks.append(block)
    return cv.graph(root)


def _built(optimizer: keras.optimizers.Optimizer, model: keras.Model) -> keras.optimizers.Optimizer:
    optimizer.build(model.trainable_variables)
    return optimizer


MODELS = (
    guide,
    cnn_check,
    trained,
    mobilenet,
    mobilenet_saved,
    mobilenet_check,
    transformer,
    gan,
    tensorflow_1,
    bert,
    modules,
)

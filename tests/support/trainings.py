"""Small healthy trainings of many kinds, and defects to plant into them.

`HEALTHY` has the kinds that the rules of a history were made with, `HELD_OUT` those that only judge
them. `python -m tests.support.trainings --seeds 10 --directory runs` counts the healthy trainings
with a finding, and the defects that a history does not name first.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.programs import keras_3

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


@dataclass
class Training:
    """A model that trains step by step.

    `batches` draws the next batch, `step` applies one, and `saved` are the objects of its
    checkpoint. Defects replace what they need.
    """

    model: Any
    optimizer: Any
    batches: Callable[[], tuple[Array, ...]]
    step: Callable[..., object]
    rates: Callable[[int, int], float | None] = lambda step, steps: None
    saved: Mapping[str, Any] = field(default_factory=dict)
    ends: Callable[[], object] = lambda: None

    def parts(self) -> Mapping[str, Any]:
        """Return what a checkpoint of it holds."""
        return self.saved or {"model": self.model, "optimizer": self.optimizer}


Kind = Callable[[Rng], Training]
Plant = Callable[[int, Training], object]

INTERVALS: Sequence[Sequence[int]] = (
    [1] * 10,
    [10] * 8,
    [0, 40, 40, 40, 40, 40, 40],
    [0, 1, 1, 2, 4, 8, 16, 32, 64, 128],
    [200] * 6,
    [1000] * 4,
)
"""The steps before each save, in turn; 0 saves the initial values."""


def train(
    kind: Kind,
    seed: int,
    directory: Path,
    plant: Plant = lambda save, training: None,
    intervals: Sequence[int] | None = None,
) -> str:
    """Train and save by turns, and return the directory; `plant` runs before each save's steps."""
    import tensorflow as tf

    keras_3().utils.set_random_seed(seed)
    training = kind(np.random.default_rng(seed))
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(**training.parts()), str(directory), max_to_keep=None
    )
    intervals = INTERVALS[seed % len(INTERVALS)] if intervals is None else intervals
    done, steps = 0, sum(intervals)
    for save, interval in enumerate(intervals):
        plant(save, training)
        for _ in range(interval):
            rate = training.rates(done, steps)
            if rate is not None:
                training.optimizer.learning_rate.assign(rate)
            training.step(*training.batches())
            done += 1
        if save == len(intervals) - 1:
            training.ends()
        manager.save()
    return str(directory)


# --- how a kind is made


def _training(
    model: Any, optimizer: Any, loss: Callable[..., Any], batches: Callable[[], Any], **more: Any
) -> Training:
    """Return a training with a step of gradient descent; `loss` takes a batch."""
    variables = model.trainable_variables
    optimizer.build(variables)
    return Training(model, optimizer, batches, _step(loss, optimizer, variables), **more)


def _step(loss: Callable[..., Any], optimizer: Any, variables: Sequence[Any]) -> Any:
    import tensorflow as tf

    @tf.function(reduce_retracing=True)  # type: ignore[untyped-decorator]
    def step(*batch: Any) -> None:
        with tf.GradientTape() as tape:
            value = loss(*batch)
            if hasattr(optimizer, "scale_loss"):
                value = optimizer.scale_loss(value)
        optimizer.apply(tape.gradient(value, variables), variables)

    return step


def _batches(rng: Rng, *arrays: Array, size: int = 32) -> Callable[[], tuple[Array, ...]]:
    def draw() -> tuple[Array, ...]:
        chosen = rng.integers(0, len(arrays[0]), size)
        return tuple(one[chosen] for one in arrays)

    return draw


def _squared(model: Any, x: Any, y: Any) -> Any:
    import tensorflow as tf

    return tf.reduce_mean((tf.cast(model(x, training=True), tf.float32) - y) ** 2)


def _crossed(model: Any, x: Any, y: Any) -> Any:
    import tensorflow as tf

    logits = tf.cast(model(x, training=True), tf.float32)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


def _f32(array: Any) -> Array:
    return np.asarray(array, np.float32)


def _clusters(rng: Rng, classes: int, features: int, number: int = 512) -> tuple[Array, Array]:
    centres = rng.normal(0, 1.5, (classes, features))
    labels = rng.integers(0, classes, number)
    return _f32(centres[labels] + rng.normal(size=(number, features))), labels


def _pictures(rng: Rng, scale: float) -> tuple[Array, Array]:
    """Return pictures of 8×8 in four classes, the brightest quarter."""
    labels = rng.integers(0, 4, 256)
    pictures = rng.normal(0.3, 0.3, (256, 8, 8, 1))
    for picture, label in zip(pictures, labels, strict=True):
        row, column = divmod(int(label), 2)
        picture[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1.0
    return _f32(pictures * scale), labels


def _dense(units: int, activation: str | None = None, **options: Any) -> Any:
    return keras_3().layers.Dense(units, activation=activation, **options)


def _mlp(features: int, *units: int, activation: str = "relu", outputs: int = 4) -> Any:
    keras = keras_3()
    hidden = [_dense(number, activation, name=f"hidden_{n}") for n, number in enumerate(units)]
    return keras.Sequential([keras.Input((features,)), *hidden, _dense(outputs, name="head")])


# --- kinds that the rules were made with


def regression(rng: Rng) -> Training:
    """A line with a bias that crosses zero, by SGD."""
    x = _f32(rng.normal(size=(256, 3)))
    y = _f32(x @ rng.normal(size=(3, 1)) + rng.normal() * 0.3 + 0.1 * rng.normal(size=(256, 1)))
    model = _mlp(3, outputs=1)
    optimizer = keras_3().optimizers.SGD(float(rng.choice([0.003, 0.03, 0.1])))
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y))


def raw_regression(rng: Rng) -> Training:
    """Targets in the hundreds, as prices are, by Adam and two layers."""
    x = _f32(rng.normal(size=(256, 5)))
    y = _f32(300 * x @ rng.normal(size=(5, 1)) + 500)
    model = _mlp(5, 16, outputs=1)
    optimizer = keras_3().optimizers.Adam(float(rng.choice([0.01, 0.1])))
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y))


def classifier(rng: Rng) -> Training:
    model = _mlp(12, 32, 16)
    optimizer = keras_3().optimizers.Adam(float(rng.choice([1e-3, 1e-2])))
    batches = _batches(rng, *_clusters(rng, 4, 12))
    return _training(model, optimizer, partial(_crossed, model), batches)


def convolution(rng: Rng) -> Training:
    """Batch normalisation, of pictures up to 1 or up to 255."""
    keras = keras_3()
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, name="conv"),
            layers.BatchNormalization(name="norm"),
            layers.ReLU(),
            layers.Conv2D(8, 3, activation="relu", strides=2, name="conv_2"),
            layers.Flatten(),
            _dense(4, name="head"),
        ]
    )
    pictures = _pictures(rng, float(rng.choice([1.0, 255.0])))
    optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
    return _training(model, optimizer, partial(_crossed, model), _batches(rng, *pictures))


def lstm(rng: Rng) -> Training:
    keras = keras_3()
    x = _f32(np.cumsum(rng.normal(size=(256, 6, 2)), axis=1))
    y = _f32(x[:, -1:, 0] > 0)
    model = keras.Sequential(
        [keras.Input((6, 2)), keras.layers.LSTM(8, name="lstm"), _dense(1, name="head")]
    )
    optimizer = keras.optimizers.Adam(0.01, clipnorm=1.0)
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y))


def embedding(rng: Rng) -> Training:
    """Rare words change a few rows at a step only."""
    keras = keras_3()
    words = np.minimum(rng.zipf(1.5, (512, 4)), 99)
    labels = (words.sum(axis=1) % 3).astype(np.int64)
    model = keras.Sequential(
        [
            keras.Input((4,), dtype="int64"),
            keras.layers.Embedding(100, 8, name="words"),
            keras.layers.Flatten(),
            _dense(3, name="head"),
        ]
    )
    optimizer = keras.optimizers.Adam(0.01)
    return _training(model, optimizer, partial(_crossed, model), _batches(rng, words, labels))


def adversarial(rng: Rng) -> Training:
    """A generator and a discriminator, each with an optimizer; one may make more steps."""
    import tensorflow as tf

    keras = keras_3()
    generator, critic = _mlp(4, 16, outputs=2), _mlp(2, 16, outputs=1, activation="leaky_relu")
    optimizers = [keras.optimizers.Adam(1e-3, beta_1=0.5) for _ in range(2)]
    cross = tf.nn.sigmoid_cross_entropy_with_logits

    def of_critic(noise: Any, real: Any) -> Any:
        good, bad = critic(real), critic(generator(noise))
        return tf.reduce_mean(cross(tf.ones_like(good), good) + cross(tf.zeros_like(bad), bad))

    def of_generator(noise: Any, real: Any) -> Any:
        judged = critic(generator(noise))
        return tf.reduce_mean(cross(tf.ones_like(judged), judged))

    steps = []
    for optimizer, model, loss in zip(
        optimizers, (generator, critic), (of_generator, of_critic), strict=True
    ):
        optimizer.build(model.trainable_variables)
        steps.append(_step(loss, optimizer, model.trainable_variables))
    alternates = bool(rng.integers(2))
    turn = [0]

    def step(*batch: Any) -> None:
        turn[0] += 1
        steps[1](*batch)
        if not alternates or turn[0] % 5 == 0:
            steps[0](*batch)

    def draw() -> tuple[Array, ...]:
        return _f32(rng.normal(size=(32, 4))), _f32(rng.normal(2, 0.5, (32, 2)))

    saved = {
        "generator": generator,
        "critic": critic,
        "generator_optimizer": optimizers[0],
        "critic_optimizer": optimizers[1],
    }
    return Training(generator, optimizers[0], draw, step, saved=saved)


def autoencoder(rng: Rng) -> Training:
    x = _f32(rng.normal(size=(256, 3)) @ rng.normal(size=(3, 12)))
    model = _mlp(12, 8, 3, 8, outputs=12, activation="tanh")
    optimizer = keras_3().optimizers.RMSprop(1e-3)
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, x))


def transformer(rng: Rng) -> Training:
    keras = keras_3()
    layers = keras.layers
    words = keras.Input((6,), dtype="int64")
    x = layers.Embedding(20, 16, name="words")(words)
    attended = layers.MultiHeadAttention(2, 8, name="attention")(x, x)
    x = layers.LayerNormalization(name="norm")(x + attended)
    wide = layers.Dense(32, activation="gelu", name="wide")(x)
    x = layers.LayerNormalization(name="norm_2")(x + layers.Dense(16, name="narrow")(wide))
    model = keras.Model(words, layers.Dense(20, name="head")(x))
    text = rng.integers(0, 20, (256, 6))
    batches = _batches(rng, text, np.roll(text, 1, axis=1), size=16)

    def warm(step: int, steps: int) -> float:
        return 3e-3 * min(1.0, (step + 1) / 20)

    optimizer = keras.optimizers.AdamW(3e-3, weight_decay=0.01)
    loss = partial(_crossed, model)
    return _training(model, optimizer, loss, batches, rates=warm)


def scheduled(rng: Rng) -> Training:
    """Cosine to zero, with or without warm restarts, or steps down to zero."""
    cycles = int(rng.choice([1, 3]))
    drops = bool(rng.integers(2))

    def rate(step: int, steps: int) -> float:
        share = step / max(steps - 1, 1)
        if drops:
            return (0.1, 0.01, 0.0)[min(2, int(share * 3))]
        return float(0.05 * (1 + np.cos(np.pi * (share * cycles % 1.0 if share < 1 else 1.0))))

    model = _mlp(12, 16)
    batches = _batches(rng, *_clusters(rng, 4, 12))
    optimizer = keras_3().optimizers.SGD(0.1, momentum=0.9)
    return _training(model, optimizer, partial(_crossed, model), batches, rates=rate)


def decayed(rng: Rng) -> Training:
    """Weight decay, clipped gradients, and averages of the weights that replace them at the end."""
    model = _mlp(12, 32, 16)
    optimizer = keras_3().optimizers.AdamW(
        3e-3, weight_decay=float(rng.choice([0.01, 0.1])), global_clipnorm=1.0, use_ema=True
    )
    training = _training(
        model, optimizer, partial(_crossed, model), _batches(rng, *_clusters(rng, 4, 12))
    )

    def ends() -> None:
        optimizer.finalize_variable_values(model.trainable_variables)

    return replace(training, ends=ends)


def tuned(rng: Rng) -> Training:
    """A head on a frozen backbone: its frozen layers are no defect, but worth a note."""
    keras = keras_3()
    backbone = keras.Sequential(
        [keras.Input((12,)), _dense(24, "relu", name="a"), _dense(16, "relu", name="b")]
    )
    backbone.trainable = False
    model = keras.Sequential([keras.Input((12,)), backbone, _dense(4, name="head")])
    optimizer = keras.optimizers.Adam(1e-2)
    batches = _batches(rng, *_clusters(rng, 4, 12))
    return _training(model, optimizer, partial(_crossed, model), batches)


def stopped(rng: Rng) -> Training:
    """Dropout, and the best weights come back at the end."""
    keras = keras_3()
    model = keras.Sequential(
        [
            keras.Input((12,)),
            _dense(32, "relu", name="hidden"),
            keras.layers.Dropout(0.5),
            _dense(4, name="head"),
        ]
    )
    batches = _batches(rng, *_clusters(rng, 4, 12))
    training = _training(model, keras.optimizers.Nadam(3e-3), partial(_crossed, model), batches)
    best: list[Any] = []

    def draw() -> tuple[Array, ...]:
        best[:] = best or [model.get_weights()]
        if rng.random() < 0.02:
            best[:] = [model.get_weights()]
        return batches()

    return replace(training, batches=draw, ends=lambda: model.set_weights(best[0]))


def reduced(rng: Rng) -> Training:
    """Mixed precision with a scaled loss, or weights in bfloat16."""
    keras = keras_3()
    is_mixed = bool(rng.integers(2))
    policy = "mixed_float16" if is_mixed else "bfloat16"
    model = keras.Sequential(
        [
            keras.Input((12,)),
            _dense(16, "relu", name="hidden", dtype=policy),
            _dense(4, name="head", dtype=policy),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-2)
    if is_mixed:
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    batches = _batches(rng, *_clusters(rng, 4, 12))
    return _training(model, optimizer, partial(_crossed, model), batches)


def converged(rng: Rng) -> Training:
    """Data without noise, which the model fits until nothing changes."""
    x = _f32(rng.normal(size=(64, 4)))
    y = _f32(x @ rng.normal(size=(4, 2)) + 0.5)
    model = _mlp(4, outputs=2)
    optimizer = keras_3().optimizers.SGD(0.2)
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y, size=64))


HEALTHY: Mapping[str, Kind] = {
    one.__name__: one
    for one in (
        *(regression, raw_regression, classifier, convolution, lstm, embedding, adversarial),
        *(autoencoder, transformer, scheduled, decayed, tuned, stopped, reduced, converged),
    )
}

# --- kinds that only judge the rules


def scalars(rng: Rng) -> Training:
    """A module of two scalars, without Keras layers."""
    import tensorflow as tf

    module = tf.Module()
    module.w, module.b = tf.Variable(0.0), tf.Variable(float(rng.normal()) * 0.01)
    x = _f32(rng.normal(size=200))
    y = _f32(rng.normal() * x + rng.normal())
    optimizer = keras_3().optimizers.SGD(0.01)

    def loss(x: Any, y: Any) -> Any:
        return tf.reduce_mean((module.w * x + module.b - y) ** 2)

    return _training(module, optimizer, loss, _batches(rng, x, y))


def deep_linear(rng: Rng) -> Training:
    """Small initial values, which leave a plateau late and fast."""
    keras = keras_3()
    small = keras.initializers.RandomNormal(stddev=0.03)
    model = keras.Sequential(
        [
            keras.Input((8,)),
            *(_dense(8, use_bias=False, kernel_initializer=small, name=f"l{n}") for n in range(3)),
        ]
    )
    x = _f32(rng.normal(size=(128, 8)))
    y = _f32(x @ np.linalg.qr(rng.normal(size=(8, 8)))[0] * 2)
    optimizer = keras.optimizers.SGD(0.2)
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y, size=128))


def factors(rng: Rng) -> Training:
    """Two embeddings and biases of ratings, by Adagrad."""
    keras = keras_3()
    layers = keras.layers
    user, item = keras.Input((1,), dtype="int64"), keras.Input((1,), dtype="int64")
    u, i = (layers.Embedding(n, 4, name=f"e{n}")(one) for n, one in ((60, user), (80, item)))
    b = layers.Embedding(80, 1, name="bias", embeddings_initializer="zeros")(item)
    score = layers.Flatten()(layers.Add()([layers.Dot(axes=2)([u, i]), b]))
    model = keras.Model([user, item], score)
    users, items = rng.integers(0, 60, (800, 1)), rng.integers(0, 80, (800, 1))
    stars = _f32(rng.normal(size=60)[users] * rng.normal(size=80)[items] + 3)
    optimizer = keras.optimizers.Adagrad(0.1)
    return _training(
        model,
        optimizer,
        lambda a, b, y: _squared(model, [a, b], y),
        _batches(rng, users, items, stars),
    )


def logistic(rng: Rng) -> Training:
    """Features of unlike sizes, by FTRL with an L1 penalty, which zeroes some weights."""
    x, labels = _clusters(rng, 2, 20)
    model = _mlp(20, outputs=2)
    optimizer = keras_3().optimizers.Ftrl(0.1, l1_regularization_strength=0.003)
    batches = _batches(rng, x * _f32(10.0 ** rng.uniform(-1, 1, 20)), labels)
    return _training(model, optimizer, partial(_crossed, model), batches)


def variational(rng: Rng) -> Training:
    import tensorflow as tf

    keras = keras_3()
    encoder, decoder = _mlp(10, 16, outputs=4), _mlp(2, 16, outputs=10)
    model = keras.Sequential([encoder])
    x = _f32(rng.normal(size=(256, 2)) @ rng.normal(size=(2, 10)))
    optimizer = keras.optimizers.Adam(5e-3)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer.build(variables)

    def loss(x: Any, noise: Any) -> Any:
        mean, log = tf.split(encoder(x), 2, axis=1)
        error = tf.reduce_sum((decoder(mean + tf.exp(log / 2) * noise) - x) ** 2, axis=1)
        return tf.reduce_mean(error + tf.reduce_sum(tf.exp(log) + mean**2 - 1 - log, axis=1) / 2)

    def draw() -> tuple[Array, ...]:
        return x[rng.integers(0, 256, 32)], _f32(rng.normal(size=(32, 2)))

    saved = {"encoder": encoder, "decoder": decoder, "optimizer": optimizer}
    return Training(model, optimizer, draw, _step(loss, optimizer, variables), saved=saved)


def policy(rng: Rng) -> Training:
    """Noisy gradients of a policy, as reinforcement learning has them."""
    import tensorflow as tf

    model = _mlp(4, 16, outputs=3)
    optimizer = keras_3().optimizers.Adam(3e-3)

    def loss(x: Any, action: Any, reward: Any) -> Any:
        chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(action, model(x))
        return tf.reduce_mean(chosen * reward)

    def draw() -> tuple[Array, ...]:
        x = _f32(rng.normal(size=(16, 4)))
        logits = np.asarray(model(x)) + rng.gumbel(size=(16, 3))
        action = logits.argmax(axis=1)
        reward = (action == (x[:, 0] > 0)).astype(np.float32) - 0.3
        return x, action, reward * _f32(rng.standard_t(3, 16))

    return _training(model, optimizer, loss, draw)


def residual(rng: Rng) -> Training:
    """A branch that begins at zero, batch normalisation, warm-up and decay."""
    keras = keras_3()
    layers = keras.layers
    picture = keras.Input((8, 8, 1))
    x = layers.Conv2D(8, 3, padding="same", use_bias=False, name="stem")(picture)
    y = layers.BatchNormalization(name="norm")(x)
    y = layers.Conv2D(8, 3, padding="same", use_bias=False, name="branch")(layers.ReLU()(y))
    y = layers.BatchNormalization(gamma_initializer="zeros", name="gate")(y)
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x + y))
    model = keras.Model(picture, layers.Dense(4, name="head")(x))

    def rate(step: int, steps: int) -> float:
        rise = 0.1 * min(1.0, (step + 1) / (0.2 * steps))
        return float(rise * (1 + np.cos(np.pi * step / steps)) / 2)

    optimizer = keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    batches = _batches(rng, *_pictures(rng, 1.0))
    return _training(model, optimizer, partial(_crossed, model), batches, rates=rate)


def gated(rng: Rng) -> Training:
    keras = keras_3()
    x = _f32(rng.normal(size=(256, 5, 3)))
    y = _f32(np.sin(x).sum(axis=(1, 2))[:, None])
    model = keras.Sequential(
        [
            keras.Input((5, 3)),
            keras.layers.Bidirectional(keras.layers.GRU(6, name="gru"), name="both"),
            _dense(1, name="head"),
        ]
    )
    optimizer = keras.optimizers.Lion(1e-3)
    return _training(model, optimizer, partial(_squared, model), _batches(rng, x, y))


def adapted(rng: Rng) -> Training:
    """A frozen kernel with an addition of low rank, whose second factor begins at zero."""
    import tensorflow as tf

    keras = keras_3()
    model = _mlp(12, 16)
    base = model.get_layer("hidden_0")
    base.trainable = False
    module = tf.Module()
    module.a = tf.Variable(_f32(rng.normal(0, 0.2, (12, 2))))
    module.b = tf.Variable(tf.zeros((2, 16)))
    optimizer = keras.optimizers.Adam(5e-3)
    head = model.get_layer("head")
    variables = [module.a, module.b, *head.trainable_variables]
    optimizer.build(variables)

    def loss(x: Any, y: Any) -> Any:
        logits = head(tf.nn.relu(base(x) + x @ module.a @ module.b))
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

    batches = _batches(rng, *_clusters(rng, 4, 12))
    saved = {"model": model, "lora": module, "optimizer": optimizer}
    return Training(model, optimizer, batches, _step(loss, optimizer, variables), saved=saved)


def separable(rng: Rng) -> Training:
    keras = keras_3()
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3, activation="relu", name="stem"),
            layers.SeparableConv2D(8, 3, activation="elu", name="separable"),
            layers.GroupNormalization(2, name="norm"),
            layers.GlobalMaxPooling2D(),
            _dense(4, name="head"),
        ]
    )
    optimizer = keras.optimizers.Adafactor(0.02)
    batches = _batches(rng, *_pictures(rng, 1.0))
    return _training(model, optimizer, partial(_crossed, model), batches)


def queued(rng: Rng) -> Training:
    """Contrasts with a queue of earlier codes, and an encoder that follows as an average."""
    import tensorflow as tf

    keras = keras_3()
    encoder, teacher = _mlp(12, 16, outputs=8), _mlp(12, 16, outputs=8)
    teacher.set_weights(encoder.get_weights())
    teacher.trainable = False
    queue = tf.Variable(tf.math.l2_normalize(tf.random.normal((128, 8)), axis=1))
    optimizer = keras.optimizers.Adam(3e-3)
    variables = encoder.trainable_variables
    optimizer.build(variables)

    def loss(x: Any, near: Any) -> Any:
        code = tf.math.l2_normalize(encoder(x), axis=1)
        key = tf.stop_gradient(tf.math.l2_normalize(teacher(near), axis=1))
        same = tf.reduce_sum(code * key, axis=1, keepdims=True)
        logits = tf.concat([same, code @ tf.transpose(queue)], axis=1) / 0.2
        queue.assign(tf.concat([key, queue[:-32]], axis=0))
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros(32, tf.int64), logits)
        )

    step = _step(loss, optimizer, variables)

    def both(*batch: Any) -> None:
        step(*batch)
        for ours, theirs in zip(teacher.variables, variables, strict=True):
            ours.assign(0.99 * ours + 0.01 * theirs)

    def draw() -> tuple[Array, ...]:
        x = rng.normal(size=(32, 12))
        return _f32(x), _f32(x + 0.1 * rng.normal(size=x.shape))

    saved = {"encoder": encoder, "teacher": teacher, "queue": queue, "optimizer": optimizer}
    return Training(encoder, optimizer, draw, both, saved=saved)


def values(rng: Rng) -> Training:
    """A network of values, by plain SGD, and a copy that follows every 25 steps."""
    import tensorflow as tf

    model, target = _mlp(4, 16, outputs=2), _mlp(4, 16, outputs=2)
    optimizer = keras_3().optimizers.SGD(0.02)
    optimizer.build(model.trainable_variables)

    def loss(x: Any, action: Any, reward: Any, then: Any) -> Any:
        wanted = reward + 0.9 * tf.reduce_max(tf.stop_gradient(target(then)), axis=1)
        return tf.reduce_mean((tf.gather(model(x), action, axis=1, batch_dims=1) - wanted) ** 2)

    step, done = _step(loss, optimizer, model.trainable_variables), [0]

    def both(*batch: Any) -> None:
        step(*batch)
        done[0] += 1
        if done[0] % 25 == 0:
            target.set_weights(model.get_weights())

    def draw() -> tuple[Array, ...]:
        x, action = rng.normal(size=(32, 4)), rng.integers(0, 2, 32)
        then = 0.8 * x + 0.3 * (2 * action[:, None] - 1)
        return _f32(x), action, _f32(-np.abs(then).sum(axis=1)), _f32(then)

    saved = {"model": model, "target": target, "optimizer": optimizer}
    return Training(model, optimizer, draw, both, saved=saved)


def stateful(rng: Rng) -> Training:
    """A recurrent layer whose state is in the checkpoint, and weight normalisation."""
    keras = keras_3()
    model = keras.Sequential(
        [
            keras.Input((5, 2), batch_size=16),
            keras.layers.GRU(8, stateful=True, name="gru"),
            keras.layers.UnitNormalization(),
            _dense(1, name="head"),
        ]
    )
    optimizer = keras.optimizers.SGD(0.05)

    def draw() -> tuple[Array, ...]:
        x = _f32(rng.normal(size=(16, 5, 2)))
        return x, _f32(np.sin(x.sum(axis=(1, 2)))[:, None])

    return _training(model, optimizer, partial(_squared, model), draw)


def quantized(rng: Rng) -> Training:
    """A codebook that follows averages of codes, and draws unused ones again."""
    import tensorflow as tf

    encoder, decoder = _mlp(6, 16, outputs=3), _mlp(3, 16, outputs=6)
    codes = tf.Variable(_f32(rng.normal(size=(16, 3))))
    x = _f32(rng.normal(size=(256, 2)) @ rng.normal(size=(2, 6)))
    optimizer = keras_3().optimizers.Adam(3e-3)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer.build(variables)

    def loss(x: Any) -> Any:
        z = encoder(x)
        near = tf.argmin(tf.reduce_sum((z[:, None] - codes[None]) ** 2, axis=2), axis=1)
        q = tf.gather(codes, near)
        error = tf.reduce_mean((decoder(z + tf.stop_gradient(q - z)) - x) ** 2)
        used = tf.one_hot(near, 16)
        means = tf.math.divide_no_nan(tf.transpose(used) @ z, tf.reduce_sum(used, 0)[:, None])
        seen = tf.cast(tf.reduce_sum(used, 0) > 0, tf.float32)[:, None]
        drawn = tf.random.shuffle(z)[:16]
        codes.assign(seen * (0.9 * codes + 0.1 * means) + (1 - seen) * drawn)
        return error + 0.25 * tf.reduce_mean((z - tf.stop_gradient(q)) ** 2)

    saved = {"encoder": encoder, "decoder": decoder, "codes": codes, "optimizer": optimizer}
    step = _step(loss, optimizer, variables)
    return Training(encoder, optimizer, _batches(rng, x), step, saved=saved)


HELD_OUT: Mapping[str, Kind] = {
    one.__name__: one
    for one in (
        *(scalars, deep_linear, factors, logistic, variational, policy, residual, gated),
        *(adapted, separable, queued, values, stateful, quantized),
    )
}

# --- defects


def _kernels(training: Training) -> list[Any]:
    return [one for one in training.model.trainable_variables if len(one.shape) > 1]


def _largest(training: Training) -> Any:
    return max(_kernels(training), key=lambda one: int(np.prod(one.shape)))


def high_rate(save: int, training: Training) -> None:
    if save == 4:
        training.rates = lambda step, steps: 1e4


def bad_batch(save: int, training: Training) -> None:
    """Plant a batch that is 1e6 times as large."""
    if save == 4:
        batches = training.batches
        training.batches = lambda: tuple(
            one * np.float32(1e6) if one.dtype == np.float32 else one for one in batches()
        )


def nan_in_data(save: int, training: Training) -> None:
    if save == 4:
        batches = training.batches
        training.batches = lambda: tuple(
            one * np.float32(np.nan) if one.dtype == np.float32 else one for one in batches()
        )


def not_restored(save: int, training: Training) -> None:
    if save == 4:
        for variable in training.optimizer.variables:
            if "learning_rate" not in variable.path:
                variable.assign(np.zeros(variable.shape))


def made_anew(save: int, training: Training) -> None:
    if save == 4:
        kernel = _largest(training)
        kernel.assign(keras_3().initializers.GlorotUniform(seed=7)(kernel.shape, kernel.dtype))


def decays_away(save: int, training: Training) -> None:
    if save == 3:
        step, kernel = training.step, _largest(training)

        def decaying(*batch: Any) -> None:
            step(*batch)
            kernel.assign(kernel * 0.5)

        training.step = decaying


def _at_its_end(change: Callable[[Any], object]) -> Plant:
    """Return what changes the largest kernel after the last step of a save."""

    def plant(save: int, training: Training) -> None:
        if save != 4:
            return
        step, done = training.step, [0]

        def changing(*batch: Any) -> None:
            step(*batch)
            done[0] += 1
            if done[0] == DEFECT_INTERVALS[save]:
                change(_largest(training))

        training.step = changing

    return plant


def _shrinks(kernel: Any) -> None:
    kernel.assign(kernel * 0.01)


def _loses_columns(kernel: Any) -> None:
    value = np.asarray(kernel).copy()
    value[..., : max(1, value.shape[-1] // 4)] = 0
    kernel.assign(value)


def shrunk(save: int, training: Training) -> None:
    """Plant a kernel of a hundredth, which trains on."""
    if save == 4:
        _shrinks(_largest(training))


def stale(save: int, training: Training) -> None:
    if save == 3:
        step, optimizer = training.step, training.optimizer
        state = [one for one in optimizer.variables if "learning_rate" not in one.path]

        def uncounted(*batch: Any) -> None:
            kept = [np.asarray(one) for one in state]
            step(*batch)
            for one, value in zip(state, kept, strict=True):
                one.assign(value)

        training.step = uncounted


def forgotten(save: int, training: Training) -> None:
    """Plant a kernel that stops learning."""
    if save == 3:
        step, kernel = training.step, _largest(training)

        def without(*batch: Any) -> None:
            kept = np.asarray(kernel)
            step(*batch)
            kernel.assign(kept)

        training.step = without


def dead_units(save: int, training: Training) -> None:
    if save == 0:
        bias = next(one for one in training.model.trainable_variables if len(one.shape) == 1)
        bias.assign(np.where(np.arange(bias.shape[0]) % 4 == 1, -1e3, np.asarray(bias)))


_EXPLODED = frozenset({"exploding_gradients", "exploding", "inf", "nan"})
_NO_FLOATS = frozenset({"embedding", "transformer", "factors"})
_CLIPPED = frozenset({"lstm", "decayed"})
_RELATIVE = frozenset({"separable"})  # the steps of Adafactor are relative to the weights
_WITHOUT_RELU = frozenset({"lstm", "autoencoder", "convolution", "residual", "gated", "stateful"})

PLANTED: Mapping[str, tuple[Plant, frozenset[str], frozenset[str]]] = {
    "high_rate": (high_rate, _EXPLODED, _RELATIVE),
    "bad_batch": (bad_batch, _EXPLODED, _NO_FLOATS | _CLIPPED | _RELATIVE),
    "nan_in_data": (nan_in_data, frozenset({"nan"}), _NO_FLOATS),
    "not_restored": (not_restored, frozenset({"optimizer_reset"}), frozenset()),
    "made_anew": (made_anew, frozenset({"reinitialised"}), frozenset()),
    "decays_away": (decays_away, frozenset({"vanishing"}), frozenset()),
    "shrunk": (shrunk, frozenset({"vanishing", "reinitialised"}), frozenset({"residual"})),
    "shrunk_at_its_end": (_at_its_end(_shrinks), frozenset({"vanishing"}), frozenset()),
    "zeroed": (_at_its_end(_loses_columns), frozenset({"zeroed"}), frozenset()),
    "stale": (stale, frozenset({"stale_optimizer"}), frozenset()),
    "forgotten": (forgotten, frozenset({"frozen"}), frozenset({"decayed"})),
    "dead_units": (dead_units, frozenset({"dead"}), _NO_FLOATS | _WITHOUT_RELU),
}
"""Each defect, the kinds of finding that may come first, and the trainings that it does not harm.

Clipped gradients and normalised inputs survive a bad batch, for example.
"""


# --- a campaign


def judged(directory: str) -> tuple[list[str], list[str]]:
    """Return the kinds of the alarms of a history, and those of its notes."""
    import ckpt_viz as cv

    history = cv.history(directory, progress=False)
    notes = [one.kind.value for one in history.findings if one not in history.alarms]
    return [one.kind.value for one in history.alarms], notes


def campaign(directory: Path, kinds: Mapping[str, Kind], seeds: Sequence[int]) -> str:
    """Train healthy and with each defect, and return how often the findings are right."""
    false, healthy, missed, planted = [], 0, [], 0
    for name, seed in itertools.product(kinds, seeds):
        alarms, notes = judged(train(kinds[name], seed, directory / "healthy" / name / str(seed)))
        healthy += 1
        allowed = MAY_NOTE.get(name, frozenset())
        false += [f"{name} {seed}: {[*alarms, *notes]}"] if alarms or {*notes} - allowed else []
    for defect, (plant, wanted, harmless) in PLANTED.items():
        for name in [one for one in kinds if one in WITH_LAYERS and one not in harmless]:
            at = directory / defect / name / str(seeds[0])
            alarms, notes = judged(train(kinds[name], seeds[0], at, plant, DEFECT_INTERVALS))
            planted += 1
            first = [*alarms, *notes][:1]
            missed += [f"{defect} {name}: {first}"] if not wanted.intersection(first) else []
    lines = [f"{len(false)} of {healthy} healthy trainings have a finding", *false]
    return "\n".join([*lines, f"{len(missed)} of {planted} defects are not named first", *missed])


DEFECT_INTERVALS: Sequence[int] = (20,) * 8
MAY_NOTE: Mapping[str, frozenset[str]] = {
    name: frozenset({"frozen", "untrained"}) for name in ("tuned", "adapted", "values")
}
"""Kinds with layers that are frozen on purpose, or copied from time to time."""
WITH_LAYERS = frozenset(
    {
        *("raw_regression", "classifier", "convolution", "lstm", "embedding", "autoencoder"),
        *("transformer", "decayed", "factors", "variational", "policy", "residual", "gated"),
        *("separable", "values", "stateful"),
    }
)
"""Kinds with kernels that are large enough to plant a defect into."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    chosen = range(options.first_seed, options.first_seed + options.seeds)
    print(campaign(options.directory, HELD_OUT if options.held_out else HEALTHY, chosen))

"""No false alarms: a checkpoint that an identical program has just saved gives no finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind
from tests.support import live_objects
from tests.support.programs import ckpt, differently, keras_2, keras_3, save_any

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

# Fixtures for which the check rightly warns. They hold objects that TensorFlow does not track, or
# cannot restore what they save: a tensor whose name has a slash is not found again.
ALARMS = {
    live_objects.untracked_attributes: {Kind.NOT_TRACKED},
    live_objects.objects_that_serialize_themselves: {Kind.KEY_MISSING},
}


@pytest.mark.parametrize("make", live_objects.KINDS, ids=lambda make: make.__name__)
def test_every_kind_of_object(make: Callable[[], Any], tmp_path: Path) -> None:
    source = live_object(make)
    check = cv.check(live_object(make), save_any(tmp_path, source))
    assert alarms(check) == ALARMS.get(make, set())


def live_object(make: Callable[[], Any]) -> Any:
    """Make one; of the status of a restore, its checkpoint: the status takes no other."""
    made = make()
    return getattr(made, "keeps", made)


def alarms(check: cv.RestoreCheck) -> set[Kind]:
    return {found.kind for found in check.findings if found.severity is not Severity.INFO}


def assert_no_alarm(source: Callable[[], Any], live: Callable[[], Any], at: Path) -> None:
    """Save the one, and check the other with it."""
    check = cv.check(live(), save_any(at, source()))
    assert check.consumed
    assert alarms(check) == set()


# --- models of both Keras


def sequential(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(4, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(1),
        ]
    )


def functional(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((3,))
    left, right = layers.Dense(4)(inputs), layers.Dense(4)(inputs)
    joined = layers.LayerNormalization()(layers.Add()([left, right]))
    return keras.Model(inputs, [layers.Dense(1)(joined), layers.Dense(2)(left)])


def shared_and_nested(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((3,))
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(3), layers.Dense(3)])
    shared = layers.Dense(3)
    return keras.Model(inputs, shared(inner(shared(inputs))))


def recurrent(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((5,), dtype="int32")
    x = layers.Embedding(10, 4, mask_zero=True)(inputs)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True, dropout=0.1))(x)
    return keras.Model(inputs, layers.Dense(1)(layers.GRU(2)(x)))


def attention(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((4, 6))
    x = layers.MultiHeadAttention(2, 3, dropout=0.1)(inputs, inputs)
    return keras.Model(inputs, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))


def convolutional(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Rescaling(1 / 255),
            layers.RandomFlip(),
            layers.Conv2D(4, 3),
            layers.BatchNormalization(),
            layers.SeparableConv2D(4, 3),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


def half_precision(keras: Any) -> Any:
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, dtype="mixed_float16"),
            keras.layers.Dense(1, dtype="float32"),
        ]
    )


def subclassed(keras: Any) -> Any:
    base: Any = keras.Model

    class Encoder(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = (keras.layers.Dense(4), keras.layers.Dense(4))
            self.norm = keras.layers.BatchNormalization()
            self.head = keras.Sequential([keras.layers.Dense(2), keras.layers.Dropout(0.1)])
            self.loss_tracker = keras.metrics.Mean(name="loss")

        def call(self, x: Any) -> Any:
            for layer in self.body:
                x = layer(x)
            return self.head(self.norm(x))

    model = Encoder()
    model(keras.ops.ones((2, 3)) if hasattr(keras, "ops") else _ones(2, 3))
    return model


def _ones(*shape: int) -> Any:
    import tensorflow as tf

    return tf.ones(shape)


MODELS = (
    sequential,
    functional,
    shared_and_nested,
    recurrent,
    attention,
    convolutional,
    half_precision,
    subclassed,
)
LIBRARIES = {"keras_3": keras_3, "keras_2": keras_2}


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_alone(
    model: Callable[[Any], Any], library: Callable[[], Any], tmp_path: Path
) -> None:
    keras = library()
    assert_no_alarm(lambda: differently(model(keras)), lambda: model(keras), tmp_path)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_training_loop(
    model: Callable[[Any], Any], library: Callable[[], Any], tmp_path: Path
) -> None:
    keras = library()

    def loop() -> Any:
        made = model(keras)
        optimizer = keras.optimizers.Adam()
        optimizer.build(made.trainable_variables)
        return ckpt(model=made, optimizer=optimizer, step=_counter())

    assert_no_alarm(lambda: differently(loop()), loop, tmp_path)


def _counter() -> Any:
    import tensorflow as tf

    return tf.Variable(0, dtype=tf.int64)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_a_model_that_was_compiled_and_fitted(library: Callable[[], Any], tmp_path: Path) -> None:
    keras = library()

    def fitted() -> Any:
        model = sequential(keras)
        model.compile("rmsprop", "mse", metrics=["mae", keras.metrics.AUC()], run_eagerly=True)
        model.fit(_ones(4, 3), _ones(4, 1), verbose=0)
        return model

    assert_no_alarm(fitted, fitted, tmp_path)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_a_gan_with_two_optimizers(library: Callable[[], Any], tmp_path: Path) -> None:
    keras = library()

    def gan() -> Any:
        parts: dict[str, Any] = {}
        for name in ("generator", "discriminator"):
            parts[name] = sequential(keras)
            optimizer = keras.optimizers.Adam()
            optimizer.build(parts[name].trainable_variables)
            parts[f"{name}_optimizer"] = optimizer
        return ckpt(**parts)

    assert_no_alarm(lambda: differently(gan()), gan, tmp_path)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_an_optimizer_that_scales_the_loss(library: Callable[[], Any], tmp_path: Path) -> None:
    keras = library()

    def loop() -> Any:
        model = half_precision(keras)
        inner = keras.optimizers.SGD(momentum=0.9)
        scale = getattr(keras, "mixed_precision", keras.optimizers).LossScaleOptimizer
        optimizer = scale(inner)
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    assert_no_alarm(loop, loop, tmp_path)


def test_legacy_keras_after_a_step(tmp_path: Path) -> None:
    keras = keras_2()

    def loop() -> Any:
        model = sequential(keras)
        optimizer = keras.optimizers.legacy.RMSprop(momentum=0.9, centered=True)
        variables = model.trainable_variables
        optimizer.apply_gradients([(_ones(*v.shape), v) for v in variables])
        return ckpt(model=model, optimizer=optimizer)

    assert_no_alarm(loop, loop, tmp_path)


# --- layers that are adapted to data


def adapted(keras: Any) -> Any:
    """Return a checkpoint of layers that were adapted, or given what they would learn."""
    import numpy as np

    layers, numbers, words = keras.layers, np.arange(6.0), np.array(["a b", "b"])
    made = {
        "normalization": layers.Normalization(axis=None),
        "discretization": layers.Discretization(num_bins=3),
        "lookup": layers.StringLookup(output_mode="multi_hot"),
        "text": layers.TextVectorization(),
    }
    for name, layer in made.items():
        layer.adapt(words if name in ("lookup", "text") else numbers)
    given = layers.Normalization(mean=1.0, variance=2.0)
    given.build((None, 1))
    return ckpt(
        **made,
        given=given,
        bounds=layers.Discretization([1.0, 2.0]),
        vocabulary=layers.IntegerLookup(vocabulary=[1, 2]),
        words=keras.Sequential([layers.TextVectorization(vocabulary=["a"])]),
    )


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_layers_adapted_to_the_same_data(library: Callable[[], Any], tmp_path: Path) -> None:
    keras = library()
    assert_no_alarm(lambda: adapted(keras), lambda: adapted(keras), tmp_path)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_no_alarm_once_the_state_is_finalized(library: Callable[[], Any], tmp_path: Path) -> None:
    keras = library()

    def normalizing(*data: float) -> Any:
        import numpy as np

        layer = keras.layers.Normalization(axis=None)
        layer.adapt(np.array(data))
        return ckpt(layer=layer)

    source, live = normalizing(1.0, 3.0), normalizing(5.0, 9.0)
    status = live.restore(save_any(tmp_path, source))
    status.assert_consumed()
    value = _ones(1, 1) * 7
    assert live.layer(value).numpy().item() != source.layer(value).numpy().item()
    assert alarms(cv.check(status)) == {Kind.NOT_TRACKED}
    live.layer.finalize_state()
    assert live.layer(value).numpy().item() == source.layer(value).numpy().item()
    assert alarms(cv.check(status)) == set()


def test_normalization_of_a_model_that_is_built_after_the_restore(tmp_path: Path) -> None:
    keras = keras_3()

    def model() -> Any:
        return keras.Sequential([keras.layers.Normalization(), keras.layers.Dense(1)])

    source, live = ckpt(model=model()), ckpt(model=model())
    source.model.layers[0].adapt(_ones(2, 3) * 7)
    source.model(_ones(1, 3))
    path = save_any(tmp_path, source)
    assert alarms(cv.check(live, path)) == {Kind.DEFERRED}
    status = live.restore(path)
    live.model(_ones(1, 3))
    status.assert_consumed()
    assert alarms(cv.check(status)) == {Kind.NOT_TRACKED}
    live.model.layers[0].finalize_state()
    assert alarms(cv.check(status)) == set()
    assert live.model(_ones(1, 3)).numpy() == source.model(_ones(1, 3)).numpy()

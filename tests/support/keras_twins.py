"""Models that Keras 2 and Keras 3 make alike: each function takes either module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def sequential(keras: Any) -> Any:
    """Return a model of layers that look alike, called without an input layer."""
    import tensorflow as tf

    layers = keras.layers
    dense = [layers.Dense(6) for _ in range(3)]
    model = keras.Sequential(
        [dense[0], layers.BatchNormalization(), layers.Dropout(0.1), *dense[1:]]
    )
    model(tf.ones((1, 6)))
    return model


def functional(keras: Any) -> Any:
    layers, inputs = keras.layers, keras.Input((6,))
    x = layers.Add()([layers.Dense(6)(inputs), layers.Dense(6)(inputs)])
    x = layers.Dense(6)(layers.LayerNormalization()(x))
    return keras.Model(inputs, [layers.Dense(2)(x), layers.Dense(2)(x)])


def convolutions(keras: Any) -> Any:
    layers, inputs = keras.layers, keras.Input((8, 8, 3))
    x = layers.BatchNormalization()(layers.Conv2D(4, 3)(inputs))
    x = layers.BatchNormalization()(layers.SeparableConv2D(4, 3)(x))
    x = layers.DepthwiseConv2D(3)(layers.Conv2DTranspose(4, 1, use_bias=False)(x))
    return keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)))


def recurrent(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            *(keras.Input((5,)), layers.Embedding(10, 4)),
            layers.LSTM(4, return_sequences=True),
            *(layers.GRU(4, return_sequences=True) for _ in range(2)),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.Bidirectional(layers.GRU(3, return_sequences=True)),
            *(layers.TimeDistributed(layers.Dense(3)), layers.SimpleRNN(3)),
        ]
    )


def attention(keras: Any) -> Any:
    layers, inputs = keras.layers, keras.Input((5, 4))
    x = inputs
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 2)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(4)(layers.Dense(8)(x)))
    return keras.Model(inputs, layers.Dense(2)(x))


def branches(keras: Any) -> Any:
    """Return a network like that of basic-pitch: three outputs, one branch inside another."""
    layers, inputs = keras.layers, keras.Input((8, 16, 1))

    def conv(filters: int, size: tuple[int, int], **how: Any) -> Any:
        return layers.Conv2D(filters, size, padding="same", **how)

    stacked = layers.Concatenate(axis=3)([layers.BatchNormalization()(inputs)] * 3)
    contours = layers.BatchNormalization()(conv(4, (3, 7))(stacked))
    contours = conv(1, (5, 5), name="contours-reduced")(layers.ReLU()(contours))
    notes = conv(1, (7, 3))(layers.ReLU()(conv(6, (7, 7))(contours)))
    onsets = layers.ReLU()(layers.BatchNormalization()(conv(6, (5, 5))(stacked)))
    onsets = conv(1, (3, 3))(layers.Concatenate(axis=3)([onsets, notes]))
    return keras.Model(inputs, [contours, notes, onsets])


def nested(keras: Any) -> Any:
    layers = keras.layers
    inner = keras.Sequential([keras.Input((6,)), layers.Dense(6), layers.Dense(6)], name="inner")
    inputs = keras.Input((6,))
    middle = keras.Model(inputs, layers.Dense(6)(layers.Dense(6)(inputs)))
    return keras.Model(inputs, layers.Dense(6)(middle(inner(inputs))))


def subclassed(keras: Any, first: str = "a", second: str = "b") -> Any:
    """Return a model of blocks, in which Keras 2 gives two layers the same full names."""
    import tensorflow as tf

    layers = keras.layers
    model: Any = keras.Model
    layer: Any = layers.Layer

    class Block(layer):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            self.scale = self.add_weight(name="scale", shape=(shape[-1],))
            for name in (first, second):
                setattr(self, name, layers.Dense(6))
                getattr(self, name).build(shape)
            self.built = True

        def call(self, inputs: Any) -> Any:
            return self.b(self.a(inputs)) * self.scale

    class Net(model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.stem, self.left, self.right = layers.Dense(6), Block(), Block()
            self.head = keras.Sequential([layers.Dense(6), layers.Dense(6)])

        def call(self, inputs: Any) -> Any:
            return self.head(self.right(self.left(self.stem(inputs))))

    made = Net()
    made(tf.ones((1, 6)))
    return made


def trained(keras: Any, make: Callable[[Any], Any]) -> Any:
    """Return a model with an Adam that has its slot variables."""
    model = make(keras)
    model.compile(keras.optimizers.Adam(), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


# --- optimizers, and what they hold


def weights_of(model: Any) -> list[Any]:
    """Return all values but seeds, in the order that both versions of Keras have."""
    return [*model.trainable_weights, *model.non_trainable_weights]


def slots_of(optimizer: Any) -> list[Any]:
    return [*optimizer._momentums, *optimizer._velocities]


def scaled(keras: Any) -> Any:
    return keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())


def legacy_scaled(keras: Any) -> Any:
    return keras.mixed_precision.LossScaleOptimizer(keras.optimizers.legacy.Adam())


def bare(keras: Any) -> Any:
    return keras.optimizers.Adam()


def scaled_without_slots(keras: Any) -> Any:
    return keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD())


def states_of(live: Any) -> dict[str, list[Any]]:
    """Return the states of an optimizer by their meaning; those of the one that a wrapper holds."""
    optimizer = live.optimizer
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    found = {"counter": [inner.iterations], "rate": [_rate(inner)]}
    if hasattr(inner, "get_slot"):
        variables = live.model.trainable_variables
        found["slots"] = [inner.get_slot(v, name) for name in ("m", "v") for v in variables]
    elif hasattr(inner, "_momentums"):
        found["slots"] = slots_of(inner)
    if hasattr(optimizer, "dynamic_scale"):
        found["scale"] = [optimizer.dynamic_scale, optimizer.step_counter]
    elif hasattr(optimizer, "loss_scale"):
        found["scale"] = [optimizer._loss_scale._current_loss_scale, optimizer.dynamic_counter]
    return found


def _rate(optimizer: Any) -> Any:
    return getattr(optimizer, "_learning_rate", optimizer.learning_rate)

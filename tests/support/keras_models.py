"""Keras models of all kinds whose weights the tests save and load, in Keras 3 and in tf_keras."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tests.support.matrices import at_night

Make = Callable[[Any], Any]  # a model, made with a library

MODELS: dict[str, Make] = {}
KERAS_3_ONLY: set[str] = set()
SHAPE = (6, 4)


def _model(make: Make) -> Make:
    MODELS[make.__name__] = make
    return make


def _keras_3(make: Make) -> Make:
    KERAS_3_ONLY.add(make.__name__)
    return _model(make)


def library(name: str) -> Any:
    """Return Keras 3 or tf_keras, with fresh numbers for automatic names."""
    module = __import__(name)
    module.backend.clear_session()
    return module


def subclassed(k: Any, *shape: int, base: Any = None, **attributes: Any) -> Any:
    """Return a built subclassed model with these attributes, which calls all layers in them."""

    class Net(base or k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, value in attributes.items():
                setattr(self, name, value)

        def call(self, x: Any) -> Any:
            for value in attributes.values():
                for layer in _layers_in(k, value):
                    x = layer(x)
            return x

    net = Net()
    net(np.zeros((1, *(shape or (4,))), "float32"))
    return net


def _layers_in(k: Any, value: Any) -> list[Any]:
    if isinstance(value, k.layers.Layer):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [layer for item in items for layer in _layers_in(k, item)]


def sequential(k: Any, *layers: Any, shape: tuple[int, ...] = (4,), **keywords: Any) -> Any:
    return k.Sequential([k.Input(shape, **keywords), *layers])


def functional(k: Any, body: Callable[[Any, Any], Any], shape: tuple[int, ...] = SHAPE) -> Any:
    inputs = k.Input(shape)
    return k.Model(inputs, body(k.layers, inputs))


def trained(
    k: Any, model: Any, optimizer: Any = "adam", steps: int = 2, eagerly: bool = True
) -> Any:
    """Return the model compiled and trained a little, so that its optimizer has state."""
    model.compile(optimizer, "mse", metrics=["mae"], run_eagerly=eagerly)
    x = np.ones((4, *model.input_shape[1:]), "float32")
    y = np.ones((4, *model.output_shape[1:]), "float32")
    model.fit(x, y, epochs=steps, verbose=0)
    return model


# --- layers in a row, or in a graph


@_model
def one_dense(k: Any) -> Any:
    return sequential(k, k.layers.Dense(3))


@_model
def dense_without_bias(k: Any) -> Any:
    return sequential(k, k.layers.Dense(3, use_bias=False), k.layers.Dense(2, name="head"))


@_model
def batch_normalization(k: Any) -> Any:
    return sequential(
        k,
        k.layers.Dense(3),
        k.layers.BatchNormalization(),
        k.layers.BatchNormalization(scale=False),
    )


@_model
def convolutions(k: Any) -> Any:
    return sequential(
        k,
        k.layers.Conv2D(3, 3),
        k.layers.DepthwiseConv2D(3),
        k.layers.SeparableConv2D(2, 1),
        k.layers.Conv2DTranspose(2, 2),
        k.layers.Flatten(),
        shape=(8, 8, 2),
    )


@_model
def normalizations(k: Any) -> Any:
    return sequential(
        k,
        k.layers.LayerNormalization(center=False),
        k.layers.GroupNormalization(groups=2),
        k.layers.PReLU(),
    )


@_model
def embedding(k: Any) -> Any:
    return sequential(k, k.layers.Embedding(7, 3), k.layers.GlobalAveragePooling1D(), shape=(5,))


@_model
def recurrent(k: Any) -> Any:
    return sequential(
        k,
        k.layers.LSTM(3, return_sequences=True, dropout=0.1),
        k.layers.Bidirectional(k.layers.GRU(2, return_sequences=True)),
        k.layers.SimpleRNN(2, use_bias=False),
        shape=SHAPE,
    )


@_model
def stacked_cells(k: Any) -> Any:
    cells = [k.layers.LSTMCell(2), k.layers.GRUCell(3)]
    return sequential(k, k.layers.RNN(k.layers.StackedRNNCells(cells)), shape=SHAPE)


@_model
def conv_lstm(k: Any) -> Any:
    return sequential(k, k.layers.ConvLSTM1D(2, 2), shape=(3, 5, 2))


@_model
def time_distributed(k: Any) -> Any:
    return sequential(k, k.layers.TimeDistributed(k.layers.Dense(3)), shape=SHAPE)


@_model
def attention(k: Any) -> Any:
    return functional(k, lambda layers, x: layers.MultiHeadAttention(2, 3, dropout=0.1)(x, x))


@_model
def attention_with_scale(k: Any) -> Any:
    return functional(
        k,
        lambda layers, x: layers.AdditiveAttention()([x, layers.Attention(use_scale=True)([x, x])]),
    )


@_model
def shared_layer(k: Any) -> Any:
    def body(layers: Any, x: Any) -> Any:
        shared = layers.Dense(4, name="shared")
        return layers.Add()([shared(shared(x)), layers.Dense(4)(x)])

    return functional(k, body)


@_model
def branches(k: Any) -> Any:
    def body(layers: Any, x: Any) -> Any:
        left, right = layers.Dense(3, name="left")(x), layers.Dense(3, name="right")(x)
        return layers.Dense(2, name="top")(layers.Concatenate()([left, right]))

    return functional(k, body)


@_model
def nested_models(k: Any) -> Any:
    inner = sequential(k, k.layers.Dense(3), k.layers.Dense(4))
    return sequential(k, inner, k.layers.Dense(2))


@_model
def nested_deep(k: Any) -> Any:
    inner = sequential(k, k.layers.Dense(4))
    middle = functional(k, lambda layers, x: layers.Dense(4)(inner(x)), (4,))
    return functional(k, lambda layers, x: layers.Dense(2)(middle(x)), (4,))


@_model
def noises(k: Any) -> Any:
    return sequential(
        k, k.layers.Dense(3), k.layers.Dropout(0.5, seed=1), k.layers.GaussianNoise(0.1)
    )


@_model
def augmentation(k: Any) -> Any:
    return sequential(
        k,
        k.layers.RandomFlip(),
        k.layers.RandomRotation(0.1),
        k.layers.Rescaling(0.5),
        k.layers.Conv2D(2, 2),
        shape=(6, 6, 3),
    )


@_model
def layers_of_one_class(k: Any) -> Any:
    return sequential(k, *(k.layers.Dense(4) for _ in range(12)))


# --- preprocessing


@_model
def adapted_normalization(k: Any) -> Any:
    layer = k.layers.Normalization()
    layer.adapt(np.random.default_rng(0).normal(size=(8, 4)))
    return sequential(k, layer, k.layers.Dense(2))


@_model
def given_normalization(k: Any) -> Any:
    return sequential(k, k.layers.Normalization(mean=1.0, variance=2.0), k.layers.Dense(2))


@_model
def discretization(k: Any) -> Any:
    return sequential(k, k.layers.Discretization(bin_boundaries=[0.0, 1.0]))


@_model
def vocabulary(k: Any) -> Any:
    layer = k.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
    return sequential(k, layer, k.layers.Dense(2), shape=(1,), dtype="string")


@_model
def weighted_vocabulary(k: Any) -> Any:
    layer = k.layers.StringLookup(
        vocabulary=["a", "b"], idf_weights=[0.5, 1.5], output_mode="tf_idf"
    )
    return sequential(k, layer, k.layers.Dense(2), shape=(1,), dtype="string")


@_model
def text_vectorization(k: Any) -> Any:
    layer = k.layers.TextVectorization(output_mode="tf_idf")
    layer.adapt(np.array(["a b", "b c", "c"]))
    return sequential(k, layer, k.layers.Dense(2), shape=(1,), dtype="string")


# --- subclassed


@_model
def attributes(k: Any) -> Any:
    return subclassed(k, hidden=k.layers.Dense(3), zz_after=k.layers.Dense(4))


@_model
def private_attributes(k: Any) -> Any:
    return subclassed(k, _hidden=k.layers.Dense(3), head=k.layers.Dense(4))


@_model
def lists(k: Any) -> Any:
    return subclassed(k, blocks=[k.layers.Dense(3), k.layers.Dense(4)], out=k.layers.Dense(2))


@_model
def nested_lists(k: Any) -> Any:
    dense = k.layers.Dense
    return subclassed(k, blocks=[[dense(3), dense(4)], [dense(5)]], out=dense(2))


@_model
def dictionaries(k: Any) -> Any:
    return subclassed(k, heads={"b": k.layers.Dense(3), "a": k.layers.Dense(3)})


@_model
def tuples(k: Any) -> Any:
    return subclassed(k, pair=(k.layers.Dense(3), k.layers.BatchNormalization()))


@_model
def two_names_of_one(k: Any) -> Any:
    layer = k.layers.Dense(4)
    return subclassed(k, first=layer, second=layer)


@_model
def list_of_layers_and_models(k: Any) -> Any:
    inner = sequential(k, k.layers.Dense(4))
    return subclassed(
        k, parts=[inner, k.layers.Dense(3), sequential(k, k.layers.Dense(2), shape=(3,))]
    )


@_model
def an_attribute_called_vars(k: Any) -> Any:
    return subclassed(k, vars=[k.layers.Dense(3)])


@_model
def own_weight(k: Any) -> Any:
    class Scale(k.layers.Layer):  # type: ignore[misc]
        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight(name="scale", shape=(4,), initializer="ones")
            self.count = self.add_weight(
                name="count", shape=(), initializer="zeros", trainable=False, dtype="int32"
            )
            self.shift = self.add_weight(name="shift", shape=(4,), initializer="ones")

        def call(self, x: Any) -> Any:
            return x * self.scale + self.shift

    return sequential(k, Scale(), k.layers.Dense(2))


@_model
def subclassed_functional(k: Any) -> Any:
    class Net(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            inputs = k.Input((4,))
            hidden = k.layers.Dense(3)
            super().__init__(inputs, k.layers.Dense(2)(hidden(inputs)))
            self.extra = k.layers.Dense(2)
            self.extra.build((None, 4))

    return Net()


@_model
def own_saving(k: Any) -> Any:
    class Own(k.layers.Dense):  # type: ignore[misc]
        def save_own_variables(self, store: Any) -> None:
            super().save_own_variables(store)
            store["steps"] = np.arange(3)

        def load_own_variables(self, store: Any) -> None:
            self.kernel.assign(store["0"])

    return sequential(k, Own(3), k.layers.Dense(2))


# --- state of training


@_model
def frozen_layer(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3), k.layers.BatchNormalization(), k.layers.Dense(2))
    model.layers[0].trainable = False
    model.layers[1].trainable = False
    return trained(k, model)


@_model
def compiled(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3), k.layers.Dense(2))
    model.compile("adam", "mse", metrics=["mae", k.metrics.AUC(name="auc")])
    return model


@_model
def trained_adam(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3), k.layers.Dense(2))
    return trained(k, model, eagerly=False)  # as people train


@_model
def trained_sgd(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3), k.layers.Dense(2))
    return trained(k, model, k.optimizers.SGD(0.1, momentum=0.9))


@_model
def trained_rmsprop_with_average(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3), k.layers.Dense(2))
    return trained(k, model, k.optimizers.RMSprop(0.1, centered=True, use_ema=True))


@_model
def trained_by_schedule(k: Any) -> Any:
    rate = k.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    return trained(k, sequential(k, k.layers.Dense(2)), k.optimizers.Adagrad(rate))


@_model
def trained_adafactor(k: Any) -> Any:
    return trained(k, sequential(k, k.layers.Dense(3)), k.optimizers.Adafactor())


@_model
def half_precision(k: Any) -> Any:
    policy = "mixed_float16"
    return sequential(k, k.layers.Dense(3, dtype=policy), k.layers.Dense(2, dtype="float64"))


# --- Keras 3 alone


@_keras_3
def bfloat16(k: Any) -> Any:
    return sequential(k, k.layers.Dense(3, dtype="bfloat16"), k.layers.Dense(2))


@_keras_3
def scaled_loss(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(3))
    return trained(k, model, k.optimizers.LossScaleOptimizer(k.optimizers.Adam()))


@_keras_3
def trained_muon(k: Any) -> Any:
    return trained(k, sequential(k, k.layers.Dense(3), k.layers.Dense(2)), k.optimizers.Muon(0.1))


@_keras_3
def quantized_int8(k: Any) -> Any:
    model = sequential(k, k.layers.Embedding(5, 4), k.layers.Dense(3), shape=(5,))
    model.quantize("int8")
    return model


@_keras_3
def quantized_int4(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(8), k.layers.EinsumDense("ab,bc->ac", 3, bias_axes="c"))
    model.quantize("int4")
    return model


@_keras_3
def quantized_float8(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(16), k.layers.Dense(16), shape=(16,))
    model.quantize("float8")
    return model


@_keras_3
def low_rank(k: Any) -> Any:
    model = sequential(k, k.layers.Dense(6), k.layers.Dense(5), shape=(6,))
    model.layers[0].enable_lora(2)
    model.layers[0].lora_kernel_b.assign(np.ones((2, 6)))
    return model


@_keras_3
def low_rank_convolution(k: Any) -> Any:
    model = sequential(k, k.layers.Conv2D(4, 2), k.layers.Conv2D(3, 2), shape=(5, 5, 3))
    model.layers[0].enable_lora(2)
    return model


@_keras_3
def spectral_normalization(k: Any) -> Any:
    layer = k.layers.SpectralNormalization(k.layers.Conv2D(3, 3))
    return sequential(k, layer, shape=(6, 6, 2))


@_keras_3
def grouped_attention(k: Any) -> Any:
    return functional(k, lambda layers, x: layers.GroupQueryAttention(4, 4, 2, dropout=0.1)(x, x))


@_keras_3
def reversible_embedding(k: Any) -> Any:
    layer = k.layers.ReversibleEmbedding(7, 3, tie_weights=False)
    return sequential(k, layer, k.layers.RMSNormalization(), shape=(5,))


@_keras_3
def operations(k: Any) -> Any:
    return functional(k, lambda layers, x: k.ops.relu(layers.Dense(3)(x) + 1.0))


def models() -> list[tuple[str, str]]:
    """Return each model's name with each library that can make it."""
    return [
        (lib, name)
        for name in MODELS
        for lib in ("keras", "tf_keras")
        if lib == "keras" or name not in KERAS_3_ONLY
    ]


def in_turns(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return each name once, with the libraries in turns; at night each library and name."""
    libraries: defaultdict[str, list[str]] = defaultdict(list)
    for lib, name in pairs:
        libraries[name].append(lib)
    return [
        (lib, name)
        for number, (name, of_name) in enumerate(libraries.items())
        for place, lib in enumerate(of_name)
        if place == number % len(of_name) or at_night()
    ]


def made(lib: str, name: str) -> Any:
    """Return a model by its name."""
    return MODELS[name](library(lib))

"""Pairs of Keras models: the weights of the first are loaded into the second, which has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from tests.support.keras_models import functional, sequential, subclassed, trained

Make = Callable[[Any], Any]


@dataclass(frozen=True)
class LoadPair:
    """A model whose weights are saved, a model that loads them, and the options of the call."""

    saved: Make
    live: Make
    options: dict[str, Any] = field(default_factory=dict)


def _dense(*units: int, **keywords: Any) -> Make:
    return lambda k: sequential(k, *(k.layers.Dense(n, **keywords) for n in units))


def _named(*names: str) -> Make:
    return lambda k: sequential(k, *(k.layers.Dense(4, name=name) for name in names))


def _of(*kinds: str) -> Make:
    """Return a Sequential of layers by class, each with 4 features."""

    def make(k: Any) -> Any:
        return sequential(k, *(_layer(k, kind) for kind in kinds))

    return make


def _layer(k: Any, kind: str) -> Any:
    arguments: dict[str, Any] = {"Dense": {"units": 4}, "Dropout": {"rate": 0.5}}
    return getattr(k.layers, kind)(**arguments.get(kind, {}))


def _attributes(**kinds: Any) -> Make:
    return lambda k: subclassed(k, **{name: _parts(k, kind) for name, kind in kinds.items()})


def _parts(k: Any, kind: Any) -> Any:
    if isinstance(kind, str):
        return _layer(k, kind)
    if isinstance(kind, dict):
        return {name: _parts(k, part) for name, part in kind.items()}
    return type(kind)(_parts(k, part) for part in kind)


def _trained(make: Make, optimizer: str = "Adam", **keywords: Any) -> Make:
    return lambda k: trained(k, make(k), getattr(k.optimizers, optimizer)(0.1, **keywords))


def _compiled(make: Make, optimizer: str = "Adam") -> Make:
    def compiled(k: Any) -> Any:
        model = make(k)
        model.compile(getattr(k.optimizers, optimizer)(0.1), "mse")
        return model

    return compiled


def _nested(*units: int, after: int = 2) -> Make:
    def make(k: Any) -> Any:
        inner = sequential(k, *(k.layers.Dense(n) for n in units))
        return sequential(k, inner, k.layers.Dense(after))

    return make


def _frozen(make: Make) -> Make:
    def frozen(k: Any) -> Any:
        model = make(k)
        model.layers[0].trainable = False
        return model

    return frozen


def _head(units: int, **keywords: Any) -> Make:
    def make(k: Any) -> Any:
        layers = k.layers
        return sequential(
            k,
            *(layers.Dense(4, name="a"), layers.BatchNormalization(), layers.Dense(3, name="b")),
            layers.Dense(units, name="head", **keywords),
        )

    return make


def _attention(heads: int, size: int, **keywords: Any) -> Make:
    return lambda k: functional(
        k, lambda layers, x: layers.MultiHeadAttention(heads, size, **keywords)(x, x)
    )


def _recurrent(kind: str, units: int, **keywords: Any) -> Make:
    return lambda k: sequential(k, getattr(k.layers, kind)(units, **keywords), shape=(6, 4))


def _bidirectional(kind: str, units: int = 3) -> Make:
    return lambda k: sequential(
        k, k.layers.Bidirectional(getattr(k.layers, kind)(units)), shape=(6, 4)
    )


def _at_each_time(units: int) -> Make:
    return lambda k: sequential(k, k.layers.TimeDistributed(k.layers.Dense(units)), shape=(6, 4))


def _normalized(*, freezes: bool = False) -> Make:
    """Return a model with trained and other variables in turn, in a model inside."""

    def make(k: Any) -> Any:
        kinds = ("Dense", "BatchNormalization", "Dense", "BatchNormalization")
        layers = [_layer(k, kind) for kind in kinds]
        layers[1].trainable = not freezes
        return sequential(k, sequential(k, *layers), k.layers.Dense(2))

    return make


def _scaled(*names: str, size: int = 4) -> Make:
    """Return a model with variables of its own."""

    def make(k: Any) -> Any:
        class Scaled(k.Model):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.dense = k.layers.Dense(3, name="dense")
                for name in names:
                    setattr(self, name, self.add_weight(name=name, shape=(size,)))

            def call(self, x: Any) -> Any:
                return self.dense(x)

        model = Scaled()
        model(np.zeros((1, 4), "float32"))
        return model

    return make


def _of_name(kind: str) -> Make:
    """Return a model with a layer of one name, whatever its class."""
    arguments: dict[str, Any] = {"Dense": (4,), "Dropout": (0.5,), "Conv1D": (4, 1)}

    def make(k: Any) -> Any:
        layer = getattr(k.layers, kind)(*arguments.get(kind, ()), name="layer")
        return sequential(k, layer, k.layers.Dense(2, name="head"), shape=(4, 4))

    return make


def _cudnn(kind: str) -> Make:
    def make(k: Any) -> Any:
        module = import_module(f"{k.__name__}.src.layers.rnn.cudnn_{kind.lower()}")
        model = sequential(k, shape=(6, 4))
        layer = getattr(module, f"CuDNN{kind}")(3)
        layer.build((None, 6, 4))
        layer.compute_output_shape = lambda shape: (shape[0], 3)
        model._self_tracked_trackables.append(layer)
        return model

    return make


def _turned() -> Make:
    """Return a convolution whose kernel has its axes in the order of Theano."""

    def make(k: Any) -> Any:
        class Conv2D(k.layers.Layer):  # type: ignore[misc]
            def build(self, shape: Any) -> None:
                self.kernel = self.add_weight(name="kernel", shape=(3, 3, 3, 3))
                self.bias = self.add_weight(name="bias", shape=(3,))

            def call(self, x: Any) -> Any:
                return x

        return sequential(k, Conv2D(), k.layers.Flatten(), shape=(6, 6, 3))

    return make


def _spare(*, built: bool) -> Make:
    """Return a model with a model inside that it has never called."""

    def make(k: Any) -> Any:
        class Spare(k.Model):  # type: ignore[misc]
            def build(self, shape: Any) -> None:
                self.kernel = self.add_weight(name="kernel", shape=(4, 2))
                self.built = True

        model = subclassed(k, first=k.layers.Dense(4))
        model.spare = Spare()
        if built:
            model.spare.build((None, 4))
        return model

    return make


def _shared(*, shared: bool) -> Make:
    def body(layers: Any, x: Any) -> Any:
        first = layers.Dense(4, name="first")
        second = first if shared else layers.Dense(4, name="second")
        return layers.Dense(2)(second(first(x)))

    return lambda k: functional(k, body)


def _branches(*names: str) -> Make:
    def body(layers: Any, x: Any) -> Any:
        return layers.Concatenate()([layers.Dense(3, name=name)(x) for name in names])

    return lambda k: functional(k, body)


def _dtype(name: str) -> Make:
    return lambda k: sequential(k, k.layers.Dense(3, dtype=name), k.layers.BatchNormalization())


def _normalization(size: int, *, given: bool = False) -> Make:
    def make(k: Any) -> Any:
        arguments = {"mean": 1.0, "variance": 2.0} if given else {}
        layer = k.layers.Normalization(**arguments)
        if not given:
            layer.adapt(np.random.default_rng(0).normal(size=(8, size)))
        return sequential(k, layer, k.layers.Dense(2), shape=(size,))

    return make


def _words(mode: str) -> Make:
    def make(k: Any) -> Any:
        weights = {"idf_weights": [0.5, 1.5]} if mode == "tf_idf" else {}
        layer = k.layers.StringLookup(vocabulary=["a", "b"], output_mode=mode, **weights)
        return sequential(k, layer, k.layers.Dense(2), shape=(1,), dtype="string")

    return make


def _quantized(make: Make, mode: str = "int8") -> Make:
    def quantized(k: Any) -> Any:
        model = make(k)
        model.quantize(mode)
        return model

    return quantized


def _low_rank(make: Make) -> Make:
    def low_rank(k: Any) -> Any:
        model = make(k)
        model.layers[0].enable_lora(2)
        model.layers[0].lora_kernel_b.assign(np.ones(model.layers[0].lora_kernel_b.shape))
        return model

    return low_rank


def _convolution(filters: int, size: int, kind: str = "Conv2D", **keywords: Any) -> Make:
    return lambda k: sequential(
        k, getattr(k.layers, kind)(filters, size, **keywords), k.layers.Flatten(), shape=(6, 6, 3)
    )


def _own_loading(*, fails: bool = False, child: bool = False) -> Make:
    def make(k: Any) -> Any:
        class Own(k.layers.Dense):  # type: ignore[misc]
            def load_own_variables(self, store: Any) -> None:
                if fails:
                    raise OSError("not mine")
                self.kernel.assign(store["0"])

        layer = Own(4)
        if not child:
            return sequential(k, layer, k.layers.Dense(2))
        return subclassed(k, zz_block=sequential(k, layer, k.layers.Dense(4)))

    return make


def _unbuilt_child(k: Any) -> Any:
    model = subclassed(k, first=k.layers.Dense(4))
    model._tracker.unlock()
    model.spare = k.layers.Dense(3)
    return model


def _built_child(k: Any) -> Any:
    model = subclassed(k, first=k.layers.Dense(4))
    model._tracker.unlock()
    model.spare = k.layers.Dense(3)
    model.spare.build((None, 4))
    return model


def _unbuilt(k: Any) -> Any:
    return k.Sequential([k.layers.Dense(3)])


def _cycle(k: Any) -> Any:
    first, second = k.layers.Dense(4), k.layers.Dense(4)
    model = subclassed(k, first=first, second=second)
    for layer, other in ((first, second), (second, first)):
        layer._tracker.unlock()
        object.__setattr__(layer, "other", other)
    return model


_SKIP = {"skip_mismatch": True}
_BLOCKS = ["Dense", "BatchNormalization", "Dense"]

# For Keras 3 and tf_keras.
PAIRS: dict[str, LoadPair] = {
    "same": LoadPair(_dense(3, 2), _dense(3, 2)),
    "a layer more in the model": LoadPair(_dense(4, 4), _dense(4, 4, 4)),
    "a layer more in the file": LoadPair(_dense(4, 4, 4), _dense(4, 4)),
    "other units": LoadPair(_dense(3, 2), _dense(5, 2)),
    "other units, skipped": LoadPair(_dense(3, 2), _dense(5, 2), _SKIP),
    "a new head": LoadPair(_head(3), _head(5)),
    "a new head, skipped": LoadPair(_head(3), _head(5), _SKIP),
    "the head lost its bias": LoadPair(_head(3), _head(3, use_bias=False)),
    "the head got a bias": LoadPair(_head(3, use_bias=False), _head(3)),
    "the head got a bias, skipped": LoadPair(_head(3, use_bias=False), _head(3), _SKIP),
    "named layers exchanged": LoadPair(_named("a", "b"), _named("b", "a")),
    "named layers in a circle": LoadPair(_named("a", "b", "c"), _named("c", "a", "b")),
    "all renamed": LoadPair(_named("a", "b"), _named("x", "y")),
    "a dropout inserted": LoadPair(_of("Dense", "Dense"), _of("Dense", "Dropout", "Dense")),
    "a normalization dropped": LoadPair(_of("Dense", "BatchNormalization"), _of("Dense")),
    "a normalization added": LoadPair(_of("Dense"), _of("Dense", "BatchNormalization")),
    "a normalization of another class": LoadPair(
        _of("Dense", "BatchNormalization"), _of("Dense", "LayerNormalization")
    ),
    "the order of classes changed": LoadPair(
        _of("Dense", "BatchNormalization", "Dense"), _of("BatchNormalization", "Dense", "Dense")
    ),
    "an attribute renamed": LoadPair(
        _attributes(body="Dense", head="Dense"), _attributes(body="Dense", top="Dense")
    ),
    "an attribute renamed, skipped": LoadPair(
        _attributes(body="Dense", head="Dense"), _attributes(body="Dense", top="Dense"), _SKIP
    ),
    "an attribute behind the list of layers": LoadPair(
        _attributes(body="Dense", zz="Dense"), _attributes(body="Dense", yy="Dense")
    ),
    "an attribute moved before the list of layers": LoadPair(
        _attributes(zz="Dense", body="Dense"), _attributes(aa="Dense", body="Dense")
    ),
    "an attribute gone": LoadPair(
        _attributes(body="Dense", head="Dense"), _attributes(body="Dense")
    ),
    "a list reversed": LoadPair(
        _attributes(blocks=["Dense", "BatchNormalization"]),
        _attributes(blocks=["BatchNormalization", "Dense"]),
    ),
    "a list longer": LoadPair(_attributes(blocks=_BLOCKS), _attributes(blocks=[*_BLOCKS, "Dense"])),
    "a list shorter": LoadPair(_attributes(blocks=_BLOCKS), _attributes(blocks=_BLOCKS[:2])),
    "a list renamed": LoadPair(_attributes(blocks=_BLOCKS), _attributes(parts=_BLOCKS)),
    "a tuple in place of a list": LoadPair(
        _attributes(blocks=_BLOCKS), _attributes(blocks=tuple(_BLOCKS))
    ),
    "other keys of a dictionary": LoadPair(
        _attributes(heads={"a": "Dense", "b": "Dense"}),
        _attributes(heads={"b": "Dense", "a": "Dense"}),
    ),
    "a dictionary in place of a list": LoadPair(
        _attributes(heads=["Dense", "Dense"]), _attributes(heads={"x": "Dense", "y": "Dense"})
    ),
    "a list nested": LoadPair(
        _attributes(blocks=["Dense", "Dense"]), _attributes(blocks=[["Dense", "Dense"]])
    ),
    "a nested list flat": LoadPair(
        _attributes(blocks=[["Dense"], ["Dense"]]), _attributes(blocks=["Dense", "Dense"])
    ),
    "a nested list under another name": LoadPair(
        _attributes(blocks=[["Dense"]]), _attributes(parts=[["Dense"], ["BatchNormalization"]])
    ),
    "a nested list with more lists": LoadPair(
        _attributes(blocks=[["Dense"]]), _attributes(blocks=[["Dense"], ["Dense"]])
    ),
    "a nested model": LoadPair(_nested(3, 4), _nested(3, 4)),
    "a nested model flat": LoadPair(_nested(3, 4), _dense(3, 4, 2)),
    "a flat model nested": LoadPair(_dense(3, 4, 2), _nested(3, 4)),
    "a nested model with another head": LoadPair(_nested(3, 4), _nested(3, 4, after=5)),
    "a nested model with other units": LoadPair(_nested(3, 4), _nested(5, 4)),
    "a nested model longer": LoadPair(_nested(3, 4), _nested(3, 4, 4)),
    "functional in place of Sequential": LoadPair(
        _dense(3), lambda k: functional(k, lambda layers, x: layers.Dense(3)(x), (4,))
    ),
    "subclassed in place of Sequential": LoadPair(_dense(4, 4), _attributes(a="Dense", b="Dense")),
    "Sequential in place of subclassed": LoadPair(_attributes(a="Dense", b="Dense"), _dense(4, 4)),
    "a shared layer": LoadPair(_shared(shared=True), _shared(shared=True)),
    "a layer no longer shared": LoadPair(_shared(shared=True), _shared(shared=False)),
    "a layer now shared": LoadPair(_shared(shared=False), _shared(shared=True)),
    "branches exchanged": LoadPair(_branches("left", "right"), _branches("right", "left")),
    "a branch more": LoadPair(_branches("left", "right"), _branches("left", "right", "top")),
    "other heads of attention": LoadPair(_attention(2, 3), _attention(3, 3)),
    "attention without bias": LoadPair(_attention(2, 3), _attention(2, 3, use_bias=False)),
    "other units of LSTM": LoadPair(_recurrent("LSTM", 3), _recurrent("LSTM", 5)),
    "GRU in place of LSTM": LoadPair(_recurrent("LSTM", 3), _recurrent("GRU", 3)),
    "GRU in another form": LoadPair(_recurrent("GRU", 3), _recurrent("GRU", 3, reset_after=False)),
    "a bidirectional layer": LoadPair(_bidirectional("LSTM"), _bidirectional("LSTM")),
    "bidirectional in place of LSTM": LoadPair(_recurrent("LSTM", 3), _bidirectional("LSTM")),
    "other filters": LoadPair(_convolution(3, 2), _convolution(4, 2)),
    "another kind of convolution": LoadPair(
        _convolution(3, 2), _convolution(3, 2, "Conv2DTranspose")
    ),
    "a convolution without bias": LoadPair(_convolution(3, 2), _convolution(3, 2, use_bias=False)),
    "float16": LoadPair(_dtype("float32"), _dtype("float16")),
    "float32 from float64": LoadPair(_dtype("float64"), _dtype("float32")),
    "mixed precision": LoadPair(_dtype("float32"), _dtype("mixed_float16")),
    "an adapted normalization": LoadPair(_normalization(4), _normalization(4)),
    "a normalization of other features": LoadPair(_normalization(4), _normalization(3)),
    "a normalization that is now given": LoadPair(_normalization(4), _normalization(4, given=True)),
    "a normalization that is now adapted": LoadPair(
        _normalization(4, given=True), _normalization(4)
    ),
    "a vocabulary with weights": LoadPair(_words("tf_idf"), _words("tf_idf")),
    "a vocabulary that lost its weights": LoadPair(_words("tf_idf"), _words("multi_hot")),
    "a vocabulary with new weights": LoadPair(_words("multi_hot"), _words("tf_idf")),
    "trained": LoadPair(_trained(_dense(3, 2)), _trained(_dense(3, 2))),
    "trained into compiled": LoadPair(_trained(_dense(3, 2)), _compiled(_dense(3, 2))),
    "trained into not compiled": LoadPair(_trained(_dense(3, 2)), _dense(3, 2)),
    "not compiled into trained": LoadPair(_dense(3, 2), _trained(_dense(3, 2))),
    "another optimizer": LoadPair(_trained(_dense(3)), _trained(_dense(3), "SGD")),
    "another optimizer of as many slots": LoadPair(
        _trained(_dense(3), "SGD", momentum=0.9), _trained(_dense(3), "RMSprop")
    ),
    "an optimizer with momentum": LoadPair(
        _trained(_dense(3), "SGD"), _trained(_dense(3), "SGD", momentum=0.9)
    ),
    "an optimizer and another head": LoadPair(_trained(_head(3)), _trained(_head(5))),
    "frozen before training": LoadPair(_trained(_dense(3, 2)), _trained(_frozen(_dense(3, 2)))),
    "frozen after training": LoadPair(_trained(_dense(3, 2)), _frozen(_trained(_dense(3, 2)))),
    "a model that is not built": LoadPair(_dense(3), _unbuilt),
    "own code": LoadPair(_dense(4, 2), _own_loading()),
    "own code that fails": LoadPair(_dense(4, 2), _own_loading(fails=True)),
}
# For Keras 3 alone.
PAIRS_OF_KERAS_3: dict[str, LoadPair] = {
    "own code and a new head": LoadPair(_dense(4, 3), _own_loading()),
    "own code that fails, skipped": LoadPair(_dense(4, 2), _own_loading(fails=True), _SKIP),
    "own code in a part": LoadPair(_own_loading(child=True), _own_loading(child=True)),
    "own code that fails in a part": LoadPair(
        _own_loading(child=True), _own_loading(child=True, fails=True)
    ),
    "bfloat16": LoadPair(_dtype("float32"), _dtype("bfloat16")),
    "float32 from bfloat16": LoadPair(_dtype("bfloat16"), _dtype("float32")),
    "quantized": LoadPair(_quantized(_dense(4, 3)), _quantized(_dense(4, 3))),
    "quantized from floats": LoadPair(_dense(4, 3), _quantized(_dense(4, 3))),
    "floats from quantized": LoadPair(_quantized(_dense(4, 3)), _dense(4, 3)),
    "int4 from int8": LoadPair(_quantized(_dense(4, 3)), _quantized(_dense(4, 3), "int4")),
    "low rank": LoadPair(_low_rank(_dense(4, 3)), _low_rank(_dense(4, 3))),
    "low rank from full rank": LoadPair(_dense(4, 3), _low_rank(_dense(4, 3))),
    "full rank from low rank": LoadPair(_low_rank(_dense(4, 3)), _dense(4, 3)),
    "low rank of other units": LoadPair(_dense(4, 3), _low_rank(_dense(5, 3))),
    "low rank with no bias in the file": LoadPair(_dense(4, use_bias=False), _low_rank(_dense(4))),
    "a low rank convolution": LoadPair(_convolution(3, 2), _low_rank(_convolution(3, 2))),
    "a layer that is not built": LoadPair(_built_child, _unbuilt_child),
    "a layer that was not built": LoadPair(_unbuilt_child, _built_child),
    "layers that lead to each other": LoadPair(_cycle, _cycle),
}

# For `.h5`, which goes by the order or the names of layers.
PAIRS_OF_H5: dict[str, LoadPair] = {
    "a variable of the model": LoadPair(_scaled("a"), _scaled("a")),
    "a variable of the model with another shape": LoadPair(_scaled("a"), _scaled("a", size=5)),
    "layers renamed and exchanged": LoadPair(_named("a", "b"), _named("b", "c")),
    "a nested model shorter": LoadPair(_nested(3, 4, 4), _nested(3, 4)),
    "a nested model frozen": LoadPair(_nested(3, 4), _frozen(_nested(3, 4))),
    "normalizations in a nested model": LoadPair(_normalized(), _normalized()),
    "a frozen layer in a nested model": LoadPair(_normalized(), _normalized(freezes=True)),
    "other units of a bidirectional layer": LoadPair(
        _bidirectional("LSTM"), _bidirectional("LSTM", 5)
    ),
    "GRU in place of LSTM in both directions": LoadPair(
        _bidirectional("LSTM"), _bidirectional("GRU")
    ),
    "a dense layer at each time": LoadPair(_at_each_time(3), _at_each_time(3)),
    "another dense layer at each time": LoadPair(_at_each_time(3), _at_each_time(5)),
    "LSTM without bias": LoadPair(_recurrent("LSTM", 3), _recurrent("LSTM", 3, use_bias=False)),
    "a layer of one name and no variables": LoadPair(_of_name("Dropout"), _of_name("Dense")),
    "a layer of one name that lost its variables": LoadPair(_of_name("Dense"), _of_name("Dropout")),
    "a convolution of one name": LoadPair(_of_name("Flatten"), _of_name("Conv1D")),
}
# For tf_keras alone, whose loader converts values.
PAIRS_OF_KERAS_2: dict[str, LoadPair] = {
    "a variable of the model more": LoadPair(_scaled("a"), _scaled("a", "b")),
    "LSTM of cuDNN": LoadPair(_cudnn("LSTM"), _recurrent("LSTM", 3)),
    "LSTM for cuDNN": LoadPair(_recurrent("LSTM", 3), _cudnn("LSTM")),
    "GRU of cuDNN": LoadPair(_cudnn("GRU"), _recurrent("GRU", 3)),
    "GRU for cuDNN": LoadPair(_recurrent("GRU", 3), _cudnn("GRU")),
    "other units of cuDNN": LoadPair(_cudnn("LSTM"), _recurrent("LSTM", 5)),
    "GRU of cuDNN in another form": LoadPair(
        _cudnn("GRU"), _recurrent("GRU", 3, reset_after=False)
    ),
    "a kernel with its axes in another order": LoadPair(_convolution(6, 3), _convolution(3, 6)),
    "a square kernel turned": LoadPair(_turned(), _convolution(3, 3)),
    "a nested model that is not built": LoadPair(_spare(built=True), _spare(built=False)),
}


def pairs() -> list[tuple[str, str]]:
    """Return each pair's name with each library that can make it."""
    of_both = [(library, name) for name in PAIRS for library in ("keras", "tf_keras")]
    return of_both + [("keras", name) for name in PAIRS_OF_KERAS_3]


def pairs_of_h5() -> list[tuple[str, str]]:
    """Return the pairs whose files may be `.h5`, each with its libraries."""
    return [
        *pairs(),
        *((library, name) for name in PAIRS_OF_H5 for library in ("keras", "tf_keras")),
        *(("tf_keras", name) for name in PAIRS_OF_KERAS_2),
    ]


def pair(name: str) -> LoadPair:
    return (PAIRS | PAIRS_OF_KERAS_3 | PAIRS_OF_H5 | PAIRS_OF_KERAS_2)[name]

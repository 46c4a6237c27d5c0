"""Pairs of Keras models: the weights of the first are loaded into the second, which has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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


def _bidirectional(kind: str) -> Make:
    return lambda k: sequential(k, k.layers.Bidirectional(getattr(k.layers, kind)(3)), shape=(6, 4))


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


def pairs() -> list[tuple[str, str]]:
    """Return each pair's name with each library that can make it."""
    of_both = [(library, name) for name in PAIRS for library in ("keras", "tf_keras")]
    return of_both + [("keras", name) for name in PAIRS_OF_KERAS_3]


def pair(name: str) -> LoadPair:
    return PAIRS[name] if name in PAIRS else PAIRS_OF_KERAS_3[name]

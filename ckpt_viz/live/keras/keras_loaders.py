"""What `load_own_variables` of live Keras objects does, for each class of Keras that defines it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ckpt_viz.live.keras import keras_private
from ckpt_viz.matching.engines.keras_sides import Loading

_NOT_KNOWN = Loading(is_known=False)
_NOTHING = Loading()
# The classes of Keras by the module that defines them, behind `keras.src.`, and how they load.
_QUANTIZABLE = ("layers.core.dense", "layers.core.einsum_dense", "layers.core.embedding")
_LORA = ("lora_kernel_a", "lora_kernel_b", "lora_embeddings_a", "lora_embeddings_b")
_TEXTS, _LOOKUP = "layers.preprocessing.text_vectorization", "layers.preprocessing.index_lookup"
_WITHOUT_VARIABLES = (
    "layers.preprocessing.discretization",
    "layers.preprocessing.feature_space",
    "utils.feature_space",
)

Number = Callable[[Any], int]  # gives a variable its number


def loading_of(library: str, obj: Any, number: Number) -> Loading | None:
    """Return what loading an object does, None if Keras does not load it."""
    if not hasattr(obj, "load_own_variables"):
        return None
    module, _ = keras_private.definer(obj, "load_own_variables")
    if not module.startswith(f"{library}.src."):
        return _NOT_KNOWN
    if keras_private.is_own_layers(library, module):
        return _of_layer(library, obj, number)
    if keras_private.is_optimizers(library, module):
        variables = list(obj.variables)
        targets = _numbered(variables, number)
        return Loading(len(variables), _names(variables), targets, skips=True)
    return _of_override(library, module.removeprefix(f"{library}.src."), obj, number)


def _of_layer(library: str, layer: Any, number: Number) -> Loading:
    variables = keras_private.own_variables(library, layer)
    return Loading(len(variables), _names(variables), _numbered(variables, number))


def _of_override(library: str, module: str, obj: Any, number: Number) -> Loading:
    if module == "layers.preprocessing.normalization":
        return _of_layer(library, obj, number)
    if module in _QUANTIZABLE or module == "layers.convolutional.base_conv":
        return _of_quantizable(library, module, obj, number)
    if module == _TEXTS:
        obj, module = obj._lookup_layer, _LOOKUP
    if module == _LOOKUP:
        return _of_lookup(obj, number)
    return _NOTHING if module in _WITHOUT_VARIABLES else _NOT_KNOWN


def _of_quantizable(library: str, module: str, layer: Any, number: Number) -> Loading:
    has_lora = bool(getattr(layer, "lora_enabled", False))
    variables = keras_private.own_variables(library, layer)
    counted = None if has_lora else len(variables)
    if not layer.built:
        return Loading(counted, _names(variables))
    try:
        saved = list(_listed(layer) if module in _QUANTIZABLE else _of_convolution(layer))
    except (KeyError, AttributeError):  # a mode of quantization without a list
        return _NOT_KNOWN
    zeroed = [getattr(layer, name) for name in _LORA if hasattr(layer, name)] if has_lora else []
    return Loading(
        counted, _names(variables), _numbered(saved, number), tuple(number(v) for v in zeroed)
    )


def _listed(layer: Any) -> Iterator[Any]:
    """Yield the variables that a layer lists for its mode of quantization."""
    for name in keras_private.quantized_variables(layer):
        if name in ("kernel", "embeddings"):
            yield getattr(layer, f"_{name}")
        elif name == "bias":
            if layer.bias is not None:
                yield layer.bias
        elif hasattr(layer, name):
            yield getattr(layer, name)


def _of_convolution(layer: Any) -> Iterator[Any]:
    yield layer._kernel
    if layer.use_bias:
        yield layer.bias


def _of_lookup(layer: Any, number: Number) -> Loading:
    if layer.output_mode != "tf_idf":
        return _NOTHING
    if not hasattr(layer, "idf_weights"):  # loading makes the variable
        return _NOT_KNOWN
    return Loading(targets=(("idf_weights", number(layer.idf_weights)),))


def _names(variables: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(getattr(variable, "name", "")) for variable in variables)


def _numbered(variables: Sequence[Any], number: Number) -> tuple[tuple[str, int], ...]:
    return tuple((str(place), number(variable)) for place, variable in enumerate(variables))

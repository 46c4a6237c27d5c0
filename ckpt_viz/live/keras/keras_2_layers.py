"""What the loader of Keras 2 for `.h5` asks of live models and layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.matching.engines.keras_2_conversion import (
    BIDIRECTIONAL,
    CONVOLUTIONS,
    MODELS,
    TIME_DISTRIBUTED,
    LayerToLoad,
)
from ckpt_viz.matching.engines.load_outcome import LoadFailure

_NOT_CREATED = (
    "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its "
    "variables yet. Call the Model first, then load the weights."
)


def refusal_of_model(model: Any) -> LoadFailure | None:
    """Return the error for a model without variables, None if Keras goes on."""
    if not model._is_graph_network and not model.built:
        return LoadFailure("ValueError", _NOT_CREATED)
    try:
        model._assert_weights_created()
    except ValueError as error:
        return LoadFailure("ValueError", str(error))
    return None


def layer_to_load(layer: Any) -> LayerToLoad:
    """Return what Keras 2 asks of a layer; raises what asking for its variables raises."""
    name = type(layer).__name__
    return LayerToLoad(
        name,
        len(layer.trainable_weights),
        len(layer.non_trainable_weights),
        tuple(map(layer_to_load, _parts(layer, name))),
        bool(layer._trainable_weights or layer._non_trainable_weights),
        _kernel_shape(layer) if name in CONVOLUTIONS else None,
        bool(getattr(layer, "reset_after", False)),
        getattr(layer, "data_format", None) == "channels_first",
    )


def _parts(layer: Any, name: str) -> Sequence[Any]:
    if name == BIDIRECTIONAL:
        return layer.forward_layer, layer.backward_layer
    if name == TIME_DISTRIBUTED:
        return (layer.layer,)
    return layer.layers if name in MODELS else ()


def _kernel_shape(layer: Any) -> tuple[int, ...] | None:
    return tf_private.full_shape(layer.weights[0].shape) if layer.weights else None

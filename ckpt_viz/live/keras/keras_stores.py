"""What a live Keras object would write into its group of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckpt_viz.live.keras import keras_private
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private


class Recorder(dict[str, Any]):
    """The store that an object's own `save_own_variables` gets: it keeps what Keras would write."""

    def __bool__(self) -> bool:
        return True  # as Keras' stores, even if they are empty


def saved_values(library: str, obj: Any) -> dict[str, Any]:
    """Return what Keras would write of an object by itself, by name: variables, or values.

    Raises what the object's own code raises.
    """
    module, _ = keras_private.definer(obj, "save_own_variables")
    if keras_private.is_own_layers(library, module):
        return _numbered(keras_private.own_variables(library, obj))
    if keras_private.is_optimizers(library, module):
        return _numbered(obj.variables)
    store = Recorder()
    obj.save_own_variables(store)
    return dict(store)


def is_variable(value: Any) -> bool:
    """Return whether an object writes a variable of its own, and not a value that it has made."""
    return tf_private.is_variable(value) or any(
        cls.__name__ == "KerasVariable" for cls in type(value).__mro__
    )


def dtype_and_shape(value: Any) -> tuple[str, tuple[int, ...] | None]:
    """Return TensorFlow's name of the dtype, and the shape, in which Keras writes a value."""
    if is_variable(value):
        return tf_private.base_dtype_name(value.dtype), tf_private.full_shape(value.shape)
    array = as_array(value)
    name = "string" if array.dtype.kind in "OSU" else array.dtype.name
    return tf_private.base_dtype_name(name), array.shape


def as_array(value: Any) -> Any:
    """Return a value as the array that Keras writes; later changes do not affect it."""
    import numpy as np

    if tf_private.is_variable(value):
        return tf_private.value_of(value)
    return np.array(value.numpy() if hasattr(value, "numpy") else value)


def _numbered(variables: Sequence[Any]) -> dict[str, Any]:
    return {str(place): variable for place, variable in enumerate(variables)}

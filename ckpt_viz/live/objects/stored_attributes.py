"""What an object would store, as far as that is known without running its code."""

from __future__ import annotations

from typing import Any

from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private

_PYTHON_STATE = "py_state"


def stored_attributes(obj: Any, object_key: str) -> tuple[Attribute, ...]:
    """Return what the object would store, as far as known without running its code.

    An attribute without a name represents those that only such code could name.
    """
    if tf_private.is_variable(obj):
        return (_variable_value(obj, object_key),)
    return tuple(
        Attribute(name, "", keys.checkpoint_key(object_key, name)) for name in _attribute_names(obj)
    )


def _attribute_names(obj: Any) -> tuple[str, ...]:
    if tf_private.is_python_state(obj):
        return (_PYTHON_STATE,)
    fixed = tf_private.legacy_attribute_name(obj)
    if fixed is not None:
        return (fixed,)
    if tf_private.serializes_itself(obj):
        return ("",)
    factories = tf_private.saveable_factories(obj)
    return ("",) if factories is None else factories


def _variable_value(variable: Any, object_key: str) -> Attribute:
    dtype = tf_private.base_dtype_name(variable.dtype)
    shape = tf_private.full_shape(variable.shape)
    return Attribute(
        name=keys.VARIABLE_VALUE,
        full_name=tf_private.full_name(variable),
        checkpoint_key=keys.checkpoint_key(object_key, keys.VARIABLE_VALUE),
        dtype=dtype,
        shape=shape,
        nbytes=tf_private.stored_bytes(dtype, shape) if shape is not None else None,
    )

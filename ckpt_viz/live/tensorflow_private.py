"""The private TensorFlow names that ckpt_viz needs, in one place.

Everything that may move between TensorFlow versions is looked up here, inside functions, so
that importing this module imports no TensorFlow. A name that is gone raises UnsupportedError
with TensorFlow's version and the name.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from ckpt_viz.errors import UnsupportedError

TESTED_VERSIONS = "2.15 to 2.21"


def private(module: str, name: str) -> Any:
    """Return `tensorflow.python.<module>.<name>`."""
    path = f"tensorflow.python.{module}"
    try:
        return getattr(import_module(path), name)
    except (ImportError, AttributeError) as error:
        raise UnsupportedError(
            f"TensorFlow {_version()}: no {path}.{name}; ckpt_viz looks for it where TensorFlow "
            f"{TESTED_VERSIONS} have it"
        ) from error


def is_trackable(obj: object) -> bool:
    """Return whether TensorFlow can track the object in a checkpoint."""
    return isinstance(obj, private("trackable.base", "Trackable"))


def graph_view(obj: Any) -> Any:
    """Return the ObjectGraphView that `Checkpoint.write` would walk for this object.

    A `tf.train.Checkpoint` has its own, which knows the root and the attached keywords. Any
    other trackable is walked as the root itself; `tf.train.Checkpoint(root=obj)` would write
    the same nodes, and add an edge `root` from the root to itself.
    """
    checkpoints = (
        private("checkpoint.checkpoint", "Checkpoint"),
        private("checkpoint.checkpoint", "CheckpointV1"),
    )
    if isinstance(obj, checkpoints):
        return obj._saver._graph_view
    return private("checkpoint.graph_view", "ObjectGraphView")(obj)


def full_name(obj: Any) -> str:
    """Return the variable's name in name-based checkpoints, "" for other objects."""
    return str(private("checkpoint.util", "get_full_name")(obj))


def legacy_attribute_name(obj: Any) -> str | None:
    """Return the one attribute name that the object's class fixes: iterators, tables."""
    name: str | None = private("checkpoint.saveable_compat", "get_saveable_name")(obj)
    return name


def is_resource_variable(obj: object) -> bool:
    """Return whether the object acts as a variable: tf.Variable, Keras 3's Variable."""
    return bool(private("ops.resource_variable_ops", "is_resource_variable")(obj))


def registered_saver_name(obj: object) -> str | None:
    """Return the name of the saver that the object's class is registered with."""
    name: str | None = private("saved_model.registration", "get_registered_saver_name")(obj)
    return name


def is_python_state(obj: object) -> bool:
    """Return whether the object is a `tf.train.experimental.PythonState`."""
    return isinstance(obj, private("trackable.python_state", "PythonState"))


def is_data_structure(obj: object) -> bool:
    """Return whether the object is one of TensorFlow's list, dict or tuple wrappers."""
    return isinstance(obj, private("trackable.data_structures", "TrackableDataStructure"))


def base_dtype_name(dtype: object) -> str:
    """Return TensorFlow's name of a dtype, references resolved."""
    return str(private("framework.dtypes", "as_dtype")(dtype).base_dtype.name)


def stored_bytes(dtype_name: str, shape: tuple[int, ...]) -> int | None:
    """Return the bytes that a tensor takes in a file; None for strings, of no fixed size."""
    dtype = private("framework.dtypes", "as_dtype")(dtype_name)
    return (
        math.prod(shape) * int(dtype.size)
        if dtype.is_numpy_compatible and dtype.name != "string"
        else None
    )


def _version() -> str:
    return str(getattr(import_module("tensorflow"), "__version__", "of an unknown version"))

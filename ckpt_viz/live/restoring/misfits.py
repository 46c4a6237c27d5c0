"""What TensorFlow raises when a value of another shape is assigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.live.restoring.restore_failures import refusal_of_dtype
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.name_based_restore import NamedRead
from ckpt_viz.matching.engines.read_failures import tensor_shape, wrong_shape
from ckpt_viz.matching.engines.trace import Failure


@dataclass(frozen=True, slots=True)
class Made:
    """A variable that the restore would make: a slot variable or a `save_counter`."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


def misfit(obj: Any, stored: Stored, by_name: NamedRead | None) -> Failure:
    """Return what assigning a value of the wrong shape raises.

    `by_name` is the read from a name-based checkpoint: it may be for a part of the object.
    """
    shape = obj.shape if isinstance(obj, Made) else tf_private.partial_shape(obj.shape)
    stored_shape, expected = tensor_shape(stored.shape), tensor_shape(shape)
    name = obj.name if isinstance(obj, Made) else getattr(obj, "name", "")
    if tf_restore.is_dtensor_variable(obj):
        message = (
            "Trying to assign to variable with tensor with wrong shape. Expected "
            f"{_brackets(obj.shape)} got {_brackets(stored.shape)}"
        )
        return wrong_shape("InvalidArgumentError", message, stored.shape, shape)
    refused = None if isinstance(obj, Made) else refusal_of_dtype(obj)
    if refused is not None:
        inconvertible = refused(stored)
        if inconvertible is not None:
            return inconvertible
        message = (
            f"Cannot assign value to variable ' {name}': Shape mismatch.The variable shape "
            f"{expected}, and the assigned value shape {stored_shape} are incompatible."
        )
    elif isinstance(obj, Made) or tf_private.is_variable(obj):
        if not isinstance(obj, Made) and hasattr(obj, "_value"):  # Keras 3 names it differently
            name = getattr(obj._value, "name", name)
        if by_name is not None:
            name, shape = by_name.name, by_name.shape
        message = (
            f"Received incompatible tensor with shape {stored_shape} when attempting to "
            f"restore variable with shape {tensor_shape(shape)} and name {name}."
        )
    else:
        message = f"Expected shape {expected} for value, got {stored_shape}"
        return wrong_shape("InvalidArgumentError", message, stored.shape, shape)
    return wrong_shape("ValueError", message, stored.shape, shape)


def _brackets(shape: Any) -> str:
    """Return a shape as TensorFlow's kernels print it."""
    return "[" + ",".join(map(str, shape or ())) + "]"

"""The state of one live object, copied and put back.

Plain variables take a short way. TensorFlow's own code serializes and restores all others: tables,
iterators, variables of strategies, and the classes of users.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckpt_viz.files.values.held import HeldTensor, shape_of
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.ground.interrupts import OwnDirectory
from ckpt_viz.ground.text import shape_words
from ckpt_viz.live.restoring.tables import table_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state

PYTHON_STATE = "py_state"


@dataclass(frozen=True, slots=True)
class HeldState:
    """A copy of what an object saves. `is_plain` says that it is the value of a plain variable."""

    parts: tuple[HeldTensor, ...]
    is_plain: bool = False
    is_python: bool = False


@dataclass(frozen=True, slots=True)
class SaverFiles:
    """What a registered saver wrote: the objects by node id, with their names, and the files."""

    saver: str
    names: dict[int, str]
    directory: OwnDirectory

    @property
    def prefix(self) -> str:
        """The prefix that the saver was given."""
        return f"{self.directory.name}/state"

    @property
    def nbytes(self) -> int:
        """The bytes of the files."""
        return bytes_below(self.directory.name)


def bytes_below(directory: str) -> int:
    """Return the bytes of the files in a directory and below."""
    return sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())


def state_of(obj: Any) -> HeldState | None:
    """Return a copy of an object's state; None if it saves nothing. Raises what its code raises."""
    variable = tf_state.plain_variable(obj)
    if variable is not None:
        value = tf_state.read_plain(variable)
        dtype = tf_private.base_dtype_name(variable.dtype)
        return HeldState((HeldTensor(VARIABLE_VALUE, "", dtype, value),), is_plain=True)
    if tf_private.is_python_state(obj):
        return python_state(obj)
    parts = tf_state.parts_of(obj)
    return HeldState(parts) if parts else None


def python_state(obj: Any) -> HeldState:
    """Return the state of a PythonState: the text that its own code writes."""
    import numpy as np

    text = obj.serialize()
    value = text.encode() if isinstance(text, str) else bytes(text)
    return HeldState(
        (HeldTensor(PYTHON_STATE, "", "string", np.array(value, object)),), is_python=True
    )


def put(obj: Any, state: HeldState) -> None:
    """Put a state back into an object; raises what the object's code raises."""
    if state.is_plain:
        tf_state.assign_plain(tf_state.plain_variable(obj), state.parts[0].value)
    elif state.is_python:
        obj.deserialize(state.parts[0].value.item())  # bytes, as a checkpoint's reader gives them
    else:
        tf_state.put_parts(obj, state.parts)


def is_held_by(obj: Any, state: HeldState) -> bool:
    """Return whether an object has this state now, bit by bit; False if NumPy cannot compare."""
    now = state_of(obj)
    return (
        now is not None
        and [part[:3] for part in now.parts] == [part[:3] for part in state.parts]
        and all(map(_are_same, now.parts, state.parts))
    )


def _are_same(now: HeldTensor, before: HeldTensor) -> bool:
    if now.value is None or before.value is None:
        return now.value is before.value
    return hasattr(now.value, "nbytes") and are_equal(now.value, before.value)


def are_equal(expected: Any, actual: Any) -> bool:
    """Return whether two arrays have the same elements; NaN equals NaN of the same bits."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return False
    if expected.dtype.hasobject:  # strings
        return bool((expected == actual).all())
    return bool(expected.tobytes() == actual.tobytes())


def error_words(error: BaseException) -> str:
    """Return the type and the message of what an object's own code has raised."""
    return f"{type(error).__name__}: {getattr(error, 'message', None) or error}"


def has_value(state: HeldState) -> bool:
    """Return whether a state has values; that of an uninitialized variable has none."""
    return any(part.value is not None for part in state.parts)


def misfit(obj: Any, state: HeldState) -> str | None:
    """Return why another object than the one of the state cannot take it; None if it may."""
    variable = tf_state.plain_variable(obj)
    if variable is not None or tf_private.is_variable(obj):
        return _misfit_of_variable(obj if variable is None else variable, state)
    if state.is_plain:
        return f"a {type(obj).__name__} is in its place now, expected a variable"
    if state.is_python != tf_private.is_python_state(obj):
        return f"a {type(obj).__name__} is in its place now, expected an object of the same kind"
    table = table_of(obj)
    if table is not None:
        refused = table.refuses([Stored(p.dtype, tuple(p.value.shape)) for p in state.parts])
        return None if refused is None else f"another table is in its place now: {refused.message}"
    return None


def _misfit_of_variable(variable: Any, state: HeldState) -> str | None:
    if len(state.parts) != 1 or state.parts[0].name != VARIABLE_VALUE:
        return f"a {type(variable).__name__} is in its place now, which takes one value"
    (part,) = state.parts
    dtype, shape = tf_private.base_dtype_name(variable.dtype), shape_of(state.parts)
    if part.dtype == dtype and variable.shape.is_compatible_with(shape):
        return None
    now = shape_words(tf_private.partial_shape(variable.shape), unknown="of any shape")
    return (
        f"another variable is in its place now: found {dtype} {now}, expected "
        f"{part.dtype} {shape_words(shape)}"
    )

"""The private TensorFlow names that read and assign the state of objects in memory.

As in `tensorflow_private`, functions look them up, each behind its guard. Values are NumPy arrays.
Iterators have opaque values that NumPy does not know: these remain tensors, which never change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from ckpt_viz.files.values.held import HeldTensor
from ckpt_viz.live.tensorflow_names.tensorflow_private import (
    base_dtype_name,
    legacy_attribute_name,
    private,
    serializes_itself,
    text_of,
)
from ckpt_viz.live.tensorflow_names.tensorflow_restore import variable_serializers
from ckpt_viz.matching.story.manager import ManagedCheckpoint, ManagerState

_OPAQUE = frozenset({"variant", "resource"})
# The keys have a slash, because sharded variables look for the object's part of them.
_NAMED = "o/.ATTRIBUTES/"


@contextmanager
def unrecorded() -> Iterator[None]:
    """Let no gradient tape record what happens inside."""
    with private("eager.record", "stop_recording")():
        yield


def plain_variable(obj: Any) -> Any:
    """Return the resource variable behind an object that saves only its one value, else None.

    Distributed, sharded and DTensor variables save and restore by code of their own.
    """
    if type(obj).__module__.startswith("keras.src.backend"):
        obj = getattr(obj, "_value", None)
    cls: Any = type(obj)
    kind = variable_serializers().get(getattr(cls, "_serialize_to_tensors", None))
    return obj if kind == "resource" and serializes_itself(obj) else None


@cache
def _operations() -> Any:
    private("ops.gen_resource_variable_ops", "read_variable_op")  # the guard
    return private("ops", "gen_resource_variable_ops")


@cache
def _constant() -> Any:
    return private("framework.constant_op", "constant")


def read_plain(variable: Any) -> Any:
    """Return a copy of a plain variable's value; None if it is not initialized."""
    try:
        tensor = _operations().read_variable_op(variable.handle, variable.dtype)
    except private("framework.errors_impl", "FailedPreconditionError"):
        return None
    value = array_of(tensor)
    # An uninitialized variable may also read as an empty tensor.
    return value if value.size or _is_initialized(variable) else None


def assign_plain(variable: Any, value: Any) -> None:
    """Assign a value of the variable's dtype and a fitting shape to a plain variable."""
    tensor = _constant()(value, variable.dtype)
    _operations().assign_variable_op(variable.handle, tensor)


def shape_now(variable: Any) -> tuple[int, ...] | None:
    """Return the shape of a plain variable's value, which may have unknown dimensions otherwise.

    None if it is not initialized.
    """
    try:
        shape = _operations().variable_shape(variable.handle, private("framework.dtypes", "int64"))
    except private("framework.errors_impl", "FailedPreconditionError"):
        return None
    sizes = tuple(shape.numpy().tolist())
    return sizes if 0 not in sizes or _is_initialized(variable) else None


def _is_initialized(variable: Any) -> bool:
    return bool(_operations().var_is_initialized_op(variable.handle))


def array_of(tensor: Any) -> Any:
    """Return a copy of a tensor's value as a NumPy array; an opaque tensor as it is."""
    if base_dtype_name(tensor.dtype) in _OPAQUE:
        return tensor
    value = tensor.numpy()  # a copy, also on the CPU; `_numpy` would share the memory
    if isinstance(value, bytes):  # a string scalar; everything else is an array
        import numpy as np

        return np.array(value, object)
    return value


def tensor_of(part: HeldTensor) -> Any:
    """Return a part's value as a tensor; later changes of either do not affect the other."""
    if part.dtype in _OPAQUE:
        return part.value
    return _constant()(part.value, private("framework.dtypes", "as_dtype")(part.dtype))


def nbytes_of(value: Any) -> int:
    """Return the bytes of a value; of strings those of their characters, of tensors all parts."""
    if value is None:
        return 0
    if not hasattr(value, "nbytes"):  # an opaque tensor
        serialize = private("ops.io_ops", "serialize_tensor")
        parts = [value[i] for i in range(value.shape[0])] if value.shape.rank else [value]
        return sum(len(serialize(part).numpy()) for part in parts)
    if value.dtype.hasobject:
        return sum(map(len, value.ravel().tolist()))
    return int(value.nbytes)


def parts_of(obj: Any) -> tuple[HeldTensor, ...]:
    """Return copies of the tensors that an object would save, read by its own code."""
    return tuple(
        HeldTensor(name, spec, base_dtype_name(dtype), None if tensor is None else array_of(tensor))
        for name, spec, dtype, tensor in _tensors_of(obj)
    )


def _tensors_of(obj: Any) -> Iterator[tuple[str, str, Any, Any]]:
    if not serializes_itself(obj):
        for saveable in saveables_of(obj, _NAMED):
            for spec in saveable.specs:
                yield _text(spec.name), _text(spec.slice_spec), spec.dtype, spec.tensor
        return
    prefix = legacy_attribute_name(obj) or ""
    for name, tensors in obj._serialize_to_tensors().items():
        for slice_spec, tensor in (tensors if isinstance(tensors, dict) else {"": tensors}).items():
            value = tensor.tensor if hasattr(tensor, "slice_spec") else tensor
            value = value() if callable(value) else value
            if value is not None and not hasattr(value, "numpy"):  # a variable of a user's class
                value = private("framework.ops", "convert_to_tensor")(value)
            yield prefix + name, slice_spec, tensor.dtype, value


def put_parts(obj: Any, parts: Sequence[HeldTensor]) -> None:
    """Let an object's own code restore these tensors; raises what it raises."""
    if not serializes_itself(obj):
        tensors = {(part.name, part.slice_spec): part for part in parts}
        for saveable in saveables_of(obj, _NAMED):
            keys = [(_text(spec.name), _text(spec.slice_spec)) for spec in saveable.specs]
            saveable.restore([tensor_of(tensors[key]) for key in keys], None)
        return
    prefix = legacy_attribute_name(obj) or ""
    restored: dict[str, Any] = {}
    for part in parts:
        name, tensor = part.name.removeprefix(prefix), tensor_of(part)
        if part.slice_spec:
            restored.setdefault(name, {})[part.slice_spec] = tensor
        else:
            restored[name] = tensor
    obj._restore_from_tensors(restored)


def saveables_of(obj: Any, prefix: str) -> list[Any]:
    """Return the SaveableObjects of an object, whose names of tensors begin with a prefix."""
    util = "training.saving.saveable_object_util"
    factories: Mapping[str, Any] = private(util, "saveable_objects_from_trackable")(obj)
    named = {
        f"{prefix}{name}": factory(name=f"{prefix}{name}") if callable(factory) else factory
        for name, factory in factories.items()
    }
    return list(private(util, "validate_and_slice_inputs")(named))


def _text(name: Any) -> str:
    return text_of(name).removeprefix(_NAMED)


# --- savers that write files of their own


def save_by(saver: str, objects: Mapping[str, Any], prefix: str) -> None:
    """Let a registered saver write the state of its objects into files with this prefix."""
    constant, registration = _constant(), "saved_model.registration"
    save = private(registration, "get_save_function")(saver)
    written = save(trackables=dict(objects), file_prefix=constant(f"{prefix}-{saver}"))
    shards = private("util.nest", "flatten")(written) if written is not None else []
    if shards:
        merge = private("ops.gen_io_ops", "merge_v2_checkpoints")
        merge(shards, constant(prefix), delete_old_dirs=False)


def restore_by(saver: str, objects: Mapping[str, Any], prefix: str) -> None:
    """Let a registered saver restore its objects from the files that it wrote."""
    restore = private("saved_model.registration", "get_restore_function")(saver)
    restore(trackables=dict(objects), merged_prefix=_constant()(prefix))


# --- managers of checkpoints


def managers_state(
    manager: Any, number: int | None, number_of: Callable[[Any], int | None]
) -> ManagerState:
    """Return what a `tf.train.CheckpointManager` keeps, such as the checkpoints in its list.

    `number` is that of its next checkpoint, and `number_of` reads its counters.
    """
    has_interval = manager.checkpoint_interval is not None
    last_step, step = (
        number_of(getattr(manager, name, None)) if has_interval else None
        for name in ("_last_checkpoint_step", "_step_counter")
    )
    return ManagerState(
        directory=manager.directory,
        prefix=manager._prefix,
        number=number,
        checkpoints=tuple(ManagedCheckpoint(*pair) for pair in dict(manager._maybe_delete).items()),
        last_preserved=manager._last_preserved_timestamp,
        max_to_keep=manager._max_to_keep,
        hours=manager._keep_checkpoint_every_n_hours,
        interval=manager.checkpoint_interval,
        last_step=last_step,
        step=step,
        has_init_fn=manager._init_fn is not None,
    )

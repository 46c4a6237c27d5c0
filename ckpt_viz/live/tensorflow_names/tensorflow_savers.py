"""TensorFlow's own names about `tf.compat.v1.train.Saver`."""

from __future__ import annotations

from typing import Any

from ckpt_viz.live.tensorflow_names.tensorflow_private import private


def is_saver(obj: object) -> bool:
    """Return whether the object is a `tf.compat.v1.train.Saver`."""
    return isinstance(obj, private("training.saver", "Saver"))


def is_built(saver: Any) -> bool:
    """Return whether a Saver has added its operations to a graph; an eager one never has."""
    return bool(saver._is_built)


def given_variables(saver: Any) -> Any:
    """Return the list or dict of variables that a Saver was given, or took when it was built."""
    return saver._var_list


def all_saveable_objects() -> list[Any]:
    """Return what a Saver without a list takes if it is built now: the graph's variables."""
    return list(private("ops.variables", "_all_saveable_objects")())


def save_tensor_name(saver: Any) -> str | None:
    """Return the name of the tensor that a built Saver evaluates to save; None if it is empty."""
    return str(saver.saver_def.save_tensor_name) if saver.saver_def is not None else None


def restore_operation_name(saver: Any) -> str:
    """Return the name of the operation that a built Saver runs to restore."""
    return str(saver.saver_def.restore_op_name)


def names_to_save(variables: list[Any]) -> dict[str, Any]:
    """Return what a Saver would save under which name; partitions are a list under one name.

    Raises ValueError and TypeError as building the Saver would. Adds no operation if the arguments
    are only variables and SaveableObjects.
    """
    to_dict = private("training.saving.saveable_object_util", "op_list_to_dict")
    names: dict[str, Any] = to_dict(variables, convert_variable_to_tensor=False)
    return names


def flatten(nested: Any) -> list[Any]:
    """Return the items of a nested list, as a Saver does."""
    return list(private("util.nest", "flatten")(list(nested)))


def is_saveable_object(obj: object) -> bool:
    """Return whether the object is a `SaveableObject`: it decides what to save, by name."""
    return isinstance(obj, private("training.saving.saveable_object", "SaveableObject"))


def spec_tensor(spec: Any) -> Any:
    """Return the tensor of a SaveSpec; None if reading it would add operations."""
    return None if callable(spec._tensor) else spec._tensor


def save_slice_info(variable: Any) -> Any:
    """Return a variable's position in the tensor that is saved for all partitions, or None."""
    return getattr(variable, "_save_slice_info", None)


def reshapes(saver: Any) -> bool:
    """Return whether a Saver was made with `reshape=True`."""
    return bool(saver._reshape)


def is_empty(saver: Any) -> bool:
    """Return whether a Saver knows that it has no variables: its `restore` does nothing."""
    return bool(saver._is_empty)


def allows_empty(saver: Any) -> bool:
    """Return whether a Saver was made with `allow_empty=True`."""
    return bool(saver._allow_empty)


def has_operations(saver: Any) -> bool:
    """Return whether a Saver has restore operations: it has none before it is built."""
    return saver.saver_def is not None


def adds_operations(saver: Any) -> bool:
    """Return whether a Saver's restore of an object-based checkpoint builds a second Saver."""
    return saver._object_restore_saver is None


def finds_checkpoint(path: Any) -> bool:
    """Return whether a Saver finds a checkpoint at a path; raise what its `restore` would."""
    text = private("util.compat", "as_text")(path)
    management = "checkpoint.checkpoint_management"
    return bool(private(management, "checkpoint_exists_internal")(text))


def is_partitioned_variable(obj: object) -> bool:
    """Return whether the object is what `get_variable` returns with a partitioner."""
    return isinstance(obj, private("ops.variables", "PartitionedVariable"))

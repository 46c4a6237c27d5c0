"""The private TensorFlow names that a restore check needs, in addition to those of the walk.

As in `tensorflow_private`, functions look them up, each behind its guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ckpt_viz.live.tensorflow_names.shadows import instance_dict
from ckpt_viz.live.tensorflow_names.tensorflow_private import (
    base_dtype_name,
    legacy_attribute_name,
    private,
    serializes_itself,
    text_of,
    without_manager,
)

_SAVEABLES = "training.saving.saveable_object_util"
_OBJECT_ATTRIBUTES = ".ATTRIBUTES/"
_NONE: tuple[str, ...] = ()
_WRAPPED = "_variable"  # of an AutoCastVariable
_NO_TENSOR = "_ckpt_viz/no_tensor"
_MARK = "_self_update_uid"  # of the last restore of an object (trackable/base.py)


def has_saveables(obj: Any) -> bool:
    """Return whether a restore's asserts count the object as one with a value."""
    return bool(_factories(obj))


def _factories(obj: Any) -> Any:
    return private(_SAVEABLES, "saveable_objects_from_trackable")(obj)


def saveables(obj: Any, attributes: Sequence[Any]) -> Saveables:
    """Return what an object would read for these saved attributes.

    Runs the object's `_serialize_to_tensors`, or makes its SaveableObjects, as `restore` does
    (`CheckpointPosition.gather_ops_or_named_saveables`).
    """
    factories = _factories(obj)
    if _serializes_to_tensors(factories):
        name = saveable_name(attributes[0].checkpoint_key, legacy_attribute_name(obj))
        (factory,) = factories.values()
        named, unused = {name: factory(name=name)}, _NONE
    else:
        named, unused = _by_attribute_name(factories, attributes)
    valid = private(_SAVEABLES, "validate_and_slice_inputs")(named)
    specs = [
        (text_of(spec.name), text_of(spec.slice_spec), base_dtype_name(spec.dtype))
        for saveable in valid
        for spec in saveable.specs
    ]
    targets = tuple((text_of(target.name), target.op) for target in valid if target.op is not None)
    return Saveables(min(named, default=""), tuple(specs), unused, targets)


def keys_of_saveables(
    obj: Any, attributes: Sequence[Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which saved attributes an object would read, by key, and which not, by name.

    Makes no SaveableObject: in a graph those would add operations.
    """
    factories = _factories(obj)
    if _serializes_to_tensors(factories):
        return tuple(attribute.checkpoint_key for attribute in attributes), _NONE
    stand_ins = dict.fromkeys(factories, lambda name: True)
    named, unused = _by_attribute_name(stand_ins, attributes)
    return tuple(named), unused


def _serializes_to_tensors(factories: Mapping[str, Any]) -> bool:
    return factories.keys() == {private("trackable.trackable_utils", "SERIALIZE_TO_TENSORS_NAME")}


def _by_attribute_name(
    factories: Mapping[str, Any], attributes: Sequence[Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what the factories make of attributes, by key, and the names without an attribute."""
    from_factory = private("checkpoint.restore", "_get_saveable_from_factory")
    made: set[str] = set()
    named: dict[str, Any] = {}
    unused: list[str] = []
    for attribute in attributes:
        if any(attribute.name.startswith(name) for name in made):
            continue
        saveable = from_factory(factories, attribute, made)
        if saveable is None:
            unused.append(attribute.name)
        else:
            named[attribute.checkpoint_key] = saveable
    return named, tuple(unused)


def named_saveables(obj: Any) -> tuple[list[NamedSaveable], list[str]]:
    """Return what an object would restore from a name-based checkpoint, and what has no name.

    Makes the same calls as `restore` but restores nothing
    (`_NameBasedRestoreCoordinator.globally_named_object_attributes`).
    """
    asking = private("checkpoint.checkpoint", "_NameBasedRestoreCoordinator")("", {})
    named = [
        NamedSaveable(
            text_of(saveable.name),
            tuple(text_of(spec.name) for spec in saveable.specs),
            getattr(saveable, "_var_shape", None),
        )
        for saveable in asking.globally_named_object_attributes(obj)
    ]
    return named, list(asking.unused_attributes.get(obj, ()))


class NamedSaveable(NamedTuple):
    """A name, its tensors' names, and the shape of the assigned object, if known.

    A sharded variable has the shape of its last shard, which alone uses the variable's name.
    """

    name: str
    tensors: tuple[str, ...]
    shape: Any


def sums_on_read(obj: Any) -> bool:
    """Return whether the variable divides a restored value among its replicas, and casts it."""
    values = "distribute.values"
    return isinstance(obj, private(values, "SyncOnReadVariable")) and (
        obj.aggregation == private("ops.variables", "VariableAggregation").SUM
    )


class Saveables(NamedTuple):
    """An object's saveable: its name; key, slice and dtype of each tensor; unused attributes.

    `targets` are the objects to which the tensors are assigned, each with its name.
    """

    name: str
    specs: tuple[tuple[str, str, str], ...]
    unused: tuple[str, ...]
    targets: tuple[tuple[str, object], ...]


def saveable_name(checkpoint_key: str, legacy_name: str | None) -> str:
    """Return the name under which a key's object is restored; raise ValueError if there is none.

    As `_extract_saveable_name` in checkpoint/restore.py, by the first `.ATTRIBUTES/` in the key.
    """
    end = checkpoint_key.index(_OBJECT_ATTRIBUTES) + len(_OBJECT_ATTRIBUTES)
    return checkpoint_key[:end] + (legacy_name or "")


@cache
def variable_serializers() -> dict[Any, str]:
    """Return the functions with which each kind of variable names its reads, with the kind."""
    return {
        private(
            "ops.resource_variable_ops", "BaseResourceVariable"
        )._serialize_to_tensors: "resource",
        private("ops.ref_variable", "RefVariable")._serialize_to_tensors: "reference",
    }


def restore_slot_hook(optimizer: object) -> Any:
    """Return the optimizer's hook for saved slot variables, None if it has none."""
    return getattr(optimizer, "_create_or_restore_slot_variable", None)


def bookkeepers_of(obj: Any) -> tuple[Any, ...]:
    """Return the objects that record whether this one was restored; a restore marks the first.

    A DelegatingTrackableMixin lets the wrapped object keep this record. An AutoCastVariable of
    tf_keras keeps it itself, and asks the wrapped variable until the record exists.
    """
    cls: Any = type(obj)
    attribute = _delegating_attribute(cls)
    if attribute is None or (attribute == _WRAPPED and _MARK in instance_dict(obj)):
        return (obj,)
    wrapped = getattr(obj, attribute)
    return (obj, wrapped) if attribute == _WRAPPED else (wrapped,)


def delegate_of(obj: Any) -> Any:
    """Return the object that a wrapper wraps; most objects are no wrapper and return themselves.

    Wrappers are DelegatingTrackableMixin and tf_keras' AutoCastVariable.
    """
    cls: Any = type(obj)
    attribute = _delegating_attribute(cls)
    return obj if attribute is None else getattr(obj, attribute)


@lru_cache(maxsize=1024)
def _delegating_attribute(cls: type) -> str | None:
    if issubclass(cls, private("trackable.base_delegate", "DelegatingTrackableMixin")):
        return "_trackable"
    is_wrapper = any(base.__name__ == "AutoCastVariable" for base in cls.__mro__)
    return _WRAPPED if is_wrapper else None


def state_of_iterator(iterator: Any) -> Iterator[bytes]:
    """Yield the parts of an iterator's state, each a serialized TensorProto."""
    (state,) = iterator._serialize_to_tensors().values()
    for part in range(state.shape[0]):
        yield private("ops.io_ops", "serialize_tensor")(state[part]).numpy()


def is_symbolic(iterator: Any) -> bool:
    """Return whether an iterator's dataset has the option `experimental_symbolic_checkpoint`."""
    dataset = getattr(iterator, "_dataset", None)
    return dataset is not None and bool(dataset.options().experimental_symbolic_checkpoint)


def restores_nothing(obj: object) -> bool:
    """Return whether an object saves tensors by its own code but has no code that restores them.

    It then has `Trackable._restore_from_tensors`, which raises NotImplementedError.
    """
    method = "_restore_from_tensors"
    base = getattr(private("trackable.base", "Trackable"), method, None)
    own = getattr(type(obj), method, None)
    return base is not None and own is base and serializes_itself(obj)


def is_distributed(obj: object) -> bool:
    """Return whether the object is a variable of a distribution strategy."""
    return bool(private("distribute.distribute_utils", "is_distributed_variable")(obj))


def is_dtensor_variable(obj: object) -> bool:
    """Return whether the object is a variable of `tf.experimental.dtensor`."""
    cls = type(obj)
    return cls.__name__ == "DVariable" and cls.__module__.startswith("tensorflow.dtensor.")


def saved_dtype_of_dtensor(variable: Any) -> str:
    """Return the dtype in which a DTensor variable is saved and restored."""
    dtype = base_dtype_name(variable.dtype)
    return "bfloat16" if variable.save_as_bf16 and dtype == "float32" else dtype


def is_asynchronous(checkpoint: Any, options: Any) -> bool:
    """Return whether this call's options, or an earlier call, make a restore asynchronous."""
    if not private("eager.context", "executing_eagerly")():
        return False
    return any(
        getattr(holder, "experimental_enable_async_checkpoint", False)
        for holder in (options, getattr(checkpoint, "_checkpoint_options", None))
    )


def asynchronous_checkpoint(checkpoint: Any) -> Any:
    """Return the Checkpoint that an asynchronous restore writes to, or one like it.

    It has the keywords of the given one, and its own `save_counter`
    (`Checkpoint._async_checkpointer`).
    """
    helper = checkpoint._async_checkpointer_impl
    if helper is not None:
        return helper.checkpointer()
    return private("checkpoint.checkpoint", "Checkpoint")(**checkpoint._kwargs)


def make_counter(source: Any) -> None:
    """Let a checkpoint, or that of a manager, make the `save_counter` that it has not made yet."""
    _ = without_manager(source).save_counter


def new_reader(path: Any) -> Any:
    """Return TensorFlow's reader of a checkpoint; raise what `restore` raises for the path."""
    return private("training.py_checkpoint_reader", "NewCheckpointReader")(path)


def refused_by_operation(path: Any) -> str | None:
    """Return the class of what `RestoreV2` raises as it opens a checkpoint; None if it opens it.

    TensorFlow's reader in Python gives almost all of these errors one class, `OpError`.
    """
    error = private("framework.errors_impl", "OpError")
    restore_v2 = private("ops.gen_io_ops", "restore_v2")
    int32 = private("framework.dtypes", "int32")
    try:
        with private("eager.context", "eager_mode")():
            restore_v2(path, [_NO_TENSOR], [""], [int32])
    except error as raised:
        is_open = isinstance(raised, private("framework.errors_impl", "NotFoundError"))
        return None if is_open else type(raised).__name__
    return None


def graph_in(reader: Any) -> bytes | None:
    """Return the object graph in a checkpoint; None for a name-based one, which has no graph."""
    try:
        serialized: bytes = reader.get_tensor(private("trackable.base", "OBJECT_GRAPH_PROTO_KEY"))
    except private("framework.errors_impl", "NotFoundError"):
        return None
    return serialized


def tensors_in(reader: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return dtype and shape of every tensor that a reader lists."""
    dtypes = reader.get_variable_to_dtype_map()
    return {
        name: (base_dtype_name(dtypes[name]), tuple(shape))
        for name, shape in reader.get_variable_to_shape_map().items()
    }


def variables_of_saved_model(path: str) -> str | None:
    """Return the checkpoint that `restore` opens for a SavedModel's directory; None for others."""
    exists, helpers = private("platform.gfile", "Exists"), "saved_model.path_helpers"
    if private("platform.gfile", "IsDirectory")(path) and (
        exists(private(helpers, "get_saved_model_pb_path")(path))
        or exists(private(helpers, "get_saved_model_pbtxt_path")(path))
    ):
        return str(private(helpers, "get_variables_path")(path))
    return None


def is_eager() -> bool:
    """Return whether `restore` would assign values at once, rather than add to a graph."""
    with private("framework.ops", "init_scope")():
        return bool(private("eager.context", "executing_eagerly")())


def creates_variables_freely() -> bool:
    """Return whether no variable creator scope is active, such as a strategy's scope."""
    with private("framework.ops", "init_scope")():
        return not private("framework.ops", "get_default_graph")()._variable_creator_stack


def deferred_dependencies(obj: Any) -> dict[str, list[Any]]:
    """Return the checkpoint positions that wait at an object, by the local name they wait for."""
    return dict(getattr(delegate_of(obj), "_self_unconditional_deferred_dependencies", {}))


def tensors_of_coordinator(coordinator: Any) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return dtype and shape of every tensor that a restore has found."""
    return {
        key: (base_dtype_name(coordinator.dtype_map[key]), tuple(shape))
        for key, shape in coordinator.shape_map.items()
    }


def is_reference(variable: object) -> bool:
    """Return whether a variable is one of TensorFlow 1's reference variables."""
    return isinstance(variable, private("ops.ref_variable", "RefVariable"))


def shapes_of_table(obj: Any) -> tuple[tuple[int, ...], tuple[int, ...], bool] | None:
    """Return the shapes of a hash table's key and value, and whether it is a DenseHashTable.

    None if the object is not a table that restores its entries.
    """
    if isinstance(obj, private("ops.lookup_ops", "DenseHashTable")):
        key = private("framework.ops", "convert_to_tensor")(obj._empty_key)
        return _known(key.shape), _known(obj._value_shape), True
    if isinstance(obj, private("ops.lookup_ops", "MutableHashTable")):
        return (), _known(obj._value_shape), False
    return None


def _known(shape: Any) -> tuple[int, ...]:
    return tuple(int(dim) for dim in shape)


def active_strategy() -> Any:
    """Return the distribution strategy whose scope is active; None outside of all scopes."""
    has_one = private("distribute.distribute_lib", "has_strategy")()
    return private("distribute.distribute_lib", "get_strategy")() if has_one else None


def makes_distributed_variables() -> bool:
    """Return whether a variable that is made now is distributed; one device makes plain ones."""
    strategy = active_strategy()
    alone = private("distribute.one_device_strategy", "OneDeviceExtended")
    return strategy is not None and not isinstance(strategy.extended, alone)


def strategy_of(variable: Any) -> Any:
    """Return the distribution strategy in whose scope a variable was made, or None."""
    return getattr(variable, "_distribute_strategy", None)

"""The private TensorFlow names that ckpt_viz needs, in one place.

This module looks up, inside functions, every name that may move between TensorFlow versions. So
importing it imports no TensorFlow. If a name is gone, it raises UnsupportedError with TensorFlow's
version and the name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from ckpt_viz.errors import UnsupportedError

TESTED_VERSIONS = "2.15 to 2.21"
_LISTING = "_trackable_children"
_LAYERS_OF_KERAS_3 = "keras.src.backend.tensorflow.layer"


@cache
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


def is_checkpoint(obj: object) -> bool:
    """Return whether the object is a `tf.train.Checkpoint`, v2 or v1."""
    return isinstance(
        obj,
        (
            private("checkpoint.checkpoint", "Checkpoint"),
            private("checkpoint.checkpoint", "CheckpointV1"),
        ),
    )


def is_checkpoint_manager(obj: object) -> bool:
    """Return whether the object is a `tf.train.CheckpointManager`."""
    if "tensorflow" not in sys.modules:  # a saved checkpoint in the place of its program
        return False
    return isinstance(obj, private("checkpoint.checkpoint_management", "CheckpointManager"))


def without_manager(source: Any) -> Any:
    """Return the checkpoint of a manager; anything else as it is."""
    return source.checkpoint if is_checkpoint_manager(source) else source


def counter_of(checkpoint: Any) -> Any:
    """Return the `save_counter` of a checkpoint; None if it has not made one yet."""
    return checkpoint._save_counter


def is_load_status(obj: object) -> bool:
    """Return whether the object is any kind of status that `Checkpoint.restore` returns."""
    return isinstance(obj, private("checkpoint.checkpoint", "_LoadStatus"))


def restored_by(status: Any, held: Iterable[object] = ()) -> tuple[object, str] | None:
    """Return what a status restored, and from which path; None if only the status can tell.

    A checkpoint beside its root is one of the `held` objects of the program.
    """
    view = getattr(status, "_object_graph_view", None)
    path = getattr(getattr(status, "_checkpoint", None), "save_path_string", None)
    if not isinstance(path, str) or view is None:
        return None
    if not getattr(view, "attached_dependencies", None):
        return view.root, path
    own = (obj for obj in held if is_checkpoint(obj) and checkpoints_view(obj) is view)
    return next(((checkpoint, path) for checkpoint in own), None)


def checkpoints_view(checkpoint: Any) -> Any:
    """Return the ObjectGraphView of a checkpoint: it knows root and attached keywords."""
    return checkpoint._saver._graph_view


def statuss_view(status: Any) -> Any:
    """Return the ObjectGraphView of the checkpoint whose restore returned this status."""
    return status._object_graph_view


def trackables_view(obj: Any) -> Any:
    """Return an ObjectGraphView of any other trackable, with it as the root.

    `tf.train.Checkpoint(root=obj)` would write the same nodes, and add an edge `root` from the root
    to itself.
    """
    return private("checkpoint.graph_view", "ObjectGraphView")(obj)


def has_lost_its_root(view: Any) -> bool:
    """Return whether the root of an ObjectGraphView, which it may hold weakly, is gone."""
    try:
        return view.root is None
    except AssertionError:
        return True


def tracked(obj: Any) -> dict[str, Any]:
    """Return the children in `Trackable`'s own bookkeeping, by local name."""
    references = _bookkeeping(obj, "_self_unconditional_checkpoint_dependencies") or ()
    return {reference.name: reference.ref for reference in tuple(references)}


def tracked_by_name(obj: Any) -> dict[str, Any]:
    """Return what `Trackable._lookup_dependency` searches for a name, if nothing is listed."""
    return dict(_bookkeeping(obj, "_self_unconditional_dependency_names") or {})


def _bookkeeping(obj: Any, name: str) -> Any:
    # Wrappers of lists, dicts and tuples are proxies that may have no `__dict__` of their own.
    if is_data_structure(obj):
        return getattr(obj, name, None)
    try:
        return object.__getattribute__(obj, "__dict__").get(name)
    except AttributeError:
        return None


def save_type() -> Any:
    """Return the save type that TensorFlow passes when it lists children for a checkpoint."""
    return private("trackable.base", "SaveType").CHECKPOINT


def as_trackable(child: Any, parent: Any) -> Any:
    """Return a listed child as TensorFlow tracks it; raise ValueError if it cannot be tracked."""
    if is_trackable(child):
        return child
    return private("trackable.converter", "convert_to_trackable")(child, parent=parent)


def is_childless(obj: Any) -> bool:
    """Return whether an object obviously tracks nothing, as most variables do.

    If an object's class lists children as `Trackable` does, they are in one attribute of the
    object, which does not exist before the first child. Calling the object would take longer, and
    write to it.
    """
    lists = private("trackable.base", "Trackable")._trackable_children
    if getattr(type(obj), "_trackable_children", None) is not lists:
        return False
    try:
        own = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return False
    return not own.get("_self_unconditional_checkpoint_dependencies")


@lru_cache(maxsize=1024)
def asks_itself_alone(cls: type) -> bool:
    """Return whether listing and looking up an object's children asks no object in its attributes.

    The code of tf.Module and of most classes lists what the object itself keeps, and so does that
    of Keras 3's layers: for a checkpoint, it only calls the listing of the class behind it.
    """
    base = private("trackable.base", "Trackable")
    listings = [vars(cls)[_LISTING] for cls in cls.__mro__ if _LISTING in vars(cls)]
    if listings and getattr(listings[0], "__module__", "") == _LAYERS_OF_KERAS_3:
        listings = listings[1:]
    listing = private("trackable.autotrackable", "AutoTrackable")._trackable_children
    return listings[:1] in ([listing], [base._trackable_children]) and all(
        getattr(cls, name, None) is getattr(base, name)
        for name in (
            "_checkpoint_dependencies",
            "_lookup_dependency",
            "_maybe_initialize_trackable",
        )
    )


def initializes_itself(cls: type) -> bool:
    """Return whether a class keeps `Trackable`'s bookkeeping itself and does not delegate it."""
    name = "_maybe_initialize_trackable"
    return getattr(cls, name, None) is getattr(private("trackable.base", "Trackable"), name)


def looks_up_children_only(obj: Any) -> bool:
    """Return whether the object's class inherits `_lookup_dependency` unchanged."""
    return type(obj)._lookup_dependency is private("trackable.base", "Trackable")._lookup_dependency


def full_name(obj: Any) -> str:
    """Return the variable's name in name-based checkpoints, "" for other objects."""
    return str(private("checkpoint.util", "get_full_name")(obj))


def legacy_attribute_name(obj: Any) -> str | None:
    """Return the one attribute name that the object's class fixes: iterators, tables.

    The object itself may run its own code if asked: a distributed variable would be read.
    """
    name: str | None = private("checkpoint.saveable_compat", "get_saveable_name")(type(obj))
    return name


def is_variable(obj: object) -> bool:
    """Return whether the object acts as a variable.

    These are `tf.Variable` (also distributed, sharded, and the reference variables of TensorFlow 1)
    and Keras 3's Variable. TensorFlow asks the object itself for the attribute, which would run the
    user's `__getattr__`. Every object that has the attribute has it from its class.
    """
    cls: Any = type(obj)
    return _acts_as_variable(cls) or (obj.__class__ is not cls and is_tf_variable(obj))


@lru_cache(maxsize=1024)
def _acts_as_variable(cls: type) -> bool:
    return issubclass(cls, private("ops.variables", "Variable")) or hasattr(
        cls, "_should_act_as_resource_variable"
    )


def is_sharded(obj: object) -> bool:
    """Return whether the object is a variable in shards, which are variables themselves."""
    return isinstance(obj, private("distribute.sharded_variable", "ShardedVariable"))


@contextmanager
def staying_shards_of_theirs(variables: list[Any]) -> Iterator[None]:
    """Keep variables the shards of their variable, though they become shards of another one."""
    name, missing = "_sharded_container", object()
    before = [(variable, vars(variable).get(name, missing)) for variable in variables]
    try:
        yield
    finally:
        for variable, container in before:
            if container is missing:
                vars(variable).pop(name, None)
            else:
                vars(variable)[name] = container


def is_tf_variable(obj: object) -> bool:
    """Return whether the object is a `tf.Variable`; Keras 3's variables are not."""
    return isinstance(obj, private("ops.variables", "Variable"))


def serializes_itself(obj: object) -> bool:
    """Return whether the object's class has its own code that decides what it saves."""
    return bool(
        private("training.saving.saveable_object_util", "trackable_has_serialize_to_tensor")(obj)
    )


def saveable_factories(obj: object) -> tuple[str, ...] | None:
    """Return the attribute names of an object that saves by `SaveableObject` factories.

    None if the object's class makes them in its own code.
    """
    base = private("trackable.base", "Trackable")
    method = "_gather_saveables_for_checkpoint"
    if getattr(type(obj), method, None) is not getattr(base, method):
        return None
    return tuple(getattr(obj, "_self_saveable_object_factories", ()))


def value_of(variable: Any) -> Any:
    """Return a variable's current value as a NumPy array; later changes do not affect the copy.

    No tape records the read, and the variable does not remember it. No graph gets an operation.
    """
    tensor: Any = None
    if is_eager_now():
        with private("eager.record", "stop_recording")(), _unread(variable):
            tensor = private("framework.ops", "convert_to_tensor")(variable)
    if not hasattr(tensor, "numpy"):
        raise UnsupportedError(
            "a variable of a graph has a value only in a session; expected eager execution"
        )
    value = tensor.numpy()
    if isinstance(value, bytes):  # a string scalar; everything else is an array
        import numpy as np

        return np.array(value, object)
    return value


@contextmanager
def _unread(variable: Any) -> Iterator[None]:
    """Restore afterwards what a variable and its parts remember about reads."""
    parts = (variable, getattr(variable, "_value", None), *getattr(variable, "_values", ()))
    before = [
        (p, p._variable_read) for p in parts if "_variable_read" in getattr(p, "__dict__", ())
    ]
    try:
        yield
    finally:
        for part, was_read in before:
            part.__dict__["_variable_read"] = was_read


def is_eager_now() -> bool:
    """Return whether operations run at once: not in a graph, nor in a `tf.function`."""
    return bool(private("eager.context", "executing_eagerly")())


def default_graph() -> Any:
    """Return TensorFlow's current default graph."""
    return private("framework.ops", "get_default_graph")()


def constant_value(tensor: Any) -> Any:
    """Return the value of a graph's constant as a NumPy array, None if it is unknown."""
    return private("framework.tensor_util", "constant_value")(tensor)


def is_python_state(obj: object) -> bool:
    """Return whether the object is a `tf.train.experimental.PythonState`."""
    return isinstance(obj, private("trackable.python_state", "PythonState"))


def is_data_structure(obj: object) -> bool:
    """Return whether the object is one of TensorFlow's list, dict or tuple wrappers."""
    return isinstance(obj, data_structure())


def data_structure() -> type:
    """Return the class of TensorFlow's list, dict and tuple wrappers."""
    cls: type = private("trackable.data_structures", "TrackableDataStructure")
    return cls


def is_name_scope(obj: object) -> bool:
    """Return whether the object is a `tf.name_scope`; each tf.Module has one."""
    return type(obj) is private("framework.ops", "name_scope_v2")


def text_of(name: object) -> str:
    """Return a name or a path that TensorFlow has as bytes or as text."""
    return name.decode() if isinstance(name, bytes) else str(name)


@cache
def base_dtype_name(dtype: object) -> str:
    """Return TensorFlow's name of a dtype, references resolved."""
    return str(private("framework.dtypes", "as_dtype")(dtype).base_dtype.name)


def full_shape(shape: Any) -> tuple[int, ...] | None:
    """Return a shape with all dimensions known; None for others."""
    dims: Any = partial_shape(shape)
    return None if dims is None or None in dims else dims


def partial_shape(shape: Any) -> tuple[int | None, ...] | None:
    """Return the shape of a tf.Variable (TensorShape) or Keras variable (tuple).

    Unknown dimensions are None, and so is a shape of unknown rank.
    """
    if not hasattr(shape, "as_list"):
        return tuple(None if dim is None else int(dim) for dim in shape)
    return None if shape.rank is None else tuple(shape.as_list())


@lru_cache(maxsize=4096)
def stored_bytes(dtype_name: str, shape: tuple[int, ...]) -> int | None:
    """Return the bytes that a tensor takes in a file; None for strings, whose size varies."""
    dtype = private("framework.dtypes", "as_dtype")(dtype_name)
    return (
        math.prod(shape) * int(dtype.size)
        if dtype.is_numpy_compatible and dtype.name != "string"
        else None
    )


def _version() -> str:
    return str(getattr(import_module("tensorflow"), "__version__", "of an unknown version"))

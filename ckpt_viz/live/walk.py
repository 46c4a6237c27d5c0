"""Live objects as object graphs: what `Checkpoint.write` would save now, nothing changed.

Node ids, edges and their order, keys and slots are those that TensorFlow would write
(tensorflow/python/checkpoint/save_util.py): breadth first, declared slot variables last.
The walk reads no value, runs none of the objects' own serialisation and never touches
`Checkpoint.save_counter`, which would create it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.live import tensorflow_private as tf_private
from ckpt_viz.object_graph import keys
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.nodes import Attribute, Child, Node, Role, SlotVariable

_PYTHON_STATE = "py_state"


def walk_live(source: object) -> Graph:
    """Return the object graph that saving this object would write now.

    Roles are what the Python types tell; those that the structure tells are not there yet.
    Raises SourceError for an object that TensorFlow cannot track.
    """
    if "tensorflow" not in sys.modules or not tf_private.is_trackable(source):
        raise SourceError(
            f"found {_a(type(source).__name__)}, expected a checkpoint's path or a trackable "
            "object: a tf.train.Checkpoint, tf.Module, Keras layer, model or optimizer"
        )
    walk = _Walk(tf_private.graph_view(source))
    walk.run()
    return Graph(
        tuple(walk.nodes()),
        title=type(source).__name__,
        origin=Origin.LIVE,
        _objects=_references(source, walk.objects),
    )


@dataclass
class _Walk:
    """One breadth-first walk; `objects`, by node id, are kept alive until it is done."""

    view: Any
    objects: list[Any] = field(default_factory=list)
    children: list[tuple[Child, ...]] = field(default_factory=list)
    object_keys: list[str] = field(default_factory=list)
    slot_variables: dict[int, list[SlotVariable]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        self._add(self.view.root, "")
        for node_id, obj in enumerate(self.objects):  # grows while it is walked
            self.children.append(self._follow(node_id, obj))
        non_slots = len(self.objects)
        for node_id in range(non_slots):
            self._declared_slots(node_id, non_slots)

    def nodes(self) -> list[Node]:
        return [self._node(node_id, obj) for node_id, obj in enumerate(self.objects)]

    def _node(self, node_id: int, obj: Any) -> Node:
        try:
            attributes = _attributes(obj, self.object_keys[node_id])
        except Exception as error:  # a variable may be of the user's own making
            self.errors.setdefault(node_id, _said(error))
            attributes = ()
        return Node(
            children=self.children[node_id] if node_id < len(self.children) else (),
            attributes=attributes,
            slot_variables=tuple(self.slot_variables.get(node_id, ())),
            registered_saver=tf_private.registered_saver_name(obj),
            role=_provisional_role(obj),
            type_name=type(obj).__name__,
            error=self.errors.get(node_id),
        )

    def _add(self, obj: Any, object_key: str) -> int:
        node_id = self.ids[id(obj)] = len(self.objects)
        self.objects.append(obj)
        self.object_keys.append(object_key)
        return node_id

    def _follow(self, node_id: int, obj: Any) -> tuple[Child, ...]:
        try:
            references = self.view.list_children(obj)
        except Exception as error:  # the object's own code runs here and may raise anything
            self.errors[node_id] = _said(error)
            return ()
        return tuple(Child(name, self._node_id(node_id, name, ref)) for name, ref in references)

    def _node_id(self, parent: int, local_name: str, obj: Any) -> int:
        known = self.ids.get(id(obj))
        if known is not None:
            return known
        step = keys.escape_local_name(local_name)
        prefix = self.object_keys[parent]
        return self._add(obj, f"{prefix}/{step}" if prefix else step)

    def _declared_slots(self, optimizer_id: int, non_slots: int) -> None:
        """Add the slot variables that an optimizer of TensorFlow 1 or Keras 2 declares."""
        optimizer = self.objects[optimizer_id]
        # Asks the class, for an object's own __getattr__ is the user's code (TensorFlow lists
        # dir(), which takes longer).
        if not hasattr(type(optimizer), "get_slot_names"):
            return
        try:
            for slot_name in optimizer.get_slot_names():
                for variable_id in range(non_slots):
                    self._declared_slot(optimizer_id, slot_name, variable_id)
        except Exception as error:  # as in _follow
            self.errors[optimizer_id] = _said(error)

    def _declared_slot(self, optimizer_id: int, slot_name: str, variable_id: int) -> None:
        try:
            slot = self.objects[optimizer_id].get_slot(self.objects[variable_id], slot_name)
        except (AttributeError, KeyError):
            return  # not a variable, or one without this slot
        if slot is None:
            return
        if id(slot) in self.ids:
            raise NotImplementedError(
                f"slot variable {slot_name!r} is tracked a second time; TensorFlow cannot save it"
            )
        key = keys.slot_key(
            self.object_keys[variable_id], self.object_keys[optimizer_id], slot_name
        )
        self.slot_variables.setdefault(optimizer_id, []).append(
            SlotVariable(slot_name, variable_id, self._add(slot, key))
        )


def _attributes(obj: Any, object_key: str) -> tuple[Attribute, ...]:
    """Return what the object would store, as far as that is known without running its code."""
    if tf_private.registered_saver_name(obj):
        return ()
    if tf_private.is_resource_variable(obj):
        return (_variable_value(obj, object_key),)
    name = tf_private.legacy_attribute_name(obj)
    if name is None and tf_private.is_python_state(obj):
        name = _PYTHON_STATE
    return (Attribute(name, "", keys.checkpoint_key(object_key, name)),) if name else ()


def _variable_value(variable: Any, object_key: str) -> Attribute:
    dtype = tf_private.base_dtype_name(variable.dtype)
    shape = _full_shape(variable.shape)
    return Attribute(
        name=keys.VARIABLE_VALUE,
        full_name=tf_private.full_name(variable),
        checkpoint_key=keys.checkpoint_key(object_key, keys.VARIABLE_VALUE),
        dtype=dtype,
        shape=shape,
        nbytes=tf_private.stored_bytes(dtype, shape) if shape is not None else None,
    )


def _full_shape(shape: Any) -> tuple[int, ...] | None:
    """Return the shape of a tf.Variable (TensorShape) or Keras variable (tuple) if all known."""
    rank = getattr(shape, "rank", 0)
    dims = tuple(shape) if rank is not None else (None,)
    return None if None in dims else tuple(map(int, dims))


def _provisional_role(obj: Any) -> Role:
    """Return what the object's type tells; the classes are known by name, not imported."""
    if tf_private.is_data_structure(obj):
        return Role.CONTAINER
    for base in type(obj).__mro__:
        package = base.__module__.partition(".")[0]
        if package in _KERAS and base.__name__ == "Layer":
            return Role.LAYER
        if package in (*_KERAS, "tensorflow") and base.__name__ in _OPTIMIZERS:
            return Role.OPTIMIZER
    return Role.OBJECT


_KERAS = ("keras", "tf_keras")
_OPTIMIZERS = ("BaseOptimizer", "Optimizer", "OptimizerV2", "_BaseOptimizer")


def _references(source: object, objects: list[Any]) -> Callable[[int], object]:
    """Return a function from node id to live object.

    It keeps the source alive, but not the objects below it: a layer that the program has
    replaced since is not held in memory by a picture of the past.
    """
    references = [_weak(obj) for obj in objects]

    def object_of(node_id: int) -> object:
        return references[node_id]() if source is not None else None

    return object_of


def _weak(obj: Any) -> Callable[[], object | None]:
    try:
        return weakref.ref(obj)
    except TypeError:  # a class with __slots__ and no __weakref__
        return lambda: obj


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"

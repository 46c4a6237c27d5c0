"""Live objects as the side that a restore writes to: what each would read, nothing changed.

In a restore, TensorFlow runs some of an object's own code. This module also runs the code that
decides which keys are read (`_lookup_dependency`, `_serialize_to_tensors`). It never runs the code
that accepts values (`deserialize`, `_restore_from_tensors`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.graphs.nodes.nodes import SAVE_COUNTER, Node, Stored, is_variable
from ckpt_viz.live.objects.walk import Walk
from ckpt_viz.live.restoring.gathering import (
    gathered_by_attributes,
    gathered_by_saveables,
    kind_of_variable,
    variable_reads,
)
from ckpt_viz.live.restoring.iterators import Reading
from ckpt_viz.live.restoring.misfits import Made, misfit
from ckpt_viz.live.restoring.restore_failures import (
    failure_of,
    optimizer_too_new,
    refusal_of_dtype,
    refusal_of_new_counter,
    refuse_another_scope,
)
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.name_based_restore import Named, NamedRead
from ckpt_viz.matching.engines.read_failures import fits, tensor_shape, wrong_shape
from ckpt_viz.matching.engines.trace import (
    NOTHING,
    Cause,
    Failure,
    Gathered,
    Intake,
    NewCounter,
    Read,
    Refusal,
    SlotAnswer,
    SlotKind,
)


@dataclass
class TensorFlowSide:
    """The objects of a walk, as a restore sees them (`LiveSide` of the matching engine).

    An object's id is its node id in the walk; objects that only the restore discovers get the next
    ids. `attached_count` is the number of the root's children that are the checkpoint's own.
    `makes_counter` says that the restore ends with a new `save_counter`. `attaches_counter` says
    that the counter belongs to the Checkpoint while the root is another object; `counter_holder` is
    the object that holds it, if that is in the walk. `reading` is the checkpoint, once known.
    `momentary` are objects without a holder: a restore forgets that it has bound them.
    """

    walk: Walk
    attached_count: int = 0
    makes_counter: bool = False
    attaches_counter: bool = False
    counter_holder: int | None = None
    is_eager: bool = True
    reading: Reading | None = None
    objects: list[Any] = field(init=False)
    root: int = field(default=0, init=False)
    _ids: dict[int, int] = field(init=False)
    _kinds: dict[type, str | None] = field(default_factory=dict, init=False)
    _created_slots: dict[tuple[int, int, str], int] = field(default_factory=dict, init=False)
    momentary: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self.objects = list(self.walk.objects)
        self._ids = dict(self.walk.ids)

    @property
    def attached(self) -> Sequence[tuple[str, int]]:
        """Return the checkpoint's own children beside its root."""
        if not self.attached_count:
            return ()
        own = self.walk.children[0][-self.attached_count :]
        return tuple((child.local_name, child.node_id) for child in own)

    def children(self, obj_id: int) -> Callable[[str], int | None]:
        """Return the object's lookup of children, as a restore uses it."""
        obj = self.objects[obj_id]
        if isinstance(obj, Made):
            return _no_child
        asks_only_for_children = tf_private.looks_up_children_only(obj)
        if asks_only_for_children and obj_id in self.walk.childless:
            return _no_child
        refusal = self.walk.refusals.get(obj_id)
        if refusal is not None:
            raise Refusal(failure_of(Cause.CHILDREN, refusal))
        if asks_only_for_children and tf_private.is_childless(obj):
            return _no_child
        children = self._children_ids(obj_id)
        if asks_only_for_children and children:
            return children.get
        listed = {name: self.objects[child] for name, child in children.items()}
        return lambda name: self._lookup(obj, name, listed)

    def _children_ids(self, obj: int) -> Mapping[str, int]:
        if obj < len(self.walk.children):
            own = self.walk.children[obj]
            if obj == self.root and self.attached_count:
                own = own[: -self.attached_count]
            ids = {child.local_name: child.node_id for child in own}
            if obj == self.root:
                ids.update({name: self.id_of(hidden) for name, hidden in self.walk.hidden.items()})
            return ids
        try:
            children = self.walk.shadows.children(self.objects[obj])
        except Exception as error:  # the object's own code
            raise Refusal(failure_of(Cause.CHILDREN, error)) from error
        return {name: self.id_of(child) for name, child in children.items()}

    def _lookup(self, obj: Any, name: str, children: Mapping[str, Any]) -> int | None:
        try:
            child = self.walk.shadows.lookup(obj, name, children)
        except Exception as error:  # the object's own code
            raise Refusal(failure_of(Cause.CODE, error)) from error
        return None if child is None else self.id_of(child)

    def id_of(self, obj: Any) -> int:
        """Return the id of a Python object; a new object gets the next id."""
        known = self._ids.get(id(obj))
        if known is None:
            known = self._ids[id(obj)] = len(self.objects)
            self.objects.append(obj)
        return known

    def bookkeepers(self, obj_id: int) -> tuple[int, ...]:
        """Return the ids of the objects that record whether this one was restored."""
        obj = self.objects[obj_id]
        if isinstance(obj, Made):
            return (obj_id,)
        keepers = tf_restore.bookkeepers_of(obj)
        return tuple([obj_id if keeper is obj else self.id_of(keeper) for keeper in keepers])

    # --- values

    def gather(self, obj_id: int, node: Node) -> Gathered:
        """Return what the object would read for a node with values."""
        obj = self.objects[obj_id]
        try:
            if not isinstance(obj, Made):
                return self._gather(obj_id, obj, node)
            if node.registered_saver:
                return self._by_saver(
                    tf_registered.another_variable(obj.dtype), node.registered_saver
                )
            return variable_reads(node, obj, obj.dtype, obj.shape)
        except Refusal:
            raise
        except Exception as error:  # the object's own code
            raise Refusal(failure_of(Cause.CODE, error)) from error

    def _gather(self, obj_id: int, obj: Any, node: Node) -> Gathered:
        if node.registered_saver:
            gathered = self._by_saver(obj, node.registered_saver)
            tf_restore.has_saveables(obj)  # called only because the object's own code may raise
            return gathered
        if not node.attributes:
            return NOTHING
        savers = self.walk.savers
        saver = savers[obj_id] if obj_id in savers else tf_registered.registered_saver_name(obj)
        if saver:
            tf_restore.has_saveables(obj)
            return Gathered(Intake.REGISTERED, saveable=saver)
        if tf_private.is_python_state(obj):
            key = node.attributes[0].checkpoint_key
            return Gathered(Intake.PYTHON_STATE, (Read(key, None),), key)
        variable = self._plain_variable(obj)
        if variable is not None:
            dtype = tf_private.base_dtype_name(variable.dtype)
            return variable_reads(node, obj, dtype, tf_private.partial_shape(variable.shape))
        if tf_restore.is_dtensor_variable(obj) and is_variable(node.attributes):
            dtype = tf_restore.saved_dtype_of_dtensor(obj)
            return variable_reads(node, obj, dtype, tf_private.partial_shape(obj.shape))
        if not tf_restore.has_saveables(obj):
            return Gathered(Intake.UNUSED, unused=tuple(a.name for a in node.attributes))
        if not self.is_eager:  # the call would add operations to the user's graph
            return gathered_by_attributes(obj, node)
        return gathered_by_saveables(obj, node, self.reading)

    def has_value(self, obj: Any) -> bool:
        """Return whether a restore's asserts count the object as one with a value."""
        # TensorFlow asks a class for its methods each time, which takes longest.
        return self._kind_of(obj) is not None or tf_restore.has_saveables(obj)

    def _by_saver(self, obj: Any, saver: str) -> Gathered:
        refused = tf_registered.saver_refuses(obj, saver)
        if refused is None:
            return Gathered(Intake.REGISTERED, saveable=saver)
        message, raises = refused
        if raises:
            raise Refusal(Failure(Cause.PREDICATE, "ValueError", message))
        return Gathered(Intake.SKIPPED)

    def _plain_variable(self, obj: Any) -> Any:
        """Return the variable whose value the object reads, if we know the object's class."""
        kind = self._kind_of(obj)
        if kind == "keras":
            obj = obj._value
            return obj if obj is not None and self._plain_variable(obj) is obj else None
        return obj if kind is not None else None

    def _kind_of(self, obj: Any) -> str | None:
        cls = type(obj)
        if cls not in self._kinds:
            self._kinds[cls] = kind_of_variable(obj)
        return self._kinds[cls]

    def named(self, obj_id: int) -> Named:
        """Return what the object would restore from a name-based checkpoint."""
        obj = self.objects[obj_id]
        if isinstance(obj, Made):
            refuses = refusal_of_new_counter(obj.dtype)
            dtype = obj.dtype if refuses is None else None
            read = NamedRead(SAVE_COUNTER, (SAVE_COUNTER,), dtype, obj.shape, refuses)
            return Named((read,), ())
        try:
            named, nameless = tf_restore.named_saveables(obj)
        except Exception as error:  # the object's own code
            raise Refusal(failure_of(Cause.CODE, error)) from error
        if not (named and tf_private.is_variable(obj)):
            # Skip objects without a value: their attributes may run code of their own.
            reads = [NamedRead(saveable.name, saveable.tensors, None, None) for saveable in named]
            return Named(tuple(reads), tuple(nameless))
        refuses = refusal_of_dtype(obj)
        dtype = tf_private.base_dtype_name(obj.dtype) if refuses is None else None
        reads = [
            NamedRead(
                saveable.name,
                saveable.tensors,
                dtype,
                tf_private.partial_shape(obj.shape if saveable.shape is None else saveable.shape),
                refuses,
            )
            for saveable in named
        ]
        return Named(tuple(reads), tuple(nameless))

    def misfit(self, obj_id: int, stored: Stored, by_name: NamedRead | None = None) -> Failure:
        """Return what assigning a value of the wrong shape raises.

        `by_name` is the read from a name-based checkpoint: it may be for a part of the object.
        """
        return misfit(self.objects[obj_id], stored, by_name)

    # --- slot variables

    def slot(
        self, optimizer: int, variable: int, name: str, node: Node, stored: Stored | None
    ) -> SlotAnswer:
        """Return what the optimizer does with a saved slot variable."""
        made = self._created_slots.get((optimizer, variable, name))
        if made is not None:
            return SlotAnswer(SlotKind.EXISTING, made)
        try:
            return self._slot(optimizer, variable, name, node, stored)
        except Refusal:
            raise
        except Exception as error:  # an object without a variable's key is not a variable
            raise Refusal(failure_of(Cause.CODE, error)) from error

    def _slot(
        self, optimizer_id: int, variable_id: int, name: str, node: Node, stored: Stored | None
    ) -> SlotAnswer:
        optimizer, variable = self.objects[optimizer_id], self.objects[variable_id]
        if isinstance(optimizer, Made):
            return SlotAnswer(SlotKind.NO_HOOK)
        hook = tf_restore.restore_slot_hook(optimizer)
        while hook is not None and hook.__module__.endswith("loss_scale_optimizer"):
            optimizer = optimizer._optimizer
            hook = tf_restore.restore_slot_hook(optimizer)
        if hook is None:
            return SlotAnswer(SlotKind.NO_HOOK)
        module = hook.__module__
        if module.endswith("optimizers.optimizer"):
            raise Refusal(optimizer_too_new(type(optimizer).__name__))
        is_v1 = module == "tensorflow.python.training.optimizer"
        if not is_v1 and not module.endswith("optimizer_v2"):
            return SlotAnswer(SlotKind.WAITS)  # the user's own class: only it knows what it does
        if not isinstance(variable, Made):  # a slot of a slot that the restore makes is new, too
            key = sys.modules[module]._var_key(variable)
            outer, inner = (name, key) if is_v1 else (key, name)
            existing = optimizer._slots.get(outer, {}).get(inner)
            if existing is variable and tf_private.is_sharded(variable):
                existing = self.walk.slot_of(optimizer, variable, name)
                self.momentary.add(self.id_of(existing))
            if existing is not None:
                return SlotAnswer(SlotKind.EXISTING, self.id_of(existing), at_once=is_v1)
        may_create = tf_restore.creates_variables_freely() or (
            not is_v1 and optimizer._distribution_strategy is not None
        )
        if not (self.is_eager and is_variable(node.attributes) and not node.children):
            return SlotAnswer(SlotKind.WAITS)
        if not may_create:
            in_scope = tf_restore.active_strategy() is not None
            return SlotAnswer(SlotKind.OUT_OF_SCOPE if in_scope else SlotKind.WAITS)
        if isinstance(variable, Made):
            dtype, shape = variable.dtype, variable.shape
        else:
            if not is_v1:
                refuse_another_scope(optimizer, variable)
            elif not tf_private.is_tf_variable(variable):
                assert variable.op.name is not None  # gives the new one its name; or raises
            dtype = tf_private.base_dtype_name(variable.dtype)
            shape = tf_private.partial_shape(variable.shape)
        made = self._made(node, stored, dtype, shape, is_v1=is_v1, name=f"{variable.name}/{name}")
        self._created_slots[optimizer_id, variable_id, name] = made
        return SlotAnswer(SlotKind.CREATED, made, at_once=is_v1)

    def _made(
        self,
        node: Node,
        stored: Stored | None,
        dtype: str,
        shape: tuple[int | None, ...] | None,
        *,
        is_v1: bool,
        name: str,
    ) -> int:
        if stored is None:
            key = node.attributes[0].checkpoint_key
            raise Refusal(Failure(Cause.KEY_MISSING, "KeyError", repr(key)))
        if stored.dtype != dtype:
            raise Refusal(
                Failure(
                    Cause.DTYPE,
                    "ValueError",
                    f"initial_value: Tensor conversion requested dtype {dtype} for Tensor with "
                    f"dtype {stored.dtype}",
                    actual=stored.dtype or "",
                    expected=dtype,
                )
            )
        if is_v1 and not fits(shape, stored.shape):
            message = (
                "In this `tf.Variable` creation, the initial value's shape "
                f"({tensor_shape(stored.shape)}) is not compatible with the explicitly supplied "
                f"`shape` argument ({tensor_shape(shape)})."
            )
            raise Refusal(wrong_shape("ValueError", message, stored.shape, shape))
        self.objects.append(Made(name, dtype, shape if is_v1 else stored.shape))
        return len(self.objects) - 1

    def takes_counter(self, obj: int) -> bool:
        """Return whether a new counter takes the values that wait for one at the object."""
        return obj in (self.root, self.counter_holder)

    def new_save_counter(
        self, waiting: Sequence[tuple[int, Node, Stored | None]]
    ) -> NewCounter | None:
        """Return the counter that a Checkpoint makes at the end of its restore."""
        if not self.makes_counter:
            return None
        name = f"{SAVE_COUNTER}:0"
        from_root = None
        if self.attaches_counter:
            waits_already = tf_restore.deferred_dependencies(self.objects[self.root])
            from_root = 0 if waits_already.get(SAVE_COUNTER) else 1
        own = [place for place, (obj, _, _) in enumerate(waiting) if obj == self.counter_holder]
        nodes = [waiting[place][1] for place in own]
        simple = [is_variable(node.attributes) and not node.children for node in nodes]
        if self.is_eager and simple and all(simple):  # made with the saved value
            _, node, stored = waiting[own[0]]
            made = self._made(node, stored, "int64", (), is_v1=False, name=name)
            return NewCounter(made, from_root, own[0])
        self.objects.append(Made(name, "int64", ()))
        return NewCounter(len(self.objects) - 1, from_root)


def _no_child(name: str) -> None:
    """Return None: the object has no children."""


def _shape(obj: Any) -> tuple[int | None, ...] | None:
    return tf_private.partial_shape(obj.shape)

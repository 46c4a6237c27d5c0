"""What TensorFlow does in a real restore, in its own order, as the steps of a trace name it.

Only functions of TensorFlow are wrapped, for the time of one call. An object has a number, because
a reference would keep alive what TensorFlow lets go. The events end where TensorFlow raises.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby, takewhile, zip_longest
from typing import Any, NamedTuple, TypeVar
from unittest import mock

from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.matching.engines.trace import Action, Step, Trace


class Event(NamedTuple):
    """One event, with the fields of a Step; `obj` numbers the objects of this restore."""

    action: Action
    node: int | None
    obj: int | None = None
    parent: int | None = None
    name: str = ""
    names: tuple[str, ...] | None = ()  # None if unknown


@dataclass(repr=False)
class Watch:
    """The events of a restore.

    By node, `parents` has the parent's node and the local name by which a look-up bound it.
    `cached` are nodes whose ops a graph already had. When the restore has ended, `waiting` has the
    nodes in TensorFlow's own lists of what waits, and `proto` the saved graph.
    """

    events: list[Event] = field(default_factory=list)
    parents: dict[int, tuple[int, str]] = field(default_factory=dict)
    cached: set[int] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)
    proto: Any = None
    tasks: int = 1  # of devices, by which TensorFlow groups the values that it assigns
    _checkpoint: Any = None
    _places: list[_Place] = field(default_factory=list)
    _numbers: dict[int, tuple[Any, int]] = field(default_factory=dict)
    _count: int = 0
    _gathered: dict[int, int] = field(default_factory=dict)  # by node, the number of its object
    _named: dict[str, int] = field(default_factory=dict)  # nodes by the name of a saveable
    # By the identity of a saveable: its node, and the saveable
    _saveables: dict[int, tuple[int, Any]] = field(default_factory=dict)
    _registered: dict[tuple[str, str], int] = field(default_factory=dict)  # by saver, name
    _made: set[int] = field(default_factory=set)  # numbers of variables that began with their value

    def add(
        self,
        action: Action,
        node: int | None,
        obj: Any = None,
        parent: int | None = None,
        name: str = "",
        names: tuple[str, ...] | None = (),
    ) -> None:
        number = None if obj is None else self._number(obj)
        self.events.append(Event(action, node, number, parent, name, names))

    def _number(self, obj: Any) -> int:
        reference, number = self._numbers.get(id(obj), (None, 0))
        if reference is None or reference() is not obj:
            self._count = number = self._count + 1
            self._numbers[id(obj)] = weakref.ref(obj), number
        return number

    def watches(self, checkpoint: Any) -> bool:
        """Return whether events belong to this restore, not to an earlier one that has waited."""
        return checkpoint is self._checkpoint

    @property
    def place(self) -> _Place | None:
        """Where the restore is: the innermost call that looks for objects."""
        return self._places[-1] if self._places else None

    @contextmanager
    def at(self, place: _Place) -> Iterator[None]:
        """Be at a place; unless TensorFlow raises, the place then tells what its end shows."""
        self._places.append(place)
        try:
            yield
            place.end()
        finally:
            self._places.pop()

    # --- what TensorFlow's functions do

    def bind(self, position: Any, obj: Any, bind: Callable[[Any, Any], bool]) -> bool:
        """Tell of `CheckpointPosition.bind_object`."""
        if self._checkpoint is None and position.proto_id == ROOT and self.place is None:
            self._checkpoint = position.checkpoint
        is_new = bind(position, obj)
        if self.watches(position.checkpoint):
            if self.place is not None:
                self.place.bind(position.proto_id, obj, is_new)
            elif is_new:
                parent, name = self._attached(position.proto_id, obj)
                self.add(Action.BIND, position.proto_id, obj, parent, name)
        return is_new

    def _attached(self, node: int, obj: Any) -> tuple[int | None, str]:
        """Return the parent and name of an object beside the root; None for the root itself."""
        if not self.events:
            return None, ""
        children = self._checkpoint.object_graph_proto.nodes[ROOT].children
        for attached in self._checkpoint.graph_view.attached_dependencies or ():
            nodes = [child.node_id for child in children if child.local_name == attached.name]
            if attached.name != "root" and attached.ref is obj and nodes[:1] == [node]:
                return ROOT, attached.name
        return None, ""

    def visit(self, position: Any, visit: Callable[[], Any]) -> Any:
        """Tell of `CheckpointPosition._single_restore`, if it gathers nothing."""
        known = len(self.events)
        result = visit()
        if self.watches(position.checkpoint) and len(self.events) == known:
            obj = position.trackable
            number = self._number(obj)
            action = Action.RESTORE if number in self._made else Action.REPEAT
            self._made.discard(number)
            self.add(action, position.proto_id, obj)
        return result

    def gather(self, position: Any, gather: Callable[[Any], Any]) -> Any:
        """Tell of `CheckpointPosition.gather_ops_or_named_saveables`."""
        result = gather(position)
        if not self.watches(position.checkpoint):
            return result
        node, obj = position.proto_id, position.trackable
        ops, saveables, python_positions, registered = result
        unused = self._checkpoint.unused_attributes.get(node, ())
        if unused:
            self.add(Action.UNUSED, node, obj, names=tuple(unused))
        if ops:
            self.cached.add(node)
        self._named.update(dict.fromkeys(saveables, node))
        for saver, objects in registered.items():
            self._registered.update({(saver, name): node for name in objects})
        if position.skip_restore:
            saver = position.object_proto.registered_saver.name
            self.add(Action.SKIP_SAVER, node, obj, name=saver)
        elif any(result):
            self._gathered[node] = self._number(obj)
            keys = None if ops else _keys(saveables.values(), python_positions)
            self.add(Action.GATHER, node, obj, None, "".join(registered), keys)
        elif not unused:
            self.add(Action.VALUELESS, node, obj)
        return result

    def python_states(self, positions: Iterable[Any]) -> Iterator[Any]:
        """Yield the positions of Python states; tell of each after its turn."""
        for position in positions:
            yield position
            self.add(Action.RESTORE, position.proto_id, position.trackable)

    def saveables_of(self, name: str, saveables: Iterable[Any]) -> Iterator[Any]:
        """Yield the saveables of an object that was gathered under a name; know them again."""
        for saveable in saveables:
            if name in self._named:
                self._saveables[id(saveable)] = self._named[name], saveable
            yield saveable

    def assign(self, saveable: Any) -> None:
        """Tell that a saveable has got its value."""
        node, _ = self._saveables.get(id(saveable), (None, None))
        if node is None:
            return
        last = self.events[-1]
        if (last.action, last.node) != (Action.RESTORE, node):  # several saveables of one object
            self._restored(node)

    def run_saver(self, saver: str, names: Iterable[str]) -> None:
        """Tell that a registered saver has restored its objects."""
        for name in names:
            self._restored(self._registered[saver, name])

    def _restored(self, node: int) -> None:
        self.events.append(Event(Action.RESTORE, node, self._gathered[node]))

    def forget(self) -> None:
        """Keep nothing alive, only what waits."""
        if self._checkpoint is not None:
            self.waiting = {*self._deferred()}
            self.proto = self._checkpoint.object_graph_proto
        self._checkpoint = None
        self._saveables.clear()

    def _deferred(self) -> Iterator[int]:
        for obj in [*self._checkpoint.object_by_proto_id.values()]:
            for positions in getattr(obj, "_deferred_dependencies", {}).values():
                yield from (at.proto_id for at in positions if self.watches(at.checkpoint))
        for slots in self._checkpoint.deferred_slot_restorations.values():
            yield from (slot.slot_variable_id for slot in slots)
        for event in self.events:  # these wait at their optimizers
            is_late = event.action is Action.DEFER_SLOT and event.obj is not None
            if is_late and event.node is not None:
                yield event.node

    def made(self, obj: Any) -> None:
        """Note that an object began with its saved value."""
        self._made.add(self._number(obj))


def _keys(saveables: Iterable[Any], python_positions: Iterable[Any]) -> tuple[str, ...] | None:
    """Return the keys that are read, None if TensorFlow has yet to make saveables."""
    keys = [at.object_proto.attributes[0].checkpoint_key for at in python_positions]
    for saveable in saveables:
        if not hasattr(saveable, "specs"):
            return None
        keys += [spec.name for spec in saveable.specs]
    return tuple(keys)


class _Place:
    """A call of TensorFlow that binds objects to nodes."""

    def bind(self, node: int, obj: Any, is_new: bool) -> None:
        """Tell of an object that a node gets, or would get."""

    def value(self) -> None:
        """Note that a value was read for a variable that is being made."""

    def end(self) -> None:
        """Tell what is known only when the call has returned."""


@dataclass
class _Children(_Place):
    """`_queue_children_for_restoration`: the children of one node, in order."""

    watch: Watch
    position: Any
    left: deque[Any]
    child: Any = None  # the position of the child that is looked up
    name: str = ""

    def look_up(self, child: Any) -> None:
        """Tell of the children before this one."""
        self._end_child()
        while self.left[0].node_id != child.proto_id:
            self._keep()
        self.child, self.name = child, self.left.popleft().local_name

    def bind(self, node: int, obj: Any, is_new: bool) -> None:
        if is_new:
            parent = self.position.proto_id
            self.watch.parents[node] = parent, self.name
            self.watch.add(Action.BIND, node, obj, parent, self.name)
        self.child = None

    def end(self) -> None:
        self._end_child()
        while self.left:
            self._keep()

    def _keep(self) -> None:
        edge, parent = self.left.popleft(), self.position.proto_id
        self.watch.add(Action.KEEP, edge.node_id, None, parent, edge.local_name)

    def _end_child(self) -> None:
        if self.child is None:
            return
        obj = self.position.trackable
        # An adapter may let a child wait by another name.
        waiting = chain.from_iterable(obj._deferred_dependencies.values())
        waits = any(position is self.child for position in waiting)
        action = Action.DEFER if waits else Action.DROP
        self.watch.add(action, self.child.proto_id, obj, self.position.proto_id, self.name)
        self.child = None


@dataclass
class _Slots(_Place):
    """`_queue_slot_variables`: first the slots that waited for this optimizer, then its own."""

    watch: Watch
    position: Any
    waiting: deque[Any]
    own: deque[Any]

    def next_slot(self, optimizer: Any) -> tuple[int, str]:
        """Tell of the slots before the one that TensorFlow restores; return its optimizer, name."""
        if self.waiting:
            return self.position.proto_id, self.waiting.popleft().slot_name
        bound = self.position.checkpoint.object_by_proto_id
        while bound.get(self.own[0].optimizer_id) is not optimizer or self._waits(self.own[0]):
            self._pass()
        slot = self.own.popleft()
        return slot.optimizer_id, slot.slot_name

    def end(self) -> None:
        while self.own:
            self._pass()

    def _waits(self, slot: Any) -> bool:
        waiting = self.position.checkpoint.deferred_slot_restorations.get(slot.optimizer_id, ())
        return any(
            (later.slot_variable_id, later.slot_name) == (slot.slot_variable_id, slot.slot_name)
            for later in waiting
        )

    def _pass(self) -> None:
        slot = self.own.popleft()
        optimizer = self.position.checkpoint.object_by_proto_id.get(slot.optimizer_id)
        action = Action.DEFER_SLOT if self._waits(slot) else Action.DROP_SLOT
        node, parent = slot.slot_variable_id, slot.optimizer_id
        self.watch.add(action, node, optimizer, parent, slot.slot_name)


@dataclass
class _Made(_Place):
    """A call that may make a variable, perhaps with its saved value."""

    watch: Watch
    parent: int
    name: str
    reads_value: bool = False
    is_answered: bool = False

    def value(self) -> None:
        self.reads_value = True

    def bind(self, node: int, obj: Any, is_new: bool) -> None:
        self._make(node, obj)
        if is_new:
            self.watch.add(Action.BIND, node, obj, self.parent, self.name)

    def _make(self, node: int, obj: Any) -> None:
        raise NotImplementedError


@dataclass
class _Slot(_Made):
    """`create_slot_variable_position`: what an optimizer does with a slot variable."""

    node: int = 0
    optimizer: Any = None

    def _make(self, node: int, obj: Any) -> None:
        if self.reads_value and not self.is_answered:
            self.watch.add(Action.CREATE, node, obj, self.parent, self.name)
            self.watch.made(obj)
        self.is_answered = True

    def end(self) -> None:
        if not self.is_answered:
            node, optimizer = self.node, self.optimizer
            self.watch.add(Action.DEFER_SLOT, node, optimizer, self.parent, self.name)


@dataclass
class _Counter(_Made):
    """`_maybe_create_save_counter` of a Checkpoint that has no counter yet."""

    checkpoint: Any = None

    def _make(self, node: int, obj: Any) -> None:
        if not self.is_answered:
            self.watch.add(Action.CREATE, None, obj, name=self.name)
            if self.reads_value:
                self.watch.made(obj)
        self.is_answered = True

    def end(self) -> None:
        self._make(ROOT, self.checkpoint._save_counter)


@contextmanager
def watched_restore() -> Iterator[Watch]:
    """Record the events of the restore that the block calls."""
    from tensorflow.python.checkpoint import checkpoint as tf_checkpoint
    from tensorflow.python.checkpoint import functional_saver
    from tensorflow.python.checkpoint import restore as tf_restore
    from tensorflow.python.training.saving import saveable_object_util

    watch = Watch()
    savers: dict[int, str] = {}  # names, by the identity of the objects that they restore
    with ExitStack() as stack:

        def wrap(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
            original = getattr(owner, name)

            def wrapped(*args: Any, **kwargs: Any) -> Any:
                return wrapper(original, *args, **kwargs)

            stack.enter_context(mock.patch.object(owner, name, wrapped))

        position = tf_restore.CheckpointPosition
        wrap(position, "bind_object", lambda bind, at, trackable: watch.bind(at, trackable, bind))
        wrap(position, "_single_restore", lambda visit, at: watch.visit(at, lambda: visit(at)))
        wrap(position, "gather_ops_or_named_saveables", lambda f, at: watch.gather(at, f))

        def value_tensors(original: Any, at: Any, *args: Any) -> Any:
            value = original(at, *args)
            if watch.watches(at.checkpoint) and watch.place is not None:
                watch.place.value()
            return value

        def queue_children(original: Any, at: Any, queue: Any) -> None:
            if not watch.watches(at.checkpoint):
                original(at, queue)
                return
            with watch.at(_Children(watch, at, deque(at.object_proto.children))):
                original(at, queue)

        def create_child_position(original: Any, at: Any, node: int) -> Any:
            child = original(at, node)
            if watch.watches(at.checkpoint) and isinstance(watch.place, _Children):
                watch.place.look_up(child)
            return child

        def queue_slots(original: Any, at: Any, queue: Any) -> None:
            if not watch.watches(at.checkpoint):
                original(at, queue)
                return
            waiting = at.checkpoint.deferred_slot_restorations.get(at.proto_id, ())
            own = at.checkpoint.slot_restorations.get(at.proto_id, ())
            with watch.at(_Slots(watch, at, deque(waiting), deque(own))):
                original(at, queue)

        def create_slot(original: Any, at: Any, optimizer: Any, *args: Any) -> Any:
            if not isinstance(watch.place, _Slots) or not watch.watches(at.checkpoint):
                return original(at, optimizer, *args)
            parent, name = watch.place.next_slot(optimizer)
            place = _Slot(watch, parent, name, node=args[1], optimizer=optimizer)
            with watch.at(place):
                return original(at, optimizer, *args)

        def restore_saveables(
            original: Any,
            checkpoint: Any,
            saveables: Any,
            python_positions: Any,
            registered_savers: Any = None,
            **arguments: Any,
        ) -> Any:
            if watch.watches(checkpoint):
                python_positions = watch.python_states(python_positions)
                savers.update({id(named): saver for saver, named in registered_savers.items()})
            return original(checkpoint, saveables, python_positions, registered_savers, **arguments)

        def restore_from_tensors(original: Any, converter: Any, tensors: Any) -> Any:
            result = original(converter, tensors)
            for saveable in converter.saveables:
                watch.assign(saveable)
            return result

        def restore(original: Any, saver: Any, *args: Any, **kwargs: Any) -> Any:
            watch.tasks = max(watch.tasks, len(saver._shardable_tensors_by_task))
            return original(saver, *args, **kwargs)

        def registered_restore(original: Any, function: Any, named: Any, *args: Any) -> Any:
            restore = original(function, named, *args)

            def restoring(prefix: Any) -> Any:
                result = restore(prefix)
                if id(named) in savers:
                    watch.run_saver(savers[id(named)], named)
                return result

            return restoring

        def make_counter(original: Any, checkpoint: Any) -> None:
            if checkpoint._save_counter is not None:
                original(checkpoint)
                return
            with watch.at(_Counter(watch, ROOT, SAVE_COUNTER, checkpoint=checkpoint)):
                original(checkpoint)

        wrap(position, "value_tensors", value_tensors)
        wrap(tf_restore, "_queue_children_for_restoration", queue_children)
        wrap(position, "create_child_position", create_child_position)
        wrap(tf_restore, "_queue_slot_variables", queue_slots)
        wrap(position, "create_slot_variable_position", create_slot)
        wrap(tf_checkpoint._CheckpointRestoreCoordinator, "restore_saveables", restore_saveables)
        converter = saveable_object_util.SaveableCompatibilityConverter
        wrap(
            saveable_object_util,
            "saveable_objects_for_op",
            lambda convert, op, name: watch.saveables_of(name, convert(op, name)),
        )
        wrap(converter, "_restore_from_tensors", restore_from_tensors)
        wrap(functional_saver.MultiDeviceSaver, "restore", restore)
        wrap(functional_saver, "_get_mapped_registered_restore_fn", registered_restore)
        for kind in (tf_checkpoint.Checkpoint, tf_checkpoint.CheckpointV1):
            wrap(kind, "_maybe_create_save_counter", make_counter)
        stack.callback(watch.forget)
        yield watch


def differing_events(trace: Trace, watch: Watch) -> list[str]:
    """Return where the steps of a trace differ from what TensorFlow did, up to where it raised."""
    in_session = {step.node for step in trace.steps if step.failure and step.failure.in_session}
    expected = [
        event
        for event in watch.events
        if event.action is not Action.RESTORE or event.node not in in_session
    ]
    steps = [
        step
        for step in takewhile(_is_no_failure, trace.steps)
        if step.failure is None
        and (step.action is not Action.RESTORE or step.node not in watch.cached)
    ]
    if watch.tasks > 1:  # the trace does not know the devices
        steps, expected = _without_order(steps), _without_order(expected)
    if trace.builds_graph:  # where a check makes no saveables, which would add operations
        expected = [event._replace(names=None) for event in expected]
    numbers: dict[int | None, int | None] = {}
    objects: dict[int | None, int | None] = {}
    for place, (step, event) in enumerate(zip_longest(map(_event_of, steps), expected)):
        if step is not None and event is not None and event.names is None:
            step = step._replace(names=None)
        if step is None or event is None or (step._replace(obj=None) != event._replace(obj=None)):
            return [f"  step {place}: check {step}, TF {event}"]
        if (
            numbers.setdefault(step.obj, event.obj) != event.obj
            or objects.setdefault(event.obj, step.obj) != step.obj
        ):
            return [f"  step {place} has another object: check {step}, TF {event}"]
    return []


_AnyStep = TypeVar("_AnyStep", Step, Event)


def _without_order(steps: Iterable[_AnyStep]) -> list[_AnyStep]:
    """Return steps in which values that are assigned one after the other go by their nodes."""
    runs = groupby(steps, key=lambda step: step.action is Action.RESTORE)
    return [
        step
        for is_run, run in runs
        for step in (sorted(run, key=lambda step: step.node or ROOT) if is_run else run)
    ]


def _is_no_failure(step: Step) -> bool:
    return step.failure is None or step.failure.in_session


def _event_of(step: Step) -> Event:
    names = step.names if step.action in (Action.GATHER, Action.UNUSED) else ()
    return Event(step.action, step.node, step.obj, step.parent, step.name, names)

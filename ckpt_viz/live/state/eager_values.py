"""The values of live objects, copied into memory and put back in place, in eager execution.

Both directions walk the objects as `Checkpoint.write` and `Checkpoint.read` do. A place is found
again by the edges that led to it, so that a value returns to what is in the place now. An object
that is in no place any more has its own value back, if the program still holds it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ckpt_viz.errors import CkptVizError, SourceError
from ckpt_viz.files.values.memory import Budget
from ckpt_viz.files.values.report import Left, Restored
from ckpt_viz.graphs.nodes.nodes import ROOT, Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.interrupts import Interrupts, OwnDirectory
from ckpt_viz.live.objects.live_source import is_plain, tracked, view_of, weak
from ckpt_viz.live.objects.walk import Walk
from ckpt_viz.live.state.holding import (
    HeldState,
    SaverFiles,
    error_words,
    has_value,
    misfit,
    put,
    state_of,
)
from ckpt_viz.live.state.rollback import put_each
from ckpt_viz.live.state.taken_values import Taken, without_untracked
from ckpt_viz.live.tensorflow_names import tensorflow_new as tf_new
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_registered as tf_registered
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state
from ckpt_viz.live.tensorflow_names.shadows import steadily


@dataclass(frozen=True)
class EagerValues:
    """Live objects whose values can be copied and put back.

    `source` is what `as_source` returned.
    """

    source: object
    title: str

    def take(self, limit: int | None) -> Taken:
        """Return a copy of all values.

        Raises ReadLimitError for more bytes than the limit, SourceError in a graph.
        """
        _refuse_graphs()
        with tf_state.unrecorded():
            walk, tracked = _reached(self.source)
            nodes = walk.bare_nodes()
            budget = Budget(self.title, limit)
            budget.expect(sum(_expected(nodes, walk.objects)))
            taking = _Taking(walk, nodes, budget)
            taking.take_all()
        return Taken(
            self.title,
            nodes,
            tracked,
            tuple(walk.lost),
            tuple(walk.object_keys),
            tuple(map(weak, walk.objects)),
            frozenset(walk.momentary),
            taking.states,
            taking.files,
            taking.skipped,
            taking.nbytes,
        )

    def put_back(self, taken: Taken) -> Restored:
        """Put all values back; check all first, and then assign."""
        _refuse_graphs()
        with tf_state.unrecorded():
            putting = _Putting(taken, *_reached(self.source))
            putting.check()
            with Interrupts(held=True) as interrupts:
                interrupt = putting.assign()
                restored = putting.restored()
                if interrupt is not None or interrupts.are_waiting:
                    restored.warn_if_partial(self.title)
                if interrupt is not None:
                    raise interrupt
            return restored


def _refuse_graphs() -> None:
    if not tf_private.is_eager_now():
        raise SourceError(
            "found a graph in the making, expected eager execution; take snapshots outside of "
            "tf.function, and pass `session=` for the graph of a session"
        )


def _reached(source: object) -> tuple[Walk, int]:
    """Return a walk to all objects, and how many of them TensorFlow follows; they come first."""

    def walk() -> tuple[Walk, int]:
        new_walk = Walk(view_of(source))
        new_walk.reach()
        tracked = len(new_walk.objects)
        new_walk.reach_untracked()
        return new_walk, tracked

    return steadily(walk)


def as_source(live: Any) -> Any:
    """Return a list or dict of variables as a tracked one, anything else as it is.

    A live graph means its objects. This leaves no trace in the variables. Raises SourceError for a
    path, and for items that are not trackable.
    """
    if isinstance(live, Graph) and live.origin is Origin.LIVE:
        live = live.source
    if isinstance(live, (str, os.PathLike, Graph)):
        raise SourceError(
            f"found {os.fspath(live) if not isinstance(live, Graph) else live.title!r}, expected "
            "live objects: only they have values to put back; graph() reads a file"
        )
    if not is_plain(live):
        return live
    return tracked(live) if live else tf_new.new_list([])


def _expected(nodes: Sequence[Node], objects: Sequence[Any]) -> Iterator[int]:
    """Yield the sizes of values that are certain before they are read."""
    for node, obj in zip(nodes, objects, strict=True):
        for attribute in node.attributes:
            if attribute.nbytes is not None:
                yield attribute.nbytes
            elif attribute.shape is None and attribute.dtype is not None:
                variable = tf_state.plain_variable(obj)
                shape = None if variable is None else tf_state.shape_now(variable)
                if shape is not None:
                    yield tf_private.stored_bytes(attribute.dtype, shape) or 0


@dataclass
class _Taking:
    """A copy in progress; fields as in `Taken`."""

    walk: Walk
    nodes: Sequence[Node]
    budget: Budget
    states: dict[int, HeldState] = field(default_factory=dict)
    files: tuple[SaverFiles, ...] = ()
    skipped: dict[int, str] = field(default_factory=dict)
    nbytes: int = 0

    def take_all(self) -> None:
        self.skipped.update(self.walk.errors)
        by_saver: dict[str, dict[int, str]] = {}
        for node_id, (node, obj) in enumerate(zip(self.nodes, self.walk.objects, strict=True)):
            if node.registered_saver is not None:
                names = by_saver.setdefault(node.registered_saver, {})
                names[node_id] = self.walk.object_keys[node_id]
            elif node.attributes:
                self._take(node_id, obj)
        self.files = tuple(self._written(saver, names) for saver, names in by_saver.items())

    def _take(self, node_id: int, obj: Any) -> None:
        try:
            state = state_of(obj)
        except CkptVizError:
            raise
        except Exception as error:  # the object's own code
            self.skipped[node_id] = f"it cannot be saved: {error_words(error)}"
            return
        if state is not None:
            self.states[node_id] = state
            self._count(sum(tf_state.nbytes_of(part.value) for part in state.parts))

    def _written(self, saver: str, names: dict[int, str]) -> SaverFiles:
        made = SaverFiles(saver, names, OwnDirectory())
        objects = {name: self.walk.objects[node_id] for node_id, name in names.items()}
        try:
            tf_state.save_by(saver, objects, made.prefix)
        except Exception as error:  # code of the user
            why = f"its registered saver {saver} cannot save it: {error_words(error)}"
            self.skipped.update(dict.fromkeys(names, why))
            return SaverFiles(saver, {}, made.directory)
        self._count(made.nbytes)
        return made

    def _count(self, nbytes: int) -> None:
        self.nbytes += nbytes
        self.budget.add(nbytes)


class _Putting:
    """Values on their way back: first everything is checked, then assigned."""

    def __init__(self, taken: Taken, walk: Walk, tracked: int) -> None:
        self._taken, self._walk, self._tracked = taken, walk, tracked
        self._places = places_now(taken, walk)
        self._todo: list[tuple[int, Any, HeldState]] = []
        self._left: dict[int, str] = dict(taken.skipped)
        self._by_savers: list[tuple[SaverFiles, dict[str, Any]]] = []
        self._replaced: list[int] = []
        self._taken_places = set(self._places.values())
        self._elsewhere: set[int | None] = set()

    def _now(self, node_id: int) -> Any:
        """Return what is in the place of a node now.

        What TensorFlow does not follow has no place, as in a set: it is the same object or none.
        """
        if node_id >= self._taken.tracked:
            return self._taken.objects[node_id]()
        place = self._places.get(node_id)
        return None if place is None else self._walk.objects[place]

    def check(self) -> None:
        taken = self._taken
        for node_id, state in taken.states.items():
            before, now = taken.objects[node_id](), self._now(node_id)
            if not has_value(state):
                if now is not None and _is_initialized(now):
                    self._left[node_id] = "it had no value in the snapshot; it keeps its value"
            elif now is before and now is not None:
                self._todo.append((node_id, now, state))
            else:
                self._check_another(node_id, before, now, state)

        for files in taken.files:
            objects = dict(self._objects_of(files))
            if objects:
                self._by_savers.append((files, objects))

    def _objects_of(self, files: SaverFiles) -> Iterator[tuple[str, Any]]:
        """Yield the objects that a registered saver will restore, by their names."""
        for node_id, name in files.names.items():
            now = self._now(node_id)
            if now is None:
                self._left[node_id] = _DROPPED
            elif tf_registered.registered_saver_name(now) != files.saver:
                self._left[node_id] = f"a {type(now).__name__} is in its place now"
            else:
                if now is not self._taken.objects[node_id]():
                    self._replaced.append(node_id)
                yield name, now

    def _check_another(self, node_id: int, before: Any, now: Any, state: HeldState) -> None:
        """Decide about a place where another object is now, or none."""
        at = self._walk.ids.get(id(before))
        is_detached = before is not None and (at is None or at not in self._taken_places)
        if is_detached:  # in no place, or in a new one
            self._elsewhere.add(at)
            self._todo.append((node_id, before, state))
        if now is None:
            if not is_detached:
                self._left[node_id] = _DROPPED
            return
        if node_id not in self._taken.momentary:
            why = misfit(now, state)
            if why is not None:
                self._left[node_id] = why
                return
            self._replaced.append(node_id)
        self._todo.append((node_id, now, state))

    def assign(self) -> BaseException | None:
        """Assign all, also after an object that refuses; return what has interrupted that."""
        puts: list[tuple[tuple[int, ...], Callable[[], None]]] = [
            ((node_id,), partial(put, obj, state)) for node_id, obj, state in self._todo
        ]
        for files, objects in self._by_savers:
            nodes = tuple(n for n, name in files.names.items() if name in objects)
            restore = partial(tf_state.restore_by, files.saver, objects, files.prefix)
            puts.append((nodes, restore))
        done = put_each([call for _, call in puts])
        for number, error in done.failures.items():
            why = f"it did not take its value: {error_words(error)}"
            self._left.update(dict.fromkeys(puts[number][0], why))
        return done.interrupt

    def restored(self) -> Restored:
        name = self._taken.name  # most restores need no name, and so no graph
        left = [Left(name(node_id), why) for node_id, why in sorted(self._left.items())]
        left += [Left(new, _LATER) for new in self._made_later()]
        done = {node_id for node_id, _, _ in self._todo} - self._left.keys()
        by_savers = [n for files in self._taken.files for n in files.names if n not in self._left]
        return Restored(len(done) + len(by_savers), tuple(left), tuple(map(name, self._replaced)))

    def _made_later(self) -> list[str]:
        """Return the names of objects with a value that were made after the snapshot."""
        walk, taken = self._walk, self._taken
        held = (
            walk.ids.get(id(taken.objects[i]())) for i in range(taken.tracked, len(taken.nodes))
        )
        known = {*self._taken_places, *self._elsewhere, *held}
        new = [i for i in range(len(walk.objects)) if i not in known]
        if not new:
            return []
        nodes = walk.bare_nodes()
        every = Graph(nodes, taken.title, Origin.LIVE)
        tracked = [without_untracked(self._tracked, node) for node in nodes[: self._tracked]]
        graph = Graph(tuple(tracked), taken.title, Origin.LIVE)
        return [
            (graph if i < self._tracked else every).name(i)
            for i in new
            if nodes[i].attributes or nodes[i].registered_saver
        ]


_DROPPED = "the program has dropped it, and nothing is in its place"
_LATER = "it was made after the snapshot; it keeps its value"


def _is_initialized(obj: Any) -> bool:
    variable = tf_state.plain_variable(obj)
    return variable is not None and tf_state.shape_now(variable) is not None


def places_now(taken: Taken, walk: Walk) -> dict[int, int]:
    """Return, by node id of the snapshot, the id in the walk of what is in its place now."""
    places = {ROOT: ROOT}
    queue = deque([ROOT])
    while queue:
        node_id = queue.popleft()
        place = places[node_id]  # a slot variable has no children
        children = walk.children[place] if place < len(walk.children) else ()
        now = {child.local_name: child.node_id for child in reversed(children)}
        for child in taken.nodes[node_id].children:
            is_new = child.node_id not in places and child.node_id < taken.tracked
            if is_new and child.local_name in now:
                places[child.node_id] = now[child.local_name]
                queue.append(child.node_id)
    for optimizer, node in enumerate(taken.nodes):
        for slot in node.slot_variables:
            declared = walk.slot_variables.get(places.get(optimizer, -1), ())
            variable = places.get(slot.variable)
            for live_slot in declared:
                if slot.slot_variable >= taken.tracked:
                    continue
                if (live_slot.slot_name, live_slot.variable) == (slot.slot_name, variable):
                    places[slot.slot_variable] = live_slot.slot_variable
    return places

"""The order of a save: which step comes when, in TensorFlow's code.

A program calls `Checkpoint.save`. That calls `TrackableSaver.save`, then `serialize_graph_view`,
then `MultiDeviceSaver.save`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.files.saved.object_based import OBJECT_GRAPH_KEY
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, Attribute, Child, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format, Origin

PYTHON_STATE = "py_state"
OF_COUNTER, OF_HIDDEN = 1, 2  # the places of failures that come from the counter
NOWHERE, NEW_COUNTER = -1, -2  # in place of a node id: no node, a node that the save will make


class SaveAction(str, Enum):
    """What a step of a save does."""

    CHECK = "check"  # whether it is time to save
    SKIP = "skip"  # it is not
    MAKE = "make"  # the save counter
    COUNT = "count"
    FIND = "find"  # an object, for the first time
    MEET = "meet"  # a known object again, by another edge
    LEAVE = "leave"  # what TensorFlow does not track
    NAME = "name"  # all objects, by their paths
    NUMBER = "number"  # all objects
    SLOT = "slot"
    EDGES = "edges"
    KEY = "key"
    SAVER = "saver"
    MARK = "mark"  # what has values
    GRAPH = "graph"
    RUN = "run"  # a registered saver
    WRITE = "write"
    MERGE = "merge"
    STATE = "state"  # the file `checkpoint`
    EXPORT = "export"  # what else a SavedModel or a Saver has
    LIST = "list"  # a manager's checkpoints
    DELETE = "delete"
    PRESERVE = "preserve"
    FAIL = "fail"


OF_NO_NODE = frozenset(
    {SaveAction.NAME, SaveAction.NUMBER, SaveAction.EDGES, SaveAction.MARK, SaveAction.GRAPH}
    | {SaveAction.RUN, SaveAction.WRITE, SaveAction.MERGE}
)
"""The actions of a whole save: none is about one node."""


class SaveCall(str, Enum):
    """The function of TensorFlow that a program calls to save."""

    SAVE = "tf.train.Checkpoint.save"
    WRITE = "tf.train.Checkpoint.write"
    MANAGER = "tf.train.CheckpointManager.save"
    SAVED_MODEL = "tf.saved_model.save"
    SAVER = "tf.compat.v1.train.Saver.save"


Mark = tuple[SaveAction, int, int]
"""A step: what it does, a node, and a place among the node's children, slots or attributes."""


class Counting(NamedTuple):
    """The node of the checkpoint that counts its saves, and that of its counter.

    The counter is None if the save makes it.
    """

    checkpoint: int
    counter: int | None


class Order:
    """The order of a save's steps: each is an action, a node, and a place or number.

    A save makes the counter of a checkpoint as a child of its root. If the checkpoint is not the
    root but another node, that one holds the counter, too.
    """

    def __init__(self, graph: Graph, call: SaveCall, counting: Counting | None = None) -> None:
        self._graph = graph
        self._call = call
        self._counting = counting or Counting(ROOT, graph.save_counter)
        self._reached = bytearray(len(graph.nodes))
        self._second = 0
        is_counted = call in (SaveCall.SAVE, SaveCall.MANAGER)
        self.makes_counter = is_counted and self._counting.counter is None
        holders = {ROOT, self._counting.checkpoint}
        self.holders_of_counter = holders if self.makes_counter else set()

    # --- numbers that TensorFlow gives

    @cached_property
    def number_of_counter(self) -> int:
        """The id of a save counter that the save will make: the last child of the root."""
        return 1 + len({child.node_id for child in self._graph.nodes[ROOT].children} - {ROOT})

    def number(self, node_id: int) -> int:
        """Return the id that TensorFlow gives a node."""
        if node_id == NEW_COUNTER:
            return self.number_of_counter
        return node_id + (self.makes_counter and node_id >= self.number_of_counter)

    @cached_property
    def shards(self) -> tuple[Mapping[int, int], int]:
        """The number of tensors by data file, and the number of these; of a file that has some."""
        stored = self._graph.stored_in
        shards = getattr(stored, "num_shards", 0)
        if not shards:
            return {}, 0
        parts = (part for parts in stored.parts.values() for part in parts if part is not None)
        whole = (entry for entry in stored.entries.values() if not entry.slices)
        return Counter(entry.shard for entry in (*whole, *parts)), shards

    @cached_property
    def valued(self) -> int:
        """The number of objects that have a value or lead to one."""
        nodes = list(self._graph.nodes)
        for holder in self.holders_of_counter:  # what leads to the counter has a value below it
            nodes[holder] = nodes[holder]._replace(attributes=(Attribute(VARIABLE_VALUE, "", ""),))
        return len(walks.with_value_below(nodes)) + self.makes_counter

    # --- the order

    def marks(self) -> Iterator[Mark]:
        """Yield the steps in TensorFlow's order, up to the first failure."""
        phases = (self._count, self._walk, self._number, self._slots, self._keys, self._write)
        for mark in (mark for phase in phases for mark in phase()):
            yield mark
            if mark[0] is SaveAction.FAIL:
                return

    def _count(self) -> Iterator[Mark]:
        if self.makes_counter:
            yield SaveAction.MAKE, NEW_COUNTER, 0
        if self._call in (SaveCall.SAVE, SaveCall.MANAGER):
            counter = self._counting.counter
            yield SaveAction.COUNT, NEW_COUNTER if counter is None else counter, 0
            is_live = self._graph.origin is Origin.LIVE
            if is_live and counter is not None and not _counts(self._graph.nodes[counter]):
                yield SaveAction.FAIL, counter, OF_COUNTER

    def _walk(self) -> Iterator[Mark]:
        nodes, reached = self._graph.nodes, self._reached
        yield SaveAction.FIND, ROOT, -1
        reached[ROOT] = True
        queue = [ROOT]
        for node_id in queue:  # grows during the loop
            node = nodes[node_id]
            if self._raises(node) and not node.children and not _is_slotting(node):
                yield SaveAction.FAIL, node_id, 0
            for at, child in enumerate(node.children) if node_id else self._of_root(node):
                if reached[child.node_id]:
                    self._second += 1
                    yield SaveAction.MEET, node_id, at
                else:
                    reached[child.node_id] = True
                    queue.append(child.node_id)
                    yield SaveAction.FIND, node_id, at
            if node_id == ROOT and self.makes_counter:
                yield SaveAction.FIND, ROOT, NEW_COUNTER
            elif node_id in self.holders_of_counter:
                self._second += 1
                yield SaveAction.MEET, node_id, NEW_COUNTER
            for at in range(len(node.not_saved)):
                yield SaveAction.LEAVE, node_id, at

    @cached_property
    def _hidden(self) -> Sequence[Child]:
        """The children of the root that a new counter hides: it has their name."""
        return [
            c for c in self._graph.nodes[ROOT].children if self.makes_counter and _is_counter(c)
        ]

    def _of_root(self, node: Node) -> Iterable[tuple[int, Child]]:
        return [(at, child) for at, child in _of_root(node) if child not in self._hidden]

    def _raises(self, node: Node) -> bool:
        """Return whether a save fails at a node; that of a file has succeeded."""
        return node.error is not None and self._graph.origin is Origin.LIVE

    def _number(self) -> Iterator[Mark]:
        yield SaveAction.NAME, NOWHERE, 0
        yield SaveAction.NUMBER, NOWHERE, sum(self._reached) + self.makes_counter

    def _slots(self) -> Iterator[Mark]:
        nodes = self._graph.nodes
        for node_id, node in enumerate(nodes):
            for at in range(len(node.slot_variables)):
                yield SaveAction.SLOT, node_id, at
            if self._raises(node) and node_id != ROOT and _is_slotting(node):
                yield SaveAction.FAIL, node_id, 0
        if self._raises(nodes[ROOT]):
            yield SaveAction.FAIL, ROOT, 0
        if any(_is_counter(child) and not self._reached[child.node_id] for child in self._hidden):
            yield SaveAction.FAIL, ROOT, OF_HIDDEN
        yield SaveAction.EDGES, NOWHERE, self._second

    def _keys(self) -> Iterator[Mark]:
        nodes, states = self._graph.nodes, []
        savers: dict[str, list[int]] = {}
        for node_id, node in enumerate(nodes):
            if self.makes_counter and node_id == self.number_of_counter:
                yield SaveAction.KEY, NEW_COUNTER, 0
            if node.registered_saver is not None:
                savers.setdefault(node.registered_saver, []).append(node_id)
            elif node.attributes and node.attributes[0].name == PYTHON_STATE:
                states.append(node_id)
            else:
                for at in range(len(node.attributes)):
                    yield SaveAction.KEY, node_id, at
        if self.makes_counter and len(nodes) == self.number_of_counter:
            yield SaveAction.KEY, NEW_COUNTER, 0
        for node_ids in savers.values():
            yield from ((SaveAction.SAVER, node_id, 0) for node_id in node_ids)
        for node_id in states:
            yield from self._keys_of(node_id)
        yield SaveAction.MARK, NOWHERE, 0
        yield SaveAction.GRAPH, NOWHERE, 0
        yield from ((SaveAction.RUN, node_ids[0], 0) for node_ids in savers.values())

    def _keys_of(self, node_id: int) -> Iterable[Mark]:
        attributes = self._graph.nodes[node_id].attributes
        return ((SaveAction.KEY, node_id, at) for at in range(len(attributes)))

    def _write(self) -> Iterator[Mark]:
        tensors, shards = self.shards
        for shard in sorted(tensors):  # an index may claim billions of files
            yield SaveAction.WRITE, NOWHERE, shard
        if not shards:
            yield SaveAction.WRITE, NOWHERE, -1
        yield SaveAction.MERGE, NOWHERE, 0
        if self._call is SaveCall.SAVE:
            yield SaveAction.STATE, NOWHERE, 0
        if self._call is SaveCall.SAVED_MODEL:
            yield SaveAction.EXPORT, NOWHERE, 0


def _counts(counter: Node) -> bool:
    """Return whether a save can add 1 to a counter: a program may call anything so."""
    if not counter.attributes or counter.role not in (Role.VARIABLE, Role.SLOT):
        return False
    value = counter.attributes[0]
    return value.shape in ((), None) and value.dtype not in ("string", "bool")


def _of_root(node: Node) -> Iterable[tuple[int, Child]]:
    """Return the children of the root as the walk lists them, with their places among all.

    Of two children with one name, the later one takes the place of the first.
    """
    return {child.local_name: (at, child) for at, child in enumerate(node.children)}.values()


def _is_counter(child: Child) -> bool:
    return child.local_name == SAVE_COUNTER


def _is_slotting(node: Node) -> bool:
    """Return whether an error of a node comes from its slots: its children could be listed."""
    return bool(node.children) or node.role is Role.OPTIMIZER


def call_of(graph: Graph) -> SaveCall:
    """Return the call that saved a graph of a file, as far as the file shows."""
    if _has_names_alone(graph):
        return SaveCall.SAVER
    if graph.provenance is not None and graph.provenance.format is Format.SAVED_MODEL:
        return SaveCall.SAVED_MODEL
    return SaveCall.SAVE if graph.save_counter is not None and not graph.is_held else SaveCall.WRITE


def _has_names_alone(graph: Graph) -> bool:
    """Return whether a graph is of names; a SavedModel of TensorFlow 1 has no object graph."""
    if graph.is_name_based or graph.provenance is None:
        return graph.is_name_based
    is_saved_model = graph.provenance.format is Format.SAVED_MODEL
    return is_saved_model and OBJECT_GRAPH_KEY not in getattr(graph.stored_in, "entries", {})

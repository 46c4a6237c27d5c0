"""A graph as the side that a restore writes to: matches two files without TensorFlow.

A file does not describe the whole program that wrote it. The graph answers as an ordinary program
would: children go by their names, values by their attributes' names, slot variables by the
declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Node, Stored, is_variable
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.engines.read_failures import tensor_shape, wrong_shape
from ckpt_viz.matching.engines.trace import (
    NOTHING,
    Cause,
    Failure,
    Gathered,
    Intake,
    Read,
    Refusal,
    SlotAnswer,
    SlotKind,
)

_ATTRIBUTES = ".ATTRIBUTES/"


@dataclass
class GraphSide:
    """The live side of the matching engine, with a graph in place of objects.

    An object's id is its node id. The graph replaces the program that saved it: an optimizer with
    slot variables makes those that it lacks (`made`, with ids after those of the nodes).
    """

    graph: Graph
    root: int = field(default=ROOT, init=False)
    attached: Sequence[tuple[str, int]] = field(default=(), init=False)
    momentary: Set[int] = field(default=frozenset(), init=False)
    made: list[Node] = field(default_factory=list, init=False)
    _slots: dict[tuple[int, int, str], int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for optimizer, node in enumerate(self.graph.nodes):
            for slot in node.slot_variables:
                key = optimizer, slot.variable, slot.slot_name
                self._slots.setdefault(key, slot.slot_variable)

    def children(self, obj: int) -> Callable[[str], int | None]:
        """Return the lookup of a node's children by local name."""
        return {child.local_name: child.node_id for child in self._node(obj).children}.get

    def bookkeepers(self, obj: int) -> tuple[int, ...]:
        """Return the node: each keeps its own record."""
        return (obj,)

    def gather(self, obj: int, node: Node) -> Gathered:
        """Return what a node would read for a node with values."""
        live = self._node(obj)
        if node.registered_saver:
            is_known = live.registered_saver == node.registered_saver
            kind = Intake.REGISTERED if is_known else Intake.SKIPPED
            return Gathered(kind, saveable=node.registered_saver)
        if not node.attributes:
            return NOTHING
        if live.registered_saver:
            return Gathered(Intake.REGISTERED, saveable=live.registered_saver)
        if not live.attributes:
            return Gathered(Intake.UNUSED, unused=tuple(a.name for a in node.attributes))
        return Gathered(
            Intake.TENSORS,
            tuple(_reads(node, live)),
            node.attributes[0].checkpoint_key,
        )

    def misfit(self, obj: int, stored: Stored) -> Failure:
        """Return what assigning a value of the wrong shape raises."""
        attributes = self._node(obj).attributes
        shape = attributes[0].shape if attributes else None
        name = attributes[0].full_name if attributes else ""
        message = (
            f"Received incompatible tensor with shape {tensor_shape(stored.shape)} when attempting "
            f"to restore variable with shape {tensor_shape(shape)} and name {name}."
        )
        return wrong_shape("ValueError", message, stored.shape, shape)

    def slot(
        self, optimizer: int, variable: int, name: str, node: Node, stored: Stored | None
    ) -> SlotAnswer:
        """Return what an optimizer does with a saved slot variable."""
        existing = self._slots.get((optimizer, variable, name))
        if existing is not None:
            return SlotAnswer(SlotKind.EXISTING, existing)
        live = self._node(optimizer)
        if live.attributes:  # a variable, but an optimizer was saved
            return SlotAnswer(SlotKind.NO_HOOK)
        if not live.slot_variables or not is_variable(node.attributes) or node.children:
            return SlotAnswer(SlotKind.WAITS)
        if stored is None:
            key = node.attributes[0].checkpoint_key
            raise Refusal(Failure(Cause.KEY_MISSING, "KeyError", repr(key)))
        made = len(self.graph.nodes) + len(self.made)
        self.made.append(Node(attributes=node.attributes))
        self._slots[optimizer, variable, name] = made
        return SlotAnswer(SlotKind.CREATED, made)

    def takes_counter(self, obj: int) -> bool:
        """Return False: a graph makes no counter."""
        return False

    def new_save_counter(self, waiting: object) -> None:
        """Return None: if a file has no counter, its program may make one or not."""
        return None

    def _node(self, obj: int) -> Node:
        nodes = self.graph.nodes
        return nodes[obj] if obj < len(nodes) else self.made[obj - len(nodes)]


def _reads(node: Node, live: Node) -> Iterator[Read]:
    """Yield what an object reads: it requests only what it would save itself."""
    saved = {attribute.checkpoint_key: attribute for attribute in node.attributes}
    for wanted in live.attributes:
        key = _key_of(wanted.name, node.attributes[0].checkpoint_key)
        attribute = saved.get(key)
        # The object's own code decides how it stores an iterator or a table, and what it accepts.
        if attribute is None or wanted.name == VARIABLE_VALUE or not _is_stored(attribute):
            yield Read(key, wanted.dtype, wanted.shape)


def _key_of(name: str, beside: str) -> str:
    """Return the key for reading an attribute; `beside` is any key of the object.

    As in tensorflow/python/checkpoint/restore.py, it ends at the first `.ATTRIBUTES/`, even if that
    is part of an object's name. If names need escapes, the key differs from the written key: an
    attribute's name is escaped in the object graph, and again in its key.
    """
    prefix, separator, _ = beside.partition(_ATTRIBUTES)
    return f"{prefix}{separator}{name}"


def _is_stored(attribute: Attribute) -> bool:
    return attribute.dtype is not None or attribute.nbytes is not None

"""The object graph: what TensorFlow calls a `TrackableObjectGraph`, in frozen data classes.

Source of the terms: tensorflow/core/protobuf/trackable_object_graph.proto. This module
does no I/O and knows neither files nor live objects; readers make its nodes, everything
above reads them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from ckpt_viz.keys import VARIABLE_VALUE

ROOT = 0


class Role(str, Enum):
    """What a node is, as far as its source can tell.

    A file holds no Python types, so a saved graph says `OBJECT` where only a type would
    tell (layer, container, an optimizer without state).
    """

    OBJECT = "object"
    LAYER = "layer"
    CONTAINER = "container"
    VARIABLE = "variable"
    SLOT = "slot"
    OPTIMIZER = "optimizer"
    VALUE = "value"  # a value that is no variable: an iterator, a table, Python state
    BOOKKEEPING = "bookkeeping"  # Keras' own lists and functions, without a value below them


class SlotRule(str, Enum):
    """How a slot variable was recognised as one."""

    DECLARED = "declared"  # the graph's own slot_variables name it
    LIST_INDEX = "list index"  # Keras 3: same index in the optimizer's lists of variables

    @property
    def inferred(self) -> bool:
        """True where TensorFlow itself knows nothing of the slot."""
        return self is not SlotRule.DECLARED


@dataclass(frozen=True, slots=True)
class Child:
    """An edge to another node; the local name is what a restore matches by."""

    local_name: str
    node_id: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value of a node, stored under one checkpoint key (`SerializedTensor` in the proto).

    `full_name` is the variable's name in name-based checkpoints, else "". `dtype` is
    TensorFlow's name of it, `nbytes` counts stored bytes; both, and `shape`, are None where
    the source does not say: for live objects that only their own code could ask, for
    attributes stored as several tensors, and for shapes that are not fully known.
    """

    name: str
    full_name: str
    checkpoint_key: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    nbytes: int | None = None


def is_variable(attributes: Sequence[Attribute]) -> bool:
    """Return whether these are the attributes of a variable: its value and nothing else."""
    return len(attributes) == 1 and attributes[0].name == VARIABLE_VALUE


@dataclass(frozen=True, slots=True)
class SlotVariable:
    """A slot as its optimizer declares it (`SlotVariableReference` in the proto)."""

    slot_name: str
    variable: int
    slot_variable: int


@dataclass(frozen=True, slots=True)
class Slot:
    """What makes a node a slot variable: the `name` state of `optimizer` for `variable`."""

    name: str
    variable: int
    optimizer: int
    rule: SlotRule


@dataclass(frozen=True, slots=True)
class Node:
    """One trackable object.

    `children` keeps the saved order. A node may be reached under several local names, even
    from itself: the graph is neither a tree nor free of cycles. `type_name` is the Python
    class, where known. `error` says why a live object could not be walked; what lies below
    it is missing then.
    """

    children: tuple[Child, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    slot_variables: tuple[SlotVariable, ...] = ()
    registered_saver: str | None = None
    role: Role = Role.OBJECT
    slot: Slot | None = None
    type_name: str | None = None
    error: str | None = None


class Origin(str, Enum):
    """Where a graph was read from."""

    LIVE = "live"
    SAVED = "saved"


@dataclass(frozen=True)
class Graph:
    """The nodes of one object graph, by node id, and the questions that their edges answer.

    `title` names the source for people: a path, or the class of the live object.
    """

    nodes: tuple[Node, ...]
    title: str
    origin: Origin
    _objects: Callable[[int], object] | None = field(default=None, repr=False, compare=False)

    def path(self, node_id: int) -> tuple[str, ...]:
        """Return the local names of the first breadth-first path from the root to a node.

        A declared slot variable has no incoming edge; its path is that of its variable,
        then the slot's name. Raises KeyError for a node that nothing leads to.
        """
        names: list[str] = []
        while node_id != ROOT:
            node_id, local_name = self.first_edges[node_id]
            names.append(local_name)
        return tuple(reversed(names))

    def name(self, node_id: int) -> str:
        """Return the node's name as TensorFlow prints it in errors and warnings.

        `(root).model.kernel`, or `(root).optimizer's state 'm' for (root).model.kernel`.
        """
        slot = self.nodes[node_id].slot
        if slot is not None and slot.rule is SlotRule.DECLARED:
            optimizer, variable = self._dotted(slot.optimizer), self._dotted(slot.variable)
            return f"{optimizer}'s state '{slot.name}' for {variable}"
        return self._dotted(node_id)

    def aliases(self, node_id: int) -> tuple[str, ...]:
        """Return the node's other names: one for each further edge that leads to it."""
        first = self.first_edges.get(node_id)
        return tuple(
            f"{self._dotted(parent)}.{local_name}"
            for parent, local_name in self.edges_to[node_id]
            if (parent, local_name) != first
        )

    def object(self, node_id: int) -> object | None:
        """Return the live object of a node; None in a saved graph or once it is gone."""
        return self._objects(node_id) if self._objects is not None else None

    @cached_property
    def first_edges(self) -> dict[int, tuple[int, str]]:
        """For each reachable node but the root: parent and local name of its first path.

        Declared slot variables, which no edge leads to, follow their variable.
        """
        return first_edges(self.nodes)

    @cached_property
    def edges_to(self) -> tuple[tuple[tuple[int, str], ...], ...]:
        """For each node: parent and local name of every edge that leads to it."""
        edges: list[list[tuple[int, str]]] = [[] for _ in self.nodes]
        for parent, node in enumerate(self.nodes):
            for child in node.children:
                edges[child.node_id].append((parent, child.local_name))
        return tuple(map(tuple, edges))

    def _dotted(self, node_id: int) -> str:
        if node_id != ROOT and node_id not in self.first_edges:
            return f"(unreachable node {node_id})"
        return ".".join(("(root)", *self.path(node_id)))


def first_edges(nodes: Sequence[Node]) -> dict[int, tuple[int, str]]:
    """Return the edge by which a breadth-first walk from the root first finds each node."""
    links: dict[int, tuple[int, str]] = {}
    queue = deque([ROOT])
    while queue:
        node_id = queue.popleft()
        for child in nodes[node_id].children:
            if child.node_id != ROOT and child.node_id not in links:
                links[child.node_id] = (node_id, child.local_name)
                queue.append(child.node_id)
    for node in nodes:
        for slot in node.slot_variables:
            if slot.slot_variable != ROOT and slot.variable in links:
                links.setdefault(slot.slot_variable, (slot.variable, slot.slot_name))
    return links

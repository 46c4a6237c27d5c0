"""The object graph as a whole: its nodes, where it comes from, and what its edges answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ckpt_viz.errors import NoSuchTensorError, SourceError, UnsupportedError
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Fingerprint, Node, SlotRule, Stored
from ckpt_viz.object_graph.tree import Tree, spanning_tree

if TYPE_CHECKING:  # numpy takes as long to import as a checkpoint to open
    from ckpt_viz.formats.tensors import Array

_MAX_NAMED = 300  # characters of a key in a message
_MAX_ALIASED = 1_000_000  # names in the aliases of a node
_MAX_COMPARED = 1_000_000  # characters of names that a wrong one is compared with


class Origin(str, Enum):
    """Where a graph was read from."""

    LIVE = "live"
    SAVED = "saved"


class Format(str, Enum):
    """How a saved graph is stored."""

    OBJECT_BASED = "object-based checkpoint"  # tf.train.Checkpoint
    NAME_BASED = "name-based checkpoint"  # tf.compat.v1.train.Saver
    NAME_BASED_V1 = "name-based checkpoint, V1 format"  # one file, before TensorFlow 1.0
    SAVED_MODEL = "SavedModel"


@dataclass(frozen=True, slots=True)
class Kept:
    """A checkpoint of a directory: its `checkpoint` file names it, or it only lies there.

    `saved_at` is in UTC, None where that file has no timestamp; `exists` says whether its
    index is still there. `is_named` says that the file names it, `is_latest` that it does so as
    the latest one. Two Savers that share a directory share the file, too: the one that saves
    writes what it has saved itself.
    """

    prefix: str
    saved_at: datetime | None
    exists: bool
    is_named: bool = True
    is_latest: bool = False


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a saved graph was read from.

    `given` is the path as passed, `prefix` that of the files that were read. `resolved` says
    in a sentence how one led to the other, "" where they are the same. `kept` are the
    checkpoints of the directory, where that was given: those that its `checkpoint` file names,
    oldest first, after those that it does not.
    """

    given: str
    prefix: str
    format: Format
    resolved: str = ""
    kept: tuple[Kept, ...] = ()


class Access(Protocol):
    """What a graph asks of its source later: live objects and values."""

    def object(self, node_id: int) -> object | None:
        """Return the live object of a node; None where there is none."""

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Return an expression for the live object of a node; `source` is that of the source."""

    def value(self, checkpoint_key: str) -> Array:
        """Return the value that is stored under a key; raises NoSuchTensorError."""

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        """Return the first elements of a tensor, flat; raises as `value` does."""

    def stored(self, checkpoint_key: str) -> Stored | None:
        """Return what is known of the tensor under a key without reading it; None without one."""

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        """Return how a tensor is laid out, and the checksums of its bytes; None without any."""

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that an attribute is stored as."""


@dataclass(frozen=True)
class Graph:
    """The nodes of one object graph, by node id, and the questions that their edges answer.

    `title` names the source for people: a path, or the class of the live object. `provenance`
    is that of a saved graph, None of a live one.
    """

    nodes: tuple[Node, ...]
    title: str
    origin: Origin
    provenance: Provenance | None = field(default=None, repr=False, compare=False)
    _access: Access | None = field(default=None, repr=False, compare=False)

    def path(self, node_id: int) -> tuple[str, ...]:
        """Return the local names that lead from the root to a node, as a person would go.

        That is the place in the outline: through the model rather than through the lists of
        an optimizer (see `tree.spanning_tree`). A slot variable is below its variable,
        where no edge leads: its path is that of the variable, then the slot's name.
        """
        names: list[str] = []
        while node_id != ROOT:
            names.append(self.tree.labels[node_id])
            node_id = self.tree.parents[node_id]
        return tuple(reversed(names))

    def name(self, node_id: int) -> str:
        """Return the node's name as TensorFlow prints it in errors and warnings.

        `(root).model.kernel`, or `(root).optimizer's state 'm' for (root).model.kernel`.
        """
        slot = self.nodes[node_id].slot
        if slot is not None and slot.optimizer is not None and slot.rule is SlotRule.DECLARED:
            optimizer, variable = self._dotted(slot.optimizer), self._dotted(slot.variable)
            return f"{optimizer}'s state '{slot.name}' for {variable}"
        return self._dotted(node_id)

    def aliases(self, node_id: int) -> tuple[tuple[str, ...], ...]:
        """Return the node's other paths: one for each edge that leads to it off its `path`.

        Raises UnsupportedError where they have more than a million names: a chain of nodes
        that all lead to one has the square of its length.
        """
        own = (self.tree.parents[node_id], self.tree.labels[node_id])
        paths: list[tuple[str, ...]] = []
        names = 0
        for parent, local_name in self.edges_to[node_id]:
            if (parent, local_name) != own:
                paths.append((*self.path(parent), local_name))
                names += len(paths[-1])
            if names > _MAX_ALIASED:
                raise UnsupportedError(
                    f"{self.title}: node {node_id} has aliases of more than {_MAX_ALIASED} names, "
                    f"by {len(self.edges_to[node_id])} edges"
                )
        return tuple(paths)

    def read(self, name_or_key: str) -> Array:
        """Return the value of one tensor.

        Args:
            name_or_key: A checkpoint key, or a node's `name`. Keys go first.

        Returns:
            An array of the tensor's own dtype and shape; strings are `bytes` objects. Of a
            live graph a copy of the variable's value now.

        Raises:
            NoSuchTensorError: Neither a key nor the name of a node with one tensor.
            FormatError: Bytes are missing, or do not match their checksum.
            UnsupportedError: The dtype has no value in NumPy: a variant, a resource.
        """
        if self._access is None:
            raise NoSuchTensorError(f"{name_or_key!r}: this graph has no source to read from")
        try:
            return self._access.value(name_or_key)
        except NoSuchTensorError as no_key:
            node_id = self._named(name_or_key)
            if node_id is None:
                raise self._unknown(name_or_key) from no_key
            attributes = self.nodes[node_id].attributes
            if len(attributes) != 1:
                keys = [a.checkpoint_key[:_MAX_NAMED] for a in attributes[:3]]
                more = f" and {len(attributes) - 3} more" if len(attributes) > 3 else ""
                raise NoSuchTensorError(
                    f"{self.title}: {name_or_key}: expected a node with one value, found "
                    f"{', '.join(keys) or 'no value'}{more}"
                ) from no_key
            return self._access.value(attributes[0].checkpoint_key)

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        """Return the first elements of a tensor, flat, at most so many; raises as `read` does.

        Of a file only their bytes are read where they lie together, and then unchecked.
        """
        if self._access is None:
            raise NoSuchTensorError(f"{checkpoint_key!r}: this graph has no source to read from")
        return self._access.beginning(checkpoint_key, count)

    def find(self, name: str) -> int | None:
        """Return the first node of this `name`, None where there is none."""
        return self._named(name)

    def stored(self, checkpoint_key: str) -> Stored | None:
        """Return dtype and shape of the tensor that is stored under a key; None without one.

        Of a live graph it is what saving would store; reads no value.
        """
        return self._access.stored(checkpoint_key) if self._access is not None else None

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        """Return how the bytes of a stored tensor are laid out, and their checksums.

        None where the source has none, as live objects. Reads no value.
        """
        return self._access.fingerprint(checkpoint_key) if self._access is not None else None

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that an attribute is stored as: mostly its own alone.

        A table's are `.../table-keys` and `.../table-values`.
        """
        return self._access.tensor_keys(checkpoint_key) if self._access is not None else ()

    def object(self, node_id: int) -> object | None:
        """Return the live object of a node; None in a saved graph or once it is gone."""
        return self._access.object(node_id) if self._access is not None else None

    @property
    def source(self) -> Any:
        """What a live graph was made of; None of a saved one."""
        return getattr(self._access, "source", None)

    def accessor(self, node_id: int, source: str = "source") -> str:
        """Return a Python expression that evaluates to the live object of a node.

        Args:
            node_id: The node.
            source: The expression, usually a variable's name, for what was passed to `graph`.

        Raises:
            SourceError: The graph is that of a file, or the object is gone since.
        """
        if self._access is None:
            raise SourceError(f"{self.title}: this graph has no live objects")
        return self._access.accessor(self, node_id, source)

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

    @cached_property
    def save_counter(self) -> int | None:
        """The counter that a tf.train.Checkpoint keeps at its root; None without one."""
        of_root = self.nodes[ROOT].children
        return next((c.node_id for c in of_root if c.local_name == SAVE_COUNTER), None)

    @cached_property
    def tree(self) -> Tree:
        """The place of each node in the outline."""
        return spanning_tree(self.nodes)

    def _named(self, name: str) -> int | None:
        """Return the first node of this name; time proportional to the graph, however deep."""
        for node_id in self._at(name):
            if not self._is_declared_slot(node_id):
                return node_id
        if "'s state '" not in name:
            return None
        readings: dict[str, tuple[set[int], set[int]]] = {}
        for node_id in filter(self._is_declared_slot, self.first_edges):
            slot = self.nodes[node_id].slot
            assert slot is not None
            if slot.name not in readings:
                optimizer, infix, variable = name.partition(f"'s state '{slot.name}' for ")
                readings[slot.name] = (
                    (set(self._at(optimizer)), set(self._at(variable))) if infix else (set(), set())
                )
            optimizers, variables = readings[slot.name]
            if slot.optimizer in optimizers and slot.variable in variables:
                return node_id
        return None

    def _at(self, dotted: str) -> list[int]:
        """Return the nodes whose first path is spelled so; several where names have dots."""
        found: list[int] = []
        stack = [(ROOT, len("(root)"))] if dotted.startswith("(root)") else []
        while stack:
            node_id, matched = stack.pop()
            if matched == len(dotted):
                found.append(node_id)
                continue
            for local_name, child in reversed(self._first_children[node_id]):
                if dotted.startswith(f".{local_name}", matched):
                    stack.append((child, matched + 1 + len(local_name)))
        return found

    @cached_property
    def _first_children(self) -> list[list[tuple[str, int]]]:
        """For each node: local name and id of those whose first path goes through it."""
        children: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for node_id, (parent, local_name) in self.first_edges.items():
            children[parent].append((local_name, node_id))
        return children

    def _is_declared_slot(self, node_id: int) -> bool:
        slot = self.nodes[node_id].slot
        return slot is not None and slot.rule is SlotRule.DECLARED

    def _unknown(self, name_or_key: str) -> NoSuchTensorError:
        known: list[str] = []
        budget = _MAX_COMPARED
        for node_id, node in enumerate(self.nodes):
            # What nothing leads to has a name, but is not found by it.
            is_found = bool(node.attributes) and (node_id == ROOT or node_id in self.first_edges)
            names = [self.name(node_id)] if is_found else []
            names += [attribute.checkpoint_key for attribute in node.attributes]
            known += names
            budget -= sum(map(len, names))
            if budget < 0:
                break
        close = get_close_matches(name_or_key, known, n=3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        return NoSuchTensorError(
            f"{self.title}: no tensor {name_or_key!r}; expected a checkpoint key or the name "
            f"of a node{hint}"
        )

    def _dotted(self, node_id: int) -> str:
        """Return a node's first breadth-first path, as TensorFlow prints it."""
        names: list[str] = []
        start = node_id
        while node_id != ROOT:
            if node_id not in self.first_edges:
                return f"(unreachable node {start})"
            node_id, local_name = self.first_edges[node_id]
            names.append(local_name)
        return ".".join(("(root)", *reversed(names)))


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

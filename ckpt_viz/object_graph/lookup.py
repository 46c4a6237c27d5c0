"""The nodes that a name means: TensorFlow's name, a path, the name of a layer or of a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from ckpt_viz.object_graph.layers import Layers
from ckpt_viz.object_graph.names import ROOT_NAME, STATE_OF, tensorflow_state
from ckpt_viz.object_graph.nodes import ROOT, Node, SlotRule
from ckpt_viz.object_graph.tree import Tree

_Edges = Callable[[int], Iterable[tuple[str, int]]]


class Lookup:
    """The names of a graph's nodes. A search is linear in the size of the graph, however deep."""

    def __init__(
        self,
        nodes: Sequence[Node],
        first_edges: Mapping[int, tuple[int, str]],
        tree: Tree,
        layers: Callable[[], Layers],
    ) -> None:
        self._nodes, self._first_edges, self._tree = nodes, first_edges, tree
        self._layers = layers

    def first_named(self, name: str) -> int | None:
        """Return the first node with this name of TensorFlow's, as `Graph.name` gives it."""
        for node_id in self._along(name, ROOT_NAME, ".", self._first_children.__getitem__):
            if not self._is_declared_slot(node_id):
                return node_id
        return self._declared_slot(name) if STATE_OF in name else None

    def meant(self, name: str) -> Sequence[int]:
        """Return the nodes that a person may mean: all of the first kind of name that fits any.

        The kinds are: TensorFlow's name; a path along any edges, `(root).net.l1`, `net.l1` or
        `net/l1`; the name of a layer; the full name of a variable, also with its output, `w:0`.
        """
        first = self.first_named(name)
        if first is not None:
            return [first]
        full_name = name.removesuffix(":0")
        return (
            self._along(name, ROOT_NAME, ".", self._edges)
            or self._along(name, "", ".", self._edges)
            or self._along(name, "", "/", self._edges)
            or [i for i, own in enumerate(self._layers().names[: len(self._nodes)]) if own == name]
            or [
                node_id
                for node_id, node in enumerate(self._nodes)
                if any(a.full_name == full_name for a in node.attributes)
            ]
        )

    def _along(self, text: str, root: str, separator: str, edges: _Edges) -> list[int]:
        """Return the nodes whose local names along the edges make up a text.

        There are several if names contain the separator.
        """
        if not text or not text.startswith(root):
            return []
        node_ids: dict[int, None] = {}
        stack = [(ROOT, len(root))]
        seen = set(stack)
        while stack:
            node_id, at = stack.pop()
            if at == len(text):
                node_ids[node_id] = None
                continue
            following = []
            for local_name, child in edges(node_id):
                step = local_name if at == 0 else f"{separator}{local_name}"
                if text.startswith(step, at) and (child, at + len(step)) not in seen:
                    following.append((child, at + len(step)))
            seen.update(following)
            stack.extend(reversed(following))
        return list(node_ids)

    def _edges(self, node_id: int) -> Iterable[tuple[str, int]]:
        """Return a node's edges, and its children in the outline: slots have no edge."""
        own = [(self._tree.labels[child], child) for child in self._tree.children[node_id]]
        return [*self._nodes[node_id].children, *own]

    def _declared_slot(self, name: str) -> int | None:
        """Return the slot of a name such as `(root).opt's state 'm' for (root).kernel`."""
        readings: dict[str, tuple[set[int], set[int]]] = {}
        for node_id in filter(self._is_declared_slot, self._first_edges):
            slot = self._nodes[node_id].slot
            assert slot is not None
            if slot.name not in readings:
                optimizer, infix, variable = name.partition(tensorflow_state("", slot.name, ""))
                sides = (self._first(optimizer), self._first(variable)) if infix else (set(), set())
                readings[slot.name] = sides
            optimizers, variables = readings[slot.name]
            if slot.optimizer in optimizers and slot.variable in variables:
                return node_id
        return None

    def _first(self, name: str) -> set[int]:
        return set(self._along(name, ROOT_NAME, ".", self._first_children.__getitem__))

    @cached_property
    def _first_children(self) -> list[list[tuple[str, int]]]:
        """For each node: local name and id of those whose first path goes through it."""
        children: list[list[tuple[str, int]]] = [[] for _ in self._nodes]
        for node_id, (parent, local_name) in self._first_edges.items():
            children[parent].append((local_name, node_id))
        return children

    def _is_declared_slot(self, node_id: int) -> bool:
        slot = self._nodes[node_id].slot
        return slot is not None and slot.rule is SlotRule.DECLARED

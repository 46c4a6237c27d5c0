"""The spanning tree that people see as the object graph: outline, drawing, terminal.

Two thirds of the nodes of a Keras model have several parents. TensorFlow often saves under a path
that a reader would not look for: `optimizer._trainable_variables.0` for a layer's kernel. The tree
gives every node one place, the most natural of its paths; the other edges are aliases.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role

NOWHERE = -1
# What Keras 2 adds to each layer of a SavedModel; below it, variables have their second place.
_KERAS_API = "keras_api"
_EXPORTED = (_KERAS_API, "variables", "trainable_variables", "non_trainable_variables")
_VARIABLES = "_variables"  # an optimizer's list of all its variables
Edge = tuple[int, str]
"""The parent that an edge starts from, and its local name."""


@dataclass(frozen=True)
class Tree:
    """A place for every node, by node id.

    `parents` and `labels` identify the edge that leads to a node; the root's parent is NOWHERE.
    `children` keeps the order of the parent's edges; slot variables come last, below their
    variable. A node that no edge leads to is below the root.
    """

    parents: tuple[int, ...]
    labels: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]

    def preorder(self) -> Iterator[int]:
        """Yield every node id, parents before children."""
        return iter(self._parents_first)

    @cached_property
    def _parents_first(self) -> tuple[int, ...]:
        return tuple(walks.below(self.children))

    def below(self, top: int) -> Iterator[int]:
        """Yield a node and all that is below it, parents before children."""
        return walks.below(self.children, top)

    def above(self, node_id: int) -> Iterator[int]:
        """Yield what is above a node, from its parent to the root."""
        return walks.above(self.parents, node_id)


def spanning_tree(nodes: Sequence[Node]) -> Tree:
    """Return the tree of the most natural paths.

    The rules in order: the most natural path passes the least bookkeeping, to which the lists in a
    SavedModel of Keras 2 belong; fewest of its edges leave an optimizer; it has the fewest private
    local names; it is the shortest. Between equals the saved order decides. These costs add up
    along a path, so the tree is one of cheapest paths (Dijkstra 1959). Only bookkeeping is below
    bookkeeping.
    """
    parents = [NOWHERE] * len(nodes)
    labels = [""] * len(nodes)
    placed = [_stands_with_its_variable(nodes, node) for node in nodes]
    placed[ROOT] = False
    exported = exported_lists(nodes)
    # As digits of one number: no path has as many edges as the base.
    of_private, of_optimizer, of_bookkeeping = (len(nodes) ** place for place in (1, 2, 3))
    queue: list[tuple[int, int, int, int, str]] = [(0, 0, ROOT, NOWHERE, "")]
    pushed = 0
    while queue:
        cost, _, node_id, parent, label = heapq.heappop(queue)
        if placed[node_id]:
            continue
        placed[node_id], parents[node_id], labels[node_id] = True, parent, label
        role = nodes[node_id].role
        cost += 1 + of_optimizer * (role is Role.OPTIMIZER)
        cost += of_bookkeeping * (node_id in exported or role is Role.BOOKKEEPING)
        for local_name, child in nodes[node_id].children:
            if not placed[child]:
                pushed += 1
                total = cost + of_private if local_name.startswith("_") else cost
                heapq.heappush(queue, (total, pushed, child, node_id, local_name))
    own_edges: dict[int, dict[int, str]] = {}
    for node_id, node in enumerate(nodes):
        if node_id != ROOT and parents[node_id] == NOWHERE:
            if node.slot is not None and _stands_with_its_variable(nodes, node):
                parents[node_id] = node.slot.variable
                labels[node_id] = _edges_of(nodes, node.slot.variable, own_edges).get(
                    node_id, node.slot.name
                )
            else:
                parents[node_id], labels[node_id] = ROOT, f"(unreachable node {node_id})"
    return Tree(tuple(parents), tuple(labels), _children(nodes, parents, labels))


def last_edges(
    tree: Tree, edges_to: Sequence[Sequence[Edge]], breadth_first: Iterable[int]
) -> dict[int, Edge]:
    """Return, by node that edges lead to from the root, the last edge of its most natural path.

    That is the path in the outline, as far as edges make it: none leads to a slot variable below
    its variable. Each edge starts at the root or at a node that has an edge already, so every walk
    along them towards the root ends. Circles and unreachable parts of a file have no way in.

    Args:
        tree: The outline.
        edges_to: All edges to each node.
        breadth_first: The nodes that the root reaches, in the order of a breadth-first walk.
    """
    links: dict[int, Edge] = {}
    for node in tree.preorder():
        own = tree.parents[node], tree.labels[node]
        if (own[0] == ROOT or own[0] in links) and own in edges_to[node]:
            links[node] = own
    for node in breadth_first:
        if node not in links:
            edges = [edge for edge in edges_to[node] if edge[0] == ROOT or edge[0] in links]
            # A slot's own list in the optimizer is clearer than that of all its variables.
            own_lists = [edge for edge in edges if tree.labels[edge[0]] != _VARIABLES]
            if edges:
                links[node] = (own_lists or edges)[0]
    return links


def exported_lists(nodes: Sequence[Node]) -> set[int]:
    """Return the lists of variables that Keras 2 adds to the layers of a SavedModel."""
    return {
        child.node_id
        for node in nodes
        if _KERAS_API in [child.local_name for child in node.children]
        for child in node.children
        if child.local_name in _EXPORTED
    }


def _stands_with_its_variable(nodes: Sequence[Node], node: Node) -> bool:
    # A hostile file can declare slots of slots, even in circles; those remain ordinary nodes.
    return node.slot is not None and nodes[node.slot.variable].role is Role.VARIABLE


def _edges_of(
    nodes: Sequence[Node], variable: int, known: dict[int, dict[int, str]]
) -> dict[int, str]:
    """Return a variable's local names by child; `known` caches those of other variables.

    A slot of a name-based checkpoint is a child of its variable: `w/Adam`.
    """
    if variable not in known:
        known[variable] = {c.node_id: c.local_name for c in reversed(nodes[variable].children)}
    return known[variable]


def _children(
    nodes: Sequence[Node], parents: Sequence[int], labels: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    """Return each node's children: in the order of its edges, then the children without an edge."""
    children: list[dict[int, None]] = [{} for _ in nodes]
    for node_id, node in enumerate(nodes):
        for local_name, target in node.children:
            if parents[target] == node_id and labels[target] == local_name:
                children[node_id][target] = None
    for node_id, parent in enumerate(parents):
        if parent != NOWHERE:
            children[parent].setdefault(node_id)
    return tuple(map(tuple, children))


def edges_to(nodes: Sequence[Node]) -> tuple[tuple[Edge, ...], ...]:
    """Return for each node the parent and the local name of every edge that leads to it."""
    edges: list[list[Edge]] = [[] for _ in nodes]
    for parent, node in enumerate(nodes):
        for child in node.children:
            edges[child.node_id].append((parent, child.local_name))
    return tuple(map(tuple, edges))


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

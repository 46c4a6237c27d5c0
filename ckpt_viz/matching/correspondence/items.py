"""An object graph as an ordered tree of items that hold values.

Optimizers, slot variables and the `save_counter` are no items. A list of variables that only an
optimizer tracks is a child of the root. The list of a model's layers in Keras' files is no item,
either: it has the layers to which no attribute leads that sorts before `layers`. A chain of nodes
with one child each is one item, so a wrapper that holds nothing else does not count. An item is the
last node of its chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from ckpt_viz.graphs.nodes.keras_variables import (
    is_of_every_layer,
    is_of_keras,
    order_of_parts,
)
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.graphs.slots.keras_optimizers import TRAINABLE
from ckpt_viz.matching.engines.keras_sides import LISTS_OF_LAYERS
from ckpt_viz.matching.name_rules.names import canonical

OUTSIDE = -1  # the parent of the root
Value = tuple[Hashable, ...]


class PlacedTree(Protocol):
    """The tree of a graph: parents, local names and children by node."""

    @property
    def parents(self) -> Sequence[int]:
        """The parent of each node."""

    @property
    def labels(self) -> Sequence[str]:
        """The local name that leads to each node."""

    @property
    def children(self) -> Sequence[Sequence[int]]:
        """The children of each node, in order."""

    def preorder(self) -> Iterator[int]:
        """Yield the nodes, parents first."""


class GraphInTree(Protocol):
    """A graph with one tree: its own, or that of the scopes in its variables' full names."""

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes."""

    @property
    def tree(self) -> PlacedTree:
        """The tree of the nodes."""

    @property
    def save_counter(self) -> int | None:
        """The node of the `save_counter`."""


def value_of(node: Node) -> Value | None:
    """Return what a node holds, with dtypes and shapes; None if it holds nothing."""
    if not has_value(node):
        return None
    layout = tuple([(a.name, a.dtype, a.shape) for a in node.attributes])
    if {name for name, *_ in layout} != {"VARIABLE_VALUE"}:
        # Only the object's own code knows what it takes.
        return node.registered_saver, tuple([name for name, *_ in layout])
    return node.registered_saver, layout


def are_of_other_layers(saved: GraphInTree, node: int, live: GraphInTree, obj: int) -> bool:
    """Return whether Keras calls two values otherwise: no kernel becomes a gamma.

    Only a class of a person's own can call one value by several such names.
    """
    names = canonical(saved.tree.labels[node]), canonical(live.tree.labels[obj])
    if names[0] == names[1] or not all(map(is_of_every_layer, names)):
        return False
    holders = saved.nodes[saved.tree.parents[node]], live.nodes[live.tree.parents[obj]]
    return all(each.type_name is None or is_of_keras(each.type_name) for each in holders)


@dataclass(frozen=True)
class Items:
    """The items of a graph, in preorder, with what leads to them and how much they hold.

    `lists` has the lists of layers that are no items, with the node that has each.
    """

    order: Sequence[int]
    parent: Mapping[int, int]
    children: Mapping[int, Sequence[int]]
    chain: Mapping[int, Sequence[int]]
    place: Mapping[int, int]
    size: Mapping[int, int]
    value: Mapping[int, Value | None]
    units: Set[int]
    in_optimizers: Set[int]
    lists: Mapping[int, int]

    @property
    def root(self) -> int:
        """The item of the graph's root."""
        return self.order[0]

    def is_unit(self, item: int) -> bool:
        """Return whether an item has values directly below it, as a layer has."""
        return item in self.units


def items_of(graph: GraphInTree) -> Items:
    """Return the items of a graph."""
    in_optimizers, lists = _in_optimizers(graph), _lists_of_layers(graph)
    parents = _parents(graph, in_optimizers, lists)
    value = {node: value_of(graph.nodes[node]) for node in parents}
    size = _sizes(parents, value)
    children: defaultdict[int, list[int]] = defaultdict(list)
    for node, parent in parents.items():
        if size[node]:
            children[parent].append(node)
    labels = graph.tree.labels
    for node, below in children.items():
        if len(below) > 1:  # a file of Keras has its groups in alphabetical order
            order = order_of_parts([labels[child] for child in below], graph.nodes[node].type_name)
            children[node] = [below[i] for i in order]
    return _collapsed(children, value, size, in_optimizers, lists)


def with_values(graph: GraphInTree) -> set[int]:
    """Return the nodes that have a value, or items with values below them."""
    parents, holding = _parents(graph, _in_optimizers(graph), {}), set[int]()
    for node in reversed(parents):
        if node in holding or has_value(graph.nodes[node]):
            holding |= {node, parents[node]}
    return holding - {OUTSIDE}


def _parents(
    graph: GraphInTree, in_optimizers: Set[int], lists: Mapping[int, int]
) -> dict[int, int]:
    """Return the parent of each node that counts, parents first."""
    tree_parents = graph.tree.parents
    counted = (node for node in graph.tree.preorder() if _counts(graph, node, in_optimizers))
    parents: dict[int, int] = {}
    for node in counted:
        above = tree_parents[node]
        parents[node] = ROOT if above in in_optimizers else lists.get(above, above)
    return {node: above for node, above in parents.items() if node not in lists}


def _lists_of_layers(graph: GraphInTree) -> Mapping[int, int]:
    """Return the lists of layers in a graph of Keras' paths, with the node that has each."""
    if not isinstance(graph, Graph) or graph.stored_layout is not Layout.KERAS_PATHS:
        return {}
    holders: dict[int, int] = {}
    for node in graph.tree.preorder():
        above = graph.tree.parents[node]
        is_list = graph.nodes[node].role is Role.CONTAINER
        if is_list and node != ROOT and graph.tree.labels[node] in LISTS_OF_LAYERS:
            holders[node] = holders.get(above, above)
    return holders


def _counts(graph: GraphInTree, node: int, in_optimizers: Set[int]) -> bool:
    if node == ROOT:
        return True  # a hostile file can declare it a slot, or a counter
    if node in in_optimizers or node == graph.save_counter:
        return False
    return graph.nodes[node].slot is None


def _in_optimizers(graph: GraphInTree) -> set[int]:
    """Return the optimizers, and the nodes whose place is below an optimizer."""
    nodes, parents, labels = graph.nodes, graph.tree.parents, graph.tree.labels
    below: set[int] = set()
    for node in graph.tree.preorder():
        is_optimizer = nodes[node].role is Role.OPTIMIZER
        is_below = parents[node] in below and labels[node] != TRAINABLE
        if (is_optimizer or is_below) and node != ROOT:
            below.add(node)
    return below


def _sizes(parents: dict[int, int], value: Mapping[int, Value | None]) -> Mapping[int, int]:
    size: dict[int, int] = defaultdict(int)
    for node in reversed(parents):
        size[node] += value[node] is not None
        size[parents[node]] += size[node]
    return size


def _collapsed(
    children: defaultdict[int, list[int]],
    value: Mapping[int, Value | None],
    size: Mapping[int, int],
    in_optimizers: Set[int],
    lists: Mapping[int, int],
) -> Items:
    """Join each chain to one item."""
    parent: dict[int, int] = {}
    chains: dict[int, Sequence[int]] = {}
    kept: dict[int, list[int]] = {}
    order: list[int] = []
    stack = [(ROOT, OUTSIDE)]
    while stack:
        node, above = stack.pop()
        chain = _chain(node, children, value)
        item = chain[-1]
        parent[item], chains[item], kept[item] = above, chain, []
        order.append(item)
        if above != OUTSIDE:
            kept[above].append(item)
        stack.extend([(child, item) for child in reversed(children.get(item, ()))])
    place = {item: number for number, item in enumerate(order)}
    units = {parent[item] for item in order if not kept[item]}
    return Items(order, parent, kept, chains, place, size, value, units, in_optimizers, lists)


def _chain(
    node: int, children: defaultdict[int, list[int]], value: Mapping[int, Value | None]
) -> list[int]:
    """Return the nodes from one down to the first with a value of its own, or several children.

    A layer with one variable is no chain: the variable is its only child. The root is a level of
    its own, however many parts a program tracks.
    """
    chain = [node]
    while node != ROOT and value[chain[-1]] is None and len(children[chain[-1]]) == 1:
        (child,) = children[chain[-1]]
        below = children[child]
        if not below or not all(children[inner] for inner in below):
            break
        chain.append(child)
    return chain

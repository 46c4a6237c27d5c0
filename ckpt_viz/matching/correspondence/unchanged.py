"""A program that has not changed since it was saved: each part is where a plain restore binds it.

Most restores are of this kind, and no evidence can speak against any of their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from operator import itemgetter

from ckpt_viz.graphs.nodes.nodes import ROOT, Node
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.name_rules.full_names import FullNames


def is_unchanged(
    saved: Graph, live: Graph, bound: Mapping[int, int], *, in_order: bool = False
) -> bool:
    """Return whether a plain restore binds equal parts one to one, and leaves none.

    `bound` has the live object of each saved node. Parts are equal if their values and edges are,
    and their names but for the numbers that Keras adds. Edges may have another order, unless they
    have to be `in_order`. The `save_counter` does not count.
    """
    nodes, objects = _counted(saved), _counted(live)
    if len(nodes) != len(objects) or objects != {bound.get(node) for node in nodes}:
        return False
    names = _NameLooks(live)
    return all(
        names.are_equal(saved.nodes[node], live.nodes[bound[node]])
        and _have_equal_edges((saved, node), (live, bound[node]), bound, in_order=in_order)
        for node in nodes
    )


def pairs_as_bound(saved: Graph, bound: Mapping[int, int]) -> Iterator[Pair]:
    """Yield each saved node with the live object that a plain restore binds it to."""
    for node in saved.tree.preorder():
        if node in bound:
            yield Pair(node, bound[node], Certainty.CERTAIN, Evidence.PLACE)


def _counted(graph: Graph) -> set[int]:
    """Return the nodes that edges lead to, without the `save_counter`."""
    return {ROOT, *graph.first_edges} - {graph.save_counter}


class _NameLooks:
    """Compares values and their names, without the numbers that Keras adds."""

    def __init__(self, live: Graph) -> None:
        self._live = live

    @cached_property
    def _names(self) -> FullNames:
        return FullNames.of(self._live)

    @cached_property
    def _plain(self) -> Callable[[str], str]:
        return cache(self._names.plain)

    @cached_property
    def _plain_state(self) -> Callable[[str], str]:
        return cache(self._names.plain_state)

    def are_equal(self, node: Node, obj: Node) -> bool:
        """Return whether two nodes have equal values, under equal names as far as both have any."""
        return (
            values_of(node) == values_of(obj)
            and self._have_equal_names(node, obj)
            and (node.own_name is obj.own_name or self._own(node) in (self._own(obj), None))
        )

    def _have_equal_names(self, node: Node, obj: Node) -> bool:
        names = [attribute.full_name for attribute in node.attributes]
        live_names = [attribute.full_name for attribute in obj.attributes]
        is_slot = node.slot is not None
        if names == live_names and is_slot == (obj.slot is not None):
            return True
        return self._of_values(node) == self._of_values(obj)

    def _of_values(self, node: Node) -> list[str]:
        names = [attribute.full_name.removesuffix(":0") for attribute in node.attributes]
        if node.slot is None:
            return [self._plain(name) for name in names]
        return [
            f"{self._plain(name.rpartition('/')[0])}/{self._plain_state(name)}" for name in names
        ]

    def _own(self, node: Node) -> str | None:
        return node.own_name and self._plain(node.own_name)


def _have_equal_edges(
    saved: tuple[Graph, int], live: tuple[Graph, int], bound: Mapping[int, int], *, in_order: bool
) -> bool:
    """Return whether the edges of a node lead to what those of its object do.

    A slot variable is one of the same variable and optimizer then.
    """
    edges = [(name, bound.get(child)) for name, child in _children(*saved)]
    live_edges = [*_children(*live)]
    if edges != live_edges and (
        in_order or sorted(edges, key=_name) != sorted(live_edges, key=_name)
    ):
        return False
    slot, live_slot = (graph.nodes[node].slot for graph, node in (saved, live))
    if slot is None or live_slot is None:
        return slot is live_slot
    optimizer = None if slot.optimizer is None else bound.get(slot.optimizer)
    return (
        slot.name == live_slot.name
        and bound.get(slot.variable) == live_slot.variable
        and optimizer == live_slot.optimizer
    )


def _children(graph: Graph, node: int) -> Iterator[tuple[str, int]]:
    children = graph.nodes[node].children
    return (child for child in children if child.node_id != graph.save_counter)


_name = itemgetter(0)

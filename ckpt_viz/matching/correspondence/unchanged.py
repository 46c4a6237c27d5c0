"""A program that has not changed since it was saved: each part is where a plain restore binds it.

Most restores are of this kind, and no evidence can speak against any of their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from ckpt_viz.graphs.nodes.nodes import ROOT, Node
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.full_names import FullNames
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair


def is_unchanged(saved: Graph, live: Graph, bound: Mapping[int, int]) -> bool:
    """Return whether a plain restore binds equal parts one to one, and leaves none.

    `bound` has the live object of each saved node. Parts are equal if their values and edges are,
    and their names but for the numbers that Keras adds. The `save_counter` does not count.
    """
    nodes, objects = _counted(saved), _counted(live)
    if len(nodes) != len(objects) or objects != {bound.get(node) for node in nodes}:
        return False
    names = _NameLooks(FullNames.of(live))
    return all(
        names.are_equal(saved.nodes[node], live.nodes[bound[node]])
        and _edges(saved, node, bound.get) == _edges(live, bound[node], lambda obj: obj)
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

    def __init__(self, names: FullNames) -> None:
        self.plain, self.plain_state = cache(names.plain), cache(names.plain_state)

    def are_equal(self, node: Node, obj: Node) -> bool:
        """Return whether two nodes have equal values, under equal names as far as both have any."""
        return (
            values_of(node) == values_of(obj)
            and self._of_values(node) == self._of_values(obj)
            and self._own(node) in (self._own(obj), None)
        )

    def _of_values(self, node: Node) -> list[str]:
        names = [attribute.full_name.removesuffix(":0") for attribute in node.attributes]
        if node.slot is None:
            return [self.plain(name) for name in names]
        return [f"{self.plain(name.rpartition('/')[0])}/{self.plain_state(name)}" for name in names]

    def _own(self, node: Node) -> str | None:
        return node.own_name and self.plain(node.own_name)


def _edges(graph: Graph, node: int, object_of: Callable[[int], int | None]) -> object:
    """Return where the edges of a node lead in the program, and what it is a slot variable of."""
    slot = graph.nodes[node].slot
    owners = (slot.variable, slot.optimizer) if slot is not None else ()
    children = [
        (child.local_name, object_of(child.node_id))
        for child in graph.nodes[node].children
        if child.node_id != graph.save_counter
    ]
    return (
        sorted(children, key=lambda edge: edge[0]),
        [None if owner is None else object_of(owner) for owner in owners],
        slot and slot.name,
    )

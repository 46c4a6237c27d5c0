"""The same node in another graph: by its place in the outline."""

from __future__ import annotations

from collections.abc import Callable

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import NamedGraph


def same_places(before: NamedGraph, after: NamedGraph) -> Callable[[int], int | None]:
    """Return a lookup of one graph's nodes in the other, by the local names that lead to them.

    The view does the same (labextension/src/state/again.ts, `placesIn`). The lookup gives None for
    a node that the other graph lacks.
    """
    known: dict[int, int | None] = {ROOT: ROOT}
    children: dict[int, dict[str, int]] = {}

    def child(parent: int, label: str) -> int | None:
        if parent not in children:
            tree = after.tree
            children[parent] = {tree.labels[child]: child for child in tree.children[parent]}
        return children[parent].get(label)

    def placed(node_id: int) -> int | None:
        way = []
        while node_id not in known:
            way.append(node_id)
            node_id = before.tree.parents[node_id]
        place = known[node_id]
        for step in reversed(way):
            place = None if place is None else child(place, before.tree.labels[step])
            known[step] = place
        return place

    return placed

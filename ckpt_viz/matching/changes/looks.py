"""How parts look: the names and shapes of their values."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.nodes.printed_names import NamedGraph


def have_doubles(graph: NamedGraph, parts: Sequence[int]) -> bool:
    """Return whether each part has another beside it whose values have its names and shapes."""
    beside = graph.tree.children[graph.tree.parents[parts[0]]]
    here = {*parts}
    looks = {tuple(look_of(graph, part)) for part in beside if part not in here}
    return all(tuple(look_of(graph, part)) in looks for part in parts)


def look_of(graph: NamedGraph, top: int) -> Sequence[object]:
    """Return what parts that look alike have in common."""
    below = (graph.nodes[node] for node in graph.tree.below(top))
    return [(a.name, a.shape) for node in below if node.slot is None for a in node.attributes]

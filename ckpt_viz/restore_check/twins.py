"""Parts of equal structure: which are left over, and which belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckpt_viz.correspondence.signatures import Alike
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.name_evidence import paired_by_name
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.restore_check.case import Case

_MAX_NAMES = 16  # of a path, from its end


def _last_names(graph: Graph, node: int) -> list[str]:
    """Return the end of a node's path: a path may be as long as the graph."""
    names: list[str] = []
    while node != ROOT and len(names) < _MAX_NAMES:
        names.append(graph.tree.labels[node])
        node = graph.tree.parents[node]
    return names[::-1]


def paired_twins(case: Case, nodes: Sequence[int], objects: Sequence[int]) -> Mapping[int, int]:
    """Return which parts belong together, judged by their names and their variables' names.

    Empty if the two contradict each other.
    """
    names = (
        [_last_names(case.saved, node) for node in nodes],
        [_last_names(case.live, obj) for obj in objects],
    )
    by_name = {nodes[i]: objects[j] for i, j in paired_by_name(*names).items()}
    by_full_name = _by_full_names(case, nodes, objects)
    found = {**by_full_name, **by_name}
    agrees = all(by_full_name.get(node, obj) == obj for node, obj in by_name.items())
    return found if agrees and len(set(found.values())) == len(found) else {}


def _by_full_names(case: Case, nodes: Sequence[int], objects: Sequence[int]) -> dict[int, int]:
    """Return pairs whose variables have the same full names, which no other node has."""
    looks: dict[int | None, Alike] = {}
    for node in nodes:
        looks.setdefault(
            case.signatures.of_saved(node, with_names=True), Alike([], [])
        ).nodes.append(node)
    for obj in objects:
        looks.setdefault(
            case.signatures.of_live(obj, with_names=True), Alike([], [])
        ).objects.append(obj)
    return {
        alike.nodes[0]: alike.objects[0]
        for look, alike in looks.items()
        if look is not None and len(alike.nodes) == len(alike.objects) == 1
    }

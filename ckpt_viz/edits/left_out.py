"""What edits have left out of a graph."""

from __future__ import annotations

from typing import NamedTuple

from ckpt_viz.edits.edited_access import first_graph, origins_of
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, has_value


class OmittedParts(NamedTuple):
    """What edits have left out.

    Attributes:
        parts: By its name before the edits, each largest part of which no value is left, and how
            many values it had. They are in the order of the outline.
        slots: How many slot variables are gone with their optimizer, their variable or alone.
    """

    parts: dict[str, int]
    slots: int


def left_out_of(graph: Graph) -> OmittedParts:
    """Return what is in the graph before all edits and not in this one."""
    first = first_graph(graph)
    left = {origin.node for origin in origins_of(graph) if not origin.is_copy}
    tree, nodes = first.tree, first.nodes
    order = [*tree.preorder()]
    values, kept, slots = [0] * len(nodes), [0] * len(nodes), 0
    for node in reversed(order):
        if nodes[node].slot is not None:
            slots += has_value(nodes[node]) and node not in left
        elif has_value(nodes[node]):
            values[node] += 1
            kept[node] += node in left
        if node != ROOT:
            values[tree.parents[node]] += values[node]
            kept[tree.parents[node]] += kept[node]
    is_gone = [bool(values[node]) and not kept[node] for node in range(len(nodes))]
    tops = (n for n in order if is_gone[n] and (n == ROOT or not is_gone[tree.parents[n]]))
    return OmittedParts({first.names.place(node): values[node] for node in tops}, slots)

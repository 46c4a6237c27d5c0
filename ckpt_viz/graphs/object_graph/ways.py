"""The edges that lead to a node from the root: those of the outline, as far as they are real."""

from __future__ import annotations

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph

_SHOWN = 200  # characters of a long name
Edge = tuple[int, str, int]  # parent, local name, child


def way_to(graph: Graph, node_id: int) -> list[Edge]:
    """Return the edges from the root to a node; raises SourceError if there is no such way."""
    edges = list(graph.way_up(node_id))
    if not edges and node_id != ROOT:
        raise SourceError(
            f"{place(graph, node_id)}: no local name leads to it from the root, so no code does"
        )
    return edges[::-1]


def place(graph: Graph, node_id: int) -> str:
    """Return the graph and the name of a node, for errors."""
    return f"{graph.title}: {graph.name(node_id)[:_SHOWN]}"


def is_slot_alone(graph: Graph, node_id: int) -> bool:
    """Return whether only an optimizer's declaration leads to a slot variable, and no edge."""
    slot = graph.nodes[node_id].slot
    return slot is not None and slot.optimizer is not None and not graph.edges_to[node_id]

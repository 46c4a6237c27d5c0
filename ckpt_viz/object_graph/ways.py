"""The edges that lead to a node from the root: those of the outline, as far as they are real."""

from __future__ import annotations

from ckpt_viz.errors import SourceError
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT

_SHOWN = 200  # characters of a long name
Edge = tuple[int, str, int]  # parent, local name, child


def way_to(graph: Graph, node_id: int) -> list[Edge]:
    """Return the edges from the root to a node; raises SourceError if there is no such way."""
    edges: list[Edge] = []
    way = {node_id}
    while node_id != ROOT:
        edge = _edge_to(graph, node_id)
        if edge is None or edge[0] in way:
            raise SourceError(
                f"{place(graph, node_id)}: no local name leads to it from the root, so no code does"
            )
        edges.append((*edge, node_id))
        node_id = edge[0]
        way.add(node_id)
    return edges[::-1]


def place(graph: Graph, node_id: int) -> str:
    """Return the graph and the name of a node, for errors."""
    return f"{graph.title}: {graph.name(node_id)[:_SHOWN]}"


def is_slot_alone(graph: Graph, node_id: int) -> bool:
    """Return whether only an optimizer's declaration leads to a slot variable, and no edge."""
    slot = graph.nodes[node_id].slot
    return slot is not None and slot.optimizer is not None and not graph.edges_to[node_id]


def _edge_to(graph: Graph, node_id: int) -> tuple[int, str] | None:
    own = (graph.tree.parents[node_id], graph.tree.labels[node_id])
    real = graph.edges_to[node_id]
    if own in real:
        return own
    # An inferred slot is below its variable, but no edge leads to it there. Its own list in the
    # optimizer is clearer than the list of all the optimizer's variables.
    own_lists = [edge for edge in real if graph.tree.labels[edge[0]] != "_variables"]
    return next(iter(own_lists or real), None)

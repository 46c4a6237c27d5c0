"""Names of nodes for people to read, of any graph: short ones are TensorFlow's own."""

from __future__ import annotations

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, SlotRule

_MAX_STEPS = 50
_MAX_CHARACTERS = 1000  # as in render.text: more than any name that a person has given


def readable_name(graph: Graph, node_id: int) -> str:
    """Return a node's name, `Graph.name`; of one too deep to read, its end.

    In a chain of 100,000 nodes the names themselves have 25 billion characters.
    """
    slot = graph.nodes[node_id].slot
    if slot is not None and slot.optimizer is not None and slot.rule is SlotRule.DECLARED:
        optimizer, variable = _dotted(graph, slot.optimizer), _dotted(graph, slot.variable)
        return f"{optimizer}'s state '{readable(slot.name)}' for {variable}"
    return _dotted(graph, node_id)


def _dotted(graph: Graph, node_id: int) -> str:
    names: list[str] = []
    characters = 0
    start = node_id
    while node_id != ROOT:
        if node_id not in graph.first_edges:
            return f"(unreachable node {start})"
        if len(names) >= _MAX_STEPS or characters > _MAX_CHARACTERS:
            return ".".join(("(root)…", *reversed(names)))
        node_id, local_name = graph.first_edges[node_id]
        names.append(readable(local_name))
        characters += len(local_name)
    return ".".join(("(root)", *reversed(names)))


def readable(name: str) -> str:
    """Return a name, or the beginning of one that is too long to read."""
    return name if len(name) <= _MAX_CHARACTERS else f"{name[:_MAX_CHARACTERS]}…"

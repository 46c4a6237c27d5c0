"""The names that TensorFlow prints: whole, or cut where they are too long to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ckpt_viz.object_graph.nodes import ROOT, ROOT_NAME, Node, SlotRule

_MAX_STEPS = 50
_MAX_CHARACTERS = 1000  # as in render.text: longer than any name that a person has given

EdgeTo = Callable[[int], tuple[int, str]]
"""Returns the parent of a node, and the name of the edge from there."""


def tensorflow_name(
    nodes: Sequence[Node],
    first_edges: Mapping[int, tuple[int, str]],
    node_id: int,
    *,
    is_cut: bool = False,
) -> str:
    """Return a node's first breadth-first path; of a declared slot variable, whose state it is."""

    def dotted(node_id: int) -> str:
        if node_id != ROOT and node_id not in first_edges:
            return f"(unreachable node {node_id})"
        return spelled(node_id, first_edges.__getitem__, is_cut=is_cut)

    slot = nodes[node_id].slot
    if slot is None or slot.optimizer is None or slot.rule is not SlotRule.DECLARED:
        return dotted(node_id)
    slot_name = readable(slot.name) if is_cut else slot.name
    return f"{dotted(slot.optimizer)}'s state '{slot_name}' for {dotted(slot.variable)}"


def spelled(node_id: int, edge_to: EdgeTo, *, is_cut: bool = True) -> str:
    """Return the path to a node, from `(root)` on; of a cut one that is too deep, only the end."""
    names: list[str] = []
    characters = 0
    while node_id != ROOT:
        if is_cut and (len(names) >= _MAX_STEPS or characters > _MAX_CHARACTERS):
            return ".".join((f"{ROOT_NAME}…", *reversed(names)))
        node_id, local_name = edge_to(node_id)
        names.append(readable(local_name) if is_cut else local_name)
        characters += len(local_name)
    return ".".join((ROOT_NAME, *reversed(names)))


def readable(name: str) -> str:
    """Return a name, or its beginning if it is too long to read."""
    return name if len(name) <= _MAX_CHARACTERS else f"{name[:_MAX_CHARACTERS]}…"

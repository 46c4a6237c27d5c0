"""Pairs of nodes of two graphs that are counterparts.

The pairs are those of a restore that reads a into a program like b. Children pair by their local
names from the roots on, and each node pairs once, with the first node that it meets. Slot variables
pair by variable, optimizer and name. That includes slots that only our rules recognise: a new
variable shifts the indices in an optimizer's lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ckpt_viz.matching.engine import Rules, match
from ckpt_viz.matching.graph_side import GraphSide
from ckpt_viz.matching.saved_graph import SavedGraph
from ckpt_viz.matching.trace import NOTHING, Gathered
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Node, SlotVariable


def pair(a: Graph, b: Graph) -> dict[int, int]:
    """Return the counterpart in b of every node of a that has one; no two share one.

    Graphs of the same nodes pair one to one, whatever edges lead to the nodes.
    """
    if a.nodes == b.nodes:
        return {node_id: node_id for node_id in range(len(a.nodes))}
    trace = match(SavedGraph(_by_slots(a)), _Places(_by_slots(b)), Rules())
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for node_a, node_b in trace.bound.items():
        if node_b not in taken:
            taken.add(node_b)
            pairs[node_a] = node_b
    _pair_slots_with_others(a.nodes, b.nodes, pairs, taken)
    return pairs


class _Places(GraphSide):
    """A graph that answers only which node is at which place."""

    def gather(self, obj: int, node: Node) -> Gathered:
        """Return that a node reads nothing."""
        return NOTHING


def _by_slots(graph: Graph) -> Graph:
    """Return the graph with every slot declared, and without edges to slots."""
    slots = {i: list(n.slot_variables) for i, n in enumerate(graph.nodes) if n.slot_variables}
    for node_id, node in enumerate(graph.nodes):
        slot = node.slot
        # If the optimizer is not in the graph, its name in the file identifies it.
        if slot is not None and slot.rule.inferred and slot.optimizer is not None:
            declared = SlotVariable(slot.name, slot.variable, node_id)
            slots.setdefault(slot.optimizer, []).append(declared)
    hidden = {slot.slot_variable for of_one in slots.values() for slot in of_one}
    nodes = tuple(
        _rearranged(node, hidden, slots.get(node_id, ()))
        for node_id, node in enumerate(graph.nodes)
    )
    return replace(graph, nodes=nodes)


def _rearranged(node: Node, hidden: set[int], slots: Sequence[SlotVariable]) -> Node:
    children = tuple([child for child in node.children if child.node_id not in hidden])
    if not slots and len(children) == len(node.children):
        return node  # most nodes are
    return node._replace(children=children, slot_variables=tuple(slots))


def _pair_slots_with_others(
    a: Sequence[Node], b: Sequence[Node], pairs: dict[int, int], taken: set[int]
) -> None:
    """Pair by place the nodes that are slots in only one graph."""
    queue = deque(pairs)
    while queue:
        node_a = queue.popleft()
        left = _unpaired_children(b[pairs[node_a]], taken)
        if not left:
            continue
        for child in a[node_a].children:
            node_b = left.get(child.local_name)
            if node_b is None or child.node_id in pairs or node_b in taken:
                continue
            if _is_slot(a[child.node_id]) is not _is_slot(b[node_b]):
                pairs[child.node_id] = node_b
                taken.add(node_b)
                queue.append(child.node_id)


def _unpaired_children(node: Node, taken: set[int]) -> Mapping[str, int]:
    children: dict[str, int] = {}
    for child in node.children:
        if child.node_id not in taken:
            children.setdefault(child.local_name, child.node_id)
    return children


def _is_slot(node: Node) -> bool:
    return node.slot is not None

"""What has moved: subtrees that are now in another place, and only there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.object_graph.subtrees import EMPTY, joined, signatures, values_of

_Signatures = Sequence[int | None]


def moved(a: Graph, b: Graph, pairs: Mapping[int, int]) -> dict[int, int]:
    """Return, by node of a, the node of b to which it has moved.

    A subtree has moved if its local names, dtypes and shapes occur exactly once among the unpaired
    nodes of each graph. It moves as a whole, except for its paired nodes. A subtree without a
    value, or one that leads to itself, never counts as moved.
    """
    left_a = [i for i in range(len(a.nodes)) if i not in pairs]
    paired_b = set(pairs.values())
    left_b = [i for i in range(len(b.nodes)) if i not in paired_b]
    if not left_a or not left_b:
        return {}
    offset = len(a.nodes)
    looks = signatures(joined(a.nodes, b.nodes), values_of)
    move = _Move(a.nodes, b.nodes, looks[:offset], looks[offset:], set(left_a), set(left_b))
    once_a, once_b = _once(move.looks_a, left_a), _once(move.looks_b, left_b)
    for look, top in once_a.items():
        if look in once_b:
            move.subtree(top, once_b[look])
    return move.pairs


@dataclass
class _Move:
    """The unpaired nodes of each graph, and those found to have moved."""

    a: Sequence[Node]
    b: Sequence[Node]
    looks_a: _Signatures
    looks_b: _Signatures
    left_a: set[int]
    left_b: set[int]
    pairs: dict[int, int] = field(default_factory=dict)

    def subtree(self, top_a: int, top_b: int) -> None:
        """Move two equal subtrees: pair each node with the node in the same place."""
        stack = [(top_a, top_b)]
        while stack:
            node_a, node_b = stack.pop()
            if node_a not in self.left_a or node_b not in self.left_b:
                continue
            self.left_a.remove(node_a)
            self.left_b.remove(node_b)
            self.pairs[node_a] = node_b
            places: dict[tuple[str, int | None], list[int]] = {}
            for child in reversed(self.b[node_b].children):
                place = child.local_name, self.looks_b[child.node_id]
                places.setdefault(place, []).append(child.node_id)
            for child in self.a[node_a].children:
                same = places.get((child.local_name, self.looks_a[child.node_id]))
                if same:
                    stack.append((child.node_id, same.pop()))


def _once(looks: _Signatures, nodes: Sequence[int]) -> dict[int, int]:
    """Return, by its signature, each node whose signature occurs once."""
    counts = Counter(looks[node_id] for node_id in nodes)
    by_look: dict[int, int] = {}
    for node_id in nodes:
        look = looks[node_id]
        if look is not None and look != EMPTY and counts[look] == 1:
            by_look[look] = node_id
    return by_look

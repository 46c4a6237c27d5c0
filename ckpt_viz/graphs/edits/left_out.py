"""What edits have left out of a graph, in words."""

from __future__ import annotations

from collections.abc import Iterator, Set

from ckpt_viz.graphs.edits.edited_access import origins_of
from ckpt_viz.graphs.edits.union import first_graphs
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import count, listed, printable

_MOST_NAMED = 12


def left_out_in_words(graph: Graph) -> str:
    """Return which values of its sources a graph has no longer: "head (2 values)"; "" for none.

    It names the largest parts of which no value is left, in the order of the outline, and counts
    the slot variables.
    """
    left = {origin.node for origin in origins_of(graph) if not origin.is_copy}
    firsts = [*first_graphs(graph)]
    texts = []
    for top, first in firsts:
        own = {node - top for node in left if node is not None}
        words = listed([*_omitted(first, own)], most=_MOST_NAMED)
        if words:
            texts.append(f"{printable(first.title)}: {words}" if len(firsts) > 1 else words)
    return "; ".join(texts)


def _omitted(first: Graph, left: Set[int]) -> Iterator[str]:
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
    for node in order:
        if is_gone[node] and (node == ROOT or not is_gone[tree.parents[node]]):
            yield f"{printable(first.names.place(node))} ({count(values[node], 'value')})"
    if slots:
        yield count(slots, "slot variable")

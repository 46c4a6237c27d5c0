"""Which node of a saved graph belongs to which of a live graph, wherever a restore puts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ckpt_viz.correspondence.descriptions import described
from ckpt_viz.correspondence.names import ChosenNames
from ckpt_viz.correspondence.optimizers import Optimizers
from ckpt_viz.correspondence.pairing import PairedItems
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.correspondence.states import state_pairs, unsure_states
from ckpt_viz.correspondence.whole_tree import WholeTree
from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT


@dataclass(frozen=True)
class Correspondence:
    """The pairs of a saved graph and a live graph, and what is left on either side.

    Attributes:
        by_node: The pairs, by saved node. Values of a pair may differ in dtype or shape.
        left_saved: The saved nodes without a counterpart.
        left_live: The live objects without a counterpart.
    """

    by_node: Mapping[int, Pair]
    left_saved: tuple[int, ...]
    left_live: tuple[int, ...]


def correspond(saved: Graph, live: Graph) -> Correspondence:
    """Return what belongs together in the object graphs of a checkpoint and a program.

    TensorFlow's own way is the default: what a plain restore binds is a pair, unless names or
    content speak against it.
    """
    is_same = saved.nodes == live.nodes
    pairs = _same(saved) if is_same else gc_paused(lambda: _compared(saved, live))
    taken = {pair.obj for pair in pairs.values()}
    return Correspondence(
        pairs,
        tuple(node for node in range(len(saved.nodes)) if node not in pairs),
        tuple(obj for obj in range(len(live.nodes)) if obj not in taken),
    )


def _same(graph: Graph) -> dict[int, Pair]:
    """Pair each node with itself: the next checkpoint of a training has the same graph."""
    order = graph.tree.preorder()
    return {node: Pair(node, node, Certainty.CERTAIN, Evidence.PLACE) for node in order}


def _compared(saved: Graph, live: Graph) -> dict[int, Pair]:
    chosen = ChosenNames.of(live)
    sides = described(saved, chosen), described(live, chosen)
    paired = PairedItems(*sides, plain_restore(saved, live))
    WholeTree(paired).run()
    Optimizers(paired, saved, live).run()
    for pair in state_pairs(saved, live, dict(paired.by_node)):
        paired.add(*pair)
    unsure = {pair.node: pair for pair in unsure_states(saved, live, paired.by_node)}
    pairs = paired.by_node | unsure
    return {node: pairs[node] for node in saved.tree.preorder() if node in pairs}


def plain_restore(saved: Graph, live: Graph) -> dict[int, int]:
    """Return the live object to which TensorFlow binds each saved node, by local names."""
    bound, queue, taken = {ROOT: ROOT}, [ROOT], {ROOT}
    for node in queue:
        objects = {child.local_name: child.node_id for child in live.nodes[bound[node]].children}
        for child in saved.nodes[node].children:
            obj = objects.get(child.local_name)
            if obj is not None and child.node_id not in bound and obj not in taken:
                bound[child.node_id] = obj
                taken.add(obj)
                queue.append(child.node_id)
    return bound

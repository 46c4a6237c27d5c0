"""Two graphs compared: the state of every node of both, in plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.graph_diff.counterparts import Counterparts, counterparts_of
from ckpt_viz.graph_diff.node_difference import NodeDifference, difference
from ckpt_viz.graph_diff.value_comparison import Comparer, by_checksums
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import State

# The states of a pair that differs.
CHANGED = (State.ROLE, State.DTYPE, State.SHAPE, State.VALUE)


@dataclass(frozen=True)
class Compared(Counterparts):
    """The state of every node of both graphs.

    `differences` holds, by node of a, how the nodes of a pair in one place differ. All nodes
    without a counterpart are in one graph only.
    """

    differences: Mapping[int, NodeDifference]
    states_a: Sequence[State]
    states_b: Sequence[State]

    @property
    def is_equal(self) -> bool:
        """Whether every node of both has an equal counterpart."""
        return {*self.states_a, *self.states_b} <= {State.MATCHED}


def compare(a: Graph, b: Graph) -> Compared:
    """Return how two graphs differ, node by node; of values, what the checksums say."""
    return judged(a, b, counterparts_of(a, b), by_checksums(a, b))


def judged(a: Graph, b: Graph, counterparts: Counterparts, differ: Comparer) -> Compared:
    """Return how counterparts differ; `differ` decides whether their values do."""
    pairs, moved = counterparts.pairs, counterparts.moved
    differences = {
        node_a: difference(a.nodes[node_a], b.nodes[node_b], differ)
        for node_a, node_b in pairs.items()
    }
    states_a = [State.ONLY_A] * len(a.nodes)
    states_b = [State.ONLY_B] * len(b.nodes)
    for node_a, node_b in pairs.items():
        states_a[node_a] = states_b[node_b] = differences[node_a].state
    for pair in moved.values():
        states_a[pair.node] = states_b[pair.obj] = State.MOVED
    return Compared(pairs, moved, counterparts.guesses, differences, states_a, states_b)

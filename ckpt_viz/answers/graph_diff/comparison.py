"""Two graphs compared: the state of every node of both, in plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.answers.graph_diff.counterparts import (
    Counterparts,
    LoadWay,
    compares_names,
    counterparts_of,
)
from ckpt_viz.answers.graph_diff.node_difference import NodeDifference, difference
from ckpt_viz.answers.graph_diff.value_comparison import Comparer, by_checksums
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph, Origin
from ckpt_viz.graphs.overlay.overlay import State

# The states of a pair that differs.
CHANGED = (State.ROLE, State.DTYPE, State.SHAPE, State.VALUE)


@dataclass(frozen=True)
class Compared(Counterparts):
    """The state of every node of both graphs.

    `differences` holds, by node of a, how the nodes of a pair in one place differ. All nodes
    without a counterpart are in one graph only. Those without values are PLAIN if the graphs have
    other layouts.
    """

    differences: Mapping[int, NodeDifference]
    states_a: Sequence[State]
    states_b: Sequence[State]

    @property
    def is_equal(self) -> bool:
        """Whether every node of both has an equal counterpart."""
        return {*self.states_a, *self.states_b} <= {State.MATCHED, State.PLAIN}


def compare(a: Graph, b: Graph, way: LoadWay | None = None) -> Compared:
    """Return how two graphs differ, node by node; of values, what the checksums say."""
    return judged(a, b, counterparts_of(a, b, way), by_checksums(a, b))


def judged(a: Graph, b: Graph, counterparts: Counterparts, differ: Comparer) -> Compared:
    """Return how counterparts differ; `differ` decides whether their values do."""
    pairs, moved = counterparts.pairs, counterparts.moved
    are_slots_known = not (a.is_of_keras or b.is_of_keras)
    differences = {
        node_a: difference(
            a.nodes[node_a], b.nodes[node_b], differ, are_slots_known=are_slots_known
        )
        for node_a, node_b in pairs.items()
    }
    anywhere, is_of_other_layout = counterparts.anywhere, compares_names(a, b)
    unheld = counterparts.unheld
    states_a = _alone(a, State.ONLY_A, anywhere, unheld, is_of_other_layout)
    states_b = _alone(b, State.ONLY_B, {*anywhere.values()}, unheld, is_of_other_layout)
    for node_a, node_b in pairs.items():
        states_a[node_a] = states_b[node_b] = differences[node_a].state
    for pair in moved.values():
        states_a[pair.node] = states_b[pair.obj] = State.MOVED
    return Compared(
        pairs, moved, counterparts.guesses, counterparts.unheld, differences, states_a, states_b
    )


def _alone(
    graph: Graph,
    state: State,
    paired: Collection[int],
    unheld: Collection[int],
    is_of_other_layout: bool,
) -> list[State]:
    """Return the states of nodes without counterparts.

    What holds no values but counterparts, and those that the other layout cannot hold, belongs to
    the layout.
    """
    states = [state] * len(graph.nodes)
    if is_of_other_layout:
        alone, holding = set[int](), set(paired)
        unheld = unheld if graph.origin is Origin.LIVE else ()
        for node_id in reversed([*graph.tree.preorder()]):
            is_value, above = has_value(graph.nodes[node_id]), graph.tree.parents[node_id]
            if node_id in holding:
                holding.add(above)
            if node_id in alone or (is_value and node_id not in unheld):
                alone.add(above)
            if node_id in unheld if is_value else node_id in holding or node_id not in alone:
                states[node_id] = State.PLAIN
    return states

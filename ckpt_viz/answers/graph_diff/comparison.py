"""Two graphs compared: the state of every node of both, in plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.answers.graph_diff.counterparts import (
    Counterparts,
    LoadWay,
    compares_names,
    counterparts_of,
)
from ckpt_viz.answers.graph_diff.node_difference import NodeDifference, difference
from ckpt_viz.answers.graph_diff.value_comparison import Comparer, by_checksums
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import State

# The states of a pair that differs.
CHANGED = (State.ROLE, State.DTYPE, State.SHAPE, State.VALUE)
# What a pair in two places tells first: a value that no restore can take, wherever it is.
_WORSE_THAN_MOVED = (State.DTYPE, State.SHAPE)


class CommonValues(NamedTuple):
    """How many values both graphs have, in the same place or moved, and how many of them differ."""

    all: int
    numbers: int
    shape: int
    dtype: int


@dataclass(frozen=True)
class Compared(Counterparts):
    """The state of every node of both graphs.

    `differences` holds, by node of a, how the nodes of a pair in one place differ, and
    `moved_differences` those of a pair in two places. A moved node of another dtype or shape has
    that as its state. All nodes without a counterpart are in one graph only. Those without values
    are PLAIN if the graphs have other layouts.
    """

    differences: Mapping[int, NodeDifference]
    moved_differences: Mapping[int, NodeDifference]
    states_a: Sequence[State]
    states_b: Sequence[State]

    @property
    def is_equal(self) -> bool:
        """Whether every node of both has an equal counterpart."""
        return {*self.states_a, *self.states_b} <= {State.MATCHED, State.PLAIN}

    @property
    def differences_anywhere(self) -> Mapping[int, NodeDifference]:
        """By node of a, how a pair differs, in one place or in two."""
        return {**self.differences, **self.moved_differences}


def common_values(a: Graph, b: Graph, compared: Compared) -> CommonValues:
    """Return how many values both graphs have, and how many of them differ in what."""
    states = Counter(
        compared.differences_anywhere[node_a].state
        for node_a, node_b in compared.anywhere.items()
        if has_value(a.nodes[node_a]) and has_value(b.nodes[node_b])
    )
    differing = (states[state] for state in (State.VALUE, State.SHAPE, State.DTYPE))
    return CommonValues(states.total(), *differing)


def compare(a: Graph, b: Graph, way: LoadWay | None = None) -> Compared:
    """Return how two graphs differ, node by node; of values, what the checksums say."""
    return judged(a, b, counterparts_of(a, b, way), by_checksums(a, b))


def judged(a: Graph, b: Graph, counterparts: Counterparts, differ: Comparer) -> Compared:
    """Return how counterparts differ; `differ` decides whether their values do."""
    pairs, moved = counterparts.pairs, counterparts.moved
    are_slots_known = not (a.is_of_keras or b.is_of_keras)

    def differences_of(pairs: Mapping[int, int]) -> dict[int, NodeDifference]:
        return {
            node_a: difference(
                a.nodes[node_a], b.nodes[node_b], differ, are_slots_known=are_slots_known
            )
            for node_a, node_b in pairs.items()
        }

    differences = differences_of(pairs)
    of_moved = differences_of({node_a: pair.obj for node_a, pair in moved.items()})
    anywhere, is_of_other_layout = counterparts.anywhere, compares_names(a, b)
    unheld = counterparts.unheld
    states_a = _alone(a, State.ONLY_A, anywhere, unheld, is_of_other_layout)
    states_b = _alone(b, State.ONLY_B, {*anywhere.values()}, unheld, is_of_other_layout)
    for node_a, node_b in pairs.items():
        states_a[node_a] = states_b[node_b] = differences[node_a].state
    for pair in moved.values():
        state = of_moved[pair.node].state
        state = state if state in _WORSE_THAN_MOVED else State.MOVED
        states_a[pair.node] = states_b[pair.obj] = state
    return Compared(
        *(pairs, moved, counterparts.guesses, counterparts.unheld),
        *(differences, of_moved, states_a, states_b),
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

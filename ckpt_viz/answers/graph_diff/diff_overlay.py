"""A comparison laid over one graph: b, and beside it what only a has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ckpt_viz.answers.graph_diff.comparison import CHANGED, Compared
from ckpt_viz.graphs.layers.parameters import other_elements
from ckpt_viz.graphs.nodes.names import counted
from ckpt_viz.graphs.nodes.nodes import Node, has_value
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.merge import merge
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.comparison_table import ComparisonTable
from ckpt_viz.graphs.overlay.groups import NodeGroup, groups
from ckpt_viz.graphs.overlay.overlay import (
    Comparison,
    Mark,
    Overlay,
    Problem,
    Severity,
    State,
    Verdict,
)
from ckpt_viz.ground.text import count

_PLAIN = Mark(State.PLAIN)
_DIFFERS = {
    State.ONLY_A: "only in a",
    State.ONLY_B: "only in b",
    State.MOVED: "moved",
    **{state: f"by {state.value}" for state in CHANGED},
}
_NODE = "this node"
_ONLY_A, _ONLY_B = Mark(State.ONLY_A), Mark(State.ONLY_B)


def overlay_of(
    a: Graph,
    b: Graph,
    compared: Compared,
    draw_table: Callable[[Overlay], ComparisonTable],
    notes: tuple[str, ...],
) -> Overlay:
    """Return the comparison as an overlay; a node that has moved appears at its place in b."""
    merged = merge(b, a, compared.anywhere)
    names = SideNames(b, a, {place: node_a for node_a, place in merged.of_other.items()})
    marks = _marks(a, b, compared, merged.of_other, names)
    for node_a, place in merged.of_other.items():
        if compared.states_a[node_a] is State.PLAIN:
            marks[place] = _PLAIN
    sides = _Sides(a, b, compared, merged.of_other, names)
    problems = [
        sides.problem(group, marks[group.top])
        for group in groups(merged.graph, marks)
        if group.state is not State.MATCHED
    ]
    return Overlay(
        Comparison.DIFF,
        merged.graph,
        base_size=len(b.nodes),
        marks=marks,
        problems=problems,
        verdicts=(Verdict("equal", compared.is_equal),),
        headline=headline(a, b, compared),
        draw_table=draw_table,
        notes=notes,
        saved_elements=other_elements(b.nodes, a.nodes, compared.anywhere),
        sides=names,
    )


def headline(a: Graph, b: Graph, compared: Compared) -> str:
    """Return the summary in one line: `differs: 31 values only in a, 85 by value`.

    It counts objects only if no variable differs.
    """
    differing = list(_differing(a, b, compared))
    valued = [(state, node) for state, node in differing if has_value(node)]
    counts = Counter(state for state, _ in valued or differing)
    known = [state for state in _DIFFERS if counts[state]]
    parts = [f"{counts[state]} {_DIFFERS[state]}" for state in known]
    if known:
        noun = "value" if valued else "object"
        parts[0] = f"{count(counts[known[0]], noun)} {_DIFFERS[known[0]]}"
    sentence = f"differs: {', '.join(parts)}" if parts else "no difference"
    unknown = [
        b.nodes[compared.pairs[node_a]]
        for node_a, difference in compared.differences.items()
        if not difference.is_compared
    ]
    return f"{sentence}; {counted(unknown)} not compared" if unknown else sentence


def _differing(a: Graph, b: Graph, compared: Compared) -> Iterator[tuple[State, Node]]:
    """Yield each difference with a node: of two that differ, one with a value."""
    for state, node in zip(compared.states_a, a.nodes, strict=True):
        if state is State.ONLY_A:
            yield state, node
    of_b = {node_b: node_a for node_a, node_b in compared.anywhere.items()}
    for node_b, (state, node) in enumerate(zip(compared.states_b, b.nodes, strict=True)):
        if state in CHANGED:
            yield state, node if has_value(node) else a.nodes[of_b[node_b]]
        elif state not in (State.MATCHED, State.PLAIN):
            yield state, node


def _marks(
    a: Graph, b: Graph, compared: Compared, of_a: Mapping[int, int], names: SideNames
) -> list[Mark]:
    marks = [_PLAIN if state is State.PLAIN else _ONLY_B for state in compared.states_b]
    marks += [_ONLY_A] * (len(a.nodes) - len(compared.anywhere))
    for node_a, node_b in compared.pairs.items():
        state, detail, _ = compared.differences[node_a]
        partner = names.readable_in_other.get(node_b, "")
        if state is not State.MATCHED or has_value(b.nodes[node_b]):
            marks[node_b] = Mark(state, detail, partner)
        else:
            marks[node_b] = Mark(State.PLAIN, "", partner) if partner else _PLAIN
    for node_a, node_b, *_ in compared.moved.values():
        detail = compared.moved_differences[node_a].detail
        marks[node_b] = Mark(compared.states_b[node_b], detail, readable_name(a, node_a))
    for node_a, node_b, *_ in compared.guesses.values():
        marks[of_a[node_a]] = replace(_ONLY_A, detail=f"may be {b.names.place_or_state(node_b)}")
        marks[node_b] = replace(_ONLY_B, detail=f"may be {a.names.place_or_state(node_a)}")
    return marks


@dataclass(frozen=True)
class _Sides:
    """Both graphs, to look up a merged node on each side."""

    a: Graph
    b: Graph
    compared: Compared
    of_a: Mapping[int, int]
    names: SideNames

    @cached_property
    def _in_a(self) -> dict[int, int]:
        return {place: node_a for node_a, place in self.of_a.items()}

    def problem(self, group: NodeGroup, mark: Mark) -> Problem:
        """Return a group's difference as a problem; `mark` is the mark of its top."""
        size = len(self.b.nodes)
        in_a = self._in_a.get(group.top)
        name_in_a = None if in_a is None else readable_name(self.a, in_a)
        name_in_b = readable_name(self.b, group.top) if group.top < size else None
        nodes_in_a = () if in_a is None else (in_a,)
        return Problem(
            Severity.INFO,
            group.state.value.replace(" ", "_"),
            group.members,
            name_in_a,
            name_in_b,
            self._why(group, mark.detail),
            place=self.names.place_of_both((name_in_a, nodes_in_a), (name_in_b, (group.top,))),
        )

    def _why(self, group: NodeGroup, detail: str) -> str:
        match group.state:
            case State.ONLY_A:
                return self._alone(group, "b")
            case State.ONLY_B:
                return self._alone(group, "a")
            case State.MOVED:
                evidence = self.compared.moved[self._in_a[group.top]].evidence.value
                extent = self._extent(group)
                words = "" if extent == _NODE else f" This covers {extent}."
                return f"Recognised because {evidence}.{words}"
            case State.VALUE if not detail:
                return self._values_differ(group)
            case state:
                pair = self.compared.moved.get(self._in_a[group.top])
                moved = "" if pair is None else f" It has moved: {pair.evidence.value}."
                return f"The {state.value} differs: {detail}.{moved}"

    def _alone(self, group: NodeGroup, other: str) -> str:
        """Return that a group has no counterpart, or that only a guess sees one."""
        surely = "surely " if self._guesses.keys() & group.members else ""
        guess = self._guesses.get(group.top)
        perhaps = f" It may be {guess}." if guess else ""
        return f"Nothing in {other} {surely}corresponds to {self._extent(group)}.{perhaps}"

    @cached_property
    def _guesses(self) -> dict[int, str]:
        """The name that each node with a guess may have on the other side."""
        names_a, names_b = self.a.names, self.b.names
        guesses = self.compared.guesses.values()
        of_a = {self.of_a[pair.node]: names_b.place_or_state(pair.obj) for pair in guesses}
        return of_a | {pair.obj: names_a.place_or_state(pair.node) for pair in guesses}

    def _values_differ(self, group: NodeGroup) -> str:
        below = len(group.members) - (group.top in group.members)
        if group.of_slots:
            return f"The values of {count(below, 'slot variable')} differ."
        if group.top not in group.members:
            return f"The values of {count(below, 'node')} below differ."
        if below:
            return f"The value differs, and those of {count(below, 'node')} below."
        own = len(self._node(group.top).attributes)
        return "The value differs." if own < 2 else f"At least one of {own} values differs."

    def _extent(self, group: NodeGroup) -> str:
        """Return in words how large a group is."""
        if group.of_slots:
            return f"{count(len(group.members), 'slot variable')} of this node"
        below = len(group.members) - (group.top in group.members)
        if not below:
            return _NODE
        values = counted(map(self._node, group.members))
        words = f"{count(below, 'node')} below, {values} in all"
        return f"{_NODE} and {words}" if group.top in group.members else words

    def _node(self, node_id: int) -> Node:
        size = len(self.b.nodes)
        return self.b.nodes[node_id] if node_id < size else self.a.nodes[self._in_a[node_id]]

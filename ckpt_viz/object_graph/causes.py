"""The causes of a comparison: problems that one thing explains, as one entry.

Problems are one cause if they are of one kind and belong to one layer, or to one subtree that only
one side has. What concerns an optimizer's state belongs to the cause of its variable, or else to
the optimizer, which is one cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Role, has_value
from ckpt_viz.object_graph.overlay import Explanation, Mark, Problem, State
from ckpt_viz.object_graph.side_names import SideNames

_ONE_SIDED = frozenset(
    {State.LIVE_ONLY, State.SAVED_ONLY, State.DEFERRED, State.ONLY_A, State.ONLY_B}
)


def causes(
    graph: Graph,
    marks: Sequence[Mark],
    problems: Sequence[Problem],
    titles: Mapping[str, str],
    names: SideNames,
) -> tuple[Explanation, ...]:
    """Return the causes of the problems: each problem is in one, and the worst comes first.

    `titles` has a title for each kind of problem, and `names` what people call the nodes. The
    problems come with the worst first. Those that one change of the program explains follow the
    problem that tells of it.
    """
    places = _ProblemPlaces(graph, marks, names)
    own = [places.own_key(index, problem) for index, problem in enumerate(problems)]
    keys = [
        key if problem.lead is None else _Key(f"change {problem.lead}", own[problem.lead].node)
        for key, problem in zip(own, problems, strict=True)
    ]
    key_of_node = {
        node: key
        for problem, key in zip(reversed(problems), reversed(keys), strict=True)
        for node in problem.nodes
    }
    held: dict[_Key, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        has_lead = problem.lead is not None
        echo = None if has_lead else places.key_of_variable(problem, key_of_node)
        key = echo or keys[index]
        held[key].append(index)
    return tuple(
        _cause(places, key, [problems[i] for i in indices], tuple(indices), titles)
        for key, indices in held.items()
    )


@dataclass(frozen=True, slots=True)
class _Key:
    """What the problems of a cause have in common: their kind, or "" for all; and a node."""

    kind: str
    node: int


@dataclass(frozen=True)
class _ProblemPlaces:
    """The places of problems in a merged graph."""

    graph: Graph
    marks: Sequence[Mark]
    names: SideNames

    @cached_property
    def _optimizers(self) -> dict[int, int]:
        """By node, the optimizer that it is or belongs to."""
        nodes, parents = self.graph.nodes, self.graph.tree.parents
        optimizer_of: dict[int, int] = {}
        for node_id in self.graph.tree.preorder():
            slot = nodes[node_id].slot
            if nodes[node_id].role is Role.OPTIMIZER:
                optimizer_of[node_id] = node_id
            elif slot is not None:
                optimizer_of |= {} if slot.optimizer is None else {node_id: slot.optimizer}
            elif parents[node_id] in optimizer_of:
                optimizer_of[node_id] = optimizer_of[parents[node_id]]
        return optimizer_of

    @cached_property
    def _tops(self) -> list[int]:
        """By node, the top of the subtree that only one side has; other nodes are their own top."""
        parents, tops = self.graph.tree.parents, list(range(len(self.graph.nodes)))
        for node_id in self.graph.tree.preorder():
            parent, state = parents[node_id], self.marks[node_id].state
            if parent > ROOT and state in _ONE_SIDED and self.marks[parent].state is state:
                tops[node_id] = tops[parent]
        return tops

    def own_key(self, index: int, problem: Problem) -> _Key:
        """Return what the problem shares with others that one cause explains."""
        if not problem.nodes:
            return _Key(problem.kind, -1 - index)
        first = problem.nodes[0]
        if first in self._optimizers:
            return _Key("", self._optimizers[first])
        top = self._tops[first]
        parent = self.graph.tree.parents[top]
        is_of_layer = has_value(self.graph.nodes[top]) and parent > ROOT
        return _Key(problem.kind, parent if is_of_layer else top)

    def key_of_variable(self, problem: Problem, key_of_node: Mapping[int, _Key]) -> _Key | None:
        """Return the cause of the variable that the problem's slot variables belong to.

        None for a problem of other nodes, or of the slots of several variables.
        """
        slots = [self.graph.nodes[node].slot for node in problem.nodes]
        variables = {None if slot is None else slot.variable for slot in slots}
        only = variables.pop() if len(variables) == 1 else None
        return None if only is None else key_of_node.get(only)


def _cause(
    places: _ProblemPlaces,
    key: _Key,
    problems: Sequence[Problem],
    indices: tuple[int, ...],
    titles: Mapping[str, str],
) -> Explanation:
    worst = problems[0]
    # A problem that tells of a change speaks for all that follow from it.
    speakers = [worst] if worst.lead is not None else problems
    equally_bad = [problem for problem in speakers if problem.severity is worst.severity]
    of_its_kind = [problem for problem in equally_bad if problem.kind == worst.kind]
    return Explanation(
        title=titles[worst.kind],
        place=worst.place if len(speakers) == 1 else places.names.place(key.node),
        sentence=max(of_its_kind, key=lambda problem: len(problem.nodes)).why,
        count=sum(problem.values for problem in equally_bad),
        problems=indices,
    )

"""What a check says of each row: a part of the program, and what the checkpoint has of it.

The correspondence tells what is one part on both sides. The trace of the restore tells what
TensorFlow does with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.nodes.tensor_difference import first_difference
from ckpt_viz.graphs.nodes.walks import with_value_below
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.overlay import Mark, Severity, State
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import is_guess
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, Trace

_PLAIN = Mark(State.PLAIN)
_MADE = "made by the restore"
_FAILED = {Cause.SHAPE: State.SHAPE, Cause.DTYPE: State.DTYPE}
# Problems of restored values, whether or not an assert fails for other values.
_WRONG = {Kind.MISPLACED, Kind.SWAPPED, Kind.UNTIED}


def same_parts(run: DryRun, trace: Trace) -> Mapping[int, int]:
    """Return for saved nodes the live object that is the same part, by the correspondence.

    What the correspondence leaves open, the restore decides.
    """
    size = len(run.live.nodes)
    pairs = {pair.node: pair.obj for pair in run.mapping.parts.values() if not is_guess(pair)}
    own = {obj: node for node, obj in pairs.items()}
    for node, obj in trace.bound.items():
        counterpart = own.get(obj)
        # A program that ties two saved parts restores both into one object.
        is_open = counterpart is None or trace.bound.get(counterpart) == obj
        if obj < size and node not in pairs and is_open:
            pairs[node] = obj
    return pairs


@dataclass(frozen=True)
class RowMarks:
    """The marks of a merged graph; `of_saved` has its node for each saved node."""

    run: DryRun
    trace: Trace
    saved: Graph
    of_saved: Mapping[int, int]
    sides: SideNames
    findings: Sequence[Finding]

    def marks(self) -> list[Mark]:
        """Return the marks in the order of the merged nodes."""
        marks = self._marks_of_values()
        self._mark_holders(marks)
        self._mark_failures(marks)
        self._mark_findings(marks)
        return marks

    def _marks_of_values(self) -> list[Mark]:
        marks = [_PLAIN] * (1 + max((self._size - 1, *self.of_saved.values())))
        for obj in self.run.verdicts.unmatched:
            if obj < self._size:
                marks[obj] = Mark(State.LIVE_ONLY)
        for node, place in self.of_saved.items():
            if place < self._size:
                marks[place] = self._both(node, place, marks[place])
            elif node in self._valued:
                marks[place] = self._ghost(node)
        for obj, node in self.trace.source_of.items():
            if obj < self._size and self.of_saved[node] != obj:
                marks[obj] = replace(marks[obj], state=State.WARNED, detail=Kind.MISPLACED.value)
        return marks

    def _mark_holders(self, marks: list[Mark]) -> None:
        """Leave MOVED at a part without a value only if a value below it has moved, too."""
        nodes, tree = self.run.live.nodes, self.run.live.tree
        holders: set[int] = set()
        for obj in reversed(list(tree.preorder())):
            is_moved = marks[obj].state is State.MOVED
            if is_moved and (has_value(nodes[obj]) or obj in holders):
                holders.add(tree.parents[obj])
            elif is_moved:
                marks[obj] = replace(marks[obj], state=State.PLAIN, goes_to=None)

    @property
    def _size(self) -> int:
        return len(self.run.live.nodes)

    @cached_property
    def _valued(self) -> set[int]:
        """The saved nodes that have a value, or anything below them has one."""
        return with_value_below(self.saved.nodes)

    @cached_property
    def _waiting(self) -> set[int]:
        """The saved nodes that wait for something to be built, with all nodes below them."""
        return waiting_in(self.saved, self.findings)

    def _both(self, node: int, place: int, mark: Mark) -> Mark:
        """Return the mark of a part that both sides have."""
        partner = self.sides.readable_in_other.get(place, "")
        holders = self.trace.holders.get(place, ())
        if any(self.of_saved[holder] == place for holder in holders):
            return Mark(State.MATCHED, partner=partner)
        if node in self._waiting:
            return Mark(State.DEFERRED, partner=partner)
        if node not in self._valued and mark.state is not State.LIVE_ONLY:
            return Mark(State.PLAIN, partner=partner)
        misfit = first_difference(self.saved.nodes[node], self.run.live.nodes[place])
        return Mark(State.MOVED, misfit, partner, self._destination(node))

    def _ghost(self, node: int) -> Mark:
        obj = self.trace.bound.get(node)
        if obj is None:
            return Mark(State.DEFERRED if node in self._waiting else State.SAVED_ONLY)
        if obj >= self._size:
            return Mark(State.MATCHED, _MADE)
        return Mark(State.WARNED, Kind.MISPLACED.value, goes_to=obj)

    def _destination(self, node: int) -> int | None:
        """Return the other part into which the restore would put the value of a saved node."""
        obj = self.trace.bound.get(node, self._size)
        return obj if obj < self._size and obj != self.of_saved[node] else None

    def _mark_failures(self, marks: list[Mark]) -> None:
        for step in self.trace.steps:
            if step.action is not Action.FAIL or step.failure is None:
                continue
            place = step.obj if step.obj is not None and step.obj < self._size else None
            if place is None and step.node is not None:
                place = self.of_saved.get(step.node)
            if place is not None:
                state = _FAILED.get(step.failure.cause, State.FAILED)
                marks[place] = replace(marks[place], state=state, detail=_detail_of(step.failure))

    def _mark_findings(self, marks: list[Mark]) -> None:
        for finding in self.findings:
            live = [obj for obj in finding.objects if obj < self._size]
            if finding.severity is Severity.WARNING or finding.kind in _WRONG:
                for obj in live:
                    if marks[obj].state in (State.MATCHED, State.PLAIN):
                        marks[obj] = replace(
                            marks[obj], state=State.WARNED, detail=finding.kind.value
                        )
            elif finding.kind is Kind.UNUSED_ATTRIBUTE:
                for obj in live:
                    marks[obj] = replace(
                        marks[obj], state=State.FAILED, detail="attribute not used"
                    )


def marks_by_name(run: DryRun) -> list[Mark]:
    """Return the marks of a program whose restore goes by the full names of its variables."""
    marks = [_PLAIN] * len(run.live.nodes)
    trace = run.by_names
    if trace is not None:
        for name, objects in trace.bound.items():
            for obj in objects:
                if obj < len(marks):
                    marks[obj] = Mark(State.MATCHED, partner=name)
        for step in trace.steps:
            if step.failure is not None and step.obj is not None and step.obj < len(marks):
                state = _FAILED.get(step.failure.cause, State.FAILED)
                marks[step.obj] = Mark(state, _detail_of(step.failure))
    for obj in run.verdicts.unmatched:
        if obj < len(marks):
            marks[obj] = Mark(State.LIVE_ONLY)
    return marks


def waiting_in(saved: Graph, findings: Iterable[Finding]) -> set[int]:
    """Return the saved nodes that wait for something to be built, with all nodes below them."""
    waiting = {n for f in findings if f.severity is Severity.DEFERRED for n in f.nodes}
    stack = list(waiting)
    while stack:
        for child in saved.nodes[stack.pop()].children:
            if child.node_id not in waiting:
                waiting.add(child.node_id)
                stack.append(child.node_id)
    return waiting


def _detail_of(failure: Failure) -> str:
    """Return a failure in few words: `float32 8×10 ≠ 8×12`, or the class of the exception."""
    if failure.actual and failure.expected:
        return f"{failure.actual} ≠ {failure.expected}"
    return failure.type

"""Findings that a change of the program explains, folded under it.

The rules find what a restore does to each value. A change says what happened to the program. One
inserted layer has many symptoms: wrong shapes, values that nothing takes, an optimizer's lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ckpt_viz.changes.change import Change, ChangeKind
from ckpt_viz.changes.of_optimizers import slot_names
from ckpt_viz.changes.reading import changes_of
from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import has_value
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice, Fix, HowFixed, PartialFix, Remedy
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Finding, Kind
from ckpt_viz.restore_check.sides import is_below_optimizer
from ckpt_viz.text import count

# Symptoms of a change. Other findings have causes of their own.
_SYMPTOMS = frozenset(
    {
        *(Kind.ROOT_SHIFTED, Kind.OPTIMIZER_GENERATION, Kind.INDEX_SHIFTED, Kind.RENAMED),
        *(Kind.CROSS_WIRED, Kind.SWAPPED, Kind.SHAPE, Kind.DTYPE, Kind.KEY_MISSING),
        *(Kind.PARTIAL_OVERWRITE, Kind.UNRESOLVED, Kind.UNMATCHED, Kind.OPTIMIZER_MISSING),
    }
)
# Findings that say the same as a change, with more evidence.
_SAME: Mapping[ChangeKind, frozenset[Kind]] = {
    ChangeKind.ROOT_SHIFTED: frozenset({Kind.ROOT_SHIFTED}),
    ChangeKind.RENAMED: frozenset({Kind.RENAMED, Kind.ROOT_SHIFTED}),
    ChangeKind.MOVED: frozenset({Kind.ROOT_SHIFTED, Kind.RENAMED}),
    ChangeKind.REORDERED: frozenset({Kind.SWAPPED, Kind.CROSS_WIRED}),
    ChangeKind.OPTIMIZER_CHANGED: frozenset({Kind.OPTIMIZER_GENERATION, Kind.CROSS_WIRED}),
    ChangeKind.RESHAPED: frozenset({Kind.SHAPE, Kind.DTYPE}),
    ChangeKind.NEW: frozenset({Kind.UNMATCHED, Kind.OPTIMIZER_MISSING}),
    ChangeKind.GONE: frozenset({Kind.UNRESOLVED, Kind.OPTIMIZER_MISSING}),
}
# Findings that had names before changes did; all others have the name of the change.
_KINDS = {
    ChangeKind.SCOPE_CHANGED: Kind.RENAMED,
    ChangeKind.RESHAPED: Kind.SHAPE,
    ChangeKind.NEW: Kind.UNMATCHED,
    ChangeKind.GONE: Kind.UNRESOLVED,
}
# Changes of what an optimizer is made for: they change its lists, too.
_OF_THE_SET = (
    *(ChangeKind.INSERTED, ChangeKind.REMOVED, ChangeKind.REORDERED, ChangeKind.NEW),
    *(ChangeKind.GONE, ChangeKind.RESHAPED, ChangeKind.MOVED, ChangeKind.CONTAINER_CHANGED),
)
_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}
_OF_ONE_SIDE = frozenset({ChangeKind.RESHAPED, ChangeKind.NEW, ChangeKind.GONE})
_LEFT_UNUSED = "these values stay unused, unless the program creates their objects later"
_LEFT_UNCHANGED = "these keep the values that the program gives them"


def folded(case: Case, found: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those that a change explains folded under a finding of the change."""
    is_whole = {Kind.UNRELATED, Kind.WRONG_PATH, Kind.PROCESS_ABORT, Kind.POISONED_CONTAINER}
    wrong = [one for one in found if one.severity is not Severity.INFO]
    if not wrong or any(one.kind in is_whole for one in found):
        return list(found)
    waiting = {n for one in found if one.kind is Kind.DEFERRED for n in one.nodes}
    changes = changes_of(case.run.mapping, waiting)
    return _Folder(case, found, changes).folded() if changes else list(found)


@dataclass(frozen=True)
class _Folder:
    case: Case
    found: Sequence[Finding]
    changes: Sequence[Change]

    def folded(self) -> list[Finding]:
        explained: dict[int, list[Finding]] = {}
        rest: list[Finding] = []
        for finding in self.found:
            number = self._change_of(finding)
            if number is None:
                rest.append(finding)
            else:
                explained.setdefault(number, []).append(finding)
        overwrites = [one for one in rest if one.kind is Kind.PARTIAL_OVERWRITE]
        raising = [
            number
            for number, ones in explained.items()
            if any(one.severity is Severity.ERROR for one in ones)
        ]
        if overwrites and raising:  # what a failure leaves behind belongs to its cause
            explained[min(raising)] += overwrites
            rest = [one for one in rest if one.kind is not Kind.PARTIAL_OVERWRITE]
        known = _Known.of(rest)
        heads = []
        for number, change in self._sure:
            ones = explained.get(number, [])
            if ones or self._is_felt(change, known):
                heads.append(self._head(change, ones))
        return [*heads, *rest]

    def _change_of(self, finding: Finding) -> int | None:
        """Return the change that explains most of a finding's values, if it is a symptom."""
        is_symptom = finding.kind in _SYMPTOMS and finding.severity is not Severity.INFO
        if not is_symptom and not self._is_of_other_class(finding):
            return None
        votes: Counter[int] = Counter()
        votes.update(self._numbers(finding.nodes, self.case.saved, self._of_saved))
        votes.update(self._numbers(finding.objects, self.case.live, self._of_live))
        if votes:
            number = min(votes, key=lambda number: (-votes[number], number))
            kind = self.changes[number].kind
            # Another level explains more than what is alone on one side.
            is_wider = finding.kind is Kind.ROOT_SHIFTED and kind in _OF_ONE_SIDE
            return None if is_wider else number
        if finding.kind is not Kind.PARTIAL_OVERWRITE and self._is_of_optimizer(finding):
            return next((n for n, change in self._sure if change.kind in _OF_THE_SET), None)
        return None

    def _is_of_other_class(self, finding: Finding) -> bool:
        """Return whether an optimizer lacks state because it is of another class, not unbuilt."""
        top = self._of_live.get(finding.objects[0]) if finding.objects else None
        return (
            finding.kind is Kind.NOT_BUILT
            and finding.severity is Severity.FAIL
            and top is not None
            and self.changes[top].kind is ChangeKind.OPTIMIZER_CHANGED
        )

    def _numbers(
        self, nodes: Iterable[int], graph: Graph, owners: Mapping[int, int]
    ) -> Iterable[int]:
        """Return the changes that own nodes: those of the model's values, if there are any."""
        known = [node for node in nodes if node in owners]
        valued = [node for node in known if has_value(graph.nodes[node])]
        of_model = [node for node in valued if not self._is_state(graph, node)]
        return [owners[node] for node in of_model or valued or known]

    def _is_of_optimizer(self, finding: Finding) -> bool:
        """Return whether a finding is about the state of optimizers alone."""
        case = self.case
        nodes = [node for node in finding.nodes if has_value(case.saved.nodes[node])]
        objects = [
            obj
            for obj in finding.objects
            if case.live_side.is_in_graph(obj) and has_value(case.live.nodes[obj])
        ]
        return bool(nodes or objects) and (
            all(self._is_state(case.saved, node) for node in nodes)
            and all(self._is_state(case.live, obj) for obj in objects)
        )

    @staticmethod
    def _is_state(graph: Graph, node: int) -> bool:
        return graph.nodes[node].slot is not None or is_below_optimizer(graph, node)

    @cached_property
    def _of_saved(self) -> dict[int, int]:
        return {node: i for i, change in self._sure for node in change.nodes}

    @cached_property
    def _of_live(self) -> dict[int, int]:
        return {obj: i for i, change in self._sure for obj in change.objects}

    @cached_property
    def _sure(self) -> list[tuple[int, Change]]:
        """The changes that explain: a guess does not."""
        return [
            (i, change)
            for i, change in enumerate(self.changes)
            if change.certainty is not Certainty.GUESS and self._leads_astray(change)
        ]

    def _leads_astray(self, change: Change) -> bool:
        """Return whether any value of a change is not where it belongs after the restore."""
        case = self.case
        if not (
            case.unresolved.isdisjoint(change.nodes) and case.unmatched.isdisjoint(change.objects)
        ):
            return True
        meant, trace = self._meant, case.trace
        valued = [node for node in change.nodes if has_value(case.saved.nodes[node])]
        return case.run.verdicts.restore is not None or any(
            trace.bound.get(node) not in (None, meant.get(node))
            or (node in meant and trace.source_of.get(meant[node], node) != node)
            for node in valued
        )

    @cached_property
    def _meant(self) -> dict[int, int]:
        return {pair.node: pair.obj for pair in self.case.run.mapping.pairs}

    def _is_felt(self, change: Change, known: _Known) -> bool:
        """Return whether a change leaves values out that no other finding explains.

        Values of another form remain out after all other findings are fixed.
        """
        case = self.case
        if change.kind is ChangeKind.RESHAPED:
            return True
        nodes = case.unresolved.intersection(change.nodes) - known.nodes
        objects = case.unmatched.intersection(change.objects) - known.objects
        return bool(nodes or objects)

    def _head(self, change: Change, ones: list[Finding]) -> Finding:
        """Return the finding of a change: one that says the same, or one of its own."""
        parts = self._parts(change)
        same = [one for one in ones if self._is_same(one, change, parts)]
        if len(same) == 1:
            rest = tuple(one for one in ones if one is not same[0])
            severity = min((one.severity for one in ones), key=_SEVERITIES.__getitem__)
            head = self._with_remedy(same[0], change)
            return replace(head, severity=severity, change=change, explains=rest)
        case = self.case
        severity = min(
            (one.severity for one in ones),
            key=_SEVERITIES.__getitem__,
            default=case.severity(change.nodes, change.objects),
        )
        called = self._called(change, ones)
        return Finding(
            severity,
            _kind_of(change, ones),
            change.saved,
            change.live,
            _why(change),
            called.remedy if called is not None else self._remedy(change),
            change.nodes,
            change.objects,
            change=change,
            explains=tuple(ones),
        )

    def _with_remedy(self, same: Finding, change: Change) -> Finding:
        """Return a finding with its own remedy; state that the fix can move has the fix."""
        if same.kind is Kind.OPTIMIZER_GENERATION:
            saved = self.case.saved.nodes
            fixed = self.case.fixed.intersection(change.nodes)
            moved = sum(saved[node].slot is not None for node in fixed)
            if moved:
                return replace(same, remedy=Fix(HowFixed.AS_STATE, moved))
        return same

    def _remedy(self, change: Change) -> Remedy:
        """Return what to do about a change."""
        case = self.case
        if change.kind is ChangeKind.OPTIMIZER_CHANGED:
            request = "Use the optimizer that was saved"
            return self._rest(instead=request) or Advice(f"{request}.")
        if change.kind in _OF_ONE_SIDE:
            left = _LEFT_UNUSED if change.kind is ChangeKind.GONE else _LEFT_UNCHANGED
            return self._rest(left=left) or Advice(f"Call expect_partial(): {left}.")
        fixed = len(case.fixed.intersection(change.nodes))
        guesses = len(case.guessed.intersection(change.nodes))
        if fixed or guesses:
            return Fix(HowFixed.BY_PLACES, fixed, guesses)
        return self._rest(left="no object of the program fits these values") or Advice(
            "Bring the saved part back, or call expect_partial() and do without its values."
        )

    def _rest(self, *, instead: str = "", left: str = "") -> PartialFix | None:
        """Return the fix of all else; None if it has nothing."""
        case = self.case
        is_empty = not (case.fixed or case.guessed)
        return None if is_empty else PartialFix(instead, left, takes_guesses=not case.fixed)

    def _called(self, change: Change, ones: Sequence[Finding]) -> Finding | None:
        """Return the finding whose code restores all values of a change; None if none does."""
        valued = {node for node in change.nodes if has_value(self.case.saved.nodes[node])}
        return next((one for one in ones if one.code and valued.issubset(one.nodes)), None)

    def _is_same(self, finding: Finding, change: Change, parts: tuple[set[int], set[int]]) -> bool:
        """Return whether a finding says what a change of these parts says, and of no other place.

        A finding about the slots of new or lost parts alone does not say it.
        """
        if finding.kind not in _SAME.get(change.kind, ()):
            return False
        is_elsewhere = parts[0].isdisjoint(finding.nodes) and parts[1].isdisjoint(finding.objects)
        if change.kind in (ChangeKind.NEW, ChangeKind.GONE) and is_elsewhere:
            return False
        if change.kind is ChangeKind.OPTIMIZER_CHANGED and self._keeps_other_slots(change):
            return finding.kind is Kind.OPTIMIZER_GENERATION
        meant = {self._meant[node] for node in finding.nodes if node in self._meant}
        found = {obj for obj in finding.objects if obj in self._placed}
        is_moved = not self.case.fixed.isdisjoint(finding.nodes)
        if change.kind is ChangeKind.OPTIMIZER_CHANGED and not is_moved:
            return finding.kind is Kind.OPTIMIZER_GENERATION
        return not found or found == meant

    def _keeps_other_slots(self, change: Change) -> bool:
        """Return whether an optimizer keeps other slots, or the same ones in another order."""
        was = slot_names(self.case.saved, change.nodes)
        return tuple(was) != tuple(slot_names(self.case.live, change.objects))

    def _parts(self, change: Change) -> tuple[set[int], set[int]]:
        """Return the nodes and the objects of a change without the slots."""
        saved, live = self.case.saved.nodes, self.case.live.nodes
        return (
            {node for node in change.nodes if saved[node].slot is None},
            {obj for obj in change.objects if live[obj].slot is None},
        )

    @cached_property
    def _placed(self) -> frozenset[int]:
        return frozenset(self._meant.values())


@dataclass(frozen=True)
class _Known:
    """What findings without a change are about."""

    nodes: frozenset[int]
    objects: frozenset[int]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> _Known:
        ones = list(findings)
        return cls(
            frozenset(node for one in ones for node in one.nodes),
            frozenset(obj for one in ones for obj in one.objects),
        )


def _kind_of(change: Change, ones: Iterable[Finding]) -> Kind:
    if change.kind is ChangeKind.RESHAPED and Kind.DTYPE in {one.kind for one in ones}:
        return Kind.DTYPE
    return _KINDS.get(change.kind) or Kind(change.kind.value)


def _why(change: Change) -> str:
    number = count(change.values, "value")
    return f"{change.why.removesuffix('.')} ({number})."

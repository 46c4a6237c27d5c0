"""Findings that follow from a change of the program, below the finding of that change.

One inserted layer has many symptoms: wrong shapes, an optimizer's lists that lead astray.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.sides import is_below_optimizer
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind

# Other findings have causes of their own.
_SYMPTOMS = frozenset(
    {
        *(Kind.OPTIMIZER_GENERATION, Kind.MISPLACED, Kind.SWAPPED, Kind.SHAPE, Kind.DTYPE),
        *(Kind.KEY_MISSING, Kind.PARTIAL_OVERWRITE, Kind.UNRESOLVED, Kind.UNMATCHED),
        Kind.OPTIMIZER_MISSING,
    }
)
# Changes of what an optimizer is made for: they change its lists, too.
_OF_THE_SET = frozenset(
    {
        *(Kind.INSERTED, Kind.REMOVED, Kind.REORDERED, Kind.UNMATCHED, Kind.UNRESOLVED),
        *(Kind.SHAPE, Kind.DTYPE, Kind.MOVED, Kind.CONTAINER_CHANGED),
    }
)
_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}


def with_symptoms(case: Case, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those that follow from a change below the finding of the change."""
    changes = [finding for finding in findings if finding.change is not None]
    return _Symptoms(case, changes).below_changes(findings) if changes else list(findings)


@dataclass(frozen=True)
class _Symptoms:
    case: Case
    changes: Sequence[Finding]

    def below_changes(self, findings: Iterable[Finding]) -> list[Finding]:
        explained: dict[int, list[Finding]] = {}
        rest: list[Finding] = []
        for finding in findings:
            if finding.change is None:
                number = self._change_of(finding)
                (rest if number is None else explained.setdefault(number, [])).append(finding)
        raising = [
            number
            for number, symptoms in explained.items()
            if any(symptom.severity is Severity.ERROR for symptom in symptoms)
        ]
        if raising:  # what a failure leaves behind belongs to its cause
            left = [finding for finding in rest if finding.kind is Kind.PARTIAL_OVERWRITE]
            explained[min(raising)] += left
            rest = [finding for finding in rest if finding.kind is not Kind.PARTIAL_OVERWRITE]
        heads = (_explaining(head, explained.get(i, [])) for i, head in enumerate(self.changes))
        return [*heads, *rest]

    def _change_of(self, finding: Finding) -> int | None:
        """Return the change that explains most values of a finding, if the finding is a symptom."""
        is_symptom = finding.kind in _SYMPTOMS and finding.severity is not Severity.INFO
        if not is_symptom and not self._is_of_other_class(finding):
            return None
        votes: Counter[int] = Counter()
        votes.update(self._owners(finding.nodes, self.case.saved, self._of_saved))
        votes.update(self._owners(finding.objects, self.case.live, self._of_live))
        if votes:
            return min(votes, key=lambda number: (-votes[number], number))
        is_of_optimizer = self._is_of_optimizer(finding) or self._is_led_by_a_list(finding)
        has_own_cause = finding.kind in (Kind.PARTIAL_OVERWRITE, Kind.OPTIMIZER_MISSING)
        if not has_own_cause and is_of_optimizer:
            sets = (i for i, change in enumerate(self.changes) if change.kind in _OF_THE_SET)
            return next(sets, None)
        return None

    def _is_of_other_class(self, finding: Finding) -> bool:
        """Return whether an optimizer lacks state for its other class, not for being unbuilt."""
        change = self._of_live.get(finding.objects[0]) if finding.objects else None
        return (
            finding.kind is Kind.NOT_BUILT
            and finding.severity is Severity.FAIL
            and change is not None
            and self.changes[change].kind is Kind.OPTIMIZER_CHANGED
        )

    def _owners(
        self, nodes: Iterable[int], graph: Graph, owners: Mapping[int, int]
    ) -> Iterator[int]:
        """Yield the changes that own nodes: those of the model's values, if there are any."""
        known = [node for node in nodes if node in owners]
        valued = [node for node in known if has_value(graph.nodes[node])]
        of_model = [node for node in valued if not _is_state(graph, node)]
        return (owners[node] for node in of_model or valued or known)

    def _is_of_optimizer(self, finding: Finding) -> bool:
        """Return whether a finding is about the state of optimizers alone."""
        saved, live = self.case.saved, self.case.live
        nodes = [node for node in finding.nodes if has_value(saved.nodes[node])]
        in_graph = filter(self.case.live_side.is_in_graph, finding.objects)
        objects = [obj for obj in in_graph if has_value(live.nodes[obj])]
        return bool(nodes or objects) and (
            all(_is_state(saved, node) for node in nodes)
            and all(_is_state(live, obj) for obj in objects)
        )

    def _is_led_by_a_list(self, finding: Finding) -> bool:
        """Return whether an optimizer's list leads a value of a finding into another variable."""
        placement = self.case.placement
        return any(
            node in placement.astray and placement.misleading_optimizer(node) is not None
            for node in finding.nodes
        )

    @cached_property
    def _of_saved(self) -> dict[int, int]:
        return {node: i for i, change in enumerate(self.changes) for node in change.nodes}

    @cached_property
    def _of_live(self) -> dict[int, int]:
        return {obj: i for i, change in enumerate(self.changes) for obj in change.objects}


def _is_state(graph: Graph, node: int) -> bool:
    return graph.nodes[node].slot is not None or is_below_optimizer(graph, node)


def _explaining(change: Finding, symptoms: Sequence[Finding]) -> Finding:
    """Return the finding of a change with its symptoms, as bad as the worst of them.

    What a restore raises for the only value of another shape says the same, with its reason.
    """
    severity = min((f.severity for f in (change, *symptoms)), key=_SEVERITIES.__getitem__)
    same = [symptom for symptom in symptoms if symptom.kind is change.kind]
    if change.kind in (Kind.SHAPE, Kind.DTYPE) and len(same) == 1:
        others = tuple(symptom for symptom in symptoms if symptom is not same[0])
        return replace(same[0], severity=severity, change=change.change, explains=others)
    return replace(change, severity=severity, explains=tuple(symptoms))

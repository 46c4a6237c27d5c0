"""The parts of a program that must be built before a restore, and what a checkpoint has for them.

TensorFlow gives waiting values to whatever has their names later. It cannot know that a layer was
renamed, inserted or made larger, and neither does a fix before the layer has its variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.outlook import outlook
from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.objects.facts import is_optimizer, is_unbuilt
from ckpt_viz.matching.changes.kind import Kind


@dataclass(frozen=True)
class UnbuiltParts:
    """What waits in a restore, and may not wait in its fix.

    `knows_trained` says that the order of the variables that an optimizer will train is known.
    """

    run: DryRun
    findings: Sequence[Finding]
    knows_trained: bool

    @cached_property
    def states(self) -> Mapping[int, int]:
        """By saved value without a place now, the part of the program that must be built first."""
        saved, live = self.run.saved, self.run.live
        # What waits for a variable may be its state, and that of an optimizer.
        in_order = sorted(self._of_parts, key=lambda obj: is_optimizer(live.object(obj)))
        every = ((node, obj) for obj in in_order for node in self._of_parts[obj])
        return {node: obj for node, obj in every if saved and has_value(saved.nodes[node])}

    @cached_property
    def nodes(self) -> frozenset[int]:
        """The saved nodes that would wait for these parts."""
        return frozenset[int]().union(*self._of_parts.values())

    @cached_property
    def aside(self) -> frozenset[int]:
        """The saved nodes of these parts, and of the optimizers in them."""
        trace, saved = self.run.by_objects, self.run.saved
        if trace is None or saved is None:
            return frozenset()
        parts = {node for obj in self._of_parts for node in trace.holders.get(obj, ())}
        below = (node for part in parts for node in saved.tree.below(part))
        return frozenset((*parts, *(n for n in below if saved.nodes[n].role is Role.OPTIMIZER)))

    def holders_of(self, waiting: Collection[int]) -> dict[int, int]:
        """Return the objects that hold what waits in the checked restore, by their saved nodes."""
        trace, saved = self.run.by_objects, self.run.saved
        if trace is None or saved is None:
            return {}
        bound, size = trace.bound, len(self.run.live.nodes)
        holders = {n for node in waiting for n, _, _ in saved.way_up(node) if n != ROOT}
        return {n: bound[n] for n in holders & bound.keys() if bound[n] < size}

    @cached_property
    def _of_parts(self) -> Mapping[int, Collection[int]]:
        trace, saved = self.run.by_objects, self.run.saved
        if trace is None or saved is None:
            return {}
        case, of_parts = Case(self.run, trace, saved), dict[int, Collection[int]]()
        for finding in self._about_unbuilt(case):
            obj = finding.objects[0]
            if obj in of_parts or not self._differs(case, finding):
                continue
            holders = trace.holders.get(obj, ())
            nodes = set[int]().union(finding.nodes, *map(case.saved_side.state_of, holders))
            others = {node for node in nodes if self._waits_for_optimizer(saved, node, holders)}
            of_parts[obj] = nodes - others - trace.bound.keys()
        return of_parts

    @staticmethod
    def _waits_for_optimizer(saved: Graph, node: int, holders: Collection[int]) -> bool:
        """Return whether a state is in the list of an optimizer that is no part of the holders.

        A state that its optimizer declares waits for its variable.
        """
        slot = saved.nodes[node].slot
        if slot is None or slot.optimizer is None or saved.nodes[slot.optimizer].slot_variables:
            return False
        return {slot.optimizer, *saved.tree.above(slot.optimizer)}.isdisjoint(holders)

    def _about_unbuilt(self, case: Case) -> Iterator[Finding]:
        kinds = Kind.DEFERRED, Kind.NOT_BUILT
        for finding in self.findings:
            objects = finding.objects[:1] if finding.kind in kinds else ()
            if any(is_unbuilt(case.live_side.object(obj)) for obj in objects):
                yield finding

    def _differs(self, case: Case, finding: Finding) -> bool:
        """Return whether values that wait for a part would get lost, or into wrong places."""
        obj = finding.objects[0]
        if is_optimizer(case.live_side.object(obj)):
            return not self.knows_trained and not outlook(case, obj).fits
        return finding.kind is Kind.NOT_BUILT or outlook(case, obj).differs

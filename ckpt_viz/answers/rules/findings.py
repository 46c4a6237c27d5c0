"""All findings of a dry run, in the order in which a person needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch

from ckpt_viz.answers.dry_runs.dry_run import DryRun
from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.dry_runs.keras_outcome import KerasOutcome
from ckpt_viz.answers.dry_runs.outcome import Outcome
from ckpt_viz.answers.dry_runs.saver_dry_run import SaverOutcome
from ckpt_viz.answers.dry_runs.warm_start_dry_run import WarmOutcome
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.symptoms import with_symptoms
from ckpt_viz.answers.rules import (
    ambiguous,
    by_name,
    changed,
    created_later,
    keras_weights,
    left_aside,
    leftovers,
    misplaced,
    not_built,
    optimizers,
    raising,
    tracking,
    unrelated,
    warm_starts,
    worth_knowing,
    wrong_paths,
    wrong_values,
)
from ckpt_viz.answers.rules.names_case import ByName
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind

Rule = Callable[[Case, Explained], Iterator[Finding]]

# A rule knows what the rules before it have explained, so causes come first here too.
_RULES: tuple[Rule, ...] = (
    raising.failures,
    raising.damaged_later,
    raising.slots_out_of_scope,
    raising.forgotten_slots,
    raising.poisoned_before_asserts,
    unrelated.unrelated,
    optimizers.optimizer_generation,
    not_built.not_built,
    created_later.created_later,
    not_built.deferred,
    changed.other_places,
    not_built.saved_unbuilt,
    optimizers.optimizer_missing,
    leftovers.save_counter,
    misplaced.inconsistent,
    misplaced.swapped,
    wrong_values.value_lost,
    wrong_values.never_restored,
    wrong_values.tensor_ignored,
    wrong_values.saver_unknown,
    wrong_values.reshaped,
    tracking.not_tracked,
    left_aside.left_aside,
    raising.partial_overwrite,
    leftovers.exported,
    leftovers.kept_beside,
    leftovers.saved_as_another,
    changed.one_sided,
    leftovers.unresolved,
    leftovers.unmatched,
    leftovers.unused_attributes,
    worth_knowing.overwritten,
    worth_knowing.unknowable,
    ambiguous.cannot_be_told_apart,
)
_ORDER = {kind: place for place, kind in enumerate(Kind)}
_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}


def find_all(run: DryRun) -> tuple[Finding, ...]:
    """Return the findings, causes before symptoms and worst first."""
    findings = [
        *wrong_paths.no_checkpoint(run),
        *wrong_paths.wrong_path(run),
        *wrong_paths.unreadable(run),
    ]
    if run.reads:
        findings += _findings_of(run.outcome, run)
    return tuple(sorted(findings, key=_place))


@singledispatch
def _findings_of(_: Outcome, run: DryRun) -> Iterable[Finding]:
    """Return what the rules of this kind of restore find in a dry run that reads something."""
    if run.by_names is not None:
        return by_name.by_names(ByName(run))
    assert run.by_objects is not None and run.saved is not None
    return _of_objects(Case(run, run.by_objects, run.saved))


@_findings_of.register
def _(outcome: KerasOutcome, run: DryRun) -> Iterable[Finding]:
    return keras_weights.keras_weights(run, outcome)


@_findings_of.register
def _(outcome: SaverOutcome, run: DryRun) -> Iterable[Finding]:
    case = ByName(run)
    return [*by_name.by_names(case), *by_name.by_saver(case, outcome)]


@_findings_of.register
def _(outcome: WarmOutcome, run: DryRun) -> Iterable[Finding]:
    case = ByName(run)
    return [*by_name.by_names(case), *warm_starts.warm_starts(case, outcome)]


def _of_objects(case: Case) -> list[Finding]:
    findings: list[Finding] = []
    explained = Explained()
    for rule in _RULES:
        new = tuple(rule(case, explained))
        explained = explained.including(new)
        findings += new
    return with_symptoms(case, sorted(findings, key=_place))


def _place(finding: Finding) -> tuple[bool, int, bool, int, int]:
    """Return the sort key of a finding: failures before what passes, info last.

    A warning comes before findings that resolve by themselves or are usually intended.
    """
    severity, order = _SEVERITIES[finding.severity], _ORDER[finding.kind]
    passes = finding.severity is Severity.WARNING
    group = max(order, _ORDER[Kind.DEFERRED]) if passes else order
    return finding.severity is Severity.INFO, group, not passes, order, severity

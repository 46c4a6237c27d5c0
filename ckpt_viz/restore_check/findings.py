"""All findings of a dry run, in the order in which a person needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Trace
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.dry_run import DryRun, MeantPath
from ckpt_viz.restore_check.finding import Explained, Finding, Kind
from ckpt_viz.restore_check.folding import folded
from ckpt_viz.restore_check.rehearsal import about, rehearse
from ckpt_viz.restore_check.rules import (
    ambiguous,
    by_name,
    created_later,
    left_aside,
    leftovers,
    misplaced,
    not_built,
    optimizers,
    raising,
    roots,
    structure,
    tracking,
    worth_knowing,
    wrong_paths,
    wrong_values,
)
from ckpt_viz.restore_check.sides import is_below_optimizer

Rule = Callable[[Case, Explained], Iterator[Finding]]

# A rule knows what the rules before it have explained, so causes come first here too.
_RULES: tuple[Rule, ...] = (
    raising.failures,
    raising.damaged_later,
    raising.slots_out_of_scope,
    raising.forgotten_slots,
    raising.poisoned_before_asserts,
    roots.root_shifted_or_unrelated,
    optimizers.optimizer_generation,
    optimizers.other_class,
    structure.index_shifted,
    structure.other_keras,
    not_built.not_built,
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
    created_later.created_later,
    not_built.deferred,
    leftovers.unresolved,
    leftovers.unmatched,
    leftovers.unused_attributes,
    worth_knowing.overwritten,
    worth_knowing.unknowable,
    ambiguous.cannot_be_told_apart,
)
_ORDER = {kind: place for place, kind in enumerate(Kind)}
_MAX_REHEARSALS = 3
_WRONG = (Severity.ERROR, Severity.WARNING)
_SEVERITIES = {severity: place for place, severity in enumerate(Severity)}


def find_all(run: DryRun) -> tuple[Finding, ...]:
    """Return the findings, causes before symptoms and worst first.

    It runs the code of a remedy dry before it returns the remedy.
    """
    found, case = _found(run)
    trials = [finding for finding in found if finding.trial is not None][:_MAX_REHEARSALS]
    held = {id(finding) for finding in trials if _holds(run, finding, found)}
    tried = [
        replace(finding, remedy=finding.trial.remedy, trial=None)
        if finding.trial is not None and id(finding) in held
        else replace(finding, trial=None)
        for finding in found
    ]
    return tuple(sorted(tried if case is None else folded(case, tried), key=_place))


def _found(run: DryRun) -> tuple[tuple[Finding, ...], Case | None]:
    """Return what the rules find, in their order, and the case that they were asked about."""
    case: Case | None = None
    found = [
        *wrong_paths.no_checkpoint(run),
        *wrong_paths.wrong_path(run),
        *wrong_paths.unreadable(run),
    ]
    if isinstance(run.trace, NameTrace) and not isinstance(run.correction, MeantPath):
        found += by_name.names(run, run.trace)
    elif isinstance(run.trace, Trace) and run.saved is not None:
        case, explained = Case(run, run.trace, run.saved), Explained()
        for rule in _RULES:
            new = tuple(rule(case, explained))
            explained = explained.including(new)
            found += new
    return tuple(sorted(found, key=_place)), case


def _holds(run: DryRun, finding: Finding, found: Iterable[Finding]) -> bool:
    """Return whether a remedy's code restores its values, and does nothing else wrong.

    That is: it raises nothing, adds no warning about values that are right without it, puts no
    value in a wrong place, and still restores what is in its place without it.
    """
    trial = finding.trial
    assert trial is not None
    rehearsal = rehearse(run, trial.skeleton, trial.method)
    if rehearsal is None or rehearsal.run.verdicts.restore is not None:
        return False
    restored = rehearsal.restored
    if any(restored.get(node) != obj for node, obj in trial.pairs.items()):
        return False
    if any(restored.get(node) != obj for node, obj in _right_already(run)):
        return False
    known = {what for one in found if one.severity in _WRONG for what in about(one)}
    new = (one for one in _found(rehearsal.run)[0] if one.severity in _WRONG)
    return all(rehearsal.about(one) <= known for one in new)


def _right_already(run: DryRun) -> Iterator[tuple[int, int]]:
    """Yield the model's values that a restore puts where they belong, each with its live object.

    Some of an optimizer's fit both the optimizer and what wraps it.
    """
    assert isinstance(run.trace, Trace)
    for pair in run.mapping.pairs:
        is_right = run.trace.source_of.get(pair.obj) == pair.node
        if is_right and not is_below_optimizer(run.mapping.saved, pair.node):
            yield pair.node, pair.obj


def _place(finding: Finding) -> tuple[bool, int, bool, int, int]:
    """Return the sort key of a finding: failures before what passes, info last.

    A warning comes before findings that resolve by themselves or are usually intended.
    """
    severity, order = _SEVERITIES[finding.severity], _ORDER[finding.kind]
    passes = finding.severity is Severity.WARNING
    group = max(order, _ORDER[Kind.DEFERRED]) if passes else order
    return finding.severity is Severity.INFO, group, not passes, order, severity

"""What happened to the program: values that a restore leads astray, by the change that did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckpt_viz.answers.dry_runs.failures import make_as_saved
from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.overlay.remedy import Advice, PartialFix, Remedy
from ckpt_viz.ground.text import count
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.changes.change import Change
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action

_OF_ONE_SIDE = frozenset({Kind.UNMATCHED, Kind.UNRESOLVED})
_OF_SHAPES = frozenset({Kind.SHAPE, Kind.DTYPE})
_OF_SEQUENCES = frozenset({Kind.INSERTED, Kind.REMOVED})  # what is behind it has another number
_WHOLE = frozenset({Kind.UNRELATED, Kind.PROCESS_ABORT, Kind.POISONED_CONTAINER})
_LEFT_UNUSED = "these values stay unused, unless the program makes their objects later"
_LEFT_UNCHANGED = "these variables keep their initial values"


def other_places(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find parts that both sides have, but in another place, form or order.

    A part of one side is here, too, if it is why an optimizer's lists lead elsewhere.
    """
    changes = [
        change
        for change in _changes(case, explained)
        if (
            _is_taken_for_another(case, change, explained)
            if change.kind in _OF_ONE_SIDE
            else _is_felt(case, change, explained)
        )
    ]
    for change in changes:
        yield _finding(case, change)


def one_sided(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find parts that only one side has, and that no other finding explains."""
    for change in _changes(case, explained):
        if change.kind in _OF_ONE_SIDE and _is_felt(case, change, explained):
            yield _finding(case, change)


def _changes(case: Case, explained: Explained) -> Sequence[Change]:
    return () if explained.kinds & _WHOLE else case.changes(explained.waiting)


def _is_felt(case: Case, change: Change, explained: Explained) -> bool:
    """Return whether a restore leads values of a change astray, and nothing else explains them."""
    nodes = set(change.nodes) - explained.nodes
    objects = set(change.objects) - explained.objects
    lost = case.going_nowhere if change.kind in _OF_ONE_SIDE else case.unresolved
    if not (lost.isdisjoint(nodes) and case.unmatched.isdisjoint(objects)):
        return True
    if change.kind in _OF_ONE_SIDE:
        return False
    if change.kind is Kind.OPTIMIZER_CHANGED and not case.strangers.isdisjoint(nodes):
        return True
    if case.placement.is_all_right:
        return False
    return not nodes.isdisjoint(case.placement.astray) or any(
        step.node in nodes or step.obj in objects for step in case.trace.steps_of(Action.FAIL)
    )


def _is_taken_for_another(case: Case, change: Change, explained: Explained) -> bool:
    """Return whether a restore takes a part of one side for another part, which has its own."""
    nodes, objects = case.placement.taken_for_others
    return not (
        nodes.isdisjoint(set(change.nodes) - explained.nodes)
        and objects.isdisjoint(set(change.objects) - explained.objects)
    )


def _finding(case: Case, change: Change) -> Finding:
    number = count(change.values, "value")
    if change.kind in _OF_SEQUENCES:
        number += " is affected" if change.values == 1 else " are affected"
    return Finding(
        case.severity(change.nodes, change.objects),
        change.kind,
        change.saved,
        change.live,
        f"{change.why.removesuffix('.')} ({number}).",
        _remedy(case, change),
        change.nodes,
        change.objects,
        change=change,
    )


def _remedy(case: Case, change: Change) -> Remedy:
    """Return what to do about a change."""
    if change.kind is Kind.OPTIMIZER_CHANGED:
        held = [case.live_side.object(obj) for obj in change.objects[:1]]
        is_unbuilt = any(facts.is_optimizer(obj) and facts.is_unbuilt(obj) for obj in held)
        request = "Build the optimizer" if is_unbuilt else "Use the optimizer that was saved"
        return _rest(case, instead=request) or Advice(f"{request}.")
    if change.kind in _OF_SHAPES:
        number = sum(case.saved.nodes[node].slot is None for node in change.nodes)
        return make_as_saved(case.run, change.kind.value, number)
    if change.kind in _OF_ONE_SIDE:
        left = _LEFT_UNUSED if change.kind is Kind.UNRESOLVED else _LEFT_UNCHANGED
        return _rest(case, left=left) or Advice(f"Call expect_partial(): {left}.")
    return (
        case.fix_of(change.nodes)
        or _rest(case, left="no object of the program fits these values")
        or Advice("Bring the saved part back, or leave its values out: call expect_partial().")
    )


def _rest(case: Case, *, instead: str = "", left: str = "") -> PartialFix | None:
    """Return the fix of all else; None for a fix without values."""
    is_empty = not (case.fixed or case.guessed)
    return None if is_empty else PartialFix(instead, left, takes_guesses=not case.fixed)

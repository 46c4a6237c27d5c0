"""Roots on different levels, and checkpoints of another model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.errors import SourceError
from ckpt_viz.matching.trace import Action, Cause, Step
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.object_graph.remedy import Advice, Code
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Explained, Finding, Kind
from ckpt_viz.restore_check.other_levels import (
    FittingGroup,
    Shapes,
    ShiftedGroup,
    groups_on_other_levels,
    number_of_values,
    shapes_of_values,
    shift_of,
)
from ckpt_viz.restore_check.sides import subtree
from ckpt_viz.restore_check.skeleton import Trial, skeleton_of, to_code
from ckpt_viz.text import count, listed

_MAX_TRIED = 5  # groups of pairs
_MAX_NAMED = 3  # pairs in a sentence
_IN_COMMON = 0.2  # of the values, by shape: with less, the two models are unrelated
_IN_COMMON_BY_CHANCE = 0.5  # the same if none of the values has a place in the other model
_LEVELS = "The levels differ"
_MOVE = Advice("Put the objects where they were when the checkpoint was saved.")
_DECIDE = Advice(
    "Look up which is which in the program that saved them, and restore each object in its saved "
    "place."
)


def root_shifted_or_unrelated(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find roots on different levels, and checkpoints of another model."""
    if not case.unresolved or not case.unmatched:
        return
    now = _counted(case)
    best: ShiftedGroup | None = None
    groups = list(islice(groups_on_other_levels(case), _MAX_TRIED))
    others = {node: obj for group in groups for node, obj in group.pairs.items()}
    for group in groups:
        shift = shift_of(case, group, others)
        if shift is not None and shift.number > max(now, best.number if best else 0):
            best = shift
    if best is not None:
        yield _shifted_root(case, best, now) if best.group.pairs else _equal(case, best.group)
    elif _is_unrelated(case):
        yield case.finding(
            Severity.FAIL,
            Kind.UNRELATED,
            "Nothing of the checkpoint fits the program: it seems to belong to another model "
            f"({count(number_of_values(case.saved), 'value')} against "
            f"{number_of_values(case.live)}).",
            Advice("Look at the objects of the checkpoint, and choose another path."),
            nodes=(ROOT, *sorted(case.unresolved)),
            objects=(ROOT, *sorted(case.unmatched)),
        )


def _shifted_root(case: Case, shift: ShiftedGroup, now: int) -> Finding:
    (node, obj), *others = shift.tops.items()
    fits = [f"{case.saved.name(node)} of the checkpoint fits {case.live.name(obj)}"]
    named = others if len(others) < _MAX_NAMED else others[: _MAX_NAMED - 2]
    fits += [f"{case.saved.name(n)} fits {case.live.name(o)}" for n, o in named]
    if len(others) > len(named):
        fits.append(f"and {len(others) - len(named)} more")
    evidence = ", by their names" if shift.group.has_rivals else ""
    method = "restore" if case.saved.save_counter is not None else "read"
    return case.finding(
        Severity.FAIL,
        Kind.ROOT_SHIFTED,
        f"{_LEVELS}: {', '.join(fits)}{evidence}, with {count(shift.number, 'value')} instead of "
        f"{now}.",
        _MOVE,
        nodes=dict.fromkeys((*shift.tops, *shift.values)),
        objects=dict.fromkeys((*shift.tops.values(), *shift.values.values())),
        trial=_trial(case, shift, method),
    )


def _trial(case: Case, shift: ShiftedGroup, method: str) -> Trial | None:
    """Return the remedy with code; None if no expression has these names."""
    skeleton = skeleton_of(shift.places)
    with suppress(SourceError):
        code = f"{to_code(skeleton, case.live)}.{method}(path)"
        return Trial(skeleton, method, shift.values, Code(code))
    return None


def _equal(case: Case, group: FittingGroup) -> Finding:
    nodes = [low for node in group.nodes for low in subtree(case.saved, node)]
    objects = [low for obj in group.objects for low in subtree(case.live, obj)]
    saved = listed([case.saved.name(node) for node in group.nodes])
    live = listed([case.live.name(obj) for obj in group.objects])
    return case.finding(
        Severity.FAIL,
        Kind.ROOT_SHIFTED,
        f"{_LEVELS}: {saved} of the checkpoint {'fit' if len(group.nodes) > 1 else 'fits'} {live} "
        "equally well, and names do not tell which belong together.",
        _DECIDE,
        nodes=dict.fromkeys((*group.nodes, *nodes)),
        objects=dict.fromkeys((*group.objects, *objects)),
    )


def _counted(case: Case) -> int:
    """Return how many saved values are restored, without the `save_counter`."""
    restored = case.trace.restored - {case.saved.save_counter}
    return sum(bool(case.saved.nodes[node].attributes) for node in restored)


def _is_unrelated(case: Case) -> bool:
    """Return whether the two sides share almost nothing, not counting scalars.

    Counters, rates and powers are in every checkpoint. Values that meet by name count as shared,
    even if dtype or shape prevents the restore.
    """
    saved, live = _tensors(shapes_of_values(case.saved)), _tensors(shapes_of_values(case.live))
    common = max(
        (saved & live).total(), sum(_is_refused(step) for step in case.trace.steps_of(Action.FAIL))
    )
    are_scalars = not any(shape for shapes in saved for _, shape in shapes)
    fitting = any(
        attribute.shape or are_scalars
        for node in case.trace.restored
        for attribute in case.saved.nodes[node].attributes
    )
    fewer = min(saved.total(), live.total())
    if fitting or fewer == 0:  # what has no values may not be built yet
        return False
    share = common / fewer
    return share < _IN_COMMON or (share < _IN_COMMON_BY_CHANCE and not _is_mapped(case))


def _is_mapped(case: Case) -> bool:
    """Return whether any tensor has a counterpart that is more than a guess, or its holder has."""
    mapping, parents = case.run.mapping, case.saved.tree.parents
    return any(
        (pair.certainty is not Certainty.GUESS or parents[pair.node] in mapping.parts)
        and any(attribute.shape for attribute in case.saved.nodes[pair.node].attributes)
        for pair in (*mapping.pairs, *mapping.misfits)
    )


def _is_refused(step: Step) -> bool:
    return step.failure is not None and step.failure.cause in (Cause.DTYPE, Cause.SHAPE)


def _tensors(numbers: Counter[Shapes]) -> Counter[Shapes]:
    """Return the values that are not scalars; all values if there are no others."""
    tensors = {
        shapes: number
        for shapes, number in numbers.items()
        if any(shape != () for _, shape in shapes)
    }
    return Counter(tensors) or numbers

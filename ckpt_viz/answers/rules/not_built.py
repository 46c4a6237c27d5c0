"""Values that wait until an object is built, or were saved before their object was built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from ckpt_viz.answers.dry_runs.failures import files_of, lost_to
from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.harmless import is_harmless
from ckpt_viz.answers.evidence.outlook import outlook
from ckpt_viz.answers.evidence.sides import is_optimizer
from ckpt_viz.answers.evidence.without_values import (
    model_of,
    saved_without_values,
    was_unbuilt,
    was_without_weights,
)
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.slots.keras_optimizers import TRAINABLE
from ckpt_viz.graphs.slots.optimizer_table import Generation
from ckpt_viz.ground.text import count
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action


def not_built(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find objects that will not get their values when built later, or were saved too early."""
    seen: set[int] = set()
    waiting = _waiting(case, explained)
    trapped = _trapped(case, waiting)
    for obj, nodes in trapped.items():
        yield case.run.finding(
            Severity.FAIL,
            Kind.NOT_BUILT,
            f"{type(case.live_side.object(obj)).__name__} has no build() of its own, so Keras 3 "
            "builds it by a symbolic call, in which a waiting restore fails without an error.",
            "Build the model before restoring: call it on data, or give it a build().",
            nodes=case.saved_side.unbound_below(nodes, seen),
            objects=(obj,),
        )
    for obj in waiting:
        if seen.isdisjoint(waiting[obj]):
            yield from _unfit(case, obj)


def _unfit(case: Case, obj: int) -> Iterator[Finding]:
    """Find what will not fit an object when it is built."""
    misfits = sorted(outlook(case, obj).misfits, key=lambda misfit: not misfit.nodes)
    if not misfits:
        return
    unbuilt = case.live_side.object(obj)
    more = f" ({len(misfits) - 1} more)" if len(misfits) > 1 else ""
    yield case.run.finding(
        Severity.FAIL,
        Kind.NOT_BUILT,
        f"Once built, {case.called(obj)} will not fit the checkpoint: {misfits[0].why}{more}.",
        "Make the optimizer as it was when saved, or restore the model alone."
        if facts.is_optimizer(unbuilt)
        else "Make its layers as they were when saved.",
        nodes=[node for misfit in misfits for node in misfit.nodes],
        objects=(obj,),
    )


def deferred(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved values that wait for something to be built, and those whose data file is gone."""
    seen: set[int] = set()
    waiting = _waiting(case, explained)
    if not waiting:
        return
    lost = lost_to(case.run)
    tops = dict.fromkeys((*waiting, *_unbuilt_optimizers(case)))
    looks = {obj: outlook(case, obj) for obj in tops}
    placed = set[int]().union(*(look.placed for look in looks.values()))
    everything_fits = (
        all(look.fits for look in looks.values())
        and case.unresolved <= placed
        and not case.unmatched
        and not case.trace.unused_attributes
        and not (case.run.tested is not None and case.run.tested.faults)
        and not lost
    )
    of_object: dict[int, tuple[list[int], list[int]]] = {}
    for obj, nodes in waiting.items():
        below = case.saved_side.waiting_below(nodes, seen)
        left = [node for node in below if node in case.unresolved - explained.nodes]
        if left:
            of_object[obj] = below, left
    # The finding names the first of several objects, and includes the doubts about all.
    hidden = [
        look for obj, look in looks.items() if obj not in of_object and obj not in explained.objects
    ]
    further = [why for look in hidden for why in (*look.doubts, *(m.why for m in look.misfits))]
    for obj, (below, left) in of_object.items():
        unbuilt, look = case.live_side.object(obj), looks[obj]
        wait = f"{count(len(left), 'saved value')} {'waits' if len(left) == 1 else 'wait'}"
        what = case.called(obj)
        until = f"{wait} until {what} is built"
        build = _how_to_build(case, unbuilt, below)
        doubts = look.doubts or further
        is_known = not doubts and placed.issuperset(left)
        if not is_known:
            doubt = doubts[0] if doubts else "not all of them have a place"
            why = f"{until}, and may not fit then: {doubt}."
        elif not everything_fits:
            why = f"{until}, and will fit. assert_consumed() depends on the other findings."
        elif any(look.is_by_code for look in looks.values()):
            why = (
                f"{until}. Then assert_consumed() passes, if the program's own code makes the "
                "saved objects."
            )
        else:
            needs = "variables" if facts.is_optimizer(unbuilt) else "inputs"
            why = f"{until} for the same {needs}. Then assert_consumed() passes."
        yield case.run.finding(
            Severity.DEFERRED,
            Kind.DEFERRED,
            why,
            f"Build {what} before the assert: {build}."
            if is_known
            else f"Build {what} and check again: {build}.",
            nodes=below,
            objects=(obj,),
        )
    yield from _lost(case, lost, [node for below, _ in of_object.values() for node in below])


def _lost(case: Case, lost: Mapping[str, LostFiles], waiting: Sequence[int]) -> Iterator[Finding]:
    """Find values that wait and are in a missing or cut data file."""
    failed = (step.node for step in case.trace.steps_of(Action.FAIL))
    reported = {files_of(lost, case.saved, node) for node in failed}
    of_files: dict[LostFiles, list[int]] = {}
    for node in waiting:
        files = files_of(lost, case.saved, node)
        if files is not None and files not in reported:
            of_files.setdefault(files, []).append(node)
    for files, nodes in of_files.items():
        wait = "value waits" if len(nodes) == 1 else "values wait"
        yield case.run.finding(
            Severity.WARNING,
            Kind.DAMAGED,
            f"{files.why}; {len(nodes)} {wait}, and building raises {files.raises}.",
            files.remedy,
            nodes=nodes,
        )


def _unbuilt_optimizers(case: Case) -> list[int]:
    """Return the saved optimizers that are not built: they make slots, whether any wait or not."""
    optimizers = [obj for obj in case.trace.holders if is_optimizer(case.live_side.node(obj))]
    return [obj for obj in optimizers if facts.is_unbuilt(case.live_side.object(obj))]


def _how_to_build(case: Case, unbuilt: object, waiting: Iterable[int]) -> str:
    build = (
        "call the model once"
        if not facts.is_optimizer(unbuilt)
        else "run one training step"
        if facts.is_built_by_a_step(unbuilt)
        else "call its build() with the variables that it trains, or run one training step"
    )
    if any(case.saved.tree.labels[node] == "adapt_mean" for node in waiting):
        build += ", then call finalize_state() of the adapted layers"
    return build


def _waiting(case: Case, explained: Explained) -> dict[int, list[int]]:
    """Return, by unbuilt object at which any wait, the saved nodes that wait until it is built."""
    waiting: dict[int, list[int]] = {}
    unbuilt: dict[int, int | None] = {}
    for step in (*case.trace.steps_of(Action.DEFER), *case.trace.steps_of(Action.DEFER_SLOT)):
        if step.obj is None or step.node is None or step.node not in case.saved_side.waiting:
            continue
        if step.node in explained.nodes or is_harmless(case, step.node):
            continue
        if step.obj not in unbuilt:
            unbuilt[step.obj] = _unbuilt(case, step.obj)
        obj = unbuilt[step.obj]
        if obj is not None:
            nodes = waiting.setdefault(obj, [])
            nodes += [] if _is_replaced(case, step.obj) else [step.node]
    return waiting


def _is_replaced(case: Case, obj: int) -> bool:
    """Return whether building replaces an object: what waits at the old one never comes.

    That is the list of an optimizer's trained variables (`BaseOptimizer.build` of Keras 3).
    """
    if not case.live_side.is_in_graph(obj) or case.live.tree.labels[obj] != TRAINABLE:
        return False
    return is_optimizer(case.live_side.node(case.live.tree.parents[obj]))


def _unbuilt(case: Case, obj: int) -> int | None:
    """Return the topmost unbuilt object that holds this object; None if all are built.

    Lists and dicts count for their holder: an optimizer's lists grow when it is built.
    """
    if not case.live_side.is_in_graph(obj):
        return None
    above = (obj, *case.live.tree.above(obj))
    holders = (part for part in above if case.live.nodes[part].role is not Role.CONTAINER)
    unbuilt = [*takewhile(lambda part: facts.is_unbuilt(case.live_side.object(part)), holders)]
    return unbuilt[-1] if unbuilt else None


def _trapped(case: Case, waiting: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """Return the topmost models that Keras 3 cannot build while a restore waits."""
    trapped: dict[int, list[int]] = {}
    for obj, nodes in waiting.items():
        holders = [
            part
            for part in (obj, *case.live.tree.above(obj))
            if facts.is_unbuilt(model := case.live_side.object(part))
            and facts.builds_only_when_called(model)
        ]
        if holders and nodes:
            trapped.setdefault(holders[-1], []).extend(nodes)
    return trapped


def saved_unbuilt(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find objects that were saved before they had their variables."""
    early: dict[int, list[int]] = {}
    were_unbuilt: dict[int, bool] = {}
    for top, objects in saved_without_values(case, explained).items():
        model = top
        if case.live.nodes[top].role is Role.LAYER:
            model = model_of(case, top)
            if model not in were_unbuilt:
                were_unbuilt[model] = was_unbuilt(case, model)
            if not were_unbuilt[model] or was_without_weights(case, top):
                continue
        early.setdefault(model, []).extend(objects)
    for top, objects in early.items():
        number, place = count(len(objects), "value"), case.live_side.place(top)
        yield case.run.finding(
            Severity.FAIL,
            Kind.NOT_BUILT,
            f"The saved optimizer has no {_what_optimizers_have(case, objects)}: it had made no "
            f"step, or never has any. {number} {'stays' if len(objects) == 1 else 'stay'} "
            "unchanged."
            if _may_have_had_none(case, top, objects)
            else f"The checkpoint has {place} without its {number}: {place} had no variables yet "
            "when the program saved it.",
            "Save again after you have built the model and run one training step.",
            nodes=(case.trace.holders[top][0],),
            objects=(top, *objects),
        )


def _what_optimizers_have(case: Case, objects: Iterable[int]) -> str:
    slots = all(case.live.nodes[obj].role is Role.SLOT for obj in objects)
    return "slot variables" if slots else "variables"


def _may_have_had_none(case: Case, top: int, objects: Iterable[int]) -> bool:
    """Return whether a saved optimizer may be of a kind that never has such variables."""
    if case.live.nodes[top].role is not Role.OPTIMIZER:
        return False
    of_tensorflow_1 = facts.generation(case.live_side.object(top)) is Generation.TENSORFLOW_1
    return of_tensorflow_1 or all(case.live.nodes[obj].role is Role.SLOT for obj in objects)

"""Optimizers of another kind, and optimizers that one side lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.sides import is_optimizer
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice, Fix, HowFixed, Remedy
from ckpt_viz.graphs.slots.optimizer_table import Generation
from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action, Cause

_CLASSES = {
    Generation.TENSORFLOW_1: "tf.compat.v1.train",
    Generation.LEGACY: "tf_keras.optimizers.legacy",
    Generation.KERAS_2: "tf_keras.optimizers",
    Generation.KERAS_3: "keras.optimizers of Keras 3",
}


def optimizer_generation(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find optimizers that keep their state in another way than the saved optimizers."""
    failing = case.trace.steps_of(Action.FAIL)
    hooks = {step.obj for step in failing if step.cause is Cause.SLOT_HOOK}
    pairs = [
        (node, case.saved_side.state_of(node), obj, case.live_side.state_of(obj))
        for node, (obj, _, _) in case.other_generation.items()
    ]
    state = set().union(*(nodes for _, nodes, _, _ in pairs)) | explained.nodes
    for node, nodes, obj, objects in pairs:
        _, saved_way, live_way = case.other_generation[node]
        values = [n for n in nodes if case.saved.nodes[n].attributes]
        taken = sum(n in case.trace.restored for n in values)
        number = count(len(values), "value")
        places = f"at most {taken} of {number} fit" if taken else f"none of {number} fits"
        rest = " The rest of the checkpoint fits." if case.unresolved <= state else ""
        yield case.run.finding(
            Severity.ERROR if obj in hooks else case.severity(nodes, objects),
            Kind.OPTIMIZER_GENERATION,
            f"The saved optimizer ({saved_way.value}) and the program's ({live_way.value}) keep "
            f"their state differently: {places}.{rest}",
            _remedy(case, nodes, saved_way),
            nodes=(node, *sorted(nodes - {node})),
            objects=(obj, *sorted(objects - {obj})),
        )


def _remedy(case: Case, nodes: Iterable[int], saved_way: Generation) -> Remedy:
    """Return what to do about state of another generation: the fix may move the state."""
    moved = [n for n in case.fixed.intersection(nodes) if case.saved.nodes[n].slot is not None]
    if moved:
        return Fix(HowFixed.AS_STATE, len(moved))
    return Advice(
        "Restore the model alone, or use the optimizer class that saved it "
        f"({_CLASSES[saved_way]})."
    )


def optimizer_missing(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find an optimizer that only one side has."""
    for top, nodes in case.saved_side.unresolved_groups.items():
        is_explained = top in explained.nodes or explained.nodes.issuperset(nodes)
        if top in case.trace.bound or is_explained or not is_optimizer(case.saved.nodes[top]):
            continue
        rest = _everything_else(case, len(nodes))
        yield case.run.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The program has no {case.saved_side.place(top)}, so "
            f"{count(len(nodes), 'saved value')} stay unused{rest}.",
            case.fix_of(nodes)
            or "Add the optimizer to train further. Else call "
            "assert_existing_objects_matched() in place of assert_consumed().",
            nodes=(top, *nodes),
        )
    for top, objects in case.live_side.unmatched_groups.items():
        is_explained = top in explained.objects or explained.objects.issuperset(objects)
        if top in case.trace.holders or is_explained or not is_optimizer(case.live_side.node(top)):
            continue
        yield case.run.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The checkpoint has no {case.live_side.place(top)}, so "
            f"{count(len(objects), 'value')} of the program stay unchanged.",
            case.fix_of([p.node for p in case.run.mapping.pairs if p.obj in objects])
            or "Call assert_nontrivial_match() instead of assert_consumed(); training starts "
            "with a fresh optimizer.",
            objects=(top, *objects),
        )


def _everything_else(case: Case, number: int) -> str:
    is_lost = any(attribute.is_lost for node in case.live.nodes for attribute in node.not_saved)
    if number < len(case.unresolved) or case.unmatched or is_lost:
        return ""
    return f"; everything else, {count(len(case.trace.restored), 'value')}, is restored"

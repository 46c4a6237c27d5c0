"""What makes `restore`, or an assert, raise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ckpt_viz.answers.dry_runs.failures import (
    IS_POISONED,
    REMEDIES,
    files_of,
    kind_of,
    lost_to,
    reason_and_remedy,
    remedy_for_damage,
    why_poisoned,
)
from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.formats.bundles.lost_files import LostFiles
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice
from ckpt_viz.ground.text import count
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action, Cause, Failure, SlotKind, Step


def failures(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find what `restore` raises: every failure, not only the first.

    All refusals by a scope form one finding, and so do all damaged values, all values in data files
    that are gone, and all slot variables that one object refuses.
    Slot variables that fail like their variable are in its finding.
    """
    alike = _slots_by_variable(case)
    slots_of_failing = {step.node for steps in alike.values() for step in steps}
    optimizers = {obj for obj, _, _ in case.other_generation.values()}
    together: dict[object, list[Step]] = {}
    steps = case.trace.steps_of(Action.FAIL)
    is_lost = any(step.cause is Cause.UNREADABLE for step in steps)
    lost = lost_to(case.run) if is_lost else {}
    seen: set[int] = set()
    for step in steps:
        failure = step.failure
        assert failure is not None
        if failure.cause is Cause.SCOPE:
            together.setdefault(failure.type, []).append(step)
        elif (files := _lost_at(case, lost, step)) is not None:
            together.setdefault((files.what, failure.type, failure.in_session), []).append(step)
        elif failure.cause is Cause.DAMAGED:
            together.setdefault((failure.cause, failure.in_session), []).append(step)
        elif failure.cause is Cause.SLOT_HOOK:
            if step.obj not in optimizers:  # otherwise `optimizer_generation` explains them
                together.setdefault(step.obj, []).append(step)
        elif step.node is None or step.node not in slots_of_failing:
            yield _failure(case, step, failure, seen, alike.get(step.obj, ()))
    for refused in together.values():
        yield _refused(case, refused, _lost_at(case, lost, refused[0]))


def _lost_at(case: Case, lost: Mapping[str, LostFiles], step: Step) -> LostFiles | None:
    """Return the data files whose loss is why a step fails; None for another reason."""
    return files_of(lost, case.saved, step.node) if step.cause is Cause.UNREADABLE else None


def _slots_by_variable(case: Case) -> dict[int | None, list[Step]]:
    """Return the failures of slot variables by a variable that fails for the same reason."""
    failing = {
        (step.obj, step.cause): step
        for step in case.trace.steps_of(Action.FAIL)
        if step.cause in (Cause.SHAPE, Cause.DTYPE)
    }
    by_variable: dict[int | None, list[Step]] = {}
    for (obj, cause), step in failing.items():
        live = case.live_side.node(obj) if obj is not None else None
        if live is not None and live.slot is not None and (live.slot.variable, cause) in failing:
            by_variable.setdefault(live.slot.variable, []).append(step)
    return by_variable


def _failure(
    case: Case, step: Step, failure: Failure, seen: set[int], slots: Sequence[Step]
) -> Finding:
    kind = kind_of(failure)
    reason, remedy = reason_and_remedy(case.run, failure, 1)
    if slots:
        fail = count(len(slots), "slot variable fails", "slot variables fail")
        reason = f"{reason[:-1]}; its {fail}, too."
    if failure.cause is Cause.PREDICATE and step.node is not None:
        saver = case.saved.nodes[step.node].registered_saver
        reason = f"The registered saver {saver!r} saved this object, and refuses to restore it."
    return case.run.finding(
        Severity.WARNING if failure.in_session else Severity.ERROR,
        kind,
        reason,
        remedy,
        nodes=[*_nodes(case, step, kind, seen), *(slot.node for slot in slots)],
        objects=[failing.obj for failing in (step, *slots)],
    )


def _nodes(case: Case, step: Step, kind: Kind, seen: set[int]) -> tuple[int | None, ...]:
    """Return the saved nodes of a failure: for a container that cannot be listed, all below it."""
    if step.node is None or kind is not Kind.POISONED_CONTAINER:
        return (step.node,)
    children = (child.node_id for child in case.saved.nodes[step.node].children)
    return (step.node, *case.saved_side.unbound_below(children, seen))


def _refused(case: Case, steps: list[Step], lost: LostFiles | None) -> Finding:
    failure = steps[0].failure
    assert failure is not None
    kind = kind_of(failure)
    reason, remedy = reason_and_remedy(case.run, failure, len(steps), lost)
    if failure.cause is Cause.SLOT_HOOK:
        obj = steps[0].obj
        is_optimizer = facts.is_optimizer(case.live_side.object(obj) if obj is not None else None)
        kind = Kind.OPTIMIZER_GENERATION if is_optimizer else Kind.OPTIMIZER_MISSING
        remedy = _OTHER_CLASS if is_optimizer else _NO_OPTIMIZER
    return case.run.finding(
        Severity.WARNING if failure.in_session else Severity.ERROR,
        kind,
        reason,
        remedy,
        nodes=[step.node for step in steps],
        objects=[step.obj for step in steps],
    )


_OTHER_CLASS = Advice(
    "Use the optimizer class that saved it (tf_keras.optimizers.legacy or "
    "tf.compat.v1.train), or leave the optimizer out of the checkpoint."
)
_NO_OPTIMIZER = Advice(
    "Put the optimizer in this place, or pass "
    "tf.train.CheckpointOptions(experimental_skip_slot_variables=True)."
)


def damaged_later(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find damaged values that wait: the restore returns, and their objects raise when built."""
    if case.run.tested is None or not case.run.tested.faults:
        return
    failed = {step.node for step in case.trace.steps_of(Action.FAIL)}
    faults: dict[int, Fault] = {}
    for node, proto in enumerate(case.saved.nodes):
        stored = [case.saved.stored(attribute.checkpoint_key) for attribute in proto.attributes]
        fault = next(
            (tensor.fault for tensor in stored if tensor is not None and tensor.fault), None
        )
        if fault is not None and node not in failed and node not in case.trace.bound:
            faults[node] = fault
    if faults:
        first = next(iter(faults.values()))
        waits = "waits is damaged" if len(faults) == 1 else "wait are damaged"
        yield case.run.finding(
            Severity.WARNING,
            Kind.DAMAGED,
            f"{count(len(faults), 'value')} that {waits}, and building raises {first.raises}: "
            f"{first.why}.",
            remedy_for_damage(case.run),
            nodes=faults,
        )


def slots_out_of_scope(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find slot variables that an optimizer does not make while another's scope is active."""
    waiting: dict[int, list[int]] = {}
    for step in case.trace.steps_of(Action.DEFER_SLOT):
        if step.obj is not None and step.names == (SlotKind.OUT_OF_SCOPE.value,):
            assert step.node is not None
            waiting.setdefault(step.obj, []).append(step.node)
    for obj, nodes in waiting.items():
        yield case.run.finding(
            Severity.DEFERRED,
            Kind.STRATEGY_SCOPE,
            f"{count(len(nodes), 'slot variable')} wait for the first step of {case.called(obj)}, "
            "because the scope of another tf.distribute.Strategy is active.",
            "Call restore outside of the scope, or make the optimizer inside it.",
            nodes=nodes,
            objects=(obj,),
        )


def forgotten_slots(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find slot variables that the restore reaches, but that the asserts report as left over."""
    nodes = [node for node in case.run.verdicts.unresolved if node in case.trace.bound]
    if not nodes:
        return
    names = {case.run.live_name(case.trace.bound[node]) for node in nodes}
    yield case.run.finding(
        Severity.FAIL,
        Kind.UNRESOLVED,
        f"The restore fills {count(len(nodes), 'slot variable')} of a sharded variable's shards, "
        "but the asserts miss the object that holds them.",
        "Call expect_partial() instead of the asserts: the values are restored.",
        nodes=nodes,
        objects=[obj for obj in case.run.verdicts.unmatched if case.run.live_name(obj) in names],
    )


def poisoned_before_asserts(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find containers that only the asserts or the next save reach."""
    failed = {step.obj for step in case.trace.steps_of(Action.FAIL)}
    for obj, node in enumerate(case.live.nodes):
        if node.error is None or obj in failed:
            continue
        if "NotImplementedError" in node.error:
            yield _reused(case, obj)
        elif IS_POISONED in node.error:
            yield case.run.finding(
                Severity.FAIL,
                Kind.POISONED_CONTAINER,
                f"{IS_POISONED}: every assert and the next save raise ValueError: "
                f"{why_poisoned(node.error)}.",
                REMEDIES[Cause.CHILDREN],
                objects=(obj,),
            )


def _reused(case: Case, optimizer: int) -> Finding:
    slots = facts.slots_of(case.live_side.object(optimizer))
    slot_names = (slots.get(id(case.live_side.object(obj))) for obj in range(len(case.live.nodes)))
    again = {obj: name for obj, name in enumerate(slot_names) if name is not None}
    place = case.live_side.place
    names = ", ".join(f"{place(obj)} ({name!r})" for obj, name in again.items())
    verdicts = case.run.verdicts
    # If the restore leaves out slot variables, the asserts leave them out too.
    asserts = verdicts.nontrivial is not None and verdicts.nontrivial.type == "NotImplementedError"
    raises = "every assert and the next save raise NotImplementedError"
    return case.run.finding(
        Severity.FAIL if asserts or verdicts.restore is not None else Severity.WARNING,
        Kind.SLOT_REUSED,
        f"A slot variable of {place(optimizer)} is tracked a second time, as {names}: "
        f"{raises if asserts else 'the next save raises NotImplementedError'}.",
        "Do not assign a slot variable to an attribute of a tracked object.",
        objects=(*again, optimizer),
    )


def partial_overwrite(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find a restore that stops when some variables already have their new values."""
    if not case.trace.steps_of(Action.FAIL):
        return
    written: list[Step] = []
    for step in case.trace.steps:
        if step.raises:
            if written and step.cause is not Cause.ABORT:
                yield _overwritten(case, written)
            return
        if (
            step.action is Action.RESTORE
            and step.obj is not None
            and case.live_side.is_in_graph(step.obj)
        ):
            written.append(step)


def _overwritten(case: Case, written: list[Step]) -> Finding:
    return case.run.finding(
        Severity.ERROR,
        Kind.PARTIAL_OVERWRITE,
        f"The restore raises after it has overwritten {count(len(written), 'value')}.",
        "Fix the cause, then recreate the objects: some are already overwritten.",
        nodes=[step.node for step in written],
        objects=[step.obj for step in written],
    )

"""What makes `restore`, or an assert, raise."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.live import facts
from ckpt_viz.matching.trace import Action, Cause, Failure, Step
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, count
from ckpt_viz.restore_check.finding import Finding, Kind

_SCOPE = "under the scope for tf.distribute.Strategy"
_REUSED = "slot variable"
_KINDS = {
    Cause.SHAPE: Kind.SHAPE,
    Cause.DTYPE: Kind.DTYPE,
    Cause.KEY_MISSING: Kind.KEY_MISSING,
    Cause.UNREADABLE: Kind.KEY_MISSING,
    Cause.CHILDREN: Kind.POISONED_CONTAINER,
    Cause.PREDICATE: Kind.SAVER_UNKNOWN,
    Cause.CODE: Kind.UNKNOWABLE,
}


def failures(case: Case) -> Iterator[Finding]:
    """Find what `restore` raises, each failure and not only the first."""
    told = {obj for obj, _, _ in case.other_generation.values()}
    for step in case.steps(Action.FAIL):
        assert step.failure is not None
        if step.failure.cause is Cause.SLOT_HOOK and step.obj in told:
            continue  # one finding tells of all its slots
        kind, remedy = _explained(case, step, step.failure)
        yield case.finding(
            Severity.ERROR,
            kind,
            _why(step.failure, kind),
            remedy,
            nodes=() if step.node is None else (step.node,),
            objects=() if step.obj is None else (step.obj,),
        )


def _explained(case: Case, step: Step, failure: Failure) -> tuple[Kind, str]:
    if _SCOPE in failure.message:
        return Kind.STRATEGY_SCOPE, (
            "Call restore inside `with strategy.scope():` of the strategy that made the variables."
        )
    if failure.cause is Cause.SLOT_HOOK:
        obj = case.live.object(step.obj) if step.obj is not None else None
        if facts.is_optimizer(obj):
            return Kind.OPTIMIZER_GENERATION, (
                "Restore with the optimizer class that saved it (tf_keras.optimizers.legacy or "
                "tf.compat.v1.train), or leave the optimizer out of the checkpoint."
            )
        return Kind.OPTIMIZER_MISSING, (
            "Put the optimizer in its place, or pass "
            "CheckpointOptions(experimental_skip_slot_variables=True)."
        )
    return _KINDS.get(failure.cause, Kind.UNKNOWABLE), _REMEDIES.get(failure.cause, _OWN_CODE)


_OWN_CODE = "Look at the object's own code, which raises this."
_REMEDIES = {
    Cause.SHAPE: "Make the variable with the saved shape, or give it another local name to leave "
    "its saved value unused.",
    Cause.DTYPE: "Make the variable with the saved dtype, and cast where it is used.",
    Cause.KEY_MISSING: "Restore into an object of the class that was saved: this one reads other "
    "names.",
    Cause.UNREADABLE: "Copy the whole checkpoint again: the index and every data file.",
    Cause.CHILDREN: "Assign a new list or dict instead of changing the tracked one, and keep what "
    "must not be tracked out of it.",
    Cause.PREDICATE: "Restore into an object that the saver was registered for.",
}


def _why(failure: Failure, kind: Kind) -> str:
    if failure.cause in (Cause.SHAPE, Cause.DTYPE) and failure.found:
        what = "shape" if failure.cause is Cause.SHAPE else "dtype"
        return (
            f"The saved value has {what} {failure.found}, the program's variable "
            f"{failure.expected}."
        )
    first = failure.message.strip().split("\n")[0]
    return f"{failure.type}: {first}"


def poisoned_before_asserts(case: Case) -> Iterator[Finding]:
    """Find containers that only the asserts come upon, or the next save."""
    told = {step.obj for step in case.steps(Action.FAIL)}
    for obj, node in enumerate(case.live.nodes):
        if node.error is None or obj in told:
            continue
        if "NotImplementedError" in node.error:
            yield case.finding(
                Severity.FAIL,
                Kind.SLOT_REUSED,
                f"An optimizer's slot variable is tracked by another object, too: {node.error}.",
                "Do not assign a slot variable to an attribute of a tracked object.",
                objects=(obj,),
            )
        elif "Unable to save the object" in node.error:
            yield case.finding(
                Severity.FAIL,
                Kind.POISONED_CONTAINER,
                f"TensorFlow refuses to list what this container holds: {node.error}",
                _REMEDIES[Cause.CHILDREN],
                objects=(obj,),
            )


def partial_overwrite(case: Case) -> Iterator[Finding]:
    """Find a restore that stops when some variables have their new values already."""
    written: list[Step] = []
    for step in case.trace.steps:
        if step.action is Action.FAIL and step.failure is not None:
            if not step.failure.in_session and written:
                yield _overwritten(case, written)
            return
        if step.action is Action.RESTORE:
            written.append(step)


def _overwritten(case: Case, written: list[Step]) -> Finding:
    nodes = [step.node for step in written if step.node is not None]
    objects = [step.obj for step in written if step.obj is not None]
    return case.finding(
        Severity.ERROR,
        Kind.PARTIAL_OVERWRITE,
        f"Restore stops half-way: {count(len(written), 'value')} would already be overwritten "
        "when it raises.",
        "Mend the cause first; after such a failure, build the objects anew.",
        nodes=nodes,
        objects=objects,
    )


def process_abort(case: Case) -> Iterator[Finding]:
    """Find the restore of a hash table that kills the process."""
    for step in case.steps(Action.RESTORE):
        if step.obj is None or step.node is None:
            continue
        reason = facts.aborts(
            case.live.object(step.obj) if case.is_live_node(step.obj) else None,
            [case.saved.stored(key) for key in step.names],
        )
        if reason:
            yield case.finding(
                Severity.ERROR,
                Kind.PROCESS_ABORT,
                reason,
                "Do not restore this: make a table of the class that was saved.",
                nodes=(step.node,),
                objects=(step.obj,),
            )

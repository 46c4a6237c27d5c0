"""What a restore does on purpose, and what no check can know."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.sides import is_optimizer
from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.engines.trace import Action

_HYPERPARAMETERS = ("learning_rate", "decay", "beta_1", "beta_2", "momentum", "rho")


def unknowable(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find values that the object's own code takes, and restores that run later."""
    if case.trace.builds_graph:
        yield case.run.finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            "In a graph, restore() only adds operations; run_restore_ops() assigns the values "
            "later.",
            "Call run_restore_ops() on the status that restore() returns.",
        )
    for node, obj, _ in case.trace.joining(Action.RESTORE):
        live = case.live_side.node(obj)
        if live is None or live.role in (Role.VARIABLE, Role.SLOT):
            continue
        if facts.takes_values_by_own_code(case.live_side.object(obj)):
            yield case.run.finding(
                Severity.INFO,
                Kind.UNKNOWABLE,
                "The object's own code takes the saved value; only a real restore shows whether it "
                "can.",
                "Restore into a copy of the object first.",
                nodes=(node,),
                objects=(obj,),
            )


def overwritten(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find hyperparameters whose present values differ from the saved values."""
    for node in sorted(case.trace.restored):
        step = case.trace.binding_steps.get(node)
        name = step.name.strip("_") if step is not None else ""
        if step is None or step.parent is None or name not in _HYPERPARAMETERS:
            continue
        if not is_optimizer(case.saved.nodes[step.parent]) or _is_unused(case, step.parent):
            continue
        values = _scalars(case, node, case.trace.bound[node])
        if values is not None and values[0] != values[1]:
            yield case.run.finding(
                Severity.INFO,
                Kind.OVERWRITTEN,
                f"The restore changes {name} from {values[1]:.7g} to the saved {values[0]:.7g}.",
                "To keep the program's value, set it again after restoring.",
                nodes=(node,),
                objects=(case.trace.bound[node],),
            )


def _is_unused(case: Case, optimizer: int) -> bool:
    """Return whether the rate of the program's optimizer has no effect: inner optimizers count."""
    obj = case.trace.bound.get(optimizer)
    return obj is not None and facts.has_inner_optimizers(case.live_side.object(obj))


def _scalars(case: Case, node: int, obj: int) -> tuple[float, float] | None:
    """Return the saved and the live value of a scalar; None if either cannot be read."""
    live = case.live_side.node(obj)
    attributes = (*case.saved.nodes[node].attributes, *(live.attributes if live else ()))
    if len(attributes) != 2 or any(attribute.shape != () for attribute in attributes):
        return None
    try:
        return (
            float(case.saved.read(attributes[0].checkpoint_key)),
            float(case.live.read(attributes[1].checkpoint_key)),
        )
    except Exception:  # another rule reports unreadable values
        return None

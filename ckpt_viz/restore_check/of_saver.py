"""A `tf.compat.v1.train.Saver` as the live side: what its `restore` would touch.

Follows `Saver.restore` in tensorflow/python/training/saver.py: all names at once, and in an
object-based checkpoint the full names of its variables. It returns no status; the asserts of
this check pass where `restore` would not raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ckpt_viz.live import tensorflow_restore as tf_restore
from ckpt_viz.live.opening import open_as_restore
from ckpt_viz.live.source import read_live
from ckpt_viz.matching.engine import fits
from ckpt_viz.matching.name_based import NameTrace
from ckpt_viz.matching.trace import Action, Cause, Failure, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Attribute, Stored
from ckpt_viz.restore_check.dry_run import DryRun
from ckpt_viz.restore_check.verdicts import Raised, Verdicts
from ckpt_viz.saved.source import read_saved

RESTORE = "restore"
_ALTERED = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please "
    "ensure that you have not altered the graph expected based on the checkpoint. Original error:"
    "\n\n{}"
)
_NAME = "a Variable name or other graph key that is missing"
_MISMATCH = "a mismatch between the current graph and the graph"


def of_saver(saver: Any, saved: object) -> DryRun:
    """Return what `saver.restore(session, saved)` would do; adds no operation, runs none."""
    live = read_live(saver)
    if saved is None:
        return _raising(live, Raised("ValueError", "Can't load save_path when it is None."))
    path = saved.provenance.prefix if isinstance(saved, Graph) and saved.provenance else saved
    opened = open_as_restore(path, resolves=False)
    if opened.failure is not None:
        message = f"The passed save_path is not a valid checkpoint: {path}"
        refused = Raised("ValueError", message)
        if opened.failure.type != "NotFoundError":
            refused = Raised(opened.failure.type, opened.failure.message)
        return _raising(live, refused, str(path))
    if opened.tensors is not None:
        tensors, is_by_name = opened.tensors, True
    else:
        tensors, is_by_name = _by_full_name(read_saved(opened.prefix)), False
    trace = _match(live, tensors, _refuses_shapes_by(saver))
    raised = _first(trace, is_by_name=is_by_name)
    verdicts = Verdicts(raised, raised, raised, raised, (), tuple(trace.unused))
    return DryRun(live, None, trace, verdicts, RESTORE, reading=str(path), tensors=tensors)


def _raising(live: Graph, raised: Raised, path: str | None = None) -> DryRun:
    verdicts = Verdicts(raised, raised, raised, raised)
    return DryRun(live, None, None, verdicts, RESTORE, reading=path)


def _by_full_name(graph: Graph) -> dict[str, Stored]:
    """Return an object-based checkpoint's tensors by the full names of its variables."""
    found = {}
    for node in graph.nodes:
        for attribute in node.attributes:
            stored = graph.stored(attribute.checkpoint_key)
            if attribute.full_name and stored is not None:
                found[attribute.full_name] = stored
    return found


def _refuses_shapes_by(saver: Any) -> Callable[[object], str]:
    """Return a function from a variable to the class of what a wrong shape raises; "" for none.

    A graph's resource variables take a value of any shape.
    """
    if tf_restore.reshapes(saver):
        return lambda variable: ""
    if tf_restore.is_eager():
        return lambda variable: "ValueError"
    return lambda variable: "InvalidArgumentError" if tf_restore.is_reference(variable) else ""


def _match(
    live: Graph, tensors: Mapping[str, Stored], refused_by: Callable[[object], str]
) -> NameTrace:
    trace = NameTrace()
    missing: list[Step] = []
    mismatched: list[Step] = []
    for node_id, node in enumerate(live.nodes):
        for attribute in node.attributes:
            name = attribute.full_name
            stored = tensors.get(name)
            if stored is None:
                failure = Failure(
                    Cause.KEY_MISSING, "NotFoundError", f"Key {name} not found in checkpoint"
                )
                missing.append(Step(Action.FAIL, None, node_id, None, name, (), failure))
                trace.unused[node_id] = (*trace.unused.get(node_id, ()), name)
                continue
            misfit = _misfit(attribute, stored, refused_by(live.object(node_id)))
            if misfit is not None:
                mismatched.append(Step(Action.FAIL, None, node_id, None, name, (), misfit))
                continue
            trace.steps.append(Step(Action.RESTORE, None, node_id, None, name, (name,)))
            trace.bound.setdefault(name, []).append(node_id)
    # All tensors are read before any is assigned.
    trace.steps[:0] = sorted(missing, key=lambda step: step.name) + mismatched
    return trace


def _misfit(attribute: Attribute, stored: Stored, refused_by: str) -> Failure | None:
    if attribute.dtype is not None and stored.dtype != attribute.dtype:
        return Failure(
            Cause.DTYPE,
            "InvalidArgumentError",
            f"tensor_name = {attribute.full_name}; expected dtype {attribute.dtype} does not "
            f"equal original dtype {stored.dtype}",
            found=stored.dtype or "",
            expected=attribute.dtype,
        )
    if not fits(attribute.shape, stored.shape) and refused_by:
        return Failure(
            Cause.SHAPE,
            refused_by,
            f"Assign requires shapes of both tensors to match. lhs shape= {attribute.shape} rhs "
            f"shape= {stored.shape}",
            found=str(stored.shape),
            expected=str(attribute.shape),
        )
    return None


def _first(trace: NameTrace, *, is_by_name: bool) -> Raised | None:
    failure = trace.raised
    if failure is None:
        return None
    if failure.cause is not Cause.KEY_MISSING:
        return Raised(failure.type, _ALTERED.format(_MISMATCH, failure.message))
    names = ", ".join(sorted(name for names in trace.unused.values() for name in names))
    if is_by_name:
        return Raised(failure.type, _ALTERED.format(_NAME, f"not found in checkpoint: {names}"))
    return Raised(failure.type, f"Existing variables not in the checkpoint: {names}")

"""Values of the program that no checkpoint holds, on either side."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.live import facts
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.words import count

_MAX_NAMED = 3


def not_tracked(case: Case, told: Told) -> Iterator[Finding]:
    """Find attributes and weights that TensorFlow does not follow."""
    found = False
    for obj, node in enumerate(case.live.nodes):
        for one in node.not_saved:
            if _is_internal(case.live_object(obj), node, one.name):
                continue
            found = True
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"TensorFlow does not follow the attribute {one.name!r} ({one.type_name}), which "
                f"holds {count(one.count, 'object')} with values; they are neither saved nor "
                "restored, and no assert tells.",
                "Assign each to an attribute of its own, or give it to tf.train.Checkpoint under a "
                "name.",
                objects=(obj,),
            )
    if not found:
        yield from _weights(case)


def _is_internal(obj: object, node: Node, attribute: str) -> bool:
    """Return whether the attribute is none of the program's own: its owner keeps it for itself."""
    return (
        node.role is Role.CONTAINER
        or node.error is not None  # and so it could not be asked for what it holds
        or facts.is_layer_of_keras(obj)
        or facts.is_kept_by_keras(obj, attribute)
    )


def _weights(case: Case) -> Iterator[Finding]:
    known = {id(case.live_object(obj)) for obj in range(len(case.live.nodes))}
    for obj, node in enumerate(case.live.nodes):
        if node.role is not Role.LAYER:
            continue
        missing = facts.untracked_weights(case.live_object(obj), known)
        if missing:
            names = ", ".join(missing[:_MAX_NAMED]) + (", …" if len(missing) > _MAX_NAMED else "")
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"{count(len(missing), 'weight')} of this {node.type_name} are not in the object "
                f"graph ({names}); they are neither saved nor restored, and no assert tells.",
                "Assign what holds them to an attribute, not to a list, dict or set.",
                objects=(obj,),
            )
            return  # what contains this model would tell it once more

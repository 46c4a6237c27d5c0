"""Values of the program that no checkpoint holds, on either side."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.live import facts
from ckpt_viz.object_graph.nodes import Node, NotSaved, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, count
from ckpt_viz.restore_check.finding import Finding, Kind

_MAX_NAMED = 3


def not_tracked(case: Case) -> Iterator[Finding]:
    """Find attributes and weights that TensorFlow does not follow."""
    told = False
    for obj, node in enumerate(case.live.nodes):
        for one in node.not_saved:
            if node.role is Role.CONTAINER or _is_internal(node, one):
                continue
            told = True
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"TensorFlow does not follow the attribute {one.name!r} ({one.type_name}), which "
                f"holds {count(one.count, 'object')} with values; they are neither saved nor "
                "restored, and every assert passes.",
                "Assign each to an attribute of its own, or use a tuple.",
                objects=(obj,),
            )
    if not told:
        yield from _weights(case)


def _is_internal(node: Node, one: NotSaved) -> bool:
    """Return whether Keras itself keeps the attribute: counters, seeds, the ends of a model."""
    if one.name.startswith("_"):
        return True
    return node.role is Role.LAYER and (
        one.name in ("inputs", "outputs") or one.type_name == "SeedGenerator"
    )


def _weights(case: Case) -> Iterator[Finding]:
    known = {id(case.live.object(obj)) for obj in range(len(case.live.nodes))}
    for obj, node in enumerate(case.live.nodes):
        if node.role is not Role.LAYER:
            continue
        missing = facts.untracked_weights(case.live.object(obj), known)
        if missing:
            names = ", ".join(missing[:_MAX_NAMED]) + (", …" if len(missing) > _MAX_NAMED else "")
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"{count(len(missing), 'weight')} of {node.type_name} are not in the object graph "
                f"({names}); they are neither saved nor restored, and every assert passes.",
                "Assign what holds them to an attribute, not to a list, dict or set.",
                objects=(obj,),
            )
            return  # what contains this model would tell it once more

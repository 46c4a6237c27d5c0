"""Values of the program that no checkpoint holds, on either side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ckpt_viz.live import facts
from ckpt_viz.live.untracked import ids_of
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.text import count

_MAX_NAMED = 3


def not_tracked(case: Case, told: Told) -> Iterator[Finding]:
    """Find attributes and weights that TensorFlow does not follow."""
    attributes = tuple(_attributes(case))
    yield from attributes or _weights(case)
    for obj, node in enumerate(case.live.nodes):
        if node.role is Role.LAYER and obj in case.holders:
            yield from _not_finalized(case, obj)
            yield from _not_adapted(case, obj)


def _attributes(case: Case) -> Iterator[Finding]:
    for obj, node in enumerate(case.live.nodes):
        for one in node.not_saved:
            if _is_internal(case.live_object(obj), node, one.name):
                continue
            it = f"{one.name!r} ({one.type_name})"
            held = f"{count(one.count, 'object')} with values; they are neither saved nor restored"
            is_followed = case.live_child(obj, one.name) is not None
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"TensorFlow follows the attribute {it}, but not the plain objects in it, which "
                f"hold {held}, and no assert tells."
                if is_followed
                else f"TensorFlow does not follow the attribute {it}, which holds {held}, and no "
                "assert tells.",
                "Derive the class of these objects from tf.Module, or assign each value to an "
                "attribute of its own."
                if is_followed
                else "Assign each to an attribute of its own, or give it to tf.train.Checkpoint "
                "under a name.",
                objects=(obj,),
            )


def _is_internal(obj: object, node: Node, attribute: str) -> bool:
    """Return whether the attribute is none of the program's own: its owner keeps it for itself."""
    return (
        node.role is Role.CONTAINER
        or node.error is not None  # and so it could not be asked for what it holds
        or (facts.is_layer_of_keras(obj) and not facts.is_state_between_calls(obj, attribute))
        or facts.is_kept_by_keras(obj, attribute)
    )


def _weights(case: Case) -> Iterator[Finding]:
    layers = [obj for obj, node in enumerate(case.live.nodes) if node.role is Role.LAYER]
    if not layers:
        return
    known = ids_of([case.live_object(obj) for obj in range(len(case.live.nodes))])
    for obj in layers:
        it = case.live_object(obj)
        if facts.tracks_when_built(it):
            known |= ids_of(facts.weights_of(it))
    for obj in layers:
        missing = facts.untracked_weights(case.live_object(obj), known)
        if missing:
            names = ", ".join(missing[:_MAX_NAMED]) + (", …" if len(missing) > _MAX_NAMED else "")
            yield case.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"{count(len(missing), 'weight')} of this {case.live.nodes[obj].type_name} are not "
                f"in the object graph ({names}); they are neither saved nor restored, and no "
                "assert tells.",
                "Assign what holds them to an attribute, not to a list, dict or set.",
                objects=(obj,),
            )
            return  # what contains this model would tell it once more


# --- layers that are adapted to data


def _not_finalized(case: Case, obj: int) -> Iterator[Finding]:
    """Find a layer that computes on with what it made of its variables before the restore."""
    layer, node = case.live_object(obj), case.live.nodes[obj]
    stale = {
        child.local_name: saved
        for child in node.children
        if child.local_name in facts.FINALIZED
        for saved in case.holders.get(child.node_id, ())[:1]
        if saved in case.restored
        and facts.is_stale(layer, child.local_name, _restored_value(case, saved, child.node_id))
    }
    if stale:
        yield case.finding(
            Severity.WARNING,
            Kind.NOT_TRACKED,
            f"This {node.type_name} computes with what finalize_state() made of "
            f"{' and '.join(stale)}; the restore does not call it, so other values change nothing, "
            "and no assert tells.",
            "Call finalize_state() of the layer after restoring, and compile() the model again if "
            "it has made predictions before.",
            nodes=(case.holders[obj][0], *stale.values()),
            objects=(obj,),
        )


def _restored_value(case: Case, node: int, obj: int) -> Any:
    """Return the saved value of a variable, or what it holds after a restore that has happened."""
    for graph, of in ((case.saved, node), (case.live, obj)):
        with suppress(Exception):  # unreadable here is told where it is the matter
            return graph.read(graph.nodes[of].attributes[0].checkpoint_key)
    return None


def _not_adapted(case: Case, obj: int) -> Iterator[Finding]:
    """Find a layer that lacks what it can only be given, or learn from data."""
    lacking = facts.lacks(case.live_object(obj))
    if lacking is None:
        return
    if case.live.tree.labels[obj] == "_lookup_layer":  # the program knows the one that holds it
        obj = case.live.tree.parents[obj]
    yield case.finding(
        Severity.WARNING,
        Kind.NOT_TRACKED,
        f"This {case.live.nodes[obj].type_name} has no {lacking} yet and gets none, for no "
        "checkpoint holds one; calling it will raise, though every assert may pass.",
        f"Call its adapt(), or give it the {lacking} that it was saved with; model.save() keeps "
        f"the {lacking}, too.",
        nodes=case.holders.get(obj, ())[:1],
        objects=(obj,),
    )

"""Values of the program that no checkpoint holds, on either side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.nodes.in_no_checkpoint import in_no_checkpoint, what_to_do
from ckpt_viz.graphs.nodes.nodes import Node, NotSaved, Role
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.slots.hanging import trained_variables
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.code_reading import is_set_by_libraries
from ckpt_viz.live.objects.composed_variables import Known
from ckpt_viz.live.objects.left_aside import aside_of
from ckpt_viz.live.objects.untracked import attributes_of
from ckpt_viz.matching.changes.kind import Kind

_MAX_NAMED = 3


def not_tracked(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find attributes and weights that TensorFlow does not follow."""
    left_out = [
        (obj, attribute)
        for obj, node in enumerate(case.live.nodes)
        for attribute in node.not_saved
        if not _is_internal(case.live_side.object(obj), node, attribute)
    ]
    state = [
        (obj, attribute)
        for obj, attribute in left_out
        if _is_state(case.live_side.object(obj), attribute)
    ]
    attributes = [_attribute(case, *pair) for pair in left_out if pair not in state]
    yield from attributes or _weights(case)
    if state:
        yield _state(case, state)
    for obj, node in enumerate(case.live.nodes):
        if node.role is Role.LAYER and obj in case.trace.holders:
            yield from _not_finalized(case, obj)
            yield from _not_adapted(case, obj)


def _attribute(case: Case, obj: int, attribute: NotSaved) -> Finding:
    place = case.live_side.graph.names.child_place(obj, attribute.name)
    kind = attribute.type_name
    hanging = _hanging_left(case) if attribute.is_lost else []
    advice = what_to_do(attribute)
    if hanging:
        why = (
            f"{place}: a restore leaves {_missed(attribute)} as they are, because TensorFlow does "
            f"not track the {kind}. The checkpoint has {count(len(hanging), 'trained value')} in "
            "the optimizer's list alone."
        )
        advice = (
            "Build the optimizer for this model and restore both, as the program did that saved: "
            "the optimizer's list leads to these values."
        )
        if trained_variables(case.live.nodes):
            advice = (
                "Let the optimizer train all layers, and restore both. Freeze layers after that: "
                "only the optimizer's list leads to these values."
            )
    elif attribute.is_lost:
        is_tracked = case.live_side.child(obj, attribute.name) is not None
        what = f"the plain objects in the {kind}" if is_tracked else f"the {kind}"
        why = (
            f"{in_no_checkpoint(place, [attribute])} TensorFlow does not track {what}, and no "
            "assert fails."
        )
        if is_tracked:
            advice = (
                "Derive the class of these objects from tf.Module, or assign each value to an "
                "attribute of its own."
            )
    else:
        why = (
            f"{place}: no checkpoint holds its {count(attribute.count, 'object')} under this name, "
            f"but no trained value is lost. TensorFlow does not track the {kind}."
        )
    severity = Severity.WARNING if attribute.is_lost else Severity.INFO
    return case.run.finding(severity, Kind.NOT_TRACKED, why, advice, nodes=hanging, objects=(obj,))


def _missed(attribute: NotSaved) -> str:
    if attribute.variables:
        return count(attribute.variables, "variable")
    return count(attribute.count, "object")


def _hanging_left(case: Case) -> list[int]:
    """Return the saved variables that only an optimizer leads to, and that stay in the file."""
    hanging = case.saved.hanging.variables
    return [node for node in hanging if node not in case.trace.restored]


def _state(case: Case, left_out: Sequence[tuple[int, NotSaved]]) -> Finding:
    """Find metrics and the like, which begin again after a restore."""
    place = case.live_side.graph.names.child_place
    names = [f"{place(obj, attribute.name)} ({attribute.type_name})" for obj, attribute in left_out]
    return case.run.finding(
        Severity.INFO,
        Kind.NOT_TRACKED,
        f"TensorFlow neither saves nor restores {listed(names)}: metrics, seeds and counters start "
        "again, and no trained value is lost.",
        "To save such state, pass tf.train.Checkpoint a keyword with the list of its variables.",
        objects=[obj for obj, _ in left_out],
    )


def _is_state(obj: object, attribute: NotSaved) -> bool:
    """Return whether an attribute holds no weights, not even some that are tracked elsewhere."""
    return not attribute.is_lost and not facts.holds_weights(attributes_of(obj).get(attribute.name))


def _is_internal(obj: object, node: Node, attribute: NotSaved) -> bool:
    """Return whether an attribute is internal to its owner, not the program's own."""
    if node.role is Role.CONTAINER or node.error is not None:  # which could not list its parts
        return True
    aside = aside_of(obj)
    if aside is not None and aside.what == attribute.name:  # a rule of its own reports it
        return True
    if facts.is_state_between_calls(obj, attribute.name):
        return False
    is_of_library = is_set_by_libraries(obj, attribute.name)
    if facts.is_layer_of_keras(obj):
        return is_of_library or attribute.name.startswith("_")
    return (is_of_library and not attribute.is_lost) or facts.is_kept_by_keras(obj, attribute.name)


def _weights(case: Case) -> Iterator[Finding]:
    layers = [obj for obj, node in enumerate(case.live.nodes) if node.role is Role.LAYER]
    if not layers:
        return
    known = Known([case.live_side.object(obj) for obj in range(len(case.live.nodes))])
    for obj in layers:
        layer = case.live_side.object(obj)
        if facts.tracks_when_built(layer):
            known.add(facts.weights_of(layer))
    for obj in layers:
        missing = facts.untracked_weights(case.live_side.object(obj), known)
        if missing:
            names = ", ".join(missing[:_MAX_NAMED]) + (", …" if len(missing) > _MAX_NAMED else "")
            yield case.run.finding(
                Severity.WARNING,
                Kind.NOT_TRACKED,
                f"The object graph lacks {count(len(missing), 'weight')} of this "
                f"{case.live.nodes[obj].type_name} ({names}): no checkpoint holds them, and no "
                "assert fails.",
                "Assign the object that holds them to an attribute, not to a list, dict or set.",
                objects=(obj,),
            )
            return  # a model that contains this layer would report the weights again


# --- layers that are adapted to data


def _not_finalized(case: Case, obj: int) -> Iterator[Finding]:
    """Find a layer that still computes with values from before the restore."""
    layer, node = case.live_side.object(obj), case.live.nodes[obj]
    stale = {
        child.local_name: saved
        for child in node.children
        if child.local_name in facts.FINALIZED
        for saved in case.trace.holders.get(child.node_id, ())[:1]
        if saved in case.trace.restored
        and facts.is_stale(layer, child.local_name, _restored_value(case, saved, child.node_id))
    }
    if stale:
        yield case.run.finding(
            Severity.WARNING,
            Kind.NOT_TRACKED,
            f"This {node.type_name} keeps using its old {' and '.join(stale)}, because the "
            "restore does not call finalize_state(); no assert fails.",
            "Call the layer's finalize_state() after restoring, and compile() the model again "
            "if it has made predictions.",
            nodes=(case.trace.holders[obj][0], *stale.values()),
            objects=(obj,),
        )


def _restored_value(case: Case, node: int, obj: int) -> Any:
    """Return the saved value of a variable, or its present value if the restore was real."""
    for graph, of in ((case.saved, node), (case.live, obj)):
        with suppress(Exception):  # another rule reports unreadable values
            return graph.read(graph.nodes[of].attributes[0].checkpoint_key)
    return None


def _not_adapted(case: Case, obj: int) -> Iterator[Finding]:
    """Find a layer that lacks data which it can only be given, or learn by adapting."""
    lacking = facts.lacks(case.live_side.object(obj))
    if lacking is None:
        return
    if case.live.tree.labels[obj] == "_lookup_layer":  # the program knows the layer that holds it
        obj = case.live.tree.parents[obj]
    yield case.run.finding(
        Severity.WARNING,
        Kind.NOT_TRACKED,
        f"This {case.live.nodes[obj].type_name} has no {lacking} yet, and no checkpoint holds one: "
        "calling it raises, although every assert may pass.",
        f"Call its adapt(), or give it the {lacking} of the saved program; Keras' save() "
        f"stores the {lacking}.",
        nodes=case.trace.holders.get(obj, ())[:1],
        objects=(obj,),
    )

"""Layers and optimizers that were saved without the values that the program has for them."""

from __future__ import annotations

from ckpt_viz.answers.dry_runs.finding import Explained
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.harmless import is_count_of_keras
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.building import WITHOUT_WEIGHTS

_OPERATIONS = "_operations"  # where Keras 3 keeps the layers of a model that is built


def saved_without_values(case: Case, explained: Explained) -> dict[int, list[int]]:
    """Return live values by the topmost layer or optimizer that was saved without any."""
    by_top: dict[int, list[int]] = {}
    tops: dict[int, int | None] = {}
    for obj in case.run.verdicts.unmatched:
        if (
            case.live_side.is_in_graph(obj)
            and obj not in explained.objects
            and not is_count_of_keras(case, obj)
        ):
            top = _topmost_without_values(case, obj, tops)
            if top is not None:
                by_top.setdefault(top, []).append(obj)
    return by_top


def _topmost_without_values(case: Case, obj: int, tops: dict[int, int | None]) -> int | None:
    slot = case.live.nodes[obj].slot
    if slot is not None and slot.optimizer is not None:
        node = case.trace.holders.get(slot.optimizer, (None,))[0]
        if node is None or node in case.other_generation:
            return None
        return None if case.saved_side.has_slots(node) else slot.optimizer
    way = []
    above = obj
    while above >= 0 and above not in tops:
        way.append(above)
        above = case.live.tree.parents[above]
    top = tops.get(above)
    for passed in reversed(way):
        if top is None and _is_empty_on_the_saved_side(case, passed):
            top = passed
        tops[passed] = top
    return top


def _is_empty_on_the_saved_side(case: Case, obj: int) -> bool:
    live, nodes = case.live.nodes[obj], case.trace.holders.get(obj, ())
    return (
        live.role in (Role.LAYER, Role.OPTIMIZER)
        and bool(nodes)
        and case.saved_side.valued.isdisjoint(nodes)
    )


def model_of(case: Case, obj: int) -> int:
    """Return the topmost saved layer that holds an object or is the object."""
    saved = (above for above in case.live.tree.above(obj) if above in case.trace.holders)
    layers = [above for above in saved if case.live.nodes[above].role is Role.LAYER]
    return layers[-1] if layers else obj


def was_unbuilt(case: Case, model: int) -> bool:
    """Return whether a model whose layers have no saved values was saved before it had any.

    A file has no types: a layer without weights looks the same. So if there are several layers, all
    must have been saved without values. If the model is a single layer, this applies to all layers
    of the program.
    """
    is_model = sum(_is_layer(case, obj) for obj in case.live.tree.below(model)) > 1
    parts = _layers_with_weights(case, model if is_model else ROOT)
    if any(_had_weights(case, part) for part in parts):
        return False
    is_bare = is_model and not case.saved.nodes[case.trace.holders[model][0]].children
    return len(parts) > 1 or is_bare  # a Sequential of Keras 3 is bare before it is built


def was_without_weights(case: Case, layer: int) -> bool:
    """Return whether a layer that was saved without values surely never has any.

    A SavedModel gives its class; Keras 3 keeps operations only in models that are built.
    """
    parts = _layers_with_weights(case, layer)
    types = [
        case.saved.nodes[n].type_name for part in parts for n in case.trace.holders.get(part, ())
    ]
    if types and WITHOUT_WEIGHTS.issuperset(types):
        return True
    return any(
        case.saved_side.child(node, _OPERATIONS)
        for above in case.live.tree.above(layer)
        for node in case.trace.holders.get(above, ())
    )


def _layers_with_weights(case: Case, top: int) -> list[int]:
    nodes = case.live.nodes
    return [
        obj
        for obj in case.live.tree.below(top)
        if _is_layer(case, obj)
        and any(nodes[child.node_id].attributes for child in nodes[obj].children)
    ]


def _is_layer(case: Case, obj: int) -> bool:
    is_layer = case.live.nodes[obj].role is Role.LAYER
    return is_layer and not facts.is_state_of_keras(case.live_side.object(obj))


def _had_weights(case: Case, layer: int) -> bool:
    nodes = case.saved.nodes
    return any(
        nodes[child.node_id].attributes
        for node in case.trace.holders.get(layer, ())
        for child in nodes[node].children
    )

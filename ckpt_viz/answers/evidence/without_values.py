"""Layers and optimizers that were saved without the values that the program has for them."""

from __future__ import annotations

from collections.abc import Mapping

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
    tops = _tops_without_values(case) if case.unmatched else {}
    for obj in case.run.verdicts.unmatched:
        if (
            case.live_side.is_in_graph(obj)
            and obj not in explained.objects
            and not is_count_of_keras(case, obj)
        ):
            slot = case.live.nodes[obj].slot
            optimizer = None if slot is None else slot.optimizer
            top = tops.get(obj) if optimizer is None else _without_slots(case, optimizer)
            if top is not None:
                by_top.setdefault(top, []).append(obj)
    return by_top


def _without_slots(case: Case, optimizer: int) -> int | None:
    """Return an optimizer of the program if it was saved without slot variables."""
    node = case.trace.holders.get(optimizer, (None,))[0]
    if node is None or node in case.other_generation or case.saved_side.has_slots(node):
        return None
    return optimizer


def _tops_without_values(case: Case) -> Mapping[int, int]:
    """Return, by all that is in it, each topmost layer or optimizer that was saved without any."""
    tops: dict[int, int] = {}
    for obj in case.live.tree.preorder():
        parent = case.live.tree.parents[obj]
        if parent in tops:
            tops[obj] = tops[parent]
        elif (
            case.live.nodes[obj].role in (Role.LAYER, Role.OPTIMIZER)
            and obj in case.trace.holders
            and case.saved_side.valued.isdisjoint(case.trace.holders[obj])
        ):
            tops[obj] = obj
    return tops


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

"""What a training does to the variables of a graph: it trains them, or leaves them as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role
from ckpt_viz.graphs.nodes.tree import Tree, exported_lists
from ckpt_viz.graphs.slots.hanging import trained_variables
from ckpt_viz.graphs.slots.keras_optimizers import keras_optimizers


class Training(str, Enum):
    """What a training does to a variable.

    Also a layer whose own `trainable` is False is `FROZEN`: that statement freezes all below it.
    """

    TRAINED = "trained"
    FROZEN = "frozen"  # a weight that its layer, or a layer above, keeps as it is
    NEVER = "never"  # moving averages, seeds, counters
    LEFT_OUT = "omitted"  # no optimizer has it, though one has others of its model


def trainings_of(
    nodes: Sequence[Node], tree: Tree, is_state: Sequence[int]
) -> list[Training | None]:
    """Return by node what a training does to it; None for a node of which the source says nothing.

    The state of optimizers, as `are_of_optimizers` tells it, has none. A variable counts as trained
    if one way to it from the root leads through no frozen layer and no optimizer.
    """
    trainings: list[Training | None] = [None] * len(nodes)
    for node_id, node in enumerate(nodes):
        if node.role is Role.VARIABLE and node.trainable is not None and not is_state[node_id]:
            trainings[node_id] = _of_variable(node)
        elif node.role is Role.LAYER and node.is_frozen:
            trainings[node_id] = Training.FROZEN
    for node_id in _behind_frozen_layers(nodes):
        if trainings[node_id] is Training.TRAINED:
            trainings[node_id] = Training.FROZEN
    for node_id in _left_out(nodes, tree, trainings):
        trainings[node_id] = Training.LEFT_OUT
    return trainings


def counted_by_training(
    trainings: Sequence[Training | None], parameters: Sequence[int]
) -> dict[Training, int]:
    """Return how many parameters each training has; empty if nothing is known of any node."""
    counts: Counter[Training] = Counter()
    if any(trainings):
        for training, number in zip(trainings, parameters, strict=True):
            if training is not None:
                counts[training] += number
    return {training: counts[training] for training in Training if counts[training]}


def _of_variable(node: Node) -> Training:
    if node.is_frozen:
        return Training.FROZEN
    # TensorFlow has gradients for numbers with fractions alone, and int64 is trainable by default.
    has_gradients = any(
        "float" in (a.dtype or "float") or "complex" in (a.dtype or "") for a in node.attributes
    )
    return Training.TRAINED if node.trainable and has_gradients else Training.NEVER


def _behind_frozen_layers(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes to which all ways lead through a frozen layer.

    Optimizers are aside, and so are the lists in a SavedModel: they have frozen variables, too.
    """
    frozen = {i for i, node in enumerate(nodes) if node.is_frozen and node.role is Role.LAYER}
    if not frozen:
        return set()
    aside = {i for i, node in enumerate(nodes) if node.role is Role.OPTIMIZER}
    aside |= exported_lists(nodes)
    free = walks.reached({ROOT} - frozen, _steps(nodes, aside | frozen))
    return walks.reached([ROOT], _steps(nodes, aside)) - free


def _steps(nodes: Sequence[Node], closed: Collection[int]) -> Callable[[int], Iterable[int]]:
    """Return the steps from nodes to their children, except to closed ones."""
    return lambda node_id: (
        child.node_id for child in nodes[node_id].children if child.node_id not in closed
    )


def _left_out(
    nodes: Sequence[Node], tree: Tree, trainings: Sequence[Training | None]
) -> Iterable[int]:
    """Return the trainable variables that no optimizer has, though one has others of their model.

    There are none if the graph does not say what one of its optimizers trains.
    """
    optimizers = [node_id for node_id, node in enumerate(nodes) if node.role is Role.OPTIMIZER]
    held = trained_variables(nodes)
    if not optimizers or not held or not _all_tell(nodes, optimizers):
        return ()
    holders = {tree.parents[optimizer] for optimizer in optimizers}
    models = _models(nodes, tree, holders)
    of_optimizers = {models[node_id] for node_id in held}
    return [
        node_id
        for node_id, training in enumerate(trainings)
        if training is Training.TRAINED and node_id not in held and models[node_id] in of_optimizers
    ]


def _all_tell(nodes: Sequence[Node], optimizers: Sequence[int]) -> bool:
    """Return whether the graph says of each optimizer which variables it trains.

    One that is not built, or that keeps no slots, says nothing. A wrapper has what it wraps.
    """
    telling = {optimizer.node_id for optimizer in keras_optimizers(nodes) if optimizer.trainable}
    slots = [node.slot for node in nodes if node.slot is not None]
    telling |= {slot.optimizer for slot in slots if slot.optimizer is not None}
    return all(
        optimizer in telling
        or any(nodes[child.node_id].role is Role.OPTIMIZER for child in nodes[optimizer].children)
        for optimizer in optimizers
    )


def _models(nodes: Sequence[Node], tree: Tree, holders: Collection[int]) -> list[int]:
    """Return by node the model that it belongs to.

    That is the uppermost layer above it. Without layers, it is what lies beside the optimizer.
    """
    models = [ROOT] * len(nodes)
    for node_id in tree.preorder():
        parent = tree.parents[node_id]
        if node_id == ROOT:
            continue
        is_layer = nodes[models[parent]].role is Role.LAYER
        models[node_id] = node_id if parent in holders and not is_layer else models[parent]
        if nodes[node_id].role is Role.LAYER and not is_layer:
            models[node_id] = node_id
    return models

"""Variables that a graph reaches through an optimizer alone.

An optimizer of Keras 3 tracks the variables that it trains. If TensorFlow does not follow what else
holds them, such as a list of Keras 3 layers, the optimizer is their only path. They are then saved,
but a restore without the optimizer leaves them out, and no assert fails.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ckpt_viz.object_graph import walks
from ckpt_viz.object_graph.keras_optimizers import full_name_of
from ckpt_viz.object_graph.nodes import ROOT, VALUE_ROLES, Node, Role
from ckpt_viz.object_graph.training import trained_variables


class Hanging(NamedTuple):
    """Variables below an optimizer alone; `blocks` counts their blocks, 0 if no name tells."""

    variables: tuple[int, ...]
    blocks: int


def hanging_from_optimizers(nodes: Sequence[Node]) -> Hanging:
    """Return the trained variables to which no path leads without an optimizer.

    There are none in a graph of optimizers alone: there they belong.
    """
    trained = trained_variables(nodes)
    reached = _reached(nodes)
    hanging = tuple(sorted(trained - reached))
    if not hanging or not _has_a_model(nodes, reached):
        return Hanging((), 0)
    return Hanging(hanging, _blocks(nodes, hanging, trained))


def _reached(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes to which a path from the root leads that goes through no optimizer."""
    reached = walks.reached(
        [ROOT],
        lambda node_id: (
            child.node_id
            for child in nodes[node_id].children
            if nodes[child.node_id].role is not Role.OPTIMIZER
        ),
    )
    return reached if nodes[ROOT].role is not Role.OPTIMIZER else set()


def _has_a_model(nodes: Sequence[Node], reached: Collection[int]) -> bool:
    """Return whether there is more than optimizers, single values, and what holds these."""
    if nodes[ROOT].role is Role.LAYER:
        return True
    return any(
        node_id != ROOT
        and nodes[node_id].role not in VALUE_ROLES
        and not any(nodes[c.node_id].role is Role.OPTIMIZER for c in nodes[node_id].children)
        for node_id in reached
    )


def _blocks(nodes: Sequence[Node], hanging: Sequence[int], trained: Collection[int]) -> int:
    """Return how many name scopes the variables are in, below the scope that all share.

    Return 0 if names do not tell variables apart, as in a model that Keras built without scopes.
    """
    names = {variable: full_name_of(nodes, variable) for variable in trained}
    if len(set(names.values())) < len(names):
        return 0
    scopes = {variable: name.split("/")[:-1] for variable, name in names.items()}
    if not all(scopes[variable] for variable in hanging):
        return 0
    # Names that differ at a place also differ between the least and the greatest.
    low, high = min(scopes.values()), max(scopes.values())
    pairs = enumerate(zip(low, high, strict=False))
    shared = next((i for i, (a, b) in pairs if a != b), min(len(low), len(high)))
    return len({tuple(scopes[variable][: shared + 1]) for variable in hanging})

"""Python expressions for what Keras would save: from a model to an object or a variable of it."""

from __future__ import annotations

from typing import Any

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import VALUE_ROLES, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.expressions import is_attribute, quoted
from ckpt_viz.live.tensorflow_names.shadows import instance_dict
from ckpt_viz.matching.engines.keras_sides import NESTED

# The lists of an object's own variables: of optimizers, of layers of Keras 3 and 2.
_LISTS = (
    *("_variables", "_trainable_variables", "_non_trainable_variables"),
    *("_trainable_weights", "_non_trainable_weights"),
)


def keras_accessor(graph: Graph, node_id: int, name: str) -> str:
    """Return an expression that evaluates to the object of a node; `name` is that of the model.

    Raises SourceError if the object is gone, or if saving makes the value.
    """
    expression = name
    ways = list(graph.way_up(node_id))
    for parent, label, child in reversed(ways):
        holder, target = graph.object(parent), graph.object(child)
        if target is None:
            raise SourceError(f"{graph.name(child)}: no object of the program is this value")
        is_value = graph.nodes[child].role in VALUE_ROLES
        step = _to_variable(holder, label, target) if is_value else _to_part(holder, label, target)
        if step is None:
            raise SourceError(
                f"{graph.name(child)}: the program has put another object in its place"
            )
        expression += step
    return expression


def with_public_lists(graph: Graph, node_id: int, name: str) -> str:
    """Return the expression for an object of a live graph; `name` is that of the checked object.

    A variable of an optimizer is one of its `variables`, a public list of every Keras.
    """
    obj = graph.object(node_id)
    optimizer = optimizer_of(graph, node_id)
    if optimizer is not None:
        variables: Any = getattr(graph.object(optimizer), "variables", ())
        for place, variable in enumerate(variables if isinstance(variables, (list, tuple)) else ()):
            if variable is obj is not None:
                return f"{graph.accessor(optimizer, name)}.variables[{place}]"
    return graph.accessor(node_id, name)


def optimizer_of(graph: Graph, node_id: int) -> int | None:
    """Return the optimizer that a variable belongs to, None for other variables."""
    slot = graph.nodes[node_id].slot
    if slot is not None:
        return slot.optimizer
    above = graph.tree.above(node_id)
    return next((node for node in above if graph.nodes[node].role is Role.OPTIMIZER), None)


def _to_part(holder: Any, label: str, target: Any) -> str | None:
    if isinstance(holder, (list, tuple, dict)):
        pairs = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        if isinstance(target, (list, dict)):  # no two looks find the same list
            pairs = [(key, item) for key, item in pairs if isinstance(item, (list, tuple, dict))]
            number = label.removeprefix(NESTED).removeprefix("_")
            return f"[{pairs[int(number or 0)][0]!r}]"
        return next((f"[{key!r}]" for key, item in pairs if item is target), None)
    return f".{label}" if is_attribute(label) else f"[{quoted(label)}]"


def _to_variable(holder: Any, label: str, target: Any) -> str | None:
    if is_attribute(label) and getattr(holder, label, None) is target:
        return f".{label}"
    own = instance_dict(holder)
    for name in (label, f"_{label}"):
        if own.get(name) is target and is_attribute(name):
            return f".{name}"
    for name in _LISTS:
        for place, variable in enumerate(own.get(name) or ()):
            if variable is target:
                return f".{name}[{place}]"
    # An optimizer around another one has the variables of both.
    for place, variable in enumerate(getattr(holder, "variables", ())):
        if variable is target:
            return f".variables[{place}]"
    return None

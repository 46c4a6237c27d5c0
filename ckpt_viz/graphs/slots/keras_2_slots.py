"""Slots of the new optimizers of Keras 2 (2.11 and later), named after their variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ckpt_viz.graphs.nodes.nodes import Node, Slot, SlotRule, is_variable
from ckpt_viz.graphs.slots.keras_optimizers import (
    FACTORED,
    FACTORS,
    KerasOptimizer,
    Shape,
    factor_shapes,
    full_name_of,
    is_adafactor,
    shape_of,
)
from ckpt_viz.graphs.slots.optimizer_table import SLOT_NAMES, Generation, slot_names_of

# The names of slots in the new optimizers of Keras 2, in front of the variable's full name.
_NAMES = slot_names_of(Generation.KERAS_2)
# A name is cut in few places only, so that hostile names take no more than linear time.
_MAX_SCOPES = 3  # of `scope/Adam/m/dense/kernel`

# The variables by full name and shape; None if several share both.
Variables = Mapping[tuple[str, Shape], int | None]


def other_variables(
    nodes: Sequence[Node], slots: Mapping[int, Slot], optimizers: Sequence[KerasOptimizer]
) -> Variables:
    """Return all variables of the graph except those of optimizers."""
    owned = set(slots)
    for optimizer in optimizers:
        owned.update(child.node_id for child in nodes[optimizer.node_id].children)
        owned.update(optimizer.own)
        if optimizer.trainable is None:
            owned.update(c.node_id for items in optimizer.lists.values() for c in items)
    by_name: dict[tuple[str, Shape], int | None] = {}
    for node_id, node in enumerate(nodes):
        if node_id not in owned and is_variable(node.attributes):
            key = (node.attributes[0].full_name, node.attributes[0].shape)
            by_name[key] = None if key in by_name else node_id
    return by_name


def keras_2_slots(
    nodes: Sequence[Node], optimizer: KerasOptimizer, variables: Variables
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots of a new optimizer of Keras 2, which are named after their variable.

    Adafactor's factors have other shapes than their variable. The factors of a vector are only in
    their own list: they go with the moment at the same index.
    """
    factors = {name: optimizer.lists[name] for name in FACTORS if is_adafactor(optimizer)}
    listed = {
        child.node_id
        for name, items in optimizer.lists.items()
        if name not in factors
        for child in items
    }
    elsewhere = {child.node_id for items in factors.values() for child in items}
    variable_of: dict[int, int] = {}
    for node_id in sorted(listed.union(optimizer.own) - elsewhere):
        slot = _named_slot(nodes, node_id, variables, is_listed=node_id in listed)
        if slot is not None:
            name, variable_of[node_id] = slot
            yield node_id, Slot(name, variable_of[node_id], optimizer.node_id, SlotRule.FULL_NAME)
    if factors:
        moments = {child.local_name: child.node_id for child in optimizer.lists[FACTORED]}
        for list_name, items in factors.items():
            for child in items:
                variable = variable_of.get(moments.get(child.local_name, -1))
                if variable is not None and _is_factor(nodes, child.node_id, variable):
                    name = SLOT_NAMES[list_name]
                    factor = Slot(name, variable, optimizer.node_id, SlotRule.FULL_NAME)
                    yield child.node_id, factor


def _named_slot(
    nodes: Sequence[Node], node_id: int, variables: Variables, *, is_listed: bool
) -> tuple[str, int] | None:
    """Return slot name and variable of a slot called `{optimizer}/{slot}/{full name}`.

    The optimizer's name is missing if the optimizer was built outside its name scope. A slot name
    that Keras does not use counts only in a list, because lists hold no counters.
    """
    shape, rest = shape_of(nodes, node_id), full_name_of(nodes, node_id)
    readings: dict[str, int | None] = {}
    for _ in range(_MAX_SCOPES):
        name, slash, rest = rest.partition("/")
        if slash and (rest, shape) in variables:
            # Two readings with the same slot name cannot both be right.
            readings[name] = None if name in readings else variables[rest, shape]
    known = {name: v for name, v in readings.items() if name in _NAMES}
    choices = known or (readings if is_listed else {})
    for name, variable in choices.items():
        if len(choices) == 1 and variable is not None:
            return name, variable
    return None


def _is_factor(nodes: Sequence[Node], factor: int, variable: int) -> bool:
    full_name, shape = full_name_of(nodes, factor), shape_of(nodes, variable)
    scope = full_name.removesuffix(full_name_of(nodes, variable))
    return (
        scope != full_name
        and scope.endswith("/")
        and shape is not None
        and shape_of(nodes, factor) in factor_shapes(shape)
    )

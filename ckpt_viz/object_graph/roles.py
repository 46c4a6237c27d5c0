"""Roles and slots: what each node is, told from the structure of the graph alone.

The same rules serve both sides, so that a live graph and the file saved from it agree.
What only a Python type can tell (layer, container, an optimizer without state) comes from
the live reader as the node's provisional role and stands where the structure is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ckpt_viz.object_graph.nodes import ROOT, Node, Role, Slot, SlotRule, is_variable

# Keras 3 keeps slot variables in lists of the optimizer, one list per slot. The lists'
# local names, and the suffix that Keras gives the variables in them (keras/src/optimizers).
_SLOT_NAMES = {
    "_accumulated_delta_vars": "accumulated_delta_var",
    "_accumulated_gradients": "gradient_accumulator",
    "_accumulated_grads": "accumulated_grad",
    "_accumulators": "accumulator",
    "_average_gradients": "average_gradient",
    "_linears": "linear",
    "_m": "momentum",
    "_model_variables_moving_average": "average",
    "_momentums": "momentum",
    "_u": "norm",
    "_velocities": "velocity",
    "_velocity_hats": "velocity_hat",
    "adam_velocities": "velocity",
    "momentums": "momentum",
}

# Local names under which Keras tracks its own lists and functions. A node counts as
# bookkeeping only if no value hangs below it, so a user's attribute of the same name is safe.
_BOOKKEEPING_NAMES = frozenset(
    {
        "__call__",
        "_build_shapes_dict",
        "_call_has_context_arg",
        "_compiled_trainable_state",
        "_default_save_signature",
        "_inbound_nodes",
        "_losses",
        "_losses_override",
        "_metrics",
        "_outbound_nodes",
        "_tracked",
        "call_and_return_all_conditional_losses",
        "call_and_return_conditional_losses",
        "call_signature_parameters",
        "keras_api",
        "non_trainable_variables",
        "output_names",
        "regularization_losses",
        "signatures",
        "trainable_variables",
        "train_function",
        "train_tf_function",
        "variables",
    }
)


def assign_roles(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes with their slots and final roles."""
    slots = _find_slots(nodes)
    bookkeeping = _find_bookkeeping(nodes)

    def assigned(node_id: int, node: Node) -> Node:
        slot = slots.get(node_id)
        role = _role(node, is_slot=slot is not None, is_bookkeeping=node_id in bookkeeping)
        if slot is node.slot and role is node.role:
            return node  # as most are: copying them all would take longest
        return replace(node, slot=slot, role=role)

    return tuple(map(assigned, range(len(nodes)), nodes))


def _role(node: Node, *, is_slot: bool, is_bookkeeping: bool) -> Role:
    if is_slot:
        return Role.SLOT
    if is_variable(node.attributes):
        return Role.VARIABLE
    if _is_optimizer(node):
        return Role.OPTIMIZER
    if node.attributes or node.registered_saver:
        return Role.VALUE
    return Role.BOOKKEEPING if is_bookkeeping else node.role


def _is_optimizer(node: Node) -> bool:
    names = {child.local_name for child in node.children}
    return (
        bool(node.slot_variables)
        or ("_variables" in names and not names.isdisjoint({"_iterations", "iterations"}))
        or names >= {"iter", "learning_rate"}
        or "beta1_power" in names
    )


def _find_slots(nodes: Sequence[Node]) -> dict[int, Slot]:
    """Return the slot of every slot variable; what the graph declares wins."""
    slots: dict[int, Slot] = {}
    for optimizer, node in enumerate(nodes):
        for slot in node.slot_variables:
            if is_variable(nodes[slot.slot_variable].attributes):
                slots.setdefault(
                    slot.slot_variable,
                    Slot(slot.slot_name, slot.variable, optimizer, SlotRule.DECLARED),
                )
    for optimizer, node in enumerate(nodes):
        for slot_variable, inferred in _slots_by_list_index(nodes, optimizer, node):
            slots.setdefault(slot_variable, inferred)
    return slots


def _slots_by_list_index(
    nodes: Sequence[Node], optimizer: int, node: Node
) -> Iterator[tuple[int, Slot]]:
    """Yield the slots of a Keras 3 optimizer.

    It tracks `_trainable_variables`, the model's variables in its own order, and one list
    per slot in the same order; every slot variable is in `_variables` too.
    """
    lists = {child.local_name: nodes[child.node_id] for child in node.children}
    if "_trainable_variables" not in lists or "_variables" not in lists:
        return
    trainable = {c.local_name: c.node_id for c in lists.pop("_trainable_variables").children}
    own = {c.node_id for c in lists.pop("_variables").children} - set(trainable.values())
    for list_name, slot_list in lists.items():
        for child in slot_list.children:
            variable = trainable.get(child.local_name)
            if (
                variable is not None
                and child.node_id in own
                and is_variable(nodes[child.node_id].attributes)
            ):
                name = _SLOT_NAMES.get(list_name, list_name.strip("_").removesuffix("s"))
                yield child.node_id, Slot(name, variable, optimizer, SlotRule.LIST_INDEX)


def _find_bookkeeping(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that the root reaches only through Keras' bookkeeping.

    An edge leads into bookkeeping by its name, and only if no value hangs below it.
    """
    named = {c.node_id for n in nodes for c in n.children if c.local_name in _BOOKKEEPING_NAMES}
    if not named:
        return set()
    valued = _with_value_below(nodes)
    ordinary = _closure(
        {ROOT},
        lambda node_id: (
            child.node_id
            for child in nodes[node_id].children
            if child.node_id in valued or child.local_name not in _BOOKKEEPING_NAMES
        ),
    )
    below = _closure(named, lambda node_id: (child.node_id for child in nodes[node_id].children))
    return below - ordinary - valued


def _with_value_below(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that hold a value or lead to one."""
    parents: dict[int, list[int]] = {}
    for parent, node in enumerate(nodes):
        for child in node.children:
            parents.setdefault(child.node_id, []).append(parent)
    holders = {
        i for i, n in enumerate(nodes) if n.attributes or n.slot_variables or n.registered_saver
    }
    return _closure(holders, lambda node_id: parents.get(node_id, ()))


def _closure(start: set[int], step: Callable[[int], Iterable[int]]) -> set[int]:
    """Return everything that the steps lead to, the start included."""
    found = set(start)
    stack = list(start)
    while stack:
        for node_id in step(stack.pop()):
            if node_id not in found:
                found.add(node_id)
                stack.append(node_id)
    return found

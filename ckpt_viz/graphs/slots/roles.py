"""Roles: the kind of each node, derived only from the structure of the graph.

The same rules serve both sides, so that a live graph and the file saved from it agree. Some roles
need a Python type (layer, container, an optimizer without state). The live reader sets those as the
node's provisional role, which remains unless the structure shows another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Role, has_value, is_variable
from ckpt_viz.graphs.slots.keras_optimizers import VARIABLES, is_keras_optimizer
from ckpt_viz.graphs.slots.slots import find_slots

# Local names of the scalars that TensorFlow 1's Adam and every Keras 2 optimizer before 2.11 track.
# With a schedule in place of a learning rate, plain SGD still has its momentum.
_HYPERPARAMETERS = (
    frozenset({"beta1_power", "beta2_power"}),
    frozenset({"iter", "decay", "learning_rate"}),
    frozenset({"iter", "decay", "momentum"}),
)
_ONE_OF_EACH = frozenset({"beta1_power", "iter"})
# Where the loss scale wrappers of TensorFlow 1 and Keras 2 track their optimizer.
_WRAPPED = "base_optimizer"
# Every optimizer that its children identify has one of these.
_TELLING = _ONE_OF_EACH | {_WRAPPED, VARIABLES}

# Local names under which Keras tracks its own lists and functions. A node counts as bookkeeping
# only if it has no value below it, so a user's attribute of the same name is safe.
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
    slots = find_slots(nodes)
    telling = _with_telling_names(nodes)
    wrapped = _wrapped_optimizers(nodes[node_id] for node_id in telling)
    bookkeeping = _find_bookkeeping(nodes)

    def assigned(node_id: int, node: Node) -> Node:
        slot = slots.get(node_id)
        if slot is not None:
            role = Role.SLOT
        elif node.role is Role.VARIABLE or is_variable(node.attributes):
            role = Role.VARIABLE
        elif node_id in wrapped or (node_id in telling and _is_optimizer(nodes, node)):
            role = Role.OPTIMIZER
        elif has_value(node):
            role = Role.VALUE
        else:
            role = Role.BOOKKEEPING if node_id in bookkeeping else node.role
        if slot is node.slot and role is node.role:
            return node  # most nodes are: copying them all would take longest
        return node._replace(slot=slot, role=role)

    return tuple(map(assigned, range(len(nodes)), nodes))


def _with_telling_names(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that may be optimizers; the rules can skip all others."""
    candidates = {node_id for node_id, node in enumerate(nodes) if node.slot_variables}
    candidates.update(
        node_id
        for node_id, node in enumerate(nodes)
        for child in node.children
        if child.local_name in _TELLING
    )
    return candidates


def _is_optimizer(nodes: Sequence[Node], node: Node) -> bool:
    return (
        bool(node.slot_variables)
        or is_keras_optimizer(nodes, node)
        or _has_hyperparameters(nodes, node)
        or _is_loss_scale_wrapper(node)
    )


def _has_hyperparameters(nodes: Sequence[Node], node: Node) -> bool:
    """Return whether the node tracks the scalars of an optimizer that may have no slots."""
    if _ONE_OF_EACH.isdisjoint([child.local_name for child in node.children]):
        return False
    scalars = {child.local_name for child in node.children if _is_scalar(nodes[child.node_id])}
    return any(scalars >= hyperparameters for hyperparameters in _HYPERPARAMETERS)


def _is_scalar(node: Node) -> bool:
    return is_variable(node.attributes) and node.attributes[0].shape == ()


def _wrapped_optimizers(candidates: Iterable[Node]) -> set[int]:
    """Return the optimizers inside loss scale wrappers; the wrapper may track their state."""
    wrappers = filter(_is_loss_scale_wrapper, candidates)
    return {c.node_id for node in wrappers for c in node.children if c.local_name == _WRAPPED}


def _is_loss_scale_wrapper(node: Node) -> bool:
    names = [child.local_name for child in node.children]
    return _WRAPPED in names and "loss_scale" in names


def _find_bookkeeping(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that the root reaches only through Keras' bookkeeping.

    An edge leads into bookkeeping by its name, and only if it has no value below it.
    """
    named = {c.node_id for n in nodes for c in n.children if c.local_name in _BOOKKEEPING_NAMES}
    if not named:
        return set()
    valued = walks.with_value_below(nodes)
    ordinary = walks.reached(
        {ROOT},
        lambda node_id: (
            child.node_id
            for child in nodes[node_id].children
            if child.node_id in valued or child.local_name not in _BOOKKEEPING_NAMES
        ),
    )
    below = walks.reached(
        named, lambda node_id: (child.node_id for child in nodes[node_id].children)
    )
    return below - ordinary - valued

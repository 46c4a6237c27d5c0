"""How two counterparts differ."""

from __future__ import annotations

from typing import NamedTuple

from ckpt_viz.answers.graph_diff.value_comparison import Comparer
from ckpt_viz.graphs.nodes.nodes import Node, Role
from ckpt_viz.graphs.nodes.tensor_difference import tensor_difference
from ckpt_viz.graphs.overlay.overlay import State

_SHOWN_BY_STRUCTURE = frozenset({Role.VARIABLE, Role.SLOT, Role.VALUE})


class NodeDifference(NamedTuple):
    """The state of a pair of nodes; MATCHED means no known difference.

    `detail` is the difference in few words. `is_compared` is False if the values could not be
    compared.
    """

    state: State
    detail: str = ""
    is_compared: bool = True


MATCHED = NodeDifference(State.MATCHED)


def difference(
    a: Node, b: Node, differ: Comparer, *, are_slots_known: bool = True
) -> NodeDifference:
    """Return the first of: role, dtype, shape, value; an earlier one outweighs the later ones.

    Without `are_slots_known`, a slot may be a variable on the other side: a file of Keras numbers
    what an optimizer holds.
    """
    by_name_a, by_name_b = ({x.name: x for x in node.attributes} for node in (a, b))
    if "" in by_name_a or "" in by_name_b:  # only a live object's own code knows what it saves
        return NodeDifference(State.MATCHED, is_compared=False)
    are_values = {a.role, b.role} == {Role.SLOT, Role.VARIABLE} and not are_slots_known
    if not are_values and _roles(a).isdisjoint(_roles(b)):
        return NodeDifference(State.ROLE, f"{a.role.value} ≠ {b.role.value}")
    if not by_name_a and not by_name_b:
        return _of_savers(a, b)
    common = [(by_name_a[name], by_name_b[name]) for name in by_name_a if name in by_name_b]
    for left, right in common:
        if None not in (left.dtype, right.dtype) and left.dtype != right.dtype:
            return NodeDifference(State.DTYPE, tensor_difference(left, right))
    for left, right in common:
        if None not in (left.shape, right.shape) and left.shape != right.shape:
            return NodeDifference(State.SHAPE, tensor_difference(left, right))
    if by_name_a.keys() != by_name_b.keys():
        return NodeDifference(State.VALUE, f"{_names(a)} ≠ {_names(b)}")
    answers = [differ(left, right) for left, right in common]
    if True in answers:
        return NodeDifference(State.VALUE)
    return MATCHED if None not in answers else NodeDifference(State.MATCHED, is_compared=False)


def _roles(node: Node) -> set[Role]:
    """Return the roles that a node may have, judged by the structure of its graph.

    Live objects and SavedModels also have types, which tell more. They call an optimizer without
    state an optimizer; in a plain file it is an object, like layers and containers.
    """
    if node.role in _SHOWN_BY_STRUCTURE:
        return {node.role}
    if node.role is not Role.OPTIMIZER:
        return {Role.OBJECT}
    return {Role.OPTIMIZER} if node.type_name is None else {Role.OPTIMIZER, Role.OBJECT}


def _of_savers(a: Node, b: Node) -> NodeDifference:
    if a.registered_saver == b.registered_saver:
        # A registered saver writes its own files.
        return NodeDifference(State.MATCHED, is_compared=a.registered_saver is None)
    return NodeDifference(State.VALUE, f"saver {a.registered_saver} ≠ {b.registered_saver}")


def _names(node: Node) -> str:
    return ", ".join(x.name for x in node.attributes) or f"saver {node.registered_saver}"

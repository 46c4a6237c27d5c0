"""The tree that checkpoint keys spell out: all that remains if the object graph is missing.

A partial copy may have only the index. Its keys are paths through the object graph
(tensorflow/python/trackable/trackable_utils.py), one for each object. So shared objects, empty ones
and the order of children are lost, but every value has its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.nodes import keys
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node, Role, SlotVariable, is_variable
from ckpt_viz.graphs.slots.scopes import MAX_SCOPES


def nodes_from_keys(
    checkpoint_keys: Iterable[str], attribute: Callable[[str, str], Attribute]
) -> tuple[Node, ...]:
    """Return the nodes that checkpoint keys name: breadth first, slot variables last.

    Args:
        checkpoint_keys: All keys; it skips keys that name no attribute of an object.
        attribute: Makes an attribute from its name and its key.
    """
    tree = _Tree()
    slots: list[tuple[keys.SlotKey, str, str]] = []
    for key in checkpoint_keys:
        parsed = keys.parse_checkpoint_key(key)
        if parsed is None:
            continue
        slot = keys.parse_slot_key(parsed.object_key)
        if slot is None:
            place = tree.place(parsed.object_key)
            tree.attributes[place].append(attribute(parsed.attribute, key))
        else:
            slots.append((slot, parsed.attribute, key))
    places = [(tree.place(s.variable_key), tree.place(s.optimizer_key)) for s, _, _ in slots]
    order = tree.breadth_first()
    ids = {place: node_id for node_id, place in enumerate(order)}
    declared: dict[int, list[SlotVariable]] = {}
    slot_nodes: list[Node] = []
    for (slot, name, key), (variable, optimizer) in zip(slots, places, strict=True):
        slot_id = len(order) + len(slot_nodes)
        slot_nodes.append(_node((attribute(name, key),)))
        declared.setdefault(optimizer, []).append(
            SlotVariable(slot.slot_name, ids[variable], slot_id)
        )
    nodes = [
        _node(
            tuple(tree.attributes[place]),
            tuple(Child(name, ids[child]) for name, child in tree.children[place].items()),
            tuple(declared.get(place, ())),
        )
        for place in order
    ]
    return (*nodes, *slot_nodes)


class _Tree:
    """Objects by the paths in their keys; a place is a number, the root's is 0."""

    def __init__(self) -> None:
        self.attributes: list[list[Attribute]] = [[]]
        self.children: list[dict[str, int]] = [{}]

    def place(self, object_key: str) -> int:
        """Return the place of an object; create it and its ancestors if they are missing."""
        place = 0
        for step in object_key.split("/") if object_key else ():
            name = keys.unescape_local_name(step)
            child = self.children[place].setdefault(name, len(self.children))
            if child == len(self.children):
                if child >= MAX_SCOPES:
                    raise UnsupportedError(
                        f"the keys have more than {MAX_SCOPES} steps, expected at most that many"
                    )
                self.attributes.append([])
                self.children.append({})
            place = child
        return place

    def breadth_first(self) -> list[int]:
        """Return all places, in the order of their node ids."""
        order = [0]
        for place in order:  # grows during the loop
            order.extend(self.children[place].values())
        return order


def _node(
    attributes: tuple[Attribute, ...],
    children: tuple[Child, ...] = (),
    slot_variables: tuple[SlotVariable, ...] = (),
) -> Node:
    role = Role.VARIABLE if is_variable(attributes) else Role.OBJECT
    return Node(children, attributes, slot_variables, role=role)

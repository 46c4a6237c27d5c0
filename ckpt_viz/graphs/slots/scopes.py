"""Name-based checkpoints as object graphs: their values as a tree of name scopes.

TensorFlow 1 has no objects, only names: `dense/kernel` is the node `kernel` below `dense`. A scope
that is also a value (`w`, with `w/Adam` below) is one node with both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Child, Node, Role, Slice, Slot, SlotRule
from ckpt_viz.graphs.slots.scope_slots import slots_by_name

MAX_SCOPES = 300_000  # nodes; one takes some 700 bytes, and a name can have a slash per byte


@dataclass(frozen=True, slots=True)
class NamedVariable:
    """A value of a name-based checkpoint, with further facts about the variable from its source.

    `value.full_name` is the name. The other fields are as on `Node`.
    """

    value: Attribute
    trainable: bool | None = None
    collections: tuple[str, ...] = ()
    type_name: str | None = None


def named_value(
    name: str,
    dtype: str | None,
    shape: tuple[int, ...] | None,
    nbytes: int | None,
    *,
    slices: tuple[Slice, ...] = (),
    error: str | None = None,
) -> Attribute:
    """Return the value that a name-based checkpoint stores under this name.

    A single slice that covers the whole value does not count as a slice.
    """
    if [part.shape for part in slices] == [shape]:
        slices = ()
    return Attribute(VARIABLE_VALUE, name, name, dtype, shape, nbytes, slices, error)


def scope_nodes(variables: Iterable[NamedVariable]) -> tuple[Node, ...]:
    """Return the nodes of the tree of name scopes, with their roles and slots.

    Ids are breadth first, with sorted children. The local names on the way to a value, joined by
    `/`, form its name. Empty names count: `/a` is below a scope with the name "". Raises
    UnsupportedError for more than `MAX_SCOPES` nodes.
    """
    scopes = _ScopeTree()
    by_name = {variable.value.full_name: variable for variable in variables}
    ids = {name: scopes.add(name) for name in by_name}
    children, new_ids = _breadth_first(scopes.children)
    ids = {name: new_ids[old] for name, old in ids.items()}
    at = {ids[name]: variable for name, variable in by_name.items()}
    slots = _slots(by_name, ids, children)
    return tuple(_node(children[i], at.get(i), slots.get(i)) for i in range(len(children)))


class _ScopeTree:
    """The tree during its construction; `children` maps ids to child ids by local name."""

    def __init__(self) -> None:
        self.children: list[dict[str, int]] = [{}]
        self._of_scopes: dict[str, int] = {}

    def add(self, name: str) -> int:
        """Return the id of a name. The values of one scope walk to the scope once."""
        scope, separator, own = name.rpartition("/")
        if separator and scope not in self._of_scopes:
            self._of_scopes[scope] = reduce(self._below, scope.split("/"), ROOT)
        return self._below(self._of_scopes[scope] if separator else ROOT, own)

    def _below(self, node: int, part: str) -> int:
        following = self.children[node].setdefault(part, len(self.children))
        if following == len(self.children):
            if following >= MAX_SCOPES:
                raise UnsupportedError(
                    f"the names have more than {MAX_SCOPES} scopes, expected at most that many"
                )
            self.children.append({})
        return following


def _breadth_first(
    children: list[dict[str, int]],
) -> tuple[list[tuple[Child, ...]], dict[int, int]]:
    """Return the children under new ids, breadth first and sorted, and the new ids by the old."""
    order = [ROOT]
    new_ids = {ROOT: ROOT}
    renumbered: list[tuple[Child, ...]] = []
    for old in order:  # grows during the loop
        below = []
        for local_name, child in sorted(children[old].items()):
            new_ids[child] = len(order)
            below.append(Child(local_name, len(order)))
            order.append(child)
        renumbered.append(tuple(below))
    return renumbered, new_ids


def _slots(
    variables: Mapping[str, NamedVariable],
    ids: Mapping[str, int],
    children: list[tuple[Child, ...]],
) -> dict[int, Slot]:
    # A node with scopes below it has its own place in the tree; no slot variable has any.
    possible = {
        name
        for name, variable in variables.items()
        if not variable.trainable and not children[ids[name]]
    }
    slots = slots_by_name({name: v.value for name, v in variables.items()}, possible)
    return {
        ids[slot]: Slot(slot_name, ids[variable], None, SlotRule.SCOPE)
        for slot, (variable, slot_name) in slots.items()
    }


def _node(children: tuple[Child, ...], variable: NamedVariable | None, slot: Slot | None) -> Node:
    if variable is None:
        return Node(children=children)
    return Node(
        children=children,
        attributes=(variable.value,),
        role=Role.VARIABLE if slot is None else Role.SLOT,
        slot=slot,
        type_name=variable.type_name,
        trainable=variable.trainable,
        collections=variable.collections,
    )

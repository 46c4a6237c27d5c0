"""Nodes of one of Keras' files while they are made, and the facts that its configuration adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.files.keras_files.facts import Json, config_of, with_facts
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.keys import VARIABLE_VALUE
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Child, Node, Role, Slot

MOST_NODES = 300_000
"""One node takes some 700 bytes."""


class StoredValue(Protocol):
    """A data set as its file describes it; `size` is in bytes."""

    @property
    def dtype(self) -> str | None: ...  # noqa: D102
    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102


class StoredWeights(Protocol):
    """An open file: its groups and data sets by path, in the order in which the file has them."""

    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def groups(self) -> Iterable[str]: ...  # noqa: D102
    @property
    def entries(self) -> Mapping[str, StoredValue]: ...  # noqa: D102
    def text(self, group: str, name: str, /) -> str | None: ...  # noqa: D102
    def texts(self, group: str, name: str, /) -> list[str] | None: ...  # noqa: D102
    def why_unreadable(self, key: str, /) -> str | None: ...  # noqa: D102


@dataclass(slots=True)
class DraftNode:
    """A node while it is made; `described` is what the configuration says of it."""

    role: Role = Role.OBJECT
    children: dict[str, int] = field(default_factory=dict)
    value: Attribute | None = None
    slot: Slot | None = None
    own_name: str | None = None
    type_name: str | None = None
    described: Json | None = None


class DraftTree:
    """All nodes of a file while they are made, by node id; the root is there from the start."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.nodes: list[DraftNode] = [DraftNode()]

    def __getitem__(self, node: int) -> DraftNode:
        return self.nodes[node]

    def add(self, parent: int, local_name: str, draft: DraftNode | None = None) -> int:
        """Return the child of this name, which is new if there was none."""
        children = self.nodes[parent].children
        node = children.setdefault(local_name, len(self.nodes))
        if node == len(self.nodes):
            if node >= MOST_NODES:
                raise UnsupportedError(
                    f"{self._path}: has more than {MOST_NODES} groups and values, expected "
                    "at most that many"
                )
            self.nodes.append(draft or DraftNode())
        return node

    def add_value(self, parent: int, local_name: str, value: Attribute) -> int:
        """Return a new child, a variable with this value; a name that is taken gets a number."""
        children = self.nodes[parent].children
        name, number = local_name, 1
        while name in children and self.nodes[children[name]].value is not None:
            name, number = f"{local_name}_{number}", number + 1
        node = self.add(parent, name)
        self.nodes[node].role, self.nodes[node].value = Role.VARIABLE, value
        return node

    def rename(self, parent: int, names: Mapping[int, str]) -> None:
        """Give children of a node new local names, by node id; their order stays."""
        below = self.nodes[parent].children
        renamed = {names.get(node, name): node for name, node in below.items()}
        if len(renamed) == len(below):
            self.nodes[parent].children = renamed

    def with_values(self) -> set[int]:
        """Return the nodes that have a value, or lead to one."""
        valued: set[int] = set()
        for node in range(len(self.nodes) - 1, -1, -1):
            draft = self.nodes[node]
            if draft.value is not None or not valued.isdisjoint(draft.children.values()):
                valued.add(node)
        return valued

    def finished(self) -> tuple[tuple[Node, ...], tuple[Call, ...]]:
        """Return the nodes with the facts of their configurations, and the calls of layers."""
        order = [ROOT]
        for node in order:  # breadth first, as TensorFlow numbers objects; grows during the loop
            order += self.nodes[node].children.values()
        numbers = {node: number for number, node in enumerate(order)}
        drafts = [self.nodes[node] for node in order]
        nodes = [_node(draft, numbers) for draft in drafts]
        described = {i: d.described for i, d in enumerate(drafts) if d.described is not None}
        return with_facts(nodes, described)


class DraftNodes(DraftTree):
    """The nodes of a file of groups and data sets."""

    def __init__(self, stored: StoredWeights) -> None:
        super().__init__(stored.path)
        self.stored = stored

    def add_variable(self, parent: int, local_name: str, key: str) -> int:
        """Return a new child with the value of a data set; a name that is taken gets a number."""
        entry = self.stored.entries[key]
        error = self.stored.why_unreadable(key)
        value = Attribute(
            VARIABLE_VALUE, "", key, entry.dtype, entry.shape, entry.size, error=error
        )
        return self.add_value(parent, local_name, value)


def _node(draft: DraftNode, numbers: Mapping[int, int]) -> Node:
    slot = draft.slot
    if slot is not None and slot.optimizer is not None:
        variable, optimizer = numbers[slot.variable], numbers[slot.optimizer]
        slot = replace(slot, variable=variable, optimizer=optimizer)
    return Node(
        children=tuple(Child(name, numbers[node]) for name, node in draft.children.items()),
        attributes=() if draft.value is None else (draft.value,),
        role=draft.role,
        slot=slot,
        type_name=draft.type_name,
        own_name=draft.own_name,
    )


def shape_of(draft: DraftNode) -> tuple[int, ...] | None:
    """Return the shape of a draft's value."""
    return None if draft.value is None else draft.value.shape


def describe(draft: DraftNode, entry: Json) -> None:
    """Give a draft what the configuration says of its layer: class, name, facts."""
    draft.role, draft.described = Role.LAYER, entry
    draft.type_name = class_of(entry)
    name = config_of(entry).get("name", entry.get("name"))
    if draft.own_name is None and isinstance(name, str):
        draft.own_name = name


def class_of(entry: Json) -> str | None:
    """Return the name of the class in a configuration, without the package that registered it.

    >>> class_of({"class_name": "Custom>Adam"})
    'Adam'
    """
    name = entry.get("class_name")
    return name.rpartition(">")[2] if isinstance(name, str) else None

"""A graph while it is edited: edges may change, and the rest follows as in a save of TensorFlow.

Follows tensorflow/python/checkpoint/graph_view.py (ids in the order of a walk breadth first) and
checkpoint/util.py (slot variables come last; a key is the shortest path to its object).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ckpt_viz.errors import EditError
from ckpt_viz.graphs.edits.as_checkpoint import as_checkpoint, assert_short_keys
from ckpt_viz.graphs.edits.edited_access import EditedAccess
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.keys import (
    checkpoint_key,
    escape_local_name,
    parse_checkpoint_key,
    slot_key,
)
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Child, Node, Role, SlotVariable
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.roles import assign_roles

_EDITED = ", edited"
_KEPT_ROLES = (Role.LAYER, Role.CONTAINER)


@dataclass
class Draft:
    """The nodes of a graph by the ids that they have there, with edges that may change.

    `models` has the nodes of the graph that added nodes are made like.
    """

    source: Graph
    nodes: list[Node]
    children: list[list[Child]]
    models: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Graph) -> Draft:
        """Return a draft in which nothing is changed yet; a file of Keras becomes a checkpoint.

        Raises EditError for a graph of names: it has no edges to change. Raises UnsupportedError
        for one whose keys would take too much memory.
        """
        if graph.is_name_based:
            raise EditError(
                f"{graph.title}: holds names and no objects; expected an edit of names: renamed, "
                "without or only"
            )
        graph = as_checkpoint(graph)
        assert_short_keys(graph)
        return cls(graph, [*graph.nodes], [[*node.children] for node in graph.nodes])

    def rename(self, holder: int, names: Mapping[str, str]) -> None:
        """Give edges other names, by the old ones; their places among the others stay."""
        self.children[holder] = [
            child._replace(local_name=names.get(child.local_name, child.local_name))
            for child in self.children[holder]
        ]

    def remove(self, nodes: Iterable[int]) -> None:
        """Remove all edges to some nodes, and slots that are declared. Lists close the gaps."""
        gone = set(nodes)
        for holder, node in enumerate(self.nodes):
            slots = tuple(slot for slot in node.slot_variables if slot.slot_variable not in gone)
            if len(slots) < len(node.slot_variables):
                self.nodes[holder] = node._replace(slot_variables=slots)
        for holder, children in enumerate(self.children):
            left = [child for child in children if child.node_id not in gone]
            if len(left) < len(children):
                self.children[holder] = numbered(left) if is_list(children) else left

    def insert(self, holder: int, child: Child, at: int | None = None) -> None:
        """Add an edge: at a place of a list, whose later items move, or behind the others."""
        children = self.children[holder]
        if at is None:
            children.append(child)
        else:
            self.children[holder] = numbered([*children[:at], child, *children[at:]])

    def add(self, node: Node, like: int | None = None) -> int:
        """Add a node, to which no edge leads yet; return its id."""
        self.nodes.append(node)
        self.children.append([*node.children])
        added = len(self.nodes) - 1
        if like is not None:
            self.models[added] = like
        return added

    def finished(self) -> Graph:
        """Return the graph that TensorFlow would save."""
        return _Finish(self).graph(edited_title(self.source))


def edited_title(graph: Graph) -> str:
    """Return the title of a graph that an edit makes of another one."""
    title = graph.title
    return title if title.endswith(_EDITED) else f"{title}{_EDITED}"


def is_list(children: Sequence[Child]) -> bool:
    """Return whether these are the items of a list: named 0, 1, 2 and so on."""
    return bool(children) and all(
        child.local_name == str(place) for place, child in enumerate(children)
    )


def numbered(items: Iterable[Child]) -> list[Child]:
    """Return the items of a list with the names that their places give them."""
    return [Child(str(place), item.node_id) for place, item in enumerate(items)]


def reordered(graph: Graph) -> Graph:
    """Return the graph of a program that has set all its attributes in the opposite order.

    An optimizer sets its own.
    """
    draft = Draft.of(graph)
    for holder, children in enumerate(draft.children):
        if not is_list(children) and graph.nodes[holder].role is not Role.OPTIMIZER:
            draft.children[holder] = children[::-1]
    return draft.finished()


class _Finish:
    """The new ids, paths and keys of a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.paths: dict[int, str] = {}  # object keys, by old id, in the order of the new ids
        self._walk()
        self._slots()
        self.new_id = {node: place for place, node in enumerate(self.paths)}

    def _walk(self) -> None:
        self.paths[ROOT] = ""
        queue = deque([ROOT])
        while queue:
            holder = queue.popleft()
            above = self.paths[holder]
            for child in self.draft.children[holder]:
                if child.node_id not in self.paths:
                    own = escape_local_name(child.local_name)
                    self.paths[child.node_id] = f"{above}/{own}" if above else own
                    queue.append(child.node_id)

    def _slots(self) -> None:
        """Add the slot variables of optimizers that are left, with their variables."""
        walked = {node: place for place, node in enumerate(self.paths)}
        for optimizer in walked:
            for slot in self.left_slots(optimizer, walked):
                key = slot_key(self.paths[slot.variable], self.paths[optimizer], slot.slot_name)
                self.paths.setdefault(slot.slot_variable, key)

    def left_slots(self, optimizer: int, places: Mapping[int, int]) -> list[SlotVariable]:
        """Return the slots of an optimizer whose variables are left, in TensorFlow's order.

        `places` has the places of all nodes that are left.
        """
        slots = self.draft.nodes[optimizer].slot_variables
        names = dict.fromkeys(slot.slot_name for slot in slots)
        order = {name: place for place, name in enumerate(names)}
        return sorted(
            (slot for slot in slots if slot.variable in places),
            key=lambda slot: (order[slot.slot_name], places[slot.variable]),
        )

    def graph(self, title: str) -> Graph:
        """Return the graph."""
        source = self.draft.source
        nodes = assign_roles([self._node(old) for old in self.paths])
        old_paths = {
            new: path
            for old, new in self.paths.items()
            if (path := self._old_path(old)) is not None
        }
        access = EditedAccess.of(source, old_paths, [*self.paths], self.draft.models)
        ids = self.new_id
        calls = tuple(
            Call(ids[call.producer], ids[call.consumer])
            for call in source.calls
            if call.producer in ids and call.consumer in ids
        )
        return Graph(nodes, title, Origin.SAVED, calls=calls, _access=access)

    def _node(self, old: int) -> Node:
        node = self.draft.nodes[old]
        ids = self.new_id
        return node._replace(
            children=tuple(
                [
                    Child(child.local_name, ids[child.node_id])
                    for child in self.draft.children[old]
                    if child.node_id in ids  # TensorFlow saves no children of a slot variable
                ]
            ),
            attributes=tuple([self._attribute(old, a) for a in node.attributes]),
            slot_variables=tuple(
                [
                    replace(
                        slot, variable=ids[slot.variable], slot_variable=ids[slot.slot_variable]
                    )
                    for slot in self.left_slots(old, ids)
                    if slot.slot_variable in ids  # an optimizer may be a slot variable itself
                ]
            ),
            role=node.role if node.role in _KEPT_ROLES else _bare_role(node),
            slot=None,
            waits=None,  # what the file said of its own graph
        )

    def _attribute(self, old: int, attribute: Attribute) -> Attribute:
        parsed = parse_checkpoint_key(attribute.checkpoint_key)
        if parsed is None:
            return attribute
        key = checkpoint_key(self.paths[old], parsed.attribute)
        return attribute._replace(checkpoint_key=key)

    def _old_path(self, old: int) -> str | None:
        """Return the key that a node's object has in the source; None if nothing is stored."""
        if old >= len(self.draft.source.nodes):
            return None
        keys = (attribute.checkpoint_key for attribute in self.draft.nodes[old].attributes[:1])
        parsed = next(map(parse_checkpoint_key, keys), None)
        return None if parsed is None else parsed.object_key


def _bare_role(node: Node) -> Role:
    return Role.VARIABLE if node.role in (Role.VARIABLE, Role.SLOT) else Role.OBJECT

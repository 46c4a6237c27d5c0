"""Two graphs with some nodes in common, as one graph.

The merged graph is the base, plus the nodes that only the other graph has, at the places where they
would be. So the outline of a comparison shows both sides in one tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import Child, Fingerprint, Node, Slot, SlotVariable, Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph

if TYPE_CHECKING:  # importing numpy takes as long as opening a checkpoint
    from ckpt_viz.formats.arrays.tensors import Array


@dataclass(frozen=True)
class Merged:
    """A base graph plus its ghosts: the nodes of another graph that it lacks.

    The nodes of the base keep their ids, names and places; ghosts follow in their own order.
    `of_other` maps the id of every node of the other graph to its merged node. The merged graph
    names a ghost by its new place; the other graph has its original name.
    """

    graph: Graph
    of_other: Mapping[int, int]


def merge(base: Graph, other: Graph, pairs: Mapping[int, int]) -> Merged:
    """Return the two graphs as one.

    Args:
        base: The graph that does not change.
        other: The graph whose unpaired nodes are added.
        pairs: For nodes of `other`, the counterpart in `base`. An id that `base` does not have
            pairs nothing, for example the id of an object that a restore would create.

    A ghost keeps its local names. It becomes a child of the counterparts of its parents, behind
    what they have of the child before it, and of other ghosts. A numbered child without values
    tells no place if its counterpart is not among the same neighbours. No edge leads from a ghost
    to the base, so the tree of the base does not change. A slot without an edge to it is below its
    variable, as everywhere.
    """
    size = len(base.nodes)
    of_other = merged_ids(base, other, pairs)
    ghosts = [node_id for node_id in range(len(other.nodes)) if of_other[node_id] >= size]
    added = _Added(other.nodes, of_other, size, walks.with_value_below(other.nodes))
    received: dict[int, list[int]] = defaultdict(list)
    for node_id, place in of_other.items():
        if place < size:
            received[place].append(node_id)
    nodes = [
        _with_ghosts(node, added, received[node_id]) if node_id in received else node
        for node_id, node in enumerate(base.nodes)
    ]
    nodes += [added.ghost(ghost) for ghost in ghosts]
    is_same = len(nodes) == size and all(map(is_, nodes, base.nodes))
    merged = replace(
        base,
        nodes=base.nodes if is_same else tuple(nodes),
        title=title_of(base, other),
        _access=base._access and _BaseAccess(base._access, size),
    )
    if is_same:
        merged.share(base)
    return Merged(merged, of_other)


def title_of(base: Graph, other: Graph) -> str:
    """Return the title of the merged graph."""
    return f"{other.title} → {base.title}"


def merged_ids(base: Graph, other: Graph, pairs: Mapping[int, int]) -> Mapping[int, int]:
    """Return the id in the merged graph of every node of `other`; arguments as for `merge`."""
    size = len(base.nodes)
    paired = {node: partner for node, partner in pairs.items() if 0 <= partner < size}
    ghosts = (node_id for node_id in range(len(other.nodes)) if node_id not in paired)
    return {**paired, **{ghost: size + place for place, ghost in enumerate(ghosts)}}


@dataclass(frozen=True)
class _Added:
    """The other graph's nodes under their merged ids, with edges only to ghosts."""

    nodes: Sequence[Node]
    of_other: Mapping[int, int]
    base_size: int
    valued: Collection[int]

    def has_ghosts(self, node_id: int) -> bool:
        """Return whether a child of a node is a ghost."""
        places = [self.of_other[child.node_id] for child in self.nodes[node_id].children]
        return max(places, default=-1) >= self.base_size

    def beside(self, own: Sequence[Child], node_id: int) -> list[Child]:
        """Return children of a base node with the ghosts of a counterpart, in the order there."""
        behind: dict[int | None, list[Child]] = defaultdict(list)
        known, anchors = set(own), self._anchors(own, self.nodes[node_id].children)
        last: int | None = None
        for child in self.nodes[node_id].children:
            place = self.of_other[child.node_id]
            ghost = Child(child.local_name, place)
            if place >= self.base_size and ghost not in known:
                behind[last].append(ghost)
            elif place in anchors:
                last = place
        first = behind.pop(None, [])
        has_order = last is not None  # else nothing tells what comes first
        children = first if has_order else []
        for child in own:
            children += [child, *behind.pop(child.node_id, ())]
        return children if has_order else [*children, *first]

    def _anchors(self, own: Sequence[Child], others: Sequence[Child]) -> Collection[int]:
        """Return the children of a base node that tell the place of the ghosts behind them.

        Numbers pair the items of a list that hold no value and have no name. If an item before them
        is gone, these numbers lead into other blocks. So such an item counts only if it is between
        the counterparts of its neighbours.
        """
        places = {child.node_id: place for place, child in enumerate(own)}
        anchors: set[int] = set()
        before, unsure = -1, list[int]()
        for child in others:
            partner = self.of_other[child.node_id]
            if partner not in places:
                continue
            if self._is_numbered_alone(child):
                unsure.append(partner)
                continue
            anchors.add(partner)
            anchors.update(i for i in unsure if before < places[i] < places[partner])
            before, unsure = places[partner], []
        return anchors.union(i for i in unsure if before < places[i])

    def _is_numbered_alone(self, child: Child) -> bool:
        """Return whether nothing but a number identifies a child."""
        is_nameless = self.nodes[child.node_id].own_name is None
        return child.local_name.isdecimal() and child.node_id not in self.valued and is_nameless

    def children(self, node_id: int) -> list[Child]:
        return [
            Child(child.local_name, self.of_other[child.node_id])
            for child in self.nodes[node_id].children
            if self.of_other[child.node_id] >= self.base_size
        ]

    def slot_variables(self, node_id: int) -> list[SlotVariable]:
        of_other = self.of_other
        return [
            SlotVariable(slot.slot_name, of_other[slot.variable], of_other[slot.slot_variable])
            for slot in self.nodes[node_id].slot_variables
            if of_other[slot.slot_variable] >= self.base_size
        ]

    def ghost(self, node_id: int) -> Node:
        node = self.nodes[node_id]
        return node._replace(
            children=tuple(self.children(node_id)),
            slot_variables=tuple(self.slot_variables(node_id)),
            slot=self._slot(node.slot),
        )

    def _slot(self, slot: Slot | None) -> Slot | None:
        if slot is None:
            return None
        optimizer = None if slot.optimizer is None else self.of_other[slot.optimizer]
        return replace(slot, variable=self.of_other[slot.variable], optimizer=optimizer)


def _with_ghosts(node: Node, added: _Added, counterparts: Sequence[int]) -> Node:
    """Return a base node together with the ghosts among the children of its counterparts."""
    children = list(node.children)
    for node_id in filter(added.has_ghosts, counterparts):
        children = added.beside(children, node_id)
    slots = [slot for node_id in counterparts for slot in added.slot_variables(node_id)]
    if len(children) == len(node.children) and not slots:
        return node  # most nodes are
    return node._replace(
        children=tuple(children),
        slot_variables=node.slot_variables + tuple(dict.fromkeys(slots)),
    )


@dataclass(frozen=True)
class _BaseAccess(Access):
    """The source of the base, which knows nothing of ghosts."""

    base: Access
    size: int

    def object(self, node_id: int) -> object | None:
        return self.base.object(node_id) if node_id < self.size else None

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        if node_id >= self.size:
            raise SourceError(f"{graph.title}: {graph.name(node_id)} has no live object")
        return self.base.accessor(graph, node_id, source)

    def value(self, checkpoint_key: str) -> Array:
        return self.base.value(checkpoint_key)

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        return self.base.beginning(checkpoint_key, count)

    def stored(self, checkpoint_key: str) -> Stored | None:
        return self.base.stored(checkpoint_key)

    def fingerprint(self, checkpoint_key: str) -> Fingerprint | None:
        return self.base.fingerprint(checkpoint_key)

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        return self.base.tensor_keys(checkpoint_key)

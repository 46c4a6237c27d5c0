"""Which nodes of two graphs are counterparts: what the correspondence of a restore check says.

A pair is in its place where a plain restore from a into b binds it, or where one of its local names
leads to both. Slot variables are in their place with their variable and their optimizer, whatever
their index in the optimizer's lists. Every other pair has moved. A guess outside of its place, or a
pair of values that shapes alone suggest, is no pair, unless both are items of one list: it is why
these have another index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.files.keras_files.state import is_unnamed
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, Slot, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.slots.optimizer_table import name_in_keras_3
from ckpt_viz.matching.correspondence.correspond import correspond, plain_restore
from ckpt_viz.matching.correspondence.items import with_values
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.value_mapping import paired_by_shape


@dataclass(frozen=True)
class Counterparts:
    """The nodes of a with a counterpart in b; no two share one.

    `pairs` holds, by node of a, the node of b in the same place. `moved` and `guesses` hold pairs
    in two places, by node of a. `unheld` are the live parts that a file like the other side cannot
    hold.
    """

    pairs: Mapping[int, int]
    moved: Mapping[int, Pair]
    guesses: Mapping[int, Pair]
    unheld: frozenset[int]

    @property
    def anywhere(self) -> Mapping[int, int]:
        """By node of a, the node of b, in the same place or moved."""
        return {**self.pairs, **{node: pair.obj for node, pair in self.moved.items()}}


class LoadWay(NamedTuple):
    """What a load of Keras sets: the pairs that are certain, and where it looks by saved node.

    `unheld` are the parts of the program that such a file cannot hold.
    """

    certain: Sequence[Pair]
    bound: Mapping[int, int]
    unheld: frozenset[int]


def counterparts_of(a: Graph, b: Graph, way: LoadWay | None = None) -> Counterparts:
    """Return the counterparts of two graphs; `way` is that of Keras from a file to a program.

    Graphs of the same nodes pair one to one, whatever edges lead to the nodes. The answer for b and
    a mirrors that for a and b, because one of the two is the saved side of both.
    """
    if a.nodes == b.nodes:
        return Counterparts(
            {node_id: node_id for node_id in range(len(a.nodes))}, {}, {}, frozenset()
        )
    if _is_saved_side(a, b):
        return _counterparts(a, b, way)
    return _mirrored(_counterparts(b, a, way))


def _is_saved_side(a: Graph, b: Graph) -> bool:
    """Return whether a is the saved side: of two live graphs, or two files, one of them always."""
    rank_of_a, rank_of_b = (
        (not graph.is_name_based, graph.origin is Origin.LIVE, len(graph.nodes)) for graph in (a, b)
    )
    if rank_of_a != rank_of_b:
        return rank_of_a < rank_of_b
    node, obj = next((x, y) for x, y in zip(a.nodes, b.nodes, strict=True) if x != y)
    return repr(node) <= repr(obj)


def _mirrored(counterparts: Counterparts) -> Counterparts:
    moved, guesses = (
        {pair.obj: pair._replace(node=pair.obj, obj=pair.node) for pair in pairs.values()}
        for pairs in (counterparts.moved, counterparts.guesses)
    )
    pairs = {obj: node for node, obj in counterparts.pairs.items()}
    in_place, elsewhere = dict(sorted(pairs.items())), dict(sorted(moved.items()))
    return Counterparts(in_place, elsewhere, guesses, counterparts.unheld)


def _counterparts(a: Graph, b: Graph, way: LoadWay | None) -> Counterparts:
    belonging = _corresponding(a, b, way)
    bound, unheld = (plain_restore(a, b), frozenset[int]()) if way is None else way[1:]
    places = _Places(a, b, {node: pair.obj for node, pair in belonging.items()}, bound)
    in_place = {pair.node: pair.obj for pair in belonging.values() if places.holds(pair)}
    elsewhere = {node: pair for node, pair in belonging.items() if node not in in_place}
    by_shape = paired_by_shape(a, b, elsewhere.values()) - {*_of_one_list(a, b, belonging)}
    guesses = {
        node: pair
        for node, pair in elsewhere.items()
        if pair.certainty is Certainty.GUESS or {node, _variable_of(a, node)} & by_shape
    }
    moved = {node: pair for node, pair in elsewhere.items() if node not in guesses}
    sure = {**in_place, **{node: pair.obj for node, pair in moved.items()}}
    if compares_names(a, b):
        return Counterparts(in_place | dict(_of_one_name(a, b, sure)), moved, guesses, unheld)
    for node, obj in _without_values(a, b, sure):
        if bound.get(node) == obj:
            in_place[node] = obj
        else:
            moved[node] = Pair(node, obj, Certainty.LIKELY, Evidence.HOLDER)
    return Counterparts(in_place, moved, guesses, unheld)


def _of_one_list(a: Graph, b: Graph, pairs: Mapping[int, Pair]) -> Iterator[int]:
    """Yield the nodes of a that are items of a list, with counterparts in the same list."""
    for node, pair in pairs.items():
        holder = pairs.get(a.tree.parents[node])
        is_same = holder is not None and holder.obj == b.tree.parents[pair.obj]
        if is_same and a.tree.labels[node].isdecimal() and b.tree.labels[pair.obj].isdecimal():
            yield node


def _variable_of(graph: Graph, node: int) -> int:
    """Return the variable that a slot variable goes with; any other node goes alone."""
    slot = graph.nodes[node].slot
    return node if slot is None else slot.variable


def _corresponding(a: Graph, b: Graph, way: LoadWay | None) -> dict[int, Pair]:
    """Return the pairs by node of a; the roots are one, though one may be a part of the other."""
    if way is None:
        pairs = correspond(a, b).values()
    else:
        pairs = correspond(a, b, given=way.certain, bound=way.bound).values()
    roots = Pair(ROOT, ROOT, Certainty.CERTAIN, Evidence.PLACE)
    return {ROOT: roots} | {p.node: p for p in pairs if ROOT not in (p.node, p.obj)}


def compares_names(a: Graph, b: Graph) -> bool:
    """Return whether only people's names tell the same place: the layouts have other paths."""
    return a.layout is not b.layout and (a.is_of_keras or b.is_of_keras)


@dataclass(frozen=True)
class _Places:
    """Tells whether two counterparts are in the same place."""

    a: Graph
    b: Graph
    objects: Mapping[int, int]
    bound: Mapping[int, int]

    def holds(self, pair: Pair) -> bool:
        """Return whether two nodes have a place in common, or are one slot of one pair."""
        state, other = self.a.nodes[pair.node].slot, self.b.nodes[pair.obj].slot
        if state is None or other is None or pair.node == ROOT:
            return self._is_in_place(pair.node, pair.obj)
        names = name_in_keras_3(state.name), name_in_keras_3(other.name)
        are_alike = names[0] == names[1] or any(map(is_unnamed, names))
        return are_alike and self._are_owners_in_place(state, other)

    def _is_in_place(self, node: int, obj: int) -> bool:
        return self._is_bound(node, obj) or self._share_a_name(node, obj)

    def _is_bound(self, node: int, obj: int) -> bool:
        if self.bound.get(node) == obj:
            return True
        names_a, names_b = self.a.names, self.b.names
        return compares_names(self.a, self.b) and (
            names_a.place_of_part(node) == names_b.place_of_part(obj)
            or names_a.own_place(node) == names_b.own_place(obj)
        )

    def _share_a_name(self, node: int, obj: int) -> bool:
        """Return whether parents that a plain restore binds have one local name for both nodes.

        Of several names of a shared node, a plain restore follows the first.
        """
        names, edges = {*self.b.edges_to[obj]}, self.a.edges_to[node]
        if any((self.bound.get(parent), label) in names for parent, label in edges):
            return True
        # Keras' file numbers what it has no names for: the parents tell.
        parents = {parent for parent, _ in names}
        numbered = (parent for parent, label in edges if label.isdecimal() and self.a.is_of_keras)
        return any(self.objects.get(parent) in parents for parent in numbered)

    def _are_owners_in_place(self, state: Slot, other: Slot) -> bool:
        owners = [(state.variable, other.variable)]
        if state.optimizer is not None and other.optimizer is not None:
            owners.append((state.optimizer, other.optimizer))
        return all(self.objects.get(x) == y and self._is_in_place(x, y) for x, y in owners)


def _without_values(a: Graph, b: Graph, pairs: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield counterparts of which the correspondence says nothing, as one holds no value.

    They have the same local name in parts that belong together.
    """
    placed_a, placed_b = _placed(a), _placed(b)
    objects = dict(pairs)
    taken = set(objects.values())
    queue, seen = deque[int](), set[int]()
    for start in pairs:
        queue.append(start)
        while queue:
            node = queue.popleft()
            if node in seen:
                continue
            seen.add(node)
            for x, y in _namesakes(a.nodes[node], b.nodes[objects[node]]):
                is_silent = x not in placed_a or y not in placed_b
                if is_silent and x not in objects and y not in taken:
                    objects[x] = y
                    taken.add(y)
                    yield x, y
                if objects.get(x) == y:
                    queue.append(x)


def _of_one_name(a: Graph, b: Graph, pairs: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield nodes without values of both graphs that have the same place in people's names."""
    places = {b.names.place(obj): obj for obj in {*range(len(b.nodes))} - {*pairs.values()}}
    placed_a, placed_b = {*_placed(a)}, _placed(b)
    for node in sorted({*range(len(a.nodes))} - pairs.keys() - placed_a):
        obj = places.pop(a.names.place(node), None)
        if obj is not None and obj not in placed_b:
            yield node, obj


def _namesakes(node: Node, obj: Node) -> Iterator[tuple[int, int]]:
    """Yield the children of two nodes that have one local name."""
    objects = {child.local_name: child.node_id for child in obj.children}
    for child in node.children:
        if child.local_name in objects:
            yield child.node_id, objects[child.local_name]


def _placed(graph: Graph) -> Collection[int]:
    """Return the nodes that the correspondence pairs or leaves: parts with values, and slots."""
    if graph.is_name_based:
        return {node_id for node_id, node in enumerate(graph.nodes) if has_value(node)}
    slots = {node_id for node_id, node in enumerate(graph.nodes) if node.slot is not None}
    return slots | with_values(graph)

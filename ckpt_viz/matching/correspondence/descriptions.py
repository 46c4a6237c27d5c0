"""What an item of a graph says of itself: its names, and its content with and without names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.matching.correspondence.items import GraphInTree, Items, items_of
from ckpt_viz.matching.correspondence.sequences import sequences
from ckpt_viz.matching.name_rules.full_names import FullNames
from ckpt_viz.matching.name_rules.migrations import OF_KERAS_3
from ckpt_viz.matching.name_rules.names import ChosenNames, canonical, index_of, trailing_number

_MOST_SCOPES = 64  # of a full name; those before are one scope
_MOST_LAST_NAMES = 16  # of a path, from its end
_MOST_INNER_NAMES = 400  # names inside an item that tell which item it is
Scope = tuple[str, ...]
Bag = Counter[tuple[str, int]]


@dataclass
class Described:
    """The items of one graph with their names and contents.

    `labels` are local names. `kind` is the local name of a value, "" for what holds values. `rank`
    tells values of one holder apart: their kinds, or their numbers in files of Keras' paths, which
    lack some names. `strong` are names that a person chose: of layers, and of scopes in full names.
    `full_name` is that of a value, as it is. `inner` are the names inside an item. `are_named` has
    the items of layers that a person named. `trainers` are the local names of the optimizers that
    keep states for values of an item, "" for the only one. Items of equal `content` hold equal
    values, and items of equal `named` hold them under equal names, too.
    """

    graph: GraphInTree
    items: Items
    chosen: ChosenNames
    labels: dict[int, frozenset[str]] = field(default_factory=dict)
    kind: dict[int, str] = field(default_factory=dict)
    rank: dict[int, str] = field(default_factory=dict)
    strong: dict[int, frozenset[str]] = field(default_factory=dict)
    inner: dict[int, Set[str]] = field(default_factory=dict)
    full_name: dict[int, str] = field(default_factory=dict)
    are_named: set[int] = field(default_factory=set)
    trainers: dict[int, frozenset[str]] = field(default_factory=dict)
    index: dict[int, int | None] = field(default_factory=dict)
    content: dict[int, int] = field(default_factory=dict)
    named: dict[int, int] = field(default_factory=dict)
    _bags: dict[int, Bag] = field(default_factory=dict)
    _of_content: dict[int, list[int]] = field(default_factory=dict)
    _values: list[tuple[str, int]] = field(default_factory=list)
    _first_value: dict[int, int] = field(default_factory=dict)

    def index_contents(self) -> None:
        """Index all items by their content, and their values: they are known from here on."""
        for item in self.items.order:
            self._of_content.setdefault(self.content[item], []).append(item)
            self._first_value[item] = len(self._values)
            value = self.items.value[item]
            if value is not None:
                self._values.append((self.rank[item], hash(value)))

    def of_content(self, content: int) -> Sequence[int]:
        """Return the items of a content."""
        return self._of_content.get(content, ())

    def how_often(self, item: int) -> int:
        """Return how many items have the content of one."""
        return len(self._of_content[self.content[item]])

    def names(self, item: int) -> frozenset[str]:
        """Return all names of an item."""
        return self.strong[item] | self.labels[item]

    def last_names(self, item: int) -> Sequence[str]:
        """Return the end of an item's path: a path may be as long as the graph."""
        labels, parents = self.graph.tree.labels, self.graph.tree.parents
        names: list[str] = []
        while item > ROOT and len(names) < _MOST_LAST_NAMES:
            names.append(labels[item])
            item = parents[item]
        return names[::-1]

    def number(self, item: int) -> int | None:
        """Return an item's place in a sequence, or the number at the end of its local name.

        A value in Keras' own files has a number even where it has a name, too.
        """
        index = self.index[item]
        if index is not None:
            return index
        return trailing_number(
            {self.rank[item]} if self.rank[item].isdecimal() else self.labels[item]
        )

    def kinds(self, item: int) -> set[str]:
        """Return the local names of the values directly below an item."""
        return {self.kind[child] for child in self.items.children[item]} - {""}

    def values(self, item: int) -> list[str]:
        """Return the values directly below an item without their local names, in one order."""
        values = (self.items.value[child] for child in self.items.children[item])
        return sorted(str(value) for value in values if value is not None)

    def bag(self, item: int) -> Bag:
        """Return the values in an item, by local name, dtype and shape."""
        if item not in self._bags:
            first = self._first_value[item]
            self._bags[item] = Counter(self._values[first : first + self.items.size[item]])
        return self._bags[item]


def described(
    saved: GraphInTree, live: GraphInTree, chosen: ChosenNames
) -> tuple[Described, Described]:
    """Return the items of two graphs with their names and contents."""
    names, have_numbers = _WhatNamesTell(chosen), _has_paths(saved) and _has_paths(live)
    return (
        _Describing(saved, names, have_numbers=have_numbers).side,
        _Describing(live, names, have_numbers=have_numbers).side,
    )


def _has_paths(graph: GraphInTree) -> bool:
    return isinstance(graph, Graph) and graph.stored_layout is Layout.KERAS_PATHS


class _Look(NamedTuple):
    """What the names of a value tell.

    `is_named` says that a person named the layer, and `names` is a number for all of them.
    """

    scope: Scope
    full_name: str
    is_named: bool
    strong: frozenset[str]
    kind: str
    names: int


class _WhatNamesTell:
    """Reads each name once: many nodes have the same names, most of them on both sides."""

    def __init__(self, chosen: ChosenNames) -> None:
        self.chosen, self.full_names = chosen, FullNames(chosen.given)
        self.canonical, self.index_of = cache(canonical), cache(index_of)
        self.is_chosen, self.looks = cache(chosen.is_chosen), cache(self._look)
        self.known = cache(_without_empty)

    def _look(self, full_name: str, slot_name: str | None, labels: frozenset[str]) -> _Look:
        """Return what the names of a value tell, and which of its scopes have names.

        Keras 3 tells some scopes only in the names of the variable's slots.
        """
        *scope, own = full_name.rsplit("/", _MOST_SCOPES)
        if slot_name is not None and len(scope) < 2:
            scope = self._with_scope_of_slot(scope, own, slot_name)
        name = (*scope, own)
        in_order = sorted(labels)
        return _Look(
            tuple(scope),
            "/".join(name),
            bool(self.chosen_of(scope[-1:])),
            self._ends(name) | self.chosen_of({self.canonical(own)} - labels),
            in_order[0] if in_order else "",
            hash((*in_order, own)),
        )

    def _with_scope_of_slot(self, scope: list[str], own: str, slot_name: str) -> list[str]:
        """Return a scope with what the name of a slot adds.

        Numbers that Keras adds are left out of a name in which a person chose a part.
        """
        path, separator, _ = slot_name.rpartition("/")[2].rpartition(f"_{own}_")
        known = "_".join(scope)
        if scope:
            path = path.removeprefix(f"{known}_")
        if not separator or path in ("", known):
            return scope
        return [*scope, self.full_names.plain_state(path) if self.is_chosen(path) else path]

    def chosen_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that a person chose."""
        return frozenset(filter(self.is_chosen, names))

    def _ends(self, name: Sequence[str]) -> frozenset[str]:
        """Return the last two and three parts of a full name, if a person chose the first."""
        ends = (name[-count:] for count in (2, 3) if count <= len(name))
        return frozenset(["/".join(end) for end in ends if self.is_chosen(end[0])])


class _Describing:
    """Describes the items of a graph, children first."""

    def __init__(self, graph: GraphInTree, names: _WhatNamesTell, *, have_numbers: bool) -> None:
        self.side = Described(graph, items_of(graph), names.chosen)
        self.names, self.tree = names, graph.tree
        self.scopes: dict[int, Scope] = {}
        self.above: dict[int, int] = {}
        self.are_lists: dict[int, bool] = {}
        self.slot_names, self.trainers = _names_of_slots(graph), _trainers(graph)
        self.has_paths, self.have_numbers = _has_paths(graph), have_numbers
        self._run()

    def _run(self) -> None:
        items = self.side.items
        for item in reversed(items.order):
            self._labels(item)
            if items.children[item]:
                self._holder(item)
            else:
                self._leaf(item)
            trainers = map(self.side.trainers.__getitem__, items.children[item])
            self.side.trainers[item] = self.trainers.get(item, frozenset()).union(*trainers)
        self.side.index_contents()
        for item in items.order:
            if items.children[item]:
                self._name_by_scope(item)

    def _labels(self, item: int) -> None:
        labels, chain = self.tree.labels, self.side.items.chain[item]
        self.side.labels[item] = self.names.known(*[self._label(node) for node in chain if node])
        index = self.names.index_of(labels[chain[0]])
        if index is None and self._is_named_by_keras(chain[0]):
            index = trailing_number({labels[chain[0]]}) or 0
        self.side.index[item] = index

    def _label(self, node: int) -> str:
        """Return a local name; a number that counts no items is a key of a dict."""
        label = self.tree.labels[node]
        if self._is_named_by_keras(node):
            return ""
        if not label.isdecimal():
            return self.names.canonical(label)
        parent = self.tree.parents[node]
        if parent not in self.are_lists:
            is_of_keras = self.tree.labels[parent] in OF_KERAS_3
            counted = sequences(self.side.graph.nodes[parent].children)
            self.are_lists[parent] = is_of_keras or "" in counted
        return "" if self.are_lists[parent] else label

    def _is_named_by_keras(self, node: int) -> bool:
        """Return whether a path of Keras' files calls an item of a list by its class and number."""
        nodes, parent = self.side.graph.nodes, self.tree.parents[node]
        is_item = self.has_paths and parent > ROOT and nodes[parent].role is Role.CONTAINER
        return is_item and not self.names.is_chosen(self.tree.labels[node])

    def _leaf(self, item: int) -> None:
        side = self.side
        attributes = side.graph.nodes[item].attributes
        full_name = attributes[0].full_name.removesuffix(":0") if attributes else ""
        look = self.names.looks(full_name, self.slot_names.get(item), side.labels[item])
        self.scopes[item], side.full_name[item] = look.scope, look.full_name
        if look.is_named:
            side.are_named.add(item)
        side.kind[item], side.strong[item], side.inner[item] = look.kind, look.strong, frozenset()
        side.rank[item] = self._number(item) if self.have_numbers else look.kind
        side.content[item] = hash(("leaf", side.items.value[item]))
        side.named[item] = hash((side.content[item], look.names))

    def _number(self, item: int) -> str:
        attributes = self.side.graph.nodes[item].attributes
        return attributes[0].checkpoint_key.rpartition("/")[2] if attributes else ""

    def _holder(self, item: int) -> None:
        side = self.side
        children = side.items.children[item]
        self.scopes[item] = _common([self.scopes[child] for child in children])
        own = {side.graph.nodes[node].own_name for node in side.items.chain[item]}
        side.kind[item] = side.rank[item] = ""
        side.strong[item] = self.names.chosen_of(filter(None, own))
        look = sorted([(side.rank[child], side.content[child]) for child in children])
        side.content[item] = hash((side.items.value[item], *look))
        side.named[item] = hash((side.content[item], *sorted(map(self._named, children))))
        side.inner[item] = self._inner(children)

    def _named(self, child: int) -> tuple[str, str, int]:
        side = self.side
        if not side.items.children[child]:
            return side.kind[child], "", side.named[child]
        strong = " ".join(sorted(side.strong[child]))
        return min(side.labels[child], default=""), strong, side.named[child]

    def _inner(self, children: Sequence[int]) -> Set[str]:
        inner: set[str] = set()
        for child in children:
            if len(inner) < _MOST_INNER_NAMES:
                inner |= self._names_inside(child) | self.side.inner[child]
        return inner

    def _names_inside(self, child: int) -> Set[str]:
        strong, is_holder = self.side.strong[child], bool(self.side.items.children[child])
        if not is_holder:
            return {name for name in strong if "/" in name}
        return strong | {f"/{name}" for name in self.side.labels[child]}

    def _name_by_scope(self, item: int) -> None:
        """Add the names that a holder's values tell: a scope, unless everything around has it.

        Of holders with the same values, the scope is the name of the innermost one.
        """
        side, children = self.side, self.side.items.children[item]
        leaves = (child for child in children if not side.items.children[child])
        names = {name for leaf in leaves for name in side.strong[leaf] if "/" not in name}
        scope, above = self.scopes[item], self.scopes.get(self._above(item), ())
        if len(scope) > len(above) and not self._holds_one_holder(item):
            names |= self.names.chosen_of(["/".join(scope[-2 if scope[-1].isdecimal() else -1 :])])
        side.strong[item] = side.strong[item] | names
        if side.strong[item]:
            side.are_named.add(item)

    def _above(self, item: int) -> int:
        """Return the nearest holder above an item that has other values, too."""
        parent = self.side.items.parent[item]
        is_alone = parent in self.side.items.children and self._holds_one_holder(parent)
        self.above[item] = self.above.get(parent, parent) if is_alone else parent
        return self.above[item]

    def _holds_one_holder(self, item: int) -> bool:
        """Return whether all values of a holder are in one holder below it."""
        children = self.side.items.children[item]
        return len(children) == 1 and bool(self.side.items.children[children[0]])


def _without_empty(*names: str) -> frozenset[str]:
    return frozenset(names) - {""}


def _names_of_slots(graph: GraphInTree) -> dict[int, str]:
    names: dict[int, str] = {}
    for node in graph.nodes:
        if node.slot is not None and node.attributes:
            names.setdefault(node.slot.variable, node.attributes[0].full_name)
    return names


def _trainers(graph: GraphInTree) -> dict[int, frozenset[str]]:
    """Return by variable the names of the optimizers that keep states for it."""
    slots = {(n.slot.variable, n.slot.optimizer) for n in graph.nodes if n.slot is not None}
    is_only = len({optimizer for _, optimizer in slots}) == 1
    trainers: dict[int, frozenset[str]] = {}
    for variable, optimizer in slots:
        name = "" if is_only or optimizer is None else graph.tree.labels[optimizer]
        trainers[variable] = trainers.get(variable, frozenset()) | {name}
    return trainers


def _common(scopes: Sequence[Scope]) -> Scope:
    """Return the scopes at the beginning of all.

    >>> _common([("net", "a"), ("net", "b")])
    ('net',)
    """
    first, last = min(scopes), max(scopes)
    if first == last:
        return first
    count = 0
    while count < min(len(first), len(last)) and first[count] == last[count]:
        count += 1
    return first[:count]

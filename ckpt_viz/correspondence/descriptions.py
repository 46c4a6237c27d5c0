"""What an item of a graph says of itself: its names, and its content with and without names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ckpt_viz.correspondence.items import GraphInTree, Items, items_of
from ckpt_viz.correspondence.migrations import OF_KERAS_3
from ckpt_viz.correspondence.names import ChosenNames, canonical, index_of, trailing_number
from ckpt_viz.correspondence.sequences import sequences

_MOST_SCOPES = 64  # of a full name; those before are one scope
_MOST_INNER_NAMES = 400  # names inside an item that tell which item it is
Scope = tuple[str, ...]
Bag = Counter[tuple[str, object]]


@dataclass
class Described:
    """The items of one graph with their names and contents.

    `labels` are local names. `strong` are names that a person chose: of layers, and of scopes in
    full names. `full_name` is that of a value, as it is. `inner` are the names inside an item.
    `are_named` has the items of layers that a person named.
    Items of equal `content` hold equal values, and items of equal `named` hold them under equal
    names, too.
    """

    graph: GraphInTree
    items: Items
    chosen: ChosenNames
    labels: dict[int, set[str]] = field(default_factory=dict)
    strong: dict[int, set[str]] = field(default_factory=dict)
    inner: dict[int, set[str]] = field(default_factory=dict)
    full_name: dict[int, str] = field(default_factory=dict)
    are_named: set[int] = field(default_factory=set)
    index: dict[int, int | None] = field(default_factory=dict)
    content: dict[int, int] = field(default_factory=dict)
    named: dict[int, int] = field(default_factory=dict)
    _bags: dict[int, Bag] = field(default_factory=dict)
    _of_content: dict[int, list[int]] = field(default_factory=dict)

    def index_contents(self) -> None:
        """Index all items by their content, which is known from here on."""
        for item in self.items.order:
            self._of_content.setdefault(self.content[item], []).append(item)

    def of_content(self, content: int) -> Sequence[int]:
        """Return the items of a content."""
        return self._of_content.get(content, ())

    def how_often(self, item: int) -> int:
        """Return how many items have the content of one."""
        return len(self._of_content[self.content[item]])

    def names(self, item: int) -> set[str]:
        """Return all names of an item."""
        return self.strong[item] | self.labels[item]

    def number(self, item: int) -> int | None:
        """Return an item's place in a sequence, or the number at the end of its local name."""
        index = self.index[item]
        return trailing_number(self.labels[item]) if index is None else index

    def kind(self, item: int) -> str:
        """Return the local name of a value, "" for what holds values."""
        return "" if self.items.children[item] else min(self.labels[item], default="")

    def kinds(self, item: int) -> set[str]:
        """Return the local names of the values directly below an item."""
        return {self.kind(child) for child in self.items.children[item]} - {""}

    def values(self, item: int) -> list[str]:
        """Return the values directly below an item without their local names, in one order."""
        values = (self.items.value[child] for child in self.items.children[item])
        return sorted(str(value) for value in values if value is not None)

    def bag(self, item: int) -> Bag:
        """Return the values in an item, by local name, dtype and shape."""
        if item not in self._bags:
            below = (one for one in self.items.below(item) if self.items.value[one] is not None)
            self._bags[item] = Counter((self.kind(one), self.items.value[one]) for one in below)
        return self._bags[item]


def described(graph: GraphInTree, chosen: ChosenNames) -> Described:
    """Return the items of a graph with their names and contents."""
    side = Described(graph, items_of(graph), chosen)
    _Describing(side).run()
    return side


class _Describing:
    """Describes the items of a graph, children first."""

    def __init__(self, side: Described) -> None:
        self.side = side
        self.scopes: dict[int, Scope] = {}
        self.are_lists: dict[int, bool] = {}
        self.slot_names = _names_of_slots(side.graph)

    def run(self) -> None:
        items = self.side.items
        for item in reversed(items.order):
            self._labels(item)
            if items.children[item]:
                self._holder(item)
            else:
                self._leaf(item)
        self.side.index_contents()
        for item in items.order:
            self._name_by_scope(item)

    def _labels(self, item: int) -> None:
        labels, chain = self.side.graph.tree.labels, self.side.items.chain[item]
        self.side.labels[item] = {self._label(node) for node in chain if node} - {""}
        self.side.index[item] = index_of(labels[chain[0]])

    def _label(self, node: int) -> str:
        """Return a local name; a number that counts no items is a key of a dict."""
        label, parent = self.side.graph.tree.labels[node], self.side.graph.tree.parents[node]
        if not label.isdecimal():
            return canonical(label)
        if parent not in self.are_lists:
            is_of_keras = self.side.graph.tree.labels[parent] in OF_KERAS_3
            counted = sequences(self.side.graph.nodes[parent].children)
            self.are_lists[parent] = is_of_keras or "" in counted
        return "" if self.are_lists[parent] else label

    def _leaf(self, item: int) -> None:
        side = self.side
        *scope, own = self._full_name(item)
        self.scopes[item], side.full_name[item] = tuple(scope), "/".join((*scope, own))
        if self._chosen(scope[-1:]):
            side.are_named.add(item)
        side.strong[item] = self._ends((*scope, own)) | self._chosen(
            {canonical(own)} - side.labels[item]
        )
        side.content[item] = hash(("leaf", side.items.value[item]))
        side.named[item] = hash((side.content[item], *sorted(side.labels[item]), own))
        side.inner[item] = set()

    def _chosen(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if self.side.chosen.is_chosen(name)}

    def _ends(self, name: Sequence[str]) -> set[str]:
        """Return the last two and three parts of a full name, if a person chose the first."""
        ends = (name[-count:] for count in (2, 3) if count <= len(name))
        return {"/".join(end) for end in ends if self.side.chosen.is_chosen(end[0])}

    def _full_name(self, item: int) -> Scope:
        """Return the scopes and the name of a variable.

        Keras 3 tells some scopes only in the names of the variable's slots.
        """
        attributes = self.side.graph.nodes[item].attributes
        full_name = attributes[0].full_name.removesuffix(":0") if attributes else ""
        *scope, own = full_name.rsplit("/", _MOST_SCOPES)
        if item in self.slot_names and len(scope) < 2:
            scope = _with_scope_of_slot(scope, own, self.slot_names[item])
        return (*scope, own)

    def _holder(self, item: int) -> None:
        side = self.side
        children = side.items.children[item]
        self.scopes[item] = _common([self.scopes[child] for child in children])
        own = {side.graph.nodes[node].own_name for node in side.items.chain[item]}
        side.strong[item] = self._chosen(name for name in own if name)
        look = sorted((side.kind(child), side.content[child]) for child in children)
        side.content[item] = hash((side.items.value[item], *look))
        side.named[item] = hash((side.content[item], *sorted(map(self._named, children))))
        side.inner[item] = self._inner(children)

    def _named(self, child: int) -> tuple[str, str, int]:
        side = self.side
        strong = " ".join(sorted(side.strong[child])) if side.items.children[child] else ""
        return min(side.labels[child], default=""), strong, side.named[child]

    def _inner(self, children: Sequence[int]) -> set[str]:
        inner: set[str] = set()
        for child in children:
            if len(inner) < _MOST_INNER_NAMES:
                inner |= self._names_inside(child) | self.side.inner[child]
        return inner

    def _names_inside(self, child: int) -> set[str]:
        strong, is_holder = self.side.strong[child], bool(self.side.items.children[child])
        if not is_holder:
            return {name for name in strong if "/" in name}
        return strong | {f"/{name}" for name in self.side.labels[child]}

    def _name_by_scope(self, item: int) -> None:
        """Add the names that an item's values tell: a scope, unless everything around has it."""
        side, children = self.side, self.side.items.children[item]
        leaves = (child for child in children if not side.items.children[child])
        names = {name for leaf in leaves for name in side.strong[leaf] if "/" not in name}
        above, scope = self.scopes.get(side.items.parent[item], ()), self.scopes[item]
        if children and len(scope) > len(above):
            names |= self._chosen(["/".join(scope[-2 if scope[-1].isdecimal() else -1 :])])
        side.strong[item] = side.strong[item] | names
        if children and side.strong[item]:
            side.are_named.add(item)


def _names_of_slots(graph: GraphInTree) -> dict[int, str]:
    names: dict[int, str] = {}
    for node in graph.nodes:
        if node.slot is not None and node.attributes:
            names.setdefault(node.slot.variable, node.attributes[0].full_name)
    return names


def _with_scope_of_slot(scope: list[str], own: str, slot_name: str) -> list[str]:
    path, separator, _ = slot_name.rpartition("/")[2].rpartition(f"_{own}_")
    known = "_".join(scope)
    if scope:
        path = path.removeprefix(f"{known}_")
    return [*scope, path] if separator and path and path != known else scope


def _common(scopes: Sequence[Scope]) -> Scope:
    """Return the scopes at the beginning of all.

    >>> _common([("net", "a"), ("net", "b")])
    ('net',)
    """
    first, last = min(scopes), max(scopes)
    count = 0
    while count < min(len(first), len(last)) and first[count] == last[count]:
        count += 1
    return first[:count]

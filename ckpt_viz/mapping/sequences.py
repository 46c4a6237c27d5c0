"""Sequences of the object graph, and what distinguishes their items: values and names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ckpt_viz.mapping.full_names import FullNames
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Child, Role, SlotRule, has_value
from ckpt_viz.object_graph.subtrees import values_of

INDEX = re.compile(r"(layer-|layer_with_weights-|)(\d{1,9})")
_MOST_VISITS = 64  # of each node: sequences in sequences may be a hundred thousand deep


def sequences(children: Iterable[Child]) -> dict[str, list[int]]:
    """Return the children with consecutive numbers, by the text before the number."""
    found: dict[str, dict[int, int]] = {}
    for child in children:
        match = INDEX.fullmatch(child.local_name)
        if match is not None:
            found.setdefault(match[1], {})[int(match[2])] = child.node_id
    return {
        prefix: [items[i] for i in range(len(items))]
        for prefix, items in found.items()
        if max(items) == len(items) - 1
    }


class Item(NamedTuple):
    """An item of a sequence: the values that it holds, and the names of their variables.

    A layer without values has no look. `is_named` says that a person, not Keras, chose the names.
    `first` is the node of its first value.
    """

    place: int
    first: int
    look: tuple[object, ...]
    names: tuple[str, ...]
    is_named: bool


def names_of_states(graph: Graph, names: FullNames) -> Mapping[int, Sequence[str]]:
    """Return, by variable, the names of its slot variables.

    Keras 3 names them after the variable's path, which the variable's own name may lack.
    """
    found: dict[int, list[str]] = {}
    for node in graph.nodes:
        if node.slot is not None and node.slot.rule is SlotRule.LIST_INDEX:
            name = names.plain_state(node.attributes[0].full_name)
            found.setdefault(node.slot.variable, []).append(name)
    return found


class ItemReader:
    """Reads the items of sequences, within the allowed number of visits.

    `spelled` gives local names that mean the same one spelling.
    """

    def __init__(self, names: FullNames, visits: int, spelled: Callable[[str], str] = str) -> None:
        self._names, self._visits, self._spelled = names, visits, spelled
        self._known_states: dict[int, Mapping[int, Sequence[str]]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], list[Item] | None] = {}

    @classmethod
    def of(cls, saved: Graph, live: Graph, spelled: Callable[[str], str] = str) -> ItemReader:
        """Return a reader whose visits remain linear in the size of both graphs."""
        visits = _MOST_VISITS * (len(saved.nodes) + len(live.nodes))
        return cls(FullNames.of(live), visits, spelled)

    def items(self, graph: Graph, nodes: Sequence[int]) -> list[Item] | None:
        """Return the items of a sequence; None if too many nodes are below them."""
        key = id(graph), tuple(nodes)
        if key not in self._known:
            self._known[key] = self._items(graph, nodes)
        return self._known[key]

    def _items(self, graph: Graph, nodes: Sequence[int]) -> list[Item] | None:
        by_variable = self._states(graph)
        below = [list(self._values(graph, node)) for node in nodes]
        if self._visits < 0:
            return None
        scope = _common_scope([name for values in below for _, name, _ in values if name])
        items: list[Item] = []
        for place, (node, values) in enumerate(zip(nodes, below, strict=True)):
            named = [(name, by_variable.get(one, ())) for _, name, one in values]
            items.append(
                Item(
                    place,
                    next((one for _, _, one in values), node),
                    tuple(look for look, _, _ in values),
                    (
                        *self._plain(name[scope:] for name, _ in named if name),
                        *self._of_states(named),
                    ),
                    any(self._is_chosen(name, scope, states) for name, states in named if name),
                )
            )
        return items

    def _of_states(self, named: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
        """Yield the names of slots, also without the scope of a model that was renamed."""
        for name, states in named:
            for state in states:
                yield state
                inner = self._names.within(name, state) if name else ""
                if inner:
                    yield inner

    def _is_chosen(self, name: str, scope: int, states: Sequence[str]) -> bool:
        """Return whether a person has chosen a name; a slot's name counts if it tells more."""
        inner = self._names.within(name, states[0]) if states else ""
        if inner:
            return self._names.is_chosen_within(inner, name.rpartition("/")[2])
        return self._names.is_chosen(name[scope:])

    def _plain(self, names: Iterable[str]) -> Iterator[str]:
        """Yield names without numbers; for deep scopes also the layer and variable alone.

        A model that another model calls may have its scope on one side and not on the other.
        """
        for name in names:
            yield self._names.plain(name)
            own = "/".join(name.split("/")[-2:])
            if own != name and self._names.is_chosen(own):
                yield self._names.plain(own)

    def _states(self, graph: Graph) -> Mapping[int, Sequence[str]]:
        known = self._known_states.get(id(graph))
        if known is None:
            known = self._known_states[id(graph)] = names_of_states(graph, self._names)
        return known

    def _values(self, graph: Graph, top: int) -> Iterator[tuple[object, str, int]]:
        """Yield the look of each value below a node, its variable's full name, and its id."""
        stack = [(top, 0)]
        while stack and self._visits >= 0:
            self._visits -= 1
            node_id, depth = stack.pop()
            node = graph.nodes[node_id]
            if has_value(node):
                label = graph.tree.labels[node_id]
                label = "" if node_id == top or INDEX.fullmatch(label) else self._spelled(label)
                name = node.attributes[0].full_name if len(node.attributes) == 1 else ""
                yield (depth, label, values_of(node)), name, node_id
            if node.role is not Role.VARIABLE:  # its slot variables are below it
                below = reversed(graph.tree.children[node_id])
                stack.extend([(child, depth + 1) for child in below])


def _common_scope(names: Sequence[str]) -> int:
    """Return the length of the scope that all names share, such as a model's.

    >>> _common_scope(["net/a/kernel", "net/b/kernel"]), _common_scope(["a/kernel"])
    (4, 0)
    """
    if not names:
        return 0
    scope = 0
    while True:
        end = names[0].find("/", scope) + 1
        is_common = end > 0 and all(name.startswith(names[0][scope:end], scope) for name in names)
        # A variable keeps its own name and the name of its layer.
        if not is_common or any(name.count("/", end) < 1 for name in names):
            return scope
        scope = end


def items_with_values(items: Iterable[Item]) -> list[Item]:
    """Return the items that hold any value."""
    return [item for item in items if item.look]

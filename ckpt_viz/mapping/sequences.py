"""Sequences of the object graph, and what distinguishes their items: values and names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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

    `spelled` gives local names that mean the same one spelling. Without it, the reader compares
    items as a restore does: parts that wrap another one count. In names, only the `scopes` count,
    if given: Keras 3 names variables by the model that their layer is in, and Keras 2 does not.
    """

    def __init__(
        self,
        names: FullNames,
        visits: int,
        spelled: Callable[[str], str] = str,
        scopes: Collection[str] | None = None,
    ) -> None:
        self._names, self._visits, self._spelled, self._scopes = names, visits, spelled, scopes
        self._counts_wrappers = spelled is str
        self._known_states: dict[int, Mapping[int, Sequence[str]]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], list[Item] | None] = {}

    @classmethod
    def of(cls, saved: Graph, live: Graph, spelled: Callable[[str], str] = str) -> ItemReader:
        """Return a reader whose visits remain linear in the size of both graphs."""
        visits = _MOST_VISITS * (len(saved.nodes) + len(live.nodes))
        names, scopes = FullNames.of(live), None
        if spelled is not str and _is_of_keras_2(saved) != _is_of_keras_2(live):
            scopes = _scopes(saved, names) & _scopes(live, names)
        return cls(names, visits, spelled, scopes)

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
        full_names = [name for values in below for _, name, _ in values if name]
        scope = _common_scope([self._kept(name) for name in full_names])
        items: list[Item] = []
        for place, (node, values) in enumerate(zip(nodes, below, strict=True)):
            named = [(self._kept(name), by_variable.get(one, ())) for _, name, one in values]
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

    def _kept(self, name: str) -> str:
        """Return a full name without the scopes that do not count."""
        if self._scopes is None:
            return name
        parts = name.split("/")
        scopes = [one for one in parts[:-2] if self._names.plain(one) in self._scopes]
        return "/".join([*scopes, *parts[-2:]])

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
        for depth, node_id in self._depths(list(self._below(graph, top)), graph):
            node = graph.nodes[node_id]
            label = graph.tree.labels[node_id]
            label = "" if node_id == top or INDEX.fullmatch(label) else self._spelled(label)
            name = node.attributes[0].full_name if len(node.attributes) == 1 else ""
            yield (depth, label, values_of(node)), self._of_layer(graph, node_id, name), node_id

    def _of_layer(self, graph: Graph, variable: int, name: str) -> str:
        """Return a full name with the name of the layer, which Keras 3 may leave out."""
        if self._counts_wrappers or not name:
            return name
        layer = graph.nodes[max(graph.tree.parents[variable], 0)].own_name
        *scopes, own = name.split("/")
        if layer is not None and layer not in scopes:
            scopes = [layer]
        return "/".join([*scopes, self._spelled(own)])

    def _below(self, graph: Graph, top: int) -> Iterator[tuple[int, int]]:
        """Yield a node and all below it that are no slot variables, with their depths."""
        stack = [(0, top)]
        while stack and self._visits >= 0:
            self._visits -= 1
            depth, node_id = stack.pop()
            yield depth, node_id
            if graph.nodes[node_id].role is not Role.VARIABLE:  # its slot variables are below it
                below = reversed(graph.tree.children[node_id])
                stack.extend([(depth + 1, child) for child in below])

    def _depths(self, below: Sequence[tuple[int, int]], graph: Graph) -> Iterator[tuple[int, int]]:
        """Yield the nodes with values and their depths, without wrappers if these do not count."""
        if self._counts_wrappers:
            yield from (one for one in below if has_value(graph.nodes[one[1]]))
            return
        parents, count = graph.tree.parents, dict.fromkeys((node for _, node in below), 0)
        for _, node in reversed(below):
            above = parents[node]
            if (count[node] or has_value(graph.nodes[node])) and above in count:
                count[above] += 1
        depths = {parents[below[0][1]]: 0} if below else {}
        for _, node in below:
            depths[node] = depths[parents[node]] + (count[node] > 1)
            if has_value(graph.nodes[node]):
                yield depths[node], node


def _is_of_keras_2(graph: Graph) -> bool:
    return any(
        child.local_name.startswith("layer_with_weights-")
        for node in graph.nodes
        for child in node.children
    )


def _scopes(graph: Graph, names: FullNames) -> set[str]:
    """Return what precedes layer and variable in full names."""
    full_names = (attribute.full_name for node in graph.nodes for attribute in node.attributes)
    return {names.plain(one) for name in full_names for one in name.split("/")[:-2]}


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

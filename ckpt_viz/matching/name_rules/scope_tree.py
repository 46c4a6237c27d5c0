"""Graphs as trees of scopes, for files that have names and no objects.

The order in such a file is that of the alphabet, and that of attributes prescribes nothing. So the
children of both sides are in the order of their names and numbers. The numbers with which Keras
tells layers apart are places, not names. So are those of scopes that the program does not know:
`layer_0` and `layer_1` may be the items of its list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import Node, Role
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.name_rules.full_names import FullNames
from ckpt_viz.matching.name_rules.names import LONGEST_NAME, canonical, index_of

_PLACE = "layer-{}"  # how Keras spells a place in a local name
_NUMBERED = re.compile(r"(.*?)_?(\d{1,9})", re.DOTALL)
_Order = tuple[bool, str, int]


@dataclass(frozen=True)
class Scopes:
    """The tree of the scopes of a graph; nodes after those of the graph are scopes alone.

    `plain` has the name of each node without the number that Keras gave, "" if it has no name.
    """

    nodes: Sequence[Node]
    parents: Sequence[int]
    labels: Sequence[str]
    children: Sequence[Sequence[int]]
    save_counter: int | None
    plain: Sequence[str]

    @property
    def tree(self) -> Scopes:
        """The tree itself."""
        return self

    def preorder(self) -> Iterator[int]:
        """Yield the nodes, parents first."""
        return walks.below(self.children)


def scopes_of_file(saved: Graph, live: Graph) -> Scopes:
    """Return the scopes of a name-based file, as a program may have them."""
    names, known = FullNames.of(live), _names_in(live)
    tree, labels = saved.tree, list(saved.tree.labels)
    order = [_order(label, names) for label in labels]
    plain = [names.plain(label) for label in labels]
    for node, label in enumerate(labels):
        if names.is_given(label):
            labels[node] = _PLACE.format(*names.numbers([label]))
    for below in tree.children:
        for node, number in _places(below, labels, known):
            labels[node], plain[node] = _PLACE.format(number), ""
    children = [sorted(below, key=order.__getitem__) for below in tree.children]
    return Scopes(saved.nodes, tree.parents, labels, children, None, plain)


def scopes_of_program(saved: Graph, live: Graph) -> Scopes:
    """Return the parts of a program, and scopes below the parts that hold variables of several."""
    names, tree = FullNames.of(live), _Growing(live)
    for part, variables in _with_several_scopes(live):
        for variable in variables:
            tree.move(variable, part)
    known = set(saved.tree.labels)
    for number, node in enumerate(tree.nodes):
        if node.own_name and names.is_given(node.own_name) and tree.labels[number] not in known:
            tree.labels[number] = _PLACE.format(*names.numbers([node.own_name]))
    sides = list(zip(tree.nodes, tree.labels, strict=True))
    order = [_order(node.own_name or label, names) for node, label in sides]
    plain = [names.plain(node.own_name or canonical(label)) for node, label in sides]
    children = [sorted(below, key=order.__getitem__) for below in tree.children()]
    return Scopes(tree.nodes, tree.parents, tree.labels, children, live.save_counter, plain)


def scope_of(variable: Node) -> tuple[str, ...]:
    """Return the scope in the full name of a variable."""
    return tuple(full_name(variable).split("/")[:-1])


def full_name(variable: Node) -> str:
    """Return the full name of a variable, "" if it has none."""
    attributes = variable.attributes
    return attributes[0].full_name.removesuffix(":0") if attributes else ""


def variables_of(live: Graph) -> Iterator[int]:
    """Yield the variables of a program, without those of optimizers."""
    tree, within = live.tree, set[int]()
    for node in tree.preorder():
        role = live.nodes[node].role
        if role is Role.OPTIMIZER or tree.parents[node] in within:
            within.add(node)
        elif role is Role.VARIABLE and node != live.save_counter:
            yield node


class _Growing:
    """The tree of a program while scopes are added to it."""

    def __init__(self, live: Graph) -> None:
        self.nodes: list[Node] = list(live.nodes)
        self.parents, self.labels = list(live.tree.parents), list(live.tree.labels)
        self._scopes: dict[tuple[int, str], int] = {}

    def move(self, variable: int, part: int) -> None:
        """Move a variable of a part into the scopes of its full name, below the part."""
        *scope, own = full_name(self.nodes[variable]).split("/")
        for name in scope:
            part = self._scope(part, name)
        self.parents[variable], self.labels[variable] = part, own

    def children(self) -> list[list[int]]:
        """Return the children of each node."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for node, parent in enumerate(self.parents):
            if parent != NOWHERE:
                children[parent].append(node)
        return children

    def _scope(self, above: int, name: str) -> int:
        if (above, name) not in self._scopes:
            self._scopes[above, name] = len(self.nodes)
            self.nodes.append(Node())
            self.parents.append(above)
            self.labels.append(name)
        return self._scopes[above, name]


def _with_several_scopes(live: Graph) -> Iterator[tuple[int, list[int]]]:
    """Yield each part whose own variables have full names of several scopes, with these."""
    by_part: dict[int, list[int]] = defaultdict(list)
    for variable in variables_of(live):
        if scope_of(live.nodes[variable]):
            by_part[live.tree.parents[variable]].append(variable)
    for part, variables in by_part.items():
        if len({scope_of(live.nodes[variable]) for variable in variables}) > 1:
            yield part, variables


def _names_in(live: Graph) -> set[str]:
    """Return all names that a program has for its parts."""
    names = {canonical(label) for label in live.tree.labels} | live.own_names
    return names | {part for obj in variables_of(live) for part in scope_of(live.nodes[obj])}


def _places(
    children: Sequence[int], labels: Sequence[str], known: set[str]
) -> Iterator[tuple[int, int]]:
    """Yield the scopes of a sequence with their numbers, if the program has none of their names."""
    sequences: dict[str, dict[int, int]] = defaultdict(dict)
    for node in children:
        match = _numbered(labels[node])
        if match is not None and index_of(labels[node]) is None:
            sequences[match[1]][node] = int(match[2])
    for numbers in sequences.values():
        if len(numbers) > 1 and not any(labels[node] in known for node in numbers):
            yield from numbers.items()


def _numbered(name: str) -> re.Match[str] | None:
    return _NUMBERED.fullmatch(name) if len(name) <= LONGEST_NAME else None


def _order(name: str, names: FullNames) -> _Order:
    """Return the place of a name among others: those that Keras gave come first."""
    plain = names.plain(name)
    if names.is_given(name):
        return False, plain, sum(names.numbers([name]))
    match = _numbered(name)
    return (True, match[1], int(match[2])) if match else (True, name, -1)

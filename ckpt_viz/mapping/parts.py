"""One side of a mapping: a graph's outline with what identifies each part of it.

A part is a node of the outline that holds a value or leads to one. Slot variables follow their
variables and are no parts; nor is the `save_counter`. Parts below an optimizer are set apart: they
repeat the model's content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from ckpt_viz.mapping.full_names import FullNames
from ckpt_viz.mapping.migrations import local_name
from ckpt_viz.mapping.sequences import INDEX
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keys import VARIABLE_VALUE
from ckpt_viz.object_graph.nodes import ROOT, Node, Role, has_value
from ckpt_viz.object_graph.subtrees import values_of


class Numbers:
    """Gives equal things equal numbers, on both sides."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}

    def of(self, thing: object) -> int:
        """Return the number of a thing."""
        return self._known.setdefault(thing, len(self._known))


@dataclass(frozen=True)
class Parts:
    """The parts of one graph, by node id; numbers of both sides can be compared.

    Attributes:
        order: The parts, parents before children.
        children: The parts below each part, in the order of the outline.
        look: The number of a part's own value: attributes with dtypes and shapes.
        content: The number of everything below a part, with local names.
        form: The same without the local names of inner parts.
        names: The same as `content`, with full names.
        values: The number of the values below a part, in whatever structure.
        chosen: The name that a person gave to a part with values of its own, "" if Keras did.
        place: The number of the path from the root.
        name: The number of the local name; -1 for an index.
        size: How many values a part has, its own included.
        is_indexed: Whether the path passes an index of a sequence.
        optimizers: The optimizers that are no part of another one.
        of_optimizer: The parts that belong to an optimizer.
    """

    graph: Graph
    order: Sequence[int]
    children: Sequence[Sequence[int]]
    look: Sequence[int]
    content: Sequence[int]
    form: Sequence[int]
    names: Sequence[int]
    values: Sequence[int]
    chosen: Sequence[str]
    place: Sequence[int]
    name: Sequence[int]
    size: Sequence[int]
    is_indexed: Sequence[bool]
    optimizers: Sequence[int]
    of_optimizer: frozenset[int]
    end: Sequence[int]
    start: Sequence[int]

    @classmethod
    def of(cls, graph: Graph, names: FullNames, numbers: Numbers) -> Parts:
        """Return the parts of a graph; both sides must share the numbers."""
        return _Reader(graph, names, numbers).parts()

    @cached_property
    def counts(self) -> Sequence[tuple[int, int]]:
        """How many parts each part holds directly: those of the model, those of optimizers."""
        states = [sum(one in self.of_optimizer for one in below) for below in self.children]
        both = zip(self.children, states, strict=True)
        return [(len(below) - count, count) for below, count in both]

    def parent(self, part: int) -> int:
        """Return the part above a part; -1 for the root."""
        return self.graph.tree.parents[part]

    def label(self, part: int) -> str:
        """Return the local name that leads to a part in the outline."""
        return self.graph.tree.labels[part]

    def below(self, part: int) -> Iterator[int]:
        """Yield a part and all parts below it, parents before children."""
        stack = [part]
        while stack:
            found = stack.pop()
            yield found
            stack.extend(reversed(self.children[found]))

    def holds(self, part: int, inner: int) -> bool:
        """Return whether a part is another one, or above it."""
        return self.start[part] <= self.start[inner] < self.end[part]


class _Reader:
    def __init__(self, graph: Graph, names: FullNames, numbers: Numbers) -> None:
        self._graph, self._names, self._numbers = graph, names, numbers

    def parts(self) -> Parts:
        graph, count = self._graph, len(self._graph.nodes)
        order = [node for node in graph.tree.preorder() if self._is_considered(node)]
        size = [0] * count
        for node in reversed(order):
            size[node] += has_value(graph.nodes[node])
            if node != ROOT:
                size[graph.tree.parents[node]] += size[node]
        order = [node for node in order if size[node] or node == ROOT]
        children: list[list[int]] = [[] for _ in graph.nodes]
        for node in order:
            if node != ROOT:
                children[graph.tree.parents[node]].append(node)
        optimizers, of_optimizer = self._optimizers(order)
        place, is_indexed = self._places(order)
        start, end = _intervals(order, graph.tree.parents, count)
        look = [self._look(node) for node in graph.nodes]
        content, form, names = self._contents(order, children, look)
        return Parts(
            graph,
            order,
            children,
            look,
            content,
            form,
            names,
            self._values(order, children, look),
            self._chosen(order, children),
            place,
            [self._name(label) for label in graph.tree.labels],
            size,
            is_indexed,
            optimizers,
            of_optimizer,
            end,
            start,
        )

    def _is_considered(self, node: int) -> bool:
        return self._graph.nodes[node].slot is None and node != self._graph.save_counter

    def _optimizers(self, order: Sequence[int]) -> tuple[list[int], frozenset[int]]:
        nodes, parents = self._graph.nodes, self._graph.tree.parents
        outer: list[int] = []
        within: set[int] = set()
        for node in order:
            if node != ROOT and parents[node] in within:
                within.add(node)
            elif nodes[node].role is Role.OPTIMIZER:
                outer.append(node)
                within.add(node)
        return outer, frozenset(within)

    def _look(self, node: Node) -> int:
        if not has_value(node):
            return -1
        if all(attribute.name == VARIABLE_VALUE for attribute in node.attributes):
            return self._numbers.of(("look", values_of(node)))
        # Only the object's own code knows the dtypes and shapes of other values.
        names = tuple(attribute.name for attribute in node.attributes)
        return self._numbers.of(("look", node.registered_saver, names))

    def _name(self, label: str) -> int:
        return -1 if INDEX.fullmatch(label) else self._numbers.of(("name", label))

    def _places(self, order: Sequence[int]) -> tuple[list[int], list[bool]]:
        place, is_indexed = [-1] * len(self._graph.nodes), [False] * len(self._graph.nodes)
        parents, labels = self._graph.tree.parents, self._graph.tree.labels
        for node in order:
            if node == ROOT:
                place[node] = self._numbers.of("root")
                continue
            above = parents[node]
            place[node] = self._numbers.of(("place", place[above], labels[node]))
            is_indexed[node] = is_indexed[above] or INDEX.fullmatch(labels[node]) is not None
        return place, is_indexed

    def _contents(
        self, order: Sequence[int], children: Sequence[Sequence[int]], look: Sequence[int]
    ) -> tuple[list[int], list[int], list[int]]:
        labels, nodes = self._graph.tree.labels, self._graph.nodes
        content, form, names = ([-1] * len(nodes) for _ in range(3))
        for node in reversed(order):
            below = children[node]
            named = sorted((labels[child], content[child]) for child in below)
            content[node] = self._numbers.of(("content", look[node], tuple(named)))
            # Only a variable's own local name says what it is.
            formed = sorted(
                ("" if children[child] else _kind(labels[child]), form[child]) for child in below
            )
            form[node] = self._numbers.of(("form", look[node], tuple(formed)))
            called = sorted((labels[child], names[child]) for child in below)
            own = tuple(self._spelled(attribute.full_name) for attribute in nodes[node].attributes)
            names[node] = self._numbers.of(("names", look[node], own, tuple(called)))
        return content, form, names

    def _spelled(self, full_name: str) -> str:
        *scopes, own = self._names.plain(full_name.removesuffix(":0")).split("/")
        return "/".join([*scopes, local_name(own)])

    def _chosen(self, order: Sequence[int], children: Sequence[Sequence[int]]) -> list[str]:
        """Return for each variable and each layer of variables the layer's name."""
        chosen = [""] * len(self._graph.nodes)
        for node in reversed(order):
            names = [a.full_name for a in self._graph.nodes[node].attributes]
            name = "/".join(names[0].split("/")[-2:]) if len(names) == 1 else ""
            if "/" in name and self._names.is_chosen(name):
                chosen[node] = self._names.plain(name).split("/")[0]
            elif children[node]:
                own = {chosen[child] for child in children[node] if not children[child]}
                layer = self._graph.nodes[node].own_name
                is_named = layer is not None and self._names.is_chosen(f"{layer}/")
                chosen[node] = layer if layer and is_named else own.pop() if len(own) == 1 else ""
        return chosen

    def _values(
        self, order: Sequence[int], children: Sequence[Sequence[int]], look: Sequence[int]
    ) -> list[int]:
        """Return sums of well-mixed numbers: equal for equal values, whatever their order."""
        labels = self._graph.tree.labels
        sums = [0] * len(self._graph.nodes)
        for node in reversed(order):
            if look[node] >= 0:
                kind = "" if children[node] else _kind(labels[node])
                sums[node] += _mixed(self._numbers.of(("value", kind, look[node])))
            if node != ROOT:
                sums[self._graph.tree.parents[node]] += sums[node]
        return sums


def _mixed(number: int) -> int:
    """Return 128 bits that depend on all bits of a number, so that sums do not agree by chance."""
    return int.from_bytes(blake2b(number.to_bytes(8, "big"), digest_size=16).digest(), "big")


def _kind(label: str) -> str:
    """Return a variable's local name in the spelling that all versions of Keras share."""
    return "" if INDEX.fullmatch(label) else local_name(label)


def _intervals(
    order: Sequence[int], parents: Sequence[int], count: int
) -> tuple[list[int], list[int]]:
    """Return for each part its place in the order, and the place after the last part below it."""
    start, end = [0] * count, [0] * count
    for place, node in enumerate(order):
        start[node], end[node] = place, place + 1
    for node in reversed(order):
        if node != ROOT:
            above = parents[node]
            end[above] = max(end[above], end[node])
    return start, end

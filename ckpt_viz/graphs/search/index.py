"""A graph, prepared for the terms of a query; labextension/src/search/index.ts does the same."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.names import holders
from ckpt_viz.graphs.nodes.nodes import ROOT, Attribute, Node
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.search.glob import Glob
from ckpt_viz.graphs.search.grammar import LIMITS
from ckpt_viz.graphs.search.syntax import folded

_END, _CLASS = "\0", "\1"  # in the text of all names

Marks = npt.NDArray[np.bool_]  # by node id, whether the node is found


class Way(NamedTuple):
    """For each node what it is called on a way, and what is above it there."""

    names: Sequence[str]
    above: Sequence[int]


class Index:
    """A graph to search: each search is one pass over its nodes, at any depth."""

    def __init__(self, graph: Graph, overlay: Overlay | None) -> None:
        self.graph, self.overlay, self.nodes = graph, overlay, graph.nodes
        self.order, self.parents = tuple(graph.tree.preorder()), graph.tree.parents
        self.labels = list(map(folded, graph.tree.labels))

    @cached_property
    def called(self) -> Sequence[str]:
        """What people call each node."""
        names = self.graph.names if self.overlay is None else self.overlay.names
        return [folded(names.name(node_id)) for node_id in range(len(self.nodes))]

    @cached_property
    def called_in_saved(self) -> Sequence[str]:
        """What people call each node on the saved side of a comparison (in a)."""
        if self.overlay is None:
            return self.called
        pairs = zip(self.overlay.saved_names, self.called, strict=True)
        return [called if name is None else folded(name) for name, called in pairs]

    @cached_property
    def ways(self) -> Sequence[Way]:
        """The ways to a node: by local names in the outline, and by the names that people give.

        In a comparison these are the names on both sides.
        """
        ways = [Way(self.labels, self.parents)]
        above = tuple(holders(self.nodes, self.graph.tree))
        for way in (
            Way(self.called, above),
            Way(self.called_in_saved, self._above_in_saved(above)),
        ):
            if way not in ways:
                ways.append(way)
        return ways

    def _above_in_saved(self, above: Sequence[int]) -> Sequence[int]:
        """Return what is above each node on the saved side; above a whole path is the root."""
        if self.overlay is None:
            return above
        are_elsewhere = self.overlay.are_held_elsewhere
        both = zip(above, are_elsewhere, strict=True)
        return tuple(ROOT if is_elsewhere else node for node, is_elsewhere in both)

    @cached_property
    def own_names(self) -> Sequence[Sequence[str]]:
        """The names of each node: on each way, and the full names of its values."""
        by_way = zip(*(way.names for way in self.ways), strict=True)
        return [
            [*names, *[folded(a.full_name) for a in node.attributes if a.full_name]]
            for names, node in zip(by_way, self.nodes, strict=True)
        ]

    @cached_property
    def names(self) -> Sequence[Sequence[str]]:
        """The same, and the name of its class."""
        return [
            [*own, folded(node.type_name)] if node.type_name else own
            for own, node in zip(self.own_names, self.nodes, strict=True)
        ]

    @cached_property
    def nodes_by_title(self) -> Mapping[str, Sequence[int]]:
        """The nodes whose row of layers has a text as its title."""
        nodes: defaultdict[str, list[int]] = defaultdict(list)
        for node_id in range(len(self.nodes)):
            nodes[folded(self.layers.title(node_id))].append(node_id)
        return dict(nodes)

    @cached_property
    def _text(self) -> tuple[str, Sequence[int]]:
        """The names of all nodes in one text, in which Python searches fast.

        With it comes where those of each node begin. A sign is around each own name, and another
        one before the name of the class.
        """
        of_nodes = [
            f"{_END}{_END.join(own)}{_END}"
            if node.type_name is None
            else f"{_END}{_END.join(own)}{_END}{_CLASS}{folded(node.type_name)}"
            for own, node in zip(self.own_names, self.nodes, strict=True)
        ]
        return "".join(of_nodes), [0, *accumulate(map(len, of_nodes))]

    def where_name_has(self, text: str) -> Marks:
        """Return the nodes with a text in one of their names."""
        if text and _END not in text and _CLASS not in text:
            return self._where_text_has(text)
        return marks(any(text in name for name in names) for names in self.names)

    def where_own_name_is(self, text: str) -> Marks:
        """Return the nodes of which a text is one of their own names."""
        if _END not in text and _CLASS not in text:
            return self._where_text_has(f"{_END}{text}{_END}")
        return marks(text in names for names in self.own_names)

    def _where_text_has(self, text: str) -> Marks:
        names, starts = self._text
        matches, place = np.zeros(len(self.nodes), np.bool_), names.find(text)
        while place >= 0:
            node_id = bisect_right(starts, place) - 1
            matches[node_id] = True
            place = names.find(text, starts[node_id + 1])
        return matches

    @cached_property
    def layers(self) -> Layers:
        """The rows of layers, as the outline shows them."""
        return self.graph.layers if self.overlay is None else self.overlay.layers

    @cached_property
    def paths(self) -> Sequence[Sequence[str]]:
        """On each way the paths to all nodes, of long ones the end: they take too much memory."""
        return [*map(self._paths_of, self.ways)]

    def _paths_of(self, way: Way) -> Sequence[str]:
        paths = [""] * len(self.nodes)
        for node_id, parent, step in self._steps(way):
            paths[node_id] = paths[parent][-LIMITS["text"] :] + step
        return paths

    def where(self, holds: Callable[[Node], bool]) -> Marks:
        """Return the nodes for which a condition is true."""
        return marks(map(holds, self.nodes))

    def where_value(self, holds: Callable[[Attribute], bool]) -> Marks:
        """Return the nodes with a value for which a condition is true."""
        return marks(any(map(holds, node.attributes)) for node in self.nodes)

    def where_path_fits(self, glob: Glob) -> Marks:
        """Return the nodes one of whose whole paths matches a glob; the root has none."""
        ways = (self._along(self._steps(way), glob, "") for way in self.ways)
        matches = reduce(operator.or_, ways)
        matches[ROOT] = False
        return matches

    def where_name_fits(self, glob: Glob) -> Marks:
        """Return the nodes whose name, as TensorFlow prints it, matches a glob."""
        edges = self.graph.first_edges.items()
        steps = ((i, parent, f".{folded(local_name)}") for i, (parent, local_name) in edges)
        return self._along(steps, glob, ROOT_NAME)

    def at_or_below(self, matches: Marks) -> Marks:
        """Return the found nodes, and all nodes below them in the outline."""
        below = matches.tolist()
        for node_id in self.order[1:]:
            below[node_id] = below[node_id] or below[self.parents[node_id]]
        return marks(below)

    def of_problems(self, kind: str | None = None) -> Marks:
        """Return the nodes that the problems of a comparison name."""
        problems = () if self.overlay is None else self.overlay.problems
        named = {i for problem in problems if kind in (None, problem.kind) for i in problem.nodes}
        return marks(i in named for i in range(len(self.nodes)))

    def _steps(self, way: Way) -> Iterable[tuple[int, int, str]]:
        """Yield each node below the root, what is above it, and what it adds to the path there."""
        for node_id in self.order[1:]:
            parent = way.above[node_id]
            yield node_id, parent, ("" if parent == ROOT else "/") + way.names[node_id]

    def _along(self, steps: Iterable[tuple[int, int, str]], glob: Glob, root: str) -> Marks:
        states = [0] * len(self.nodes)
        states[ROOT] = glob.run(glob.start, root)
        for node_id, parent, step in steps:
            states[node_id] = glob.run(states[parent], step)
        return marks(map(glob.accepts, states))


def marks_at(nodes: Iterable[int], size: int) -> Marks:
    """Return these nodes as found ones of so many."""
    marked = np.zeros(size, np.bool_)
    marked[list(nodes)] = True
    return marked


def marks(is_marked: Iterable[bool]) -> Marks:
    """Return the nodes that are found, by id."""
    return np.fromiter(is_marked, np.bool_)

"""A graph, prepared for the terms of a query; labextension/src/search/index.ts does the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import ROOT_NAME
from ckpt_viz.object_graph.nodes import ROOT, Attribute, Node
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.search.glob import Glob
from ckpt_viz.search.grammar import LIMITS
from ckpt_viz.search.measures import Measures
from ckpt_viz.search.syntax import folded

Marks = npt.NDArray[np.bool_]  # by node id, whether the node is found


class Index:
    """A graph to search: each search is one pass over its nodes, at any depth."""

    def __init__(
        self,
        graph: Graph,
        overlay: Overlay | None,
        measure: Callable[[], Measures] | None = None,
    ) -> None:
        self.graph, self.overlay, self.nodes = graph, overlay, graph.nodes
        self._measure = measure
        self.order, self.parents = tuple(graph.tree.preorder()), graph.tree.parents
        self.labels = list(map(folded, graph.tree.labels))

    @cached_property
    def names(self) -> Sequence[Sequence[str]]:
        """The names of each node: its local name, its class, the full names of its values."""
        more = [[node.type_name, *[a.full_name for a in node.attributes]] for node in self.nodes]
        named = zip(self.labels, more, strict=True)
        return [[label, *[folded(name) for name in names if name]] for label, names in named]

    @cached_property
    def paths(self) -> Sequence[str]:
        """The path to each node in the outline, or its end: whole paths take too much memory."""
        paths = [""] * len(self.nodes)
        for node_id, parent, step in self._steps():
            paths[node_id] = paths[parent][-LIMITS["text"] :] + step
        return paths

    @cached_property
    def measures(self) -> Measures | None:
        """What the values measure; None if they must stay unread. This may read them all."""
        return None if self._measure is None else self._measure()

    def where(self, holds: Callable[[Node], bool]) -> Marks:
        """Return the nodes for which a condition is true."""
        return marks(map(holds, self.nodes))

    def where_value(self, holds: Callable[[Attribute], bool]) -> Marks:
        """Return the nodes with a value for which a condition is true."""
        return marks(any(map(holds, node.attributes)) for node in self.nodes)

    def where_path_fits(self, glob: Glob) -> Marks:
        """Return the nodes whose whole path matches a glob; the root has none."""
        matches = self._along(self._steps(), glob, "")
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

    def _steps(self) -> Iterable[tuple[int, int, str]]:
        """Yield each node below the root, its parent, and what it adds to the parent's path."""
        for node_id in self.order[1:]:
            parent = self.parents[node_id]
            yield node_id, parent, ("" if parent == ROOT else "/") + self.labels[node_id]

    def _along(self, steps: Iterable[tuple[int, int, str]], glob: Glob, root: str) -> Marks:
        states = [0] * len(self.nodes)
        states[ROOT] = glob.run(glob.start, root)
        for node_id, parent, step in steps:
            states[node_id] = glob.run(states[parent], step)
        return marks(map(glob.accepts, states))


def marks(is_marked: Iterable[bool]) -> Marks:
    """Return the nodes that are found, by id."""
    return np.fromiter(is_marked, np.bool_)

"""The nodes that each term of a query finds; labextension/src/search/index.ts does the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Attribute, Node
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.search.glob import Glob

Marks = Sequence[bool]  # by node id
ROOT_NAME = "(root)"


class Index:
    """A graph to search: each search is one pass over its nodes, at any depth."""

    def __init__(self, graph: Graph, overlay: Overlay | None) -> None:
        self.graph, self.overlay, self.nodes = graph, overlay, graph.nodes
        self.order, self.parents = tuple(graph.tree.preorder()), graph.tree.parents
        self.labels = list(map(folded, graph.tree.labels))

    @cached_property
    def texts(self) -> Sequence[Sequence[str]]:
        """The texts of each node besides its local name: its class, its values' full names."""
        return [
            [folded(t) for t in (node.type_name, *[a.full_name for a in node.attributes]) if t]
            for node in self.nodes
        ]

    @cached_property
    def slot_neighbours(self) -> Sequence[Sequence[int]]:
        """For slots, their variable and optimizer; for these, their slots."""
        neighbours: list[list[int]] = [[] for _ in self.nodes]
        for node_id, node in enumerate(self.nodes):
            for other in () if node.slot is None else (node.slot.variable, node.slot.optimizer):
                if other is not None:
                    neighbours[node_id].append(other)
                    neighbours[other].append(node_id)
        return neighbours

    def where(self, holds: Callable[[Node], bool]) -> Marks:
        """Return the nodes for which a condition is true."""
        return list(map(holds, self.nodes))

    def where_value(self, holds: Callable[[Attribute], bool]) -> Marks:
        """Return the nodes with a value for which a condition is true."""
        return [any(map(holds, node.attributes)) for node in self.nodes]

    def where_path(self, kept: int, holds: Callable[[str, int], bool]) -> Marks:
        """Return the nodes for whose path a condition is true.

        The condition gets the end of the path, with `kept` characters of the parent's path, and the
        number of characters that the node adds. Whole paths would take space that grows with the
        square of the depth.
        """
        marks = [False] * len(self.nodes)
        stack = [(ROOT, "")]
        while stack:
            node_id, before = stack.pop()
            step = self._step(node_id)
            path = before + step
            marks[node_id] = holds(path, len(step))
            end = path[-kept:] if kept else ""
            stack.extend([(child, end) for child in self.graph.tree.children[node_id]])
        return marks

    def where_path_fits(self, glob: Glob) -> Marks:
        """Return the nodes whose path matches a glob; the root has none."""
        steps = ((i, self.parents[i], self._step(i)) for i in self.order[1:])
        return [i != ROOT and mark for i, mark in enumerate(self._along(steps, glob, ""))]

    def where_name_fits(self, glob: Glob) -> Marks:
        """Return the nodes whose name, as TensorFlow prints it, matches a glob."""
        edges = self.graph.first_edges.items()
        steps = ((i, parent, f".{folded(local_name)}") for i, (parent, local_name) in edges)
        return self._along(steps, glob, ROOT_NAME)

    def _along(self, steps: Iterable[tuple[int, int, str]], glob: Glob, root: str) -> Marks:
        states = [0] * len(self.nodes)
        states[ROOT] = glob.run(glob.start, root)
        for node_id, parent, step in steps:
            states[node_id] = glob.run(states[parent], step)
        return list(map(glob.accepts, states))

    def _step(self, node_id: int) -> str:
        """Return the part that a node adds to the path of its parent."""
        return ("/" if self.parents[node_id] > ROOT else "") + self.labels[node_id]

    def at_or_below(self, marks: Marks) -> Marks:
        """Return the marked nodes, and all nodes below them in the outline."""
        below = list(marks)
        for node_id in self.order[1:]:
            below[node_id] = below[node_id] or below[self.parents[node_id]]
        return below

    def of_problems(self, kind: str | None = None) -> Marks:
        """Return the nodes that the problems of a comparison name."""
        problems = () if self.overlay is None else self.overlay.problems
        named = {i for problem in problems if kind in (None, problem.kind) for i in problem.nodes}
        return [i in named for i in range(len(self.nodes))]


def either(a: Marks, b: Marks) -> Marks:
    """Return the nodes in either of two sets."""
    return [x or y for x, y in zip(a, b, strict=True)]


def both(a: Marks, b: Marks) -> Marks:
    """Return the nodes in both of two sets."""
    return [x and y for x, y in zip(a, b, strict=True)]


def plain(text: str) -> str:
    """Return a name as the front end has it: characters outside Unicode are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def folded(text: str) -> str:
    """Return a name in lower case, for comparisons."""
    return plain(text).lower()

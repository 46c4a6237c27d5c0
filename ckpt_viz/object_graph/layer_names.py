"""The names that people give: of layers, and of places by the layers that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.layers import names_of
from ckpt_viz.object_graph.names import spelled
from ckpt_viz.object_graph.nodes import ROOT

_ROOT_PREFIX = "(root)."


@dataclass(frozen=True)
class LayerNames:
    """The names of the nodes of one graph as people know them."""

    graph: Graph

    def name(self, node_id: int) -> str:
        """Return what people call a node: a layer's own name, or its local name."""
        return self._names[node_id]

    def place(self, node_id: int) -> str:
        """Return the path of a node in the names that people give, without private local names.

        A variable that has others below it, such as its slots, keeps its place in their paths.
        """
        names, parents, labels = self._names, self.graph.tree.parents, self.graph.tree.labels
        nodes = self.graph.nodes

        def step(node: int) -> tuple[int, str]:
            above = parents[node]
            while above > ROOT and labels[above].startswith("_") and not nodes[above].attributes:
                above = parents[above]
            return above, names[node]

        return without_root(spelled(node_id, step))

    @cached_property
    def _names(self) -> Sequence[str]:
        nodes, tree = self.graph.nodes, self.graph.tree
        return names_of(nodes, tree, list(tree.preorder()), len(nodes))


def without_root(name: str) -> str:
    """Return a name without "(root)." before it.

    >>> without_root("(root).model"), without_root("(root)")
    ('model', '(root)')
    """
    return name.removeprefix(_ROOT_PREFIX)

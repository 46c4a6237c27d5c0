"""The names of nodes, in any graph: TensorFlow's and people's.

Heads and rows have TensorFlow's names, cut where they are too long to read: `readable_name`, and
`readable_place` for the way through the model. Tables of values, histories, outlines and sentences
about changes have the names that people give: `LayerNames`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.layers import names_of
from ckpt_viz.object_graph.nodes import ROOT, ROOT_NAME, Node, Role, has_value
from ckpt_viz.object_graph.spelling import readable, spelled, tensorflow_name
from ckpt_viz.text import count


def readable_name(graph: Graph, node_id: int) -> str:
    """Return a node's name, `Graph.name`; if it is too deep to read, only the end.

    In a chain of 100,000 nodes the names themselves have 25 billion characters.
    """
    return tensorflow_name(graph.nodes, graph.first_edges, node_id, is_cut=True)


def readable_place(graph: Graph, node_id: int) -> str:
    """Return a node's place in the outline, `Graph.path`, spelled like its name.

    TensorFlow names a node by the shortest path to it. For an optimizer's variables that path leads
    through the optimizer's lists; a person would go through the model.
    """
    tree = graph.tree
    return spelled(node_id, lambda node: (tree.parents[node], tree.labels[node]))


def place_or_state(graph: Graph, node_id: int) -> str:
    """Return a node's place in the outline; of a slot variable, whose state it is."""
    slot = graph.nodes[node_id].slot
    if slot is None:
        return readable_place(graph, node_id)
    # The variable may be a slot itself, even its own: its place in the outline tells.
    return f"the state {readable(slot.name)!r} of {readable_place(graph, slot.variable)}"


@dataclass(frozen=True)
class LayerNames:
    """The names of the nodes of one graph as people know them: for sentences and outlines."""

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
    return name.removeprefix(f"{ROOT_NAME}.")


def counted(nodes: Iterable[Node], *, other: bool = False) -> str:
    """Return the number of nodes with a value: "3 variables"; with other values "3 values"."""
    valued = [node for node in nodes if has_value(node)]
    return count(len(valued), f"other {noun_for(valued)}" if other else noun_for(valued))


def noun_for(nodes: Iterable[Node]) -> str:
    """Return what to call nodes with values: a variable; a value if others are among them."""
    return "value" if any(node.role is Role.VALUE for node in nodes) else "variable"

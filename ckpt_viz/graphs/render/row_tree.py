"""The tree of rows from which a picture takes some: of a graph's objects, or of its layers.

Each node has a row. In the tree of layers, a node can share a row or have none, and a group has a
row for its members. Of parts that are alike, a picture shows the first: below their row are the
rows below that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.layers.rows import LayerGroup, Layers
from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Node, NotSaved, Role
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the outline: a node, a group of layers, or the rest of the children of its parent.

    `node_id` is None for a group, for a row that counts `siblings` children, and for an attribute
    in which values are `lost`, which no node has. `parent` is the index of the parent's row, -1 for
    the root. `hidden` counts the nodes without their own row that
    this row represents, and `repeated` those of parts that are like the part shown below this row.
    Only rows of layers have a `name` and a number of `parameters` below. `unreadable` counts those
    of the nodes without their own row whose values cannot be read. `hanging` counts the variables
    of a part that an optimizer alone holds. `place` is the row in the tree.
    """

    node_id: int | None
    level: int
    parent: int
    hidden: int = 0
    siblings: int = 0
    name: str = ""
    group: LayerGroup | None = None
    parameters: int | None = None
    repeated: int = 0
    unreadable: int = 0
    hanging: int = 0
    lost: NotSaved | None = None
    place: int = NOWHERE


class RowTree:
    """The rows that a picture can show, and what is below each of them.

    `order` has all rows, each before those below it.
    """

    def __init__(self, graph: Graph, children: Sequence[Sequence[int]]) -> None:
        self.nodes: Sequence[Node] = graph.nodes
        self.children: list[Sequence[int]] = list(children)
        self.order = list(walks.below(self.children))
        self.parents = _parents(self.children)
        self.layers: Layers | None = None
        self._stand_in = list(range(len(self.children)))
        self._places = [0] * len(self.children)
        for place, row in enumerate(self.order):
            self._places[row] = place
        self._sizes = [1] * len(self.children)
        walks.add_up(self._sizes, self.parents, self.order)

    @classmethod
    def of_objects(cls, graph: Graph) -> RowTree:
        """Return the tree of all nodes, without Keras' own lists."""
        tree = cls(graph, graph.tree.children)
        if any(node.role is Role.BOOKKEEPING for node in graph.nodes):
            tree.children = [
                [c for c in below if tree.nodes[c].role is not Role.BOOKKEEPING]
                for below in tree.children
            ]
        return tree

    @classmethod
    def of_layers(cls, graph: Graph, layers: Layers | None = None) -> RowTree:
        """Return the tree of layers: of the graph's own, or of those of a comparison."""
        view = graph.layers if layers is None else layers
        tree = cls(graph, view.children)
        tree.layers = view
        for row in tree.order:
            group = view.group(row)
            if group is not None and group.is_alike:
                first = view.children[row][0]
                shown = set(tree.below(first)[1:])
                for inner in tree.below(row)[1:]:
                    if inner not in shown and tree._stand_in[inner] == inner:
                        tree._stand_in[inner] = row
                tree.children[row] = view.children[first]
                for child in tree.children[row]:
                    tree.parents[child] = row
        return tree

    def node(self, row: int) -> Node | None:
        """Return the node of a row; None for a group."""
        return self.nodes[row] if row < len(self.nodes) else None

    def below(self, row: int) -> list[int]:
        """Return the rows of a subtree, its top first."""
        place = self._places[row]
        return self.order[place : place + self._sizes[row]]

    def rows(
        self, opened: Mapping[int, Sequence[int]], parameters: Sequence[int] | None = None
    ) -> Iterator[Row]:
        """Yield the lines of a picture; `opened` has the children that each open row shows."""
        stack: list[tuple[int | None, int, int, Sequence[int]]] = [(ROOT, 1, -1, ())]
        place = 0
        while stack:
            row, level, parent, rest = stack.pop()
            if row is None:
                hidden, lost = self._summed(i for inner in rest for i in self.below(inner))
                yield Row(None, level, parent, hidden, len(rest), unreadable=lost)
            else:
                shown = opened.get(row, ())
                yield self._row(row, level, parent, shown, parameters)
                if 0 < len(shown) < len(self.children[row]):
                    known = set(shown)
                    left = [child for child in self.children[row] if child not in known]
                    stack.append((None, level + 1, place, left))
                stack.extend((child, level + 1, place, ()) for child in reversed(shown))
            place += 1

    def _row(
        self,
        row: int,
        level: int,
        parent: int,
        shown: Sequence[int],
        parameters: Sequence[int] | None,
    ) -> Row:
        is_group = self.node(row) is None
        count, lost = self._summed(self._repeated(row) if shown else self.below(row)[1:])
        return Row(
            *(None if is_group else row, level, parent),
            hidden=0 if shown else count,
            name="" if self.layers is None else self.layers.title(row),
            group=None if self.layers is None else self.layers.group(row),
            parameters=None if parameters is None else parameters[row],
            repeated=count if shown else 0,
            unreadable=lost,
            hanging=0 if self.layers is None else self.layers.hanging.get(row, 0),
            lost=None if self.layers is None else self.layers.lost.get(row),
            place=row,
        )

    def _repeated(self, row: int) -> list[int]:
        """Return the rows below an open row that no picture shows: those of parts that are alike.

        The first of these parts has no row of its own either.
        """
        group = None if self.layers is None else self.layers.group(row)
        if group is None or not group.is_alike:
            return []
        return [hidden for hidden in self.below(row)[1:] if self._stand_in[hidden] == row]

    def _summed(self, rows: Iterable[int]) -> tuple[int, int]:
        """Return the number of nodes, and of those whose values cannot be read."""
        nodes = [row for row in rows if row < len(self.nodes)]
        return len(nodes), sum(_is_lost(self.nodes[node_id]) for node_id in nodes)


def _is_lost(node: Node) -> bool:
    return any(attribute.error is not None for attribute in node.attributes)


def _parents(children: Sequence[Sequence[int]]) -> list[int]:
    parents = [NOWHERE] * len(children)
    for row, below in enumerate(children):
        for child in below:
            parents[child] = row
    return parents

"""The rows of the outline that a picture shows: a limited number, the most important ones.

A picture cannot be expanded further: it shows the nodes near the root. A row counts the nodes that
are left out at its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.row_tree import Row, RowTree

MAX_ROWS = 300
_MAX_SIBLINGS = 100  # of one node, as in the explorer's chunks


def outline(graph: Graph, max_rows: int = MAX_ROWS) -> list[Row]:
    """Return the rows of the graph's objects in the order of the outline, breadth first.

    A variable's row includes its slot variables.
    """
    tree = RowTree.of_objects(graph)
    chosen = _Chosen(tree, max_rows)
    queue = deque([ROOT])
    while queue and chosen.has_room:
        row = queue.popleft()
        node = tree.node(row)
        if row == ROOT or node is None or node.role is not Role.VARIABLE:
            chosen.show(row)
        queue.extend(child for child in tree.children[row] if child in chosen.rows)
    return list(tree.rows(chosen.opened))


class _Chosen:
    """The rows of the tree that are in the picture, while the picture has space."""

    def __init__(self, tree: RowTree, max_rows: int) -> None:
        self.rows = {ROOT}
        self.opened: dict[int, Sequence[int]] = {}
        self._tree = tree
        self._left = max_rows - 1  # for the root

    @property
    def has_room(self) -> bool:
        """Whether another row fits into the picture."""
        return self._left > 0

    def show(self, row: int) -> None:
        """Show the first children of a row, if they fit with a row that counts the others."""
        children = self._tree.children[row]
        shown = children[:_MAX_SIBLINGS]
        cost = len(shown) + (len(shown) < len(children))
        if shown and cost <= self._left:
            self._left -= cost
            self.rows.update(shown)
            self.opened[row] = shown

"""The rows of the outline that a picture shows: a limited number, the most important ones.

A picture cannot be expanded further. For a graph, it shows the nodes near the root. For a
comparison, it first shows the paths to the problems, then the nodes beside them. A row counts the
nodes that are left out at its place.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, deque
from collections.abc import Iterator

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.groups import groups
from ckpt_viz.object_graph.nodes import ROOT, Role
from ckpt_viz.object_graph.overlay import QUIET, Overlay
from ckpt_viz.render.row_tree import Row, RowTree, pressing

MAX_ROWS = 300
_MAX_SIBLINGS = 100  # of one node, as in the explorer's chunks
_MAX_NEIGHBOURS = 30  # the same if a comparison opens a node for a problem below it
_COMFORTABLE_ROWS = 25  # of a comparison without a problem


def outline(
    graph: Graph,
    overlay: Overlay | None = None,
    max_rows: int = MAX_ROWS,
    *,
    of_layers: bool = False,
) -> list[Row]:
    """Return the rows of the graph in the order of the outline; `overlay` is of this graph."""
    tree = (RowTree.of_layers if of_layers else RowTree.of_objects)(graph, overlay)
    chosen = _Chosen(tree, max_rows)
    if overlay is None:
        _open_from_the_root(chosen, max_rows)
    else:
        for node_id in _problems_first(overlay):
            chosen.reveal(tree.row_of(node_id))
        _show_siblings(chosen, max_rows)
        _open_from_the_root(chosen, min(max_rows, _COMFORTABLE_ROWS))
    return list(tree.rows(chosen.shown()))


class _Chosen:
    """The rows of the tree that are in the picture, while the picture has space."""

    def __init__(self, tree: RowTree, max_rows: int) -> None:
        self.tree = tree
        self.rows = {ROOT}
        self.opened: dict[int, int] = {}  # number of children in the picture
        self._left = max_rows - 1  # for the root
        self._max_rows = max_rows

    @property
    def count(self) -> int:
        """The number of rows, including those that count the remaining children."""
        return self._max_rows - self._left

    def shown(self) -> dict[int, list[int]]:
        """Return the children that each open row shows."""
        return {
            row: [child for child in self.tree.children[row] if child in self.rows]
            for row in self.opened
        }

    def reveal(self, row: int) -> None:
        """Show a row and each row on the way to it, if enough space is left."""
        path: list[int] = []
        while row not in self.rows and len(path) <= self._left:
            path.append(row)
            row = self.tree.parents[row]
        if path and row in self.rows:
            steps = list(zip(path, (*path[1:], row), strict=True))
            self._add(steps)

    def show(self, parent: int, max_rows: int, most: int = _MAX_SIBLINGS) -> None:
        """Show the children of a row; of too many, only the neighbours of visible ones."""
        some = self._nearest(parent, most - self.opened.get(parent, 0))
        if some and self.count + self._cost([(c, parent) for c in some]) <= max_rows:
            self._add([(child, parent) for child in some])

    def _nearest(self, parent: int, most: int) -> list[int]:
        children = self.tree.children[parent]
        missing = [place for place, child in enumerate(children) if child not in self.rows]
        if len(missing) > most and parent in self.opened:
            shown = [place for place, child in enumerate(children) if child in self.rows]

            def distance(place: int) -> int:
                after = bisect(shown, place)
                return min(abs(place - near) for near in shown[max(after - 1, 0) : after + 1])

            missing.sort(key=distance)
        return [children[place] for place in missing[: max(most, 0)]]

    def _add(self, steps: list[tuple[int, int]]) -> None:
        cost = self._cost(steps)
        if cost <= self._left:
            self._left -= cost
            for child, parent in steps:
                self.rows.add(child)
                self.opened[parent] = self.opened.get(parent, 0) + 1

    def _cost(self, steps: list[tuple[int, int]]) -> int:
        """Return how many more rows these children take, with the rows for remaining children."""
        added = Counter(parent for _, parent in steps)
        cost = len(steps)
        for parent, number in added.items():
            before, total = self.opened.get(parent, 0), len(self.tree.children[parent])
            cost += (before + number < total) - (0 < before < total)
        return cost


def _open_from_the_root(chosen: _Chosen, max_rows: int) -> None:
    """Open nodes breadth first; a variable's row includes its slot variables."""
    queue = deque([ROOT])
    while queue and chosen.count < max_rows:
        row = queue.popleft()
        if row == ROOT or not _is_variable(chosen.tree, row):
            chosen.show(row, max_rows)
        queue.extend(c for c in chosen.tree.children[row] if c in chosen.rows)


def _show_siblings(chosen: _Chosen, max_rows: int) -> None:
    """Show more children of open nodes: beside a wrong name, the right one is often near."""
    opened = {ROOT, *chosen.opened}
    for row in chosen.tree.order:
        if row in opened and not _is_variable(chosen.tree, row):
            most = _MAX_NEIGHBOURS if row in chosen.opened else _MAX_SIBLINGS
            chosen.show(row, max_rows, most)


def _is_variable(tree: RowTree, row: int) -> bool:
    node = tree.node(row)
    return node is not None and node.role is Role.VARIABLE


def _problems_first(overlay: Overlay) -> Iterator[int]:
    """Yield the nodes that need attention: the problems, worst first, then the rest.

    Yields only the top of a subtree of one state; slot variables count at their variables.
    """
    for problem in pressing(overlay):
        yield problem[0]
    for group in groups(overlay.graph, overlay.marks):
        if group.state not in QUIET and not group.of_slots:
            yield group.top

"""The rows of the outline that a picture shows: a limited number, the most important ones.

A picture cannot be expanded further. For a graph, it shows the nodes near the root. For a
comparison, it first shows the paths to the problems, then the nodes beside them. A row counts the
nodes that are left out at its place.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.groups import groups
from ckpt_viz.object_graph.layers import Group
from ckpt_viz.object_graph.nodes import ROOT, Role
from ckpt_viz.object_graph.overlay import Comparison, Overlay, Severity, State
from ckpt_viz.object_graph.tree import NOWHERE
from ckpt_viz.render.signs import QUIET

MAX_ROWS = 300
_MAX_SIBLINGS = 100  # of one node, as in the explorer's chunks
_MAX_NEIGHBOURS = 30  # the same if a comparison opens a node for a problem below it
_COMFORTABLE_ROWS = 25  # of a comparison without a problem


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the outline: a node, a group of layers, or the rest of the children of its parent.

    `node_id` is None for a group, and for a row that counts `siblings` children. `parent` is the
    index of the parent's row, -1 for the root. `hidden` counts the nodes without their own row that
    this row represents. `states` counts those of them that need attention in a comparison, by
    state. Only rows of layers have a `name`, and a number of `parameters` below.
    """

    node_id: int | None
    level: int
    parent: int
    hidden: int = 0
    siblings: int = 0
    states: tuple[tuple[State, int], ...] = ()
    name: str = ""
    group: Group | None = None
    parameters: int | None = None


def outline(graph: Graph, overlay: Overlay | None = None, max_rows: int = MAX_ROWS) -> list[Row]:
    """Return the rows of the graph in the order of the outline; `overlay` is of this graph."""
    shape = _Shape(graph, overlay)
    chosen = _Chosen(shape, max_rows)
    if overlay is None:
        _open_from_the_root(chosen, max_rows)
    else:
        for node_id in _problems_first(overlay):
            chosen.reveal(node_id)
        _show_siblings(chosen, max_rows)
        _open_from_the_root(chosen, min(max_rows, _COMFORTABLE_ROWS))
    return list(_rows(shape, chosen))


class _Shape:
    """The tree without Keras' own lists that have no problem, and the content below each node."""

    def __init__(self, graph: Graph, overlay: Overlay | None) -> None:
        tree = graph.tree
        self.marks = None if overlay is None else overlay.marks
        self.nodes, self.parents = graph.nodes, tree.parents
        self.order = list(tree.preorder())
        self.sizes = [1] * len(graph.nodes)
        self.marked = self._marked(overlay)
        for node_id in reversed(self.order):
            parent = self.parents[node_id]
            if parent != NOWHERE:
                self.sizes[parent] += self.sizes[node_id]
                self.marked[parent] |= self.marked[node_id]
        self.places = [0] * len(graph.nodes)
        for place, node_id in enumerate(self.order):
            self.places[node_id] = place
        self._children = tree.children
        self._has_bookkeeping = any(node.role is Role.BOOKKEEPING for node in graph.nodes)

    def _marked(self, overlay: Overlay | None) -> bytearray:
        """Return which nodes need attention themselves."""
        marked = bytearray(len(self.nodes))
        if overlay is not None:
            for node_id, mark in enumerate(overlay.marks):
                marked[node_id] = mark.state not in QUIET
            for problem in _pressing(overlay):
                for node_id in problem:
                    marked[node_id] = 1
        return marked

    def children(self, node_id: int) -> tuple[int, ...]:
        """Return the visible children."""
        children = self._children[node_id]
        if not self._has_bookkeeping:
            return children
        return tuple([c for c in children if not self.is_left_out(c)])

    def is_left_out(self, node_id: int) -> bool:
        return self.nodes[node_id].role is Role.BOOKKEEPING and not self.marked[node_id]

    def below(self, node_id: int) -> list[int]:
        """Return the nodes of a subtree, its top first."""
        place = self.places[node_id]
        return self.order[place : place + self.sizes[node_id]]


class _Chosen:
    """The nodes that have a row, while rows remain."""

    def __init__(self, shape: _Shape, max_rows: int) -> None:
        self.shape = shape
        self.nodes = {ROOT}
        self.opened: dict[int, int] = {}  # number of children that have a row
        self._left = max_rows - 1  # for the root
        self._known: dict[int, tuple[int, ...]] = {}
        self._max_rows = max_rows

    @property
    def count(self) -> int:
        """The number of rows, including those that count the remaining children."""
        return self._max_rows - self._left

    def children(self, node_id: int) -> tuple[int, ...]:
        if node_id not in self._known:
            self._known[node_id] = self.shape.children(node_id)
        return self._known[node_id]

    def reveal(self, node_id: int) -> None:
        """Give a node and each node on the way to it a row, if enough rows are left."""
        path: list[int] = []
        while node_id not in self.nodes and len(path) <= self._left:
            path.append(node_id)
            node_id = self.shape.parents[node_id]
        if path and node_id in self.nodes:
            steps = list(zip(path, (*path[1:], node_id), strict=True))
            self._add(steps)

    def show(self, parent: int, max_rows: int, most: int = _MAX_SIBLINGS) -> None:
        """Give the children of a node rows; of too many, only the neighbours of visible ones."""
        some = self._nearest(parent, most - self.opened.get(parent, 0))
        if some and self.count + self._cost([(c, parent) for c in some]) <= max_rows:
            self._add([(child, parent) for child in some])

    def _nearest(self, parent: int, most: int) -> list[int]:
        children = self.children(parent)
        missing = [place for place, child in enumerate(children) if child not in self.nodes]
        if len(missing) > most and parent in self.opened:
            shown = [place for place, child in enumerate(children) if child in self.nodes]

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
                self.nodes.add(child)
                self.opened[parent] = self.opened.get(parent, 0) + 1

    def _cost(self, steps: list[tuple[int, int]]) -> int:
        """Return how many more rows these children take, with the rows for remaining children."""
        added = Counter(parent for _, parent in steps)
        cost = len(steps)
        for parent, number in added.items():
            before, total = self.opened.get(parent, 0), len(self.children(parent))
            cost += (before + number < total) - (0 < before < total)
        return cost


def _open_from_the_root(chosen: _Chosen, max_rows: int) -> None:
    """Open nodes breadth first; a variable's row includes its slot variables."""
    queue = deque([ROOT])
    while queue and chosen.count < max_rows:
        node_id = queue.popleft()
        if node_id == ROOT or chosen.shape.nodes[node_id].role is not Role.VARIABLE:
            chosen.show(node_id, max_rows)
        queue.extend(c for c in chosen.children(node_id) if c in chosen.nodes)


def _show_siblings(chosen: _Chosen, max_rows: int) -> None:
    """Show more children of open nodes: beside a wrong name, the right one is often near."""
    for node_id in sorted({ROOT, *chosen.opened}, key=chosen.shape.places.__getitem__):
        if chosen.shape.nodes[node_id].role is not Role.VARIABLE:
            most = _MAX_NEIGHBOURS if node_id in chosen.opened else _MAX_SIBLINGS
            chosen.show(node_id, max_rows, most)


def _problems_first(overlay: Overlay) -> Iterator[int]:
    """Yield the nodes that need attention: the problems, worst first, then the rest.

    Yields only the top of a subtree of one state; slot variables count at their variables.
    """
    for problem in _pressing(overlay):
        yield problem[0]
    for group in groups(overlay.graph, overlay.marks):
        if group.state not in QUIET and not group.of_slots:
            yield group.top


def _pressing(overlay: Overlay) -> Iterable[tuple[int, ...]]:
    """Return the nodes of each problem; notes have none, but in a diff every difference counts."""
    is_diff = overlay.comparison is Comparison.DIFF
    return [
        problem.nodes
        for problem in overlay.problems
        if problem.nodes and (is_diff or problem.severity is not Severity.INFO)
    ]


def _rows(shape: _Shape, chosen: _Chosen) -> Iterator[Row]:
    stack: list[tuple[int | None, int, int, tuple[int, ...]]] = [(ROOT, 1, -1, ())]
    place = 0
    while stack:
        node_id, level, parent, rest = stack.pop()
        if node_id is None:
            hidden, states = _summed(shape, [i for child in rest for i in shape.below(child)])
            yield Row(None, level, parent, hidden, len(rest), states)
        elif node_id in chosen.opened:
            yield Row(node_id, level, parent)
            children = chosen.children(node_id)
            if left := tuple(c for c in children if c not in chosen.nodes):
                stack.append((None, level + 1, place, left))
            stack.extend((c, level + 1, place, ()) for c in reversed(children) if c in chosen.nodes)
        else:
            hidden, states = _summed(shape, shape.below(node_id)[1:])
            yield Row(node_id, level, parent, hidden, 0, states)
        place += 1


def _summed(shape: _Shape, nodes: list[int]) -> tuple[int, tuple[tuple[State, int], ...]]:
    """Return the number of these nodes, and by state the number that needs attention."""
    if shape.marks is None:
        return len(nodes), ()
    counts = Counter(shape.marks[node_id].state for node_id in nodes)
    return len(nodes), tuple((s, counts[s]) for s in State if counts[s] and s not in QUIET)

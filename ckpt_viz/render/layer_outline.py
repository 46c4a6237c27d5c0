"""The rows of a picture that shows a graph as its layers, from the root as deep as levels fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Node, Role
from ckpt_viz.render.outline import Row

MAX_LAYER_ROWS = 60
_EMPTY = 0.75  # of the rows: a picture with more than these to spare is almost empty


def layer_outline(graph: Graph, max_rows: int = MAX_LAYER_ROWS) -> list[Row]:
    """Return the rows of the graph's layers; of parts that are alike, open only the first."""
    shape = _Shape(graph)
    return list(_rows(shape, _opened(shape, max_rows)))


class _Shape:
    """What rows can show of a graph's layers: their children, and the sums of what is below."""

    def __init__(self, graph: Graph) -> None:
        self.nodes, self.view = graph.nodes, graph.layers
        order = list(self.view.preorder())
        self.sizes = [0] * len(self.view.parents)  # nodes that have a row, or could have one
        self.parameters = [0] * len(self.view.parents)
        for row in reversed(order):
            node = self.node(row)
            self.sizes[row] += node is not None
            if node is not None and node.role is Role.OPTIMIZER:
                self.parameters[row] = 0
            elif node is not None and node.role is Role.VARIABLE and row != graph.save_counter:
                shapes = [a.shape for a in node.attributes if a.shape is not None]
                self.parameters[row] = sum(map(prod, shapes))
            if row != ROOT:
                self.sizes[self.view.parents[row]] += self.sizes[row]
                self.parameters[self.view.parents[row]] += self.parameters[row]

    def node(self, row: int) -> Node | None:
        """Return the node of a row; None for a group."""
        return self.nodes[row] if row < len(self.nodes) else None

    def children(self, row: int) -> tuple[int, ...]:
        """Return the rows below: of parts that are alike, those below the first of them.

        Slot variables have none: the row of their variable names them.
        """
        node, group = self.node(row), self.view.group(row)
        if node is not None and node.role is Role.VARIABLE:
            return ()
        if group is not None and group.is_alike:
            return self.children(self.view.children[row][0])
        return self.view.children[row]


def _opened(shape: _Shape, max_rows: int) -> Mapping[int, int]:
    """Return how many children of each open row are shown: whole levels, while they fit."""
    shown: dict[int, int] = {}
    left, level = max_rows - 1, [ROOT]
    while level:
        wanted = {row: len(below) for row in level if (below := shape.children(row))}
        if sum(wanted.values()) > left:
            # A level that is cut is better than an almost empty picture.
            return shown | (_cut(wanted, left) if left > max_rows * _EMPTY else {})
        shown |= wanted
        left -= sum(wanted.values())
        level = [child for row in wanted for child in shape.children(row)]
    return shown


def _cut(wanted: Mapping[int, int], left: int) -> dict[int, int]:
    """Return what remains of a level that does not fit: short lists, and a part of a long one."""
    shown: dict[int, int] = {}
    for row, most in sorted(wanted.items(), key=lambda item: item[1]):
        if most > left:
            return shown | ({row: left - 1} if left > 1 else {})
        shown[row] = most
        left -= most
    return shown


def _rows(shape: _Shape, shown: Mapping[int, int]) -> Iterator[Row]:
    stack: list[tuple[int | None, int, int, tuple[int, ...]]] = [(ROOT, 1, -1, ())]
    place = 0
    while stack:
        row, level, parent, rest = stack.pop()
        if row is None:
            yield Row(None, level, parent, sum(shape.sizes[r] for r in rest), len(rest))
        else:
            children = shape.children(row)[: shown.get(row, 0)]
            hidden = 0 if children else shape.sizes[row] - (shape.node(row) is not None)
            yield Row(
                None if shape.node(row) is None else row,
                *(level, parent, hidden),
                name=shape.view.title(row),
                group=shape.view.group(row),
                parameters=shape.parameters[row],
            )
            if children and (more := shape.children(row)[len(children) :]):
                stack.append((None, level + 1, place, more))
            stack.extend((child, level + 1, place, ()) for child in reversed(children))
        place += 1

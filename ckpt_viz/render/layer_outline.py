"""The rows of a picture that shows a graph as its layers, from the root as deep as levels fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckpt_viz.object_graph import walks
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Role
from ckpt_viz.object_graph.parameters import parameters_of
from ckpt_viz.render.row_tree import Row, RowTree
from ckpt_viz.render.views import MAX_LAYER_ROWS

_EMPTY = 0.75  # of the rows: a picture with more than these to spare is almost empty


def layer_outline(graph: Graph, max_rows: int = MAX_LAYER_ROWS) -> list[Row]:
    """Return the rows of the graph's layers; of parts that are alike, open only the first."""
    tree = RowTree.of_layers(graph, None)
    return list(tree.rows(_opened(tree, max_rows), _parameters(graph, tree)))


def _parameters(graph: Graph, tree: RowTree) -> list[int]:
    """Return the number of parameters in and below each row."""
    view, own = graph.layers, parameters_of(graph.nodes, graph.tree)
    amounts = [own[row] if row < len(own) else 0 for row in range(len(view.parents))]
    walks.add_up(amounts, view.parents, tree.order)
    return amounts


def _opened(tree: RowTree, max_rows: int) -> Mapping[int, Sequence[int]]:
    """Return the children that each open row shows: whole levels, while they fit."""
    shown: dict[int, Sequence[int]] = {}
    left, level = max_rows - 1, [ROOT]
    while level:
        wanted = {row: below for row in level if (below := _children(tree, row))}
        count = sum(map(len, wanted.values()))
        if count > left:
            # A level that is cut is better than an almost empty picture.
            return shown | (_cut(wanted, left) if left > max_rows * _EMPTY else {})
        shown |= wanted
        left -= count
        level = [child for below in wanted.values() for child in below]
    return shown


def _children(tree: RowTree, row: int) -> Sequence[int]:
    """Return the rows below, without slot variables: the row of their variable names them."""
    node = tree.node(row)
    return () if node is not None and node.role is Role.VARIABLE else tree.children[row]


def _cut(wanted: Mapping[int, Sequence[int]], left: int) -> dict[int, Sequence[int]]:
    """Return what remains of a level that does not fit: short lists, and a part of a long one."""
    shown: dict[int, Sequence[int]] = {}
    for row, below in sorted(wanted.items(), key=lambda item: len(item[1])):
        if len(below) > left:
            return shown | ({row: below[: left - 1]} if left > 1 else {})
        shown[row] = below
        left -= len(below)
    return shown

"""The rows of a picture that shows a graph as its layers, from the root as deep as levels fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.row_tree import Row, RowTree
from ckpt_viz.graphs.render.views import MAX_LAYER_ROWS

_MAX_BESIDE = 24  # variables of a layer
_EMPTY = 0.75  # of the rows: a picture with more than these to spare is almost empty


def layer_outline(
    graph: Graph, max_rows: int = MAX_LAYER_ROWS, *, most_beside: int = 0
) -> list[Row]:
    """Return the rows of the graph's layers; of parts that are alike, open only the first.

    In a picture with the few variables of a layer beside it, these take no row of `max_rows`, but
    there are `most_beside` of them at most.
    """
    tree = RowTree.of_layers(graph)
    opened = _opened(tree, max_rows, most_beside)
    return list(tree.rows(opened, _parameters(graph, tree)))


def _parameters(graph: Graph, tree: RowTree) -> list[int]:
    """Return the number of parameters in and below each row."""
    view, own = graph.layers, graph.parameters
    amounts = [own[row] if row < len(own) else 0 for row in range(len(view.parents))]
    walks.add_up(amounts, view.parents, tree.order)
    return amounts


def _opened(tree: RowTree, max_rows: int, most_beside: int) -> Mapping[int, Sequence[int]]:
    """Return the children that each open row shows: whole levels, while they fit.

    The variables of a layer need no row if it has few of them and nothing else.
    """
    shown: dict[int, Sequence[int]] = {}
    left, level = max_rows - 1, [ROOT]
    while level:
        wanted = {row: below for row in level if (below := _children(tree, row))}
        for row, below in [*wanted.items()]:
            is_short = len(below) <= min(most_beside, _MAX_BESIDE)
            if is_short and all(_is_variable(tree, child) for child in below):
                shown[row] = wanted.pop(row)
                most_beside -= len(below)
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
    return () if _is_variable(tree, row) else tree.children[row]


def _is_variable(tree: RowTree, row: int) -> bool:
    node = tree.node(row)
    return node is not None and node.role is Role.VARIABLE


def _cut(wanted: Mapping[int, Sequence[int]], left: int) -> dict[int, Sequence[int]]:
    """Return what remains of a level that does not fit: short lists, and a part of a long one."""
    shown: dict[int, Sequence[int]] = {}
    for row, below in sorted(wanted.items(), key=lambda item: len(item[1])):
        if len(below) > left:
            return shown | ({row: below[: left - 1]} if left > 1 else {})
        shown[row] = below
        left -= len(below)
    return shown

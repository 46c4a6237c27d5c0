"""The parts of a graph in which a table of a restore folds its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.graphs.nodes.names import is_holder
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.nodes.printed_names import child_of
from ckpt_viz.graphs.nodes.tree import NOWHERE
from ckpt_viz.graphs.object_graph.graph import Graph

_MOST_LEVELS = 16  # of parts; a hostile chain has a hundred thousand


@dataclass(frozen=True)
class Chains:
    """The parts of a graph that hold each value, found once for all values of a layer."""

    graph: Graph
    _of_rows: dict[int, list[int]] = field(default_factory=dict)

    def of(self, node: int) -> list[int]:
        """Return what holds a value, below the root, and the value itself: rows of layers.

        Runs of alike parts and private containers are left out: what cells say makes runs here.
        """
        row = self._holders[node]
        if row not in self._of_rows:
            self._of_rows[row] = _parts_from(self.graph, row)
        return [*self._of_rows[row], node]

    @cached_property
    def _holders(self) -> Sequence[int]:
        """For each node the row of the layer that shows it."""
        layers = self.graph.layers
        return [layers.parents[row] for row in layers.shown_in]


def _parts_from(graph: Graph, row: int) -> list[int]:
    """Return the parts from below the root to a row of layers."""
    layers, parts, size = graph.layers, list[int](), len(graph.nodes)
    for _ in range(_MOST_LEVELS):
        if row in (ROOT, NOWHERE):
            break
        is_part = _is_part(graph, row) if row < size else not layers.groups[row - size].is_alike
        parts += [row] * is_part
        row = layers.parents[row]
    return parts[::-1]


def _is_part(graph: Graph, node: int) -> bool:
    """Return whether people have a name for a node: lists of Keras and of optimizers have none."""
    if node in graph.layers.hanging:
        return False
    is_private = graph.nodes[node].role is Role.CONTAINER or graph.layers.names[node][:1] == "_"
    return not (is_private and is_holder(graph.nodes, graph.tree, node))


def place_of_row(graph: Graph, row: int) -> str:
    """Return the path of a row of layers: of a node, or of a block of a flat list of layers.

    What an optimizer alone holds is a part of the model, as people call it.
    """
    layers = graph.layers
    if row < len(graph.nodes):
        name = graph.names.in_lists.get(row)
        if name is None or graph.tree.parents[row] not in layers.hanging:
            return graph.names.place_or_state(row)
        return _path(graph, layers.parents[graph.tree.parents[row]], name)
    names, above = [layers.names[row]], layers.parents[row]
    while (group := layers.group(above)) is not None:
        names += [] if group.is_alike else [layers.names[above]]
        above = layers.parents[above]
    name = "_".join(reversed(names))
    if above in layers.hanging:
        name, above = child_of(layers.names[above], name), layers.parents[above]
    return _path(graph, above, name)


def _path(graph: Graph, above: int, name: str) -> str:
    return name if above == ROOT else child_of(graph.names.place(above), name)


def home_of(graph: Graph, node: int, ways: Mapping[int | None, object]) -> int:
    """Return the node with whose part a value counts: of some slots, their optimizer."""
    slot = graph.nodes[node].slot
    if slot is None or slot.optimizer is None or ways.get(slot.variable) == ways[node]:
        return node
    return slot.optimizer

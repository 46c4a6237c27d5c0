"""How much of a checkpoint reaches the program, and how much of the program it fills."""

from __future__ import annotations

import math
from collections.abc import Iterator, Set
from dataclasses import dataclass

from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow, RestoreTable


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of values, and of parameters: the elements of their tensors."""

    values: int = 0
    parameters: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.values + other.values, self.parameters + other.parameters)


@dataclass(frozen=True, slots=True)
class Part:
    """One child of the root: its values in the checkpoint and in the program, and those restored.

    Slot variables count for their optimizer. `restored` counts saved values, `filled` counts values
    of the program.
    """

    name: str
    saved: Amount = Amount()
    restored: Amount = Amount()
    live: Amount = Amount()
    filled: Amount = Amount()

    def __str__(self) -> str:
        if not self.live.values:
            return f"{self.name} {self.restored.values} of {self.saved.values} saved"
        return f"{self.name} {self.filled.values} of {self.live.values}"


def coverage(table: RestoreTable) -> tuple[Part, ...]:
    """Return the children of both roots, in the program's order."""
    done = Destination.HERE, Destination.INTO
    rows = [row for row in table.rows if row.plain.place in done]
    restored = {row.saved for row in rows}
    filled = {_filled(row) for row in rows}
    sums: dict[str, dict[str, Amount]] = {}

    def count(graph: Graph, reached: Set[int | None], whole: str, part: str) -> None:
        for node_id, name in _places(graph):
            of_name = sums.setdefault(name, {})
            for column in (whole, part) if node_id in reached else (whole,):
                of_name[column] = of_name.get(column, Amount()) + _amount(graph, node_id)

    count(table.live, filled, "live", "filled")
    if table.saved is not None:
        count(table.saved, restored, "saved", "restored")
    return tuple(Part(name, **columns) for name, columns in sums.items())


def _filled(row: RestoreRow) -> int | None:
    """Return the live object that gets the value of a row."""
    is_moved = row.saved is not None and row.plain.place is Destination.INTO
    return row.plain.other if is_moved else row.live


def _places(graph: Graph) -> Iterator[tuple[int, str]]:
    """Yield each node with a value, and the child of the root that counts it."""
    names = [""] * len(graph.nodes)
    for node_id in graph.tree.preorder():
        parent = graph.tree.parents[node_id]
        if parent >= 0:
            names[node_id] = graph.tree.labels[node_id] if parent == ROOT else names[parent]
    for node_id, node in enumerate(graph.nodes):
        # A loss scale wrapper claims to serialize itself, as its optimizer does.
        if has_value(node) and node.role is not Role.OPTIMIZER:
            place = node_id
            if node.slot is not None and node.slot.optimizer is not None:
                place = node.slot.optimizer
            yield node_id, names[place] or ROOT_NAME


def _amount(graph: Graph, node_id: int) -> Amount:
    shapes = [a.shape for a in graph.nodes[node_id].attributes]
    return Amount(1, sum(math.prod(shape) for shape in shapes if shape is not None))

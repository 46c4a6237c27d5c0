"""The places of tensors in the names that people give, for tables that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.graphs.nodes.keys import part_in_words
from ckpt_viz.graphs.object_graph.graph import Graph


def in_layer_names(graph: Graph, rows: Iterable[ValueRow]) -> tuple[ValueRow, ...]:
    """Return rows whose places go by layers: `model.conv1.kernel`.

    The part of a node with several tensors stays at the end: `table [keys]`. So does the optimizer,
    where two of them have a slot variable of one name for a variable: `kernel.m [optimizer_2]`.
    """
    rows = [*rows]
    places = [graph.names.place(row.node_id) for row in rows]
    nodes = {(place, row.node_id) for place, row in zip(places, rows, strict=True)}
    many = Counter(place for place, _ in nodes)
    placed = []
    for row, place in zip(rows, places, strict=True):
        part = part_in_words(row.key) if _has_part(graph, row) else ""
        slot = graph.nodes[row.node_id].slot
        if slot is not None and slot.optimizer is not None and many[place] > 1:
            part = f" [{graph.names.place(slot.optimizer)}]{part}"
        placed.append(replace(row, place=f"{place}{part}"))
    return tuple(placed)


def _has_part(graph: Graph, row: ValueRow) -> bool:
    attributes = graph.nodes[row.node_id].attributes
    if len(attributes) > 1:
        return True
    return any(len(graph.tensor_keys(attribute.checkpoint_key)) > 1 for attribute in attributes)

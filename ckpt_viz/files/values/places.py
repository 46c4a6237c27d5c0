"""The places of tensors in the names that people give, for tables that people read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.graphs.nodes.keys import part_in_words
from ckpt_viz.graphs.object_graph.graph import Graph


def in_layer_names(graph: Graph, rows: Iterable[ValueRow]) -> tuple[ValueRow, ...]:
    """Return rows whose places go by layers: `model.conv1.kernel`.

    The part of a node with several tensors stays at the end: `table [keys]`.
    """
    placed = []
    for row in rows:
        part = part_in_words(row.key) if _has_part(graph, row) else ""
        placed.append(replace(row, place=f"{graph.names.place(row.node_id)}{part}"))
    return tuple(placed)


def _has_part(graph: Graph, row: ValueRow) -> bool:
    attributes = graph.nodes[row.node_id].attributes
    if len(attributes) > 1:
        return True
    return any(len(graph.tensor_keys(attribute.checkpoint_key)) > 1 for attribute in attributes)

"""The rows of a restore as data for JSON: see docs/plan_json.md."""

from __future__ import annotations

from typing import Any

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.restore_table.rows import Destination, RestoreTable, ValueCell


def rows_json(table: RestoreTable) -> list[dict[str, Any]]:
    """Return each row as a dict of strings; None for what is not there."""
    return [
        {
            "saved": _place(table.saved, row.saved),
            "live": _place(table.live, row.live),
            "plain": _cell(table, row.plain, is_saved=row.saved is not None),
            "fixed": None
            if row.fixed is None
            else _cell(table, row.fixed, is_saved=row.saved is not None),
        }
        for row in table.rows
    ]


def _cell(table: RestoreTable, cell: ValueCell, *, is_saved: bool) -> dict[str, Any]:
    graph = table.live if is_saved else table.saved
    is_into = cell.place is Destination.INTO
    return {
        "place": cell.place.value,
        "why": None if cell.why is None else cell.why.value,
        "other": _place(graph, cell.other) if is_into else None,
        "certainty": None if cell.certainty is None else cell.certainty.value,
    }


def _place(graph: Graph | None, node: int | None) -> str | None:
    if graph is None or node is None or node >= len(graph.nodes):
        return None
    return graph.names.place_or_state(node)

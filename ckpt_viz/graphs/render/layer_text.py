"""A graph as its layers, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.layer_outline import layer_outline
from ckpt_viz.graphs.render.row_tree import Row
from ckpt_viz.graphs.render.row_words import left_out, line_of
from ckpt_viz.graphs.render.text import advice, alarms, printable, summary
from ckpt_viz.graphs.render.text import notes as notes_of
from ckpt_viz.graphs.render.views import MAX_LINES


def render_layers(graph: Graph, max_lines: int = MAX_LINES, notes: Sequence[str] = ()) -> str:
    """Return the layers as an indented tree under a one-line summary and `notes`.

    Runs of parts that are alike are one row. The last line counts the nodes without a line of
    their own.
    """
    head = [
        summary(graph),
        *map(printable, (*notes, *alarms(graph), *notes_of(graph), *advice(graph))),
    ]
    rows = layer_outline(graph, max(max_lines - len(head) - 1, 1))
    lines = [line_of(graph, row) for row in rows]
    branches = _branches(rows)
    wide = max(len(branch + line.label) for branch, line in zip(branches, lines, strict=True))
    kinds = max(len(line.kind) for line in lines)
    drawn = [
        f"{branch + line.label:<{wide}}  {line.kind:<{kinds}}  {line.value}  {line.note}"
        for branch, line in zip(branches, lines, strict=True)
    ]
    rest = left_out(graph, rows)
    said = [*head, *drawn, *([rest] if rest else [])]
    return "\n".join(line.rstrip() for line in said)


def _branches(rows: list[Row]) -> list[str]:
    """Return the lines of the tree that lead to each row."""
    last = {row.parent: place for place, row in enumerate(rows)}
    below: list[str] = []  # by row, the lines that lead on to its children
    branches = []
    for place, row in enumerate(rows):
        if row.parent < 0:
            branches.append("")
            below.append("")
            continue
        is_last = last[row.parent] == place
        branches.append(below[row.parent] + ("└─ " if is_last else "├─ "))
        below.append(below[row.parent] + ("   " if is_last else "│  "))
    return branches

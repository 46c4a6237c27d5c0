"""The changes between any two checkpoints of a history, which its cells do not have."""

from __future__ import annotations

from ckpt_viz.answers.timeline.cells import Cell, CellState
from ckpt_viz.answers.timeline.lines import Line
from ckpt_viz.answers.timeline.reading import Reader
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.files.values.running import OnRead, ignored


def cells_between(
    history: Record,
    a: int,
    b: int,
    *,
    on_read: OnRead = ignored,
) -> list[Cell]:
    """Return for each row of a history the cell of checkpoint b, against checkpoint a.

    Reads both checkpoints, except tensors with equal checksums. A row that neither of them has is
    absent.

    Raises:
        SourceError: One of them has no such number, or cannot be opened.
    """
    graphs = [history.opened(number) for number in (a, b)]
    lines = history.lines
    kept = [
        (row, Line([line.tensors[a], line.tensors[b]]))
        for row, line in enumerate(lines)
        if line.tensors[a] is not None or line.tensors[b] is not None
    ]
    cells = [Cell(CellState.ABSENT) for _ in lines]
    reader = Reader(graphs, [line for _, line in kept])
    for number, row in reader.rows(None, on_read):
        cells[kept[number][0]] = row.cells[1]
    return cells

"""The changes between any two checkpoints of a history, which its cells do not have."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

from ckpt_viz.errors import SourceError
from ckpt_viz.timeline.cells import Cell, CellState
from ckpt_viz.timeline.lines import Line, lines_of
from ckpt_viz.timeline.reading import Reader
from ckpt_viz.timeline.record import Record
from ckpt_viz.values.running import Progress


def cells_between(
    history: Record,
    a: int,
    b: int,
    *,
    lines: Sequence[Line] | None = None,
    executor: Executor | None = None,
    shown: Progress | None = None,
) -> list[Cell]:
    """Return for each row of a history the cell of checkpoint b, against checkpoint a.

    Reads both checkpoints, except tensors with equal checksums. A row that neither of them has is
    absent. `lines` are those of the history, if they are known.

    Raises:
        SourceError: One of them has no such number, or cannot be opened.
    """
    for number in (a, b):
        if not 0 <= number < len(history.sources):
            found = len(history.sources) - 1
            raise SourceError(f"expected the number of a checkpoint, 0 to {found}; found {number}")
        if history.sources[number].graph is None:
            one = history.sources[number]
            raise SourceError(f"{one.title}: it could not be opened: {one.error}")
    graphs = [one.graph for one in history.sources]
    lines = lines_of(graphs).lines if lines is None else lines
    kept = [
        (row, Line([line.tensors[a], line.tensors[b]]))
        for row, line in enumerate(lines)
        if line.tensors[a] is not None or line.tensors[b] is not None
    ]
    found_cells = [Cell(CellState.ABSENT) for _ in lines]
    reader = Reader([graphs[a], graphs[b]], [line for _, line in kept])
    for number, row in reader.rows(executor, shown):
        found_cells[kept[number][0]] = row.cells[1]
    return found_cells

"""The measures of the nodes of two graphs laid over each other: their values, and the change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ckpt_viz.answers.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.answers.timeline.lines import lines_between
from ckpt_viz.answers.timeline.reading import Reader
from ckpt_viz.files.values.measured import measures_of
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.running import Begin, progress_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.search.measures import Measures

Cells = Sequence[tuple[Cell, Cell]]
_COMPARED = (CellState.EQUAL, CellState.CHANGED)


@dataclass(frozen=True)
class Laid:
    """Two graphs and their merged graph of `size` nodes.

    The nodes of `base` keep their ids there; `places` has those of the nodes of `other`. `moved`
    has the nodes of `base` that `other` has at another place, by their id in `other`.
    `shows_other` says that a node of both has the values of `other`.
    """

    base: Graph
    other: Graph
    size: int
    places: Mapping[int, int]
    moved: Mapping[int, int] = field(default_factory=dict)
    shows_other: bool = False


def measures_between(laid: Laid, begin: Begin) -> Measures:
    """Return the measures of each node of the merged graph, and of its change from `other`.

    Reads all values of both graphs once; of two tensors with equal checksums, one. If this is
    interrupted, it returns what was read. `begin` starts a progress bar.
    """
    counterparts = {**laid.places, **laid.moved}
    lines = [
        line
        for line in lines_between(laid.other, laid.base, counterparts)
        if (tensor := line.tensors[0]) is None or tensor.node_id in laid.places
    ]
    reader = Reader([laid.other, laid.base], lines, unchanged=True)
    rows: list[tuple[int, ValueRow]] = []
    changes: dict[int, list[tuple[Cell, Cell]]] = {}
    read = 0
    with progress_of("values", reader.nbytes(), begin) as on_read, suppress(KeyboardInterrupt):
        for number, row in reader.rows(None, on_read):
            before, after = row.cells
            old, new = lines[number].tensors
            read += 1
            if old is not None and (place := laid.places[old.node_id]) >= len(laid.base.nodes):
                rows.append((place, _row(row, before)))
            if new is None:
                continue
            node_id = new.node_id
            is_both = old is not None and laid.places[old.node_id] == node_id
            rows.append((node_id, _row(row, before if is_both and laid.shows_other else after)))
            if after.state in _COMPARED and after.l2 is not None and _are_numbers(before, after):
                changes.setdefault(node_id, []).append((before, after))
    measures = measures_of(laid.size, rows, len(lines) - read)
    for node_id, cells in changes.items():
        for name, number_of in _OF_CHANGE.items():
            measures.columns[name][node_id] = number_of(cells)
    return measures


def _row(row: HistoryRow, cell: Cell) -> ValueRow:
    """Return the statistics of a cell, or a row that says why there are none."""
    if cell.values is not None:
        return cell.values
    return ValueRow(row.key, row.name, row.place, row.node_id, None, None, None, error=cell.error)


def _are_numbers(before: Cell, after: Cell) -> bool:
    return any(cell.values and cell.values.lengths is None for cell in (before, after))


def _of_all(cell: Cell, of_finite: float | None) -> float:
    """Return a number of a change: infinity if an element changed to or from NaN or infinity."""
    return math.inf if cell.left_out else of_finite or 0.0


def _norms(cells: Cells) -> float:
    values = (before.values for before, _ in cells)
    return math.hypot(*(row.l2 or 0.0 for row in values if row is not None))


def _changed(cells: Cells) -> float:
    counts = [before.values.count or 0 if before.values else 0 for before, _ in cells]
    changed = sum((after.changed or 0.0) * n for (_, after), n in zip(cells, counts, strict=True))
    return changed / sum(counts) if sum(counts) else 0.0


_OF_CHANGE: Mapping[str, Callable[[Cells], float]] = {
    "before": _norms,
    "moved": lambda cells: math.hypot(*(_of_all(after, after.l2) for _, after in cells)),
    "largest": lambda cells: max(_of_all(after, after.max_abs) for _, after in cells),
    "changed": _changed,
}

"""The statistics of tensors as measures of their nodes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.graphs.search.measures import Measures, no_measures

_SAME = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std")
_SUMS = ("count", "zeros", "nan", "inf")


def measures_of(size: int, rows: Iterable[tuple[int, ValueRow]], unread: int = 0) -> Measures:
    """Return the measures of so many nodes, from the rows of each node's tensors.

    The statistics of a node with several tensors are those of all their elements. Strings have no
    measure.
    """
    by_node: dict[int, list[ValueRow]] = defaultdict(list)
    unreadable: dict[int, int] = defaultdict(int)
    for node_id, row in rows:
        if row.error is not None:
            unreadable[node_id] += 1
        elif row.count is not None and row.lengths is None:
            by_node[node_id].append(row)
    columns = no_measures(size)
    for node_id, tensors in by_node.items():
        for name, number in _joined(tensors):
            if number is not None:
                columns[name][node_id] = _as_float(number)
    for node_id, number_of_tensors in unreadable.items():
        columns["unreadable"][node_id] = number_of_tensors
    return Measures(columns, unread)


def _joined(rows: Sequence[ValueRow]) -> Iterable[tuple[str, float | None]]:
    first = rows[0]
    if len(rows) == 1:
        yield from ((name, getattr(first, name)) for name in _SAME)
        yield "norm", first.l2
        return
    for name in _SUMS:
        yield name, sum(getattr(row, name) or 0 for row in rows)
    yield "norm", math.hypot(*(row.l2 for row in rows if row.l2 is not None))
    finite = [(row, _finite(row)) for row in rows if row.mean is not None]
    if not finite:
        return
    yield "min", min(row.min for row, _ in finite if row.min is not None)
    yield "max", max(row.max for row, _ in finite if row.max is not None)
    total = sum(number for _, number in finite)
    mean = sum((row.mean or 0.0) * (number / total) for row, number in finite)
    yield "mean", mean
    squares = (
        ((row.std or 0.0) ** 2 + ((row.mean or 0.0) - mean) ** 2) * (number / total)
        for row, number in finite
    )
    yield "std", math.sqrt(sum(squares))


def _finite(row: ValueRow) -> int:
    return (row.count or 0) - (row.nan or 0) - (row.inf or 0)


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an int that a float64 cannot hold
        return math.inf if number > 0 else -math.inf

"""A history as a pandas.DataFrame."""

from __future__ import annotations

from typing import Any

from ckpt_viz.timeline.record import Record
from ckpt_viz.values.frame import frame_of

_OF_ROW = ("key", "place", "dtype", "checkpoint", "number", "step", "state")
_OF_CELL = ("l2", "relative", "max_abs", "changed", "since_first", "left_out", "error")
_OF_VALUES = ("min", "max", "mean", "std", "l2", "zeros", "nan", "inf")


def frame(history: Record) -> Any:
    """Return a row for each variable in each checkpoint; `change_…` is against the one before.

    `number` counts the checkpoints from 0 in their order.

    Raises UnsupportedError if pandas is not installed.
    """
    rows = (
        {
            **{"key": row.key, "place": row.place, "dtype": row.dtype},
            **{"checkpoint": source.title, "number": number, "step": source.step},
            "state": cell.state.value,
            **{f"change_{name}": getattr(cell, name) for name in _OF_CELL},
            **{name: getattr(cell.values, name, None) for name in _OF_VALUES},
        }
        for row in history.rows
        for number, (source, cell) in enumerate(zip(history.sources, row.cells, strict=True))
    )
    return frame_of(rows, [*_OF_ROW, *(f"change_{name}" for name in _OF_CELL), *_OF_VALUES])

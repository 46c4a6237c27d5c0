"""A history as a table of one row for each variable in each checkpoint: a data frame, or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any
from unicodedata import normalize

from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.files.values.frame import frame_of

_OF_ROW = ("key", "place", "dtype", "checkpoint", "number", "step", "state")
_OF_CELL = ("l2", "relative", "max_abs", "changed", "since_first", "left_out", "error")
_OF_VALUES = ("min", "max", "mean", "std", "l2", "zeros", "nan", "inf")
COLUMNS = (*_OF_ROW, *(f"change_{name}" for name in _OF_CELL), *_OF_VALUES)
_FORMULAS = ("=", "+", "-", "@")


def frame(history: Record) -> Any:
    """Return a row for each variable in each checkpoint; `change_…` is against the one before.

    `number` counts the checkpoints from 0 in their order.

    Raises UnsupportedError if pandas is not installed.
    """
    return frame_of(_rows(history), COLUMNS)


def table_csv(history: Record) -> str:
    """Return the same as CSV (RFC 4180), for any program; None is an empty field.

    Names of checkpoints are untrusted, and programs for tables run texts as formulas. A text that
    begins like one gets an apostrophe before it.
    """
    written = io.StringIO()
    table = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC)  # a `;` splits no quoted text
    table.writerow(COLUMNS)
    for row in _rows(history):
        table.writerow([_harmless(row[name]) for name in COLUMNS])
    return written.getvalue()


def _harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    plain = normalize("NFKC", value.lstrip()[:1])  # some programs also take the wide signs
    return f"'{value}" if plain in _FORMULAS else value


def _rows(history: Record) -> Iterator[dict[str, Any]]:
    return (
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

"""A history as bytes for its view in the browser: the JSON of docs/history.md, packed by gzip.

A history may have millions of cells, so the view gets six digits of each number. It gets the
histograms only if there are few cells, and asks the kernel for the others.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from ckpt_viz.answers.timeline.history_json import history_json
from ckpt_viz.answers.timeline.record import Record

MOST_HISTOGRAMS = 3_000
"""The most cells of a history whose payload has the histograms, about 1 kB each."""
_LEFT_OUT = ("count",)


def encode(history: Record) -> bytes:
    """Return the payload of a history, the same bytes for the same history."""
    return packed(view_json(history))


def packed(content: dict[str, Any]) -> bytes:
    """Return JSON as text in ASCII, compressed."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return gzip.compress(text.encode("ascii"), 6, mtime=0)


def view_json(history: Record) -> dict[str, Any]:
    """Return the JSON of a history as far as its view needs it."""
    content = history_json(history)
    for row in content["rows"]:
        row["cells"] = cells_of_view(row["cells"], len(history.rows))
    return content


def cells_of_view(cells: list[dict[str, Any]], rows: int) -> list[dict[str, Any]]:
    """Return the cells of one of so many rows as far as the view needs them."""
    has_histograms = rows * len(cells) <= MOST_HISTOGRAMS
    for cell in cells:
        _shorten(cell, has_histograms=has_histograms)
    return cells


def _shorten(cell: dict[str, Any], *, has_histograms: bool) -> None:
    values = cell.get("values")
    for part in (cell, values or {}):
        for name, value in part.items():
            if isinstance(value, float):
                part[name] = _short(value)
    if values is None:
        return
    for name in _LEFT_OUT:
        values.pop(name, None)
    histogram = values.pop("histogram", None)
    if histogram is not None and has_histograms:
        edges = [_short(edge) for edge in histogram["edges"]]
        values["histogram"] = {**histogram, "edges": edges}


def _short(number: float) -> float | int:
    """Return a number of six digits.

    >>> _short(0.123456789), _short(2.0)
    (0.123457, 2)
    """
    short = float(f"{number:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short

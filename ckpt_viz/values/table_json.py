"""A table of values as data for JSON: see docs/values_json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ckpt_viz.formats.lost_files import LostFiles
from ckpt_viz.values.row import ValueRow

VERSION = 1
_ALWAYS = ("key", "name", "place", "node_id", "dtype", "shape", "nbytes")
_STATISTICS = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "l2")


def table_json(title: str, rows: Sequence[ValueRow], lost: Sequence[LostFiles]) -> dict[str, Any]:
    """Return a table as dicts, lists, strings and finite numbers; `lost` are files that lack."""
    data = {"version": VERSION, "title": title, "lost_files": [files.to_json() for files in lost]}
    return {**data, "rows": list(map(row_json, rows))}


def row_json(row: ValueRow) -> dict[str, Any]:
    """Return a row as data for JSON; statistics that it does not have are missing."""
    data: dict[str, Any] = {name: getattr(row, name) for name in _ALWAYS}
    data["shape"] = None if row.shape is None else list(row.shape)
    for name in _STATISTICS:
        value = getattr(row, name)
        if value is not None and math.isfinite(value):
            data[name] = value
    if row.histogram is not None:
        data["histogram"] = {
            "counts": list(row.histogram.counts),
            "edges": list(row.histogram.edges),
            "below": row.histogram.below,
            "above": row.histogram.above,
        }
    if row.lengths is not None:
        data["lengths"] = {
            name: getattr(row.lengths, name)
            for name in ("shortest", "longest", "total")
            if getattr(row.lengths, name) is not None
        }
    if row.note is not None:
        data["note"] = row.note
    if row.error is not None:
        data["error"] = row.error
    return data

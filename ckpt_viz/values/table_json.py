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
    found = {"version": VERSION, "title": title, "lost_files": [one.to_json() for one in lost]}
    return {**found, "rows": list(map(row_json, rows))}


def row_json(row: ValueRow) -> dict[str, Any]:
    """Return a row as data for JSON; statistics that it does not have are missing."""
    found: dict[str, Any] = {name: getattr(row, name) for name in _ALWAYS}
    found["shape"] = None if row.shape is None else list(row.shape)
    for name in _STATISTICS:
        value = getattr(row, name)
        if value is not None and math.isfinite(value):
            found[name] = value
    if row.histogram is not None:
        found["histogram"] = {
            "counts": list(row.histogram.counts),
            "edges": list(row.histogram.edges),
            "below": row.histogram.below,
            "above": row.histogram.above,
        }
    if row.lengths is not None:
        found["lengths"] = {
            name: getattr(row.lengths, name)
            for name in ("shortest", "longest", "total")
            if getattr(row.lengths, name) is not None
        }
    if row.note is not None:
        found["note"] = row.note
    if row.error is not None:
        found["error"] = row.error
    return found

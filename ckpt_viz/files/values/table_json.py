"""A table of values as data for JSON: see docs/values_json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.formats.bundles.lost_files import LostFiles

VERSION = 1
_ALWAYS = ("key", "name", "place", "node_id", "dtype", "shape", "nbytes")
_STATISTICS = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "l2")
_DIFFERENCES = ("l2", "relative", "max_abs", "changed", "since_first")


def table_json(title: str, rows: Sequence[ValueRow], lost: Sequence[LostFiles]) -> dict[str, Any]:
    """Return a table as dicts, lists, strings and finite numbers; `lost` are files that lack."""
    data = {"version": VERSION, "title": title, "lost_files": [files.to_json() for files in lost]}
    return {**data, "rows": list(map(row_json, rows))}


def row_json(row: ValueRow) -> dict[str, Any]:
    """Return a row as data for JSON; statistics that it does not have are missing."""
    data: dict[str, Any] = {name: getattr(row, name) for name in _ALWAYS}
    data["shape"] = None if row.shape is None else list(row.shape)
    data |= _finite(row, _STATISTICS)
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


def difference_json(change: Any) -> dict[str, Any]:
    """Return as data for JSON how a `ValueChange` or a `Cell` differs; what it lacks is missing."""
    data = _finite(change, _DIFFERENCES)
    if change.left_out:
        data["left_out"] = change.left_out
    if change.at is not None:
        data["at"] = list(change.at)
    return data


def _finite(holder: object, names: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(holder, name, None) for name in names}
    return {
        name: value for name, value in values.items() if value is not None and math.isfinite(value)
    }

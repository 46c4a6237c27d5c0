"""A history as data for JSON: see docs/history.md."""

from __future__ import annotations

import math
from typing import Any

from ckpt_viz.timeline.cells import Cell, HistoryRow
from ckpt_viz.timeline.record import Record
from ckpt_viz.timeline.words import headline
from ckpt_viz.values.table_json import row_json

VERSION = 1
_NUMBERS = ("l2", "relative", "max_abs", "changed", "since_first")


def history_json(history: Record) -> dict[str, Any]:
    """Return a history as dicts, lists, strings and finite numbers."""
    return {
        "version": VERSION,
        "headline": headline(history),
        "order": history.order,
        "left_out": history.left_out,
        "is_complete": history.is_complete,
        "checkpoints": [
            {
                "title": one.title,
                "path": one.path,
                "step": one.step,
                "save_counter": one.counter,
                "saved_at": None if one.saved_at is None else one.saved_at.isoformat(),
                "error": one.error,
            }
            for one in history.sources
        ],
        "marks": [
            {
                "at": mark.at,
                "new": list(mark.new),
                "gone": list(mark.gone),
                "reshaped": list(mark.reshaped),
            }
            for mark in history.marks
        ],
        "findings": [
            {
                "kind": finding.kind.value,
                "first": finding.first,
                "why": finding.why,
                "names": list(finding.names),
            }
            for finding in history.findings
        ],
        "distances": _finite(history.distances),
        "rows": [_row(row) for row in history.rows],
    }


def _finite(distances: tuple[tuple[float, ...], ...] | None) -> list[list[float | None]] | None:
    if distances is None:
        return None
    return [[one if math.isfinite(one) else None for one in line] for line in distances]


def _row(row: HistoryRow) -> dict[str, Any]:
    shape = None if row.shape is None else list(row.shape)
    cells = [_cell(cell) for cell in row.cells]
    return {
        **{"key": row.key, "name": row.name, "place": row.place},
        **{"dtype": row.dtype, "shape": shape, "cells": cells},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"state": cell.state.value}
    for name in _NUMBERS:
        value = getattr(cell, name)
        if value is not None and math.isfinite(value):
            found[name] = value
    if cell.at is not None:
        found["at"] = list(cell.at)
    if cell.values is not None:
        values = row_json(cell.values)
        kept = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "l2", "histogram")
        found["values"] = {name: values[name] for name in kept if name in values}
    if cell.error is not None:
        found["error"] = cell.error
    return found

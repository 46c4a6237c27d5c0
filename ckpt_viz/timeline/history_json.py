"""A history as data for JSON: see docs/history.md."""

from __future__ import annotations

import math
from typing import Any

from ckpt_viz.timeline.cells import Cell, HistoryRow
from ckpt_viz.timeline.findings import HistoryFinding, HistoryKind, is_alarm
from ckpt_viz.timeline.record import Record
from ckpt_viz.timeline.restoring import restore_code, whole_before
from ckpt_viz.timeline.sources import Checkpoint
from ckpt_viz.timeline.words import headline, mark_words, notes, sentences
from ckpt_viz.values.table_json import row_json

VERSION = 1
_NUMBERS = ("l2", "relative", "max_abs", "changed", "since_first")
_STATISTICS = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "l2", "histogram")


def history_json(history: Record) -> dict[str, Any]:
    """Return a history as dicts, lists, strings and finite numbers."""
    told = told_json(history)
    return {
        "version": VERSION,
        **{name: told[name] for name in ("headline", "sentences", "notes")},
        "order": history.order,
        "left_out": history.left_out,
        "is_complete": history.is_complete,
        "checkpoints": [_checkpoint_json(one) for one in history.sources],
        "marks": [
            {
                "at": mark.at,
                "why": mark_words(history, mark),
                "new": list(mark.new),
                "gone": list(mark.gone),
                "reshaped": list(mark.reshaped),
            }
            for mark in history.marks
        ],
        "findings": told["findings"],
        "distances": _finite(history.distances),
        "rows": [history_row_json(row) for row in history.rows],
    }


def _checkpoint_json(one: Checkpoint) -> dict[str, Any]:
    return {
        "title": one.title,
        "path": one.path,
        "step": one.step,
        "save_counter": one.counter,
        "saved_at": None if one.saved_at is None else one.saved_at.isoformat(),
        "error": one.error,
    }


def told_json(history: Record) -> dict[str, Any]:
    """Return what a history tells in words, which depends on all rows.

    These are the sentences of the headline, each with whether it is an alarm, notes and findings.
    """
    alarms = {finding.why for finding in history.alarms}
    return {
        "headline": headline(history),
        "sentences": [{"text": one, "is_alarm": one in alarms} for one in sentences(history)],
        "notes": list(notes(history)),
        "is_complete": history.is_complete,
        "findings": [
            {
                "kind": finding.kind.value,
                "first": finding.first,
                "why": finding.why,
                "is_alarm": is_alarm(finding),
                "names": list(finding.names),
                **_restore(history, finding),
            }
            for finding in history.findings
        ],
    }


def _restore(history: Record, finding: HistoryFinding) -> dict[str, Any]:
    """Return how to restore the last checkpoint before a NaN, or an infinity, first appeared."""
    if finding.kind not in (HistoryKind.NAN, HistoryKind.INF):
        return {}
    number = whole_before(history, finding.first)
    code = None if number is None else restore_code(history, number)
    return {} if code is None else {"restore": {"checkpoint": number, "code": code}}


def _finite(distances: tuple[tuple[float, ...], ...] | None) -> list[list[float | None]] | None:
    if distances is None:
        return None
    return [[one if math.isfinite(one) else None for one in line] for line in distances]


def history_row_json(row: HistoryRow) -> dict[str, Any]:
    """Return one variable over time as data for JSON."""
    shape = None if row.shape is None else list(row.shape)
    cells = [cell_json(cell) for cell in row.cells]
    found: dict[str, Any] = {
        **{"key": row.key, "name": row.name, "place": row.place, "is_state": row.is_state},
        **{"dtype": row.dtype, "shape": shape, "cells": cells},
    }
    if row.spread is not None and math.isfinite(row.spread):
        found["spread"] = row.spread
    return found


def cell_json(cell: Cell, *, values: bool = True) -> dict[str, Any]:
    """Return a cell as data for JSON, with the statistics or without."""
    found: dict[str, Any] = {"state": cell.state.value}
    for name in _NUMBERS:
        value = getattr(cell, name)
        if value is not None and math.isfinite(value):
            found[name] = value
    if cell.left_out:
        found["left_out"] = cell.left_out
    if cell.at is not None:
        found["at"] = list(cell.at)
    if values and cell.values is not None:
        row = row_json(cell.values)
        found["values"] = {name: row[name] for name in _STATISTICS if name in row}
    if cell.error is not None:
        found["error"] = cell.error
    return found

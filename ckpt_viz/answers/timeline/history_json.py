"""A history as data for JSON: see docs/history.md."""

from __future__ import annotations

import math
from typing import Any

from ckpt_viz.answers.timeline.cells import Cell, HistoryRow
from ckpt_viz.answers.timeline.findings import HistoryFinding, HistoryKind, is_alarm
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.restoring import restore_code, whole_before
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.answers.timeline.words import headline, mark_words, notes, sentences
from ckpt_viz.files.values.table_json import difference_json, row_json

VERSION = 1
_STATISTICS = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std", "l2", "histogram")


def history_json(history: Record) -> dict[str, Any]:
    """Return a history as dicts, lists, strings and finite numbers."""
    words = words_json(history)
    return {
        "version": VERSION,
        **{name: words[name] for name in ("headline", "sentences", "notes")},
        "order": history.order,
        "left_out": history.left_out,
        "is_complete": history.is_complete,
        "checkpoints": [_checkpoint_json(checkpoint) for checkpoint in history.sources],
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
        "findings": words["findings"],
        "distances": _finite(history.distances),
        "rows": [history_row_json(row) for row in history.rows],
    }


def _checkpoint_json(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "title": checkpoint.title,
        "path": checkpoint.path,
        "step": checkpoint.step,
        "save_counter": checkpoint.counter,
        "saved_at": None if checkpoint.saved_at is None else checkpoint.saved_at.isoformat(),
        "error": checkpoint.error,
    }


def words_json(history: Record) -> dict[str, Any]:
    """Return what a history tells in words, which depends on all rows.

    These are the sentences of the headline, each with whether it is an alarm, notes and findings.
    """
    alarms = {finding.why for finding in history.alarms}
    return {
        "headline": headline(history),
        "sentences": [
            {"text": sentence, "is_alarm": sentence in alarms} for sentence in sentences(history)
        ],
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
    return [
        [distance if math.isfinite(distance) else None for distance in line] for line in distances
    ]


def history_row_json(row: HistoryRow) -> dict[str, Any]:
    """Return one variable over time as data for JSON."""
    shape = None if row.shape is None else list(row.shape)
    cells = [cell_json(cell) for cell in row.cells]
    data: dict[str, Any] = {
        **{"key": row.key, "name": row.name, "place": row.place, "is_state": row.is_state},
        **{"dtype": row.dtype, "shape": shape, "cells": cells},
    }
    if row.spread is not None and math.isfinite(row.spread):
        data["spread"] = row.spread
    return data


def cell_json(cell: Cell, *, values: bool = True) -> dict[str, Any]:
    """Return a cell as data for JSON, with the statistics or without."""
    data = {"state": cell.state.value, **difference_json(cell)}
    if values and cell.values is not None:
        row = row_json(cell.values)
        data["values"] = {name: row[name] for name in _STATISTICS if name in row}
    if cell.error is not None:
        data["error"] = cell.error
    return data

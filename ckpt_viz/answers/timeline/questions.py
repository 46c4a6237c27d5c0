"""The questions of a history's view: a kernel answers them, or Jupyter's server without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ckpt_viz.answers.timeline.between import cells_between
from ckpt_viz.answers.timeline.change_map import change_map, change_map_json
from ckpt_viz.answers.timeline.frame import table_csv
from ckpt_viz.answers.timeline.history_html import history_page
from ckpt_viz.answers.timeline.history_json import cell_json, history_json, history_row_json
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.restoring import is_named, restore_code
from ckpt_viz.files.values.running import OnRead, ignored

_FILES: dict[str, tuple[str, Callable[[Record], str]]] = {
    "json": ("application/json", lambda history: json.dumps(history_json(history))),
    "csv": ("text/csv", table_csv),
    "html": ("text/html", history_page),
}


def answer_with_files(
    history: Record,
    question: Any,
    name: Callable[[], str | None] = lambda: None,
    *,
    on_read: OnRead = ignored,
) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return the answer and its buffers also to the questions that only a view in Python has.

    `{"ask": "restore", "checkpoint": 2}` asks for the code that restores a checkpoint; `name`
    returns the program's expression for it. `{"ask": "file", "format": "csv"}` asks for a file.
    Raises as `answer`.
    """
    match question:
        case {"ask": "restore", "checkpoint": int(number)}:
            if 0 <= number < len(history.sources):
                named = name()
                code = restore_code(history, number, named)
                return {"code": code, "is_named": is_named(history, number, named)}, []
        case {"ask": "file", "format": str(kind)} if kind in _FILES:
            mime, written = _FILES[kind]
            data = written(history).encode("utf-8", "backslashreplace")
            return {"name": f"history.{kind}", "type": mime}, [data]
    answered = answer(history, question, on_read=on_read)
    return None if answered is None else (answered, [])


def answer(
    history: Record,
    question: Any,
    *,
    on_read: OnRead = ignored,
) -> dict[str, Any] | None:
    """Return the answer to a question as data for JSON, None if it is no question of a history.

    `{"ask": "row", "row": 3}` asks for a row with its histograms, `{"ask": "between", "a": 0,
    "b": 2}` for the cells of checkpoint b against a, and `{"ask": "where", "row": 3, "a": 0, "b":
    2}` for the map of the change. `on_read` follows the bytes that cells read.

    Raises:
        CkptVizError: The files cannot be read, or there is no such checkpoint.
    """
    match question:
        case {"ask": "row", "row": int(number)} if 0 <= number < len(history.rows):
            return {"row": history_row_json(history.rows[number])}
        case {"ask": "between", "a": int(a), "b": int(b)}:
            cells = cells_between(history, a, b, on_read=on_read)
            return {"cells": [cell_json(cell, values=False) for cell in cells]}
        case {"ask": "where", "row": int(number), "a": int(a), "b": int(b)}:
            return {"map": change_map_json(change_map(history, number, a, b))}
    return None

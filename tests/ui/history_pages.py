"""The view of a history in a page of its own, without Jupyter."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from ckpt_viz.answers.timeline.between import cells_between
from ckpt_viz.answers.timeline.change_map import change_map, change_map_json
from ckpt_viz.answers.timeline.frame import table_csv
from ckpt_viz.answers.timeline.history_html import history_page as static_page
from ckpt_viz.answers.timeline.history_json import cell_json, history_json, history_row_json
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.restoring import restore_code
from ckpt_viz.answers.timeline.view_payload import encode
from ckpt_viz.graphs.render.html import _EXPORT
from tests.support import frontend

_STATIC = frontend.LABEXTENSION.parent / "ckpt_viz" / "static"
# A kernel that answers what this page has in `answers`, and traits that follow the view.
_MOUNT = """
const bytes = Uint8Array.from(atob(document.getElementById("payload").textContent),
  (character) => character.charCodeAt(0));
const answers = JSON.parse(document.getElementById("answers").textContent);
globalThis.traits = { ...answers.traits, _payload: new DataView(bytes.buffer) };
const listeners = new Set();
globalThis.asked = [];
const model = {
  get: (name) => traits[name],
  set: (name, value) => { traits[name] = value; },
  on: (name, listener) => name === "msg:custom" && listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
  save_changes: () => {},
  send: ({ id, question }) => {
    asked.push(question);
    const ends = `${question.a} ${question.b}`;
    const answer = {
      row: () => ({ row: answers.rows[question.row] }),
      between: () => ({ cells: answers.between[ends] }),
      where: () => ({ map: answers.where[ends][question.row] }),
      restore: () => ({ code: answers.restore[question.checkpoint], is_named: true }),
      file: () => ({ name: `history.${question.format}`, type: "text/plain" }),
    }[question.ask]();
    const message = { kind: "ckpt-viz:answer", id, answer };
    const bytes = new TextEncoder().encode(answers.files[question.format] ?? "");
    const buffers = [new DataView(bytes.buffer)];
    setTimeout(() => listeners.forEach((listener) => listener(message, buffers)));
  },
};
globalThis.remount = () =>
  history_view.render({ model, el: document.getElementById("history") });
remount();
"""


def history_page(history: Record, a: int, b: int, *, has_kernel: bool = True) -> str:
    """Return an HTML page with the view; its kernel answers for these a and b."""
    answers: dict[str, Any] = {
        "traits": {"a": a, "b": b, "order": "largest"},
        "rows": [],
        "between": {},
    }
    if has_kernel:
        answers["rows"] = [history_row_json(row) for row in history.rows[:100]]
        cells = cells_between(history, a, b)
        answers["between"][f"{a} {b}"] = [cell_json(cell, values=False) for cell in cells]
        answers["where"] = {
            f"{first} {second}": [
                change_map_json(change_map(history, row, first, second))
                for row in range(min(100, len(history.rows)))
            ]
            for first, second in ((a, b), (a, len(history.sources) - 1), (0, 0))
        }
        last = range(len(history.sources))
        answers["restore"] = [restore_code(history, number, "ckpt") for number in last]
        answers["files"] = {"csv": table_csv(history), "html": static_page(history)}
        answers["files"]["json"] = json.dumps(history_json(history))
    script = _read("history.js")
    name = _EXPORT.search(script)
    assert name is not None
    script = f"{script[: name.start()]};const history_view = {name[1]};{_MOUNT}"
    if not has_kernel:
        script = script.replace("  send: (", "  unused: (")
    packed = base64.b64encode(encode(history)).decode("ascii")
    style = "body { margin: 0 } #history > .ckpt-viz-timeline { height: 100vh; border: 0 }"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>history</title>'
        "<style>:root { color-scheme: light dark }"
        f"{_read('history.css')}{style}</style></head><body><main id=history></main>"
        f'<script type="text/plain" id="payload">{packed}</script>'
        f'<script type="application/json" id="answers">{json.dumps(answers)}</script>'
        f'<script type="module">{script}</script></body></html>'
    )


def _read(name: str) -> str:
    return Path(_STATIC, name).read_text("utf-8")

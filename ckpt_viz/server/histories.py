"""The history of a directory, read for JupyterLab below the server's root and within its limits."""

from __future__ import annotations

import base64
import os
from typing import Any

from ckpt_viz.formats.confinement import Confinement
from ckpt_viz.server.graphs import check_size, confined, contents_path, json_bytes
from ckpt_viz.server.messages import Asked
from ckpt_viz.timeline.history import history_of
from ckpt_viz.timeline.view_payload import packed, view_json

MOST_CHECKPOINTS = 200
"""The most checkpoints of a history; of more, some at equal distances."""


def history_json(asked: Asked, version: str, most_answer: int, most_read: int) -> bytes:
    """Return the answer to a request for the history of a directory.

    Raises:
        CkptVizError: As `ckpt_viz.history`; OutsideError for links that lead out of the root, and
            ReadLimitError for values of more than `most_read` bytes.
        Refusal: The answer is too large.
    """
    with confined(asked, most_read) as scope:
        history = history_of(asked.path, most=MOST_CHECKPOINTS, progress=False)
        content = _inside(view_json(history), scope, asked.root)
    payload = packed(content)
    title = contents_path(asked.path, scope) or ""
    check_size(f"{title}: the history", payload, most_bytes=most_answer)
    encoded = base64.b64encode(payload).decode("ascii")
    return json_bytes({"version": version, "title": title, "payload": encoded})


def _inside(content: dict[str, Any], scope: Confinement, root: str) -> dict[str, Any]:
    """Return the JSON of a history with contents paths in place of absolute ones."""
    checkpoints = [
        {**one, "path": contents_path(one["path"], scope) or ""} for one in content["checkpoints"]
    ]
    told: dict[str, Any] = _without(root + os.sep, {**content, "checkpoints": checkpoints})
    return told


def _without(root: str, data: Any) -> Any:
    """Return data whose sentences do not tell where the server's root is."""
    if isinstance(data, str):
        return data.replace(root, "")
    if isinstance(data, dict):
        return {name: _without(root, value) for name, value in data.items()}
    if isinstance(data, list):
        return [_without(root, value) for value in data]
    return data

"""What an explorer leaves in a notebook's outputs: each graph once; other outputs refer to it.

The kernel sees cells run, but not what happens to their outputs. If an output is cleared or moved
away, the JupyterLab extension puts the graph into a remaining output. docs/saved_notebooks.md.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from ckpt_viz.entrances.jupyter.kernel_run import Run, current_run, kernel_shell
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.text import printable

MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json"
# The view of a history; without its widget, the output is the static picture.
HISTORY_MIME_TYPE = "application/vnd.ckpt-viz.history.v1+json"
_MAX_TITLE = 80  # characters
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

# By digest, the run whose output holds the payload.
_holders: dict[str, Run] = {}


def digest_of(encoded: bytes) -> str:
    """Return the digest that identifies a payload."""
    return hashlib.sha256(encoded).hexdigest()[:32]


def with_snapshot(
    data: Mapping[str, Any],
    model_id: str,
    encoded: bytes,
    picture: Callable[[], Mapping[str, str]],
    title: str,
    steps: Callable[[], str | None] = lambda: None,
    mark: bytes = b"",
    step: int | None = None,
) -> dict[str, Any]:
    """Return an output that includes what remains without the kernel.

    Args:
        data: The output of the widget, by MIME type.
        model_id: The id of the widget's model.
        encoded: The payload.
        picture: What to show if nothing runs, by MIME type. If another output has the payload,
            `title` and a pointer to that output replace it.
        title: The title of the graph.
        steps: Returns the steps of a check's restore, packed, or None; they go with the payload.
        mark: What tells outputs of the same payload from each other: their steps differ.
        step: The number of the step at which the output opens without a kernel, or None.
    """
    digest = digest_of(encoded + mark)
    snapshot: dict[str, Any] = {
        "version": payload.VERSION,
        "model_id": model_id,
        "digest": digest,
        **({} if step is None else {"step": step}),
    }
    shell = kernel_shell()
    run = None if shell is None else current_run(shell)
    holder = _hold(shell, run, digest)
    if holder is None:
        snapshot["payload"] = base64.b64encode(encoded).decode("ascii")
        if (packed_steps := steps()) is not None:
            snapshot["steps"] = packed_steps
        static = picture()
    else:
        static = {"text/plain": f"{printable(title[:_MAX_TITLE])}: see output [{holder.number}]"}
    shown = {**data, **static, MIME_TYPE: snapshot}
    if run is not None and not run.is_watched:
        # An HTML page made of it would load the widget from the network, and show nothing offline.
        shown.pop(WIDGET_VIEW, None)
    return shown


def _hold(shell: Any | None, run: Run | None, digest: str) -> Run | None:
    """Return the run whose output holds the payload, None if this run is to hold it."""
    if shell is None or run is None:
        return None
    if run.is_watched and not run.cell:
        return None  # Two outputs of one cell cannot be told apart: each holds its own payload.
    shell.events.register("pre_run_cell", _forget)
    return None if _holders.setdefault(digest, run) is run else _holders[digest]


def _forget(*_: object) -> None:
    """Forget the outputs that this run replaces, and those of deleted cells."""
    shell = kernel_shell()
    if shell is None:
        return
    run = current_run(shell)
    gone = {run.cell, *run.deleted} - {""}
    for digest in [digest for digest, holder in _holders.items() if holder.cell in gone]:
        del _holders[digest]

"""The notebook that this program runs in, as far as its kernel can tell."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a cell.

    `number` is that of In [3], `cell` the cell's id, empty where the front end tells none, and
    `deleted` the ids of cells that are gone. `is_watched` is False where nobody looks on, as in
    nbclient, papermill and `nbconvert --execute`: they run each cell once, from top to bottom.
    """

    number: int
    cell: str
    deleted: tuple[str, ...]
    is_watched: bool


def kernel_shell() -> Any | None:
    """Return the IPython shell of a Jupyter kernel; None in a terminal or a plain program."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if getattr(shell, "kernel", None) is None else shell


def current_run(shell: Any) -> Run:
    """Return the run that the shell is in, by the message that asked for it."""
    request = shell.kernel.get_parent() or {}
    metadata, content = request.get("metadata", {}), request.get("content", {})
    cell = metadata.get("cellId")
    deleted = metadata.get("deletedCells")
    return Run(
        number=shell.displayhook.prompt_count,
        cell=cell if isinstance(cell, str) else "",
        deleted=tuple(deleted) if isinstance(deleted, list) else (),
        # Who asks for no input has nobody to type it; Voilà does so too, but shows the widgets.
        is_watched=bool(cell)
        or content.get("allow_stdin") is not False
        or os.environ.get("SERVER_SOFTWARE", "").startswith("voila"),
    )

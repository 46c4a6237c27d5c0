"""The notebook that this program runs in, as far as its kernel knows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ckpt_viz.ground.expressions import is_name
from ckpt_viz.live.tensorflow_names.shadows import instance_dict


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a cell.

    `number` is the number in In [3]. `cell` is the cell's id, empty if the front end does not send
    it. `deleted` holds the ids of cells that are gone. `is_watched` is False if no person sees the
    outputs, as in nbclient, papermill and `nbconvert --execute`: they run each cell once, from top
    to bottom.
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


def variable_of(shell: Any, obj: object) -> str | None:
    """Return the oldest variable of a notebook that holds an object; None without one.

    It runs no code of the notebook's objects.
    """
    return next((name for name, value in _named(shell.user_ns) if value is obj), None)


def expression_for(shell: Any, obj: object) -> str | None:
    """Return the variable that holds an object, or an attribute of one, such as `trainer.ckpt`."""
    return next((expression for expression, value in held_objects(shell) if value is obj), None)


def held_objects(shell: Any) -> Iterator[tuple[str, object]]:
    """Yield the variables of a notebook and what they hold, then their attributes."""
    names = _named(shell.user_ns)
    yield from names
    for name, holder in names:
        yield from ((f"{name}.{part}", value) for part, value in _named(instance_dict(holder)))


def _named(values: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the names that a person may type, and what they hold."""
    every = dict.copy(values).items()  # another thread may set names
    return [(n, held) for n, held in every if isinstance(n, str) and is_name(n) and n[0] != "_"]


def package_of(shell: Any | None) -> tuple[str, str]:
    """Return what code needs first, an import or nothing, and the name of this package in it."""
    name = None if shell is None else variable_of(shell, sys.modules["ckpt_viz"])
    return ("import ckpt_viz as cv\n\n", "cv") if name is None else ("", name)


def free_name(shell: Any | None, name: str) -> str:
    """Return this name for a new variable, or one with a number if the notebook has it already."""
    taken = {} if shell is None else dict.copy(shell.user_ns)
    names = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    return next(free for free in names if free not in taken)


def current_run(shell: Any) -> Run:
    """Return the shell's current run, read from the message that requested it."""
    request = shell.kernel.get_parent() or {}
    metadata, content = request.get("metadata", {}), request.get("content", {})
    cell = metadata.get("cellId")
    deleted = metadata.get("deletedCells")
    return Run(
        number=shell.displayhook.prompt_count,
        cell=cell if isinstance(cell, str) else "",
        deleted=tuple(deleted) if isinstance(deleted, list) else (),
        # A front end that allows no input has no user to type it. Voilà allows none either, but it
        # shows the widgets.
        is_watched=bool(cell)
        or content.get("allow_stdin") is not False
        or os.environ.get("SERVER_SOFTWARE", "").startswith("voila"),
    )


def shows_widgets() -> bool:
    """Return whether a person looks at the outputs of a Jupyter kernel, which may be widgets.

    nbclient and nbconvert run notebooks without one, and the page that they make needs pictures.
    """
    shell = kernel_shell()
    return shell is not None and current_run(shell).is_watched

"""The kernel's part of the JupyterLab tabs that show live objects.

The front end requests the value of an expression. The expression leaves no trace in the history or
in the program's names:

    __import__('ckpt_viz.entrances.jupyter.live_tabs', fromlist=['_']).opened(ckpt)

Each function always returns a Reply; its `error` gives the reason if there is no answer.
"""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ParamSpec
from uuid import uuid4

from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.answers import answer, error_sentence
from ckpt_viz.entrances.jupyter.live_objects import Reply
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError
from ckpt_viz.files.saved.location import INDEX
from ckpt_viz.formats.storage.files import is_directory, is_file, is_remote, list_directory, split
from ckpt_viz.graphs.render import payload
from ckpt_viz.ground.text import sendable

MAX_TABS = 20
_P = ParamSpec("_P")

# What each tab shows, most recently used last. It keeps the objects alive, as an explorer in a
# notebook does. A page that was left sends no message, so the number of tabs is limited: their
# models must not stay in memory for ever.
_tabs: dict[str, Shown] = {}


class _GoneError(Exception):
    """The tab is closed or was dropped, or this is a new kernel."""


def _replying(tell: Callable[_P, dict[str, Any]]) -> Callable[_P, Reply]:
    """Return a function whose reply has what another one tells, or why it tells nothing."""

    @wraps(tell)
    def reply(*args: _P.args, **kwargs: _P.kwargs) -> Reply:
        try:
            report = tell(*args, **kwargs)
        except _GoneError:
            report = {
                "error": "the kernel no longer knows this tab: open it again",
                "gone": True,
            }
        except Exception as error:  # the objects' own code raises, a file is gone
            report = {"error": error_sentence(error)}
        return Reply(sendable({"version": _version(), **report}))

    return reply


@_replying
def opened(source: object, against: object = None) -> dict[str, Any]:
    """Open a tab; return its id and its contents.

    Args:
        source: Whatever `graph` takes.
        against: What to compare it with: None, or the path of a checkpoint as the program would
            pass it to `restore`.
    """
    _check_seen(against)
    tab = uuid4().hex  # differs from every tab that another kernel has opened
    shown = show_of(source, against)
    description = _description(tab, shown)
    _keep(tab, shown)
    return description


@_replying
def asked(tab: str, question: str, state: str | None = None) -> dict[str, Any]:
    """Return the answer to a question of the explorer in a tab: both parts as JSON."""
    traits = None if state is None else json.loads(state)
    data, buffers = answer(_shown(tab), json.loads(question), traits)
    return {"answer": data, "buffers": [_base64(buffer) for buffer in buffers]}


@_replying
def renewed(
    tab: str, selected: int | None = None, expanded: Collection[int] | None = None
) -> dict[str, Any]:
    """Return what a tab shows, read again, with its selected and expanded nodes."""
    before = _shown(tab)
    _check_seen(before.given[1])
    after = before.again()
    nodes = range(len(before.graph.nodes))
    selected, expanded = before.state_in(
        after,
        selected if selected in nodes else None,
        None if expanded is None else [node_id for node_id in expanded if node_id in nodes],
    )
    description = {**_description(tab, after), "selected": selected, "expanded": expanded}
    _keep(tab, after)
    return description


@_replying
def closed(tab: str) -> dict[str, Any]:
    """Forget a tab."""
    _tabs.pop(tab, None)
    return {}


@cache
def _version() -> str:
    """Return the package's version, "" for sources that are not installed."""
    try:
        return version("ckpt-viz")
    except PackageNotFoundError:
        return ""


def _description(tab: str, shown: Shown) -> dict[str, Any]:
    comparison = None
    if shown.comparison is not None:
        comparison = "check" if isinstance(shown.comparison, RestoreCheck) else "diff"
    return {
        "format": payload.VERSION,
        "tab": tab,
        "title": shown.graph.title,
        "comparison": comparison,
        "payload": _base64(shown.encoded),
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _keep(tab: str, shown: Shown) -> None:
    _tabs.pop(tab, None)
    _tabs[tab] = shown
    for oldest in list(_tabs)[:-MAX_TABS]:
        del _tabs[oldest]


def _shown(tab: str) -> Shown:
    shown = _tabs.get(tab)
    if shown is None:
        raise _GoneError
    _keep(tab, shown)
    return shown


def _check_seen(path: object) -> None:
    """Raise CheckpointNotFoundError for a path at which this process finds no file at all.

    A restore would report only that it finds no file. But the user who chose the file has seen it.
    """
    if not isinstance(path, (str, os.PathLike)):
        return
    path = os.fspath(path)
    if is_remote(path) or _is_seen(path) or _is_seen(os.path.expanduser(path)):
        return
    raise CheckpointNotFoundError(
        f"{path}: the kernel, on {socket.gethostname()} in {os.getcwd()}, sees no such "
        f"checkpoint; expected a file {path}{INDEX}. It may run on another machine than Jupyter's "
        "server: copy the checkpoint to where the kernel runs, or give the path that it has there"
    )


def _is_seen(path: str) -> bool:
    """Return whether a file or directory has this path, or a path that begins with it.

    A place that cannot be looked at may have one: what reads the path then tells why it cannot.
    """
    with suppress(CkptVizError, OSError):
        if is_file(path + INDEX) or is_file(path) or is_directory(path):
            return True
        directory, name = split(path)
        directory = directory or os.curdir
        return is_directory(directory) and any(
            other.startswith(name) for other in list_directory(directory)
        )
    return True

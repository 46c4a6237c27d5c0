"""From the contents paths of a request to places below the server's root directory.

This module looks only at the path. `confinement`, which opens files, makes sure that no
link and no `checkpoint` file leads out of the root.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import FileManagerMixin
from tornado.web import HTTPError

from ckpt_viz.entrances.server.messages import Asked
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest

_MAX_CHARACTERS = 4096


async def asked_of(contents_manager: Any, path: str, against: str | None) -> Asked:
    """Return the places that contents paths mean; raise RefusedRequest for forbidden ones."""
    if not isinstance(contents_manager, FileManagerMixin):
        raise RefusedRequest(
            Reason.NO_FILES,
            f"this server gets its contents from {type(contents_manager).__name__}, which has no "
            "files on disk; open the checkpoint in a kernel: cv.show(path)",
        )
    manager: Any = contents_manager
    return Asked(
        root=os.path.abspath(manager.root_dir),
        shows_hidden=bool(manager.allow_hidden),
        path=await _below_root(manager, path),
        against=None if against is None else await _below_root(manager, against),
    )


async def _below_root(manager: Any, path: str) -> str:
    if len(path) > _MAX_CHARACTERS:
        raise RefusedRequest(
            Reason.BAD_REQUEST,
            f"found a path of {len(path)} characters, expected at most {_MAX_CHARACTERS}",
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if "\0" in path:
        raise RefusedRequest(Reason.NOT_FOUND, f"{path!r}: no file has a NUL in its name")
    if ".." in parts:
        raise _outside(path)
    contents_path = "/".join(parts)
    try:
        place = os.path.abspath(manager._get_os_path(contents_path))
        is_hidden = not manager.allow_hidden and await ensure_async(
            manager.is_hidden(contents_path)
        )
        # Jupyter calls an unreadable directory hidden; the reader has the right error.
        is_hidden = is_hidden and not _is_denied(place)
    except HTTPError as error:  # Jupyter reports in this way that a path leads out
        raise _outside(path) from error
    except OSError:  # a name that is too long; the reader raises the error
        is_hidden = False
    if is_hidden:
        raise RefusedRequest(
            Reason.NOT_FOUND,
            f"{path}: hidden, since its name or a directory's begins with a dot; to open it, set "
            "c.ContentsManager.allow_hidden in jupyter_server_config.py",
        )
    relative = os.path.relpath(place, os.path.abspath(manager.root_dir))
    if relative.split(os.sep)[0] == os.pardir or os.path.isabs(relative):
        raise _outside(path)
    # The reader would take a leading ~ for a home directory.
    return os.path.join(os.curdir, relative) if relative.startswith("~") else relative


def _is_denied(place: str) -> bool:
    return os.path.isdir(place) and not os.access(place, os.R_OK | os.X_OK)


def _outside(path: str) -> RefusedRequest:
    return RefusedRequest(
        Reason.OUTSIDE,
        f"{path}: leads out of the server's root directory; expected a path below it",
    )

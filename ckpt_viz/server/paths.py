"""From the contents paths of a request to places below the server's root directory.

Only words are looked at here. That no link leads out of the root, and no `checkpoint` file, is
seen to where files are opened: `formats.confinement`.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import FileManagerMixin
from tornado.web import HTTPError

from ckpt_viz.server.messages import Asked
from ckpt_viz.server.refusals import Reason, Refusal

_MAX_CHARACTERS = 4096


async def asked_of(contents_manager: Any, path: str, against: str | None) -> Asked:
    """Return where the contents paths of a request lead to; Refusal where they may not."""
    if not isinstance(contents_manager, FileManagerMixin):
        raise Refusal(
            Reason.NO_FILES,
            f"the contents of this server are managed by {type(contents_manager).__name__}, which "
            "tells of no files on disk; open the checkpoint in a kernel: cv.show(path)",
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
        raise Refusal(
            Reason.BAD_REQUEST,
            f"found a path of {len(path)} characters, expected at most {_MAX_CHARACTERS}",
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if "\0" in path:
        raise Refusal(Reason.NOT_FOUND, f"{path!r}: no file has a NUL in its name")
    if ".." in parts:
        raise _outside(path)
    contents_path = "/".join(parts)
    try:
        place = os.path.abspath(manager._get_os_path(contents_path))
        is_hidden = not manager.allow_hidden and await ensure_async(
            manager.is_hidden(contents_path)
        )
        # Jupyter takes a directory for hidden that may not be read; the reader says what is so.
        is_hidden = is_hidden and not _is_denied(place)
    except HTTPError as error:  # as Jupyter says that it leads out
        raise _outside(path) from error
    except OSError:  # a name that is too long; the reader says so
        is_hidden = False
    if is_hidden:
        raise Refusal(
            Reason.NOT_FOUND,
            f"{path}: hidden; files whose name or directory begins with a dot are not shown",
        )
    relative = os.path.relpath(place, os.path.abspath(manager.root_dir))
    if relative.split(os.sep)[0] == os.pardir or os.path.isabs(relative):
        raise _outside(path)
    # The reader takes a leading ~ for somebody's home.
    return os.path.join(os.curdir, relative) if relative.startswith("~") else relative


def _is_denied(place: str) -> bool:
    return os.path.isdir(place) and not os.access(place, os.R_OK | os.X_OK)


def _outside(path: str) -> Refusal:
    return Refusal(
        Reason.OUTSIDE,
        f"{path}: leads out of the server's root directory; expected a path below it",
    )

"""Files that a user requested: whole or not at all, and errors in words."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from ckpt_viz.errors import CkptVizError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file in UTF-8, in place of an existing one; readers never see half of it.

    Raises:
        CkptVizError: The path is a directory, or the file cannot be written.
    """
    # A link remains a link: its target is replaced.
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise CkptVizError(f"{os.fspath(path)}: is a directory, expected the name of a file")
        if target.exists() and not target.is_file():
            target.write_bytes(text.encode())  # a pipe or a device, which must not be replaced
        else:
            _replace(target, text.encode())
    except OSError as error:
        raise CkptVizError(f"{os.fspath(path)}: cannot be written: {_reason(error)}") from error


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".ckpt-viz-{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "its directory does not exist"
    if isinstance(error, PermissionError):
        return "permission denied; name a file in a directory that you may write to"
    return error.strerror or str(error)

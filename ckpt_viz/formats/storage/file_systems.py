"""The file systems below `files`: those of fsspec, and what the errors of all mean for a path.

fsspec is imported for a path with a scheme alone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from typing import Any

from ckpt_viz.errors import CkptVizError, DeniedError, GoneError, UnsupportedError
from ckpt_viz.formats.storage import confinement

_MAX_SHOWN = 300  # characters of a path that is too long for a file
_MODULE_OF_FSSPEC = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "az": "adlfs", "abfs": "adlfs"}


@contextmanager
def file_system_of(path: str) -> Iterator[tuple[Any, str]]:
    """Yield fsspec's file system for a path, and the path inside it; its errors are CkptVizError.

    Each file system raises those of its client library: aiohttp's, botocore's ...
    """
    try:
        yield _file_system(path)
    except CkptVizError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise gone(path) from error
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise CkptVizError(
            f"{path}: cannot be read: {reason}; check the address and your access, then try again"
        ) from error


def _file_system(path: str) -> tuple[Any, str]:
    confinement.check_remote(path)
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UnsupportedError(
            f'{path}: reading from there needs fsspec; pip install "ckpt-viz[remote]"'
        ) from error
    scheme = path.partition("://")[0]
    try:
        file_system, inside = url_to_fs(path)
    except ImportError as error:
        package = _MODULE_OF_FSSPEC.get(scheme, error.name or f"fsspec's support of {scheme}")
        raise UnsupportedError(
            f"{path}: reading from there needs {package} ({error}); pip install {package}"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"{path}: {error}") from error
    return file_system, str(inside)


def remote_kind(path: str) -> tuple[str, int | None]:
    """Return whether a path is a "file", a "directory" or "other", and its size if known."""
    with file_system_of(path) as (file_system, inside):
        # A program may have saved since the directory was listed, perhaps by other code.
        file_system.invalidate_cache(os.path.dirname(inside))
        info = file_system.info(inside)
        kind = info["type"] if info["type"] in ("file", "directory") else "other"
        return kind, info.get("size")


def remote_kinds_in(path: str) -> dict[str, str]:
    """Return the names in a directory, each with its kind."""
    with file_system_of(path) as (file_system, inside):
        file_system.invalidate_cache(inside)  # a program may have saved since the last time
        listed = file_system.ls(inside, detail=True)
        kinds = {str(entry["name"]).rstrip("/"): entry["type"] for entry in listed}
        inside = inside.rstrip("/")
        if list(kinds) == [inside]:  # fsspec lists a file as a directory that contains itself
            raise gone(path)
        kinds.pop(inside, None)  # buckets may hold an object with the directory's own name
        return {path.rpartition("/")[2]: kind for path, kind in kinds.items()}


@contextmanager
def local_errors(path: str, *, is_looked_at: bool = False) -> Iterator[None]:
    """Raise CkptVizError for what the operating system raises.

    `is_looked_at` says that the path itself is not opened.
    """
    try:
        yield
    # A file on the way where a directory should be; a NUL in the path.
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise gone(path) from error
    except PermissionError as error:
        # A user who may search all directories on the way may look at the entry.
        closed = _closed_directory(path) if is_looked_at else None
        denied, what = (path, "read") if closed is None else (closed, "searched")
        raise DeniedError(
            f"{denied}: cannot be {what}: permission denied; ask its owner for the permission, or "
            "open a copy that you may read"
        ) from error
    except OSError as error:
        # No file can have this name; another machine has removed the file from a network's disk.
        if error.errno in (errno.ENAMETOOLONG, errno.ESTALE):
            raise gone(path) from error
        raise CkptVizError(
            f"{path}: cannot be read: {error.strerror or error}; try again, or open a copy"
        ) from error


def _closed_directory(path: str) -> str | None:
    """Return the first directory on the way that this user may not search; None behind a link."""
    directory = os.path.dirname(path) or os.curdir
    above = [directory, *map(str, PurePath(directory).parents)]
    is_open = partial(os.access, mode=os.X_OK, effective_ids=os.access in os.supports_effective_ids)
    return next((folder for folder in reversed(above) if not is_open(folder)), None)


def gone(path: str) -> GoneError:
    """Return the error of a path at which there is nothing."""
    shown = path if len(path) <= _MAX_SHOWN else f"{path[:_MAX_SHOWN]}..."
    return GoneError(f"{shown}: this file has disappeared; check the path, then read again")


def not_regular(path: str) -> CkptVizError:
    """Return the error of a path with something else than a file."""
    return CkptVizError(f"{path}: cannot be read: not a regular file")

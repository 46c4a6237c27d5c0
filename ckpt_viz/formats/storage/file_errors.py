"""What the errors of the operating system and of fsspec mean for a path."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath

from ckpt_viz.errors import CkptVizError, DeniedError, GoneError

_MAX_SHOWN = 300  # characters of a path that is too long for a file


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


@contextmanager
def remote_errors(path: str) -> Iterator[None]:
    """Raise CkptVizError for what a file system of fsspec raises."""
    try:
        yield
    except CkptVizError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise gone(path) from error
    # Each file system raises the errors of its client library: aiohttp's, botocore's ...
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise CkptVizError(
            f"{path}: cannot be read: {reason}; check the address and your access, then try again"
        ) from error


def gone(path: str) -> GoneError:
    """Return the error of a path at which there is nothing."""
    shown = path if len(path) <= _MAX_SHOWN else f"{path[:_MAX_SHOWN]}..."
    return GoneError(f"{shown}: this file has disappeared; check the path, then read again")


def not_regular(path: str) -> CkptVizError:
    """Return the error of a path with something else than a file."""
    return CkptVizError(f"{path}: cannot be read: not a regular file")

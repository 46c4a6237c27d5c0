"""Creates new files: all of them or none, and never in place of an existing one.

Only the name of the last file makes the others count. So a process that ends at any moment leaves
either all files or some that no reader takes for a whole.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

from ckpt_viz.errors import CkptVizError, DeniedError, OutsideError
from ckpt_viz.formats.storage import confinement
from ckpt_viz.ground.interrupts import Interrupts

_CREATING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class NewFiles:
    """Some new local files; a context manager that removes them if its block raises."""

    def __init__(self) -> None:
        self._created: list[str] = []
        self._published: tuple[str, os.stat_result] | None = None

    def write(self, path: str, pieces: Iterable[bytes | memoryview]) -> None:
        """Create a file with these bytes and wait until the disk has them.

        It makes the file's directory, as TensorFlow does. Raises CkptVizError if the file exists or
        cannot be written.
        """
        if confinement.current() is not None:
            raise OutsideError(f"{path}: files may only be read here")
        with _errors(path):
            os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
            with Interrupts(held=True):  # else there may be a file that is not noted
                descriptor = os.open(path, _CREATING, 0o666)
                self._created.append(path)
            with os.fdopen(descriptor, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(descriptor)

    def publish(self, created: str, path: str) -> None:
        """Give one of the files its final name; raises CkptVizError if that exists."""
        with _errors(path):
            self._published = path, os.stat(created)
            if not _link(created, path):
                _move(created, path)
            with suppress(FileNotFoundError):
                os.unlink(created)
            self._created.remove(created)
            _sync_directory(os.path.dirname(path) or os.curdir)

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if kind is None:
            return
        with Interrupts(held=True):
            self._remove()

    def _remove(self) -> None:
        # First the file that makes the others count.
        if self._published is not None:
            path, published = self._published
            with suppress(OSError):
                if os.path.samestat(os.stat(path), published):
                    os.unlink(path)
        for created in reversed(self._created):
            with suppress(OSError):
                os.unlink(created)


def list_names(directory: str) -> list[str]:
    """Return the names in a directory for new files, which need not exist yet.

    Raises CkptVizError if it is no directory, or cannot be read.
    """
    with _errors(directory), suppress(FileNotFoundError):
        return os.listdir(directory)
    return []


def _link(created: str, path: str) -> bool:
    """Give a file one more name, if that is free; False where there are no links."""
    link = getattr(os, "link", None)  # a browser's Python has none
    if link is None:
        return False
    try:
        link(created, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


def _move(created: str, path: str) -> None:
    """Rename a file where the file system has no links; another process may come in between."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    os.rename(created, path)


def _sync_directory(directory: str) -> None:
    with suppress(OSError):  # not every system opens or synchronises a directory
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except CkptVizError:  # of the source of the bytes
        raise
    except FileExistsError as error:
        raise CkptVizError(
            f"{path}: exists already, expected no such file; choose another prefix"
        ) from error
    except NotADirectoryError as error:
        raise CkptVizError(
            f"{path}: cannot be written: a file has the name of its directory; choose another path"
        ) from error
    except PermissionError as error:
        raise DeniedError(
            f"{path}: cannot be written: permission denied; "
            "choose a directory that you may write to"
        ) from error
    except OSError as error:
        raise CkptVizError(f"{path}: cannot be written: {error.strerror or error}") from error

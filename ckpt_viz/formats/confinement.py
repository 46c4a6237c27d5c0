"""Which files may be read: by default all, in a server only those below its root directory.

`files` asks here before it opens, lists or describes anything. Links are followed first, so that
none leads out; where files may be read is a matter of the context, so that what a graph reads
later is confined as well, wherever `confined_to` is entered around the question. A new thread
starts without: enter it there, or run the thread in a copy of the context.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ckpt_viz.errors import OutsideError, UnsupportedError


class Confinement:
    """One directory, below which files may be read; relative paths are relative to it.

    Hidden files, whose name or directory begins with a dot, are taken for not there unless
    `shows_hidden`. `refused` collects what was asked for elsewhere: readers carry on without
    what cannot be read, and whoever confined them may not want that.
    """

    def __init__(self, root: str, *, shows_hidden: bool, most_bytes: int | None) -> None:
        self.root = os.path.realpath(root)  # that itself may be a link
        self.refused: list[str] = []
        self._given_root = os.path.abspath(root)
        self._real_directories: dict[str, str] = {}
        self._shows_hidden = shows_hidden
        self._most_bytes = most_bytes
        self._bytes_left = most_bytes

    def place_of(self, path: str) -> str:
        """Return the path that `path` leads to, all links followed.

        Raises OutsideError, and FileNotFoundError for what is hidden or can be no path.
        """
        place = self._real(path)
        inside = self.inside(place)
        if inside is None:
            raise self.refuse(f"{path}: leads out of the directory in which files may be read")
        if self._is_hidden(path) or (inside != path and self._is_hidden(inside)):
            raise FileNotFoundError(path)
        return place

    def allowed_place_of(self, path: str) -> str | None:
        """Return the same, None where `place_of` raises; of a refusal nothing is remembered."""
        refused = len(self.refused)
        try:
            return self.place_of(path)
        except (OutsideError, FileNotFoundError):
            del self.refused[refused:]
            return None

    def refuse(self, message: str) -> OutsideError:
        """Remember a refusal, and return it to be raised."""
        self.refused.append(message)
        return OutsideError(message)

    def spend(self, path: str, size: int) -> None:
        """Count bytes that are about to be read; UnsupportedError where they get too many."""
        if self._bytes_left is None:
            return
        if size > self._bytes_left:
            raise UnsupportedError(
                f"{path}: {size} bytes are to be read, {self._bytes_left} are left of the "
                f"{self._most_bytes} that may be read at a time"
            )
        self._bytes_left -= size

    def shown_names(self, names: list[str]) -> list[str]:
        """Return the names of a directory without hidden ones."""
        return names if self._shows_hidden else [n for n in names if not n.startswith(".")]

    def inside(self, path: str) -> str | None:
        """Return an absolute path as one from the root; None where it is not below it.

        Only words are compared: links in the path are not followed.
        """
        for root in (self.root, self._given_root):
            if path == root:
                return os.curdir
            below = root if root.endswith(os.sep) else root + os.sep
            if path.startswith(below):
                return path[len(below) :]
        return None

    def _real(self, path: str) -> str:
        """Return a path with all links followed; those of each directory are followed once."""
        directory, name = os.path.split(os.path.join(self.root, path))
        try:
            if directory not in self._real_directories:
                self._real_directories[directory] = os.path.realpath(directory)
            place = os.path.join(self._real_directories[directory], name)
            is_plain = name not in ("", os.curdir, os.pardir) and not os.path.islink(place)
            return place if is_plain else os.path.realpath(place)
        except (OSError, ValueError) as error:  # a NUL in the path
            raise FileNotFoundError(path) from error

    def _is_hidden(self, path: str) -> bool:
        if self._shows_hidden or not (path.startswith(".") or f"{os.sep}." in path):
            return False
        inside = self.inside(path) if os.path.isabs(path) else path
        # What is absolute and lies elsewhere may lead into the root; then that place counts.
        parts = inside.replace(os.altsep or os.sep, os.sep).split(os.sep) if inside else []
        return any(part.startswith(".") and part not in (os.curdir, os.pardir) for part in parts)


_CURRENT: ContextVar[Confinement | None] = ContextVar("confinement", default=None)


@contextmanager
def confined_to(
    root: str, *, shows_hidden: bool = False, most_bytes: int | None = None
) -> Iterator[Confinement]:
    """Let files be read below a directory alone, and of them at most so many bytes.

    Paths with a scheme are refused: they would have this machine ask another one.
    """
    confinement = Confinement(root, shows_hidden=shows_hidden, most_bytes=most_bytes)
    token = _CURRENT.set(confinement)
    try:
        yield confinement
    finally:
        _CURRENT.reset(token)


def current() -> Confinement | None:
    """Return the confinement that holds here, None where every file may be read."""
    return _CURRENT.get()


def place_of(path: str) -> str:
    """Return where a local path leads to; the path itself where nothing is confined."""
    confinement = _CURRENT.get()
    return path if confinement is None else confinement.place_of(path)


def allowed_place_of(path: str) -> str | None:
    """Return the same, None where files may not be read."""
    confinement = _CURRENT.get()
    return path if confinement is None else confinement.allowed_place_of(path)


def check_remote(path: str) -> None:
    """Raise OutsideError for a path with a scheme where files are confined."""
    confinement = _CURRENT.get()
    if confinement is not None:
        raise confinement.refuse(f"{path}: names another machine; only local files may be read")


def spend(path: str, size: int) -> None:
    """Count bytes that are about to be read; UnsupportedError where they get too many."""
    confinement = _CURRENT.get()
    if confinement is not None:
        confinement.spend(path, size)

"""Which files may be read: by default all, in a server only those below its root directory.

`files` asks this module before it opens, lists or describes anything. It first resolves the links
of a path, so that none leads out. Then it opens the file from the root's own descriptor, part by
part, and follows no link. So an attacker gains nothing by swapping a directory for a link
meanwhile.

The limit belongs to the context. Enter `confined_to` around each question, so that it also confines
later reads of a graph. A new thread starts without a limit: enter it there, or run the thread in a
copy of the context.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ckpt_viz.errors import OutsideError, ReadLimitError

# Windows cannot open files relative to a directory: there, only the last part must not be a link.
_HAS_DESCRIPTORS = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# O_PATH: directories that may be entered need not be readable.
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | _NO_LINK | getattr(os, "O_PATH", 0)


@dataclass(frozen=True)
class Place:
    """The target of a path: a name in an open directory, or else a path."""

    name: str
    directory: int | None
    follows_links: bool

    def stat(self) -> os.stat_result:
        """Return the operating system's description of it."""
        return os.stat(self.name, dir_fd=self.directory, follow_symlinks=self.follows_links)

    def open(self, flags: int) -> int:
        """Return a new descriptor for it."""
        flags |= 0 if self.follows_links else _NO_LINK
        return os.open(self.name, flags, dir_fd=self.directory)


class Confinement:
    """A directory below which files may be read; relative paths are relative to it.

    Without `shows_hidden`, files whose name or directory begins with a dot count as missing.
    `refused` collects the refused paths, `over_limit` the read that was too large. Readers go on
    without data that they cannot read, and the caller may reject that. `bytes_read` counts bytes.
    """

    def __init__(self, root: str, *, shows_hidden: bool, most_bytes: int | None) -> None:
        self.root = os.path.realpath(root)  # which may be a link itself
        self.refused: list[str] = []
        self._given_root = os.path.abspath(root)
        self._real_directories: dict[str, str] = {}
        self._shows_hidden = shows_hidden
        self._most_bytes = most_bytes
        self.bytes_read = 0
        self.over_limit: ReadLimitError | None = None
        self._root_descriptor: int | None = None

    @contextmanager
    def at(self, path: str) -> Iterator[Place]:
        """Yield the target of a path; raise as `place_of`, and OSError.

        Opens its directory from the root, part by part. No part may be a link by then.
        """
        place = self.place_of(path)
        if not _HAS_DESCRIPTORS:
            yield Place(place, None, follows_links=False)
            return
        below = self.root.rstrip(os.sep) + os.sep
        if place != self.root and not place.startswith(below):
            raise self.refuse(_leads_out(path))
        *directories, name = place[len(below) :].split(os.sep)
        if self._root_descriptor is None:
            self._root_descriptor = os.open(self.root, _DIRECTORY)
        directory = os.dup(self._root_descriptor)
        try:
            for part in directories:
                deeper = os.open(part, _DIRECTORY, dir_fd=directory)
                os.close(directory)
                directory = deeper
            yield Place(name or os.curdir, directory, follows_links=False)
        finally:
            os.close(directory)

    def close(self) -> None:
        """Close the root."""
        if self._root_descriptor is not None:
            os.close(self._root_descriptor)
            self._root_descriptor = None

    def place_of(self, path: str) -> str:
        """Return the target of `path`, with all links followed.

        Raises OutsideError, and FileNotFoundError for hidden files and impossible paths.
        """
        place = self._real(path)
        inside = self.inside(place)
        if inside is None:
            raise self.refuse(_leads_out(path))
        if self._is_hidden(path) or (inside != path and self._is_hidden(inside)):
            raise FileNotFoundError(path)
        return place

    def is_allowed(self, path: str) -> bool:
        """Return whether `place_of` finds the target of a path; do not record a refusal."""
        refused = len(self.refused)
        try:
            self.place_of(path)
        except (OutsideError, FileNotFoundError):
            del self.refused[refused:]
            return False
        return True

    def refuse(self, message: str) -> OutsideError:
        """Record a refusal, and return it to be raised."""
        self.refused.append(message)
        return OutsideError(message)

    def spend(self, path: str, size: int) -> None:
        """Count bytes before a read; raise ReadLimitError if they become too many."""
        if self._most_bytes is not None and self.bytes_read + size > self._most_bytes:
            self.over_limit = ReadLimitError(
                f"{path}: needs {size} bytes, expected at most "
                f"{self._most_bytes - self.bytes_read}, the rest of the {self._most_bytes} that "
                "one request may read",
                limit=self._most_bytes,
                needs=self.bytes_read + size,
            )
            raise self.over_limit
        self.bytes_read += size

    def shown_names(self, names: list[str]) -> list[str]:
        """Return the names of a directory without the hidden ones."""
        return names if self._shows_hidden else [n for n in names if not n.startswith(".")]

    def inside(self, path: str) -> str | None:
        """Return an absolute path relative to the root; None if it is not below the root.

        It compares only text: it does not follow links in the path.
        """
        for root in (self.root, self._given_root):
            if path == root:
                return os.curdir
            below = root if root.endswith(os.sep) else root + os.sep
            if path.startswith(below):
                return path[len(below) :]
        return None

    def _real(self, path: str) -> str:
        """Return a path with all links followed; follow those of each directory once."""
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
        # An absolute path elsewhere may lead into the root; then that target counts.
        parts = inside.replace(os.altsep or os.sep, os.sep).split(os.sep) if inside else []
        return any(part.startswith(".") and part not in (os.curdir, os.pardir) for part in parts)


def _leads_out(path: str) -> str:
    return f"{path}: leads out of the directory in which files may be read"


_CURRENT: ContextVar[Confinement | None] = ContextVar("confinement", default=None)


@contextmanager
def confined_to(
    root: str, *, shows_hidden: bool = False, most_bytes: int | None = None
) -> Iterator[Confinement]:
    """Allow reads only below a directory, and at most this many bytes.

    Paths with a scheme are refused: this machine would send requests to another one.
    """
    confinement = Confinement(root, shows_hidden=shows_hidden, most_bytes=most_bytes)
    token = _CURRENT.set(confinement)
    try:
        yield confinement
    finally:
        _CURRENT.reset(token)
        confinement.close()


def current() -> Confinement | None:
    """Return the confinement of this context, None if every file may be read."""
    return _CURRENT.get()


@contextmanager
def at(path: str) -> Iterator[Place]:
    """Yield the target of a local path: the path itself if there is no confinement."""
    confinement = _CURRENT.get()
    if confinement is None:
        yield Place(path, None, follows_links=True)
        return
    with confinement.at(path) as place:
        yield place


@contextmanager
def unremembered() -> Iterator[None]:
    """Do not record refusals and reads over the limit: for questions whose answer may be no."""
    confinement = _CURRENT.get()
    if confinement is None:
        yield
        return
    refused, over_limit = len(confinement.refused), confinement.over_limit
    try:
        yield
    finally:
        del confinement.refused[refused:]
        confinement.over_limit = over_limit


def is_allowed(path: str) -> bool:
    """Return whether files at a local path may be read, whether or not they exist."""
    confinement = _CURRENT.get()
    return confinement is None or confinement.is_allowed(path)


def check_remote(path: str) -> None:
    """Raise OutsideError for a path with a scheme if files are confined."""
    confinement = _CURRENT.get()
    if confinement is not None:
        raise confinement.refuse(f"{path}: names another machine; only local files may be read")


def spend(path: str, size: int) -> None:
    """Count bytes before a read; raise ReadLimitError if they become too many."""
    confinement = _CURRENT.get()
    if confinement is not None:
        confinement.spend(path, size)

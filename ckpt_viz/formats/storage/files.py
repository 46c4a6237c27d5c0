"""Opens, lists and describes files; no other module does so (`new_files` creates them).

Local paths go to the operating system. Paths with a scheme, such as `gs://bucket/ckpt-1`, go
through fsspec, which is imported only then. Files are read in ranges, so that only the bytes that a
caller needs cross the network. `confinement` can limit all this to one directory.
"""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from operator import eq
from typing import BinaryIO, NamedTuple, TypeVar

from ckpt_viz.errors import (
    CkptVizError,
    DeniedError,
    FormatError,
    GoneError,
    OutsideError,
    UnsupportedError,
)
from ckpt_viz.formats.storage import confinement
from ckpt_viz.formats.storage.file_systems import (
    file_system_of,
    local_errors,
    not_regular,
    remote_kind,
    remote_kinds_in,
)

MAX_NAMES = 400_000
"""The most names that `list_directory` returns: those of 100,000 checkpoints and more."""

_REQUESTS = 32  # at a time
_TRIES = 5  # while another program removes files

# If a pipe has replaced a file, do not wait for it.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_T = TypeVar("_T")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class File(ABC):
    """An open file, read in ranges; a context manager. `size` is in bytes."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly these bytes; allocate only what the file has.

        Raises FormatError if the file has fewer, CkptVizError if it cannot be read.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise FormatError(
                f"{self.path}: has {self.size} bytes, expected bytes {offset} to {offset + size}"
            )
        data = self._read(offset, size) if size else b""
        # It may have shrunk since it was opened. Some web servers send the whole file, whatever
        # range is requested.
        if len(data) != size:
            raise CkptVizError(
                f"{self.path}: found {len(data)} bytes at offset {offset}, expected {size}; "
                "the file changed, or its server does not send ranges"
            )
        return data

    @abstractmethod
    def _read(self, offset: int, size: int) -> bytes: ...

    def close(self) -> None:  # noqa: B027
        """Close the file; a second time does nothing."""

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BytesFile(File):
    """Bytes that were already read; `path` is for messages."""

    def __init__(self, path: str, data: bytes) -> None:
        super().__init__(path, len(data))
        self._data = data

    def _read(self, offset: int, size: int) -> bytes:
        return self._data[offset : offset + size]


def open_file(path: str, *, end: int | None = None) -> File:
    """Open a regular file.

    `end` is given if the file is known to have at least so many bytes, and the caller reads none
    after them. They are then the size of a remote file, which saves a request; `read` raises if it
    has become shorter.

    Raises GoneError if there is no file, and CkptVizError for any other reason. If `end` is given,
    `read` of a remote file raises GoneError, too.
    """
    if is_remote(path):
        return _RemoteFile(path, end)
    return _LocalFile(path)


def again_if_gone(read: Callable[[], _T]) -> _T:
    """Return what a function returns; call it again if a file that it found has disappeared.

    A training that removes its old checkpoints may do so between a listing and a read. Raises what
    the last of five calls raises.
    """
    for _ in range(_TRIES - 1):
        with suppress(GoneError):
            return read()
    return read()


def is_remote(path: str) -> bool:
    """Return whether a path has a scheme, and so goes through fsspec.

    >>> is_remote("gs://bucket/ckpt-1"), is_remote("ckpts/ckpt-1"), is_remote("C:/ckpt-1")
    (True, False, False)
    """
    return _SCHEME.match(path) is not None


def is_file(path: str) -> bool:
    """Return whether a regular file exists; raise CkptVizError if that is unknown."""
    return _describe(path).kind == "file"


def is_directory(path: str) -> bool:
    """Return whether a directory exists; raise CkptVizError if that is unknown."""
    return _describe(path).kind == "directory"


def may_be_read(path: str) -> bool:
    """Return whether a file at this path may be read, if there is one (see `confinement`)."""
    if is_remote(path):
        return confinement.current() is None
    return confinement.is_allowed(path)


def is_readable_file(path: str) -> bool:
    """Return whether a readable regular file exists; raise CkptVizError as `is_file`.

    The answer is False for a file in a directory that this user may not search.
    """
    try:
        if confinement.current() is None or is_remote(path):
            return may_be_read(path) and is_file(path)
        with confinement.unremembered():
            return is_file(path)
    except (DeniedError, OutsideError):
        return False


def file_stamp(path: str) -> tuple[int, ...] | None:
    """Return numbers that change when a local file does, None if there is no file.

    They are its size in bytes, the time of its last change in ns, and its inode number.
    """
    try:
        status = _stat(path)
    except FileNotFoundError:
        return None
    is_regular = stat.S_ISREG(status.st_mode)
    return (status.st_size, status.st_mtime_ns, status.st_ino) if is_regular else None


def file_size(path: str) -> int | None:
    """Return a regular file's size in bytes, None if there is none; raise as `is_file`."""
    kind, size = _describe(path)
    return size if kind == "file" else None


def file_sizes(paths: Sequence[str]) -> list[int | CkptVizError | None]:
    """Return the sizes of many files, as `file_size` does; an error is not raised but returned.

    For remote files it sends up to 32 requests at a time.
    """
    if len(paths) < 2 or not all(map(is_remote, paths)):
        return [_size_or_error(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    with suppress(CkptVizError), file_system_of(paths[0]):
        pass  # its modules are imported once, here
    with ThreadPoolExecutor(min(len(paths), _REQUESTS)) as threads:
        return list(threads.map(_size_or_error, paths))


def _size_or_error(path: str) -> int | CkptVizError | None:
    try:
        return file_size(path)
    except CkptVizError as error:
        return error


def list_directory(path: str) -> list[str]:
    """Return the names in a directory, sorted.

    Raises GoneError if there is no such directory, and CkptVizError if it cannot be read or has
    more than 400,000 names.
    """
    return sorted(_entries(path))


def list_files(path: str) -> list[str]:
    """Return the sorted names of the regular files in a directory; raise as `list_directory`.

    A link counts as its target, if that may be read.
    """
    return sorted(name for name, is_regular in _entries(path).items() if is_regular())


def list_directories(path: str) -> list[str]:
    """Return the sorted names of the directories in a local one, without links and hidden ones.

    Looks at none of them. Raises as `list_directory`.
    """
    with _listed(path) as entries:
        return sorted(
            name
            for name, entry in entries.items()
            if not name.startswith(".") and entry.is_dir(follow_symlinks=False)
        )


_Entries = dict[str, Callable[[], bool]]
"""The names in a directory, each with a function that returns whether it is a regular file."""


def _entries(path: str) -> _Entries:
    if is_remote(path):
        kinds = remote_kinds_in(path)
        entries: _Entries = {name: partial(eq, kind, "file") for name, kind in kinds.items()}
    else:
        entries = _local_entries(path)
    if len(entries) > MAX_NAMES:
        raise UnsupportedError(
            f"{path}: has more than {MAX_NAMES} names; expected the prefix of a checkpoint in it, "
            "or for a history, a list of prefixes"
        )
    return entries


def join(directory: str, name: str) -> str:
    """Return the path of a name in a directory.

    >>> join("gs://bucket/run", "ckpt-1"), join("memory://", "ckpt-1")
    ('gs://bucket/run/ckpt-1', 'memory://ckpt-1')
    """
    if not is_remote(directory):
        return os.path.join(directory, name)
    return directory + name if directory.endswith("/") else f"{directory}/{name}"


def split(path: str) -> tuple[str, str]:
    """Return a path's directory and the name in it.

    >>> split("gs://bucket/run/ckpt-1"), split("memory://ckpt-1")
    (('gs://bucket/run', 'ckpt-1'), ('memory://', 'ckpt-1'))
    """
    if not is_remote(path):
        return os.path.split(path)
    scheme, separator, inside = path.partition("://")
    directory, _, name = inside.rpartition("/")
    return f"{scheme}{separator}{directory}", name


class _Description(NamedTuple):
    kind: str  # "file", "directory", "none" or "other": a pipe or a device
    size: int | None


def _describe(path: str) -> _Description:
    """Return the kind of entry at a path, and its size if known."""
    try:
        if is_remote(path):
            return _Description(*remote_kind(path))
        status = _stat(path)
    except FileNotFoundError:
        return _Description("none", None)
    is_folder = stat.S_ISDIR(status.st_mode)
    kind = "file" if stat.S_ISREG(status.st_mode) else "directory" if is_folder else "other"
    return _Description(kind, status.st_size)


# --- the operating system's files


class _LocalFile(File):
    def __init__(self, path: str) -> None:
        # Check the path first, since opening a device may already have an effect. Check again once
        # it is open, since it may be another file by then.
        with local_errors(path), confinement.at(path) as place:
            if not stat.S_ISREG(place.stat().st_mode):
                raise not_regular(path)
            descriptor = place.open(_READING)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise not_regular(path)
                self._file: BinaryIO = os.fdopen(descriptor, "rb")
            except BaseException:
                os.close(descriptor)
                raise
        super().__init__(path, status.st_size)

    def _read(self, offset: int, size: int) -> bytes:
        confinement.spend(self.path, size)
        with local_errors(self.path):
            self._file.seek(offset)
            try:
                return self._file.read(size)
            except MemoryError as error:  # a file may be larger than its disk
                raise CkptVizError(
                    f"{self.path}: {size} bytes at offset {offset} do not fit into memory"
                ) from error

    def close(self) -> None:
        self._file.close()


def _stat(path: str) -> os.stat_result:
    with local_errors(path, is_looked_at=True), confinement.at(path) as place:
        return place.stat()


@contextmanager
def _listed(path: str) -> Iterator[dict[str, os.DirEntry[str]]]:
    """Yield the entries of a directory by name, without those that a confinement hides."""
    with local_errors(path), confinement.at(path or os.curdir) as place, _scanned(place) as listed:
        entries = {entry.name: entry for entry in islice(listed, MAX_NAMES + 1)}
        scope = confinement.current()
        names = list(entries) if scope is None else scope.shown_names(list(entries))
        yield {name: entries[name] for name in names}


def _local_entries(path: str) -> _Entries:
    with _listed(path) as entries:
        return {name: partial(_is_regular, path, entry) for name, entry in entries.items()}


def _is_regular(directory: str, entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # for a file system that does not list kinds
        if not entry.is_symlink():
            return entry.is_file(follow_symlinks=False)
    try:
        return is_readable_file(join(directory, entry.name))
    except (CkptVizError, OSError):  # links in a circle, for example
        return False


@contextmanager
def _scanned(place: confinement.Place) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Yield the entries of a directory, through its descriptor if it was found by one."""
    if place.directory is None:
        with os.scandir(place.name) as entries:
            yield entries
        return
    descriptor = place.open(os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


# --- fsspec's files


class _RemoteFile(File):
    def __init__(self, path: str, end: int | None) -> None:
        if end is not None:
            super().__init__(path, end)
            return
        kind, size = remote_kind(path)
        if kind != "file":
            raise not_regular(path)
        if size is None:
            raise UnsupportedError(f"{path}: the server does not send the file's size")
        super().__init__(path, size)

    def _read(self, offset: int, size: int) -> bytes:
        with file_system_of(self.path) as (file_system, inside):
            # Not open(): most of its file objects read megabytes ahead.
            return bytes(file_system.cat_file(inside, start=offset, end=offset + size))

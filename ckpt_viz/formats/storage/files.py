"""Opens, lists and describes files; the only module that does so (`new_files` creates them).

Local paths go to the operating system. Paths with a scheme, such as `gs://bucket/ckpt-1`, go
through fsspec, which is imported only then. Files are read in ranges, so that only the bytes that a
caller needs cross the network. `confinement` can limit all this to one directory.
"""

from __future__ import annotations

import errno
import operator
import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple, TypeVar

from ckpt_viz.errors import (
    CkptVizError,
    DeniedError,
    FormatError,
    GoneError,
    OutsideError,
    UnsupportedError,
)
from ckpt_viz.formats.storage import confinement

_MAX_SHOWN = 300  # characters of a path that is too long for a file
MAX_NAMES = 400_000
"""The most names that `list_directory` returns: those of 100,000 checkpoints and more."""

_REQUESTS = 32  # at a time
_TRIES = 5  # while another program removes files

# If a pipe has replaced a file, do not wait for it.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_T = TypeVar("_T")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_MODULE_OF_FSSPEC = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "az": "adlfs", "abfs": "adlfs"}


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
    description = _describe(path)
    return description is not None and description.kind == "file"


def is_directory(path: str) -> bool:
    """Return whether a directory exists; raise CkptVizError if that is unknown."""
    description = _describe(path)
    return description is not None and description.kind == "directory"


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
    description = _describe(path)
    return description.size if description is not None and description.kind == "file" else None


def file_sizes(paths: Sequence[str]) -> list[int | CkptVizError | None]:
    """Return the sizes of many files, as `file_size` does; an error is not raised but returned.

    For remote files it sends up to 32 requests at a time.
    """
    if len(paths) < 2 or not all(map(is_remote, paths)):
        return [_size_or_error(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    with suppress(CkptVizError), _remote_errors(paths[0]):
        _file_system(paths[0])  # its modules are imported once, here
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
    entries = _remote_entries(path) if is_remote(path) else _local_entries(path)
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
    kind: str
    """"file", "directory" or "other": a pipe or a device."""
    size: int | None


def _describe(path: str) -> _Description | None:
    """Return the kind of entry at a path, None if there is none."""
    try:
        return _describe_remote(path) if is_remote(path) else _describe_local(path)
    except FileNotFoundError:
        return None


# --- the operating system's files


class _LocalFile(File):
    def __init__(self, path: str) -> None:
        # Check the path first, since opening a device may already have an effect. Check again once
        # it is open, since it may be another file by then.
        with _local_errors(path), confinement.at(path) as place:
            if not stat.S_ISREG(place.stat().st_mode):
                raise _not_regular(path)
            descriptor = place.open(_READING)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise _not_regular(path)
                self._file: BinaryIO = os.fdopen(descriptor, "rb")
            except BaseException:
                os.close(descriptor)
                raise
        super().__init__(path, status.st_size)

    def _read(self, offset: int, size: int) -> bytes:
        confinement.spend(self.path, size)
        with _local_errors(self.path):
            self._file.seek(offset)
            try:
                return self._file.read(size)
            except MemoryError as error:  # a file may be larger than its disk
                raise CkptVizError(
                    f"{self.path}: {size} bytes at offset {offset} do not fit into memory"
                ) from error

    def close(self) -> None:
        self._file.close()


def _describe_local(path: str) -> _Description:
    status = _stat(path)
    kind = "other"
    if stat.S_ISREG(status.st_mode):
        kind = "file"
    elif stat.S_ISDIR(status.st_mode):
        kind = "directory"
    return _Description(kind, status.st_size)


def _stat(path: str) -> os.stat_result:
    with _local_errors(path, is_looked_at=True), confinement.at(path) as place:
        return place.stat()


@contextmanager
def _listed(path: str) -> Iterator[dict[str, os.DirEntry[str]]]:
    """Yield the entries of a directory by name, without those that a confinement hides."""
    with _local_errors(path), confinement.at(path or os.curdir) as place, _scanned(place) as listed:
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


@contextmanager
def _local_errors(path: str, *, is_looked_at: bool = False) -> Iterator[None]:
    try:
        yield
    # A file on the way where a directory should be; a NUL in the path.
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise _gone(path) from error
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
            raise _gone(path) from error
        raise CkptVizError(
            f"{path}: cannot be read: {error.strerror or error}; try again, or open a copy"
        ) from error


def _closed_directory(path: str) -> str | None:
    """Return the first directory on the way that this user may not search; None behind a link."""
    directory = os.path.dirname(path) or os.curdir
    above = [directory, *map(str, PurePath(directory).parents)]
    is_open = partial(os.access, mode=os.X_OK, effective_ids=os.access in os.supports_effective_ids)
    return next((folder for folder in reversed(above) if not is_open(folder)), None)


# --- fsspec's files


class _RemoteFile(File):
    def __init__(self, path: str, end: int | None) -> None:
        if end is not None:
            super().__init__(path, end)
            return
        description = _describe_remote(path)
        if description.kind != "file":
            raise _not_regular(path)
        if description.size is None:
            raise UnsupportedError(f"{path}: the server does not send the file's size")
        super().__init__(path, description.size)

    def _read(self, offset: int, size: int) -> bytes:
        with _remote_errors(self.path):
            file_system, inside = _file_system(self.path)
            # Not open(): most of its file objects read megabytes ahead.
            return bytes(file_system.cat_file(inside, start=offset, end=offset + size))


def _file_system(path: str) -> tuple[Any, str]:
    """Return fsspec's file system for a path, and the path inside it."""
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


def _describe_remote(path: str) -> _Description:
    with _remote_errors(path):
        file_system, inside = _file_system(path)
        # A program may have saved since the directory was listed, perhaps by other code.
        file_system.invalidate_cache(split(inside)[0])
        info = file_system.info(inside)
        kind = info["type"] if info["type"] in ("file", "directory") else "other"
        return _Description(kind, info.get("size"))


def _remote_entries(path: str) -> _Entries:
    with _remote_errors(path):
        file_system, inside = _file_system(path)
        file_system.invalidate_cache(inside)  # a program may have saved since the last time
        listed = file_system.ls(inside, detail=True)
        kinds = {str(entry["name"]).rstrip("/"): entry["type"] for entry in listed}
        inside = inside.rstrip("/")
        if list(kinds) == [inside]:  # fsspec lists a file as a directory that contains itself
            raise _gone(path)
        kinds.pop(inside, None)  # buckets may hold an object with the directory's own name
        return {
            path.rpartition("/")[2]: partial(operator.eq, kind, "file")
            for path, kind in kinds.items()
        }


@contextmanager
def _remote_errors(path: str) -> Iterator[None]:
    try:
        yield
    except CkptVizError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _gone(path) from error
    # Each file system raises the errors of its client library: aiohttp's, botocore's ...
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise CkptVizError(
            f"{path}: cannot be read: {reason}; check the address and your access, then try again"
        ) from error


def _gone(path: str) -> GoneError:
    shown = path if len(path) <= _MAX_SHOWN else f"{path[:_MAX_SHOWN]}..."
    return GoneError(f"{shown}: this file has disappeared; check the path, then read again")


def _not_regular(path: str) -> CkptVizError:
    return CkptVizError(f"{path}: cannot be read: not a regular file")

"""Reads HDF5 files as Keras writes them: groups with attributes, and data sets.

The reader trusts no byte: whatever a file holds, time and memory remain in proportion to its size,
and no other file is opened. Soft links and external links are left out. An object that several hard
links lead to has several paths; the content of a group is only under the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from ckpt_viz.errors import CkptVizError, FormatError, NoSuchTensorError, UnsupportedError
from ckpt_viz.formats.hdf5_files import hdf5_objects as objects
from ckpt_viz.formats.hdf5_files import hdf5_values as values
from ckpt_viz.formats.hdf5_files.hdf5_walk import (
    MAX_READS,
    Dataset,
    Fault,
    GroupWalk,
    dataset,
    stream_of,
    text_of,
    texts_of,
)
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.streams import FileStream
from ckpt_viz.formats.storage.zip_archive import Member

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array
    from ckpt_viz.formats.bundles.lost_files import LostFiles

Opener: TypeAlias = Callable[[], File]
"""Opens the bytes of an HDF5 file once more: a file, or a member of a zip archive."""

_SUPERBLOCKS = (0, 512, 1024, 2048, 4096, 8192)  # after a user block, such as MATLAB's

_MAX_BYTES = 256 << 20  # to open it

_MAX_SAID = 200  # characters of a library's error in a message


@dataclass(frozen=True, slots=True)
class Hdf5:
    """An open HDF5 file: its groups and data sets by path, such as `layers/dense/vars/0`.

    The root is the group "". Parents come before children, and siblings in the order in which they
    were saved, as far as addresses tell: by the newest address of all that is in a group. `path` is
    for messages.
    """

    path: str
    groups: Mapping[str, int] = field(repr=False)
    entries: Mapping[str, Dataset] = field(repr=False)
    _opener: Opener = field(repr=False)
    _start: int = field(repr=False)  # of the superblock, as all addresses
    _faults: Mapping[str, Fault] = field(repr=False)
    _kept: list[tuple[FileStream, objects.GlobalHeaps]] = field(
        default_factory=list, repr=False, compare=False
    )

    @property
    def member(self) -> Member | None:
        """The member of an archive that this is; None for a file of its own."""
        return self._opener if isinstance(self._opener, Member) else None

    def lost_files(self) -> tuple[LostFiles, ...]:
        """Return what a test has found to be damaged."""
        if self.member is None or not self.member.damage:
            return ()
        from ckpt_viz.formats.bundles.lost_files import lost_member

        return lost_member(self.member, [*self.entries], sum(e.size for e in self.entries.values()))

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the file open while many attributes are read.

        All of them together read no more than any single one may: they may share their bytes.
        """
        with self._opener() as file:
            stream = stream_of(file, self._start)
            self._kept.append((stream, objects.GlobalHeaps(stream)))
            try:
                yield
            finally:
                self._kept.clear()

    def text(self, group: str, name: str) -> str | None:
        """Return an attribute that is a text, None if there is none of this name."""
        with self._attributes(group, name) as (stored, heaps):
            return text_of(stored.get(name), heaps)

    def texts(self, group: str, name: str) -> list[str] | None:
        """Return an attribute that is a list of texts, None if there is none of this name.

        Keras splits a long list into `name0`, `name1` and so on; they are joined.
        """
        with self._attributes(group, name) as (stored, heaps):
            if name in stored:
                return texts_of(stored[name], heaps)
            parts = takewhile(stored.__contains__, (f"{name}{number}" for number in count()))
            lists = [texts_of(stored[part], heaps) for part in parts]
            if not lists or None in lists:
                return None
            return [text for texts in lists for text in texts or ()]

    def read(self, key: str) -> Array:
        """Return the value of a data set; the array is read-only, and texts are `bytes`.

        Of a member of an archive, the first read tests the checksum of all bytes. Raises
        NoSuchTensorError for a key that is not in `entries`, and FormatError for damaged bytes.
        """
        self._test()
        with self._opened(brief(key)) as stream:
            return values.read_value(self._header(stream, key), stream, self._place(key))

    def first_elements(self, key: str, count: int) -> Array | None:
        """Return the first elements of a data set as a flat array, None if that is not cheap."""
        self._test()
        with self._opened(brief(key)) as stream:
            header = self._header(stream, key)
            return values.first_elements(header, stream, count, self._place(key))

    def why_unreadable(self, key: str) -> str | None:
        """Return why a data set cannot be read, None if it may be readable; read nothing.

        Raises NoSuchTensorError for a key that is not in `entries`.
        """
        self._entry(key)
        return self._faults[key][1] if key in self._faults else None

    def fingerprint(self, key: str) -> None:
        """Return None: this format has no checksum for a value."""

    def _test(self) -> None:
        if self.member is not None:
            self.member.test()

    def _entry(self, key: str) -> Dataset:
        if key not in self.entries:
            raise NoSuchTensorError(f"{self.path}: there is no data set {brief(key)}")
        return self.entries[key]

    def _place(self, key: str) -> str:
        return f"{self.path}: {brief(key)}"

    def _header(self, stream: FileStream, key: str) -> objects.DatasetHeader:
        """Return the header of a data set, read again; raise if it has a fault or has changed."""
        entry = self._entry(key)
        if key in self._faults:
            kind, reason = self._faults[key]
            raise kind(f"{self._place(key)}: {reason}")
        header, now, fault = dataset(stream, entry.address)
        if now != entry or fault is not None:
            raise FormatError(
                f"{self._place(key)}: changed since the file was opened; open it again"
            )
        return header

    @contextmanager
    def _attributes(
        self, group: str, name: str
    ) -> Iterator[tuple[dict[str, objects.StoredAttribute], objects.GlobalHeaps]]:
        """Yield the attributes of a group whose names begin so, and the heaps of their texts."""
        with self._opened(f"the attribute {brief(name)} of the group {brief(group)}") as stream:
            address = self.groups.get(group)
            header = None if address is None else objects.header_at(stream, address)
            stored = {} if header is None else objects.attributes(stream, header, name)
            yield stored, self._kept[0][1] if self._kept else objects.GlobalHeaps(stream)

    @contextmanager
    def _opened(self, what: str) -> Iterator[FileStream]:
        if self._kept:
            ((stream, _),) = self._kept
            with _explained(self.path, stream.source, what):
                yield stream
            return
        with self._opener() as file, _explained(self.path, file, what):
            yield stream_of(file, self._start)


def begins_as_hdf5(file: File) -> bool:
    """Return whether a file begins as an HDF5 file, perhaps after a user block of up to 8 KiB."""
    return _superblock(file) is not None


def open_hdf5(path: str, opener: Opener) -> Hdf5:
    """Open an HDF5 file; read all groups and headers, but no attribute and no value.

    One attribute is an exception: that with which Keras marks bfloat16. `path` is for messages.
    Raises GoneError, FormatError or UnsupportedError.
    """
    with opener() as file, _explained(path, file, "groups"):
        start = _superblock(file)
        if start is None:
            from ckpt_viz.formats.kinds.file_kinds import kind_of  # a sound file needs none of it

            kind = kind_of(file)
            fault, advice = "not an HDF5 file: its signature is missing", "check the path"
            if kind is not None:
                fault, advice = f"{kind.what}, expected an HDF5 file", kind.advice
            raise FormatError(f"{path}: {fault}; {advice}", file=path, fault=fault)
        stream = stream_of(file, start)
        walk = GroupWalk(stream)
        with _naming_a_cut(path, stream), stream.at_most(MAX_READS, _MAX_BYTES):
            walk.follow(objects.root_address(stream))
        if "" not in walk.groups:
            raise FormatError("the root is no group, expected one; copy the file again")
    groups, entries = walk.as_saved()
    return Hdf5(
        path,
        MappingProxyType(groups),
        MappingProxyType(entries),
        opener,
        start,
        MappingProxyType(walk.faults),
    )


@contextmanager
def _naming_a_cut(path: str, stream: FileStream) -> Iterator[None]:
    """Raise an error that names the missing bytes, if reading fails in a file that is too short."""
    try:
        yield
    except Exception as error:
        wanted = None
        if isinstance(error, CkptVizError) and not isinstance(error, FormatError):
            raise
        with suppress(Exception):
            wanted = objects.end_address(stream)
        if wanted is None or wanted <= stream.size:
            raise
        fault = f"an HDF5 file that is cut: found {stream.size:,} of {wanted:,} bytes"
        raise FormatError(
            f"{path}: {fault}; copy or download it again", file=path, fault=fault
        ) from error


def _superblock(file: File) -> int | None:
    """Return the offset of the superblock, None if there is none where one may be."""
    beginning = file.read(0, min(file.size, _SUPERBLOCKS[-1] + len(objects.SIGNATURE)))
    return next((at for at in _SUPERBLOCKS if beginning.startswith(objects.SIGNATURE, at)), None)


@contextmanager
def _explained(path: str, file: File, what: str) -> Iterator[None]:
    """Raise an error of ours that names the path, for every way in which damage shows itself."""
    place = f"{path}: {what}"
    try:
        yield
    except CkptVizError as error:
        kind = type(error)
        if kind not in (FormatError, UnsupportedError) or str(error).startswith((path, file.path)):
            raise
        raise kind(f"{place}: {error}") from error
    except MemoryError as error:
        raise CkptVizError(f"{place}: does not fit into memory") from error
    except ImportError as error:
        raise CkptVizError(
            f"{place}: needs the package {error.name}, which is not installed here: "
            f"pip install {error.name}"
        ) from error
    except NotImplementedError as error:
        raise UnsupportedError(
            f"{place}: pyfive cannot read this: {_short(error)}; pip install -U pyfive, or convert "
            "the file with h5repack"
        ) from error
    # The bytes are damaged: pyfive raises AssertionError, KeyError, struct.error and many others.
    except Exception as error:
        raise FormatError(
            f"{place}: found damaged bytes ({_short(error)}); "
            "copy the file again, or save it again",
            file=path,
            fault="a damaged HDF5 file",
        ) from error


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_SAID].removesuffix(": ")

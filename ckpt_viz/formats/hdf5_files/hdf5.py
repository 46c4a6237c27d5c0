"""Reads HDF5 files as Keras writes them: groups with attributes, and data sets.

The reader trusts no byte: whatever a file holds, time and memory remain in proportion to its size,
and no other file is opened. Soft links and external links are left out. An object that several hard
links lead to has several paths; the content of a group is only under the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from ckpt_viz.errors import CkptVizError, FormatError, NoSuchTensorError, UnsupportedError
from ckpt_viz.formats.hdf5_files import hdf5_objects as objects
from ckpt_viz.formats.hdf5_files import hdf5_values as values
from ckpt_viz.formats.hdf5_files.hdf5_types import ElementType, is_opaque
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.streams import FileStream
from ckpt_viz.formats.storage.unpacking import Allowance
from ckpt_viz.formats.storage.zip_archive import Member

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array
    from ckpt_viz.formats.bundles.lost_files import LostFiles

Opener: TypeAlias = Callable[[], File]
"""Opens the bytes of an HDF5 file once more: a file, or a member of a zip archive."""

_SUPERBLOCKS = (0, 512, 1024, 2048, 4096, 8192)  # after a user block, such as MATLAB's
_MAX_OBJECTS = 300_000
_MAX_DEPTH = 200
_MAX_PATH_BYTES = 32 << 20  # of all paths

# What opening a file, or reading one value, may read: several times what a sound file needs.
_READS = 20_000  # and one for each 8 bytes of the file
_MAX_READS = 6_000_000
_BYTES = 2 << 20  # and three times the file
_MAX_BYTES = 256 << 20  # to open it

_MAX_SAID = 200  # characters of a library's error in a message

_Fault: TypeAlias = tuple[type[FormatError | UnsupportedError], str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set of an HDF5 file.

    `dtype` is TensorFlow's name, None for a type that TensorFlow has not. `size` is in bytes,
    without compression; 0 if only the values show it, as for texts of variable length. `address` is
    that of the object header.
    """

    dtype: str | None
    shape: tuple[int, ...]
    size: int
    address: int


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
    _faults: Mapping[str, _Fault] = field(repr=False)
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
            stream = _stream(file, self._start)
            self._kept.append((stream, objects.GlobalHeaps(stream)))
            try:
                yield
            finally:
                self._kept.clear()

    def text(self, group: str, name: str) -> str | None:
        """Return an attribute that is a text, None if there is none of this name."""
        with self._attributes(group, name) as (stored, heaps):
            return _text(stored.get(name), heaps)

    def texts(self, group: str, name: str) -> list[str] | None:
        """Return an attribute that is a list of texts, None if there is none of this name.

        Keras splits a long list into `name0`, `name1` and so on; they are joined.
        """
        with self._attributes(group, name) as (stored, heaps):
            if name in stored:
                return _list(stored[name], heaps)
            parts = takewhile(stored.__contains__, (f"{name}{number}" for number in count()))
            lists = [_list(stored[part], heaps) for part in parts]
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
        header, now, fault = _dataset(stream, entry.address)
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
            yield _stream(file, self._start)


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
        stream = _stream(file, start)
        walk = _Walk(stream)
        with _naming_a_cut(path, stream), stream.at_most(_MAX_READS, _MAX_BYTES):
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


class _Walk:
    """A walk through all groups of a file, from the root."""

    def __init__(self, stream: FileStream) -> None:
        self.groups: dict[str, int] = {}
        self.entries: dict[str, Dataset] = {}
        self.faults: dict[str, _Fault] = {}
        self._stream = stream
        self._datasets: dict[int, tuple[Dataset, _Fault | None, int]] = {}
        self._allowance = Allowance(stream.size)  # of all values: they may share their bytes
        self._groups: set[int] = set()
        self._newest: dict[str, int] = {}  # address of an object's own parts
        self._links = self._path_bytes = 0

    def as_saved(self) -> tuple[dict[str, int], dict[str, Dataset]]:
        """Return groups and data sets, siblings in the order in which they were probably saved.

        HDF5 uses again what it has freed, so a new group may begin at an old address. But each
        group is finished before the next one begins, and takes new space for some of its parts.
        """
        newest, below = dict(self._newest), dict[str, list[str]]()
        for path in reversed(self._newest):  # parents come first there
            if path:
                parent = path.rpartition("/")[0]
                newest[parent] = max(newest[parent], newest[path])
        first: dict[int, str] = {}
        for path in self._newest:
            if path in self.groups:  # a further path of a group comes after the first one
                newest[path] = newest[first.setdefault(self.groups[path], path)]
            if path:
                below.setdefault(path.rpartition("/")[0], []).append(path)
        ordered, waiting = list[str](), [""]
        while waiting:
            ordered.append(waiting.pop())
            waiting += sorted(below.get(ordered[-1], ()), key=newest.__getitem__)[::-1]
        groups = {path: self.groups[path] for path in ordered if path in self.groups}
        return groups, {path: self.entries[path] for path in ordered if path in self.entries}

    def follow(self, root: int) -> None:
        """Visit a group and everything below it; each group once, under its first path."""
        waiting = [("", root, 0)]
        while waiting:
            path, address, depth = waiting.pop()
            children = self._visit(path, address)
            if children and depth == _MAX_DEPTH:
                raise UnsupportedError(
                    f"{brief(path)} is {depth} groups deep, expected below {_MAX_DEPTH}"
                )
            children.sort(key=lambda child: child[1], reverse=True)  # the last one is next
            prefix = f"{path}/" if path else ""
            waiting += [(prefix + name, child, depth + 1) for name, child in children]

    def _visit(self, path: str, address: int) -> list[tuple[str, int]]:
        """Add the object at an address; return what is below it, if that is new."""
        if path in self.groups or path in self.entries:
            raise FormatError(f"two links have the path {brief(path)}, expected one")
        self._newest[path] = address
        if address in self._groups:
            self.groups[path] = address
            return []
        if address not in self._datasets:
            header = objects.header_at(self._stream, address)
            if not objects.is_dataset(header):
                return self._visit_group(path, address, header)
            parsed, entry, fault = _dataset(self._stream, address, header)
            cost = 0 if fault is not None else values.cost_of(parsed)
            self._datasets[address] = entry, fault, cost
        self.entries[path], fault, cost = self._datasets[address]
        fault = fault or values.excess_of(cost, self._allowance)
        if fault is not None:
            self.faults[path] = fault
        return []

    def _visit_group(
        self, path: str, address: int, header: objects.Header
    ) -> list[tuple[str, int]]:
        if not objects.is_group(header):  # a type with a name
            return []
        self.groups[path] = address
        self._groups.add(address)
        children = []
        parts = [address]
        for name, child in objects.links(self._stream, header, parts):
            self._count(len(path.encode("utf-8", "replace")) + len(name.encode("utf-8", "replace")))
            children.append((name, child))
        self._newest[path] = max(parts)
        return children

    def _count(self, path_bytes: int) -> None:
        self._links += 1
        self._path_bytes += path_bytes
        if self._links > _MAX_OBJECTS:
            raise UnsupportedError(f"found more than {_MAX_OBJECTS} objects, expected fewer")
        if self._path_bytes > _MAX_PATH_BYTES:
            raise UnsupportedError(f"found paths of more than {_MAX_PATH_BYTES} bytes in all")


def _dataset(
    stream: FileStream, address: int, header: objects.Header | None = None
) -> tuple[objects.DatasetHeader, Dataset, _Fault | None]:
    """Return the header of a data set, its entry, and why it cannot be read."""
    header = header or objects.header_at(stream, address)
    parsed = objects.dataset_header(header)
    elements = parsed.elements
    if is_opaque(elements) and elements.size == 2:
        # Keras's way to store bfloat16, for which HDF5 had no type.
        mark = objects.attributes(stream, header, "dtype").get("dtype")
        if _text(mark, objects.GlobalHeaps(stream)) == "bfloat16":
            parsed = replace(parsed, elements=ElementType("bfloat16", 2))
    shape, size = parsed.shape or (), values.size_in_memory(parsed)
    entry = Dataset(parsed.elements.dtype, shape, size, address)
    return parsed, entry, values.fault_of(parsed, stream.size)


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


def _text(stored: objects.StoredAttribute | None, heaps: objects.GlobalHeaps) -> str | None:
    if stored is None or stored.shape != () or not stored.elements.texts:
        return None
    (text,) = values.texts_of(stored, heaps)
    return text.decode("utf-8", "backslashreplace")


def _list(stored: objects.StoredAttribute, heaps: objects.GlobalHeaps) -> list[str] | None:
    if stored.shape == (0,):  # of any type: NumPy takes an empty list for one of numbers
        return []
    if stored.shape is None or len(stored.shape) != 1 or not stored.elements.texts:
        return None
    return [text.decode("utf-8", "backslashreplace") for text in values.texts_of(stored, heaps)]


def _superblock(file: File) -> int | None:
    """Return the offset of the superblock, None if there is none where one may be."""
    beginning = file.read(0, min(file.size, _SUPERBLOCKS[-1] + len(objects.SIGNATURE)))
    return next((at for at in _SUPERBLOCKS if beginning.startswith(objects.SIGNATURE, at)), None)


def _stream(file: File, start: int) -> FileStream:
    reads = min(_READS + file.size // 8, _MAX_READS)
    return FileStream(
        file,
        reads=reads,
        most=_BYTES + 3 * file.size,
        refusal="needs more reads than any sound file of this size; copy the file again, or save "
        "it again",
        start=start,
    )


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

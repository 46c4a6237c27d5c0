"""A walk through all groups of an HDF5 file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.hdf5_files import hdf5_objects as objects
from ckpt_viz.formats.hdf5_files import hdf5_values as values
from ckpt_viz.formats.hdf5_files.hdf5_types import ElementType, is_opaque
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.streams import FileStream
from ckpt_viz.formats.storage.unpacking import Allowance

_MAX_OBJECTS = 300_000
_MAX_DEPTH = 200
_MAX_PATH_BYTES = 32 << 20  # of all paths


# What opening a file, or reading one value, may read: several times what a sound file needs.
_READS = 20_000  # and one for each 8 bytes of the file
MAX_READS = 6_000_000
_BYTES = 2 << 20  # and three times the file
Fault: TypeAlias = tuple[type[FormatError | UnsupportedError], str]


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


class GroupWalk:
    """A walk through all groups of a file, from the root."""

    def __init__(self, stream: FileStream) -> None:
        self.groups: dict[str, int] = {}
        self.entries: dict[str, Dataset] = {}
        self.faults: dict[str, Fault] = {}
        self._stream = stream
        self._datasets: dict[int, tuple[Dataset, Fault | None, int]] = {}
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
            parsed, entry, fault = dataset(self._stream, address, header)
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


def dataset(
    stream: FileStream, address: int, header: objects.Header | None = None
) -> tuple[objects.DatasetHeader, Dataset, Fault | None]:
    """Return the header of a data set, its entry, and why it cannot be read."""
    header = header or objects.header_at(stream, address)
    parsed = objects.dataset_header(header)
    elements = parsed.elements
    if is_opaque(elements) and elements.size == 2:
        # Keras's way to store bfloat16, for which HDF5 had no type.
        mark = objects.attributes(stream, header, "dtype").get("dtype")
        if text_of(mark, objects.GlobalHeaps(stream)) == "bfloat16":
            parsed = replace(parsed, elements=ElementType("bfloat16", 2))
    shape, size = parsed.shape or (), values.size_in_memory(parsed)
    entry = Dataset(parsed.elements.dtype, shape, size, address)
    return parsed, entry, values.fault_of(parsed, stream.size)


def text_of(stored: objects.StoredAttribute | None, heaps: objects.GlobalHeaps) -> str | None:
    """Return the text of an attribute, None if the attribute is no single text."""
    if stored is None or stored.shape != () or not stored.elements.texts:
        return None
    (text,) = values.texts_of(stored, heaps)
    return text.decode("utf-8", "backslashreplace")


def texts_of(stored: objects.StoredAttribute, heaps: objects.GlobalHeaps) -> list[str] | None:
    """Return the texts of an attribute, None if the attribute is no list of texts."""
    if stored.shape == (0,):  # of any type: NumPy takes an empty list for one of numbers
        return []
    if stored.shape is None or len(stored.shape) != 1 or not stored.elements.texts:
        return None
    return [text.decode("utf-8", "backslashreplace") for text in values.texts_of(stored, heaps)]


def stream_of(file: File, start: int) -> FileStream:
    """Return the reads of a file, as many as a sound file of its size needs."""
    reads = min(_READS + file.size // 8, MAX_READS)
    return FileStream(
        file,
        reads=reads,
        most=_BYTES + 3 * file.size,
        refusal="needs more reads than any sound file of this size; copy the file again, or save "
        "it again",
        start=start,
    )

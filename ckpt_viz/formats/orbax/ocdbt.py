"""Reads OCDBT, the key-value store of TensorStore in which Orbax keeps arrays.

A manifest names the root of a B+tree. Its leaves have the keys, each with its value or with the
place of the value in a data file. The reader trusts no byte: time and memory stay within limits,
and no path leads out of the store's directory. Source: the storage format in TensorStore's
tensorstore/kvstore/ocdbt/index.rst.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.orbax.ocdbt_bytes import (
    MOST_MANIFEST,
    MOST_PATH,
    OPEN_WITH,
    ZSTD,
    NamingTheFile,
    UnpackedBody,
    body,
)
from ckpt_viz.formats.orbax.orbax_names import MANIFEST
from ckpt_viz.formats.storage.files import file_sizes, join, open_file
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.unpacking import SMALL_BYTES, Allowance, cost

_MANIFEST_MAGIC, _NODE_MAGIC = 0x0CDB3A2A, 0x0CDB20DE
_SINGLE = 0  # the kind of a manifest that is one file
_IN_FILE = 1  # the kind of a value that a data file has

_MOST_KEYS = 600_000
_MOST_KEY_BYTES = 96 << 20
_MOST_GAP = 16 << 10  # bytes between two values that one read takes together
_MOST_AT_ONCE = 8 << 20


class InFile(NamedTuple):
    """A value in a data file: its path, and its bytes there."""

    path: str
    offset: int
    size: int


class _Node(NamedTuple):
    """A node of the tree to read: where it is, its height, and the beginning of all its keys."""

    place: InFile
    base: str  # the directory, relative to the store, of the data files that it names
    height: int
    prefix: bytes


@dataclass(frozen=True)
class Ocdbt:
    """An open store: its values by key, each as bytes or as the place of the bytes.

    `directory` is where the manifest is.
    """

    directory: str
    entries: Mapping[bytes, bytes | InFile] = field(repr=False)

    @cached_property
    def stored_bytes(self) -> int:
        """The bytes of all values in the tree, and of the data files that exist."""
        values = self.entries.values()
        paths = {value.path for value in values if isinstance(value, InFile)}
        sizes = file_sizes(sorted(paths))
        in_files = sum(size for size in sizes if isinstance(size, int))
        return in_files + sum(len(value) for value in values if isinstance(value, bytes))

    def get(self, key: bytes, most: int) -> bytes | None:
        """Return a value, None if there is none.

        Raises as `open_file`, and FormatError for one of more than `most` bytes.
        """
        value = self.entries.get(key)
        if value is None:
            return None
        size = value.size if isinstance(value, InFile) else len(value)
        if size > most:
            raise FormatError(
                f"{self.directory}: {brief(key)}: has {size} bytes, expected at most {most}"
            )
        if isinstance(value, bytes):
            return value
        with open_file(value.path) as file:
            return file.read(value.offset, value.size)

    def get_small(self, keys: list[bytes], most: int) -> dict[bytes, bytes]:
        """Return the values of many keys; leave out those of more than `most` bytes.

        Values that are close to each other in a file are read together. Raises as `get`, and
        UnsupportedError if they share so many bytes that they are far larger than the files.
        """
        values = {key: self.entries[key] for key in keys if key in self.entries}
        inline = {key: value for key, value in values.items() if isinstance(value, bytes)}
        placed = {key: value for key, value in values.items() if isinstance(value, InFile)}
        placed = {key: place for key, place in placed.items() if place.size <= most}
        total = sum(place.size for place in placed.values())
        if total > SMALL_BYTES:
            Allowance(self.stored_bytes).spend(total)
        for run in _runs(placed):
            start = run[0][1].offset
            with open_file(run[0][1].path) as file:
                data = file.read(start, max(_end(place) for _, place in run) - start)
            for key, place in run:
                inline[key] = data[place.offset - start :][: place.size]
        return inline


def _end(place: InFile) -> int:
    return place.offset + place.size


def _runs(places: Mapping[bytes, InFile]) -> Iterator[list[tuple[bytes, InFile]]]:
    """Yield values that are close to each other, so that one read gets them all."""
    run: list[tuple[bytes, InFile]] = []
    for key, place in sorted(places.items(), key=lambda item: item[1]):
        if run:
            first, last = run[0][1], run[-1][1]
            is_close = place.path == last.path and place.offset <= _end(last) + _MOST_GAP
            if not is_close or _end(place) - first.offset > _MOST_AT_ONCE:
                yield run
                run = []
        run.append((key, place))
    if run:
        yield run


def open_ocdbt(directory: str, allowance: Allowance) -> Ocdbt:
    """Open the store in a directory; read its tree, and no value that a data file has.

    `allowance` is what its manifest and nodes may unpack to, with those of other stores beside it.
    Raises GoneError without a manifest, FormatError for damaged files, and UnsupportedError for a
    version that this reader does not know, or for a tree beyond its limits.
    """
    path = join(directory, MANIFEST)
    with open_file(path) as file:
        if file.size > MOST_MANIFEST:
            raise UnsupportedError(
                f"{path}: has {file.size} bytes, expected at most {MOST_MANIFEST}; {OPEN_WITH}"
            )
        data = file.read(0, file.size)
    allowance.store(len(data))
    with NamingTheFile(path):
        root = _root(directory, UnpackedBody(body(data, _MANIFEST_MAGIC, allowance)))
    walk = _TreeWalk(directory, allowance)
    if root is not None:
        walk.follow(root)
    return Ocdbt(directory, walk.entries)


# --- the manifest


def _root(directory: str, body: UnpackedBody) -> _Node | None:
    """Return the root of the newest tree, None if it is empty."""
    body.take(16)  # the identifier of the store
    kind = body.varint()
    if kind != _SINGLE:
        raise UnsupportedError(f"has a manifest of kind {kind}, expected {_SINGLE}: a single file")
    body.varints(2)  # most bytes of a value in the tree, and of a node
    body.byte()  # arity of the tree of versions
    if body.varint() == ZSTD:
        body.take(4)  # its level
    files = _files(directory, "", body)
    count = body.varint()
    generations = body.varints(count)
    if not generations:
        raise FormatError("names no version, expected at least one")
    heights = body.take(count)
    ids, offsets, sizes, keys = (body.varints(count) for _ in range(4))
    if not keys[-1]:
        return None
    return files.node(ids[-1], offsets[-1], sizes[-1], heights[-1], b"")


class _DataFiles(NamedTuple):
    """The data files that a table lists; an empty version of a store names one without a path.

    Their paths are relative to the store, and begin with `base`: where the table's own node is.
    """

    directory: str
    base: str
    paths: list[bytes]
    base_sizes: list[int]

    def path(self, number: int) -> str:
        """Return the path of a file; raise FormatError for a place outside of the store."""
        if number >= len(self.paths):
            raise FormatError(f"refers to data file {number} of {len(self.paths)}")
        whole = self.base + _text(self.paths[number])
        parts = whole.split("/")
        is_strange = len(whole) > MOST_PATH or "\0" in whole or "\\" in whole or ":" in whole
        if is_strange or any(part in ("", ".", "..") for part in parts):
            raise FormatError(
                f"names the data file {brief(whole)}, expected one below the directory"
            )
        return join(self.directory, whole)

    def node(self, number: int, offset: int, size: int, height: int, prefix: bytes) -> _Node:
        """Return a node in one of the files."""
        place = InFile(self.path(number), offset, size)
        base = self.base + _text(self.paths[number][: self.base_sizes[number]])
        return _Node(place, base, height, prefix)


def _files(directory: str, base: str, body: UnpackedBody) -> _DataFiles:
    """Return the data files that a table lists."""
    count = body.varint()
    if not count:
        return _DataFiles(directory, base, [], [])
    prefixes, sizes = body.varints(count - 1), body.varints(count)
    if sum(prefixes) > _MOST_KEY_BYTES:
        raise UnsupportedError(f"lists paths of more than {_MOST_KEY_BYTES} bytes")
    base_sizes = body.varints(count)
    return _DataFiles(directory, base, body.texts(prefixes, sizes), base_sizes)


def _text(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"names the data file {brief(path)}, expected UTF-8") from error


# --- the tree


class _TreeWalk:
    """A walk through all nodes of a tree, in the order of the keys."""

    def __init__(self, directory: str, allowance: Allowance) -> None:
        self.entries: dict[bytes, bytes | InFile] = {}
        self._directory, self._allowance = directory, allowance
        self._nodes: set[InFile] = set()
        self._key_bytes = 0
        self._paths: set[str] = set()

    def follow(self, root: _Node) -> None:
        """Visit a node and all below it."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            with NamingTheFile(node.place.path):
                waiting += reversed(list(self._visit(node)))

    def _visit(self, node: _Node) -> list[_Node]:
        """Add the entries of a leaf; return the children of any other node."""
        body = self._read(node)
        height = body.byte()
        if height != node.height:
            raise FormatError(f"has a node of height {height}, expected {node.height}")
        files = _files(self._directory, node.base, body)
        count = body.varint()
        if not count:
            return []
        if len(self.entries) + count > _MOST_KEYS:
            raise UnsupportedError(f"its tree has more than {_MOST_KEYS} keys")
        prefixes, sizes = body.varints(count - 1), body.varints(count)
        if height:
            return self._children(node, files, body, prefixes, sizes)
        self._add(node, files, body, prefixes, sizes)
        return []

    def _read(self, node: _Node) -> UnpackedBody:
        path, offset, size = node.place
        if node.place in self._nodes:
            raise UnsupportedError("its tree has a node that two others lead to")
        self._nodes.add(node.place)
        with open_file(path) as file:
            if path not in self._paths:
                self._paths.add(path)
                self._allowance.store(file.size)
            self._allowance.spend(cost(1, size))  # nodes may share bytes
            data = file.read(offset, size)
        return UnpackedBody(body(data, _NODE_MAGIC, self._allowance))

    def _children(
        self,
        node: _Node,
        files: _DataFiles,
        body: UnpackedBody,
        prefixes: list[int],
        sizes: list[int],
    ) -> list[_Node]:
        count = len(sizes)
        shared = body.varints(count)
        keys = self._keys(body, prefixes, sizes)
        ids, offsets, lengths = (body.varints(count) for _ in range(3))
        return [
            files.node(number, offset, length, node.height - 1, node.prefix + key[:size])
            for key, size, number, offset, length in zip(
                keys, shared, ids, offsets, lengths, strict=True
            )
        ]

    def _add(
        self,
        node: _Node,
        files: _DataFiles,
        body: UnpackedBody,
        prefixes: list[int],
        sizes: list[int],
    ) -> None:
        count = len(sizes)
        keys = self._keys(body, prefixes, sizes, node.prefix)
        lengths, kinds = body.varints(count), body.varints(count)
        placed = [i for i, kind in enumerate(kinds) if kind == _IN_FILE]
        ids, offsets = body.varints(len(placed)), body.varints(len(placed))
        path_of = {number: files.path(number) for number in set(ids)}
        values: dict[int, bytes | InFile] = {
            i: InFile(path_of[number], offset, lengths[i])
            for i, number, offset in zip(placed, ids, offsets, strict=True)
        }
        for i, key in enumerate(keys):
            self.entries[node.prefix + key] = values[i] if i in values else body.take(lengths[i])

    def _keys(
        self, body: UnpackedBody, prefixes: list[int], sizes: list[int], prefix: bytes = b""
    ) -> list[bytes]:
        """Return the keys of a node; a small node may claim long ones, so their bytes count."""
        shared = [0, *prefixes]
        self._key_bytes += sum(shared) + sum(sizes) + len(prefix) * len(sizes)
        if self._key_bytes > _MOST_KEY_BYTES:
            raise UnsupportedError(f"its tree has keys of more than {_MOST_KEY_BYTES} bytes")
        return body.texts(prefixes, sizes)

"""The objects of an HDF5 file: groups with links and attributes, and the headers of data sets.

pyfive parses object headers, B-trees and heaps. It trusts the file, so a `FileStream` limits what
it reads, and this module checks what it returns.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.hdf5_files.hdf5_types import ElementType, element_type, parse_dataspace
from ckpt_viz.formats.storage.streams import FileStream

SIGNATURE = b"\x89HDF\r\n\x1a\n"
UNDEFINED = (1 << 64) - 1  # the address of what does not exist

_DATASPACE, _LINK_INFO, _DATATYPE, _FILL_VALUE, _LINK = 0x01, 0x02, 0x03, 0x05, 0x06
_EXTERNAL_FILES, _LAYOUT, _GROUP_INFO, _ATTRIBUTE = 0x07, 0x08, 0x0A, 0x0C
_SYMBOL_TABLE, _ATTRIBUTE_INFO = 0x11, 0x15
_OF_GROUPS = {_LINK_INFO, _LINK, _GROUP_INFO, _SYMBOL_TABLE}
_SHARED = 2  # the flag of a message that is elsewhere

# A header with many attributes has several parts; pyfive copies all of it for each part.
_HEADER_READS = 300
_HEADER_BYTES = 16 << 20
_HEAP_READS = 1500  # a heap of 300,000 names has some 400 blocks
_MAX_TREE_DEPTH = 16
_MAX_NAME_BYTES = 4096
_MAX_HEAP_OBJECT = 0xFFFF  # HDF5 keeps larger ones elsewhere
_MAX_TEXT_BYTES = 64 << 20  # of an attribute; such as the configuration of a model, some MB

Header: TypeAlias = Any
"""A `pyfive.dataobjects.DataObjects`."""


@dataclass(frozen=True, slots=True)
class StorageLayout:
    """Where the values of a data set are; `kind` is None with `words` for what nothing can read.

    `chunk` is the shape of a chunk, and `address` then that of the index of chunks. `data` has
    compact values.
    """

    kind: Literal["compact", "contiguous", "chunked"] | None
    address: int = UNDEFINED
    chunk: tuple[int, ...] = ()
    data: bytes = b""
    words: str = ""


@dataclass(frozen=True, slots=True)
class StoredFilter:
    """A filter that chunks went through: its number, and its parameters."""

    number: int
    parameters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DatasetHeader:
    """The header of a data set; a `shape` of None has not even a scalar."""

    elements: ElementType
    shape: tuple[int, ...] | None
    layout: StorageLayout
    filters: tuple[StoredFilter, ...]
    fill: bytes


@dataclass(frozen=True, slots=True)
class StoredAttribute:
    """An attribute, its texts of variable length still in a heap."""

    elements: ElementType
    shape: tuple[int, ...] | None
    data: bytes


def root_address(stream: FileStream) -> int:
    """Return the address of the root group's header; the stream begins at the superblock."""
    stream.seek(0)
    start = stream.read(12)
    version = start[8]
    if version > 3:
        raise UnsupportedError(
            f"the superblock has version {version}, expected 0 to 3; convert the file with h5repack"
        )
    sizes = start[9:11] if version >= 2 else stream.read(4)[1:3]
    if sizes != b"\x08\x08":
        raise UnsupportedError(
            f"found addresses and lengths of {sizes[0]} and {sizes[1]} bytes, expected 8 and 8; "
            "convert the file with h5repack"
        )
    # In versions 0 and 1, the symbol table entry of the root group follows the superblock.
    place = {0: 64, 1: 68}.get(version, 36)
    stream.seek(place)
    (address,) = struct.unpack("<Q", stream.read(8))
    return int(address)


def end_address(stream: FileStream) -> int:
    """Return where the file ends that the superblock at the start of the stream describes."""
    stream.seek(8)
    version = stream.read(1)[0]
    stream.seek({0: 40, 1: 44}.get(version, 28))
    (address,) = struct.unpack("<Q", stream.read(8))
    return int(address)


def header_at(stream: FileStream, address: int) -> Header:
    """Return the header of the object at an address."""
    from pyfive.dataobjects import DataObjects

    with stream.at_most(_HEADER_READS, _HEADER_BYTES):
        return DataObjects(stream, address)


def is_dataset(header: Header) -> bool:
    """Return whether an object is a data set."""
    return bool(header.find_msg_type(_LAYOUT))


def is_group(header: Header) -> bool:
    """Return whether an object is a group; one that is no data set either is a named type."""
    return any(message["type"] in _OF_GROUPS for message in header.msgs)


def dataset_header(header: Header) -> DatasetHeader:
    """Return what the header of a data set says."""
    datatype, dataspace = _message(header, _DATATYPE), _message(header, _DATASPACE)
    elements = ElementType(None, 0, words="elements of a type that is stored elsewhere")
    if datatype is not None and dataspace is not None:
        elements = element_type(datatype)
    shape = () if dataspace is None else parse_dataspace(dataspace)
    layout = _layout(_message(header, _LAYOUT) or b"")
    if header.find_msg_type(_EXTERNAL_FILES):
        layout = StorageLayout(None, words="its values are in other files, which are never opened")
    filters = tuple(
        StoredFilter(entry["filter_id"], tuple(entry["client_data"]))
        for entry in header.filter_pipeline or ()
    )
    return DatasetHeader(elements, shape, layout, filters, _fill_value(header, elements.size))


def _message(header: Header, kind: int) -> bytes | None:
    """Return the first message of a kind, None if it is only a reference to one elsewhere."""
    first, *_ = header.find_msg_type(kind)
    return None if first["flags"] & _SHARED else _content(header, first)


def _content(header: Header, message: Any) -> bytes:
    start = message["offset_to_message"]
    content: bytes = header.msg_data[start : start + message["size"]]
    return content


def _layout(message: bytes) -> StorageLayout:
    version, kind = struct.unpack_from("<BB", message)
    if version < 3:
        return StorageLayout(None, words="its layout is of HDF5 1.6 or older")
    if version > 5:
        return StorageLayout(None, words="its layout is of a newer HDF5")
    if kind == 0:
        (size,) = struct.unpack_from("<H", message, 2)
        return StorageLayout("compact", data=message[4 : 4 + size])
    if kind == 1:
        return StorageLayout("contiguous", struct.unpack_from("<Q", message, 2)[0])
    if kind == 2 and version == 3:
        rank, address = struct.unpack_from("<BQ", message, 2)
        return StorageLayout("chunked", address, struct.unpack_from(f"<{rank}I", message, 11)[:-1])
    if kind == 2:
        return StorageLayout(None, words="the index of its chunks is of a newer kind")
    if kind == 3:
        return StorageLayout(None, words="it is virtual: its values are in other data sets")
    raise FormatError(f"found a layout of class {kind}, expected one from 0 to 3")


def _fill_value(header: Header, size: int) -> bytes:
    """Return the element for places where nothing was written; empty for zeros."""
    for message in header.find_msg_type(_FILL_VALUE)[:1]:
        content = _content(header, message)
        start = 2 if content[0] == 3 else 4
        is_given = content[1] & 0x20 if content[0] == 3 else content[3]
        value = content[start + 4 : start + 4 + size]
        if is_given and content[start : start + 4] == len(value).to_bytes(4, "little"):
            return value if len(value) == size else b""
    return b""


# --- links


def links(stream: FileStream, header: Header, parts: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the names in a group, each with the address of its object.

    Soft links and external links are left out: the first have another path, the others lead out of
    the file. `parts` gets the addresses of what the group itself consists of.
    """
    for message in header.msgs:
        kind, content = message["type"], _content(header, message)
        if kind == _SYMBOL_TABLE:
            yield from _in_symbol_table(stream, content, parts)
        elif kind == _LINK:
            yield from _hard_link(content)
        elif kind == _LINK_INFO:
            yield from _in_heap(stream, content)


def _in_symbol_table(
    stream: FileStream, message: bytes, parts: list[int]
) -> Iterator[tuple[str, int]]:
    from pyfive.btree import BTreeV1Groups
    from pyfive.misc_low_level import Heap, SymbolTable

    tree_address, heap_address = struct.unpack("<QQ", message[:16])
    parts += tree_address, heap_address
    names = Heap(stream, heap_address).data
    for address in BTreeV1Groups(stream, tree_address).symbol_table_addresses():
        parts.append(address)
        for entry in SymbolTable(stream, address).entries:
            if entry["cache_type"] == 2:  # a soft link
                continue
            start = entry["link_name_offset"]
            end = names.find(b"\0", start, start + _MAX_NAME_BYTES + 1)
            if end < 0:
                raise _no_name(start)
            yield _name(names[start:end]), entry["object_header_address"]


def _no_name(start: int) -> UnsupportedError:
    return UnsupportedError(
        f"the name at byte {start} of a group's names has no end, "
        f"expected at most {_MAX_NAME_BYTES} bytes"
    )


def _hard_link(message: bytes) -> Iterator[tuple[str, int]]:
    """Yield name and address of a link, unless it is of another kind."""
    version, flags = message[0], message[1]
    if version != 1:
        raise FormatError(f"found a link of version {version}, expected 1")
    place = 2
    kind = message[place] if flags & 8 else 0
    place += (1 if flags & 8 else 0) + (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
    width = 1 << (flags & 3)
    size = int.from_bytes(message[place : place + width], "little")
    place += width
    if size > _MAX_NAME_BYTES:
        raise UnsupportedError(f"found a name of {size} bytes, expected at most {_MAX_NAME_BYTES}")
    if kind == 0:
        (address,) = struct.unpack_from("<Q", message, place + size)
        yield _name(message[place : place + size]), address


def _name(name: bytes) -> str:
    if not name or b"/" in name:
        raise FormatError(f"found the name {name[:50]!r} of a link, expected one without '/'")
    return name.decode("utf-8", "backslashreplace")


def _in_heap(stream: FileStream, message: bytes) -> Iterator[tuple[str, int]]:
    from pyfive.btree import BTreeV2GroupNames

    flags = message[1]
    heap, tree = struct.unpack_from("<QQ", message, 10 if flags & 1 else 2)
    if UNDEFINED not in (heap, tree):
        for content in _heap_objects(stream, heap, tree, BTreeV2GroupNames):
            yield from _hard_link(content)


def _heap_objects(stream: FileStream, heap: int, tree: int, kind: Any) -> Iterator[bytes]:
    """Yield what a B-tree of this kind lists in a fractal heap."""
    from pyfive.misc_low_level import FractalHeap

    stream.seek(tree + 12)
    (depth,) = struct.unpack("<H", stream.read(2))
    if depth > _MAX_TREE_DEPTH:
        raise FormatError(f"found a tree of depth {depth}, expected at most {_MAX_TREE_DEPTH}")
    with stream.at_most(_HEAP_READS, stream.size):
        objects = FractalHeap(stream, heap)
    if objects.header["max_managed_object_size"] > _MAX_HEAP_OBJECT:
        raise UnsupportedError(
            f"found a heap of objects up to {objects.header['max_managed_object_size']} bytes, "
            f"expected at most {_MAX_HEAP_OBJECT}"
        )
    for record in kind(stream, tree).iter_records():
        yield objects.get_data(record["heapid"]) or b""


# --- attributes


def attributes(stream: FileStream, header: Header, prefix: str) -> dict[str, StoredAttribute]:
    """Return the attributes whose names begin so, without those of shared types."""
    stored: dict[str, StoredAttribute] = {}
    size = 0
    for name, attribute in map(_attribute, _attribute_messages(stream, header)):
        if attribute is not None and name.startswith(prefix):
            stored[name] = attribute
            size += len(attribute.data)
        if size > _MAX_TEXT_BYTES:
            raise UnsupportedError(f"found {size} bytes, expected at most {_MAX_TEXT_BYTES}")
    return stored


def _attribute_messages(stream: FileStream, header: Header) -> Iterator[bytes]:
    from pyfive.btree import BTreeV2AttrNames

    for message in header.find_msg_type(_ATTRIBUTE):
        yield _content(header, message)
    for message in header.find_msg_type(_ATTRIBUTE_INFO):
        content = _content(header, message)
        heap, tree = struct.unpack_from("<QQ", content, 4 if content[1] & 1 else 2)
        if UNDEFINED not in (heap, tree):
            yield from _heap_objects(stream, heap, tree, BTreeV2AttrNames)


def _attribute(message: bytes) -> tuple[str, StoredAttribute | None]:
    version, flags, *sizes = struct.unpack_from("<BBHHH", message)
    if version not in (1, 2, 3):
        raise FormatError(f"found an attribute of version {version}, expected 1 to 3")
    place = 9 if version == 3 else 8
    parts = []
    for size in sizes:
        parts.append(message[place : place + size])
        place += size if version > 1 else -(-size // 8) * 8
    name = parts[0].partition(b"\0")[0].decode("utf-8", "backslashreplace")
    if version > 1 and flags & 3:  # type or shape are stored elsewhere
        return name, None
    data = message[place:]
    return name, StoredAttribute(element_type(parts[1]), parse_dataspace(parts[2]), data)


# --- texts of variable length


class GlobalHeaps:
    """The texts of variable length in a file, read when a reference asks for them."""

    def __init__(self, stream: FileStream) -> None:
        self._stream = stream
        self._collections: dict[int, dict[int, bytes]] = {}
        self._bytes_left = max(stream.size, _MAX_TEXT_BYTES)

    def text(self, reference: bytes) -> bytes:
        """Return the text of a reference of 16 bytes."""
        size, address, number = struct.unpack("<IQI", reference)
        if size == 0 or address in (0, UNDEFINED):
            return b""
        if address not in self._collections:
            self._collections[address] = dict(self._objects(address))
        text = self._collections[address][number][:size].partition(b"\0")[0]
        self._bytes_left -= len(text)
        if self._bytes_left < 0:  # many references to the same text
            raise FormatError("found texts of more bytes than the file has")
        return text

    def _objects(self, address: int) -> Iterator[tuple[int, bytes]]:
        self._stream.seek(address)
        signature, size = struct.unpack("<8sQ", self._stream.read(16))
        if signature != b"GCOL\1\0\0\0":
            raise FormatError(f"found {signature.hex()} at {address}, expected a heap of texts")
        if size > _MAX_TEXT_BYTES:
            raise UnsupportedError(
                f"found texts of {size} bytes at {address}, expected {_MAX_TEXT_BYTES}"
            )
        data = self._stream.read(size - 16)
        place = 0
        while place + 16 <= len(data):
            number, length = struct.unpack_from("<H6xQ", data, place)
            if number == 0:  # free space
                return
            yield number, data[place + 16 : place + 16 + length]
            place += 16 + -(-length // 8) * 8

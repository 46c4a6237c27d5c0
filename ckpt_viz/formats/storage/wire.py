"""Finds the fields of a serialised message in a file, without reading their contents.

A MetaGraphDef holds the whole program as a graph, of up to gigabytes, and a few kilobytes that
ckpt_viz needs. From protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.sstable import read_varint

_MAX_FIELDS = 100_000
_WINDOW_BYTES = 1 << 16
_FIELD_HEADER_BYTES = 20  # two varints


def fields(file: File, start: int, end: int, message: str) -> Iterator[tuple[int, int, int]]:
    """Yield number, offset and size in bytes of each field of a message.

    The message begins at `start` and ends at `end` in the file; `message` is its name for errors.
    Reads only the headers of the fields. Raises FormatError for bytes that are not a message, and
    UnsupportedError for more than 100,000 fields.
    """
    window = _Window(file)
    position = start
    for _ in range(_MAX_FIELDS):
        if position == end:
            return
        place = f"{file.path}: field at offset {position}"
        header = window.read(position, min(_FIELD_HEADER_BYTES, end - position))
        tag, length = read_varint(header, 0, place)
        number, wire_type = tag >> 3, tag & 7
        size = {1: 8, 5: 4}.get(wire_type, 0)
        if number == 0 or wire_type not in (0, 1, 2, 5):
            raise FormatError(f"{place}: its tag is {tag}, expected that of a {message}'s field")
        if wire_type == 0:
            _, length = read_varint(header, length, place)
        elif wire_type == 2:
            size, length = read_varint(header, length, place)
        offset, position = position + length, position + length + size
        if position > end:
            raise FormatError(
                f"{place}: ends at byte {position}, expected at most {end}, where the {message} "
                "ends; the copy is probably partial"
            )
        yield number, offset, size
    raise UnsupportedError(
        f"{file.path}: has more than {_MAX_FIELDS} fields, expected some 50 in a {message}"
    )


class _Window:
    """Reads a few bytes at a time, from one larger read of the file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._start = 0
        self._data = b""

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes, fewer at the end of the file."""
        size = min(size, self._file.size - offset)
        if not self._start <= offset <= offset + size <= self._start + len(self._data):
            self._start = offset
            wanted = min(_WINDOW_BYTES, self._file.size - offset)
            self._data = self._file.read(offset, wanted)
        return self._data[offset - self._start : offset - self._start + size]


def encode_varint(value: int) -> bytes:
    """Return a number from 0 on as a varint.

    >>> encode_varint(300).hex()
    'ac02'
    """
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)

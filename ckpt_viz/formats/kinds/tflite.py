"""What a TensorFlow Lite model says of itself: its subgraphs, tensors and converter.

The file is a FlatBuffer (tensorflow/compiler/mlir/lite/schema/schema.fbs): tables with relative
offsets. Only the places of the few fields are read, whatever the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from ckpt_viz.errors import CkptVizError, FormatError
from ckpt_viz.formats.storage.files import BytesFile, File

_MOST_SUBGRAPHS = 100
_MOST_TEXT = 1000
_MOST_METADATA = 1 << 16
# Fields by number: of Model, SubGraph, Metadata, Buffer, and those of the converter's metadata.
_SUBGRAPHS, _BUFFERS, _METADATA = 2, 4, 6
_TENSORS, _NAME = 0, 4
_METADATA_NAME, _METADATA_BUFFER = 0, 1
_DATA = 0
_ENVIRONMENT, _VERSION = 0, 0
_OF_CONVERTER = "CONVERSION_METADATA"


@dataclass(frozen=True, slots=True)
class TFLiteModel:
    """The names of a model's subgraphs, the number of tensors in all, and TensorFlow's version.

    The version is "" if the file does not tell which TensorFlow converted it.
    """

    subgraphs: tuple[str, ...]
    tensors: int
    version: str


def tflite_model(file: File) -> TFLiteModel:
    """Return what a model says of itself; raises FormatError for damaged bytes."""
    model = _FlatTable(file, _offset(file, 0))
    subgraphs = list(model.tables(_SUBGRAPHS))
    version = ""
    with suppress(CkptVizError):  # the rest is sound without it
        version = _version(model)
    return TFLiteModel(
        tuple(subgraph.text(_NAME) for subgraph in subgraphs),
        sum(subgraph.length(_TENSORS) for subgraph in subgraphs),
        version,
    )


def _version(model: _FlatTable) -> str:
    for entry in model.tables(_METADATA):
        if entry.text(_METADATA_NAME) == _OF_CONVERTER:
            number = entry.number(_METADATA_BUFFER)
            data = next((table.content(_DATA) for table in model.tables(_BUFFERS, number)), b"")
            inner = BytesFile(model.file.path, data)
            environment = _FlatTable(inner, _offset(inner, 0)).table(_ENVIRONMENT)
            return "" if environment is None else environment.text(_VERSION)
    return ""


class _FlatTable:
    """A table in a FlatBuffer, at an offset in a file."""

    def __init__(self, file: File, offset: int) -> None:
        self.file, self._offset = file, offset
        self._fields = offset - struct.unpack("<i", file.read(offset, 4))[0]

    def _place(self, field: int) -> int | None:
        (size,) = struct.unpack("<H", self.file.read(self._fields, 2))
        at = 4 + 2 * field
        if at + 2 > size:
            return None
        (relative,) = struct.unpack("<H", self.file.read(self._fields + at, 2))
        return self._offset + relative if relative else None

    def _pointed(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else _offset(self.file, place)

    def number(self, field: int) -> int:
        place = self._place(field)
        return 0 if place is None else int(struct.unpack("<I", self.file.read(place, 4))[0])

    def length(self, field: int) -> int:
        """Return the number of items in a vector, of letters in a text."""
        place = self._pointed(field)
        return 0 if place is None else int(struct.unpack("<I", self.file.read(place, 4))[0])

    def content(self, field: int, most: int = _MOST_METADATA) -> bytes:
        place = self._pointed(field)
        return b"" if place is None else self.file.read(place + 4, min(self.length(field), most))

    def text(self, field: int) -> str:
        return self.content(field, _MOST_TEXT).decode("utf-8", "replace")

    def table(self, field: int) -> _FlatTable | None:
        place = self._pointed(field)
        return None if place is None else _FlatTable(self.file, place)

    def tables(self, field: int, start: int = 0) -> Iterator[_FlatTable]:
        """Yield the tables in a vector from an item on, at most a hundred."""
        place = self._pointed(field)
        for number in range(start, min(self.length(field), start + _MOST_SUBGRAPHS)):
            assert place is not None
            yield _FlatTable(self.file, _offset(self.file, place + 4 + 4 * number))


def _offset(file: File, place: int) -> int:
    """Return the place that a relative offset leads to."""
    (relative,) = struct.unpack("<I", file.read(place, 4))
    if not relative:
        raise FormatError(f"{file.path}: the offset at byte {place} is 0, expected a table")
    return int(place + relative)

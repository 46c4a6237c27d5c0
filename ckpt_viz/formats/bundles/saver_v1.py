"""Reads checkpoints of the V1 format, which TensorFlow wrote by default before version 0.12.

The format has one table in a file without suffix, or a table per shard, `name-00000-of-00002` and
its siblings. Each table begins with a table of contents. Every other row is a slice of a tensor,
usually the whole tensor. There is never an object graph. From TensorFlow's
tensorflow/core/util/tensor_slice_reader.cc and saved_tensor_slice.proto.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.errors import (
    CheckpointNotFoundError,
    FormatError,
    NoSuchTensorError,
    UnsupportedError,
)
from ckpt_viz.formats.arrays.dtypes import Shape, dtype_name, parse_shape, tensor_bytes
from ckpt_viz.formats.arrays.protos import SavedTensorSlices, parse
from ckpt_viz.formats.arrays.slices import (
    SliceExtent,
    check_key_bytes,
    slice_key,
    slice_of,
    why_incomplete,
)
from ckpt_viz.formats.storage.files import (
    File,
    file_stamp,
    is_directory,
    is_file,
    is_remote,
    join,
    list_directory,
    open_file,
    split,
)
from ckpt_viz.formats.storage.sstable import StoredBlock, Table, brief
from ckpt_viz.ground.text import shape_words

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_MOST_KEPT = 10_000  # rows; TensorFlow ends a block after 256 KiB, with any last row
_MOST_KEPT_BYTES = 1 << 10  # of a row
_CHECKPOINT_VERSION = 1  # TF_CHECKPOINT_VERSION: the version that this reader understands

# The field of a TensorProto that holds the values, and the dtype of its numbers.
_IN_INT_VAL = ("int_val", "int32")
_FIELDS: Mapping[str, tuple[str, str]] = {
    "bfloat16": ("half_val", "int32"),
    "bool": ("bool_val", "bool"),
    "complex128": ("dcomplex_val", "float64"),
    "complex64": ("scomplex_val", "float32"),
    "float16": ("half_val", "int32"),
    "float32": ("float_val", "float32"),
    "float64": ("double_val", "float64"),
    "int16": _IN_INT_VAL,
    "int32": _IN_INT_VAL,
    "int64": ("int64_val", "int64"),
    "int8": _IN_INT_VAL,
    "qint16": _IN_INT_VAL,
    "qint32": _IN_INT_VAL,
    "qint8": _IN_INT_VAL,
    "quint16": _IN_INT_VAL,
    "quint8": _IN_INT_VAL,
    "uint16": _IN_INT_VAL,
    "uint32": ("uint32_val", "uint32"),
    "uint64": ("uint64_val", "uint64"),
    "uint8": _IN_INT_VAL,
}


class SaverEntry(NamedTuple):
    """One stored tensor, from the tables of contents.

    `dtype` is TensorFlow's name, or "unknown dtype 99". `size` is the size of the values in bytes.
    It is 0 if only the values show it, as for strings. Without `slices`, the tensor is in one
    piece.
    """

    dtype: str
    shape: Shape
    size: int
    slices: tuple[SliceExtent, ...] = ()


class _Record(NamedTuple):
    """The position of one slice of a tensor: a row of a table."""

    path: str
    key: bytes
    slice: SliceExtent


@dataclass(frozen=True, slots=True)
class SaverV1:
    """A V1 checkpoint: `entries` by name, in the order of the names.

    `missing` holds the paths of shards that should exist and do not. Their tensors are unknown.
    """

    path: str
    entries: Mapping[str, SaverEntry] = field(repr=False)
    missing: tuple[str, ...]
    _records: Mapping[str, tuple[_Record, ...]] = field(repr=False)
    _kept: _KeptRows = field(default_factory=lambda: _KeptRows(), repr=False, compare=False)

    def entry(self, key: str) -> SaverEntry:
        """Return the entry of a tensor; raise NoSuchTensorError if there is none."""
        if key not in self.entries:
            raise NoSuchTensorError(f"{self.path}: there is no tensor {brief(key)}")
        return self.entries[key]

    def read(self, key: str) -> Array:
        """Return a tensor's values; read and check only the blocks that hold it.

        The array is read-only. Strings are `bytes`; see `tensors.numpy_dtype`. Raises
        NoSuchTensorError for a key that is not in `entries`.
        """
        from ckpt_viz.formats.arrays import tensors

        entry, records = self.entry(key), self._records[key]
        place = f"{self.path}: {brief(key)}"
        reason = self.why_unreadable(key)
        if reason is not None:
            raise FormatError(f"{place}: {reason}")
        values = [_values_in(self._kept.row(r.path, r.key), r, entry.dtype) for r in records]
        if not entry.slices:
            return values[0]
        return tensors.put_together(entry.shape or (), entry.slices, values, place)

    def blocks(self, keys: Iterable[str]) -> Iterator[tuple[str, str, StoredBlock | str]]:
        """Yield keys with the file and the block of each of their slices; read only checksums.

        In place of a block, it yields why there is none. The keys are those of `entries`. Raises
        GoneError, and FormatError for a file that is not a table any more.
        """
        records = sorted((record, key) for key in keys for record in self._records[key])
        for path, of_path in groupby(records, lambda pair: pair[0].path):
            with open_file(path) as file:
                table = Table(file)
                for record, key in of_path:
                    try:
                        block = table.block_of(record.key)
                    except FormatError as error:
                        yield key, path, str(error)
                        continue
                    yield key, path, block or str(_missing_row(record))

    def fingerprint(self, key: str) -> None:
        """Return None: this format has no checksum for a single tensor."""

    def why_unreadable(self, key: str) -> str | None:
        """Return why a tensor cannot be complete, None if it may be.

        Reads nothing. Raises NoSuchTensorError for a key that is not in `entries`.
        """
        entry, records = self.entry(key), self._records[key]
        if len(set(records)) < len(records):
            return "the same slice is listed twice"
        reason = why_incomplete(entry.shape, [record.slice for record in records])
        if reason is not None and self.missing:
            return f"{reason}; {self.missing[0]}: no such file; the copy is probably partial"
        return reason


def holds_contents(file: File) -> bool:
    """Return whether a file begins with a table of contents; read only its first block.

    Raises CkptVizError for a file that is not a table, or that cannot be read.
    """
    _meta_of(Table(file).get(b""), file.path)
    return True


def open_saver_v1(path: str) -> SaverV1:
    """Return the V1 checkpoint in a file, or in shards.

    For shards, the path is the one that `Saver.save` returns, `ckpt-1-?????-of-00002`, or `ckpt-1`.
    Reads only the tables of contents. Raises CheckpointNotFoundError, FormatError or
    UnsupportedError.
    """
    present, missing = _shards(path)
    dtypes_and_shapes: dict[str, tuple[str, Shape]] = {}
    records: dict[str, list[_Record]] = {}
    for shard in present:
        for name, dtype, shape, record in _contents(shard):
            known = dtypes_and_shapes.setdefault(name, (dtype, shape))
            if known != (dtype, shape):
                raise FormatError(
                    f"{shard}: {brief(name)}: is {dtype} {shape_words(shape)} here, "
                    f"but an earlier shard says {known[0]} {shape_words(known[1])}"
                )
            records.setdefault(name, []).append(record)
    names = sorted(records)
    return SaverV1(
        path=path,
        entries=MappingProxyType(
            {name: _entry(*dtypes_and_shapes[name], records[name]) for name in names}
        ),
        missing=missing,
        _records=MappingProxyType({name: tuple(records[name]) for name in names}),
    )


def _entry(dtype: str, shape: Shape, records: list[_Record]) -> SaverEntry:
    slices = tuple([record.slice for record in records])
    if len(slices) == 1 and slices[0].shape == shape:
        slices = ()
    return SaverEntry(dtype, shape, tensor_bytes(dtype, shape) or 0, slices)


def _contents(path: str) -> Iterator[tuple[str, str, Shape, _Record]]:
    """Yield name, dtype and shape of each slice's tensor, and the slice's position."""
    key_bytes = 0
    with open_file(path) as file:  # the value of the first key, which is empty
        contents = _meta_of(Table(file).get(b""), path)
    for tensor in contents.tensor:
        name = tensor.name.decode("utf-8", "backslashreplace")
        key_bytes += len(tensor.name) * len(tensor.slice)
        try:
            check_key_bytes(key_bytes)
            shape = parse_shape(tensor.shape)
            for proto in tensor.slice:
                record = _Record(path, slice_key(tensor.name, proto), slice_of(proto, shape))
                yield name, dtype_name(tensor.type), shape, record
        except FormatError as error:
            raise FormatError(f"{path}: {brief(name)}: {error}") from error


def _meta_of(value: bytes | None, path: str) -> Any:
    """Return the SavedTensorSliceMeta in the first row of a table."""
    if value is None:
        raise FormatError(f"{path}: has no key b'', expected the table of contents there")
    place = f"{path}: table of contents"
    slices = parse(SavedTensorSlices, value, place)
    if not slices.HasField("meta"):
        raise FormatError(
            f"{place}: found none; this is the index of a checkpoint, or another file"
        )
    needed = slices.meta.versions.min_consumer
    if needed > _CHECKPOINT_VERSION:
        raise UnsupportedError(
            f"{place}: needs a reader of version {needed}, "
            f"ckpt_viz has version {_CHECKPOINT_VERSION}"
        )
    return slices.meta


class _KeptRows:
    """The small rows around the last one: to read all of them unpacks each block once."""

    def __init__(self) -> None:
        self._last: tuple[object, Mapping[bytes, bytes]] = None, {}

    def row(self, path: str, key: bytes) -> bytes | None:
        """Return the value of a key in a table."""
        file_now = None if is_remote(path) else (path, file_stamp(path))
        kept_of, kept = self._last
        if file_now is not None and kept_of == file_now and key in kept:
            return kept[key]
        with open_file(path) as file:
            rows = Table(file).rows_beside(key)
            around: deque[tuple[bytes, bytes]] = deque(maxlen=_MOST_KEPT)
            value = None
            for row in rows:
                around.append(row)
                if row[0] == key:
                    value = row[1]
                    break
            with suppress(FormatError):  # of a row that is not wanted now
                around = deque([*around, *islice(rows, _MOST_KEPT)])
            self._last = file_now, {k: v for k, v in around if len(v) <= _MOST_KEPT_BYTES}
        return value


def _values_in(value: bytes | None, record: _Record, dtype: str) -> Array:
    place = f"{record.path}: row {brief(record.key)}"
    if value is None:
        raise _missing_row(record)
    return _values(
        parse(SavedTensorSlices, value, place).data.data, dtype, record.slice.shape, place
    )


def _missing_row(record: _Record) -> FormatError:
    place = f"{record.path}: row {brief(record.key)}"
    return FormatError(f"{place}: missing, though the table of contents lists it")


def _values(proto: Any, dtype: str, shape: tuple[int, ...], place: str) -> Array:
    """Return the values in a TensorProto."""
    import numpy as np

    from ckpt_viz.formats.arrays import tensors

    if dtype == "string":
        _check_count(len(proto.string_val), math.prod(shape), place)
        return tensors.of_strings(proto.string_val, shape, place)
    if proto.tensor_content:
        return tensors.decode(proto.tensor_content, dtype, shape, "little", place)
    target = tensors.numpy_dtype(dtype)
    if dtype not in _FIELDS or target is None:
        raise UnsupportedError(
            f"{place}: cannot read {dtype}, which V1 checkpoints have no field for"
        )
    name, stored = _FIELDS[dtype]
    numbers = getattr(proto, name)
    of_one = 2 if target.kind == "c" else 1
    _check_count(len(numbers), of_one * math.prod(shape), place)
    flat = np.fromiter(numbers, stored, len(numbers))
    if name == "half_val":
        bits = flat.astype(np.uint16)  # the field pads them with zeros
        flat = tensors.of_bytes(bits.view(np.uint8), dtype)
    elif of_one == 2:
        flat = flat.view(target)
    return tensors.frozen(tensors.in_shape(flat.astype(target, copy=False), shape, place))


def _check_count(count: int, expected: int, place: str) -> None:
    if count != expected:
        raise FormatError(f"{place}: has {count} values, expected {expected}")


def _shards(path: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the paths of a checkpoint's files, and of the missing ones."""
    if is_file(path):
        return [path], ()
    directory, name = split(path)
    names = set(list_directory(directory)) if is_directory(directory or ".") else set()
    prefix, count = _prefix_and_count(path, name, names)
    present: list[str] = []
    missing: list[str] = []
    for number in range(count):
        shard = f"{prefix}-{number:05d}-of-{count:05d}"
        (present if shard in names else missing).append(join(directory, shard))
    if not present:
        raise _not_found(path)
    return present, tuple(missing)


def _prefix_and_count(path: str, name: str, names: set[str]) -> tuple[str, int]:
    """Return the beginning of the shards' names, and the number of shards that should exist."""
    pattern = re.fullmatch(r"(.*)-\?{5}-of-([0-9]{5})", name, re.DOTALL)
    if pattern is not None:
        return pattern[1], int(pattern[2])
    shard = re.compile(re.escape(name) + r"-[0-9]{5}-of-([0-9]{5})")
    counts = {int(match[1]) for match in map(shard.fullmatch, names) if match is not None}
    if len(counts) > 1:
        choices = " or ".join(f"{path}-?????-of-{count:05d}" for count in sorted(counts)[:3])
        raise FormatError(
            f"{path}: shards of {len(counts)} checkpoints share this name; choose {choices}"
        )
    if not counts:
        raise _not_found(path)
    return name, counts.pop()


def _not_found(path: str) -> CheckpointNotFoundError:
    return CheckpointNotFoundError(
        f"{path}: no such checkpoint; expected a file, or shards {path}-00000-of-00001 and so on"
    )

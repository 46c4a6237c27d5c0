"""Reads a tensor bundle, the files of a checkpoint: an index and data shards.

`<prefix>.index` is a table. It maps keys to the position of each tensor's bytes in
`<prefix>.data-00000-of-00001` and its siblings. Opening reads only the index. From TensorFlow's
tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ckpt_viz.errors import FormatError, NoSuchTensorError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import ByteOrder, tensor_bytes
from ckpt_viz.formats.arrays.slices import why_incomplete
from ckpt_viz.formats.bundles.bundle_index import read_bundle_index
from ckpt_viz.formats.bundles.entries import (
    Absence,
    Entry,
    StoredRange,
    check_crc32c,
    check_size,
    checked_parts,
    described,
    matching_parts,
    open_shard,
    read_range,
    sizes_or_why_not,
    span,
    why_short_at,
)
from ckpt_viz.formats.bundles.stored_bytes import checksum_for, decode_strings
from ckpt_viz.formats.kinds.refusals import named_if_other
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.files import is_remote
from ckpt_viz.formats.storage.sstable import brief

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

MAX_STRING_BYTES = 1 << 28  # 256 MiB; an object takes some 200 bytes in the object graph

_MAX_MATCHES = 256
_OF_A_VARIABLE = "/.ATTRIBUTES/VARIABLE_VALUE"
_LACKS_A_SLICE = "the index lacks the entry of a slice"
PIECE_BYTES = 1 << 24  # 16 MiB


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checkpoint's index: `entries` by key, in the order of the keys.

    `entries` holds neither the header nor the hidden entries of slices. Those are in `parts`, by
    the key of their tensor, in the order of its slices; None for a slice that the index lacks.
    `byte_order` is that of the numbers in the shards. `index` is the path of the index.
    """

    prefix: str
    index: str
    num_shards: int
    byte_order: ByteOrder
    entries: Mapping[str, Entry] = field(repr=False)
    parts: Mapping[str, tuple[Entry | None, ...]] = field(default_factory=dict, repr=False)
    _keys: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _shards: dict[int, int | Absence] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _short: dict[int, Absence] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", tuple(self.entries))

    def entry(self, key: str) -> Entry:
        """Return the entry of a tensor; raise NoSuchTensorError if the index has none."""
        if key not in self.entries:
            raise NoSuchTensorError(
                f"{self.index}: lacks the entry {brief(key)}; if others name this tensor, the "
                "index is damaged: copy the checkpoint again"
            )
        return self.entries[key]

    def matching(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the entries for an attribute's `checkpoint_key`.

        Return this key, or else the keys that begin with it: a table saves `.../table-keys` and
        `.../table-values`, an iterator `.../ITERATOR_STATE`. A variable has exactly its key. None
        if there are more than 256, which no object saves: a forged graph could request all entries
        once per attribute.
        """
        if checkpoint_key in self.entries:
            return (checkpoint_key,)
        if checkpoint_key.endswith(_OF_A_VARIABLE):
            return ()
        start = bisect_left(self._keys, checkpoint_key)
        end = bisect_left(
            self._keys, True, lo=start, key=lambda key: not key.startswith(checkpoint_key)
        )
        if not checkpoint_key or end - start > _MAX_MATCHES:
            return ()
        return self._keys[start:end]

    def read(self, key: str) -> Array:
        """Return a tensor's values; read only its bytes and check their checksum.

        The array is read-only. Strings are `bytes`; see `tensors.numpy_dtype`. Raises
        NoSuchTensorError for a key that is not in `entries`; DtypeError, with the bytes, if NumPy
        has no such dtype; UnsupportedError for values that only TensorFlow can decode.
        """
        entry = self.entry(key)
        place = f"{self.prefix}: {brief(key)}"
        if entry.shape is None or entry.dtype in ("variant", "resource"):
            raise UnsupportedError(f"{place}: cannot read {described(entry)}")
        if entry.slices:
            return self._read_slices(key, entry, entry.shape, place)
        return self._read_whole(key, entry, entry.shape)

    def pieces(self, key: str) -> Iterator[bytes]:
        """Yield the stored bytes of a tensor that is not in slices, at most 16 MiB at a time.

        After the last it checks the checksum, if it knows what that covers.
        Raises NoSuchTensorError for a key that is not in `entries`.
        """
        entry = self.entry(key)
        if entry.shape is None or entry.slices:
            raise UnsupportedError(f"{self.prefix}: {brief(key)}: cannot copy {described(entry)}")
        check_size(f"{self.prefix}.index: {brief(key)}", entry, entry.shape)
        checksum = checksum_for(entry.dtype, entry.shape, self.byte_order)
        place = self.place(key, entry)
        with open_shard(self.shard_path(entry), entry, key) as file:
            for start in range(0, entry.size, PIECE_BYTES):
                size = min(PIECE_BYTES, entry.size - start)
                piece = file.read(entry.offset + start, size)
                if checksum is not None:
                    checksum.extend(piece, place)
                yield piece
        if checksum is not None:
            checksum.finish(place)
            check_crc32c(checksum.value, entry, place)

    def beginning(self, key: str, nbytes: int) -> bytes:
        """Return at most this many first stored bytes of a tensor of any dtype; unchecked.

        Raises NoSuchTensorError for a key that is not in `entries`.
        """
        entry = self.entry(key)
        return self._stored_bytes(key, entry._replace(size=min(entry.size, nbytes)))

    def first_elements(self, key: str, count: int) -> Array | None:
        """Return the first elements of a tensor, flat; read only their bytes; unchecked.

        None if they are not contiguous: strings, slices, dtypes that NumPy lacks, and keys that are
        not in `entries`.
        """
        from ckpt_viz.formats.arrays import tensors

        entry = self.entries.get(key)
        if entry is None or entry.shape is None or entry.slices or entry.dtype == "string":
            return None
        if tensors.numpy_dtype(entry.dtype) is None or self.why_absent(entry) is not None:
            return None
        number = min(count, math.prod(entry.shape))
        size = tensor_bytes(entry.dtype, (number,)) or 0
        if size > entry.size:
            return None
        data = self.beginning(key, size)
        return tensors.decode(data, entry.dtype, (number,), self.byte_order, self.place(key, entry))

    def read_string_scalar(self, key: str) -> bytes:
        """Return the single string that a tensor holds, for example the object graph.

        Raises NoSuchTensorError for a key that is not in `entries`.
        """
        entry = self.entry(key)
        if entry.dtype != "string" or entry.shape != ():
            raise FormatError(
                f"{self.index}: {brief(key)}: is {described(entry)}, expected a string scalar"
            )
        if entry.size > MAX_STRING_BYTES:
            raise UnsupportedError(
                f"{self.index}: {brief(key)}: has {entry.size} bytes, expected at most "
                f"{MAX_STRING_BYTES} in an object graph"
            )
        if entry.slices:
            return bytes(self.read(key).item())
        (string,) = self._read_strings(key, entry, ())
        return string

    def why_unreadable(self, key: str) -> str | None:
        """Return why some of a tensor's bytes are missing, None if all exist.

        Compares the sizes of files with the index and reads nothing. Checks each shard once in the
        lifetime of the bundle. Raises NoSuchTensorError for a key not in `entries`.
        """
        entry = self.entry(key)
        if not entry.slices:
            return self.why_absent(entry)
        reasons = (
            _LACKS_A_SLICE if part is None else self.why_absent(part) for part in self.parts[key]
        )
        incomplete = why_incomplete(entry.shape, entry.slices)
        return incomplete or next((reason for reason in reasons if reason is not None), None)

    def checked_ranges(self, key: str) -> tuple[StoredRange, ...]:
        """Return the ranges of a tensor's bytes: one, or one for each slice; read nothing of them.

        Raises FormatError if the index contradicts itself about them: a size that the dtype and
        shape exclude, or slices that are missing. Slices may share bytes. Raises NoSuchTensorError
        for a key that is not in `entries`.
        """
        entry, place = self.entry(key), f"{self.index}: {brief(key)}"
        parts = [entry]
        if entry.slices:
            reason = why_incomplete(entry.shape, entry.slices)
            if reason is not None:
                raise FormatError(f"{place}: {reason}")
            if None in self.parts[key]:
                raise FormatError(f"{place}: {_LACKS_A_SLICE}")
            parts = matching_parts(entry, self.parts[key], place)
        for part in parts:
            if part.shape is not None:
                check_size(place, part, part.shape)
        return tuple(
            StoredRange(
                *(self.shard_path(part), part.offset, part.size, part.crc32c, brief(key)),
                *(part.dtype, part.shape, self.byte_order),
                *(self.shard_bytes(part), self.why_absent(part)),
            )
            for part in parts
        )

    def fingerprint(self, key: str) -> tuple[object, object] | None:
        """Return a tensor's layout, and the checksums of its bytes; read nothing.

        Tensors of the same layout with different checksums have different values. None if the index
        lacks a slice. Raises NoSuchTensorError for a key not in `entries`.
        """
        entry = self.entry(key)
        layout = (entry.dtype, entry.shape, self.byte_order)
        if not entry.slices:
            return layout, (entry.size, entry.crc32c)
        parts = self.parts[key]
        sums = [(part.size, part.crc32c) for part in parts if part is not None]
        return ((*layout, entry.slices), tuple(sums)) if len(sums) == len(parts) else None

    def why_absent(self, entry: Entry) -> str | None:
        """Return why the bytes of a tensor or slice without slices are missing, None if not."""
        size = self._shards.get(entry.shard)
        if isinstance(size, int) and entry.offset + entry.size <= size:
            return None  # nearly always: this is asked of each tensor
        absence = self.absence(entry)
        return None if absence is None else absence.why

    def absence(self, entry: Entry) -> Absence | None:
        """Return the same with what is wrong with the shard."""
        if entry.shard not in self._shards:
            self._look_at_shards(entry)
        size = self._shards[entry.shard]
        if isinstance(size, Absence):
            return size
        if entry.offset + entry.size <= size:
            return None
        path = self.shard_path(entry)
        if entry.shard not in self._short:
            self._short[entry.shard] = why_short_at(path, size)
        lack, why = self._short[entry.shard]
        return Absence(lack, f"{path}: has {size} bytes, expected {span(entry)}; {why}")

    def _look_at_shards(self, first: Entry) -> None:
        """Ask for the size of a shard; of all shards if they are remote, at the same time."""
        one_each = {first.shard: first}
        if self.num_shards > 1 and is_remote(self.prefix):
            parts = (
                part
                for parts_of_tensor in self.parts.values()
                for part in parts_of_tensor
                if part is not None
            )
            whole = (entry for entry in self.entries.values() if not entry.slices)
            one_each |= {entry.shard: entry for entry in (*whole, *parts)}
        paths = [self.shard_path(entry) for entry in one_each.values()]
        self._shards.update(zip(one_each, sizes_or_why_not(paths), strict=True))

    def _read_whole(self, key: str, entry: Entry, shape: tuple[int, ...]) -> Array:
        from ckpt_viz.formats.arrays import tensors

        place = self.place(key, entry)
        if entry.dtype == "string":
            return tensors.of_strings(self._read_strings(key, entry, shape), shape, place)
        check_size(f"{self.index}: {brief(key)}", entry, shape)
        data = self._checked_bytes(key, entry)
        return tensors.decode(data, entry.dtype, shape, self.byte_order, place)

    def _read_strings(self, key: str, entry: Entry, shape: tuple[int, ...]) -> list[bytes]:
        check_size(f"{self.index}: {brief(key)}", entry, shape)
        data = self._stored_bytes(key, entry)
        place = self.place(key, entry)
        strings, crc = decode_strings(data, math.prod(shape), self.byte_order, place)
        check_crc32c(crc, entry, place)
        return strings

    def _read_slices(self, key: str, entry: Entry, shape: tuple[int, ...], place: str) -> Array:
        from ckpt_viz.formats.arrays import tensors

        reason = why_incomplete(shape, entry.slices)
        if reason is not None:
            raise FormatError(f"{self.index}: {brief(key)}: {reason}")
        parts = checked_parts(entry, self.parts[key], f"{self.index}: {brief(key)}")
        if tensors.numpy_dtype(entry.dtype) is None:
            stored = b"".join(self._checked_bytes(key, part) for part in parts)
            raise tensors.no_dtype(entry.dtype, stored, f"{place}, its slices in turn")
        values = [
            self._read_whole(key, part, extent.shape)
            for part, extent in zip(parts, entry.slices, strict=True)
        ]
        return tensors.put_together(shape, entry.slices, values, place)

    def _checked_bytes(self, key: str, entry: Entry) -> bytes:
        data = self._stored_bytes(key, entry)
        check_crc32c(checksums.value(data), entry, self.place(key, entry))
        return data

    def _stored_bytes(self, key: str, entry: Entry) -> bytes:
        return read_range(self.shard_path(entry), entry, key, self._shards.get(entry.shard))

    def place(self, key: str, entry: Entry) -> str:
        """Return where an entry's bytes are, for errors."""
        return f"{self.shard_path(entry)}: {brief(key)} at offset {entry.offset}"

    def shard_bytes(self, entry: Entry) -> int:
        """Return the size of the shard with an entry's bytes; 0 if it is unknown."""
        if entry.shard not in self._shards:
            self._look_at_shards(entry)
        size = self._shards[entry.shard]
        return size if isinstance(size, int) else 0

    def shard_path(self, entry: Entry) -> str:
        """Return the path of the shard with an entry's bytes."""
        return f"{self.prefix}.data-{entry.shard:05d}-of-{self.num_shards:05d}"


def open_bundle(prefix: str, index: str | None = None) -> Bundle:
    """Return the bundle whose index is `<prefix>.index`, or a file of another name.

    Reads no shard. Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    path = f"{prefix}.index" if index is None else index
    try:
        with named_if_other(path, "the index of a TensorFlow checkpoint"):
            return Bundle(prefix, path, *read_bundle_index(prefix, path))
    except FormatError as error:
        error.file = error.file or path
        raise

"""The entries of a tensor bundle: where a tensor's bytes are in its shards, and their checks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, DeniedError, FormatError
from ckpt_viz.formats.arrays.dtypes import ByteOrder, Shape, tensor_bytes
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.storage.files import File, file_sizes, is_remote, open_file
from ckpt_viz.formats.storage.sstable import GIT_LFS_POINTER, brief, mask_crc32c
from ckpt_viz.ground.text import shape_words

_MAX_POINTER_BYTES = 1024  # of Git LFS
_PARTIAL = "the copy is probably partial"
_POINTER = "it is a Git LFS pointer: run `git lfs pull`"


class Entry(NamedTuple):
    """One stored tensor, from a BundleEntryProto.

    `dtype` is TensorFlow's name, or "unknown dtype 99". `shape` is None if the rank is unknown. The
    tensor's `size` bytes begin at byte `offset` of shard `shard`; `crc32c` is their checksum,
    masked as stored.

    A tensor that was saved in `slices` has no bytes of its own: shard, offset and checksum are 0.
    Its `size` is that of the whole tensor, or for strings that of the slices. `Bundle.parts` has
    the entries of the slices.
    """

    dtype: str
    shape: Shape
    shard: int
    offset: int
    size: int
    crc32c: int
    slices: tuple[SliceExtent, ...] = ()


class StoredRange(NamedTuple):
    """The bytes of a tensor, or of one of its slices: `size` bytes at `offset` of a file.

    `crc32c` is their checksum, masked, None without one; see `stored_bytes.checksum_for`. `what`
    names them in errors. `file_bytes` is the size of the file, and `missing` says why it does not
    have the bytes.
    """

    path: str
    offset: int
    size: int
    crc32c: int | None
    what: str
    dtype: str = ""
    shape: Shape = ()
    byte_order: ByteOrder = "little"
    file_bytes: int = 0
    missing: str | None = None

    @property
    def place(self) -> str:
        """Where the bytes are, for errors."""
        return f"{self.path}: {self.what} at offset {self.offset}"


def raised_for(why: str) -> str:
    """Return the class of what TensorFlow raises when it reads a tensor with this problem.

    `why` is a message of this module, or of `slices.why_incomplete`.
    """
    if "no such file" in why or "the index lacks" in why:
        return "NotFoundError"
    if "its slices have" in why:
        return "InvalidArgumentError"
    if "permission denied" in why:
        return "PermissionDeniedError"
    return "OutOfRangeError" if "expected bytes" in why else "DataLossError"


def checked_parts(entry: Entry, parts: Iterable[Entry | None], place: str) -> list[Entry]:
    """Return the entries of a tensor's slices if they match the tensor's own entry.

    Raises FormatError if two of them share bytes, too.
    """
    checked = matching_parts(entry, parts, place)
    # With shared bytes a small shard could claim to be an endless tensor.
    for before, after in pairwise(sorted(checked, key=lambda part: (part.shard, part.offset))):
        if before.shard == after.shard and before.offset + before.size > after.offset:
            raise FormatError(
                f"{place}: two of its slices share bytes of shard {after.shard}, "
                f"at offset {after.offset}"
            )
    return checked


def matching_parts(entry: Entry, parts: Iterable[Entry | None], place: str) -> list[Entry]:
    """Return the entries of a tensor's slices if they match the tensor's own entry."""
    checked = []
    for part, (start, shape) in zip(parts, entry.slices, strict=True):
        stored = "nothing" if part is None else described(part)
        if part is None or (part.dtype, part.shape) != (entry.dtype, shape):
            raise FormatError(
                f"{place}: of its slice at {start} the index has {stored}, "
                f"expected {entry.dtype} {shape_words(shape)}"
            )
        checked.append(part)
    return checked


def check_size(place: str, entry: Entry, shape: tuple[int, ...]) -> None:
    """Raise FormatError if an entry's size is impossible for its dtype and shape."""
    expected = tensor_bytes(entry.dtype, shape)
    if expected is not None and entry.size != expected:
        raise FormatError(
            f"{place}: size is {entry.size} bytes, expected {expected} for {described(entry)}"
        )
    # Each string has a length, which takes at least a byte.
    if entry.dtype == "string" and entry.size < math.prod(shape):
        raise FormatError(
            f"{place}: size is {entry.size} bytes, expected at least {math.prod(shape)} "
            f"for {described(entry)}"
        )


def check_crc32c(crc: int, entry: Entry, place: str) -> None:
    """Raise FormatError if a checksum, not masked, is not that of the entry."""
    masked = mask_crc32c(crc)
    if masked != entry.crc32c:
        raise FormatError(
            f"{place}: masked crc32c is 0x{masked:08x}, the index says 0x{entry.crc32c:08x}"
        )


def described(entry: Entry | StoredRange) -> str:
    """Return dtype and shape in words."""
    return f"{entry.dtype} {shape_words(entry.shape, unknown='of unknown rank')}"


def span(entry: Entry) -> str:
    """Return the range of an entry's bytes in words."""
    return f"bytes {entry.offset} to {entry.offset + entry.size}"


def read_range(path: str, entry: Entry, key: str, size: object = None) -> bytes:
    """Return bytes of a shard for the tensor `key`; allocate only what the file has.

    `size` is that of the shard, if it is known.
    """
    end = entry.offset + entry.size
    if isinstance(size, int) and end <= size and is_remote(path):
        with suppress(FileNotFoundError), open_file(path, end=end) as file:
            return file.read(entry.offset, entry.size)
    with open_shard(path, entry, key) as file:
        return file.read(entry.offset, entry.size)


def open_shard(path: str, entry: Entry, key: str) -> File:
    """Open the shard of the tensor `key`, which has all of the tensor's bytes."""
    wanted = f"{span(entry)}, of {brief(key)}"
    try:
        file = open_file(path)
    except FileNotFoundError as error:
        raise FormatError(f"{path}: no such file, expected {wanted}; {_PARTIAL}") from error
    if entry.offset + entry.size <= file.size:
        return file
    with file:
        raise FormatError(f"{path}: has {file.size} bytes, expected {wanted}; {_why_short(file)}")


def _why_short(file: File) -> str:
    if file.read(0, min(file.size, len(GIT_LFS_POINTER))) == GIT_LFS_POINTER:
        return _POINTER
    return _PARTIAL


class Lack(Enum):
    """What is wrong with a shard that lacks bytes."""

    MISSING = "missing"
    POINTER = "pointer"  # of Git LFS, in place of the shard
    SHORT = "short"
    DENIED = "denied"
    UNREADABLE = "unreadable"


class Absence(NamedTuple):
    """Why bytes of a shard are missing, as a sentence without a full stop."""

    lack: Lack
    why: str


def why_short_at(path: str, size: int) -> Absence:
    """Return why the shard at a path is so short, as far as it shows."""
    why = _PARTIAL
    if size <= _MAX_POINTER_BYTES:
        with suppress(CkptVizError), open_file(path) as file:
            why = _why_short(file)
    return Absence(Lack.POINTER if why == _POINTER else Lack.SHORT, why)


def sizes_or_why_not(paths: Sequence[str]) -> list[int | Absence]:
    """Return the size of each shard, or the reason why nothing can be read of it."""
    return [
        _size_or_why_not(path, size) for path, size in zip(paths, file_sizes(paths), strict=True)
    ]


def _size_or_why_not(path: str, size: int | CkptVizError | None) -> int | Absence:
    if size is None:
        return Absence(Lack.MISSING, f"{path}: no such file, expected a shard; {_PARTIAL}")
    if isinstance(size, CkptVizError):
        return _unreadable(size)
    if not is_remote(path):  # anyone may ask for the size of a file that only its owner may read
        try:
            open_file(path).close()
        except CkptVizError as error:
            return _unreadable(error)
    return size


def _unreadable(error: CkptVizError) -> Absence:
    return Absence(Lack.DENIED if isinstance(error, DeniedError) else Lack.UNREADABLE, str(error))

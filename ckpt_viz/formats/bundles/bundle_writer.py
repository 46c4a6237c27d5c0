"""Writes a tensor bundle of one shard: the files that `bundle` reads.

`<prefix>.data-00000-of-00001` has the tensors' bytes, in little-endian order. `<prefix>.index` gets
its name last: without it, no reader finds a checkpoint. From TensorFlow's
tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ckpt_viz.errors import CkptVizError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import dtype_number, encode_shape
from ckpt_viz.formats.arrays.protos import BundleEntryProto, BundleHeaderProto
from ckpt_viz.formats.bundles.bundle import PIECE_BYTES, Bundle
from ckpt_viz.formats.bundles.stored_bytes import checksum_for, encode_strings
from ckpt_viz.formats.storage.files import is_remote
from ckpt_viz.formats.storage.new_files import NewFiles, list_names
from ckpt_viz.formats.storage.sstable import brief, mask_crc32c
from ckpt_viz.formats.storage.table_writer import encode_table

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_BUNDLE_VERSION = 1  # kTensorBundleVersion

# Of the files of a V2 checkpoint, and of this writer's.
_SUFFIX = r"\.(index(\.part)?|meta|data-[0-9]{5}-of-[0-9]{5})"

Pieces: TypeAlias = Iterable["bytes | memoryview"]


@dataclass(frozen=True, slots=True)
class NewTensor:
    """A tensor to write: `pieces` returns its stored bytes, part by part.

    `crc32c` is their checksum, masked, if it is known; otherwise the writer computes it.
    """

    dtype: str
    shape: tuple[int, ...]
    pieces: Callable[[], Pieces]
    crc32c: int | None = None


def strings_tensor(strings: Sequence[bytes], shape: tuple[int, ...]) -> NewTensor:
    """Return a tensor of strings."""
    return NewTensor("string", shape, lambda: [encode_strings(strings)])


def array_tensor(dtype: str, shape: tuple[int, ...], read: Callable[[], Array]) -> NewTensor:
    """Return a tensor whose array is read when it is written."""
    return computed_tensor(dtype, shape, lambda: [read()])


def computed_tensor(
    dtype: str, shape: tuple[int, ...], arrays: Callable[[], Iterable[Array]]
) -> NewTensor:
    """Return a tensor whose elements are read or computed when it is written, in any pieces."""
    return NewTensor(
        dtype, shape, lambda: (piece for array in arrays() for piece in _pieces_of(array, dtype))
    )


def copied_tensor(bundle: Bundle, key: str) -> NewTensor:
    """Return a tensor of another bundle, bit by bit; one that was saved in slices as a whole."""
    entry = bundle.entries[key]
    if entry.shape is None:
        raise UnsupportedError(f"{bundle.prefix}: {brief(key)}: cannot copy a tensor of no rank")
    if entry.slices or bundle.byte_order != "little":
        return array_tensor(entry.dtype, entry.shape, lambda: bundle.read(key))
    return NewTensor(entry.dtype, entry.shape, lambda: bundle.pieces(key), entry.crc32c)


def arrays_of(tensor: NewTensor) -> Iterator[Array]:
    """Yield the elements of a tensor of numbers, flat, piece by piece."""
    from ckpt_viz.formats.arrays.tensors import in_little_endian

    for piece in tensor.pieces():
        yield in_little_endian(piece, tensor.dtype)


def write_bundle(prefix: str, tensors: Mapping[str, NewTensor]) -> None:
    """Write the tensors as the checkpoint of a prefix that has no files yet.

    If it fails or is interrupted, it removes what it has written. Raises CkptVizError.
    """
    _check_free(prefix)
    encoded = {_encoded(key): tensor for key, tensor in tensors.items()}
    index, part = f"{prefix}.index", f"{prefix}.index.part"
    entries: dict[bytes, bytes] = {b"": _header()}
    with NewFiles() as files:
        files.write(f"{prefix}.data-00000-of-00001", _data(encoded, entries))
        files.write(part, encode_table(entries.items()))
        files.publish(part, index)


def _check_free(prefix: str) -> None:
    if is_remote(prefix):
        raise UnsupportedError(f"{prefix}: expected a local path to write to; copy the files then")
    directory, name = os.path.split(prefix)
    if not name or "\0" in prefix:
        example = os.path.join(directory, "ckpt-1")
        raise CkptVizError(f"{prefix!r}: expected a prefix such as {example}")
    of_prefix = re.compile(re.escape(name) + _SUFFIX)
    for existing in sorted(list_names(directory or os.curdir)):
        path = os.path.join(directory, existing)
        if of_prefix.fullmatch(existing) or (existing == name and not os.path.isdir(path)):
            raise CkptVizError(
                f"{path}: exists already, expected no file of the prefix {prefix}; "
                "choose another prefix"
            )


def _encoded(key: str) -> bytes:
    # The empty key is the header's; a NUL begins those of slices.
    if not key or key.startswith("\x00"):
        raise UnsupportedError(f"{brief(key)}: a checkpoint has no tensor of this key")
    return key.encode()


def _header() -> bytes:
    header: Any = BundleHeaderProto(num_shards=1)
    header.version.producer = _BUNDLE_VERSION
    encoded: bytes = header.SerializeToString()
    return encoded


def _data(tensors: Mapping[bytes, NewTensor], entries: dict[bytes, bytes]) -> Iterator[Any]:
    """Yield the bytes of a shard; add the entry of each tensor once its bytes are known."""
    offset = 0
    for key in sorted(tensors):
        tensor, size = tensors[key], 0
        crc32c = tensor.crc32c
        checksum = checksum_for(tensor.dtype, tensor.shape, "little") if crc32c is None else None
        for piece in tensor.pieces():
            if checksum is not None:
                checksum.extend(bytes(piece), brief(key))
            size += len(piece)
            yield piece
        if checksum is not None:
            crc32c = mask_crc32c(checksum.value)
        entry = BundleEntryProto(
            dtype=dtype_number(tensor.dtype),
            shape=encode_shape(tensor.shape),
            offset=offset,
            size=size,
            crc32c=crc32c,
        )
        entries[key] = entry.SerializeToString()
        offset += size


def _pieces_of(array: Array, dtype: str) -> Iterator[bytes | memoryview]:
    from ckpt_viz.formats.arrays import tensors

    if dtype == "string":
        yield encode_strings(array.ravel().tolist())
        return
    data = tensors.encode(array, dtype).data
    for start in range(0, len(data), PIECE_BYTES):
        yield data[start : start + PIECE_BYTES]

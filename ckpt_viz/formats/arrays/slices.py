"""Tensors that were saved in slices: the position of each slice, and how they fit together.

A partitioned variable is saved in slices, and so is a tensor too large for one shard. From
TensorFlow's tensorflow/core/framework/tensor_slice.cc and
tensorflow/core/util/saved_tensor_slice_util.cc.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ckpt_viz.errors import FormatError
from ckpt_viz.formats.arrays.dtypes import Shape
from ckpt_viz.ground.text import shape_words

MAX_KEY_BYTES = 1 << 26  # 64 MiB; the key of a slice takes some 100 bytes

_FULL = -1  # kFullExtent: all of a dimension


class SliceExtent(NamedTuple):
    """The part of a tensor that a slice covers: its start in each dimension, and its shape."""

    start: tuple[int, ...]
    shape: tuple[int, ...]


def slice_of(proto: Any, shape: Shape) -> SliceExtent:
    """Return the slice in a TensorSliceProto; raise FormatError if it is not inside the shape."""
    words = shape_words(shape, unknown="of unknown rank")
    if shape is None or len(proto.extent) != len(shape):
        raise FormatError(f"a slice has {len(proto.extent)} dimensions, its tensor is {words}")
    extents = list(_extents(proto))
    start = tuple(start for start, _ in extents)
    sizes = tuple(
        dim if length == _FULL else length for (_, length), dim in zip(extents, shape, strict=True)
    )
    for first, size, dim in zip(start, sizes, shape, strict=True):
        if first < 0 or size < 0 or first + size > dim:
            raise FormatError(f"slice of {shape_words(sizes)} at {start} is not inside {words}")
    return SliceExtent(start, sizes)


def slice_key(name: bytes, proto: Any) -> bytes:
    """Return the key of a tensor's slice in a table (EncodeTensorNameSlice)."""
    escaped = re.sub(rb"[\x00\xff]", lambda match: match[0] + bytes([match[0][0] ^ 0xFF]), name)
    parts = [_ordered(0), escaped, b"\x00\x01", _ordered(len(proto.extent))]
    for extent in _extents(proto):
        parts += map(_ordered_signed, extent)
    return b"".join(parts)


def check_key_bytes(total: int) -> None:
    """Raise FormatError if the keys of a file's slices are larger than any real use.

    Each contains the name of its tensor: a slice of 2 bytes can have a key of megabytes.
    """
    if total > MAX_KEY_BYTES:
        raise FormatError(
            f"up to here the slices have keys of {total} bytes, expected at most {MAX_KEY_BYTES}"
        )


def why_incomplete(shape: Shape, slices: Iterable[SliceExtent]) -> str | None:
    """Return why slices inside a shape cannot cover it without overlap, None if they may.

    It only counts elements. If the numbers agree, the slices cover the shape unless two overlap.
    """
    count = sum(math.prod(extent.shape) for extent in slices)
    expected = math.prod(shape or ())
    if count == expected:
        return None
    return f"its slices have {count} elements in all, expected {expected}"


def _extents(proto: Any) -> Iterable[tuple[int, int]]:
    """Yield start and length in each dimension; a length of -1 means the whole dimension."""
    for extent in proto.extent:
        # As in TensorFlow's GetExtentLength
        yield extent.start, extent.length if extent.HasField("length") else _FULL


# OrderedCode, in tensorflow/core/lib/strings/ordered_code.cc


def _ordered(value: int) -> bytes:
    """Encode a number from 0 on: its length in bytes, then its bytes, big-endian."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _ordered_signed(value: int) -> bytes:
    """Encode a signed number: its length in leading bits, as in UTF-8.

    >>> _ordered_signed(0).hex(), _ordered_signed(-1).hex(), _ordered_signed(300).hex()
    ('80', '7f', 'c12c')
    """
    magnitude = value if value >= 0 else ~value
    size = magnitude.bit_length() // 7 + 1
    # The sign, then as many equal bits as bytes follow, then one different bit.
    header = ((1 << size) - 1) << (7 * size)
    encoded = magnitude | header
    if value < 0:
        encoded ^= (1 << (8 * size)) - 1
    return encoded.to_bytes(size, "big")


def parse_slice_spec(spec: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return full shape, start and shape of a slice specification (SaveSliceInfo.spec).

    >>> parse_slice_spec("5 3 3,2:0,3")
    ((5, 3), (3, 0), (2, 3))
    >>> parse_slice_spec("5 3 3,2:-")
    ((5, 3), (3, 0), (2, 3))
    """
    *sizes, extents = spec.split(" ")
    full_shape = tuple(map(int, sizes))
    parts = [
        (0, size) if extent == "-" else tuple(map(int, extent.split(",")))
        for size, extent in zip(full_shape, extents.split(":"), strict=True)
    ]
    return full_shape, tuple(start for start, _ in parts), tuple(length for _, length in parts)

"""Where the bytes of a tensor are: ranges of shards, to be read in any pieces by any process."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange, checked_parts, described
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.ground.text import shape_words

_MOST_COMPARED = 10_000_000  # pairs of slices


class Claims:
    """How many bytes of each shard the tensors up to now have.

    TensorFlow writes each byte for one tensor. In a forged file, thousands of tensors may share a
    few bytes, and reading all of them would take for ever.
    """

    def __init__(self) -> None:
        self._claimed: dict[str, int] = {}

    def add(self, ranges: Sequence[StoredRange]) -> None:
        """Count the bytes of a tensor; raise FormatError if a shard does not have as many."""
        for stored in ranges:
            claimed = self._claimed.get(stored.path, 0) + stored.size
            if claimed > stored.file_bytes:
                raise FormatError(
                    f"{stored.place}: shares bytes with other tensors, which together have more "
                    f"than the {stored.file_bytes} bytes of the shard; no program of TensorFlow "
                    "writes such a file"
                )
            self._claimed[stored.path] = claimed


def stored_ranges(bundle: Bundle, key: str) -> tuple[StoredRange, ...]:
    """Return the ranges of a tensor's bytes, those of its slices in their order; read nothing.

    Each element is in exactly one range. Raises NoSuchTensorError for a key that is not in the
    bundle's `entries`, FormatError if bytes are missing or do not fit the shape, UnsupportedError
    for values that only TensorFlow can decode.
    """
    entry = bundle.entry(key)
    place = f"{bundle.index}: {brief(key)}"
    if entry.shape is None or entry.dtype in ("variant", "resource"):
        raise UnsupportedError(f"{place}: cannot read {described(entry)}; only TensorFlow can")
    reason = bundle.why_unreadable(key)
    if reason is not None:
        raise FormatError(f"{place}: {reason}")
    if entry.slices:
        checked_parts(entry, bundle.parts[key], place)
        overlap = _overlap(entry.slices, place)
        if overlap is not None:
            where = f"{shape_words(overlap.shape)} at {overlap.start}"
            raise FormatError(f"{place}: the slice of {where} overlaps another")
    return bundle.checked_ranges(key)


def _overlap(slices: Sequence[SliceExtent], place: str) -> SliceExtent | None:
    """Return a slice that shares elements with one before it, None without any.

    It compares slices whose extents meet in the dimension in which most slices begin apart.
    """
    filled = [extent for extent in slices if 0 not in extent.shape]
    rank = len(filled[0].shape) if filled else 0
    if not rank:
        return filled[1] if len(filled) > 1 else None
    apart = max(range(rank), key=lambda axis: len({extent.start[axis] for extent in filled}))
    open_ones: list[SliceExtent] = []
    compared = 0
    for extent in sorted(filled, key=lambda extent: extent.start[apart]):
        begin = extent.start[apart]
        open_ones = [old for old in open_ones if old.start[apart] + old.shape[apart] > begin]
        compared += len(open_ones)
        if compared > _MOST_COMPARED:
            raise UnsupportedError(
                f"{place}: has {len(slices)} slices, too many to compare with each other"
            )
        for old in open_ones:
            if all(map(_meet, extent.start, extent.shape, old.start, old.shape)):
                return extent
        open_ones.append(extent)
    return None


def _meet(start: int, size: int, other: int, others_size: int) -> bool:
    return start < other + others_size and other < start + size

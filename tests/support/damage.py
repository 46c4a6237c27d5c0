"""Damages the stored bytes of a checkpoint, as a disk or a network may."""

from __future__ import annotations

from pathlib import Path

from ckpt_viz.formats.bundles.bundle import open_bundle


def flipped(prefix: str, key: str, at: int, mask: int = 1, *, part: int | None = None) -> str:
    """Change bits of one stored byte of a tensor, or of one of its slices; return the prefix.

    A negative place counts from the end.
    """
    path, offset, size = _place(prefix, key, part)
    content = bytearray(path.read_bytes())
    content[offset + at % size] ^= mask
    path.write_bytes(bytes(content))
    return prefix


def flipped_first(prefix: str, words: str) -> str:
    """Do so for the first byte of the first tensor whose key contains the words."""
    return flipped(prefix, next(key for key in open_bundle(prefix).entries if words in key), 0)


def overwritten(prefix: str, key: str, at: int, data: bytes) -> str:
    """Replace stored bytes of a tensor; return the prefix."""
    path, offset, _ = _place(prefix, key, None)
    content = bytearray(path.read_bytes())
    content[offset + at : offset + at + len(data)] = data
    path.write_bytes(bytes(content))
    return prefix


def _place(prefix: str, key: str, part: int | None) -> tuple[Path, int, int]:
    one = open_bundle(prefix).checked_ranges(key)[part or 0]
    return Path(one.path), one.offset, one.size

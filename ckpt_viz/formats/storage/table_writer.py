"""Writes a LevelDB table, without compression: the format that `sstable` reads.

From TensorFlow's tensorflow/core/lib/io/table_builder.cc and block_builder.cc.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.sstable import FOOTER_BYTES, MAGIC, mask_crc32c
from ckpt_viz.formats.storage.wire import encode_varint

_BLOCK_BYTES = 1 << 18  # as TensorFlow: a block of at least this size is complete
_KEYS_PER_RESTART = 16
_STORED = b"\x00"  # the type of a block that is not compressed


def encode_table(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """Yield the bytes of a table of these rows, whose keys must increase (bytewise)."""
    offset, last_key = 0, b""
    index, block = _NewBlock(keys_per_restart=1), _NewBlock(_KEYS_PER_RESTART)

    def finished(block: _NewBlock) -> tuple[bytes, bytes]:
        """Return a block as the file stores it, and its handle."""
        nonlocal offset
        payload = block.payload()
        handle = encode_varint(offset) + encode_varint(len(payload))
        stored = payload + _STORED
        stored += mask_crc32c(checksums.value(stored)).to_bytes(4, "little")
        offset += len(stored)
        return stored, handle

    for last_key, value in rows:
        block.add(last_key, value)
        if block.size >= _BLOCK_BYTES:
            stored, handle = finished(block)
            yield stored
            index.add(last_key, handle)
            block = _NewBlock(_KEYS_PER_RESTART)
    if block.size:
        stored, handle = finished(block)
        yield stored
        index.add(last_key, handle)
    stored, of_metaindex = finished(_NewBlock(_KEYS_PER_RESTART))
    yield stored
    stored, of_index = finished(index)
    yield stored
    yield (of_metaindex + of_index).ljust(FOOTER_BYTES - len(MAGIC), b"\x00") + MAGIC


class _NewBlock:
    """Entries whose keys leave out what they share with the key before them."""

    def __init__(self, keys_per_restart: int) -> None:
        self.size = 0
        self._keys_per_restart = keys_per_restart
        self._entries: list[bytes] = []
        self._restarts: list[int] = []
        self._last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if len(self._entries) % self._keys_per_restart == 0:
            self._restarts.append(self.size)
        else:
            shared = _shared(self._last_key, key)
        lengths = map(encode_varint, (shared, len(key) - shared, len(value)))
        entry = b"".join([*lengths, key[shared:], value])
        self._entries.append(entry)
        self.size += len(entry)
        self._last_key = key

    def payload(self) -> bytes:
        """Return the entries and restart points; a block has at least one of these."""
        restarts = self._restarts or [0]
        points = struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
        return b"".join([*self._entries, points])


def _shared(key: bytes, other: bytes) -> int:
    """Return how many first bytes two keys share."""
    differing = (i for i, (a, b) in enumerate(zip(key, other, strict=False)) if a != b)
    return next(differing, min(len(key), len(other)))

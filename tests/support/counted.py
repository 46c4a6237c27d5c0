"""Counts of work that are the same on any machine: steps of Python, bytes at a time, and reads."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ckpt_viz.formats.storage import files

if TYPE_CHECKING:
    import pytest

Taken = Callable[[], int]  # what was taken since the last call
DOUBLED = 2.5  # for twice the size, work that is linear grows less; quadratic work grows fourfold


@contextmanager
def counted_steps() -> Iterator[Taken]:
    """Count the lines, calls and returns of Python in this thread and in new ones."""
    steps = 0

    def trace(frame: object, event: str, arg: object) -> Any:
        nonlocal steps
        steps += 1
        return trace

    def taken() -> int:
        nonlocal steps
        before, steps = steps, 0
        return before

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield taken
    finally:
        sys.settrace(before)
        threading.settrace(before)


@contextmanager
def counted_bytes() -> Iterator[Taken]:
    """Count the most bytes that Python and NumPy had at a time, beyond those before."""
    tracemalloc.start()
    before = 0

    def taken() -> int:
        nonlocal before
        most = tracemalloc.get_traced_memory()[1] - before
        gc.collect()  # or what this call leaves would hide what the next one takes
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        return most

    try:
        yield taken
    finally:
        tracemalloc.stop()


def counted_reads(monkeypatch: pytest.MonkeyPatch, of: str = "") -> list[int]:
    """Return a list that gets the size of every read of a local file whose path has `of` in it."""
    sizes: list[int] = []
    read = files._LocalFile._read

    def counting(file: files._LocalFile, offset: int, size: int) -> bytes:
        if of in file.path:
            sizes.append(size)
        return read(file, offset, size)

    monkeypatch.setattr(files._LocalFile, "_read", counting)
    return sizes


def steps_of(function: Callable[[], object]) -> int:
    """Return how many steps a call takes."""
    with counted_steps() as taken:
        function()
        return taken()


def bytes_of(function: Callable[[], object]) -> int:
    """Return how many bytes a call has at a time."""
    with counted_bytes() as taken:
        function()
        return taken()


def counted_unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets how many bytes each call of a codec unpacks."""
    import cramjam

    sizes: list[int] = []
    for codec, name in ((cramjam.zstd, "decompress_into"), (cramjam.snappy, "decompress_raw_into")):
        unpack: Callable[..., int] = getattr(codec, name)

        def into(data: bytes, target: bytearray, unpack: Callable[..., int] = unpack) -> int:
            sizes.append(unpack(data, target))
            return sizes[-1]

        monkeypatch.setattr(codec, name, into)

    class Inflating:
        def __init__(self, wbits: int = zlib.MAX_WBITS) -> None:
            self._inflating = inflating(wbits)

        def decompress(self, data: bytes, most: int = 0) -> bytes:
            unpacked = self._inflating.decompress(data, most)
            sizes.append(len(unpacked))
            return unpacked

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inflating, name)

    inflating = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Inflating)
    return sizes

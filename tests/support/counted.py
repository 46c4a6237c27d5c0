"""Counts of work that are the same on any machine: steps of Python, bytes at a time, and reads."""

from __future__ import annotations

import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ckpt_viz.formats import files

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

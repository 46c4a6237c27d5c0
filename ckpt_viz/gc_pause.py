"""Building large graphs without Python looking for garbage all the while."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# A number of new objects that no work reaches, and by which a pause knows its own threshold.
_PAUSED = 1_000_000_007


def gc_paused(work: Callable[[], T]) -> T:
    """Return what `work` returns; meanwhile Python does not look for garbage.

    A graph is many objects, and none of them is garbage: to look through them again and again
    while they grow doubles the time. The collector's threshold is raised rather than the
    collector switched off, so that a thread that switches it off or on meanwhile, or sets a
    threshold of its own, has its way. This is no context manager: an interrupt that comes between
    `__enter__` and the block would leave the pause on for good.
    """
    before = gc.get_threshold()
    if before[0] in (0, _PAUSED):  # off already, or another thread pauses it
        return work()
    try:
        try:
            gc.set_threshold(_PAUSED, *before[1:])
            return work()
        finally:
            _resume(before)
    finally:
        _resume(before)  # an interrupt may have come in the middle of the first time


def _resume(thresholds: tuple[int, int, int]) -> None:
    if gc.get_threshold()[0] == _PAUSED:
        gc.set_threshold(*thresholds)

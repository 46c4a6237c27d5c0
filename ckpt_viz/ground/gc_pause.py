"""Building large graphs without repeated garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# No work creates this many objects. A pause recognises its own threshold by this number.
_PAUSED = 1_000_000_007


def gc_paused(work: Callable[[], T]) -> T:
    """Return what `work` returns; Python collects no garbage meanwhile.

    A graph has many objects and none of them is garbage. Repeated collections while it grows double
    the time. The function raises the collector's threshold instead of switching the collector off.
    So another thread can still switch it off or on, or set its own threshold. This is not a context
    manager: an interrupt between `__enter__` and the block would leave the pause on for ever.
    """
    before = gc.get_threshold()
    if before[0] in (0, _PAUSED):  # off already, or another thread has paused it
        return work()
    try:
        try:
            gc.set_threshold(_PAUSED, *before[1:])
            return work()
        finally:
            _resume(before)
    finally:
        _resume(before)  # an interrupt may have stopped the first call


def _resume(thresholds: tuple[int, int, int]) -> None:
    if gc.get_threshold()[0] == _PAUSED:
        gc.set_threshold(*thresholds)

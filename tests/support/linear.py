"""Whether the work for a text grows no faster than the text, without a limit on a clock."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONG = 0.03  # seconds; then a text is long enough to compare it with a shorter one
_SHORT = 0.001
_TIMES = 4  # as long as the other text
_MOST = 2.5  # linear work takes about 1 time as long as 4 uses of the other, quadratic work 4 times
_TRIES = 3  # the quickest of them counts: other processes make any of them slow


def is_linear(use: Callable[[int], object], size: int) -> bool:
    """Return whether using a text of a size takes no longer than 4 uses of a fourth of it.

    It begins with small texts, and compares the first that takes some time.
    """
    at = 64
    while at < size and _duration(use, at, 1) < _LONG:
        at *= 2
    taken = min(_duration(use, at, 1) for _ in range(_TRIES))
    if taken < _SHORT:
        return True
    return taken <= _MOST * min(_duration(use, at // _TIMES, _TIMES) for _ in range(_TRIES))


def _duration(use: Callable[[int], object], size: int, times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        use(size)
    return time.process_time() - begin

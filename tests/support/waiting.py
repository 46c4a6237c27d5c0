"""Waiting for what other processes and threads do: a wait that is in vain fails with a sentence.

No test claims anything about `PATIENCE`: it is far longer than what any wait takes, also where
other programs keep the machine busy.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

PATIENCE = 120.0  # seconds
_PAUSE = 0.01


def wait_until(condition: Callable[[], object], what: str = "") -> None:
    """Return once the condition holds; fail with `what` if it never does."""
    for _ in _tries(condition, what):
        time.sleep(_PAUSE)


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Return once the condition holds, and let other tasks run meanwhile."""
    for _ in _tries(condition, what):
        await asyncio.sleep(_PAUSE)


def _tries(condition: Callable[[], object], what: str) -> Iterator[None]:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE:.0f} s in vain {what}".rstrip()
        yield

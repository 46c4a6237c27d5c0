"""Building large graphs without Python looking for garbage all the while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Keep Python from looking for garbage: a graph is many objects, and none of them is any.

    Looking through them again and again while they grow takes a fifth of the time, and more
    beside a program with a large model.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

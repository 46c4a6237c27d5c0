"""A worker whose paths are deeds, such as "loops" or "squares 100": what `limits` must notice."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping

from tests.hostile.limits import GUARD_BYTES, Task, serve
from tests.hostile.use import Stage


def _loops(size: int) -> None:
    while True:
        pass


def _waits(size: int) -> None:
    threading.Event().wait()


def _crashes(size: int) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _explodes(size: int) -> None:
    bytearray(2 * GUARD_BYTES)


def _goes_once(size: int) -> None:
    for _ in range(size):
        bytes(1)


def _squares(size: int) -> None:
    for _ in range(size):
        _goes_once(size)


def _squares_in_a_thread(size: int) -> None:
    thread = threading.Thread(target=_squares, args=(size,))
    thread.start()
    thread.join()


def _holds(size: int) -> None:
    bytearray(10_000 * size)


def _holds_a_square(size: int) -> None:
    bytearray(100 * size * size)


DEEDS: Mapping[str, Callable[[int], None]] = {
    "loops": _loops,
    "waits": _waits,
    "crashes": _crashes,
    "leaves": os._exit,
    "explodes": _explodes,
    "goes-once": _goes_once,
    "squares": _squares,
    "squares-in-a-thread": _squares_in_a_thread,
    "holds": _holds,
    "holds-a-square": _holds_a_square,
}


def _do(task: Task, stage: Stage) -> str:
    name, size = task.path.split()
    stage(name)
    DEEDS[name](int(size))
    return "done"


if __name__ == "__main__":
    serve(_do)

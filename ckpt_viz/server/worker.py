"""A process that reads for the server: does one job after the other until its input ends.

The server ends it if a job takes too long, or if all clients have disconnected.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from ckpt_viz.server.messages import Frame, read_frame, write_frame

if sys.platform != "win32":
    import resource


def main(module: str) -> None:
    """Do the jobs that come in with `Jobs` of a module; never returns."""
    # Output of a library must not get between the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames: SimpleQueue[Frame] = SimpleQueue()
    Thread(target=_receive, args=(sys.stdin.buffer, frames), daemon=True).start()
    jobs = importlib.import_module(module).Jobs()
    while True:
        frame = frames.get()
        jobs.keep_only(frame.header["keep"])
        if "job" in frame.header:
            _limit(frame.header["limits"]["most_memory"])
            answer = _done(jobs, frame)
            write_frame(output, answer)
            del answer
        elif "hello" in frame.header:
            write_frame(output, Frame({}))


def _receive(stream: BinaryIO, frames: SimpleQueue[Frame]) -> None:
    """Pass on frames; when there are no more, the server is gone: end at once."""
    try:
        while True:
            frames.put(read_frame(stream))
    finally:
        os._exit(0)


def _done(jobs: Any, frame: Frame) -> Frame:
    try:
        header, body = jobs.do(frame.header)
    except Exception:
        header, body = {"failed": traceback.format_exc()}, b""
    return Frame({**header, "pages": jobs.pages(), "resident": _resident()}, body)


def _limit(most_memory: int) -> None:
    """Make allocations beyond a limit fail, if the operating system supports that."""
    if sys.platform != "win32":
        with suppress(ValueError, OSError):
            resource.setrlimit(
                resource.RLIMIT_AS, (most_memory, resource.getrlimit(resource.RLIMIT_AS)[1])
            )


def _resident() -> int:
    """Return the bytes of memory in use; the peak if only that is known; or 0."""
    if sys.platform == "win32":
        return 0
    else:
        with suppress(OSError), open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

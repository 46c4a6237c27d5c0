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

from ckpt_viz.entrances.server.messages import Frame, read_frame, write_frame

if sys.platform != "win32":
    import resource


def main(module: str) -> None:
    """Do the jobs that come in with `Jobs` of a module; never returns."""
    # Output of a library must not get between the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    frames: SimpleQueue[Frame] = SimpleQueue()
    stops: dict[int, str] = {}
    Thread(target=_receive, args=(sys.stdin.buffer, frames, stops), daemon=True).start()
    jobs = importlib.import_module(module).Jobs()
    while True:
        frame = frames.get()
        jobs.keep_only(frame.header["keep"])
        if "job" in frame.header:
            _limit(frame.header["limits"]["most_memory"])
            answer = _done(jobs, frame, _Wire(output, frame.header["number"], stops))
            write_frame(output, answer)
            del answer
            stops.pop(frame.header["number"], None)
        elif "hello" in frame.header:
            write_frame(output, Frame({}))


class _Wire:
    """The way from a job to the server; `stops` has by number which jobs have to end, and why."""

    def __init__(self, output: BinaryIO, number: int, stops: dict[int, str]) -> None:
        self._output, self._number, self._stops = output, number, stops

    def send(self, part: bytes) -> None:
        """Send a part of the answer."""
        write_frame(self._output, Frame({"part": True}, part))

    @property
    def stopped(self) -> str | None:
        """Why the job has to end now; None if it may go on."""
        return self._stops.get(self._number)


def _receive(stream: BinaryIO, frames: SimpleQueue[Frame], stops: dict[int, str]) -> None:
    """Pass on frames; when there are no more, the server is gone: end at once."""
    try:
        while True:
            frame = read_frame(stream)
            if "stop" in frame.header:  # it must not wait for the job that it stops
                stops.clear()
                stops[frame.header["stop"]] = frame.header["why"]
            else:
                frames.put(frame)
    finally:
        os._exit(0)


def _done(jobs: Any, frame: Frame, wire: _Wire) -> Frame:
    try:
        header, body = jobs.do(frame.header, wire)
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

"""The reading processes, seen from the server: started on demand, ended when in the way."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO, NamedTuple, cast

from ckpt_viz.entrances.server.messages import Frame, read_frame, write_frame

# Its path is the server's path. It imports nothing before that is set, because the directory in
# which the server was started may hold any file.
_PROGRAM = """
import sys
module, sys.path[:] = sys.argv[1], sys.argv[2:]
from ckpt_viz.entrances.server.worker import main
main(module)
"""
_BLOATED = 256 << 20  # bytes of a process that does not read a further graph
_IDLE_SECONDS = 600.0
_START_SECONDS = 60.0  # allowed for loading the reader

OnPart = Callable[[bytes], None]


class _WaitingFrame(NamedTuple):
    """A frame to send, and who waits for its answer, if it has one."""

    frame: Frame
    loop: asyncio.AbstractEventLoop | None = None
    future: asyncio.Future[Frame | None] | None = None
    on_part: OnPart | None = None


class Process:
    """One process, which does one job at a time. `pages` are the graphs that it keeps."""

    def __init__(self, module: str) -> None:
        self.is_new = True
        self.pages: frozenset[str] = frozenset()
        self.resident = 0
        self.idle_since = 0.0
        self._frames: SimpleQueue[_WaitingFrame | None] = SimpleQueue()
        self._lock = Lock()
        self._writing = Lock()  # of the frames
        self._is_over = False  # no more frames are sent
        windows: Any = subprocess
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, module, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Each thread of these libraries would take address space, and they have no work here.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            # Ctrl-C in the server's terminal is meant for the server.
            start_new_session=os.name == "posix",
            creationflags=windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
            if os.name == "nt"
            else 0,
        )
        self._stdin = cast(BinaryIO, self._process.stdin)
        self._stdout = cast(BinaryIO, self._process.stdout)
        Thread(target=self._pass_on, name=f"ckpt-viz-{self.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, frame: Frame, on_part: OnPart | None = None) -> asyncio.Future[Frame | None]:
        """Give the process a job; the future's result is None if the process ends first.

        `on_part` gets the parts of the answer before the last one.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Frame | None] = loop.create_future()
        with self._lock:
            if self._is_over:
                future.set_result(None)
            else:
                self._frames.put(_WaitingFrame(frame, loop, future, on_part))
        return future

    async def begin(self) -> None:
        """Wait a limited time until the process has started; a second call does nothing."""
        if self.is_new:
            self.is_new = False
            await asyncio.wait(
                {self.ask(Frame({"keep": [], "hello": True}))}, timeout=_START_SECONDS
            )

    def tell(self, frame: Frame) -> None:
        """Send a message that has no answer."""
        self._frames.put(_WaitingFrame(frame))

    def stop(self, number: int, why: str) -> None:
        """Ask the process to end the job of this number soon, without waiting for its answer."""
        with suppress(OSError, ValueError):  # it has ended
            self._write(Frame({"stop": number, "why": why}))

    def _write(self, frame: Frame) -> None:
        with self._writing:
            write_frame(self._stdin, frame)

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End the process when it has finished its jobs."""
        self._frames.put(None)

    def _pass_on(self) -> None:
        """Pass on frames until there are no more, or the process has ended."""
        with self._process:
            while (waiting := self._frames.get()) is not None and self._passed_on(waiting):
                del waiting  # it may hold a large answer
            self._process.kill()
            with suppress(OSError):
                self._stdin.close()
        with self._lock:
            self._is_over = True
        while not self._frames.empty():
            if (waiting := self._frames.get()) is not None:
                _tell(waiting, None)

    def _passed_on(self, waiting: _WaitingFrame) -> bool:
        """Return whether the process took a frame, and answered it if an answer is expected."""
        answer: Frame | None = None
        try:
            self._write(waiting.frame)
            if waiting.future is None:
                return True
            while "part" in (frame := read_frame(self._stdout)).header:
                _tell_part(waiting, frame.body)
            answer = frame
        except (OSError, EOFError, ValueError):
            pass
        _tell(waiting, answer)
        return answer is not None


def _tell_part(waiting: _WaitingFrame, part: bytes) -> None:
    if waiting.loop is not None and waiting.on_part is not None:
        with suppress(RuntimeError):  # the server is ending: its loop is closed
            waiting.loop.call_soon_threadsafe(waiting.on_part, part)


def _tell(waiting: _WaitingFrame, answer: Frame | None) -> None:
    """Set the result of a future of another thread."""
    future = waiting.future

    def set_result() -> None:
        if future is not None and not future.done():
            future.set_result(answer)

    if waiting.loop is not None:
        with suppress(RuntimeError):
            waiting.loop.call_soon_threadsafe(set_result)


class Processes:
    """The idle processes; a Python process needs one of these. `module` has the class `Jobs`."""

    def __init__(self, module: str = "ckpt_viz.entrances.server.jobs") -> None:
        self.idle: list[Process] = []
        self._module = module

    def take(self, page: str | None, *, is_long: bool) -> Process:
        """Return a process that keeps a graph, or else an idle one, or else a new one.

        Long jobs get the largest process, quick jobs the smallest: so few processes become large.
        """
        by_size = sorted(self.idle, key=lambda candidate: candidate.resident, reverse=is_long)
        for process in sorted(by_size, key=lambda candidate: page not in candidate.pages):
            self.idle.remove(process)
            is_fit = process.resident <= _BLOATED or page in process.pages
            if is_fit and process.is_alive:
                return process
            process.close()
        return Process(self._module)

    def give_back(self, process: Process) -> None:
        """Take back a process that is idle now."""
        process.idle_since = time.monotonic()
        self.idle.append(process)
        asyncio.get_running_loop().call_later(_IDLE_SECONDS + 1, self._end_idle)

    def close(self) -> None:
        """End all idle processes."""
        while self.idle:
            self.idle.pop().close()

    def _end_idle(self) -> None:
        for process in list(self.idle):
            if time.monotonic() - process.idle_since > _IDLE_SECONDS:
                self.idle.remove(process)
                process.close()


PROCESSES = Processes()
"""All services of this Python process share these."""

"""Which job may read when: short jobs beside long ones, within limits."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count
from typing import Any, NamedTuple

from ckpt_viz.entrances.server.messages import QUICK_BYTES, Asked, Frame, Job, Limits
from ckpt_viz.entrances.server.options import CkptViz
from ckpt_viz.entrances.server.processes import Process, Processes
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest

_QUICK = 2  # processes beside those that read large graphs
_QUICK_SECONDS = 5.0  # after which a job counts as long
_GRACE = 1.0  # seconds for a job to end after its last client has disconnected
_STOP_SECONDS = 0.7  # for a job that sends parts, which then keeps what it has read
_LAST_SECONDS = 5.0  # the same, if a client waits for what was read; a loaded machine needs them


class KeptGraph(NamedTuple):
    """A graph that a process keeps: the state of its files, and its size."""

    etag: str
    node_count: int
    byte_count: int


class Pages:
    """The most recently requested graphs, limited in number, nodes and bytes.

    It keeps the latest, however large: otherwise each question would read it again.
    """

    def __init__(self, most: int, most_nodes: int, most_bytes: int) -> None:
        self._most = most
        self._most_nodes = most_nodes
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Asked, KeptGraph] = OrderedDict()

    def names(self) -> list[str]:
        """Return the keys under which processes keep the graphs."""
        return [asked.page(kept.etag) for asked, kept in self._kept.items()]

    def earlier(self, asked: Asked) -> str | None:
        """Return the key under which a process keeps these files, as they are or were."""
        kept = self._kept.get(asked)
        return None if kept is None else asked.page(kept.etag)

    def keep(self, asked: Asked, kept: KeptGraph) -> None:
        """Keep a graph; drop an earlier read of the same files, and the oldest graphs."""
        self._kept[asked] = kept
        self._kept.move_to_end(asked)
        while len(self._kept) > 1 and self._are_too_many():
            self._kept.popitem(last=False)

    def _are_too_many(self) -> bool:
        kept = self._kept.values()
        return (
            len(kept) > self._most
            or sum(graph.node_count for graph in kept) > self._most_nodes
            or sum(graph.byte_count for graph in kept) > self._most_bytes
        )


class _Task:
    """A job that waits or runs, and the number of its clients."""

    def __init__(self, job: Job, future: asyncio.Future[Frame]) -> None:
        self.job = job
        self.future = future
        self.waiting = 0
        self.process: Process | None = None
        self.is_long = False
        self.needs = 0  # bytes of files, as far as known
        self.number = 0  # by which a process knows it
        self.parts: list[bytes] = []  # of the answer, all until now: clients may come later
        self._arrival: asyncio.Future[None] = future.get_loop().create_future()

    @property
    def has_parts(self) -> bool:
        """Whether the answer comes in parts."""
        return self.job.ask == "history"

    def add(self, part: bytes) -> None:
        """Add a part of the answer."""
        self.parts.append(part)
        arrived, self._arrival = self._arrival, self.future.get_loop().create_future()
        arrived.set_result(None)

    async def pass_on(self, on_part: Callable[[bytes], Awaitable[None]]) -> None:
        """Pass on all parts until the answer is complete."""
        sent = 0
        while sent < len(self.parts) or not self.future.done():
            if sent < len(self.parts):
                await on_part(self.parts[sent])
                sent += 1
            else:
                futures: set[asyncio.Future[Any]] = {self._arrival, self.future}
                await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


class Workers:
    """The jobs of a server. Its coroutines run in the server's event loop.

    A job begins as a quick one, which may read little, unless its files are known to be large. A
    job that needs more, or takes longer, begins again as a long one; fewer of those run at the same
    time. A request for a job that exists already waits for that job.
    """

    def __init__(self, processes: Processes, options: CkptViz) -> None:
        self._processes = processes
        self._options = options
        self._limits = Limits(
            options.max_read_bytes, options.max_answer_bytes, options.max_memory_bytes
        )
        self._pages = Pages(options.max_kept_graphs, options.max_kept_nodes, options.max_kept_bytes)
        self._tasks: dict[str, _Task] = {}  # in the order of their requests
        self._running: set[_Task] = set()
        self._numbers = count(1)
        self._sending = 0  # bytes of answers that are not sent yet
        self._jobs: set[asyncio.Task[None]] = set()  # references prevent garbage collection

    async def run(
        self, job: Job, on_part: Callable[[bytes], Awaitable[None]] | None = None
    ) -> Frame:
        """Return the answer of a job; `on_part` gets the parts before the last one.

        Raises RefusedRequest if the job is refused, or if too much is waiting.
        """
        task = self._tasks.get(job.key)
        if task is None:
            task = _Task(job, asyncio.get_running_loop().create_future())
            if job.index_bytes > QUICK_BYTES and job.page not in self._pages.names():
                self._lengthen(task, needs=job.index_bytes)
            else:
                self._check_room()
            self._tasks[job.key] = task
            self._start()
        task.waiting += 1
        try:
            if on_part is not None:
                await task.pass_on(on_part)
            return await asyncio.shield(task.future)
        finally:
            task.waiting -= 1
            if not task.waiting and not task.future.done():
                self._give_up(task)

    @contextmanager
    def sending(self, size: int) -> Iterator[None]:
        """Count the bytes of an answer while it is sent."""
        self._sending += size
        try:
            yield
        finally:
            self._sending -= size

    # --- waiting jobs

    def _check_room(self) -> None:
        quick = sum(not other.is_long for other in self._tasks.values())
        if quick >= 2 * self._options.max_waiting:
            raise _busy(f"{quick} other requests are waiting")
        if self._sending > self._options.max_waiting_bytes:
            raise _busy(f"{self._sending} bytes of other answers are being sent")

    def _check_room_for_long(self, task: _Task) -> None:
        others = [other for other in self._tasks.values() if other.is_long and other is not task]
        if len(others) >= self._options.max_waiting:
            raise _busy(f"{len(others)} other checkpoints are being read")
        needs = sum(other.needs for other in others)
        if others and needs + task.needs > self._options.max_waiting_bytes:
            raise _busy(f"{needs} bytes of other checkpoints are being read")

    def _give_up(self, task: _Task) -> None:
        """Drop a job without clients; if it runs, it has a moment to end."""
        process = task.process
        if process is None or task.has_parts:
            self._forget(task)
            task.future.cancel()
            if process is not None:
                process.stop(task.number, "the client has disconnected")
                asyncio.get_running_loop().call_later(_STOP_SECONDS, self._end_stopped, task)
        else:
            asyncio.get_running_loop().call_later(_GRACE, self._end, task)

    def _end(self, task: _Task) -> None:
        if not task.waiting and not task.future.done():
            self._forget(task)
            task.future.cancel()
            if task.process is not None:
                task.process.kill()

    def _end_stopped(self, task: _Task) -> None:
        if task in self._running and task.process is not None:
            task.process.kill()

    def _forget(self, task: _Task) -> None:
        if self._tasks.get(task.job.key) is task:
            del self._tasks[task.job.key]

    # --- running jobs

    def _start(self) -> None:
        for task in list(self._tasks.values()):
            if task not in self._running and self._may_run(task):
                self._running.add(task)
                job = asyncio.ensure_future(self._run(task))
                self._jobs.add(job)
                job.add_done_callback(self._jobs.discard)

    def _may_run(self, task: _Task) -> bool:
        page = task.job.page
        is_answer = task.job.ask == "answer"
        for other in self._running:
            if page is not None and other.job.page == page and not (other.has_parts and is_answer):
                return False  # the graph is being read and will soon be available
        alike = sum(other.is_long == task.is_long for other in self._running)
        return alike < (self._options.max_reads if task.is_long else _QUICK)

    async def _run(self, task: _Task) -> None:
        try:
            answer = await self._answer(task)
            if answer is not None and not task.future.done():
                task.future.set_result(answer)
        except Exception as error:
            if not task.waiting:
                task.future.cancel()
            elif not task.future.done():
                task.future.set_exception(error)
        finally:
            self._running.discard(task)
            task.process = None
            if task.future.done():
                self._forget(task)
            self._start()

    async def _answer(self, task: _Task) -> Frame | None:
        """Return the answer to a job; None if it has to begin again as a long one."""
        if task.future.done():  # the clients disconnected at once
            return None
        names = self._pages.names()
        wanted = task.job.page if task.job.page in names else self._earlier(task)
        process = task.process = self._processes.take(wanted, is_long=task.is_long)
        seconds = self._options.max_seconds
        if not task.is_long and not task.has_parts:
            seconds = min(seconds, _QUICK_SECONDS)
        await process.begin()
        if task.has_parts and task.future.done():  # the client did not wait for the process
            self._processes.give_back(process)
            return None
        asked = process.ask(self._frame(task), task.add)
        await asyncio.wait({asked}, timeout=seconds)
        if not asked.done() and task.has_parts:
            process.stop(task.number, f"reading took more than {seconds:g} s: read on")
            await asyncio.wait({asked}, timeout=_LAST_SECONDS)
        if not asked.done():
            is_last = task.is_long or seconds == self._options.max_seconds
            if is_last and task.waiting and not task.future.done():
                task.future.set_exception(_too_slow(task, seconds))
            process.kill()
            await asked  # a job that hangs in the operating system keeps its place
            if not is_last:
                self._begin_again(task, needs=task.needs)
            return None
        answer = asked.result()
        if answer is None:
            raise RuntimeError(f"{_path(task)}: the process that read it ended before it was done")
        header = answer.header
        process.pages, process.resident = frozenset(header["pages"]), header["resident"]
        if "nodes" in header and task.job.asked is not None:
            kept = KeptGraph(task.job.etag, header["nodes"], header["bytes"])
            self._pages.keep(task.job.asked, kept)
        self._processes.give_back(process)
        self._trim()
        if "failed" in header:
            raise RuntimeError(header["failed"])
        if "reason" in header:
            raise RefusedRequest(Reason(header["reason"]), header["message"])
        if "needs" in header:
            self._begin_again(task, needs=header["needs"])
            return None
        return answer

    def _frame(self, task: _Task) -> Frame:
        # A process that reads a large graph has no memory left for others.
        others = [] if task.is_long else self._pages.names()
        pages = [page for page in (task.job.page, self._earlier(task)) if page is not None]
        task.number = next(self._numbers)
        return Frame(
            {
                "keep": [*others, *pages],
                "number": task.number,
                "job": asdict(task.job),
                "limits": asdict(self._limits),
                "is_quick": not task.is_long,
            }
        )

    def _earlier(self, task: _Task) -> str | None:
        """Return the key of a history from which a job goes on."""
        asked = task.job.asked
        return self._pages.earlier(asked) if asked is not None and asked.what == "history" else None

    def _begin_again(self, task: _Task, needs: int) -> None:
        """Let a quick job begin again as a long one, unless its clients have gone."""
        if task.waiting:
            self._lengthen(task, needs)
        else:
            self._forget(task)
            task.future.cancel()

    def _lengthen(self, task: _Task, needs: int) -> None:
        task.needs = needs
        self._check_room_for_long(task)
        task.is_long = True

    def _trim(self) -> None:
        """Make idle processes drop the excess graphs now."""
        kept = frozenset(self._pages.names())
        for process in self._processes.idle:
            if process.pages - kept:
                process.tell(Frame({"keep": list(kept)}))
                process.pages &= kept


def _busy(why: str) -> RefusedRequest:
    return RefusedRequest(Reason.BUSY, f"{why}; try again in a moment")


def _too_slow(task: _Task, seconds: float) -> RefusedRequest:
    return RefusedRequest(
        Reason.TOO_SLOW,
        f"{_path(task)}: reading it took more than {seconds:g} s; open it in a kernel, or set "
        "c.CkptViz.max_seconds in jupyter_server_config.py",
    )


def _path(task: _Task) -> str:
    return "the version" if task.job.asked is None else task.job.asked.path

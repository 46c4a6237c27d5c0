"""Opens paths in separate processes, counts the work, and ends what never ends.

A worker imports the package once. It forks for each path, so that every input starts from the same
memory. A crash or an endless loop affects only its own input. The guards are far from what any
sound input takes: they end loops without end and allocations that explode. What an input may take
is counted, for a size and for twice that size: see `faster_than_size`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.hostile.seeds import DIRECTORY
from tests.hostile.use import Finding, Stage, compare, use_all
from tests.support.counted import DOUBLED, Taken, counted_bytes, counted_steps

GUARD_SECONDS = 60.0  # of processor time, for each operation on a path
GUARD_BYTES = 1 << 30  # address space beyond the worker's own: allocations fail, not thrash
_WATCHDOG_SECONDS = 300.0  # on the clock, for each operation: some wait, without processor time
_HEALTHY = str(DIRECTORY / "adam" / "ckpt-1")
_NAMES = re.compile(r"['\"].*|\d+")  # those in an operation differ from size to size

# These look at all paths, or print them, up to a million characters.
_BY_PATHS = {"aliases of node ", "read "}
Work = Mapping[str, Mapping[str, int]]  # by kind, "steps" or "bytes", and by operation


@contextmanager
def ends(what: object, seconds: float = GUARD_SECONDS) -> Iterator[None]:
    """Raise TimeoutError in this process if the body does not end."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"did not end within {seconds:g} s of processor time: {what}")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Result(NamedTuple):
    """The result of opening a path; `finding` is None if it is as expected."""

    said: str
    finding: str | None
    work: Work


def faster_than_size(small: Work, large: Work) -> list[str]:
    """Return the operations whose work more than doubles from a size to twice that size.

    Quadratic work becomes four times as much. What depends on the nodes above each node, such as
    the names in a chain, comes in between until the package cuts the names.
    """
    return [
        f"{operation}: {kind} grow from {small[kind].get(operation, 0):,} to {most:,}"
        for kind, operations in large.items()
        for operation, most in operations.items()
        if operation not in _BY_PATHS
        and most > DOUBLED * small[kind].get(operation, 0) + _SPARE[kind]
    ]


class Worker:
    """A process that opens paths; a context manager.

    Its program is the module `program`, which calls `serve`.
    """

    def __init__(self, program: str = __name__) -> None:
        self._program = program

    def __enter__(self) -> Worker:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def open(
        self,
        path: str,
        sandbox: str,
        healthy: str = _HEALTHY,
        *,
        counted: str = "",
        seconds: float = GUARD_SECONDS,
        watchdog: float = _WATCHDOG_SECONDS,
    ) -> Result:
        """Use a path (see `use_all`), and compare it with itself and a checkpoint at `healthy`.

        `counted` is "steps" or "bytes": the steps of Python that each operation takes, or the most
        bytes that it has at a time. An operation that takes `seconds` of processor time, or
        `watchdog` on the clock, is ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        task = Task(path, sandbox, healthy, counted, seconds, watchdog)
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker died, status {self._process.wait()}, at {path}")
        return Result(*json.loads(line))


class Task(NamedTuple):
    path: str
    sandbox: str
    healthy: str
    counted: str
    seconds: float
    watchdog: float


Use = Callable[[Task, Stage], str]


def _use(task: Task, stage: Stage) -> str:
    said = use_all(task.path, task.sandbox, stage)
    compare(task.path, task.sandbox, task.healthy, stage)
    return said


def serve(use: Use = _use) -> None:
    """Open the paths that arrive on the standard input, each in a process of its own."""
    import gc

    warnings.simplefilter("error")
    import ml_dtypes  # noqa: F401 (what is imported here is not counted)

    # Else each child would import again what its operations need.
    sandbox = str(Path(_HEALTHY).parent)
    _use(Task(_HEALTHY, sandbox, _HEALTHY, "", 0.0, 0.0), lambda operation: None)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_run(Task(*json.loads(line)), use)), flush=True)


def _run(task: Task, use: Use) -> Result:
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        _in_child(task, writer, use)
    os.close(writer)
    output = _output(reader, child, task.watchdog)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    *stages, last = output.decode("utf-8", "replace").split("\n") if output else [""]
    at = f" at: {stages[-1] if stages else last}"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        is_late = number in (signal.SIGPROF, signal.SIGKILL)
        return Result("", f"{'did not end' if is_late else f'died of signal {number}'}{at}", {})
    if status:
        return Result("", f"ended with status {os.waitstatus_to_exitcode(status)}{at}", {})
    return Result(*json.loads(last))


def _output(reader: int, child: int, watchdog: float) -> bytes:
    """Return everything that the child writes; kill it if it waits without end."""
    output = b""
    while True:  # it reports each operation that it begins
        ready, _, _ = select.select([reader], [], [], watchdog)
        if not ready:
            os.kill(child, signal.SIGKILL)
            return output
        data = os.read(reader, 1 << 16)
        if not data:
            return output
        output += data


def _in_child(task: Task, writer: int, use: Use) -> None:
    # The child writes a line for each operation; the last line is the result.
    said, finding, work = "", None, Counter[str]()
    try:
        _limit()
        try:
            with _COUNTERS[task.counted]() as taken:
                before = "start"

                def begin(operation: str) -> None:
                    """Report the next operation, and end the process if that does not end."""
                    nonlocal before
                    work[before] += taken()
                    before = _NAMES.sub("", operation.replace(task.sandbox, ""))
                    _write(writer, ascii(operation)[:500] + "\n")
                    signal.setitimer(signal.ITIMER_PROF, task.seconds)

                said = use(task, begin)
                work[before] += taken()
        except Finding as error:
            finding = str(error)
        except MemoryError:
            finding = f"asked for more than there is: {_last_lines()}"
        except BaseException:
            finding = _last_lines()
        _write(writer, json.dumps([said[:3000], finding, {task.counted: work}]))
        os._exit(0)
    finally:
        os._exit(77)


@contextmanager
def _no_work() -> Iterator[Taken]:
    yield lambda: 0


_COUNTERS: Mapping[str, Callable[[], AbstractContextManager[Taken]]] = {
    "": _no_work,
    "steps": counted_steps,
    "bytes": counted_bytes,
}
_SPARE = {"steps": 2_000, "bytes": 300_000}  # what caches and first uses may add


def _write(writer: int, text: str) -> None:
    os.write(writer, text.encode())


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    space = pages * resource.getpagesize() + GUARD_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _last_lines() -> str:
    kind, error, at = sys.exc_info()
    frames = traceback.extract_tb(at)[-6:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{kind.__name__ if kind else ''}: {str(error)[:1000]} ({where})"


if __name__ == "__main__":
    serve()

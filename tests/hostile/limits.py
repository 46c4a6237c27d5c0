"""Opens paths in separate processes, with limits on time and memory.

A worker imports the package once. It forks for each path, so that every input starts from the same
memory. A crash or an endless loop affects only its own input. Memory is the peak of resident memory
beyond that of opening nothing. Time is processor time, for each operation on a path: other work on
the machine counts for neither.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.hostile.seeds import DIRECTORY
from tests.hostile.use import Finding, compare, use_all

SECONDS = 2.0
MEGABYTES = 256
MEGABYTES_TO_COMPARE = 512  # two graphs, and both as one
_WATCHDOG_SECONDS = 30.0  # on the clock, for each thing: some wait and take no processor time
_HEALTHY = str(DIRECTORY / "adam" / "ckpt-1")
_ADDRESS_SPACE = 1 << 30  # beyond the worker's own: allocations fail rather than thrash


@contextmanager
def ends_within(seconds: float, what: object) -> Iterator[None]:
    """Raise TimeoutError in this process if the body takes more processor time."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"took more than {seconds} seconds: {what}")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Result(NamedTuple):
    """The result of opening a path.

    `finding` is None if the result is as expected. `megabytes` is the memory for opening the path,
    without that for comparing it with others.
    """

    said: str
    finding: str | None
    seconds: float
    megabytes: float


class Worker:
    """A process that opens paths; a context manager."""

    def __enter__(self) -> Worker:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
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
        self, path: str, sandbox: str, seconds: float = SECONDS, healthy: str = _HEALTHY
    ) -> Result:
        """Use a path (see `use_all`), each operation for a limited number of seconds.

        It is compared with itself and with the checkpoint at the path `healthy`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([path, sandbox, seconds, healthy]).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker died, status {self._process.wait()}, at {path}")
        return Result(*json.loads(line))


def _serve() -> None:
    import gc

    warnings.simplefilter("error")
    import ml_dtypes  # noqa: F401 (what is imported here is not measured)

    # Else each child would import again what its operations need.
    use_all(_HEALTHY, str(Path(_HEALTHY).parent))
    compare(_HEALTHY, str(Path(_HEALTHY).parent), _HEALTHY)
    gc.collect()
    gc.freeze()
    baseline = max(_run("", "", SECONDS, 0.0).megabytes for _ in range(3))
    for line in sys.stdin:
        path, sandbox, seconds, healthy = json.loads(line)
        print(json.dumps(_run(path, sandbox, seconds, baseline, healthy)), flush=True)


def _run(
    path: str, sandbox: str, seconds: float, baseline: float, healthy: str = _HEALTHY
) -> Result:
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        _in_child(path, sandbox, seconds, writer, healthy)
    os.close(writer)
    output = _output(reader, child)
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    took = usage.ru_utime + usage.ru_stime
    most = usage.ru_maxrss / 1024 - baseline
    *stages, last = output.decode("utf-8", "replace").split("\n") if output else [""]
    said, finding, opened = json.loads(last) if status == 0 else ("", None, usage.ru_maxrss)
    megabytes = opened / 1024 - baseline
    at = f" at: {stages[-1] if stages else last}"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        late = number in (signal.SIGPROF, signal.SIGKILL)
        finding = f"{'took too long' if late else f'died of signal {number}'}{at}"
    elif status:
        finding = f"ended with status {status}{at}"
    elif finding is None and baseline and megabytes > MEGABYTES:
        finding = f"took {megabytes:.0f} MB, expected at most {MEGABYTES}"
    elif finding is None and baseline and most > MEGABYTES_TO_COMPARE:
        finding = f"took {most:.0f} MB to compare, expected at most {MEGABYTES_TO_COMPARE}"
    return Result(said, finding, took, megabytes)


def _output(reader: int, child: int) -> bytes:
    """Return everything that the child writes; kill it if it waits without end."""
    output = b""
    while True:  # it reports each operation that it begins
        ready, _, _ = select.select([reader], [], [], _WATCHDOG_SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
            return output
        data = os.read(reader, 1 << 16)
        if not data:
            return output
        output += data


def _in_child(path: str, sandbox: str, seconds: float, writer: int, healthy: str) -> None:
    # The child writes a line for each operation; the last line is the result.
    said, finding, opened = "", None, 0
    try:
        _limit()
        if sandbox:
            try:
                begin = partial(_begin, writer, seconds)
                said = use_all(path, sandbox, begin)
                opened = _peak()
                compare(path, sandbox, healthy, begin)
            except Finding as error:
                finding = str(error)
            except MemoryError:
                finding = f"asked for more than there is: {_last_lines()}"
            except BaseException:
                finding = _last_lines()
        _write(writer, json.dumps([said[:3000], finding, opened or _peak()]))
        os._exit(0)
    finally:
        os._exit(77)


def _peak() -> int:
    """Return the most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _begin(writer: int, seconds: float, stage: str) -> None:
    """Report the next operation; end the process if that operation takes too long."""
    _write(writer, ascii(stage)[:500] + "\n")
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _write(writer: int, text: str) -> None:
    os.write(writer, text.encode())


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    space = pages * resource.getpagesize() + _ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _last_lines() -> str:
    kind, error, at = sys.exc_info()
    frames = traceback.extract_tb(at)[-6:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{kind.__name__ if kind else ''}: {str(error)[:1000]} ({where})"


if __name__ == "__main__":
    _serve()

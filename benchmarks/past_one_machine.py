"""What reading values past one machine asks of the program that drives it.

Writes a sparse checkpoint: a real index over shards that are holes, which take no space. All sizes
are 10**12 bytes a terabyte. It measures, each in a process of its own,

- opening the graph;
- the whole work of the driver, with an executor that answers each task at once: planning, pickling
  all tasks and results, and joining. The answers have the size of those of real weights. So this is
  what a cluster of any speed leaves to the driver;
- the first result, and an interruption by Ctrl+C in the middle, with two processes that read.

    python -m benchmarks.past_one_machine [--terabytes 1] [--shards 64] [--tensors 2000]
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np

import ckpt_viz as cv
from ckpt_viz.files.values.folds import Measured, Statistics
from ckpt_viz.files.values.partial import partial_of
from ckpt_viz.files.values.ranges import Task
from ckpt_viz.files.values.reading import Memo, rows_as_read, tensors_of
from ckpt_viz.files.values.running import silent
from ckpt_viz.formats.storage.crc32c import combine
from ckpt_viz.formats.storage.sstable import mask_crc32c
from tests.support import tables

_BLOCK = 1 << 20


@cache
def crc32c_of_zeros(size: int) -> int:
    """Return the crc32c of so many zero bytes, not masked."""
    if size <= _BLOCK:
        return int(google_crc32c.value(bytes(size)))
    half = size // 2
    return combine(crc32c_of_zeros(half), crc32c_of_zeros(size - half), size - half)


def write_sparse(prefix: str, total: int, shards: int, tensors: int) -> None:
    """Write a checkpoint of float32 zeros, the tensors in shards by turns."""
    size = total // tensors // 4 * 4
    crc = mask_crc32c(crc32c_of_zeros(size))
    rows = [(b"", tables.header(shards))]
    for number in range(tensors):
        place, shard = divmod(number, shards)
        entry = tables.bundle_entry(
            dims=tables.shape(size // 4), shard=shard, offset=place * size, size=size, crc32c=crc
        )
        rows.append((b"block_%05d/kernel" % number, entry))
    tables.write_index(prefix, rows)
    for shard in range(shards):
        with open(f"{prefix}.data-{shard:05d}-of-{shards:05d}", "wb") as file:
            file.truncate(len(range(shard, tensors, shards)) * size)


class Answering(Executor):
    """Answers each task at once, as if workers had read real weights; counts tasks and bytes."""

    def __init__(self) -> None:
        weights = np.random.default_rng(0).normal(0, 0.02, 1 << 22).astype(np.float32)
        self._found = partial_of(weights.tobytes(), "float32", "little", "weights")
        self.tasks = self.task_bytes = self.result_bytes = self.nbytes = 0
        self.begun = 0.0

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Return a future that is done."""
        self.begun = self.begun or time.perf_counter()
        sent = pickle.dumps((function, args), protocol=5)
        _, (task,) = pickle.loads(sent)
        answer = pickle.dumps(self._answer(task), protocol=5)
        self.tasks += 1
        self.task_bytes += len(sent)
        self.result_bytes += len(answer)
        self.nbytes += task.size
        future: Future[Any] = Future()
        future.set_result(pickle.loads(answer))
        return future

    def _answer(self, task: Task) -> Any:
        crcs = [(piece.fold, crc32c_of_zeros(piece.size)) for piece in task.pieces]
        return tuple(
            Measured(self._found, crc) if isinstance(fold, Statistics) else crc
            for fold, crc in crcs
        )


def forget_peak() -> None:
    """Reset the peak that Linux keeps of the memory."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """Return the most resident memory since `forget_peak`, in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def drive(what: str, prefix: str) -> None:
    """Open the graph, and let an executor answer all tasks; print the figures."""
    executor = Answering()
    forget_peak()
    before, start = peak(), time.perf_counter()
    graph = cv.graph(prefix)
    opened = time.perf_counter() - start
    memory = peak() - before
    if what == "values":
        table = graph.values(executor=executor, progress=False)
        assert all(row.error is None for row in table), table[0].error
    else:
        assert graph.verify(executor=executor, progress=False) == ()
    seconds = time.perf_counter() - executor.begun
    planned = executor.begun - start - opened
    print(
        f"{what}: opened in {opened:.2f} s, {memory:.0f} MB; planned in {planned:.2f} s; "
        f"{executor.tasks} tasks of "
        f"{executor.nbytes / 1e12:.2f} TB driven in {seconds:.1f} s, "
        f"{executor.tasks / seconds:.0f} a second; {peak() - before:.0f} MB in all; a task "
        f"{executor.task_bytes / executor.tasks:.0f} bytes, a result "
        f"{executor.result_bytes / executor.tasks:.0f}"
    )


def interrupt(prefix: str, seconds: float) -> None:
    """Read with two processes, press Ctrl+C after some seconds, and print what happened."""
    graph = cv.graph(prefix)
    start = time.perf_counter()
    pressed = [0.0]

    def press() -> None:
        time.sleep(seconds)
        pressed[0] = time.perf_counter()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    memo, rows, first = Memo(), 0, 0.0
    with ProcessPoolExecutor(2) as executor:
        threading.Thread(target=press, daemon=True).start()
        try:
            for _ in rows_as_read(graph, tensors_of(graph), memo, executor=executor, begin=silent):
                rows += 1
                first = first or time.perf_counter() - start
        except KeyboardInterrupt:
            back = time.perf_counter() - pressed[0]
        executor.shutdown()
        idle = time.perf_counter() - pressed[0]
    print(
        f"interrupted after {seconds} s: first row after {first:.2f} s, {rows} rows; the prompt "
        f"is back after {back:.3f} s, the workers have stopped after {idle:.2f} s"
    )


def main() -> None:
    """Write the checkpoint, measure, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--terabytes", type=float, default=1)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--tensors", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5, help="until the interruption")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--prefix", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step == "interrupt":
        interrupt(options.prefix, options.seconds)
    elif options.step:
        drive(options.step, options.prefix)
    else:
        with tempfile.TemporaryDirectory() as directory:
            prefix = str(Path(directory, "ckpt"))
            total = int(options.terabytes * 1e12)
            write_sparse(prefix, total, options.shards, options.tensors)
            size = os.path.getsize(f"{prefix}.index")
            print(f"{options.terabytes} TB in {options.shards} shards: index of {size} bytes")
            for step in ("values", "verify", "interrupt"):
                program = [sys.executable, "-m", "benchmarks.past_one_machine", "--step", step]
                given = ["--prefix", prefix, "--seconds", str(options.seconds)]
                subprocess.run([*program, *given], check=True)


if __name__ == "__main__":
    main()

"""Opens any number of damaged checkpoints: `python -m tests.hostile.fuzz --inputs N [--seed S]`.

Prints each input with a wrong result, and keeps its files.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.hostile.limits import Result, Worker
from tests.hostile.mutate import mutated
from tests.hostile.seeds import Seed
from tests.hostile.use import copy_of


class Finding(NamedTuple):
    """An input with a wrong result, and where its files are now."""

    number: str
    result: Result
    kept: Path

    def __str__(self) -> str:
        return f"input {self.number}: {self.result.finding}\n  open {self.kept}"


def opened(worker: Worker, seed: Seed, number: str) -> Finding | None:
    """Open a checkpoint; keep its files if the result is wrong."""
    with tempfile.TemporaryDirectory() as directory:
        copy_of(seed.files, Path(directory))
        path = str(Path(directory) / seed.opened)
        result = worker.open(path, directory, healthy=seed.compared_with)
    if result.finding is None:
        return None
    kept = Path(tempfile.gettempdir()) / "ckpt_viz_findings" / number
    copy_of(seed.files, kept)
    return Finding(number, result, kept / seed.opened)


def fuzz(
    worker: Worker, inputs: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> Iterator[Finding]:
    """Yield the findings on a number of inputs, which only the seed and their numbers determine."""
    for number in range(inputs):
        name = f"{seed}.{number}"
        finding = opened(worker, mutated(random.Random(name)), name)
        if finding is not None:
            yield finding
        progress(number + 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.hostile.fuzz")
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start = time.monotonic()

    def progress(done: int) -> None:
        if done % 1000 == 0 or done == arguments.inputs:
            rate = done / (time.monotonic() - start)
            print(f"{done} inputs, {rate:.0f} a second", file=sys.stderr)

    findings = 0
    with Worker() as worker:
        for finding in fuzz(worker, arguments.inputs, arguments.seed, progress):
            findings += 1
            print(finding)
    print(f"{findings} findings in {arguments.inputs} inputs of seed {arguments.seed}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

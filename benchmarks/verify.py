"""The time to test every byte of a checkpoint, against reading and hashing the same bytes.

Writes a checkpoint of random numbers, then reads its data file in several ways. The file is in the
kernel's cache, so this compares work, not disks. Each figure is the median of the runs.

    python -m benchmarks.verify [--megabytes 2000] [--tensors 200] [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import ckpt_viz as cv
from ckpt_viz.formats.bundles.bundle_writer import NewTensor, array_tensor, write_bundle


def seconds(action: Callable[[], object], runs: int) -> float:
    """Return the median time of an action."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def random_tensor(seed: int, count: int) -> NewTensor:
    """Return a tensor of so many numbers."""
    numbers = np.random.default_rng(seed)
    return array_tensor("float32", (count,), lambda: numbers.random(count, "float32"))


def main() -> None:
    """Write the checkpoint, read it in all ways, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=2_000)
    parser.add_argument("--tensors", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        prefix = str(Path(directory, "ckpt"))
        count = options.megabytes * 1_000_000 // options.tensors // 4
        write_bundle(prefix, {f"w{i}": random_tensor(i, count) for i in range(options.tensors)})
        shard = f"{prefix}.data-00000-of-00001"
        size = Path(shard).stat().st_size
        graph = cv.graph(prefix)

        def verify(executor: ProcessPoolExecutor | None = None) -> None:
            assert graph.verify(executor=executor, progress=False) == ()

        with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(2) as two:
            verify(one), verify(two)  # starts the workers, and fills the cache
            ways: dict[str, Callable[[], object]] = {
                "verify()": verify,
                "verify(executor), one worker": lambda: verify(one),
                "verify(executor), two workers": lambda: verify(two),
                "np.fromfile": lambda: np.fromfile(shard, "float32"),
                "sha256sum": lambda: subprocess.run(
                    ["sha256sum", shard], check=True, stdout=subprocess.DEVNULL
                ),
            }
            for name, way in ways.items():
                taken = seconds(way, options.runs)
                print(f"{name:30} {taken:7.3f} s  {size / taken / 1e9:6.2f} GB/s")


if __name__ == "__main__":
    main()

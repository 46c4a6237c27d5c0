"""Memory and time of `cv.history` for each cell, against NumPy on the same arrays.

Every figure is of a process of its own, with one thread for each library. The memory of a cell is
the difference of the peaks of two histories, divided by that of their cells: so it has no imports.
NumPy computes min, max, mean, std, norm and a histogram of 64 bins of each array. The history also
has checksums, counts of NaN and zeros, exact bins, and two differences.

    python -m benchmarks.history [--checkpoints 200] [--variables 100] [--elements 10000] [--runs 3]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.values import DATA, ratio, run
from tests.support.name_based import write

OURS = """
import sys, time, ckpt_viz as cv
def peak():
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
most = int(sys.argv[2])
cv.history(sys.argv[1], most=2, progress=False)
start = time.process_time()
history = cv.history(sys.argv[1], most=most, progress=False)
took = time.process_time() - start
cells = sum(len(row.cells) for row in history.rows)
assert all(cell.values.histogram for row in history.rows for cell in row.cells)
print(peak(), cells, took / cells)
"""
NUMPY = """
import sys, time, numpy as np
def run(a):
    return a.min(), a.max(), a.mean(), a.std(), np.linalg.norm(a), np.histogram(a, 64)
times, elements = int(sys.argv[2]), int(sys.argv[3])
start, cells = time.process_time(), 0
for time_ in range(times):
    arrays = np.fromfile(f"{sys.argv[1]}/ckpt-{time_}" + sys.argv[4], "float32")
    for array in arrays.reshape(-1, elements):
        run(array)
        cells += 1
print((time.process_time() - start) / cells)
"""


def main() -> None:
    """Write the checkpoints, measure in turn, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checkpoints", type=int, default=200)
    parser.add_argument("--variables", type=int, default=100)
    parser.add_argument("--elements", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as directory:
        for time in range(options.checkpoints):
            arrays = {
                f"v{n:04}": rng.normal(0, 0.02, (options.elements // 10, 10)).astype(np.float32)
                for n in range(options.variables)
            }
            write(Path(directory, f"ckpt-{time}"), **arrays)
        ours, numpys = [], []
        for _ in range(options.runs):
            few, few_cells, _ = run(OURS, directory, str(options.checkpoints // 10))
            peak, cells, seconds = run(OURS, directory, str(options.checkpoints))
            ours.append(seconds)
            numpys += run(NUMPY, directory, str(options.checkpoints), str(options.elements), DATA)
        print(
            f"{cells:.0f} cells of {options.elements} float32: "
            f"{(peak - few) / (cells - few_cells):.0f} bytes a cell, {peak / 1e6:.0f} MB in all; "
            f"{1000 * statistics.median(ours):.3f} ms a cell, NumPy "
            f"{1000 * statistics.median(numpys):.3f} ms: {ratio(ours, numpys):.1f} times"
        )


if __name__ == "__main__":
    main()

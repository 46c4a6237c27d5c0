"""Speed and memory of `graph.values()`, against NumPy on the same file.

Every figure is of a process of its own, with one thread for each library. NumPy reads the file with
`np.fromfile` and computes min, max, mean, std and the number of NaNs; numbers of 8 and 16 bits as
float32. The table of values has all of these, checksums, the norm and a histogram. Both find the
file in the cache of the operating system, and are compared in processor time, but workers on the
clock. Memory is the peak that Linux has in /proc/self/status.

    python -m benchmarks.values [--mebibytes 1536] [--tensors 1] [--runs 3] [--sparse-gigabytes 8]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ckpt_viz.formats.arrays.tensors import numpy_dtype
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle
from tests.support import tables

DATA = ".data-00000-of-00001"
NUMPY = """
import sys, time, numpy as np, ml_dtypes
def run():
    for a in np.fromfile(sys.argv[1], sys.argv[2]).reshape(int(sys.argv[3]), -1):
        a = a.astype(np.float32) if a.itemsize < 4 else a
        a.min(), a.max(), a.mean(), a.std(), np.isnan(a).sum()
run()
start = time.process_time(); run(); print(time.process_time() - start)
"""
# The first run imports the modules, or starts the workers.
OURS = """
import sys, time, ckpt_viz as cv
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
def run(executor):
    graph = cv.graph(sys.argv[1])
    clock = time.process_time if executor is None else time.perf_counter
    start = clock()
    table = graph.values(executor=executor, progress=False)
    assert all(row.error is None for row in table), table[0].error
    return clock() - start
if __name__ == "__main__":
    workers = int(sys.argv[2])
    with ProcessPoolExecutor(workers) if workers else nullcontext() as executor:
        run(executor)
        print(run(executor))
"""
MEMORY = """
import sys, time, ckpt_viz as cv
import ckpt_viz.files.values.reading, ckpt_viz.files.values.table
def peak():
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
before, start = peak(), time.perf_counter()
(row,) = cv.graph(sys.argv[1]).values(progress=False)
print(peak() - before, time.perf_counter() - start, row.count)
"""
OPEN = """
import sys, time, ckpt_viz as cv
cv.graph(sys.argv[1])
start = time.perf_counter(); cv.graph(sys.argv[1]); print(time.perf_counter() - start)
assert "numpy" not in sys.modules
"""
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run(program: str, *arguments: str) -> list[float]:
    """Return the numbers that a program prints."""
    output = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=os.environ | _ONE_THREAD,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return list(map(float, output.split()))


def write(prefix: Path, dtype: str, mebibytes: int, tensors: int = 1) -> str:
    """Write a checkpoint of so many equal tensors of weights, and return its prefix."""
    numpys = numpy_dtype(dtype)
    assert numpys is not None
    count = (mebibytes << 20) // numpys.itemsize // tensors
    numbers = np.random.default_rng(0).normal(0, 0.02, count)
    array = (numbers * 1500).clip(-128, 127).astype(dtype) if dtype == "int8" else numbers
    tensor = array_tensor(dtype, (count,), lambda: array.astype(numpys))
    write_bundle(str(prefix), dict.fromkeys((f"w{number}" for number in range(tensors)), tensor))
    return str(prefix)


def write_sparse(prefix: Path, gigabytes: int) -> str:
    """Write a checkpoint of one tensor of zeros, which takes no space, and return its prefix."""
    size = gigabytes << 30
    crc = crc32c_of_zeros(size)
    entry = tables.bundle_entry(dims=tables.shape(size // 4), size=size, crc32c=crc)
    tables.write_index(str(prefix), [(b"", tables.header()), (b"w", entry)])
    with open(f"{prefix}{DATA}", "wb") as file:
        file.truncate(size)
    return str(prefix)


def crc32c_of_zeros(size: int) -> int:
    """Return the masked crc32c of so many zero bytes, a multiple of a mebibyte."""
    import google_crc32c

    from ckpt_viz.formats.storage.sstable import mask_crc32c

    crc, block = 0, bytes(1 << 20)
    for _ in range(size >> 20):
        crc = google_crc32c.extend(crc, block)
    return mask_crc32c(crc)


def ratio(ours: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of the ratios, pair by pair."""
    return statistics.median(one / other for one, other in zip(ours, others, strict=True))


def main() -> None:
    """Write the checkpoints, measure in turn, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mebibytes", type=int, default=1536)
    parser.add_argument("--tensors", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sparse-gigabytes", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for dtype in ("float32", "float64", "int32", "bfloat16", "float16", "int8"):
            prefix = write(Path(directory, dtype), dtype, options.mebibytes, options.tensors)
            numpys, ours = [], []
            for _ in range(options.runs):
                numpys += run(NUMPY, prefix + DATA, dtype, str(options.tensors))
                ours += run(OURS, prefix, "0")
            print(
                f"{options.mebibytes} MiB {dtype}: values {statistics.median(ours):.2f} s, "
                f"NumPy {statistics.median(numpys):.2f} s: {ratio(numpys, ours):.2f} of its speed"
            )
        prefix = str(Path(directory, "float32"))
        one, two = [], []
        for _ in range(options.runs):
            one += run(OURS, prefix, "1")
            two += run(OURS, prefix, "2")
        print(f"one worker {statistics.median(one):.2f} s, two {ratio(one, two):.2f} times faster")
        opened = [run(OPEN, prefix)[0] for _ in range(options.runs)]
        print(f"opening the graph {statistics.median(opened) * 1000:.1f} ms, without NumPy")
        if options.sparse_gigabytes:
            sparse = write_sparse(Path(directory, "sparse"), options.sparse_gigabytes)
            peak, seconds, count = run(MEMORY, sparse)
            print(f"{count:.0f} zeros: {peak:.0f} MB above the imports, {seconds:.1f} s")


if __name__ == "__main__":
    main()

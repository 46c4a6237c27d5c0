"""Time and memory of a checkpoint made from a checkpoint, against copying its files.

A process of its own writes each: a copy with the checksum of each tensor tested, `renamed`, `cast`
to bfloat16, and an average of the file with itself. Prints seconds, how fast each is against the
copy, and the peak of memory above what the imports take. Then the time of `without` for 2,000 slots
against opening the file.

    python benchmarks/rewrite.py [--megabytes 1000] [--runs 3]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

_LAYERS = 20


def checkpoint(directory: Path, megabytes: int) -> str:
    """Write a model of some layers with random values, without slots, and return its prefix."""
    import tensorflow as tf

    rng = np.random.default_rng(0)
    layers = []
    for _ in range(_LAYERS):
        layer = tf.Module()
        size = megabytes * 250_000 // _LAYERS
        layer.kernel = tf.Variable(rng.normal(size=size).astype(np.float32))
        layers.append(layer)
    return str(tf.train.Checkpoint(net=layers).write(str(directory / "ckpt")))


def write(way: str, source: str, target: str) -> tuple[float, int]:
    """Return the seconds of a way, and the bytes of memory that it takes above the imports."""
    import ckpt_viz as cv
    from ckpt_viz.formats.arrays import tensors
    from ckpt_viz.formats.bundles.bundle_writer import copied_tensor, write_bundle

    graph = cv.graph(source)
    tensors.numpy_dtype("bfloat16")  # the first one imports
    before = _peak()
    start = perf_counter()
    if way == "copy":
        bundle = graph.stored_in
        write_bundle(target, {key: copied_tensor(bundle, key) for key in bundle.entries})
    elif way == "renamed":
        graph.renamed({"net": "model"}).write(target)
    elif way == "cast":
        graph.cast({"net": "bfloat16"}).write(target)
    else:
        cv.average([source, source]).write(target)
    seconds = perf_counter() - start
    return seconds, _peak() - before


def _peak() -> int:
    """Return the most bytes of memory that this process has had."""
    status = Path("/proc/self/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def slots(directory: Path, runs: int) -> None:
    """Print the time of `without` for 2,000 slots."""
    import tensorflow as tf

    import ckpt_viz as cv

    variables = [tf.Variable([0.0]) for _ in range(1000)]
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(variables)
    net = tf.Module()
    net.parts = variables
    path = tf.train.Checkpoint(net=net, optimizer=optimizer).write(str(directory / "slots"))
    opened, edited = [], []
    for _ in range(runs):
        start = perf_counter()
        graph = cv.graph(path)
        nodes = graph.find("role:slot|opt")
        middle = perf_counter()
        graph.without("role:slot|opt")
        edited.append(perf_counter() - middle)
        opened.append(middle - start)
    ratio = statistics.median(edited) / statistics.median(opened)
    print(
        f"without {len(nodes)} nodes  {statistics.median(edited) * 1000:7.1f} ms  {ratio:.2f} opens"
    )


def main() -> None:
    """Measure each way and print figures and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--way", nargs=3, metavar=("WAY", "SOURCE", "TARGET"))
    options = parser.parse_args()
    if options.way:
        print(*write(*options.way))
        return
    with TemporaryDirectory() as name:
        directory = Path(name)
        source = checkpoint(directory, options.megabytes)
        seen: dict[str, list[tuple[float, float]]] = {}
        for run in range(options.runs):
            for way in ("copy", "renamed", "cast", "average"):
                target = directory / f"{way}{run}"
                command = [sys.executable, __file__, "--way", way, source, str(target)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds, nbytes = map(float, done.stdout.split())
                seen.setdefault(way, []).append((seconds, nbytes))
                for file in directory.glob(f"{way}{run}.*"):
                    file.unlink()
        copy = statistics.median(seconds for seconds, _ in seen["copy"])
        for way, runs in seen.items():
            seconds = statistics.median(seconds for seconds, _ in runs)
            peak = max(nbytes for _, nbytes in runs) / 1e6
            print(f"{way:<10}{seconds:7.2f} s  {copy / seconds:5.2f} of the copy  {peak:6.0f} MB")
        slots(directory, options.runs)


if __name__ == "__main__":
    main()

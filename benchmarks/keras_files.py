"""Opening the files of a large model of Keras: EfficientNetB7 with the state of Adam.

Keras writes a `.weights.h5` and a `.h5` of 800 MB. Opens each in a process of its own, and walks it
with h5py for comparison, in processor time. Then it checks the live model against what it has
saved, and Keras loads that, both on the clock. /proc/self/io has the bytes that all read calls
returned, so this runs on Linux only.

    python -m benchmarks.keras_files
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

# Opens twice: the first run also imports modules and reads them.
_MEASURE = """
import json, resource, sys, time
import h5py, numpy

import ckpt_viz as cv
from tests.hostile.seeds import DIRECTORY

def read():
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def walk(path):
    with h5py.File(path) as file:
        found = []
        file.visititems(lambda name, one: found.append((name, getattr(one, "shape", None))))
        return len(found)

def took(opening):
    start = time.process_time()
    opening()
    return time.process_time() - start

path = sys.argv[1]
cv.graph(DIRECTORY / "keras_weights" / "model.weights.h5")
walk(DIRECTORY / "keras_weights" / "model.weights.h5")
memory, before = peak(), read()
own = read() - before
before, start = read(), time.process_time()
graph = cv.graph(path)
first = time.process_time() - start
result = {"bytes": read() - before - own, "megabytes": peak() - memory}
result |= {"seconds": min(first, *(took(lambda: cv.graph(path)) for _ in range(4)))}
result |= {"h5py": min(took(lambda: walk(path)) for _ in range(5)), "nodes": len(graph.nodes)}
print(json.dumps(result))
"""


def main() -> None:
    """Print what opening each file takes."""
    import keras

    model = keras.applications.EfficientNetB7(weights=None)
    model.compile(keras.optimizers.Adam(), "categorical_crossentropy")
    model.optimizer.build(model.trainable_variables)
    with tempfile.TemporaryDirectory() as directory:
        weights, by_names = Path(directory, "b7.weights.h5"), Path(directory, "b7.h5")
        model.save_weights(weights)
        model.save(by_names)
        for path in (weights, by_names):
            _open(path)
        _check_of_live(model, weights)


def _open(path: Path) -> None:
    arguments = [sys.executable, "-c", _MEASURE, str(path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    size = path.stat().st_size
    print(
        f"{path.name}: {found['nodes']:,} nodes, {size / 1e6:,.0f} MB: "
        f"{found['seconds']:.2f} s, {found['seconds'] / found['h5py']:.1f} times h5py's "
        f"{found['h5py']:.2f} s; {found['megabytes']:.0f} MB of memory, "
        f"{found['bytes'] / size:.2%} of the bytes"
    )


def _check_of_live(model: Any, path: Path) -> None:
    """Print what a check takes beside the load of the same weights: the median of three."""
    import ckpt_viz as cv

    checks, loads = [], []
    for _ in range(3):
        checks.append(_seconds(lambda: cv.check(model, path).findings))
        loads.append(_seconds(lambda: model.load_weights(path)))
    check, load = median(checks), median(loads)
    print(f"check: {check:.2f} s, {check / load:.2f} times Keras' load_weights, {load:.2f} s")


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

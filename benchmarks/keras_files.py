"""Opening the files of a large model of Keras: EfficientNetB7 with the state of Adam.

Writes files with the groups, names and shapes that `save_weights` and `save` would write. Their
values are holes, which take no space. Opens each in a process of its own, and walks it with h5py
for comparison; both in processor time. Then it checks a live model against what it has saved, and
loads that by Keras, both on the clock. /proc/self/io has the bytes that all read calls returned, so
this runs on Linux only.

    python -m benchmarks.keras_files
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
    with tempfile.TemporaryDirectory() as directory:
        for path in _write(Path(directory)):
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
        _check_of_live(Path(directory))


def _check_of_live(directory: Path) -> None:
    """Print what a check takes beside the load of the same weights: the median of three."""
    import keras

    import ckpt_viz as cv

    model = keras.applications.EfficientNetB7(weights=None)
    model.compile(keras.optimizers.Adam(), "categorical_crossentropy")
    model.optimizer.build(model.trainable_variables)
    path = directory / "live.weights.h5"
    model.save_weights(path)
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


def _write(directory: Path) -> Iterable[Path]:
    import h5py
    import keras

    model = keras.applications.EfficientNetB7(weights=None)
    weights = directory / "b7.weights.h5"
    with h5py.File(weights, "w") as file:
        _write_by_paths(file, model)
    by_names = directory / "b7.h5"
    with h5py.File(by_names, "w") as file:
        _write_by_names(file, model)
    return weights, by_names


def _write_by_paths(file: Any, model: Any) -> None:
    from ckpt_viz.graphs.nodes.keras_variables import path_component

    counts: Counter[str] = Counter()
    for layer in model.layers:
        kind = path_component(type(layer).__name__)
        name = f"{kind}_{counts[kind]}" if counts[kind] else kind
        counts[kind] += 1
        group = file.create_group(f"layers/{name}/vars")
        group.attrs["name"] = layer.name
        for number, variable in enumerate(layer.variables):
            _add(group, str(number), variable.shape)
    own = file.create_group("optimizer/vars")
    own.attrs["name"] = "adam"
    for number, shape in enumerate(_shapes_of_adam(model)):
        _add(own, str(number), shape, "i8" if number == 0 else "f4")


def _write_by_names(file: Any, model: Any) -> None:
    file.attrs["model_config"] = model.to_json()
    top = file.create_group("model_weights")
    top.attrs["layer_names"] = [layer.name.encode() for layer in model.layers]
    for layer in model.layers:
        group = top.create_group(layer.name)
        names = [f"{layer.name}/{variable.name}" for variable in layer.variables]
        group.attrs["weight_names"] = [name.encode() for name in names]
        for name, variable in zip(names, layer.variables, strict=True):
            _add(group, name, variable.shape)


def _shapes_of_adam(model: Any) -> list[Sequence[int]]:
    slots = [variable.shape for variable in model.trainable_variables for _ in range(2)]
    return [(), (), *slots]


def _add(group: Any, name: str, shape: Sequence[int], dtype: str = "f4") -> None:
    """Add a data set whose values are a hole of the file."""
    import h5py
    import numpy as np

    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    parent = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    parent.set_create_intermediate_group(True)
    space = h5py.h5s.create_simple(tuple(shape)) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    kind = h5py.h5t.py_create(np.dtype(dtype))
    h5py.h5d.create(group.id, name.encode(), kind, space, dcpl=how, lcpl=parent)


if __name__ == "__main__":
    main()

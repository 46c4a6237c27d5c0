"""Processor time of a fix, against a real restore and the check of an unchanged program.

The program has lists of layers of different widths. In the changed one, each tenth list has another
name, each tenth one an item more, and another level holds all of it. In one process, each of these
runs in turn, and the medians are compared: TensorFlow's restore into an unchanged program, the
check of the unchanged program, the mapping of all values, the changes that are read from it, the
check of the changed program, and the code of its fix. A second program has one list of equal
items, without names; the changed one lacks an item. In a third one, an eager Saver restores names
of a scope that has another name in the file.

    python -m benchmarks.fix [--nodes 5000 20000 100000] [--equal 1000 4000] [--names 10000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ckpt_viz as cv
from ckpt_viz.matching.changes.reading import changes_of
from ckpt_viz.matching.correspondence.value_mapping import map_values

_IN_A_LIST = 50
_LONGER = 5


def program(nodes: int, *, is_changed: bool) -> Any:
    """Return a checkpoint of about this many nodes: lists of layers of a kernel and a bias each."""
    import tensorflow as tf

    def layer(width: int) -> Any:
        made = tf.Module()
        made.kernel, made.bias = tf.Variable(tf.zeros([2, width])), tf.Variable(tf.zeros([width]))
        return made

    root = tf.Module()
    for number in range(nodes // (3 * _IN_A_LIST)):
        layers = [layer(2 + i) for i in range(_IN_A_LIST)]
        if is_changed and number % 10 == _LONGER:
            layers.insert(_IN_A_LIST // 2, layer(1))
        stack = tf.Module()
        stack.layers = layers
        name = "renamed" if is_changed and number % 10 == 0 else "stack"
        setattr(root, f"{name}_{number}", stack)
    if not is_changed:
        return tf.train.Checkpoint(model=root)
    outer = tf.Module()
    outer.inner = root
    return tf.train.Checkpoint(model=outer)


def equal_items(number: int) -> Any:
    """Return a checkpoint of a list of this many equal layers."""
    import tensorflow as tf

    root = tf.Module()
    root.layers = [tf.Module() for _ in range(number)]
    for layer in root.layers:
        layer.kernel, layer.bias = tf.Variable(tf.zeros([2, 2])), tf.Variable(tf.zeros([2]))
    return tf.train.Checkpoint(model=root)


def measure_equal(number: int, runs: int) -> dict[str, float]:
    """Return the median seconds of each way, for a list of equal items and a shorter one."""
    with TemporaryDirectory() as directory:
        prefix = equal_items(number).save(str(Path(directory, "ckpt")))
        changed = equal_items(number - 1)
        fresh = [equal_items(number) for _ in range(runs)]
        return _medians(
            {
                "restore": lambda: fresh.pop().restore(prefix),
                "check of changes": lambda: cv.check(changed, prefix),
                "code": lambda: cv.check(changed, prefix).fix().code,
            },
            runs,
        )


def measure_names(number: int, runs: int) -> dict[str, float]:
    """Return the median seconds of each way, for this many names of a scope that was renamed."""
    import tensorflow as tf

    v1 = tf.compat.v1

    def saver(scope: str) -> Any:
        names = [f"{scope}/layer_{n // 4}/{'abcd'[n % 4]}" for n in range(number)]
        return v1.train.Saver({name: tf.Variable([1.0, 2.0], name=name) for name in names})

    with TemporaryDirectory() as directory:
        same, changed = saver("old"), saver("new")
        prefix = same.save(None, str(Path(directory, "ckpt")))
        check = cv.check(changed, prefix)
        assert len(check.fix().pairs) == number
        return _medians(
            {
                "restore": lambda: same.restore(None, prefix),
                "check": lambda: cv.check(same, prefix),
                "check of changes": lambda: cv.check(changed, prefix),
                "code": lambda: check.fix().code,
            },
            runs,
        )


def measure(nodes: int, runs: int) -> dict[str, float]:
    """Return the median seconds of each way."""
    with TemporaryDirectory() as directory:
        prefix = program(nodes, is_changed=False).save(str(Path(directory, "ckpt")))
        same, changed = program(nodes, is_changed=False), program(nodes, is_changed=True)
        saved, live = cv.graph(prefix), cv.graph(changed)
        mapping = map_values(saved, live)
        values = 2 * _IN_A_LIST * (nodes // (3 * _IN_A_LIST))  # whole lists alone
        assert len(mapping.pairs) >= values, len(mapping.pairs)
        check = cv.check(changed, prefix)
        assert all(f.change is not None for f in check.findings if f.severity == "fail")
        fresh = [program(nodes, is_changed=False) for _ in range(runs)]
        ways: dict[str, Callable[[], object]] = {
            "restore": lambda: fresh.pop().restore(prefix).assert_consumed(),
            "check": lambda: cv.check(same, prefix),
            "mapping": lambda: map_values(saved, live),
            "changes": lambda: changes_of(mapping),
            "check of changes": lambda: cv.check(changed, prefix),
            "code": lambda: check.fix().code,
        }
        return _medians(ways, runs)


def _medians(ways: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def main() -> None:
    """Print the figures of each size, as seconds and as parts of a real restore."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[5000, 20_000, 100_000])
    parser.add_argument("--equal", type=int, nargs="*", default=[1000, 4000])
    parser.add_argument("--names", type=int, nargs="*", default=[10_000])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for nodes in options.nodes:
        _print(f"{nodes} nodes", measure(nodes, options.runs))
    for number in options.equal:
        _print(f"{number} equal items", measure_equal(number, options.runs))
    for number in options.names:
        _print(f"{number} names", measure_names(number, options.runs))


def _print(size: str, medians: dict[str, float]) -> None:
    restore = medians.pop("restore")
    others = ", ".join(f"{name} {took / restore:.2f}" for name, took in medians.items())
    print(f"{size}: restore {restore:.2f} s; in restores: {others}", flush=True)


if __name__ == "__main__":
    main()

"""Time of the restore check, against the real restore and against `tf.train.CheckpointView`.

One warm process for each size runs these in turn: `cv.check(target, prefix)` with all its findings;
`restore` and `assert_consumed` of an equally fresh target; `CheckpointView.match`. Up to
`--diff-up-to` nodes it also runs `CheckpointView.diff`, which is quadratic. Prints medians and
ratios.

    python benchmarks/check.py [--nodes 1000 5000 20000] [--runs 3] [--diff-up-to 5000]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def target(nodes: int) -> Any:
    """Return a checkpoint of about this many nodes: layers of a kernel and a bias each."""
    import tensorflow as tf

    root = tf.Module()
    kernel, bias = tf.zeros([2, 2]), tf.zeros([2])
    for i in range(nodes // 3):
        layer = tf.Module()
        layer.kernel, layer.bias = tf.Variable(kernel), tf.Variable(bias)
        setattr(root, f"layer_{i}", layer)
    return tf.train.Checkpoint(root)


def measure(nodes: int, runs: int, diff_up_to: int) -> dict[str, float]:
    """Return the median seconds of each way."""
    import tensorflow as tf

    import ckpt_viz as cv

    with TemporaryDirectory() as directory:
        prefix = target(nodes).save(str(Path(directory, "ckpt")))
        root = target(nodes)

        def check() -> None:
            found = cv.check(root, prefix)
            assert found.consumed
            assert not [f for f in found.findings if f.severity != "info"]

        def restore() -> None:
            root.restore(prefix).assert_consumed()

        def match() -> None:
            tf.train.CheckpointView(prefix).match(root._saver._graph_view.root)

        def diff() -> None:
            tf.train.CheckpointView(prefix).diff(root._saver._graph_view.root)

        ways: dict[str, Callable[[], None]] = {"check": check, "restore": restore, "match": match}
        if nodes <= diff_up_to:
            ways["diff"] = diff
        check()  # the first one imports
        times: dict[str, list[float]] = {name: [] for name in ways}
        for run in range(runs):
            for name, way in ways.items():
                if name == "diff" and run:
                    continue  # once is long enough
                if name in ("check", "restore"):
                    root = target(nodes)  # a first restore, as in a program that has just begun
                times[name].append(_seconds(way))
    return {name: statistics.median(seen) for name, seen in times.items()}


def _seconds(way: Callable[[], None]) -> float:
    import time

    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def main() -> None:
    """Measure each size in a process of its own and print figures and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 5000, 20_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--diff-up-to", type=int, default=5000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.runs, options.diff_up_to)))
        return
    checks = {}
    for nodes in options.nodes:
        arguments = ["--one", str(nodes), "--runs", str(options.runs)]
        arguments += ["--diff-up-to", str(options.diff_up_to)]
        output = subprocess.run(
            [sys.executable, __file__, *arguments],
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout
        seen: dict[str, float] = json.loads(output.splitlines()[-1])
        checks[nodes] = check = seen.pop("check")
        others = ", ".join(
            f"{name} {time:.2f} s (check takes {check / time:.4f} of it)"
            for name, time in seen.items()
        )
        print(f"{nodes} nodes: check {check:.2f} s; {others}", flush=True)
    if 20_000 in checks and 200_000 in checks:
        print(
            f"check of 200,000 nodes: {checks[200_000] / checks[20_000]:.1f} times that of 20,000"
        )


if __name__ == "__main__":
    main()

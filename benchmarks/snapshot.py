"""Time of a snapshot with its restore, against a checkpoint on a RAM disk.

A loop does what simulated annealing does in each step: it remembers the state, changes every
variable, and puts the state back. In one process, both ways take turns: `cv.snapshot` and
`restore`, and `Checkpoint.write` and `read` in /dev/shm. The script compares their medians, and
checks after each step that the values are back.

    python -m benchmarks.snapshot [--steps 1000] [--width 32]
"""

from __future__ import annotations

import argparse
import statistics
import time
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ckpt_viz as cv


def program(width: int) -> tuple[Any, list[Any]]:
    """Return the checkpoint of a Keras model with Adam, and its variables."""
    import keras
    import tensorflow as tf

    layers = [keras.layers.Dense(width, activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((8,)), *layers, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    found = [*model.variables, *optimizer.variables]
    return tf.train.Checkpoint(model=model, optimizer=optimizer), found


def measure(steps: int, width: int) -> dict[str, list[float]]:
    """Return the seconds of each step, by way."""
    checkpoint, variables = program(width)
    expected = [variable.numpy() for variable in variables]
    before = cv.snapshot(checkpoint)

    def change() -> None:
        for variable in variables:
            variable.assign(variable + np.ones((), variable.dtype))

    with TemporaryDirectory(dir="/dev/shm") as directory:
        prefix = f"{directory}/ckpt"
        ways = {
            "snapshot": (lambda: cv.snapshot(checkpoint), lambda held: held.restore()),
            "take": (before.take, lambda held: held.restore()),
            "file": (lambda: checkpoint.write(prefix), checkpoint.read),
        }
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(steps):
            for name, (hold, put_back) in ways.items():
                start = time.perf_counter()
                held = hold()
                seconds = time.perf_counter() - start
                change()
                start = time.perf_counter()
                put_back(held)
                spent[name].append(seconds + time.perf_counter() - start)
                for variable, value in zip(variables, expected, strict=True):
                    np.testing.assert_array_equal(variable.numpy(), value)
    return spent


def main() -> None:
    """Print the median of each way, and its share of that with a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--width", type=int, default=32)
    arguments = parser.parse_args()
    spent = measure(arguments.steps, arguments.width)
    medians = {name: statistics.median(seconds) for name, seconds in spent.items()}
    for name, seconds in spent.items():
        share = medians[name] / medians["file"]
        total = sum(seconds) / sum(spent["file"])
        print(f"{name}: {medians[name] * 1e3:.2f} ms a step, {share:.2f}; in all {total:.2f}")


if __name__ == "__main__":
    main()

"""Time of `cv.check_load_model` for MobileNetV2, against `load_model` of the same file.

The first check starts a process that imports Keras; the others use it. Prints seconds on the clock,
since the process is another one, and the ratio in one run.

    python -m benchmarks.load_check [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from functools import partial
from pathlib import Path
from timeit import timeit

import keras

import ckpt_viz as cv


def main() -> None:
    """Check and load the model in turn, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    model = keras.applications.MobileNetV2(weights=None)
    model.compile("adam", "categorical_crossentropy")
    with tempfile.TemporaryDirectory() as directory:
        for suffix in (".keras", ".h5"):
            path = str(Path(directory, f"model{suffix}"))
            model.save(path)
            check = partial(cv.check_load_model, path)
            first = timeit(check, number=1)
            pairs = [
                (timeit(check, number=1), timeit(partial(keras.models.load_model, path), number=1))
                for _ in range(runs)
            ]
            ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
            ratio = statistics.median(check / load for check, load in pairs)
            print(
                f"{suffix}: first {first:.2f} s, then {ours:.2f} s; load_model {theirs:.2f} s",
                end="",
            )
            print(f"; ratio {ratio:.2f}")


if __name__ == "__main__":
    main()

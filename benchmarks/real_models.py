"""Processor time of looks at models that people have, against what TensorFlow does with them.

MobileNetV2 with Adam, ResNet50, and a transformer of 24 layers, each in a process of its own. These
take turns there: TensorFlow's own walk of the objects and that of `cv.graph`; a real `restore` into
a fresh program; `cv.check` of the program's own checkpoint and the output of that check in a
notebook; the check of a program whose head differs, and the code of its fix; `cv.show` of both. It
prints medians, and their ratios to TensorFlow's.

    python -m benchmarks.real_models [--models mobilenet resnet transformer] [--runs 7]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def mobilenet(classes: int) -> Any:
    """Return a checkpoint of MobileNetV2 with Adam."""
    import keras

    return _with_adam(keras.applications.MobileNetV2(weights=None, classes=classes))


def resnet(classes: int) -> Any:
    """Return a checkpoint of ResNet50."""
    import keras
    import tensorflow as tf

    return tf.train.Checkpoint(model=keras.applications.ResNet50(weights=None, classes=classes))


def transformer(classes: int) -> Any:
    """Return a checkpoint of a transformer of 24 layers with Adam."""
    import keras
    from keras import layers

    tokens = keras.Input((32,), dtype="int32", name="tokens")
    x = layers.Embedding(1000, 64, name="embed")(tokens)
    for i in range(24):
        attended = layers.MultiHeadAttention(4, 16, name=f"block{i}_attention")(x, x)
        x = layers.LayerNormalization(name=f"block{i}_norm1")(layers.Add()([x, attended]))
        hidden = layers.Dense(256, activation="gelu", name=f"block{i}_in")(x)
        hidden = layers.Dense(64, name=f"block{i}_out")(hidden)
        x = layers.LayerNormalization(name=f"block{i}_norm2")(layers.Add()([x, hidden]))
    return _with_adam(keras.Model(tokens, layers.Dense(classes, name="head")(x)))


def _with_adam(model: Any) -> Any:
    import keras
    import tensorflow as tf

    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    return tf.train.Checkpoint(model=model, optimizer=optimizer)


MODELS: dict[str, Callable[[int], Any]] = {
    "mobilenet": mobilenet,
    "resnet": resnet,
    "transformer": transformer,
}


def measure(name: str, runs: int) -> dict[str, float]:
    """Return the median seconds of each piece of work."""
    times: dict[str, list[float]] = defaultdict(list)
    with TemporaryDirectory() as directory:
        saved = _fresh(name, 1000).save(str(Path(directory, "ckpt")))
        for run in range(runs + 1):
            for what, seconds in _timed(saved, _fresh(name, 1000), _fresh(name, 7)):
                if run:  # the first one imports
                    times[what].append(seconds)
    return {what: statistics.median(seen) for what, seen in times.items()}


def _fresh(name: str, classes: int) -> Any:
    """Return a model with the generated names that it has in a program that has just begun."""
    import keras

    keras.backend.clear_session()
    return MODELS[name](classes)


def _timed(saved: str, program: Any, changed: Any) -> Iterator[tuple[str, float]]:
    """Yield each piece of work with its seconds."""
    import ckpt_viz as cv

    def timed(what: str, do: Callable[[], Any]) -> tuple[str, float]:
        gc.collect()
        start = time.process_time()
        kept.append(do())
        return what, time.process_time() - start

    kept: list[Any] = []  # what the work made is freed after the clock has stopped
    yield timed("TensorFlow's walk", program._saver._graph_view.breadth_first_traversal)
    yield timed("walk", lambda: cv.graph(program))
    yield timed("check", lambda: cv.check(program, saved))
    check = kept.pop()
    yield timed("output of the check", lambda: check.show()._repr_mimebundle_())
    yield timed("check of a changed one", lambda: cv.check(changed, saved))
    check_of_changed = kept.pop()
    yield timed("fix of it", lambda: check_of_changed.fix().code)
    yield timed("show(live)", lambda: cv.show(program))
    yield timed("show(file)", lambda: cv.show(saved))
    yield timed("restore", lambda: program.restore(saved).assert_consumed())


def main() -> None:
    """Measure each model in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--one", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.runs)))
        return
    for name in options.models:
        output = subprocess.run(
            [sys.executable, "-m", __spec__.name, "--one", name, "--runs", str(options.runs)],
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        seen: dict[str, float] = json.loads(output.splitlines()[-1])
        print(f"{name}: restore {seen['restore'] * 1e3:.0f} ms")
        for what, seconds in seen.items():
            base = "TensorFlow's walk" if what == "walk" else "restore"
            print(f"  {what:24} {seconds * 1e3:6.1f} ms, {seconds / seen[base]:5.2f} of {base}")


if __name__ == "__main__":
    main()

"""Time of the list of live objects, which JupyterLab's panel requests from a kernel.

The kernel has TensorFlow and Keras, and 100 objects among 100, 10,000 and 100,000 names. Prints
medians in ms of `listed` itself, of the request with its reply, and of an empty request.

    python -m benchmarks.listing [--runs 20]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from ckpt_viz.entrances.jupyter.live_objects import MAX_OBJECTS
from tests.support.kernels import LISTING, listing_expression, running_kernel

OBJECTS = 100
NAMES = (100, 10_000, 100_000)

_MANY = """
%reset -f
import keras, tensorflow as tf
globals().update({{f"net_{{i}}": tf.Module() for i in range({objects})}})
globals().update({{f"name_{{i}}": [i] for i in range({others})}})
"""


def _timed(runs: int) -> str:
    """Return an expression for the seconds of each listing in the kernel."""
    return (
        f"(lambda ns: (__import__('builtins').exec({LISTING!r}, ns), "
        "[-ns['time'].perf_counter() + (ns['listed'](globals()), ns['time'].perf_counter())[1] "
        f"for _ in range({runs})])[1])({{}})"
    )


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as directory, running_kernel(Path(directory)) as kernel:
        for names in NAMES:
            kernel.run(_MANY.format(objects=OBJECTS, others=names - OBJECTS))
            data = kernel.ask(listing_expression())
            assert len(data["objects"]) == OBJECTS < MAX_OBJECTS
            assert data["unread"] == 0
            inside = kernel.value(_timed(runs))
            asked = _seconds(runs, lambda: kernel.reply_to(listing_expression()))
            nothing = _seconds(runs, lambda: kernel.reply_to("0"))
            print(
                f"{OBJECTS} objects, {names} names: listed {_ms(inside)}; request and reply "
                f"{_ms(asked)}, of an empty one {_ms(nothing)}",
                flush=True,
            )


def _seconds(runs: int, do: Callable[[], object]) -> list[float]:
    seen = []
    for _ in range(runs):
        start = time.perf_counter()
        do()
        seen.append(time.perf_counter() - start)
    return seen


def _ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.1f} ms (at most {1000 * max(seconds):.1f})"


if __name__ == "__main__":
    main()

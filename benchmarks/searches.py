"""Processor time of a search in a graph, the first and the next, and of the text of an equal diff.

The graph has layers of a kernel and a bias with their slots in Adam. The text of a diff of two
equal graphs is beside the diff itself.

    python -m benchmarks.searches [--nodes 20000] [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import ckpt_viz as cv
from benchmarks.diff import model


def measure(nodes: int, runs: int) -> dict[str, float]:
    """Return the median seconds of each piece of work."""
    times: dict[str, list[float]] = defaultdict(list)

    def timed(what: str, do: Callable[[], object]) -> object:
        start = time.process_time()
        result = do()
        times[what].append(time.process_time() - start)
        return result

    model(1).find("kernel")  # the first one imports
    for _ in range(runs):
        graph, a, b = (model(nodes // 7) for _ in range(3))
        timed("find, first", partial(graph.find, "kernel"))
        timed("find, next", partial(graph.find, "layer_77"))
        diff = timed("diff of equal graphs", partial(cv.diff, a, b))
        timed("its text", partial(str, diff))
    return {what: statistics.median(seen) for what, seen in times.items()}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for nodes in options.nodes:
        seen = measure(nodes, options.runs)
        for what, seconds in seen.items():
            print(f"{nodes} nodes: {what} {seconds * 1e3:.1f} ms")
        print(f"  the text takes {seen['its text'] / seen['diff of equal graphs']:.2f} of the diff")


if __name__ == "__main__":
    main()

"""Time until `ckpt-viz --help` has ended, against a Python that does nothing.

Whole processes run in turn: Python without `site`, Python, Python that imports click, and the
commands. Prints the median on the clock, the processor time, the ratio of both to the first, and
how many times as long as `ckpt-viz --help` the help of each command takes.
An editable install costs more than a wheel: give the Python of an environment that has the wheel.

    python -m benchmarks.start_up [--python .venv/bin/python] [--runs 21]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

_RUN = "import sys; from ckpt_viz.cli import main; main(sys.argv[1:])"
_WAYS: Mapping[str, Sequence[str]] = {
    "python -S": ("-S", "-c", "pass"),
    "python": ("-c", "pass"),
    "import click": ("-c", "import click"),
    "ckpt-viz --help": ("-c", _RUN, "--help"),
    **{
        f"ckpt-viz {command} --help": ("-c", _RUN, command, "--help")
        for command in ("show", "check", "values", "rewrite")
    },
}


def measure(python: str, runs: int) -> dict[str, tuple[float, float]]:
    """Return the median seconds of each way: on the clock, and of the processor."""
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for run in range(runs + 1):
        for name, arguments in _WAYS.items():
            seconds = _timed([python, *arguments])
            if run:  # the first run writes the bytecode
                times[name].append(seconds)
    return {
        name: (statistics.median(clock), statistics.median(processor))
        for name, pairs in times.items()
        for clock, processor in [zip(*pairs, strict=True)]
    }


def _timed(command: Sequence[str]) -> tuple[float, float]:
    """Return how long a process takes on the clock, and of the processor."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = _processor(), perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, cwd="/")
    return perf_counter() - start, _processor() - before


def _processor() -> float:
    """Return the seconds of the processor that all children have taken."""
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=21)
    arguments = parser.parse_args()
    medians = measure(arguments.python, arguments.runs)
    least, of_list = medians["python -S"], medians["ckpt-viz --help"]
    for name, (clock, processor) in medians.items():
        ratio = f"; {processor / of_list[1]:4.2f} of the list" if name.startswith("ckpt") else ""
        print(
            f"{name:24} {clock * 1e3:5.0f} ms on the clock, {clock / least[0]:4.1f}; "
            f"{processor * 1e3:5.0f} ms of the processor, {processor / least[1]:4.1f}{ratio}"
        )


if __name__ == "__main__":
    main()

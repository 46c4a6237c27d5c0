"""Run the tests and the tools that judge the code: `python -m tests`.

The tools run beside pytest, one after the other; `--tools` runs them alone, `--no-tools` leaves
them out. Other options go to pytest: `python -m tests --all`. The end shows what a tool that fails
has printed, and how long each took.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.support import frontend

ROOT = Path(__file__).parents[1]
PYTEST = ("pytest", "-n", "auto", "--dist", "worksteal")


@dataclass(frozen=True)
class Result:
    """How a tool or pytest ended; `seconds` are those on the clock."""

    name: str
    status: int
    seconds: float
    output: str = ""


def _python(*arguments: str) -> Callable[[], subprocess.CompletedProcess[str]]:
    return lambda: subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _npm(script: str) -> Callable[[], subprocess.CompletedProcess[str]]:
    return lambda: frontend.run_script(script)


TOOLS = {
    "ruff check": _python("ruff", "check"),
    "ruff format": _python("ruff", "format", "--check"),
    "Biome": _npm("lint"),
    "tsc": _npm("typecheck"),
    "vitest": _npm("test"),
    "mypy": _python("mypy"),
}


def run_tools() -> Iterator[Result]:
    """Run one tool after the other."""
    for name, run in TOOLS.items():
        began = time.monotonic()
        process = run()
        yield Result(name, process.returncode, time.monotonic() - began, process.stdout)


def run_pytest(*options: str) -> Result:
    """Run pytest; it prints by itself."""
    began = time.monotonic()
    status = subprocess.run([sys.executable, "-m", *PYTEST, *options], cwd=ROOT).returncode
    return Result("pytest", status, time.monotonic() - began)


def main(*options: str) -> int:
    """Run what the options choose, and return the exit status."""
    for_pytest = [option for option in options if option not in ("--tools", "--no-tools")]
    with ThreadPoolExecutor(1) as beside:
        tools = beside.submit(lambda: [] if "--no-tools" in options else list(run_tools()))
        results = [] if "--tools" in options else [run_pytest(*for_pytest)]
        results += tools.result()
    for result in results:
        if result.status:
            print(f"\n{result.name} failed:\n{result.output}")
    print("\nseconds on the clock")
    for result in results:
        print(f"{result.name:12}{result.seconds:7.1f}  {'failed' if result.status else 'passed'}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor seconds of all: {used.ru_utime + used.ru_stime:.0f}")
    return int(any(result.status for result in results))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""How long each group of tests takes: the table at the end of a run.

Time is processor time of the worker and of all processes below it, such as a browser or a kernel.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping

import psutil
import pytest

Table = dict[str, list[float]]  # by group: how many tests, and their processor seconds
_OUTPUT = "seconds of groups"


class Groups:
    """Measures the tests of a process, and joins what the workers of a run have measured."""

    def __init__(self, config: pytest.Config) -> None:
        self._table: Table = {}
        self._output: dict[str, Table] | None = getattr(config, "workeroutput", None)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Measure a test with its fixtures."""
        # To look for processes takes milliseconds. Other tests await those that they start, but
        # the last one of a worker awaits the browser.
        measured = _of_all if item.get_closest_marker("ui") or nextitem is None else _of_ended
        before = measured()
        result = yield
        # The system forgets the time of a process that ends without a parent: count it as zero.
        self._add({group_of(item): [1, max(0.0, measured() - before)]})
        return result

    def pytest_sessionfinish(self) -> None:
        """Give the controller what a worker has measured."""
        if self._output is not None:
            self._output[_OUTPUT] = self._table

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take over what a worker has measured."""
        self._add(getattr(node, "workeroutput", {}).get(_OUTPUT, {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        if self._output is None and self._table:
            terminalreporter.section("processor seconds by group")
            for line in _lines(self._table):
                terminalreporter.write_line(line)

    def _add(self, table: Mapping[str, list[float]]) -> None:
        for group, (tests, seconds) in table.items():
            sums = self._table.setdefault(group, [0, 0.0])
            sums[0] += tests
            sums[1] += seconds


def group_of(item: pytest.Item) -> str:
    """Return the group of a test."""
    if item.get_closest_marker("ui"):
        in_lab = "lab" in getattr(item, "fixturenames", ())
        return "JupyterLab in a browser" if in_lab else "other pages in a browser"
    if item.get_closest_marker("tf"):
        return "TensorFlow"
    if "hostile" in item.nodeid or "attack" in item.nodeid:
        return "attacks"
    return "slow" if item.get_closest_marker("slow") else "fast"


def _lines(table: Table) -> Iterator[str]:
    total = [sum(column) for column in zip(*table.values(), strict=True)]
    by_seconds = sorted(table.items(), key=lambda row: -row[1][1])
    for group, (tests, seconds) in [*by_seconds, ("all", total)]:
        yield f"{group:26}{tests:8,.0f} tests{seconds:10,.1f} s"


def _of_ended() -> float:
    """Return the processor seconds of this process and of those that it has awaited."""
    return sum(os.times()[:4])


def _of_all() -> float:
    """Return the processor seconds of this process and of those below it, ended or not."""
    seconds = _of_ended()
    for child in psutil.Process().children(recursive=True):
        try:
            seconds += sum(child.cpu_times()[:4])
        except psutil.Error:  # a process that has ended meanwhile
            continue
    return seconds

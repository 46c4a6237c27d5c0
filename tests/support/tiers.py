"""Which of the collected tests a run executes.

One rule: the first tier runs each claim once for each mechanism, and `--all` runs it for all its
inputs. So the first tier leaves out

- what is marked `more`: a claim of another test at another host, version or size, or of the built
  site or wheel;
- of a dear test with many inputs those between a sample, which is spread over all of them. A test
  is dear if it needs TensorFlow or a browser.

`--rest` runs what `--all` has beyond the first tier.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from math import isqrt
from pathlib import Path

import pytest

_DEAR = ("tf", "ui")
_TESTS = Path(__file__).parents[1]
_IMPORTED = re.compile(r"^(?:from|import) (tests\.[\w.]+)(?: import (\(.*?\)|.*?)$)?", re.M | re.S)


def in_first_tier(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of the first tier."""
    by_function: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("more") is None:
            by_function[item.nodeid.partition("[")[0]].append(item)
    return {
        item
        for inputs in by_function.values()
        for item in (spread(inputs) if _is_dear(inputs[0]) else inputs)
    }


def in_rest(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that are not in the first tier, or are smaller there."""
    first = in_first_tier(items)
    return {item for item in items if item not in first or tries_more(item.path)}


def spread(inputs: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    """Return a sample of the inputs of a test, from the first to the last."""
    size = sample_size(len(inputs))
    return [inputs[number * len(inputs) // size] for number in range(size)]


def sample_size(inputs: int) -> int:
    """Return how many of the inputs of a dear test the first tier tries.

    >>> [sample_size(inputs) for inputs in (1, 3, 9, 30, 100, 400)]
    [1, 3, 6, 10, 20, 40]
    """
    return min(inputs, isqrt(4 * inputs))


def _is_dear(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(marker) for marker in _DEAR)


@cache
def tries_more(path: Path) -> bool:
    """Return whether `--all` tries more in a module: it imports `amounts`, or imports who does."""
    return _TESTS in path.parents and "tests.support.amounts" in _reached(_name(path))


@cache
def _reached(module: str) -> frozenset[str]:
    """Return the modules of the tests that a module imports, also by way of others.

    What it takes from another `test_` module is a small helper: the amounts there are for others.
    """
    reached, waiting = {module}, [module]
    while waiting:
        new = {name for name in _imports(waiting.pop()) if ".test_" not in name} - reached
        reached |= new
        waiting += new
    return frozenset(reached)


@cache
def _imports(module: str) -> frozenset[str]:
    path = _TESTS.parent.joinpath(*module.split("."))
    source = path.with_suffix(".py")
    if not source.exists():
        source = path / "__init__.py"
    if not source.exists():
        return frozenset()
    names = set[str]()
    for place, imported in _IMPORTED.findall(source.read_text("utf-8")):
        names |= {place, *(f"{place}.{name}" for name in re.findall(r"\w+", imported))}
    return frozenset(names)


def _name(path: Path) -> str:
    return ".".join(path.relative_to(_TESTS.parent).with_suffix("").parts)

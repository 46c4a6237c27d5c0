"""Which part of a matrix of inputs `--all` runs; the nights run all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest

Case = tuple[Any, ...]


def pairwise(matrix: Iterable[Case]) -> list[Any]:
    """Return all cases as parameters; in those of `--all` any two values meet at least once."""
    cases = list(matrix)
    met, chosen = set[object](), set[Case]()
    for case in Random(0).sample(cases, len(cases)):
        if not met.issuperset(_pairs(case)):
            met.update(_pairs(case))
            chosen.add(case)
    return [
        pytest.param(*case, marks=[] if case in chosen else pytest.mark.nightly) for case in cases
    ]


def _pairs(case: Case) -> Iterator[object]:
    return combinations(enumerate(case), 2)

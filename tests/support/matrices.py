"""Which part of a matrix of inputs `--all` runs; the nights run all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest

Case = tuple[Any, ...]


def pairwise(matrix: Iterable[Case]) -> list[Any]:
    """Return all cases as parameters; in those of `--all` any two values meet at least once."""
    cases = list(matrix)
    chosen = in_which_values_meet(cases)
    return [
        pytest.param(*case, marks=[] if case in chosen else pytest.mark.nightly) for case in cases
    ]


def in_which_values_meet(cases: Sequence[Case]) -> set[Case]:
    """Return cases in which any two values meet that do so in a case."""
    met, chosen = set[object](), set[Case]()
    for case in Random(0).sample(cases, len(cases)):
        pairs = set(combinations(enumerate(case), 2))
        if not pairs <= met:
            met |= pairs
            chosen.add(case)
    return chosen

"""Which part of a matrix of inputs `--all` runs; the nights run all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random
from typing import Any, TypeVar

from tests.support.tier import Tier, tier

Case = tuple[Any, ...]
T = TypeVar("T")


def nightly(inputs: Sequence[T]) -> Sequence[T]:
    """Return what an exhaustive run alone tries: the rest of a matrix of which others try a part.

    No other run collects these inputs.
    """
    return inputs if tier() is Tier.EXHAUSTIVE else []


def pairwise(matrix: Iterable[Case]) -> list[Case]:
    """Return cases in which any two values meet at least once; at night all cases."""
    cases = list(matrix)
    chosen = in_which_values_meet(cases)
    return [case for case in cases if case in chosen or nightly([case])]


def in_which_values_meet(cases: Sequence[Case]) -> set[Case]:
    """Return cases in which any two values meet that do so in a case."""
    met, chosen = set[object](), set[Case]()
    for case in Random(0).sample(cases, len(cases)):
        pairs = set(combinations(enumerate(case), 2))
        if not pairs <= met:
            met |= pairs
            chosen.add(case)
    return chosen

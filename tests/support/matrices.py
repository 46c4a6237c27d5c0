"""Which part of a matrix of inputs `--all` runs; the nights run all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random
from typing import Any

from tests.support.tier import Tier, tier

Case = tuple[Any, ...]


def at_night() -> bool:
    """Return whether this run tries all of a matrix. No other run collects the rest."""
    return tier() is Tier.EXHAUSTIVE


def pairwise(matrix: Iterable[Case]) -> list[Case]:
    """Return cases in which any two values meet at least once; at night all cases."""
    cases = list(matrix)
    chosen = in_which_values_meet(cases)
    return [case for case in cases if case in chosen or at_night()]


def in_which_values_meet(cases: Sequence[Case]) -> set[Case]:
    """Return cases in which any two values meet that do so in a case."""
    met, chosen = set[object](), set[Case]()
    for case in Random(0).sample(cases, len(cases)):
        pairs = set(combinations(enumerate(case), 2))
        if not pairs <= met:
            met |= pairs
            chosen.add(case)
    return chosen

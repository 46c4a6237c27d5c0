"""Alike runs in a story: twelve equal blocks of a model are restored by the same steps."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

_MOST_IN_A_RUN = 24  # steps
_LEAST_FOLDED = 3  # steps that a fold takes away; below this, all are shown


class Fold(NamedTuple):
    """A run of steps, and how often it comes in a row."""

    start: int
    length: int
    times: int


def folds(likenesses: Sequence[Hashable]) -> list[Fold]:
    """Return all steps in order, as runs that come once or repeatedly.

    Of the runs that begin at a step, the one counts that covers the most steps; of equals the
    shortest. The time grows linearly in the number of steps.

    >>> [tuple(fold) for fold in folds("abxyxyxyz")]
    [(0, 2, 1), (2, 2, 3), (8, 1, 1)]
    """
    tokens = _numbered(likenesses)
    alike = [_equal_ahead(tokens, length) for length in range(1, _MOST_IN_A_RUN + 1)]
    runs: list[Fold] = []
    start = alone = 0
    while start < len(tokens):
        repeated, length = _longest(alike, start)
        if repeated < _LEAST_FOLDED:
            start += 1
            continue
        if alone < start:
            runs.append(Fold(alone, start - alone, 1))
        runs.append(Fold(start, length, 1 + repeated // length))
        start = alone = start + length + repeated
    if alone < len(tokens):
        runs.append(Fold(alone, len(tokens) - alone, 1))
    return runs


def _longest(alike: Sequence[Sequence[int]], start: int) -> tuple[int, int]:
    """Return how many steps repeat a run that begins at a step, and the length of the run."""
    repeated = [ahead[start] // length * length for length, ahead in enumerate(alike, 1)]
    most = max(repeated)
    return most, repeated.index(most) + 1


def _numbered(likenesses: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(likeness, len(numbers)) for likeness in likenesses]


def _equal_ahead(tokens: Sequence[int], length: int) -> list[int]:
    """Return for each step how many from there on equal the one that is `length` steps later."""
    ahead = [0] * (len(tokens) + 1)
    for at in range(len(tokens) - length - 1, -1, -1):
        ahead[at] = ahead[at + 1] + 1 if tokens[at] == tokens[at + length] else 0
    return ahead


@lru_cache(maxsize=4096)
def pattern(name: str) -> str:
    """Return a name without its numbers, which differ among alike blocks."""
    return re.sub(r"\d+", "#", name)

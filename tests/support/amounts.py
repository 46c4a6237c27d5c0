"""How much a run tries: three tiers, each of which has what the one before has, and more.

- The first tier, plain `pytest`, has a test for each claim and mechanism, with few inputs.
- `--all` has more inputs and larger sizes of the same claims, and the tests marked `more`.
- `--exhaustive` has as many random inputs as before a release, and the full sizes.

`tests/conftest.py` reads the options before it collects any test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tests.support.tier import Tier as Tier
from tests.support.tier import tier as tier

T = TypeVar("T")
_FIRST_OF_RANDOM = 5  # the first tier tries one random input in five
_ALL_OF_RANDOM = 0.8  # of them in `--all`
_FULL_OF_ALL = 50  # `--all` has sizes of one in fifty


def amount(usual: int, exhaustive: int) -> int:
    """Return how many random inputs this run tries, of a `usual` number or in an exhaustive run."""
    match tier():
        case Tier.EXHAUSTIVE:
            return exhaustive
        case Tier.ALL:
            return max(1, int(usual * _ALL_OF_RANDOM))
    return max(1, usual // _FIRST_OF_RANDOM)


def some(inputs: Sequence[T], number: int) -> Sequence[T]:
    """Return what this run tries in the place of a number: all, or the next one in turn."""
    if tier() is not Tier.FIRST:
        return inputs
    return [inputs[number % len(inputs)]]


def size(small: int, full: int) -> int:
    """Return how large this run makes an input: `full` in an exhaustive run."""
    if tier() is Tier.EXHAUSTIVE:
        return full
    return small if tier() is Tier.FIRST else max(small, full // _FULL_OF_ALL)

"""The tier of this run, which `tests/conftest.py` chooses before it collects any test."""

from __future__ import annotations

from enum import IntEnum


class Tier(IntEnum):
    """How much a run tries; a larger one tries more."""

    FIRST = 0
    ALL = 1
    EXHAUSTIVE = 2


_chosen = {"tier": Tier.FIRST}


def choose(tier: Tier) -> None:
    """Choose for all calls to come."""
    _chosen["tier"] = tier


def tier() -> Tier:
    """Return how much this run tries."""
    return _chosen["tier"]

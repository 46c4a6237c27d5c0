"""How much an open-ended test tries: a little in every run, everything with `--exhaustive`.

`tests/conftest.py` reads the option before it collects any test.
"""

from __future__ import annotations

_amounts = {"exhaustive": False}


def try_all(exhaustive: bool) -> None:
    """Choose for all calls of `amount` to come."""
    _amounts["exhaustive"] = exhaustive


def amount(usual: int, exhaustive: int) -> int:
    """Return the one of two amounts that this run tries."""
    return exhaustive if _amounts["exhaustive"] else usual

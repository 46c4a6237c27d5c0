"""The code of a method tells which attributes it may set to an object. A call shows the same."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from ckpt_viz.live.objects.code_reading import setter_of


class _Value:
    """An object that a method makes."""


class _Owner:
    """An object with an attribute `w`, and with parts that have one, too."""

    w: object = None

    def __init__(self, depth: int = 2) -> None:
        self.part = _Owner(depth - 1) if depth else None


def _makes(self: Any, chosen: bool) -> None:
    self.w = _Value()


def _makes_for_a_part(self: Any, chosen: bool) -> None:
    self.part.part.w = _Value()


def _takes(self: Any, value: Any) -> None:
    self.w = _Value() if isinstance(value, bool) else value


def _forgets(self: Any, chosen: bool) -> None:
    self.w = None


def _forgets_of_a_part(self: Any, chosen: bool) -> None:
    self.part.w = None


def _forgets_of_a_part_of_a_part(self: Any, chosen: bool) -> None:
    self.part.part.w = None


def _counts(self: Any, chosen: bool) -> None:
    self.w = 0


def _names(self: Any, chosen: bool) -> None:
    self.w = "a name"


def _makes_or_forgets(self: Any, chosen: bool) -> None:
    self.w = _Value() if chosen else None


def _forgets_or_makes(self: Any, chosen: bool) -> None:
    self.w = None if chosen else _Value()


def _makes_or_has_none(self: Any, chosen: bool) -> None:
    self.w = (chosen and _Value()) or None


def _makes_for_a_part_or_not(self: Any, chosen: bool) -> None:
    self.part.w = _Value() if chosen else 0


def _forgets_if_chosen(self: Any, chosen: bool) -> None:
    if chosen:
        self.w = None


def _forgets_in_turn(self: Any, chosen: bool) -> None:
    for _ in range(2):
        self.w = None


def _makes_two(self: Any, chosen: bool) -> None:
    self.w, self.other = _Value(), None


def _makes_by_a_loop(self: Any, chosen: bool) -> None:
    for self.w in [_Value()]:
        pass


def _makes_by_a_context(self: Any, chosen: bool) -> None:
    with nullcontext(_Value()) as self.w:
        pass


def _reads(self: Any, chosen: bool) -> None:
    assert self.w is self.part.w


_METHODS = (
    *(_makes, _makes_for_a_part, _takes, _makes_or_forgets, _forgets_or_makes, _makes_or_has_none),
    *(_makes_for_a_part_or_not, _makes_two, _makes_by_a_loop, _makes_by_a_context),
    *(_forgets, _forgets_of_a_part, _forgets_of_a_part_of_a_part, _forgets_if_chosen),
    *(_forgets_in_turn, _counts, _names, _reads),
)


def _makes_an_object(method: Callable[[Any, bool], None]) -> bool:
    """Return whether `w` of an owner or of one of its parts is an object after a call."""
    for chosen in (False, True):
        owner = _Owner()
        method(owner, chosen)
        assert owner.part is not None and owner.part.part is not None
        if any(isinstance(part.w, _Value) for part in (owner, owner.part, owner.part.part)):
            return True
    return False


@pytest.mark.parametrize("method", _METHODS, ids=lambda method: method.__name__.strip("_"))
def test_a_method_that_makes_an_object_may_set_it(method: Callable[[Any, bool], None]) -> None:
    cls = type("Net", (_Owner,), {"run": method})
    assert setter_of(cls(), "w") == ("Net.run" if _makes_an_object(method) else None)

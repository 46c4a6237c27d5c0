"""Runs in code: `base[0]`, `base[1]` and so on under consecutive numbers are one comprehension."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FEWEST = 3  # items of a run
_INDEXED = re.compile(r"(.+)\[(0|[1-9]\d*)\]", re.DOTALL)
_NUMBERS = ("i", "j", "k", "n")  # names in a comprehension, if the code around has none of them


class Numbered(NamedTuple):
    """An expression under a number; `item` is `base[index]`, None for any other expression."""

    number: int
    expression: str

    @property
    def item(self) -> tuple[str, int] | None:
        """The base and the index of the expression.

        >>> Numbered(0, "ckpt.slots[2]").item, Numbered(0, "ckpt.slots['2']").item
        (('ckpt.slots', 2), None)
        """
        match = _INDEXED.fullmatch(self.expression)
        return None if match is None else (match[1], int(match[2]))


class NumberedRun(NamedTuple):
    """Items of one base, under consecutive numbers."""

    items: tuple[Numbered, ...]

    @property
    def comprehension(self) -> str:
        """The pairs of a dictionary by `str` of the numbers; "" for a run that is too short.

        >>> NumberedRun(tuple(Numbered(n, f"ckpt.slots[{n + 2}]") for n in range(3))).comprehension
        'str(i): ckpt.slots[i + 2] for i in range(3)'
        """
        first = self.items[0]
        if len(self.items) < _FEWEST or first.item is None:
            return ""
        base, index = first.item
        name = next((one for one in _NUMBERS if one not in re.findall(r"\w+", base)), None)
        if name is None:
            return ""
        shift = index - first.number
        place = name if shift == 0 else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"
        start = f"{first.number}, " if first.number else ""
        stop = first.number + len(self.items)
        return f"str({name}): {base}[{place}] for {name} in range({start}{stop})"


def runs(numbered: Iterable[Numbered]) -> Iterator[NumberedRun]:
    """Yield the runs of expressions that are sorted by number."""
    items: list[Numbered] = []
    for one in numbered:
        if items and not _follows(items[-1], one):
            yield NumberedRun(tuple(items))
            items = []
        items.append(one)
    if items:
        yield NumberedRun(tuple(items))


def _follows(last: Numbered, following: Numbered) -> bool:
    one, other = last.item, following.item
    return one is not None and other == (one[0], one[1] + 1) and following.number == last.number + 1

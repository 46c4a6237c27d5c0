"""Runs in code: `base[0]`, `base[1]` and so on under consecutive numbers are one comprehension."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from ckpt_viz.expressions import quoted

_FEWEST = 3  # items of a run
_NUMBER = r"(0|[1-9]\d{0,8})"  # a file may have names of thousands of digits
_INDEXED = re.compile(rf"(.+)\[{_NUMBER}\]", re.DOTALL | re.ASCII)
_KEY = re.compile(rf"([\w./-]*/){_NUMBER}(/\.ATTRIBUTES/\w+|)", re.ASCII)
_NUMBERS = ("i", "j", "k", "n")  # names in a comprehension, if the code around has none of them


def number_of(name: str) -> int | None:
    """Return the number of an item that its local name spells, None for any other name.

    >>> number_of("12"), number_of("012"), number_of("9" * 5000)
    (12, None, None)
    """
    return int(name) if re.fullmatch(_NUMBER, name, re.ASCII) else None


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
        name = _free_name(base)
        if name is None:
            return ""
        place = _plus(name, index - first.number)
        numbers = _range(first.number, len(self.items))
        return f"str({name}): {base}[{place}] for {name} in {numbers}"


def runs(numbered: Iterable[Numbered]) -> Iterator[NumberedRun]:
    """Yield the runs of expressions that are sorted by number."""
    items: list[Numbered] = []
    for item in numbered:
        if items and not _follows(items[-1], item):
            yield NumberedRun(tuple(items))
            items = []
        items.append(item)
    if items:
        yield NumberedRun(tuple(items))


def _follows(last: Numbered, following: Numbered) -> bool:
    if last.item is None or following.number != last.number + 1:
        return False
    base, index = last.item
    return following.item == (base, index + 1)


class ReadTensor(NamedTuple):
    """A variable's expression, and the key of its value in the file."""

    expression: str
    key: str


def in_lines(reads: Iterable[ReadTensor]) -> list[str]:
    """Return the items of a list of variables and keys; runs are comprehensions.

    >>> in_lines(ReadTensor(f"ckpt.m[{n}]", f"m/{2 * n + 1}/.ATTRIBUTES/V") for n in range(3))
    ["*[(ckpt.m[i], f'm/{2 * i + 1}/.ATTRIBUTES/V') for i in range(3)],"]
    """
    by_form: dict[object, list[tuple[int, int, ReadTensor]]] = {}
    for place, read in enumerate(reads):
        item, key = Numbered(0, read.expression).item, _KEY.fullmatch(read.key)
        form = place if item is None or key is None else (item[0], key[1], key[3])
        number = (0, 0) if item is None or key is None else (item[1], int(key[2]))
        by_form.setdefault(form, []).append((*number, read))
    return [line for group in by_form.values() for line in _of_form(sorted(group))]


def _of_form(group: list[tuple[int, int, ReadTensor]]) -> Iterator[str]:
    """Yield the lines of variables of one base, under keys that differ in one number."""
    while group:
        run = group[: _length(group)]
        line = _comprehension(run) if len(run) >= _FEWEST else ""
        group = group[len(run) :]
        single = [f"({read.expression}, {quoted(read.key)})," for *_, read in run]
        yield from [line] if line else single


def _length(group: list[tuple[int, int, ReadTensor]]) -> int:
    """Return how many of the first items go on by equal steps."""
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(group)]
    if not steps or steps[0][0] != 1 or steps[0][1] < 1:
        return 1
    return 1 + len([*takewhile(steps[0].__eq__, steps)])


def _comprehension(run: list[tuple[int, int, ReadTensor]]) -> str:
    (index, number, read), (_, following, _) = run[0], run[1]
    item, key = Numbered(0, read.expression).item, _KEY.fullmatch(read.key)
    assert item is not None and key is not None
    name = _free_name(item[0])
    if name is None:
        return ""
    step = following - number
    at = _plus(name if step == 1 else f"{step} * {name}", number - step * index)
    numbers = _range(index, len(run))
    return f"*[({item[0]}[{name}], f'{key[1]}{{{at}}}{key[3]}') for {name} in {numbers}],"


def _free_name(base: str) -> str | None:
    return next((name for name in _NUMBERS if name not in re.findall(r"\w+", base)), None)


def _plus(name: str, shift: int) -> str:
    return name if shift == 0 else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"


def _range(start: int, length: int) -> str:
    return f"range({start}, {start + length})" if start else f"range({length})"

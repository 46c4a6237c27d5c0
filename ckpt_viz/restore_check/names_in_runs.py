"""Long lists of names in code: names that count up are written by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ckpt_viz.expressions import quoted

_NUMBERS = re.compile(r"(0|[1-9]\d{0,8})", re.ASCII)
_PLAIN = re.compile(r"[\w ./:-]*", re.ASCII)  # characters that mean themselves in an f-string
_LONGEST_BLOCK = 12  # names with one number
_FEWEST = 3  # names of a run
_WIDTH = 88


class _Counting(NamedTuple):
    """A name with a number that counts up: what is before and behind the number."""

    start: str
    number: int
    end: str

    def at(self, number: int) -> str:
        return f"{self.start}{number}{self.end}"

    @property
    def code(self) -> str:
        return f"f{quoted(f'{self.start}{{n}}{self.end}')}"


def names_in_lines(names: Sequence[str]) -> list[str]:
    """Return the items of a list of names, in lines of code.

    >>> names_in_lines(["conv", "conv_1", "conv_2", "conv_3", "head"])
    ["'conv', *(f'conv_{n}' for n in range(1, 4)), 'head',"]
    >>> names_in_lines([f"b{n}_{end}" for n in range(2) for end in ("in", "out")])
    ["*(name for n in range(2) for name in (f'b{n}_in', f'b{n}_out')),"]
    """
    lines = [""]
    for item in _items(names):
        if lines[-1] and len(lines[-1]) + len(item) > _WIDTH:
            lines.append("")
        lines[-1] += f" {item}," if lines[-1] else f"{item},"
    return lines


def _items(names: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(names):
        runs = ((_run(names, place, size), size) for size in range(1, _LONGEST_BLOCK + 1))
        (block, times), size = max(runs, key=lambda run: run[0][1] * run[1])
        if times < 2 or times * size < _FEWEST:
            yield quoted(names[place])
            place += 1
            continue
        first = block[0].number
        numbers = f"range({first}, {first + times})" if first else f"range({times})"
        if size == 1:
            yield f"*({block[0].code} for n in {numbers})"
        else:
            every = ", ".join(name.code for name in block)
            yield f"*(name for n in {numbers} for name in ({every}))"
        place += times * size


def _run(names: Sequence[str], place: int, size: int) -> tuple[Sequence[_Counting], int]:
    """Return the names of a block whose numbers count up in the next ones, and how often."""
    pairs = zip(names[place : place + size], names[place + size : place + 2 * size], strict=False)
    block = [_counting(name, following) for name, following in pairs]
    if len(block) < size or None in block or len({name.number for name in block if name}) > 1:
        return (), 0
    counting = [name for name in block if name is not None]
    first, times = counting[0].number, 1
    while True:
        start = place + times * size
        wanted = [name.at(first + times) for name in counting]
        if [*names[start : start + size]] != wanted:
            return counting, times
        times += 1


def _counting(name: str, following: str) -> _Counting | None:
    """Return a name whose following one differs in a number alone, by one; None for any other."""
    before, after = _NUMBERS.split(name), _NUMBERS.split(following)
    if len(before) != len(after) or not _PLAIN.fullmatch(name):
        return None
    others = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    if len(others) != 1 or others[0] % 2 == 0:
        return None
    (place,) = others
    if int(after[place]) != int(before[place]) + 1:
        return None
    return _Counting("".join(before[:place]), int(before[place]), "".join(before[place + 1 :]))

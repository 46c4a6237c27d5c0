"""Long lists of names in code: names that count up are written by their numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ckpt_viz.ground.expressions import quoted

_NUMBERS = re.compile(r"(0|[1-9]\d{0,8})", re.ASCII)
PLAIN = re.compile(r"[\w ./:-]*", re.ASCII)  # characters that mean themselves in an f-string
_LONGEST_BLOCK = 12  # names with one number
_FEWEST = 3  # names of a run
_WIDTH, _WIDTH_OF_LINE = 80, 88


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


def in_list(names: Sequence[str]) -> list[str]:
    """Return the code of a list of names, in lines.

    >>> in_list(["conv", "conv_1", "conv_2", "conv_3", "head"])
    ["['conv', *(f'conv_{n}' for n in range(1, 4)), 'head']"]
    >>> in_list([f"b{n}_{end}" for n in range(2) for end in ("in", "out")])
    ["[*(f'b{n}_{end}' for n in range(2) for end in ('in', 'out'))]"]
    """
    return list_of([*_items(names)])


def list_of(
    items: Sequence[str], opening: str = "[", closing: str = "]", width: int = _WIDTH
) -> list[str]:
    """Return the code of a list, or a call, of items that are code, in lines."""
    text = ", ".join(items)
    if len(text) <= width and "\n" not in text:
        return [f"{opening}{text}{closing}"]
    lines = [""]
    for item in items:
        first, *others = item.split("\n")
        if lines[-1] and (others or len(lines[-1]) + len(item) > width):
            lines.append("")
        lines[-1] += f" {first}" if lines[-1] else first
        lines += others
        lines[-1] += ","
    return [opening, *(f"    {line}" for line in lines), closing]


def _items(names: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(names):
        runs = (_run(names, place, size) for size in range(1, _LONGEST_BLOCK + 1))
        made = [(len(block) * times, _of_run(block, times)) for block, times in runs if times > 1]
        fit = [(n, code) for n, code in made if n >= _FEWEST and _is_narrow(code)]
        length, code = max(fit, key=lambda run: run[0], default=(1, quoted(names[place])))
        yield code
        place += length


def filled(*parts: Sequence[str], closing: str) -> list[str]:
    """Return lines of parts: each goes on in the line before it, unless that gets too long."""
    lines, indent = [""], ""
    for first, *others in parts:
        if len(lines[-1]) + len(first) >= _WIDTH_OF_LINE and len(lines[-1]) > len(indent):
            indent = " " * 4
            lines.append(f"{indent}{first}")
        else:
            lines[-1] += f" {first}" if lines[-1] else first
        lines += [f"{indent}{line}" for line in others]
    lines[-1] += closing
    return lines


def _ends(ends: Sequence[str]) -> str:
    return (
        quoted("".join(ends)) if {*map(len, ends)} == {1} else f"({', '.join(map(quoted, ends))})"
    )


def _is_narrow(code: str) -> bool:
    return all(len(line) <= _WIDTH for line in code.split("\n"))


def _of_run(block: Sequence[_Counting], times: int) -> str:
    """Return what makes the names of a block that counts up."""
    first = block[0].number
    numbers = f"range({first}, {first + times})" if first else f"range({times})"
    code = f"*({_of_block(block, numbers)})"
    return code if len(code) > _WIDTH else code.replace("\n   ", "")


def _of_block(block: Sequence[_Counting], numbers: str) -> str:
    """Return what makes the names of a block for each of some numbers."""
    if len(block) == 1:
        return f"{block[0].code} for n in {numbers}"
    ends = [name.end for name in block]
    if len({name.start for name in block}) > 1:
        every = ", ".join(name.code for name in block)
        return f"name for n in {numbers} for name in ({every})"
    shared = os.path.commonprefix(ends)  # noqa: RUF071 (these are no paths)
    form = f"{block[0].start}{{n}}{shared}{{end}}"
    every = _ends([end[len(shared) :] for end in ends])
    return f"f{quoted(form)} for n in {numbers}\n    for end in {every}"


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
    if len(before) != len(after) or not PLAIN.fullmatch(name):
        return None
    others = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    if len(others) != 1 or others[0] % 2 == 0:
        return None
    (place,) = others
    if int(after[place]) != int(before[place]) + 1:
        return None
    return _Counting("".join(before[:place]), int(before[place]), "".join(before[place + 1 :]))

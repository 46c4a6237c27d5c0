"""Runs in code: `base[0]`, `base[1]` and so on under consecutive numbers are one comprehension."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from ckpt_viz.expressions import quoted
from ckpt_viz.restore_check.names_in_runs import names_in_lines

_FEWEST = 3  # items of a run
_NUMBER = r"(0|[1-9]\d{0,8})"  # a file may have names of thousands of digits
_INDEXED = re.compile(rf"(.+)\[{_NUMBER}\]", re.DOTALL | re.ASCII)
_KEY = re.compile(rf"([\w./-]*/){_NUMBER}(/\.ATTRIBUTES/\w+|)", re.ASCII)
_MOST_SINGLE = 12  # variables with a line of their own
_LAYER = re.compile(
    r"""(.+)\.get_layer\(('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)\.(\w+)""", re.DOTALL
)
_PLAIN = re.compile(r"[\w ./:-]*", re.ASCII)
_END = re.compile(r"(.+)/(\w+)", re.DOTALL | re.ASCII)
_OWN = frozenset({"layer", "group", "own", "end", "name", "n", "getattr", "zip", "range"})
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
    others, tables = _tables([*reads])
    for place, read in enumerate(others):
        item, key = Numbered(0, read.expression).item, _KEY.fullmatch(read.key)
        form = place if item is None or key is None else (item[0], key[1], key[3])
        number = (0, 0) if item is None or key is None else (item[1], int(key[2]))
        by_form.setdefault(form, []).append((*number, read))
    return [*tables, *(line for group in by_form.values() for line in _of_form(sorted(group)))]


class _OfLayer(NamedTuple):
    """A variable of `base.get_layer(layer)`: its attribute, and both parts of its key."""

    base: str
    layer: str
    attribute: str
    group: str
    end: str

    @classmethod
    def of(cls, read: ReadTensor) -> _OfLayer | None:
        """Return the parts of a read; None for any other expression."""
        layer, key = _LAYER.fullmatch(read.expression), _END.fullmatch(read.key)
        if layer is None or key is None or not _OWN.isdisjoint(re.findall(r"\w+", layer[1])):
            return None
        return cls(layer[1], literal_eval(layer[2]), layer[3], key[1], key[2])

    @property
    def form(self) -> str:
        """The group with a mark for the layer's name, or else for each number."""
        if self.layer in self.group and _PLAIN.fullmatch(self.group):
            return self.group.replace(self.layer, "{layer}")
        return re.sub(r"\d+", "#", self.group)

    @property
    def numbers(self) -> list[int]:
        """The numbers in the group."""
        return [int(number) for number in re.findall(r"\d{1,9}", self.group)]


def _tables(reads: list[ReadTensor]) -> tuple[list[ReadTensor], list[str]]:
    """Return what no table has, and code for layers whose variables have equal names and ends."""
    if len(reads) <= _MOST_SINGLE:
        return reads, []
    by_layer: dict[tuple[str, str, str], list[tuple[_OfLayer, ReadTensor]]] = {}
    others = []
    for read in reads:
        parts = _OfLayer.of(read)
        if parts is None:
            others.append(read)
        else:
            by_layer.setdefault((parts.base, parts.layer, parts.group), []).append((parts, read))
    by_form: dict[object, list[list[tuple[_OfLayer, ReadTensor]]]] = {}
    for (base, *_), variables in by_layer.items():
        # The counter of a class has no number at first: dense, dense_1.
        group = variables[0][0].form.replace("_#", "")
        form = base, group, tuple((parts.attribute, parts.end) for parts, _ in variables)
        by_form.setdefault(form, []).append(variables)
    lines: list[str] = []
    for layers in by_form.values():
        if len(layers) < _FEWEST:
            others += [read for variables in layers for _, read in variables]
            continue
        lines += _table(layers)
    return others, lines


def _table(layers: list[list[tuple[_OfLayer, ReadTensor]]]) -> Iterator[str]:
    """Yield the items of layers whose variables have the same names, and groups of one form."""
    first = [layer[0][0] for layer in layers]
    is_named = "{layer}" in first[0].form
    form, groups = first[0].form, [p.group for p in first]
    if not is_named:
        first.sort(key=lambda parts: parts.numbers)
        groups = [p.group for p in first]
        start, end = _in_common(groups)
        groups = [group[len(start) : len(group) - len(end)] for group in groups]
        form = f"{start}{{group}}{end}"
    ends = ", ".join(f"({quoted(p.attribute)}, {quoted(p.end)})" for p, _ in layers[0])
    columns = [[p.layer for p in first], *([] if is_named else [groups])]
    lines = []
    for column in columns:
        of_column = names_in_lines(column)
        of_column[-1] = f"{of_column[-1].removesuffix(',')}],"
        lines += [f"    {' ' if n else '['}{line}" for n, line in enumerate(of_column)]
    lines[-1] = f"{lines[-1].removesuffix(',')})],"
    yield f"*[(getattr({first[0].base}.get_layer(layer), own), f'{form}/{{end}}')"
    yield f"  for own, end in [{ends}] for {'(layer,)' if is_named else 'layer, group'} in zip("
    yield from lines


def _in_common(groups: list[str]) -> tuple[str, str]:
    """Return the first and the last parts of all paths, with their slashes."""
    start = os.path.commonprefix(groups).rpartition("/")  # noqa: RUF071 (a slash ends it)
    ends = os.path.commonprefix([group[len("".join(start[:2])) :][::-1] for group in groups])  # noqa: RUF071
    end = ends[::-1].partition("/")
    both = "".join(start[:2]), "".join(end[1:]) if end[1] else ""
    return both if all(map(_PLAIN.fullmatch, both)) else ("", "")


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

"""Runs in code: `base[0]`, `base[1]` and so on under consecutive numbers are one comprehension."""

from __future__ import annotations

import os
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Sequence
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
    """An expression under a name with a number: `start` and `end` are around the number.

    The number of any other name is None.
    """

    expression: str
    start: str = ""
    number: int | None = None
    end: str = ""


class NumberedRun(NamedTuple):
    """Items of one base, `base[0]`, `base[1]` and so on, whose numbers go up by equal steps."""

    items: Sequence[Numbered]
    base: str = ""
    place: int = 0  # of the first item

    def loop(self, form: str) -> str:
        """Return a comprehension of the form for an `{item}` at a `{number}`; "" if it is short.

        >>> items = [Numbered(f"ckpt.slots[{n + 2}]", number=n) for n in range(3)]
        >>> next(runs(items)).loop("str({number}): {item}")
        'str(i): ckpt.slots[i + 2] for i in range(3)'
        """
        name = next((n for n in _NUMBERS if n not in re.findall(r"\w+", self.base)), None)
        if len(self.items) < _FEWEST or name is None:
            return ""
        number, second = (item.number or 0 for item in self.items[:2])
        step, start, place, shown = second - number, self.place, name, name
        if step == 1:
            start, place = number, _plus(name, self.place - number)
        else:
            shown = _plus(f"{step} * {name}", number - step * self.place)
        stop = start + len(self.items)
        numbers = f"range({start}, {stop})" if start else f"range({stop})"
        return f"{form.format(item=f'{self.base}[{place}]', number=shown)} for {name} in {numbers}"


def _plus(name: str, shift: int) -> str:
    return name if shift == 0 else f"{name} {'+' if shift > 0 else '-'} {abs(shift)}"


def runs(every: Iterable[Numbered]) -> Iterator[NumberedRun]:
    """Yield the runs of expressions of one base and one form of names; any other by itself."""
    groups: dict[object, list[tuple[int, int, Numbered]]] = {}
    bases: dict[object, str] = {}
    for place, item in enumerate(every):
        match = _INDEXED.fullmatch(item.expression)
        if match is None or item.number is None:
            groups[place] = [(0, 0, item)]
            continue
        form = match[1], item.start, item.end
        groups.setdefault(form, []).append((int(match[2]), item.number, item))
        bases[form] = match[1]
    for key, group in groups.items():
        rest = sorted(group)
        while rest:
            steps = ((b[0] - a[0], b[1] - a[1]) for a, b in pairwise(rest))
            step = next(steps, (0, 0))
            is_run = step[0] == 1 and step[1] > 0
            length = 2 + len([*takewhile(step.__eq__, steps)]) if is_run else 1
            yield NumberedRun([item for *_, item in rest[:length]], bases.get(key, ""), rest[0][0])
            rest = rest[length:]


class ReadTensor(NamedTuple):
    """A variable's expression, and the key of its value in the file."""

    expression: str
    key: str


def in_lines(reads: Iterable[ReadTensor]) -> list[str]:
    """Return the items of a list of variables and keys; runs are comprehensions.

    >>> in_lines(ReadTensor(f"ckpt.m[{n}]", f"m/{2 * n + 1}/.ATTRIBUTES/V") for n in range(3))
    ["*[(ckpt.m[i], f'm/{2 * i + 1}/.ATTRIBUTES/V') for i in range(3)],"]
    """
    others, lines = _tables([*reads])
    for run in runs(map(_numbered, others)):
        first = run.items[0]
        loop = run.loop(f"({{item}}, f'{first.start}{{{{{{number}}}}}}{first.end}')")
        singles = (f"({item.expression}, {quoted(_key_of(item))})," for item in run.items)
        lines += [f"*[{loop}],"] if loop else singles
    return lines


def _numbered(read: ReadTensor) -> Numbered:
    key = _KEY.fullmatch(read.key)
    if key is None:
        return Numbered(read.expression, read.key)
    return Numbered(read.expression, key[1], int(key[2]), key[3])


def _key_of(item: Numbered) -> str:
    return f"{item.start}{'' if item.number is None else item.number}{item.end}"


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
        start = "".join(os.path.commonprefix(groups).rpartition("/")[:2])  # noqa: RUF071 (paths)
        start = start if _PLAIN.fullmatch(start) else ""
        groups = [group[len(start) :] for group in groups]
        form = f"{start}{{group}}"
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

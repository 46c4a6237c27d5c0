"""Long lists of expressions with texts in code: what follows a rule is one comprehension.

A rule is a number that counts up, or a list of names. Short code has lists of numbers alone.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from ckpt_viz.answers.short_code.names_in_runs import in_list, joined, list_of
from ckpt_viz.ground.expressions import quoted

_FEWEST, _FEWEST_IN_ZIP = 3, 5  # items of a comprehension, and of one over several lists
_FEWEST_IN_RANGE = 5  # numbers of a list
_WIDTH_OF_ZIP = 40
_MOST_SINGLE = 12  # items with a line of their own
_MOST_GROUPS = 4  # comprehensions for expressions that differ in places alone
_DIGITS = r"0|[1-9]\d{0,8}"  # a file may have names of thousands of digits
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PLACE = re.compile(rf"(?<=\[)(?:{_DIGITS})(?=\])|(?<=\.get_layer\()(?:{_TEXT})(?=\))", re.ASCII)
_NUMBER = re.compile(rf"({_DIGITS})", re.ASCII)
_COUNTED = re.compile(rf"_(?:{_DIGITS})(?=/|\Z)", re.ASCII)  # Keras counts a class from its second
_LAST = re.compile(rf"(?:\A|[_-])({_DIGITS})\Z", re.ASCII)
_PLAIN = re.compile(r"[\w ./:-]*", re.ASCII)  # characters that mean themselves in an f-string
_NUMBERS, _TEXTS = ("i", "j", "k", "n"), ("layer", "inner", "group", "part", "other")

_Value = int | str


class KeyedExpression(NamedTuple):
    """An expression, and its text: the key of a value, the name of a part."""

    expression: str
    text: str


def in_lines(reads: Iterable[KeyedExpression]) -> list[str]:
    """Return the items of a list of variables and keys.

    >>> in_lines(KeyedExpression(f"ckpt.m[{n}]", f"m/{2 * n + 1}/.ATTRIBUTES/V") for n in range(3))
    ["*[(ckpt.m[i], f'm/{2 * i + 1}/.ATTRIBUTES/V') for i in range(3)],"]
    """
    merged: dict[object, list[Loop]] = defaultdict(list)
    for number, loop in enumerate(loops(reads)):
        columns = tuple((name, tuple(values)) for name, values in loop.columns.items())
        merged[columns or number].append(loop)
    return [line for alike in merged.values() for line in _of_list(alike)]


def _of_list(alike: Sequence[Loop]) -> list[str]:
    """Return the lines of loops over the same values."""
    pairs, clause = [f"({loop.expression}, {loop.text})" for loop in alike], alike[0].clause
    if not alike[0].columns:
        return [f"{pair}," for pair in pairs]
    if len(pairs) == 1:
        return joined([f"*[{pairs[0]} "], clause, ["],"])
    every = [" for pair in (", *(f"    {pair}," for pair in pairs), ")"]
    return joined(["*[pair "], clause, every, ["],"])


def in_dictionary(loop: Loop) -> str:
    """Return a dictionary of a loop, by text.

    >>> (loop,) = loops(KeyedExpression(f"ckpt.slots[{n + 2}]", str(n)) for n in range(3))
    >>> in_dictionary(loop)
    '{str(i - 2): ckpt.slots[i] for i in range(2, 5)}'
    """
    pair = f"{{{loop.text}: {loop.expression} "
    return "\n".join(joined([pair], loop.clause, ["}"]))


@dataclass(frozen=True)
class Loop:
    """Items that follow a rule, or one that follows none.

    `expression` and `text` are code. `columns` has the values of the names in them, item by item.
    `placed` are the items themselves.
    """

    placed: Sequence[KeyedExpression]
    expression: str
    text: str
    columns: Mapping[str, Sequence[_Value]] = field(default_factory=dict)

    @property
    def clause(self) -> list[str]:
        """The lines of `for … in …`."""
        values = [_column(column) for column in self.columns.values()]
        names = f"for {', '.join(self.columns)} in "
        if len(values) == 1:
            return joined([names], values[0])
        columns = ["\n".join(column) for column in values]
        return joined([names], list_of(columns, "zip(", ")", width=_WIDTH_OF_ZIP))


def loops(items: Iterable[KeyedExpression]) -> Iterator[Loop]:
    """Yield loops with every item, each once."""
    by_literals: dict[object, list[_Occurrence]] = defaultdict(list)
    every = [_Occurrence.of(place, item) for place, item in enumerate(items)]
    for occurrence in every:
        by_literals[occurrence.literals].append(occurrence)
    for alike in by_literals.values():
        in_order = sorted(alike, key=_Occurrence.order)
        by_form: dict[str, list[_Occurrence]] = defaultdict(list)
        for occurrence in in_order:
            by_form[occurrence.form].append(occurrence)
        made = [loop for group in by_form.values() for loop in _of_group(group)]
        is_long = len(every) > _MOST_SINGLE and len(made) > _MOST_GROUPS
        whole = _Rule(in_order).loop() if is_long else None
        yield from made if whole is None else min(made, [whole], key=_length)


def _of_group(group: Sequence[_Occurrence]) -> list[Loop]:
    """Return the loop of items of one form, or each item for itself."""
    loop = _Rule(group).loop() if len(group) >= _FEWEST else None
    if loop is None or (len(loop.columns) > 1 and len(group) < _FEWEST_IN_ZIP):
        return [item.alone for item in group]
    return [loop]


def _length(made: Sequence[Loop]) -> int:
    return sum(len(line) + 1 for loop in made for line in _of_list([loop]))


@dataclass(frozen=True)
class _Occurrence:
    """An item: the literal parts of its expression, and what is between them."""

    place: int
    placed: KeyedExpression
    literals: tuple[str, ...]
    places: tuple[_Value, ...]

    @classmethod
    def of(cls, place: int, placed: KeyedExpression) -> _Occurrence:
        expression = placed.expression
        if not _PLAIN.fullmatch(placed.text):
            return cls(place, placed, (expression,), ())
        texts = [match[0] for match in _PLACE.finditer(expression)]
        places = tuple(int(text) if text.isdigit() else literal_eval(text) for text in texts)
        return cls(place, placed, tuple(_PLACE.split(expression)), places)

    @property
    def alone(self) -> Loop:
        """The item without a rule."""
        return Loop([self.placed], self.placed.expression, quoted(self.placed.text))

    @property
    def words(self) -> list[str]:
        """The names of layers in the expression."""
        return [place for place in self.places if isinstance(place, str) and place]

    @property
    def form(self) -> str:
        """The text with a mark for each name in the expression, and for each number."""
        text = self.placed.text
        for word in self.words:
            text = _without(text, word, "\0")
        return _NUMBER.sub("#", _COUNTED.sub("", text))

    def order(self) -> tuple[list[int], int]:
        """Return the place among others of its form: by numbers, but for those in names."""
        text = self.placed.text
        for word in self.words:
            text = _without(text, word, "")
        own = [place for place in self.places if isinstance(place, int)]
        counted = (_LAST.search(part) for part in text.split("/"))
        return [*own, *(-1 if last is None else int(last[1]) for last in counted)], self.place


def _without(text: str, word: str, mark: str) -> str:
    """Return a text with a mark in place of a word."""
    if word not in text:  # no expression is compiled for the many texts without it
        return text
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", lambda _: mark, text)


class _Rule:
    """What the items of one form have in common, and the names for what differs."""

    def __init__(self, items: Sequence[_Occurrence]) -> None:
        self.items = items
        self.columns: dict[str, Sequence[_Value]] = {}
        self._taken = {*re.findall(r"\w+", "".join(items[0].literals)), "pair"}

    def loop(self) -> Loop | None:
        """Return the loop; None if no name is free, or the expressions are equal."""
        items = self.items
        expression = items[0].literals[0]
        for number, literal in enumerate(items[0].literals[1:]):
            code = self._code([item.places[number] for item in items])
            expression += f"{code}{literal}"
        if not self.columns or not all(_PLAIN.fullmatch(item.placed.text) for item in items):
            return None
        components = [item.placed.text.split("/") for item in items]
        if len({len(parts) for parts in components}) > 1:
            return None
        text = "/".join(map(self._component, zip(*components, strict=True)))
        if len(self.columns) > len(_TEXTS):
            return None
        return Loop([item.placed for item in items], expression, _f_string(text), self.columns)

    def _code(self, values: Sequence[_Value], *, is_key: bool = False) -> str:
        """Return the code for values, one for each item; the columns get those of a new name."""
        if len(set(values)) == 1:
            return quoted(values[0]) if isinstance(values[0], str) else str(values[0])
        for name, column in self.columns.items():
            known = _as_steps(name, column, values)
            if known:
                return known
        names = _TEXTS[2 * is_key :] if isinstance(values[0], str) else _NUMBERS
        free = next((n for n in names if n not in self._taken and n not in self.columns), "")
        name = free or f"{names[0]}_{len(self.columns)}"
        self.columns[name] = values
        return name

    def _component(self, values: Sequence[str]) -> str:
        """Return a component of the texts, as the inside of an f-string."""
        if len(set(values)) == 1:
            return values[0]
        for name, column in self.columns.items():
            words = [str(word) for word in column]
            marked = {_without(v, w, f"{{{name}}}") for v, w in zip(values, words, strict=True)}
            if len(marked) == 1 and isinstance(column[0], str):
                return marked.pop()
        parts = [_NUMBER.split(value) for value in values]
        if len({tuple(part[::2]) for part in parts}) == 1:
            inside = zip(*(part[1::2] for part in parts), strict=True)
            if all(values == [str(int(v)) for v in values] for values in map(list, inside)):
                return self._numbered(parts)
        return f"{{{self._code(values, is_key=True)}}}"

    def _numbered(self, parts: Sequence[Sequence[str]]) -> str:
        text = parts[0][0]
        for place in range(1, len(parts[0]), 2):
            numbers = [int(part[place]) for part in parts]
            code = self._code(numbers)
            text += (code if len(set(numbers)) == 1 else f"{{{code}}}") + parts[0][place + 1]
        return text


def _as_steps(name: str, column: Sequence[_Value], values: Sequence[_Value]) -> str:
    """Return values as code of a name with a column of values; "" if no step leads there."""
    if values == column:
        return name
    numbers = [(was, now) for was, now in zip(column, values, strict=True)]
    (first, start), (second, following) = numbers[:2]
    if not all(isinstance(n, int) for both in numbers for n in both) or first == second:
        return ""
    assert isinstance(first, int) and isinstance(second, int)
    assert isinstance(start, int) and isinstance(following, int)
    step, rest = divmod(following - start, second - first)
    shift = start - step * first
    if rest or step < 1 or any(now != step * int(was) + shift for was, now in numbers):
        return ""
    code = name if step == 1 else f"{step} * {name}"
    return code if shift == 0 else f"{code} {'+' if shift > 0 else '-'} {abs(shift)}"


def _f_string(text: str) -> str:
    """Return a text with names in braces as code.

    >>> _f_string("a/{i}"), _f_string("{group}"), _f_string("{i + 1}"), _f_string("a")
    ("f'a/{i}'", 'group', 'str(i + 1)', "'a'")
    """
    if "{" not in text:
        return quoted(text)
    inside = text[1:-1]
    if text[0] == "{" and text[-1] == "}" and not {"{", "}"}.intersection(inside):
        return inside if inside in _TEXTS else f"str({inside})"
    return f"f{quoted(text)}"


def _column(values: Sequence[_Value]) -> list[str]:
    """Return the lines of code of values."""
    numbers = [value for value in values if isinstance(value, int)]
    if not numbers:
        return in_list([str(value) for value in values])
    if len(steps := {b - a for a, b in pairwise(numbers)}) == 1 and (step := steps.pop()) > 1:
        return [f"range({numbers[0]}, {numbers[-1] + 1}, {step})"]
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1].append(number)
        else:
            stretches.append([number])
    if len(stretches) == 1:
        return [_range(numbers)]
    items: list[str] = []
    for stretch in stretches:
        is_long = len(stretch) >= _FEWEST_IN_RANGE
        items += [f"*{_range(stretch)}"] if is_long else map(str, stretch)
    return list_of(items)


def _range(numbers: Sequence[int]) -> str:
    first, end = numbers[0], numbers[-1] + 1
    return f"range({first}, {end})" if first else f"range({end})"

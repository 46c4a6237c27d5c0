"""Long lists of expressions with texts in code: what follows a rule is one comprehension.

A rule is a number that counts up, a list of names, or the layers that a model has. Short code has
lists of numbers alone.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ckpt_viz.answers.short_code.layer_loops import loops_of_layers
from ckpt_viz.answers.short_code.loops import (
    DIGITS,
    NUMBER,
    TEXTS,
    KeyedExpression,
    Loop,
    NamedTexts,
    clause_over,
    f_string,
    in_lines,
    without,
)
from ckpt_viz.answers.short_code.names_in_runs import in_list, list_of
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.live.objects.layer_lists import LayerList

_FEWEST, _FEWEST_IN_ZIP = 3, 5  # items of a comprehension, and of one over several lists
_FEWEST_IN_RANGE = 5  # numbers of a list
_MOST_LINES = 20  # of items, without the layers of a model
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PLACE = re.compile(rf"(?<=\[)(?:{DIGITS})(?=\])|(?<=\.get_layer\()(?:{_TEXT})(?=\))", re.ASCII)
_COUNTED = re.compile(rf"_(?:{DIGITS})(?=/|\Z)", re.ASCII)  # Keras counts a class from its second
_LAST = re.compile(rf"(?:\A|[_-])({DIGITS})\Z", re.ASCII)
_NUMBERS = ("i", "j", "k", "n")  # names for numbers

_Value = int | str


def loops(
    items: Iterable[KeyedExpression],
    layers: Callable[[], Iterable[LayerList]] | None = None,
    texts: NamedTexts | None = None,
) -> Sequence[Loop]:
    """Return loops with every item, each once.

    Args:
        items: What is in the loops.
        layers: Returns the lists of layers that code of many lines may go through.
        texts: A list that such code may make, with texts of items in their order.

    >>> in_lines(loops(KeyedExpression(f"ckpt.m[{n}]", f"m/{2 * n + 1}/V") for n in range(3)))
    ["*[(ckpt.m[i], f'm/{2 * i + 1}/V') for i in range(3)],"]
    """
    every = [*items]
    made = [*_by_rules(every)]
    is_long = len(in_lines(made)) > _MOST_LINES
    lists = [*layers()] if layers is not None and is_long else []
    of_layers, others = loops_of_layers(every, lists)
    ways = ([*of_layers, *_by_rules(others, named)] for named in (None, texts))
    return min([made, *ways], key=_length)


def _by_rules(items: Sequence[KeyedExpression], texts: NamedTexts | None = None) -> Iterator[Loop]:
    by_literals: dict[object, list[_Occurrence]] = defaultdict(list)
    listed = {} if texts is None else {text: n for n, text in enumerate(texts.texts)}
    every = [_Occurrence.of(place, item, listed) for place, item in enumerate(items)]
    for occurrence in every:
        by_literals[occurrence.literals].append(occurrence)
    for alike in by_literals.values():
        by_form: dict[str, list[_Occurrence]] = defaultdict(list)
        for occurrence in sorted(alike, key=_Occurrence.order):
            by_form[occurrence.form].append(occurrence)
        for group in by_form.values():
            yield from _of_group(group, texts)


def _of_group(group: Sequence[_Occurrence], texts: NamedTexts | None) -> list[Loop]:
    """Return the loop of items of one form, or each item for itself."""
    rule = _Rule(group)
    loop = rule.loop(texts) if len(group) >= _FEWEST else None
    if loop is None or (len(rule.columns) > 1 and len(group) < _FEWEST_IN_ZIP):
        return [item.alone for item in group]
    return [loop]


def _length(made: Sequence[Loop]) -> int:
    needs = {line for loop in made if loop.needs is not None for line in loop.needs.making}
    return sum(len(line) + 1 for line in (*needs, *in_lines(made)))


@dataclass(frozen=True)
class _Occurrence:
    """An item: the literal parts of its expression, and what is between them.

    `listed` is the place of its text in a list that the code makes.
    """

    place: int
    placed: KeyedExpression
    literals: tuple[str, ...]
    places: tuple[_Value, ...]
    listed: int | None = None

    @classmethod
    def of(cls, place: int, placed: KeyedExpression, listed: Mapping[str, int]) -> _Occurrence:
        expression, in_list_at = placed.expression, listed.get(placed.text)
        if in_list_at is None and not placed.is_plain:
            return cls(place, placed, (expression,), ())
        texts = [match[0] for match in _PLACE.finditer(expression)]
        places = tuple(int(text) if text.isdigit() else literal_eval(text) for text in texts)
        return cls(place, placed, tuple(_PLACE.split(expression)), places, in_list_at)

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
        if self.listed is not None:
            return ""
        text = self.placed.text
        for word in self.words:
            text = without(text, word, "\0")
        return NUMBER.sub("#", _COUNTED.sub("", text))

    def order(self) -> tuple[list[int], int]:
        """Return the place among others of its form: by numbers, but for those in names."""
        text = self.placed.text
        for word in self.words:
            text = without(text, word, "")
        own = [place for place in self.places if isinstance(place, int)]
        counted = (_LAST.search(part) for part in text.split("/"))
        return [*own, *(-1 if last is None else int(last[1]) for last in counted)], self.place


class _Rule:
    """What the items of one form have in common, and the names for what differs."""

    def __init__(self, items: Sequence[_Occurrence]) -> None:
        self.items = items
        self.columns: dict[str, Sequence[_Value]] = {}
        self._taken = {*re.findall(r"\w+", "".join(items[0].literals)), "pair"}

    def loop(self, texts: NamedTexts | None = None) -> Loop | None:
        """Return the loop; None if no name is free, or the expressions are equal."""
        items, placed = self.items, [item.placed for item in self.items]
        expression = items[0].literals[0]
        for number, literal in enumerate(items[0].literals[1:]):
            code = self._code([item.places[number] for item in items])
            expression += f"{code}{literal}"
        listed = [item.listed for item in items if item.listed is not None]
        if texts is not None and self.columns and len(listed) == len(items):
            text = f"{texts.name}[{self._code(listed)}]"
            return Loop(placed, expression, text, (self._clause,), texts)
        if not self.columns or not all(item.is_plain for item in placed):
            return None
        components = [item.placed.text.split("/") for item in items]
        if len({len(parts) for parts in components}) > 1:
            return None
        text = "/".join(map(self._component, zip(*components, strict=True)))
        if len(self.columns) > len(TEXTS):
            return None
        return Loop(placed, expression, f_string(text), (self._clause,))

    @property
    def _clause(self) -> tuple[str, ...]:
        """The lines of `for … in …`."""
        values = [_column(column) for column in self.columns.values()]
        return clause_over([*self.columns], values)

    def _code(self, values: Sequence[_Value], *, is_key: bool = False) -> str:
        """Return the code for values, one for each item; the columns get those of a new name."""
        if len(set(values)) == 1:
            return quoted(values[0]) if isinstance(values[0], str) else str(values[0])
        for name, column in self.columns.items():
            known = _as_steps(name, column, values)
            if known:
                return known
        names = TEXTS[2 * is_key :] if isinstance(values[0], str) else _NUMBERS
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
            marked = {without(v, w, f"{{{name}}}") for v, w in zip(values, words, strict=True)}
            if len(marked) == 1 and isinstance(column[0], str):
                return marked.pop()
        parts = [NUMBER.split(value) for value in values]
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

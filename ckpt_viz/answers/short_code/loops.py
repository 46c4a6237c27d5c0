"""Loops in code: items of a list or a dictionary that one comprehension makes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.answers.short_code.names_in_runs import PLAIN, filled, list_of
from ckpt_viz.ground.expressions import quoted

DIGITS = r"0|[1-9]\d{0,8}"  # a file may have names of thousands of digits
NUMBER = re.compile(rf"({DIGITS})", re.ASCII)
TEXTS = ("layer", "inner", "group", "part", "other")  # names for texts in code
_WIDTH_OF_ZIP = 40


class KeyedExpression(NamedTuple):
    """An expression, and its text: the key of a value, the name of a part."""

    expression: str
    text: str

    @property
    def is_plain(self) -> bool:
        """Whether all characters of the text mean themselves in an f-string."""
        return PLAIN.fullmatch(self.text) is not None


@dataclass(frozen=True)
class NamedTexts:
    """A list of texts that the code makes: its name, the lines that make it, and what is in it."""

    name: str
    making: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True)
class Loop:
    """Items that follow a rule, or one that follows none.

    `expression` and `text` are code. `clause` has the parts of `for … in …`, each in lines, and is
    empty for an item alone. `placed` are the items themselves. `needs` is the list of texts that
    the code needs.
    """

    placed: Sequence[KeyedExpression]
    expression: str
    text: str
    clause: tuple[tuple[str, ...], ...] = ()
    needs: NamedTexts | None = None


def in_lines(loops: Iterable[Loop]) -> list[str]:
    """Return the items of a list of variables and keys."""
    merged: dict[object, list[Loop]] = defaultdict(list)
    for number, loop in enumerate(loops):
        merged[loop.clause or number].append(loop)
    return [line for alike in merged.values() for line in _of_list(alike)]


def _of_list(alike: Sequence[Loop]) -> list[str]:
    """Return the lines of loops over the same values."""
    pairs, clause = [f"({loop.expression}, {loop.text})" for loop in alike], alike[0].clause
    if not clause:
        return [f"{pair}," for pair in pairs]
    if len(pairs) == 1:
        return filled([f"*[{pairs[0]}"], *clause, closing="],")
    every = ["for pair in (", *(f"    {pair}," for pair in pairs), ")"]
    return filled(["*[pair"], *clause, every, closing="],")


def in_dictionary(loop: Loop) -> str:
    """Return a dictionary of a loop, by text.

    >>> items = [KeyedExpression(f"ckpt.slots[{n + 2}]", str(n)) for n in range(3)]
    >>> in_dictionary(Loop(items, "ckpt.slots[i]", "str(i - 2)", (("for i in range(2, 5)",),)))
    '{str(i - 2): ckpt.slots[i] for i in range(2, 5)}'
    """
    pair = f"{{{loop.text}: {loop.expression}"
    return "\n".join(filled([pair], *loop.clause, closing="}"))


def clause_over(names: Sequence[str], values: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the lines of `for … in …` over lists, each in lines; several are zipped.

    >>> clause_over(["i", "name"], [["range(2)"], ["['a', 'b']"]])
    ("for i, name in zip(range(2), ['a', 'b'])",)
    """
    columns = ["\n".join(lines) for lines in values]
    first, *more = (
        values[0] if len(values) == 1 else list_of(columns, "zip(", ")", width=_WIDTH_OF_ZIP)
    )
    return (f"for {', '.join(names)} in {first}", *more)


def f_string(text: str) -> str:
    """Return a text with names in braces as code.

    >>> f_string("a/{i}"), f_string("{group}"), f_string("{i + 1}"), f_string("a")
    ("f'a/{i}'", 'group', 'str(i + 1)', "'a'")
    """
    if "{" not in text:
        return quoted(text)
    inside = text[1:-1]
    if text[0] == "{" and text[-1] == "}" and not {"{", "}"}.intersection(inside):
        return inside if inside in TEXTS else f"str({inside})"
    return f"f{quoted(text)}"


def without(text: str, word: str, mark: str) -> str:
    """Return a text with a mark in place of a word."""
    if word not in text:  # no expression is compiled for the many texts without it
        return text
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", lambda _: mark, text)

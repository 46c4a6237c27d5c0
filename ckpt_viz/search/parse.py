"""A query as a person types it, read into its syntax tree.

labextension/src/search/parse.ts is the same in the front end, and tests/data/search.json what both
must find. The grammar is docs/search.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ckpt_viz.object_graph.nodes import Role
from ckpt_viz.search import automaton
from ckpt_viz.search.pasted import is_pasted
from ckpt_viz.search.syntax import (
    BLANKS,
    Amount,
    Chain,
    Choice,
    Mistake,
    Near,
    Not,
    Pasted,
    Pattern,
    Query,
    Regex,
    Shape,
    Term,
    Text,
)

MAX_QUERY = 1_000  # characters
MAX_PASTED = 20_000
MAX_TERMS = 50
MAX_STEPS = 99
ROLES = tuple(role.value for role in Role)
# What `is:` knows of a graph, and what only of a comparison.
OF_GRAPH = ("empty", "error", "inferred", "problem", "shared", "sliced", "trainable", "unsaved")
OF_COMPARISON = (
    "changed",
    "deferred",
    "dtype",
    "failed",
    "live",
    "matched",
    "moved",
    "role",
    "saved",
    "shape",
    "unbuilt",
    "unmatched",
    "value",
    "warned",
)
_GLOBS = ("path", "key", "name", "edge", "under")
_FIELDS = ("role", "kind", *_GLOBS, "dtype", "shape", "is", "near", "size>", "params>")
_NAMES = frozenset(field.rstrip(">") for field in _FIELDS)
_ARROW = "->"
_FIELD = re.compile(r"([A-Za-z]+):")
_AMOUNT = re.compile(r"(size|params)(>=|<=|>|<|=)", re.IGNORECASE)
_NUMBER = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?)([A-Za-z]*)\Z")
_INTEGER = re.compile(r"[0-9]{1,15}\Z")
_SIZES = {
    **{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    **{"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40},
}
_COUNTS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}


class _ParseError(Exception):
    def __init__(self, place: int, expected: str) -> None:
        self.mistake = Mistake(place, expected)


def parse(text: str) -> Query | Mistake:
    """Return the terms of a query, all of which are to hold; or where it is none.

    >>> parse("kernel -m")
    (Text(place=0, text='kernel', is_quoted=False), \
Not(place=7, term=Text(place=8, text='m', is_quoted=False)))
    >>> parse('is:lost')
    Mistake(place=3, expected='one of changed, deferred, dtype, empty, error, failed, inferred, \
live, matched, moved, problem, role, saved, shape, shared, sliced, trainable, unbuilt, unmatched, \
unsaved, value, warned')
    """
    if is_pasted(text[:MAX_PASTED]):
        return (Pasted(0, text[:MAX_PASTED].strip(BLANKS)),)
    if len(text) > MAX_QUERY:
        return Mistake(MAX_QUERY, f"at most {MAX_QUERY} characters")
    try:
        return _Parser(text).query()
    except _ParseError as error:
        return error.mistake


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def query(self) -> tuple[Term, ...]:
        terms: list[Term] = []
        self._skip_blanks()
        while self._place < len(self._text):
            start = self._place
            if len(terms) == MAX_TERMS:
                raise _ParseError(start, f"at most {MAX_TERMS} terms")
            terms.append(self._chain(start))
            self._skip_blanks()
        return tuple(terms)

    def _chain(self, start: int) -> Term:
        if self._is_arrow():
            raise _ParseError(start, "a term before ->")
        terms = [self._term()]
        self._skip_blanks()
        while self._is_arrow():
            arrow = self._place
            self._place += len(_ARROW)
            self._skip_blanks()
            if self._place >= len(self._text) or self._is_arrow() or len(terms) == MAX_TERMS:
                raise _ParseError(arrow, "a term behind ->")
            terms.append(self._term())
            self._skip_blanks()
        return terms[0] if len(terms) == 1 else Chain(start, tuple(terms))

    def _is_arrow(self) -> bool:
        end = self._place + len(_ARROW)
        is_there = self._text.startswith(_ARROW, self._place)
        return is_there and (end == len(self._text) or self._text[end] in BLANKS)

    def _term(self) -> Term:
        start = self._place
        is_negated = self._at() == "-" and self._at(1) not in ("", "-", *BLANKS)
        if not is_negated:
            return self._simple()
        self._place += 1
        return Not(start, self._simple())

    def _simple(self) -> Term:
        start, sign = self._place, self._at()
        if sign == '"':
            return Text(start, self._filled(self._quoted(), start), True)
        if sign == "/":
            return self._regex()
        amount = _AMOUNT.match(self._text, start)
        if amount is not None:
            self._place = amount.end()
            return self._amount(start, amount[1].lower(), amount[2])
        field = _FIELD.match(self._text, start)
        if field is None or self._is_tensor(field):
            return Text(start, self._word(), False)
        self._place = field.end()
        return self._field(start, field[1].lower())

    def _is_tensor(self, field: re.Match[str]) -> bool:
        """Return whether this is no field, but the name of a tensor: `kernel:0`."""
        is_output = re.match(r"[0-9]+\Z", self._rest(field.end())) is not None
        return is_output and field[1].lower() not in _NAMES

    def _field(self, start: int, field: str) -> Term:
        place = self._place
        if field in _GLOBS:
            return Pattern(start, field, self._filled(self._value(), place))
        if field in ("role", "kind"):
            return Choice(start, "role", self._choices(_role))
        if field == "is":
            return Choice(start, "is", self._choices(_property))
        if field == "dtype":
            return Choice(start, "dtype", self._choices(lambda word, at: word.lower()))
        if field == "shape":
            return Shape(start, self._shape())
        if field == "near":
            return self._near(start)
        if field in ("size", "params"):
            raise _ParseError(place - 1, f"one of > < >= <= = after {field}")
        known = ", ".join(f if f.endswith(">") else f"{f}:" for f in _FIELDS)
        raise _ParseError(start, f"one of {known}; or quotes around a word with a colon")

    def _choices(self, known: Callable[[str, int], str]) -> tuple[str, ...]:
        place = self._place
        values: list[str] = []
        for word in self._filled(self._value(), place).split("|"):
            values.append(known(self._filled(word, place), place))
            place += len(word) + 1
        return tuple(values)

    def _shape(self) -> tuple[float | str | None, ...]:
        place = self._place
        value = self._value()
        if value.lower() == "scalar":
            return ()
        inner = value[1:-1] if re.match(r"\[[^\n]*\]\Z|\([^\n]*\)\Z", value) else value
        words = [word.strip(BLANKS) for word in re.split("[,x×]", inner)]
        if words[-1] == "" and (len(words) > 1 or inner != value):
            words.pop()  # as Python writes: (), (5,)
        dimensions: list[float | str | None] = []
        for word in words:
            if word not in ("*", "...") and not _INTEGER.match(word):
                raise _ParseError(place, "a shape like [3,*], with * or ... or numbers")
            is_number = word not in ("*", "...")
            dimensions.append(float(word) if is_number else None if word == "*" else word)
        if dimensions.count("...") > 1:
            raise _ParseError(place, "... at most once in a shape")
        return tuple(dimensions)

    def _near(self, start: int) -> Near:
        place = self._place
        value = self._filled(self._value(), place)
        glob, tilde, steps = value.rpartition("~")
        if not tilde:
            return Near(start, value, 1)
        if not re.match(r"[0-9]{1,2}\Z", steps):
            raise _ParseError(place + len(glob) + 1, f"a number of steps from 0 to {MAX_STEPS}")
        return Near(start, self._filled(glob, place), int(steps))

    def _amount(self, start: int, field: str, comparison: str) -> Amount:
        place = self._place
        number = _NUMBER.match(self._word())
        units = _SIZES if field == "size" else _COUNTS
        if number is None or number[2].lower() not in units:
            expected = (
                "a number like 1MB or 64KiB" if field == "size" else "a number like 1e6 or 5M"
            )
            raise _ParseError(place, expected)
        return Amount(start, field, comparison, float(number[1]) * units[number[2].lower()])

    def _regex(self) -> Regex:
        start = self._place
        self._place += 1
        is_in_set = False
        while self._at() != "/" or is_in_set:
            sign = self._at()
            if sign == "":
                raise _ParseError(start, "a closing / for this pattern")
            is_in_set = sign == "[" or (is_in_set and sign != "]")
            self._place += 2 if sign == "\\" else 1
        pattern = self._text[start + 1 : self._place]
        self._place += 1
        if self._at() not in ("", *BLANKS):
            raise _ParseError(self._place, "a blank behind the pattern; a / in it is written \\/")
        if pattern == "":
            raise _ParseError(start + 1, "a pattern between / and /")
        compiled = automaton.regex(pattern, start + 1)
        if isinstance(compiled, Mistake):
            raise _ParseError(compiled.place, compiled.expected)
        return Regex(start, pattern)

    def _value(self) -> str:
        """Read what stands behind a field: quoted, in brackets, or up to a blank."""
        closing = {"[": "]", "(": ")"}.get(self._at())
        if self._at() == '"':
            return self._quoted()
        end = -1 if closing is None else self._text.find(closing, self._place)
        # `[3, 4]`, but not `(root).a (or)`
        if end >= 0 and self._at(end + 1 - self._place) in ("", *BLANKS):
            value = self._text[self._place : end + 1]
            self._place = end + 1
            return value
        return self._word()

    def _quoted(self) -> str:
        start = self._place
        self._place += 1
        characters: list[str] = []
        while self._at() != '"':
            if self._at() == "\\" and self._at(1) in ('"', "\\"):
                self._place += 1
            if self._at() == "":
                raise _ParseError(start, 'a closing "')
            characters.append(self._at())
            self._place += 1
        self._place += 1
        return "".join(characters)

    def _word(self) -> str:
        word = self._rest(self._place)
        self._place += len(word)
        return word

    def _rest(self, place: int) -> str:
        end = place
        while end < len(self._text) and self._text[end] not in BLANKS:
            end += 1
        return self._text[place:end]

    def _filled(self, value: str, place: int) -> str:
        if value == "":
            raise _ParseError(place, "something to look for")
        return value

    def _at(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._text[place : place + 1]

    def _skip_blanks(self) -> None:
        while self._place < len(self._text) and self._text[self._place] in BLANKS:
            self._place += 1


def _role(word: str, place: int) -> str:
    found = [role for role in ROLES if role.startswith(word.lower())]
    if len(found) != 1:
        raise _ParseError(place, f"one of {', '.join(ROLES)}, or the beginning of one")
    return found[0]


def _property(word: str, place: int) -> str:
    known = sorted(OF_GRAPH + OF_COMPARISON)
    if word.lower() not in known:
        raise _ParseError(place, f"one of {', '.join(known)}")
    return word.lower()

r"""Regular expressions and globs that no text can make slow.

A pattern is compiled to a program whose states are found out as they are needed, each once
(the lazy automaton of Thompson 1968): a text takes a step per character, whatever the pattern.
What that costs is counted, and ends at `BUDGET`. Neither `re` nor the browser's RegExp can
promise that, nor do they agree with each other; this and labextension/src/search/automaton.ts do.

Understood: characters, `.`, `[a-z]`, `[^a-z]`, `\d \w \s` and their opposites, `* + ? {2,3}`,
groups, `|`, `^`, `$`. Upper and lower case are one: texts are to be given in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.search.syntax import BLANKS, Mistake

BUDGET = 1_000_000  # steps in finding out states
_MAX_PARTS = 3_000  # of a pattern, repeated ones as often as they are
_MAX_REPEATS = 100
_MAX_DEPTH = 50
_COUNT = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}")
_DIGITS = (("0", "9"),)
_WORD = (*_DIGITS, ("a", "z"), ("_", "_"))
_SPACE = tuple((blank, blank) for blank in BLANKS)
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_Ranges = tuple[tuple[str, str], ...]


class TooComplexError(Exception):
    """The budget is spent."""


class _Set(NamedTuple):
    """One character of some ranges, or of none of them."""

    ranges: _Ranges
    is_negated: bool = False

    def has(self, character: str) -> bool:
        raised = character.upper()
        upper = raised if len(raised) == 1 else character
        found = any(a <= character <= b or a <= upper <= b for a, b in self.ranges)
        return found is not self.is_negated


class _Edge(NamedTuple):
    """The start of a text, or its end."""

    is_end: bool


class _Row(NamedTuple):
    parts: tuple[_Part, ...]


class _Or(NamedTuple):
    parts: tuple[_Part, ...]


class _Repeat(NamedTuple):
    part: _Part
    least: int
    most: int | None


_Part = _Set | _Edge | _Row | _Or | _Repeat
ANY = _Set((), True)
_ANYTHING = _Repeat(ANY, 0, None)


class _Fork(NamedTuple):
    """Goes on at each of these instructions."""

    targets: tuple[int, ...]


_Program = list[_Set | _Edge | _Fork]


class _ReadError(Exception):
    def __init__(self, place: int, expected: str) -> None:
        self.mistake = Mistake(place, expected)


@dataclass(slots=True)
class _State:
    waiting: tuple[int, ...]
    accepts: bool
    accepts_at_end: bool
    next: dict[str, _State]


class Automaton:
    """A compiled pattern. `found` says whether it has just been found, `ended` whether at the end.

    A search begins anew at every character, else the pattern is the text from its start on.
    """

    def __init__(self, part: _Part, *, is_search: bool) -> None:
        self._program = _compiled(part)
        self._is_search = is_search
        self._states: dict[tuple[int, ...], _State] = {}
        self._left = BUDGET

    @cached_property
    def start(self) -> _State:
        """The state before the first character."""
        return self._state([0], at_start=True)

    def run(self, state: _State, text: str) -> tuple[_State, bool]:
        """Return the state after a text, and whether the pattern was found in it on the way."""
        found = False
        for character in text:
            following = state.next.get(character)
            state = self._step(state, character) if following is None else following
            found = found or state.accepts
        return state, found or state.accepts_at_end

    def finds(self, text: str) -> bool:
        """Return whether the pattern is found in a text."""
        start = self.start
        return start.accepts or self.run(start, text)[1]

    def fits(self, text: str) -> bool:
        """Return whether the pattern is the whole text."""
        return self.run(self.start, text)[0].accepts_at_end

    def _step(self, state: _State, character: str) -> _State:
        moved = [0] if self._is_search else []
        for place in state.waiting:
            instruction = self._program[place] if place < len(self._program) else None
            if isinstance(instruction, _Set) and instruction.has(character):
                moved.append(place + 1)
        self._spend(10 + len(state.waiting))
        state.next[character] = following = self._state(moved, at_start=False)
        return following

    def _state(self, places: list[int], *, at_start: bool) -> _State:
        waiting = self._closure(places, at_start=at_start, at_end=False)
        key = tuple(sorted(waiting)) + ((-1,) if at_start else ())
        if key not in self._states:
            ending = self._closure(waiting, at_start=at_start, at_end=True)
            last = len(self._program)
            self._states[key] = _State(tuple(sorted(waiting)), last in waiting, last in ending, {})
        return self._states[key]

    def _closure(self, places: Iterable[int], *, at_start: bool, at_end: bool) -> set[int]:
        """Return where a character, the end of the text or that of the program is waited for."""
        stack, seen, waiting = list(places), set[int](), set[int]()
        while stack:
            place = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = self._program[place] if place < len(self._program) else None
            if isinstance(instruction, _Fork):
                stack.extend(instruction.targets)
            elif isinstance(instruction, _Edge) and (at_end if instruction.is_end else at_start):
                stack.append(place + 1)
            elif not isinstance(instruction, _Edge) or instruction.is_end:
                waiting.add(place)
        self._spend(len(seen))
        return waiting

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooComplexError


def _compiled(part: _Part) -> _Program:
    compiler = _Compiler()
    compiler.append(part)
    return compiler.program


class _Compiler:
    """Writes the program of a pattern. Also what is empty counts: repeats of repeats of it."""

    def __init__(self) -> None:
        self.program: _Program = []
        self._parts = 0

    def append(self, part: _Part) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise TooComplexError
        match part:
            case _Set() | _Edge():
                self.program.append(part)
            case _Row(parts):
                for one in parts:
                    self.append(one)
            case _Or(parts):
                fork, starts, ends = self._reserve(), [], []
                for one in parts:
                    starts.append(len(self.program))
                    self.append(one)
                    ends.append(self._reserve())
                self.program[fork] = _Fork(tuple(starts))
                for end in ends:
                    self.program[end] = _Fork((len(self.program),))
            case _Repeat(one, least, None):
                for _ in range(least):
                    self.append(one)
                fork = self._reserve()
                self.append(one)
                self.program[self._reserve()] = _Fork((fork,))
                self.program[fork] = _Fork((fork + 1, len(self.program)))
            case _Repeat(one, least, int(most)):
                for _ in range(least):
                    self.append(one)
                forks = []
                for _ in range(most - least):
                    forks.append(self._reserve())
                    self.append(one)
                for fork in forks:
                    self.program[fork] = _Fork((fork + 1, len(self.program)))

    def _reserve(self) -> int:
        self.program.append(_Fork(()))
        return len(self.program) - 1


def literal(text: str) -> Automaton:
    """Return what searches for a text."""
    return Automaton(_Row(tuple(map(_one, text))), is_search=True)


def glob(pattern: str, separator: str, *, whole: bool = True, beginning: bool = False) -> Automaton:
    """Return what a glob fits: `*` is anything but the separator, `**` anything at all.

    `**` with a separator behind it may also be nothing. Not whole, the glob may fit from any
    separator on; with `beginning`, up to any.
    """
    parts: list[_Part] = [] if whole else [_or_nothing(_ANYTHING, _one(separator))]
    place = 0
    while place < len(pattern):
        if separator and pattern.startswith(f"**{separator}", place):
            parts.append(_or_nothing(_ANYTHING, _one(separator)))
            place += 3
        elif pattern.startswith("**", place):
            parts.append(_ANYTHING)
            place += 2
        elif pattern[place] == "*":
            ranges = ((separator, separator),) if separator else ()
            parts.append(_Repeat(_Set(ranges, True), 0, None))
            place += 1
        else:
            parts.append(_one(pattern[place]))
            place += 1
    if beginning:
        parts.append(_or_nothing(_one(separator), _ANYTHING))
    return Automaton(_Row(tuple(parts)), is_search=False)


def regex(pattern: str, place: int = 0) -> Automaton | Mistake:
    """Return what searches for a regular expression; `place` is where it stands in its query."""
    try:
        return Automaton(_Reader(pattern).read(), is_search=True)
    except _ReadError as error:
        return Mistake(place + error.mistake.place, error.mistake.expected)
    except TooComplexError:
        return too_complex(place)


def too_complex(place: int) -> Mistake:
    """Return what to say of a pattern that takes too long."""
    return Mistake(place, "a simpler pattern; this one takes too many steps")


def _one(character: str) -> _Set:
    lower = character.lower()
    folded = lower if len(lower) == 1 else character
    return _Set(((folded, folded),))


def _or_nothing(*parts: _Part) -> _Part:
    return _Repeat(_Row(parts), 0, 1)


class _Reader:
    """Reads a regular expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._place = 0

    def read(self) -> _Part:
        part = self._choice(0)
        if self._place < len(self._text):
            raise _ReadError(self._place, "( before this )")
        return part

    def _peek(self) -> str:
        return self._text[self._place : self._place + 1]

    def _take(self, expected: str) -> str:
        if self._place >= len(self._text):
            raise _ReadError(self._place, expected)
        self._place += 1
        return self._text[self._place - 1]

    def _skip(self, text: str) -> bool:
        is_there = self._text.startswith(text, self._place)
        self._place += len(text) if is_there else 0
        return is_there

    def _choice(self, depth: int) -> _Part:
        if depth > _MAX_DEPTH:
            raise _ReadError(self._place, f"at most {_MAX_DEPTH} groups in each other")
        rows = [self._row(depth)]
        while self._skip("|"):
            rows.append(self._row(depth))
        return rows[0] if len(rows) == 1 else _Or(tuple(rows))

    def _row(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom(depth)))
        return _Row(tuple(parts))

    def _atom(self, depth: int) -> _Part:
        start = self._place
        character = self._take("a character")
        match character:
            case "(":
                if self._skip("?") and not self._skip(":"):
                    raise _ReadError(start, "( or (?:")
                part = self._choice(depth + 1)
                if not self._skip(")"):
                    raise _ReadError(start, "a closing ) for this one")
                return part
            case "[":
                return self._set(start)
            case ".":
                return ANY
            case "^" | "$":
                return _Edge(character == "$")
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise _ReadError(start, f"something to repeat before {character}")
        return _one(character)

    def _repeated(self, part: _Part) -> _Part:
        start = self._place
        count = _COUNT.match(self._text, start)
        if count is not None:
            self._place = count.end()
            least = int(count[1])
            most = least if count[2] is None else int(count[3]) if count[3] else None
            if max(least, most or 0) > _MAX_REPEATS or (most is not None and most < least):
                raise _ReadError(start, f"at most {_MAX_REPEATS} repeats, the fewer first")
        elif self._peek() != "" and self._peek() in "*+?":
            sign = self._take("")
            least, most = int(sign == "+"), 1 if sign == "?" else None
        else:
            return part
        self._skip("?")  # as few as possible: finds the same
        return _Repeat(part, least, most)

    def _escape(self) -> _Set:
        start = self._place - 1
        character = self._take("a character after \\")
        if character.lower() in _CLASSES:
            return _Set(_CLASSES[character.lower()], character.isupper())
        if character in _CONTROLS:
            return _one(_CONTROLS[character])
        if character.isascii() and character.isalnum():
            raise _ReadError(start, "one of \\d \\w \\s \\D \\W \\S or an escaped sign")
        return _one(character)

    def _set(self, start: int) -> _Set:
        is_negated = self._skip("^")
        ranges: list[tuple[str, str]] = []
        is_first = True
        while is_first or self._peek() != "]":
            is_first = False
            low = self._member(start)
            if isinstance(low, _Set):
                ranges += low.ranges
                continue
            is_range = self._peek() == "-" and self._text[self._place + 1 : self._place + 2] != "]"
            if not is_range:
                ranges.append((low, low))
                continue
            self._place += 1
            high = self._member(start)
            if isinstance(high, _Set) or high < low:
                raise _ReadError(start, "ranges from a lower to a higher character")
            ranges.append((low, high))
        self._place += 1
        return _Set(tuple(ranges), is_negated)

    def _member(self, start: int) -> str | _Set:
        character = self._take_closed(start)
        if character != "\\":
            return character
        escaped = self._take_closed(start)
        if escaped in _CLASSES:
            return _Set(_CLASSES[escaped])
        if escaped in _CONTROLS:
            return _CONTROLS[escaped]
        if escaped.isascii() and escaped.isalnum():
            raise _ReadError(start, "\\d \\w \\s or an escaped sign between [ and ]")
        return escaped

    def _take_closed(self, start: int) -> str:
        if self._place >= len(self._text):
            raise _ReadError(start, "a closing ] for this one")
        return self._take("")

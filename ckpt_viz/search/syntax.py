"""Reading a query from left to right; labextension/src/search/syntax.ts does the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

BLANKS = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff"  # the same in both languages
BLANK_OR_END = rf"(?=[{BLANKS}]|\Z)"
# In quotes, in brackets (`[3, 4]`, but not `(root).a (or)`), or up to a blank.
_VALUE = re.compile(
    r'"(?P<quoted>(?:\\["\\]|\\(?!["\\])|[^"\\])*)(?P<closing>"?)'
    rf"|(?:\[[^\]]*\]|\([^)]*\)){BLANK_OR_END}|[^{BLANKS}]*"
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """The place at which a query is unreadable or unanswerable, and what was expected there."""

    place: int
    expected: str

    def __str__(self) -> str:
        return f"at character {self.place + 1}: expected {self.expected}"


class MistakeError(Exception):
    """Ends the reading or answering of a query at a mistake."""

    def __init__(self, place: int, expected: str) -> None:
        self.mistake = Mistake(place, expected)


def fail(place: int, expected: str) -> NoReturn:
    """End the reading with a mistake."""
    raise MistakeError(place, expected)


class Reader:
    """A query, the position up to which it was read, and the start of the current term."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.start = text, 0, 0

    def take(self, pattern: str | re.Pattern[str]) -> re.Match[str] | None:
        """Read the text that a pattern matches."""
        found = re.compile(pattern).match(self.text, self.place)
        self.place = self.place if found is None else found.end()
        return found

    def has_more(self) -> bool:
        """Read blanks; return whether anything follows."""
        self.take(f"[{BLANKS}]*")
        return self.place < len(self.text)

    def value(self) -> str:
        """Read one value."""
        start, found = self.place, self.take(_VALUE)
        if found is None or found["quoted"] is None:
            return self.text[start : self.place]
        return (
            re.sub(r'\\(["\\])', r"\1", found["quoted"])
            if found["closing"]
            else fail(start, 'a closing "')
        )


def filled(value: str, place: int) -> str:
    """Return a value that must not be empty."""
    return value or fail(place, "something to look for")

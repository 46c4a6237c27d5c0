"""Reading a query from left to right; labextension/src/search/syntax.ts does the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from ckpt_viz.errors import QueryError

if TYPE_CHECKING:
    from ckpt_viz.graphs.search.measures import Measures

BLANKS = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff"  # the same in both languages
BLANK_OR_END = rf"(?=[{BLANKS}]|\Z)"
FIELD_NAME = rf"[A-Za-z]+(?=:|[{BLANKS}]*[<>=])"
# In quotes, in brackets (`[3, 4]`, but not `(root).a (or)`), or up to a blank.
_VALUE = (
    r'"(?P<quoted>(?:\\["\\]|\\(?!["\\])|[^"\\])*)(?P<closing>"?)'
    rf"|(?:\[[^\]]*\]|\([^)]*\)){BLANK_OR_END}|[^{BLANKS}]*"
)


class QueryReader:
    """A query, the position up to which it was read, and the start of the current term.

    `measure` reads the values; None if they must stay unread.
    """

    def __init__(self, text: str, measure: Callable[[], Measures] | None = None) -> None:
        self.text, self.place, self.start = text, 0, 0
        self._measure = measure

    @cached_property
    def measures(self) -> Measures | None:
        """What the values measure; None if they must stay unread. This may read them all."""
        return None if self._measure is None else self._measure()

    def take(self, pattern: str) -> re.Match[str] | None:
        """Read the text that a pattern matches."""
        match = re.compile(pattern).match(self.text, self.place)
        self.place = self.place if match is None else match.end()
        return match

    def has_more(self) -> bool:
        """Read blanks; return whether anything follows."""
        self.take(f"[{BLANKS}]*")
        return self.place < len(self.text)

    def value(self) -> str:
        """Read one value, as `folded` text."""
        start, match = self.place, self.take(_VALUE)
        value = self.text[start : self.place]
        if match is not None and match["quoted"] is not None:
            value = re.sub(r'\\(["\\])', r"\1", match["quoted"])
            if not match["closing"]:
                self.fail(start, 'a closing "')
        return folded(value) or self.fail(start, "something to look for")

    def fail(self, place: int, expected: str) -> NoReturn:
        """End the reading at a mistake.

        Raises:
            QueryError: In any case.
        """
        raise QueryError(self.text, place, expected)


def plain(text: str) -> str:
    """Return a name as the front end has it: characters outside Unicode are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def folded(text: str) -> str:
    """Return a name in lower case, for comparisons."""
    return plain(text).lower()

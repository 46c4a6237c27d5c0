"""What a query says, as a tree of frozen data: every part with its place in the text.

labextension/src/search/syntax.ts is the same in the front end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BLANKS = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff"  # the same in both languages


@dataclass(frozen=True, slots=True)
class Mistake:
    """Where a query is not one, and what would have been."""

    place: int
    expected: str

    def __str__(self) -> str:
        return f"at character {self.place + 1}: expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Text:
    """Words that stand together in a name: a word, or a phrase in quotes.

    A bare word may be spelled with dots for slashes, and end in `:0` as tensors do.
    """

    place: int
    text: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression."""

    place: int
    pattern: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A field with a glob: path, key, name, edge, under."""

    place: int
    field: str
    glob: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A field with some of the values that it can have: role, is; or globs: dtype."""

    place: int
    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape: numbers, None for any one dimension, `...` for any number of them."""

    place: int
    dimensions: tuple[float | str | None, ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """A comparison with a number: size or params."""

    place: int
    field: str
    comparison: str
    number: float


@dataclass(frozen=True, slots=True)
class Near:
    """What is at most some edges away from the nodes that a glob finds."""

    place: int
    glob: str
    steps: int


@dataclass(frozen=True, slots=True)
class Not:
    """What a term does not find."""

    place: int
    term: Term


@dataclass(frozen=True, slots=True)
class Chain:
    """Parent to child: what the last term finds, with parents that the one before finds, ..."""

    place: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text of TensorFlow, of which the nodes are to be found."""

    place: int
    text: str


Term = Text | Regex | Pattern | Choice | Shape | Amount | Near | Not | Chain | Pasted
Query = Sequence[Term]  # all of them hold

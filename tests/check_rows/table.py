"""Rows of a table: a checkpoint, a program to restore it into, and what TensorFlow says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.oracle import compare


class Pair(NamedTuple):
    """What is restored, and what makes the objects that it is restored into."""

    path: Any
    make: Callable[[], Any]
    method: str | None = None
    options: Any = None
    verify: bool = False


@dataclass(frozen=True)
class Row:
    """A pair with what TensorFlow does.

    `pair` gets a directory to save in. `fails` are the asserts that fail. `says` are the names,
    shapes and dtypes that both TensorFlow's message and ours contain. The restore happens `within`
    a context.
    """

    name: str
    pair: Callable[[Path], Pair]
    fails: frozenset[str]
    raises: str | None
    says: Sequence[str]
    within: Callable[[], AbstractContextManager[Any]]


# TensorFlow's assert_consumed begins with assert_existing_objects_matched.
_FAILS = {
    "consumed": {"consumed"},
    "existing": {"consumed", "existing_objects_matched"},
    "nontrivial": {"nontrivial_match"},
}
ALL = "existing nontrivial"


@dataclass(frozen=True)
class Topic:
    """Rows about one topic. A call returns the decorator that adds a row."""

    rows: list[Row] = field(default_factory=list)

    def __call__(
        self,
        fails: str = "",
        *,
        raises: str | None = None,
        says: Sequence[str] = (),
        within: Callable[[], AbstractContextManager[Any]] = nullcontext,
        name: str = "",
    ) -> Callable[[Callable[[Path], Pair]], Callable[[Path], Pair]]:
        """Add a row, named after the function that makes its pair; by default, all asserts pass."""
        assert raises or not says, "where nothing is raised, no message is looked at"
        failing = frozenset[str]().union(*(_FAILS[word] for word in fails.split()))

        def add(pair: Callable[[Path], Pair]) -> Callable[[Path], Pair]:
            self.rows.append(Row(name or pair.__name__, pair, failing, raises, says, within))
            return pair

        return add


def check_row(row: Row, at: Path) -> None:
    """Compare dry and real restore, and both with what the row expects."""
    pair = row.pair(at)
    with row.within():
        how = {"method": pair.method, "options": pair.options, "verify": pair.verify}
        found = compare(pair.make, pair.path, **how)
        outcome, check = found.outcome, found.check
        assert outcome.raises == row.raises
        if row.raises is None:
            asserts = ("consumed", "existing_objects_matched", "nontrivial_match")
            assert {name for name in asserts if getattr(outcome, name)} == row.fails
        elif row.says:
            said = [str(check.raises and check.raises.message), outcome.messages["raises"]]
            assert not [(words, text) for words in row.says for text in said if words not in text]

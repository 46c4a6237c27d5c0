"""Rows of a table: a pair of checkpoint and program, and the finding that it shows, if any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind

ERROR, FAIL, DEFERRED = Severity.ERROR, Severity.FAIL, Severity.DEFERRED
WARNING, INFO = Severity.WARNING, Severity.INFO


@dataclass(frozen=True)
class Pair:
    """A checkpoint, and a function that makes the objects to restore it into.

    The restore happens `within` a context. `fixed` is the pair after the user followed the remedy;
    then the assert `passes` passes. `after` builds what the restore waits for. `hidden` finds the
    variables that no checkpoint holds. With `verify`, the check tests the stored bytes.
    """

    path: Any
    make: Callable[[], Any]
    method: str | None = None
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    fixed: Callable[[], Pair] | None = None
    passes: str = "assert_consumed"
    after: Callable[[Any], object] | None = None
    hidden: Callable[[Any], Sequence[Any]] | None = None
    verify: bool = False


Maker = Callable[[Path], Pair]


class Shows(NamedTuple):
    """A finding: the names on the two sides, and words that its sentences contain.

    A name that is None may be anything.
    """

    severity: Severity
    saved: str | None
    live: str | None
    words: Sequence[str]


@dataclass(frozen=True)
class Row:
    """A pair and the finding that it shows; None for a near miss: it shows none of the kind."""

    kind: Kind
    name: str
    pair: Maker
    shows: Shows | None

    @property
    def id(self) -> str:
        """The name of the test."""
        return f"{self.kind.value}-{self.name}"


class Rows(list[Row]):
    """The rows of a family, and the decorators that add one, by the name of what makes its pair."""

    def shows(
        self, kind: Kind, severity: Severity, saved: str | None, live: str | None, *words: str
    ) -> Callable[[Maker], Maker]:
        """Add a pair that shows a finding of the kind."""
        return self._adding(kind, Shows(severity, saved, live, words))

    def silent(self, kind: Kind) -> Callable[[Maker], Maker]:
        """Add a near miss: a pair that looks like one of the kind, but shows no such finding."""
        return self._adding(kind, None)

    def _adding(self, kind: Kind, shows: Shows | None) -> Callable[[Maker], Maker]:
        def add(pair: Maker) -> Maker:
            self.append(Row(kind, pair.__name__, pair, shows))
            return pair

        return add

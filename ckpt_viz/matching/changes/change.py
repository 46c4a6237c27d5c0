"""A change: what happened to a part of the program since the checkpoint was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.matching.changes.deeds import Deed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import Certainty


@dataclass(frozen=True)
class Change:
    """One thing that happened to the program.

    >>> change = cv.fix(ckpt, "ckpts/ckpt-3").changes[0]
    >>> change.kind, change.saved, change.live
    (<Kind.RENAMED: 'renamed'>, '(root).net.hidden', '(root).net.body')

    Attributes:
        kind: What happened.
        saved: The name of the first saved node that it is about; None if there is none.
        live: The name of the first live object that it is about; None if there is none.
        values: How many values it concerns, slot variables included.
        certainty: How sure the places of these values are.
        nodes: The saved nodes whose place it changes, those below them included.
        objects: The live objects that they are now, or that have no value.
        deed: What somebody did; None for what only follows from something else.
    """

    kind: Kind
    saved: str | None
    live: str | None
    values: int
    certainty: Certainty
    _say: Callable[[], str] = field(repr=False, compare=False)
    nodes: tuple[int, ...] = field(default=(), repr=False)
    objects: tuple[int, ...] = field(default=(), repr=False)
    deed: Deed | None = field(default=None, repr=False)

    @cached_property
    def why(self) -> str:
        """What happened, in a sentence."""
        return self._say()

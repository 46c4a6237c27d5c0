"""What is known of an object that is not built yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Misfit(NamedTuple):
    """What will not fit when an object is built: saved nodes, and a clause with the reason."""

    nodes: tuple[int, ...]
    why: str


@dataclass
class Outlook:
    """What is known of an object that is not built yet.

    `placed` are the saved nodes that find their place when it is built. `trained` are the variables
    among them that a training step will change, in Keras' order; None for a variable that was not
    saved. `doubts` are clauses. `is_other` says that one of them is a difference between what was
    saved and what will be made. `is_by_code` says that the program's own code decides what else
    there will be.
    """

    placed: set[int] = field(default_factory=set)
    trained: list[int | None] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    is_other: bool = False
    is_by_code: bool = False

    @property
    def fits(self) -> bool:
        """Whether all known parts fit."""
        return not self.misfits and not self.doubts

    @property
    def differs(self) -> bool:
        """Whether a known part does not fit. What is unknown yet does not count."""
        return bool(self.misfits) or self.is_other

    def doubt(self, why: str) -> None:
        """Add that what was saved differs from what will be made."""
        self.doubts.append(why)
        self.is_other = True

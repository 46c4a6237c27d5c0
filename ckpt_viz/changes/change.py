"""A change: what happened to a part of the program since the checkpoint was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ckpt_viz.correspondence.pairs import Certainty


class ChangeKind(str, Enum):
    """What happened, in the words of programmers; what concerns most of a program comes first."""

    ROOT_SHIFTED = "root_shifted"
    MIGRATED = "migrated"
    INSERTED = "inserted"
    REMOVED = "removed"
    REORDERED = "reordered"
    SCOPE_CHANGED = "scope_changed"
    CONTAINER_CHANGED = "container_changed"
    RENAMED = "renamed"
    WRAPPED = "wrapped"
    UNWRAPPED = "unwrapped"
    MOVED = "moved"
    RESHAPED = "reshaped"
    OPTIMIZER_CHANGED = "optimizer_changed"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True)
class Change:
    """One thing that happened to the program.

    Attributes:
        kind: What happened.
        saved: The name of the first saved node that it is about; None if there is none.
        live: The name of the first live object that it is about; None if there is none.
        values: How many values it concerns, slot variables included.
        certainty: How sure the places of these values are.
        why: One sentence.
        nodes: The saved nodes whose place it changes, those below them included.
        objects: The live objects that they are now, or that have no value.
    """

    kind: ChangeKind
    saved: str | None
    live: str | None
    values: int
    certainty: Certainty
    why: str
    nodes: tuple[int, ...] = field(default=(), repr=False)
    objects: tuple[int, ...] = field(default=(), repr=False)

"""What a fix does with each value, by saved nodes and live objects of the check."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from ckpt_viz.matching.correspondence.pairs import Pair


@dataclass(frozen=True)
class FixedValues:
    """What a fix does with each value.

    Attributes:
        sure: The pairs that it restores.
        others: The pairs of values that it leaves out.
        waiting: The saved nodes that wait until an object is built.
        unbuilt: The saved values whose part is not built, and must be before a restore.
        damaged: The saved nodes whose bytes are damaged.
        misfits: The saved nodes whose objects have another dtype or shape.
        in_part: The saved nodes of which the fix copies what both shapes have.
        is_there: Whether there is a fix; without one, `others` are what belongs together.
    """

    sure: Sequence[Pair] = ()
    others: Sequence[Pair] = ()
    waiting: Set[int] = frozenset()
    unbuilt: Set[int] = frozenset()
    damaged: Set[int] = frozenset()
    misfits: Set[int] = frozenset()
    in_part: Set[int] = frozenset()
    is_there: bool = True

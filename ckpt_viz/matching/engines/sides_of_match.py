"""The engine's questions to the objects that a restore writes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Protocol

from ckpt_viz.graphs.nodes.nodes import Node, Stored
from ckpt_viz.matching.engines.trace import Failure, Gathered, NewCounter, SlotAnswer


class LiveSideOfMatch(Protocol):
    """A restore's questions to the objects that it restores into. All may raise Refusal."""

    @property
    def root(self) -> int:
        """The root object."""

    @property
    def attached(self) -> Sequence[tuple[str, int]]:
        """The checkpoint's own children beside its root, if it was made with `root=`."""

    @property
    def momentary(self) -> Set[int]:
        """The objects that a restore forgets, although it has bound them."""

    def children(self, obj: int) -> Callable[[str], int | None]:
        """Return the object's lookup of children by local name."""

    def bookkeepers(self, obj: int) -> tuple[int, ...]:
        """Return the objects that record whether this one was restored; it marks the first."""

    def gather(self, obj: int, node: Node) -> Gathered:
        """Return what the object would read for a node with values."""

    def misfit(self, obj: int, stored: Stored) -> Failure:
        """Return what assigning a value of the wrong shape raises."""

    def slot(
        self, optimizer: int, variable: int, name: str, node: Node, stored: Stored | None
    ) -> SlotAnswer:
        """Return what the optimizer does with a saved slot variable; change nothing."""

    def takes_counter(self, obj: int) -> bool:
        """Return whether a new counter takes the values that wait for one at the object."""

    def new_save_counter(
        self, waiting: Sequence[tuple[int, Node, Stored | None]]
    ) -> NewCounter | None:
        """Return the counter that the restore makes at its end, None if it makes none.

        `waiting` holds the saved counters that wait for it: at which object, their nodes and
        tensors.
        """

"""What becomes of each saved node in a restore, and at which step this is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER, has_value
from ckpt_viz.matching.engines.trace import Action, Step
from ckpt_viz.matching.story.restore import RestoreStory


class NodeOutcome(str, Enum):
    """What becomes of a saved node. A restored node has an object; its value, if any, is there."""

    RESTORED = "restored now"
    WAITS = "waits"
    FORGOTTEN = "forgotten"
    ERROR = "error"


class Turn(NamedTuple):
    """The outcome of a node, and the index of the step that decides it."""

    outcome: NodeOutcome
    at: int


class TurnKind(Enum):
    """Why a learner may get an outcome wrong; the members that teach most come first."""

    FAILS = "TensorFlow raises"
    WAITS = "a child waits"
    SECOND_WAY = "a node is found, but not by its own name or not at once"
    BOUND = "a node is found by its own name"
    SLOT_WAITS = "a slot variable waits"
    FORGOTTEN = "values are lost"
    SLOT_FOUND = "a slot variable is found or made"


_LATE = {Action.DEFER: TurnKind.WAITS, Action.DEFER_SLOT: TurnKind.SLOT_WAITS}
_DROPPED = (Action.DROP, Action.DROP_SLOT)
_LOST = (Action.REPEAT, Action.UNUSED, Action.SKIP_SAVER)
# A look-up or a visit that decides nothing about its node.
_UNASKED = (Action.KEEP, Action.GATHER, Action.VALUELESS, Action.RESTORE)


@dataclass(frozen=True)
class _Steps:
    """By node, the first step that does something with it."""

    made: dict[int, int] = field(default_factory=dict)
    bound: dict[int, int] = field(default_factory=dict)
    restored: dict[int, int] = field(default_factory=dict)
    late: dict[int, int] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)
    visited: dict[int, int] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of all saved nodes in one restore."""

    story: RestoreStory

    def of(self, node: int) -> Turn:
        """Return the outcome of a node."""
        return self._looked_at(node) or self._never_looked_at(node)

    def kinds(self, most: int) -> Mapping[TurnKind, list[tuple[int, Turn]]]:
        """Return the first nodes of each kind whose outcome one step decides, with the outcome."""
        kinds: dict[TurnKind, list[tuple[int, Turn]]] = {kind: [] for kind in TurnKind}
        for at, (action, node, _, holder, name, _, _) in enumerate(self._trace):
            if node is None or action in _UNASKED or (action is Action.BIND and holder is None):
                continue
            kind = self._kind(action, node, holder, name)
            if kind is None or len(kinds[kind]) == most:
                continue
            turn = self.of(node)
            if turn.at == at:
                kinds[kind].append((node, turn))
        return kinds

    @property
    def _trace(self) -> Iterable[Step]:
        return islice(self.story.trace.steps, len(self.story))

    def _kind(self, action: Action, node: int, holder: int | None, name: str) -> TurnKind | None:
        if action is Action.FAIL:
            return TurnKind.FAILS
        if action in _LATE:
            return _LATE[action]
        if action not in (Action.BIND, Action.CREATE):
            return TurnKind.FORGOTTEN
        saved = self.story.saved
        if saved.nodes[node].slot is not None:
            return TurnKind.SLOT_FOUND
        if node in self._steps.late or (holder, name) != (
            saved.tree.parents[node],
            saved.tree.labels[node],
        ):
            return TurnKind.SECOND_WAY
        return TurnKind.BOUND if has_value(saved.nodes[node]) else None

    def _looked_at(self, node: int) -> Turn | None:
        """Return the outcome of a node that steps are about."""
        steps = self._steps
        if node in steps.bound:
            return self._bound(node)
        if node in steps.late:
            return self._late(steps.late[node])
        return Turn(NodeOutcome.ERROR, steps.failed[node]) if node in steps.failed else None

    def _late(self, at: int) -> Turn:
        """Return the outcome of a node that began to wait at a step and never got an object."""
        steps = self.story.trace.steps
        last, late = steps[len(self.story) - 1], steps[at]
        # An optimizer takes all slots that wait for it, and then fails at one.
        waits_for_optimizer = late.action is Action.DEFER_SLOT and late.obj is None
        if self._end is not None and waits_for_optimizer and last.parent == late.parent:
            return Turn(NodeOutcome.ERROR, self._end)
        # A new counter takes one of those that wait, and TensorFlow forgets the others.
        if self._counter is not None and (late.parent, late.name) == (ROOT, SAVE_COUNTER):
            return Turn(NodeOutcome.FORGOTTEN, self._counter)
        return Turn(NodeOutcome.WAITS, at)

    def _bound(self, node: int) -> Turn:
        steps = self._steps
        if node in steps.restored or not has_value(self.story.saved.nodes[node]):
            return Turn(NodeOutcome.RESTORED, steps.made.get(node, steps.bound[node]))
        if node in steps.lost:  # also if the look-up of its children raises then
            return Turn(NodeOutcome.FORGOTTEN, steps.lost[node])
        if node in steps.failed:
            return Turn(NodeOutcome.ERROR, steps.failed[node])
        if self._end is not None:
            return Turn(NodeOutcome.ERROR, self._end)
        # An object that reads nothing for its node.
        return Turn(NodeOutcome.FORGOTTEN, steps.visited.get(node, steps.bound[node]))

    def _never_looked_at(self, node: int) -> Turn:
        """Return the outcome of a node that the restore does not reach."""
        if node in self._below_late:
            return Turn(NodeOutcome.WAITS, self._below_late[node])
        if node in self._steps.dropped:
            return Turn(NodeOutcome.FORGOTTEN, self._steps.dropped[node])
        if self._end is not None:
            return Turn(NodeOutcome.ERROR, self._end)
        last = len(self.story) - 1
        return Turn(NodeOutcome.FORGOTTEN, self._below_dropped.get(node, last))

    @cached_property
    def _steps(self) -> _Steps:
        steps = _Steps()
        columns = {
            **{Action.BIND: steps.bound, Action.RESTORE: steps.restored, Action.FAIL: steps.failed},
            **{Action.CREATE: steps.made, **dict.fromkeys(_LATE, steps.late)},
            **dict.fromkeys(_DROPPED, steps.dropped),
            **dict.fromkeys(_LOST, steps.lost),
            **dict.fromkeys((Action.GATHER, Action.VALUELESS), steps.visited),
        }
        for at, (action, node, *_) in enumerate(self._trace):
            column = columns.get(action)
            if column is not None and node is not None:
                column.setdefault(node, at)
        return steps

    @cached_property
    def _end(self) -> int | None:
        """The step at which the restore raises; None if it returns."""
        return None if self.story.trace.raised is None else len(self.story) - 1

    @cached_property
    def _counter(self) -> int | None:
        """The step at which the restore makes a save_counter; None if it makes none."""
        makes = (at for at, step in enumerate(self._trace) if _makes_counter(step))
        return next(makes, None)

    @cached_property
    def _below_late(self) -> Mapping[int, int]:
        return self._below(self._steps.late)

    @cached_property
    def _below_dropped(self) -> Mapping[int, int]:
        return self._below(self._steps.dropped)

    def _below(self, tops: Mapping[int, int]) -> Mapping[int, int]:
        """Return, for all below some nodes without an object, the step of the node above."""
        bound = self._steps.bound
        below = {node: at for node, at in tops.items() if node not in bound}
        queue = [*below]
        for node in queue:
            for child in self._children(node):
                if child not in below and child not in bound:
                    below[child] = below[node]
                    queue.append(child)
        return below

    def _children(self, node: int) -> Iterator[int]:
        """Yield what waits for a node: its children, and the slots of a variable or optimizer."""
        yield from (child.node_id for child in self.story.saved.nodes[node].children)
        yield from self._slots.get(node, ())

    @cached_property
    def _slots(self) -> Mapping[int, list[int]]:
        slots: dict[int, list[int]] = {}
        for optimizer, node in enumerate(self.story.saved.nodes):
            for slot in node.slot_variables:
                for holder in (optimizer, slot.variable):
                    slots.setdefault(holder, []).append(slot.slot_variable)
        return slots


def _makes_counter(step: Step) -> bool:
    return step.action is Action.CREATE and step.node is None

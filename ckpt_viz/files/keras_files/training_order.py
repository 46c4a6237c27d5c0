"""The order in which an optimizer has the variables that it trains, if a file does not tell it.

A file of weights alone has the groups of a list in no certain order, and those of attributes in
that of their names. Only items of one class have numbers. The optimizer's states have the shapes of
the variables in the order of the training, so a search over all orders that are possible finds
those that fit. Of each variable it is certain what all of these have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

Shape = tuple[int, ...]

_MOST_STEPS = 200_000
_MOST_QUEUES = 200


class Trained(NamedTuple):
    """A variable that an optimizer may train; `name` is the variable's name in the file, or ""."""

    node: int
    name: str
    shape: Shape


@dataclass(frozen=True, eq=False)
class ModelPart:
    """A part of a model: its own variables come first, then those of the parts in it.

    The order within a queue is known, that between queues is not. `is_likely` says whether the
    parts were probably saved queue by queue as `stored` has them.
    """

    own: tuple[Trained, ...] = ()
    queues: tuple[tuple[ModelPart, ...], ...] = ()
    stored: tuple[ModelPart, ...] = ()
    is_likely: bool = True

    def variables(self) -> Iterator[Trained]:
        """Yield all variables, in the order in which the file has them."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield from part.own
            waiting += reversed(part.stored)

    @cached_property
    def is_known(self) -> bool:
        """Whether the file tells the order of all variables."""
        return len(self.queues) < 2 and all(part.is_known for part in self.stored)

    @cached_property
    def is_as_saved(self) -> bool:
        """Whether the file probably has all variables in the order of the training."""
        return self.is_likely and all(part.is_as_saved for part in self.stored)


class SearchSteps:
    """How many steps all searches of a file may still take."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def take(self, number: int) -> None:
        """Count so many steps; raise TooLongError after the last one."""
        self._left -= number
        if self._left < 0:
            raise TooLongError


class TooLongError(Exception):
    """The searches have taken all steps."""


def in_training_order(
    model: ModelPart, shapes: Sequence[Shape], steps: SearchSteps, *, skips: bool = False
) -> list[Trained | None] | None:
    """Return the variable of each shape, None for one that may be several; None if none fits.

    `skips` says that the shapes may be those of some parts alone, since others are frozen.
    """
    search = _Search(shapes, skips, steps)
    try:
        if len(shapes) not in search.ends(model, 0):
            return None
        search.explain(model, 0, len(shapes))
    except (TooLongError, RecursionError):  # of a giant or a hostile file
        return None
    return [next(iter(each)) if len(each) == 1 else None for each in search.possible]


_State = tuple[tuple[int, ...], int]
"""How many parts of each queue are done, and how many shapes."""


@dataclass
class _Search:
    """A search for all orders of a model's parts that have these shapes."""

    shapes: Sequence[Shape]
    skips: bool
    steps: SearchSteps
    possible: list[set[Trained]] = field(init=False)
    _ends: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    _explained: set[tuple[int, int, int]] = field(default_factory=set)
    _fitting: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.possible = [set() for _ in self.shapes]
        self._every = set(self.shapes)

    def ends(self, part: ModelPart, start: int) -> frozenset[int]:
        """Return how many shapes may be done after a part that begins after `start` shapes."""
        key = id(part), start
        if key not in self._ends:
            ends: set[int] = set()
            for after in self._after_own(part, start):
                queues = self._queues(part)
                done = tuple(map(len, queues))
                states = self._transitions(queues, after)
                ends |= {offset for counts, offset in states if counts == done}
            self._ends[key] = frozenset(ends)
        return self._ends[key]

    def explain(self, part: ModelPart, start: int, end: int) -> None:
        """Note which variable each shape may be, in all orders of a part from start to end."""
        if (id(part), start, end) in self._explained:
            return
        self._explained.add((id(part), start, end))
        for after in self._after_own(part, start):
            queues = self._queues(part)
            transitions = self._transitions(queues, after)
            last = tuple(map(len, queues)), end
            if last not in transitions:
                continue
            for variable, place in zip(part.own, range(start, after), strict=False):
                self.possible[place].add(variable)
            for child, begin, stop in self._used(transitions, last):
                self.explain(child, begin, stop)

    def _after_own(self, part: ModelPart, start: int) -> set[int]:
        end = start + len(part.own)
        fits = [variable.shape for variable in part.own] == list(self.shapes[start:end])
        return ({end} if fits else set()) | ({start} if self.skips else set())

    def _queues(self, part: ModelPart) -> list[Sequence[ModelPart]]:
        """Return the queues of a part, without what has no variable that counts."""
        queues = ([each for each in queue if self._counts(each)] for queue in part.queues)
        return [queue for queue in queues if queue]

    def _counts(self, part: ModelPart) -> bool:
        if id(part) not in self._fitting:
            own = (not self.skips or variable.shape in self._every for variable in part.own)
            self._fitting[id(part)] = any(own) or any(map(self._counts, part.stored))
        return self._fitting[id(part)]

    def _transitions(
        self, queues: Sequence[Sequence[ModelPart]], start: int
    ) -> dict[_State, list[tuple[ModelPart, _State]]]:
        """Return all states that can be reached, each with the parts that may be next."""
        if len(queues) > _MOST_QUEUES:
            raise TooLongError
        first: _State = (0,) * len(queues), start
        transitions: dict[_State, list[tuple[ModelPart, _State]]] = {}
        waiting = [first]
        while waiting:
            state = waiting.pop()
            if state in transitions:
                continue
            self.steps.take(len(queues))
            transitions[state] = self._next(queues, state)
            waiting += [after for _, after in transitions[state]]
        return transitions

    def _next(
        self, queues: Sequence[Sequence[ModelPart]], state: _State
    ) -> list[tuple[ModelPart, _State]]:
        counts, offset = state
        following: list[tuple[ModelPart, _State]] = []
        for number, queue in enumerate(queues):
            if counts[number] < len(queue):
                part = queue[counts[number]]
                for end in self.ends(part, offset):
                    after = (*counts[:number], counts[number] + 1, *counts[number + 1 :])
                    following.append((part, (after, end)))
        return following

    def _used(
        self, transitions: dict[_State, list[tuple[ModelPart, _State]]], last: _State
    ) -> Iterator[tuple[ModelPart, int, int]]:
        """Yield each part with its start and end, in all ways that lead to the last state."""
        before: dict[_State, list[tuple[ModelPart, _State]]] = {}
        for state, parts in transitions.items():
            for part, after in parts:
                before.setdefault(after, []).append((part, state))
        seen, waiting = {last}, [last]
        while waiting:
            state = waiting.pop()
            for part, earlier in before.get(state, ()):
                yield part, earlier[1], state[1]
                if earlier not in seen:
                    seen.add(earlier)
                    waiting.append(earlier)

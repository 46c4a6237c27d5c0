"""One step of a story, and the story: a sequence of steps, each made when it is looked at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from ckpt_viz.ground.text import count, listed, listed_by, printable, printable_lines
from ckpt_viz.matching.story.folding import Fold, folds
from ckpt_viz.matching.story.places import TensorFlowPlace


@dataclass(frozen=True)
class Waiting:
    """A saved node that waits after a step: at which object, and for which child or slot."""

    saved: int
    live: int | None
    local_name: str


@dataclass(frozen=True)
class WalkState:
    """What TensorFlow holds after a step.

    Attributes:
        queue: The saved nodes in the queue of the walk, the next one first.
        waiting: The saved nodes that wait for an object, in the order in which they began to wait.
        bound: How many saved nodes have an object.
        assigned: How many objects have got their saved value.
        name: Returns what people call a saved node.
    """

    queue: tuple[int, ...]
    waiting: tuple[Waiting, ...]
    bound: int
    assigned: int
    name: Callable[[int], str] = field(repr=False, compare=False)

    def __str__(self) -> str:
        waiting = [self.name(wait.saved) for wait in self.waiting]
        lines = (
            f"queue: {listed_by(self.name, self.queue) or 'empty'}",
            f"waiting: {listed(waiting) or 'nothing'}",
            f"{count(self.bound, 'node')} bound, {count(self.assigned, 'value')} assigned",
        )
        return printable_lines("\n".join(lines))


@dataclass(frozen=True)
class StoryStep:
    """One step.

    Attributes:
        number: The place in the story, from 1 on.
        action: What happens, in one word: "bind", "keep", "defer", "restore", "fail" and others.
        text: A sentence about it, of at most 25 words.
        reason: Why it is so, in another sentence; "" if the text leaves no question.
        saved: The id of the saved node, None if the step has none.
        live: The id of the object of the program, None if the step has none.
        holder: The id of the saved node whose child or slot the step looks at.
        local_name: The name by which it looks: of the edge from the holder, or of the slot.
        place: The function and the line of TensorFlow that does this.
        is_problem: Whether something is wrong from here on: a value waits, is lost, or fails.
    """

    number: int
    action: str
    text: str
    reason: str
    place: TensorFlowPlace
    saved: int | None = None
    live: int | None = None
    holder: int | None = None
    local_name: str = ""
    is_problem: bool = False
    state_after: Callable[[], WalkState] | None = field(default=None, repr=False, compare=False)

    @property
    def state(self) -> WalkState | None:
        """What is in the queue and what waits after the step; None outside a restore."""
        return None if self.state_after is None else self.state_after()

    def __str__(self) -> str:
        sentences = f"{self.number}. {self.text} {self.reason}".strip()
        return printable_lines(f"{printable(sentences)}\n{self.place}")

    def to_json(self) -> dict[str, Any]:
        """Return the step as plain data."""
        data = {
            "number": self.number,
            "action": self.action,
            "text": self.text,
            "reason": self.reason,
            "saved": self.saved,
            "live": self.live,
            "holder": self.holder,
            "local_name": self.local_name,
            "is_problem": self.is_problem,
            "function": f"{self.place.module}.{self.place.function}",
            "line": self.place.line,
        }
        # Not `in (None, "", False)`: the root's id, 0, is equal to False.
        return {
            name: value
            for name, value in data.items()
            if not (value is None or value is False or value == "")
        }


_MOST_LINES = 60


class Story(ABC, Sequence[StoryStep]):
    """The steps of a restore, of a save or of an assert, in TensorFlow's order.

    `story[0]` is the first step. `print(story)` shows alike steps as one line. `call` is the
    function of TensorFlow that the story is of, such as "restore".
    """

    call: str

    @property
    @abstractmethod
    def title(self) -> str:
        """What the story is of, in a few words."""

    @property
    @abstractmethod
    def end(self) -> str:
        """How it ends, in a sentence."""

    @abstractmethod
    def _step(self, index: int) -> StoryStep:
        """Return the step at an index from 0 on."""

    def words(self, index: int) -> tuple[str, str, TensorFlowPlace]:
        """Return text, reason and place of the step at an index from 0 on."""
        step = self._step(index)
        return step.text, step.reason, step.place

    @abstractmethod
    def _likeness(self, index: int) -> Hashable:
        """Return what is equal for steps that a reader would call the same."""

    @overload
    def __getitem__(self, index: int) -> StoryStep: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[StoryStep]: ...

    def __getitem__(self, index: int | slice) -> StoryStep | Sequence[StoryStep]:
        """Return the step at an index from 0 on, or several."""
        places = range(len(self))[index]
        return self._step(places) if isinstance(places, int) else [*map(self._step, places)]

    def folded(self) -> Iterator[tuple[Sequence[StoryStep], int]]:
        """Yield the steps, where alike runs follow each other the first run alone.

        With each comes how often it follows again.
        """
        for fold in self._folds():
            run = range(fold.start, fold.start + fold.length)
            yield [*map(self._step, run)], fold.times - 1

    def to_text(self, max_lines: int | None = _MOST_LINES) -> str:
        """Return the story as text, alike runs folded; `max_lines` None shows all lines."""
        lines: list[str] = []
        for steps, again in self.folded():
            lines += [f"{step.number:>5}  {printable(step.text)}" for step in steps]
            if again:
                steps_in_all = count(again * len(steps), "step")
                lines.append(f"       … the same {count(again, 'time')} more, {steps_in_all}")
        shown = lines if max_lines is None else lines[:max_lines]
        more = len(lines) - len(shown)
        cut = [f"… {count(more, 'more line')}: print(story.to_text(None)) shows all"]
        head = printable(f"{self.title}: {count(len(self), 'step')}")
        return "\n".join([head, *shown, *(cut if more else []), printable(self.end)])

    def to_json(self) -> list[dict[str, Any]]:
        """Return all steps as plain data."""
        return [step.to_json() for step in self]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return printable(f"<Story of {self.title}: {count(len(self), 'step')}>")

    def _folds(self) -> Sequence[Fold]:
        return folds([self._likeness(index) for index in range(len(self))])


@dataclass(frozen=True, eq=False, repr=False)
class EmptyStory(Story):
    """A story without steps: `why` says in a sentence why there are none."""

    call: str
    of: str
    why: str

    @property
    def title(self) -> str:
        """What the story is of."""
        return self.of

    @property
    def end(self) -> str:
        """Why there are no steps."""
        return self.why

    def __len__(self) -> int:
        """Return 0."""
        return 0

    def _step(self, index: int) -> StoryStep:
        raise IndexError(index)

    def _likeness(self, index: int) -> Hashable:
        raise IndexError(index)

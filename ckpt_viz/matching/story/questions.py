"""Questions about a restore, which a learner answers before the step that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import printable
from ckpt_viz.matching.story.asserts import AssertStory
from ckpt_viz.matching.story.outcomes import NodeOutcome, Outcomes, Turn, TurnKind
from ckpt_viz.matching.story.restore import RestoreStory

MOST_QUESTIONS = 5  # that a restore asks unless someone chooses
_PASSES, _FAILS = "passes", "fails"
_ALL = tuple(NodeOutcome)


@dataclass(frozen=True)
class Question:
    """One question. `print` and `repr` show it without the answer.

    >>> exercise = cv.exercise(ckpt, "ckpts/ckpt-3", questions=["net.hidden"])
    >>> exercise.questions[0].choices
    ('restored now', 'waits', 'forgotten', 'error')

    Attributes:
        about: The saved node, as people name it, or the name of an assert.
        choices: The possible answers, always in the same order.
        answer: The right one.
        why: The sentence of the step that decides, and its reason.
        step: The number of this step; of an assert, one more than the restore has.
        node: The id of the saved node that the question or its answer is about, or None.
        live: The id of the object that makes an assert fail, or None.
    """

    about: str
    choices: tuple[str, ...]
    answer: str = field(repr=False)
    why: tuple[str, str] = field(repr=False)
    step: int
    node: int | None = field(repr=False)
    live: int | None = field(default=None, repr=False)

    @property
    def is_of_assert(self) -> bool:
        """Whether it asks if an assert passes."""
        return self.choices[0] == _PASSES

    @property
    def text(self) -> str:
        """The question."""
        if self.is_of_assert:
            return f"Does {self.about}() pass?"
        return f"What becomes of {self.about}?"

    def __str__(self) -> str:
        numbered = (f"{number} {choice}" for number, choice in enumerate(self.choices, 1))
        return printable(f"{self.text} {', '.join(numbered)}")

    def to_json(self) -> dict[str, Any]:
        """Return the question with its answer as plain data."""
        return {
            "question": self.text,
            "choices": [*self.choices],
            "answer": self.answer,
            "why": " ".join(filter(None, self.why)),
            "step": self.step,
        }


def questions_about(story: RestoreStory, nodes: Iterable[int]) -> Iterator[Question]:
    """Yield a question for each of these saved nodes."""
    outcomes = Outcomes(story)
    for node in nodes:
        yield _question(story, node, outcomes.of(node))


def chosen_questions(story: RestoreStory, most: int = MOST_QUESTIONS) -> Sequence[Question]:
    """Return questions at steps that a learner can get wrong, in the order of the steps.

    Different kinds come first. If nearly all answers would be "restored now", there are fewer. In
    a graph, no value changes before a session runs, so there are none. A `save_counter` waits until
    the restore makes it, so two answers are right: no question asks
    about that.
    """
    if story.trace.builds_graph:
        return ()
    kinds = Outcomes(story).kinds(most)
    plain = kinds[TurnKind.BOUND]
    others = sum(map(len, kinds.values())) - len(plain)
    del plain[max(1, others // 3) :]
    rounds = zip_longest(*kinds.values())
    counter = story.saved.save_counter
    turns = [turn for turns in rounds for turn in turns if turn is not None and turn[0] != counter]
    return [_question(story, *turn) for turn in sorted(turns[:most], key=lambda turn: turn[1].at)]


def _question(story: RestoreStory, node: int, turn: Turn) -> Question:
    step = story[turn.at]
    # The visit of a node with an object does not let anything wait.
    is_visit = step.saved == node and step.holder is None
    return Question(
        about=_name(story.saved, node),
        choices=tuple(c.value for c in _ALL if not (is_visit and c is NodeOutcome.WAITS)),
        answer=turn.outcome.value,
        why=(step.text, step.reason),
        step=step.number,
        node=node,
    )


def _name(saved: Graph, node: int) -> str:
    return saved.names.place_or_state(node)


def question_of_assert(story: AssertStory, steps: int) -> Question:
    """Return the question whether an assert passes after a restore of this many steps."""
    step = story.failing
    return Question(
        about=story.call,
        choices=(_PASSES, _FAILS),
        answer=_PASSES if step is None else _FAILS,
        why=(story.end, "") if step is None else (step.text, step.reason),
        step=steps + 1,
        node=None if step is None else step.saved,
        live=None if step is None else step.live,
    )

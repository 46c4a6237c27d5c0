"""An exercise: an explorer that asks what becomes of saved nodes before it shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ckpt_viz.answers.restore_check.asking import questions_of
from ckpt_viz.api import check
from ckpt_viz.entrances.jupyter.widget import Explorer
from ckpt_viz.matching.story.questions import MOST_QUESTIONS, Question


class Exercise(Explorer):
    """An explorer that opens with questions about a restore.

    >>> exercise = cv.exercise(ckpt, "ckpts/ckpt-3", questions=["net.hidden"])
    >>> exercise.answers[0]["answer"]
    'waits'

    `print` shows the questions with their choices, and `answers` has the right ones. The page
    grades the answers of a learner; the kernel does not get them. All else is as in an `Explorer`.
    """

    _opens_at = 1

    def __init__(
        self, live: object, saved: object, questions: int | str | Iterable[str], **kwargs: Any
    ) -> None:
        made = check(live, saved)
        asked = tuple(questions_of(made, questions))
        super().__init__(made, step=self._opens_at, **kwargs)
        self._shown = replace(self._shown, questions=asked)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions, in the order in which the page asks them."""
        return tuple(self._shown.questions or ())

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Each question with its choices, the right answer, and why, as plain data."""
        return [question.to_json() for question in self.questions]

    def __str__(self) -> str:
        return "\n".join(f"{at}. {question}" for at, question in enumerate(self.questions, 1))

    def __repr__(self) -> str:
        return str(self)

    def _picture(self) -> dict[str, str]:
        """Return the questions: a picture of the check would have the answers."""
        return {"text/plain": str(self)}

    def _mark(self) -> bytes:
        """Return what tells this exercise from other explorers of the same check."""
        return json.dumps(self.answers).encode()


def exercise(
    live: object, saved: object, *, questions: int | str | Iterable[str] = MOST_QUESTIONS
) -> Exercise:
    """Return an explorer that asks a learner what a restore would do, and grades the answers.

    >>> print(cv.exercise(ckpt, "ckpts/ckpt-3", questions=["net.hidden"]))
    1. What becomes of net.hidden? 1 restored now, 2 waits, 3 forgotten, 4 error

    It changes nothing, and needs no kernel after it was saved in a notebook or as an HTML file.

    Args:
        live: What the program would restore, as `check` takes it.
        saved: The checkpoint, as `check` takes it.
        questions: What to ask about: names of saved nodes that `ObjectGraph.node_id` takes, and
            asserts by their names, such as "assert_consumed". Or how many questions to choose at
            most; different kinds come first.

    Raises:
        NoSuchNodeError: The checkpoint has no node of a name, or several.
        SourceError: The restore has no steps, or there is nothing to ask about it.
    """
    return Exercise(live, saved, questions)

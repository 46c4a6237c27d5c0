"""The restore of a check as data for a page that plays it: docs/explorer.md has the format."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import SourceError
from ckpt_viz.matching.story.columns import ACTIONS, NONE, columns_of
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.questions import Question, chosen_questions
from ckpt_viz.matching.story.restore import RestoreStory
from ckpt_viz.matching.story.step import Story

if TYPE_CHECKING:
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck

Played = tuple[dict[str, Any], list[bytes]]

WINDOW = 200  # steps in words around the one that a page asks for
MOST_IN_FILES = 3_000  # steps that go along with a file that no kernel answers for


def played(
    check: RestoreCheck,
    at: int = 0,
    questions: Sequence[Question] | None = None,
    most: int = WINDOW,
) -> Played:
    """Return all steps as columns of numbers, and the words of at most so many around a place.

    `questions` are those of an exercise. None: the page asks for some when it has shown a step.
    """
    story = check.steps
    columns = columns_of(story)
    size, places = len(check.live.nodes), check.saved_places
    saved = 0 if check.saved is None else len(check.saved.nodes)
    of_saved = array("i", [places.get(node, NONE) for node in range(saved)])
    live = array("i", [node if node < size else NONE for node in columns.live])
    numbers = columns.saved, live, columns.holders, columns.names, of_saved
    description = {
        "title": story.title,
        "end": "" if len(story) > 0 else story.end,
        "actions": ACTIONS,
        "names": columns.texts,
    }
    return (
        {
            "story": description,
            **said(story, at, most),
            **({} if questions is None else asked(check, questions)),
        },
        [columns.actions.tobytes(), *(column.tobytes() for column in numbers)],
    )


def place_of(check: RestoreCheck, saved: int | None, live: int | None) -> int | None:
    """Return the node of the picture for a saved node, or else for an object; None for neither."""
    if saved is not None:
        return check.saved_places.get(saved)
    return live if live is not None and live < len(check.live.nodes) else None


def asked(check: RestoreCheck, given: Sequence[Question] | None) -> dict[str, Any]:
    """Return the questions of an exercise, or else some that are chosen here."""
    questions = given
    if questions is None:
        story = check.steps
        questions = chosen_questions(story) if isinstance(story, RestoreStory) else ()
    data = [_asked(check, question) for question in questions]
    return {"questions": data, "is_exercise": given is not None}


def _asked(check: RestoreCheck, question: Question) -> dict[str, Any]:
    """Return a question for a page; `at` is the index of the step that decides."""
    return {
        "about": question.about,
        "is_of_assert": question.is_of_assert,
        "choices": question.choices,
        "right": question.choices.index(question.answer),
        "why": question.why,
        "at": question.step - 1,
        "node": place_of(check, question.node, question.live),
    }


def played_in_file(
    check: RestoreCheck, questions: Sequence[Question] | None = None
) -> Played | None:
    """Return the same with the words of all steps; None if these are too many for a file."""
    story = check.steps
    if len(story) > MOST_IN_FILES:
        return None
    description, columns = played(check, questions=questions, most=len(story))
    return {**description, **asked(check, questions)}, columns


def said(story: Story, at: int, most: int = WINDOW) -> dict[str, Any]:
    """Return the words of the steps around a place: each a sentence, a reason and a function.

    These two are places in `reasons` and in `functions`. A function of TensorFlow has its name, its
    file and the line.
    """
    if type(at) is not int or not 0 <= at <= len(story):
        raise SourceError(f"found step {at!r:.40}, expected 0 to {len(story)}")
    first = max(0, min(at - most // 2, len(story) - most))
    functions: dict[TensorFlowPlace, int] = {}
    reasons: dict[str, int] = {}
    steps = [
        (
            text,
            reasons.setdefault(reason, len(reasons)),
            functions.setdefault(place, len(functions)),
        )
        for text, reason, place in map(story.words, range(len(story))[first : first + most])
    ]
    words = {"first": first, "steps": steps, "reasons": list(reasons)}
    return {"said": {**words, "functions": _functions(list(functions))}}


def _functions(places: Sequence[TensorFlowPlace]) -> list[tuple[str, str, int | None]]:
    """Return the name, the file and the line of each place, without a directory of the user."""
    return [
        (place.function, f"{place.module.replace('.', '/')}.py", place.line) for place in places
    ]


def source_of(check: RestoreCheck, at: int) -> dict[str, Any]:
    """Return the text of the function that does a step, with the numbers of two of its lines.

    `first` is the number of its first line in the file, `line` that of the line that does the step.
    """
    if type(at) is not int or not 0 <= at < len(check.steps):
        raise SourceError(f"found step {at!r:.40}, expected one below {len(check.steps)}")
    place = check.steps[at].place
    text = place.source
    if text is None:
        raise SourceError(f"{place.module}: this TensorFlow has no {place.function}")
    return {"text": text, "first": replace(place, mark="").line, "line": place.line}

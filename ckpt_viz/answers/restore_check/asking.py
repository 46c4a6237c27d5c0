"""Which questions a page asks about the restore of a check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from ckpt_viz.errors import SourceError
from ckpt_viz.matching.story.asserts import ASSERTS
from ckpt_viz.matching.story.questions import (
    Question,
    chosen_questions,
    question_of_assert,
    questions_about,
)
from ckpt_viz.matching.story.restore import RestoreStory

if TYPE_CHECKING:
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck


def questions_of(check: RestoreCheck, asked: int | str | Iterable[str]) -> Sequence[Question]:
    """Return the questions that a teacher asks, those about asserts last.

    Args:
        check: The check of the restore.
        asked: How many questions to choose at most; or names of saved nodes and of asserts.

    Raises:
        NoSuchNodeError: The checkpoint has no node of a name, or several.
        SourceError: There is nothing to ask.
    """
    story = check.steps
    if len(story) == 0:
        raise SourceError(f"{story.title}: {story.end}")
    if isinstance(asked, int):
        return _chosen(check, asked)
    names = _names(asked)
    asserts = [name for name in names if name in ASSERTS]
    nodes = [name for name in names if name not in ASSERTS]
    return [
        *sorted(_about(check, nodes), key=attrgetter("step")),
        *(question_of_assert(check.steps_of(name), len(story)) for name in asserts),
    ]


def _names(asked: object) -> Sequence[str]:
    """Return the names that were asked for, each once."""
    names = [asked] if isinstance(asked, str) else asked
    if isinstance(names, Iterable):
        known = [*dict.fromkeys(names)]
        if known and all(isinstance(name, str) for name in known):
            return known
    raise SourceError(
        f"found the questions {asked!r:.80}, expected names of saved nodes or asserts, or a number"
    )


def _chosen(check: RestoreCheck, most: int) -> Sequence[Question]:
    if isinstance(most, bool) or most < 1:
        raise SourceError(f"found {most!r} questions, expected a number from 1 on")
    story = check.steps
    chosen = chosen_questions(story, most) if isinstance(story, RestoreStory) else ()
    if not chosen:
        raise SourceError(
            f"{story.title}: no step is a question; pass names of saved nodes, or of asserts such "
            f"as {ASSERTS[0]!r}"
        )
    return chosen


def _about(check: RestoreCheck, names: Sequence[str]) -> Sequence[Question]:
    """Return the questions about saved nodes, one for each node that the names mean."""
    if not names:
        return ()
    story, saved = check.steps, check.saved
    if saved is None or not isinstance(story, RestoreStory):
        raise SourceError(
            f"{story.title}: a restore by names has no questions about nodes; ask about its asserts"
        )
    if story.trace.builds_graph:
        raise SourceError(
            f"{story.title}: a graph assigns no value before run_restore_ops(); ask about asserts"
        )
    return [*questions_about(story, dict.fromkeys(map(saved.node_id, names)))]

"""A comparison for a terminal: each problem or difference, its reason, and what to do about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ckpt_viz.graphs.nodes.printed_names import without_root
from ckpt_viz.graphs.object_graph.side_names import both_sides
from ckpt_viz.graphs.overlay.overlay import Comparison, Overlay, Problem, State
from ckpt_viz.graphs.render.comparison_text import painted, unpainted
from ckpt_viz.graphs.render.encodings import shown_on_stdout
from ckpt_viz.graphs.render.signs import SEVERITIES, SIDES, STATES
from ckpt_viz.graphs.render.text import printable, shortened, side_by_side
from ckpt_viz.graphs.render.views import MAX_LINES
from ckpt_viz.ground.text import count, listed

_COUNTERS = re.compile(r"_?\d+")


@dataclass(frozen=True)
class Details:
    """Each problem of a check or difference of a diff, with its reason: `print(check.details)`."""

    _overlay: Overlay = field(repr=False)
    _notes: Sequence[str] = field(default=(), repr=False)

    def to_text(self, max_lines: int | None = MAX_LINES, *, color: bool = False) -> str:
        """Return the text; `print` shows 40 lines, and None means all.

        The title and notes on the sources come first, then the problems, then the notes on what the
        comparison leaves open; the last line is the summary. Problems whose texts differ in numbers
        alone are one, unless all are shown.
        """
        overlay = self._overlay
        head = [*map(shortened, (overlay.graph.title, *self._notes))]
        tail = [*(f"  {shortened(note)}" for note in overlay.notes), printable(overlay.headline)]
        paint = painted if color else unpainted
        lines = [*chain(*_problems(overlay, paint, shows_all=max_lines is None))]
        room = len(lines) if max_lines is None else max(max_lines - len(head) - len(tail), 1)
        if len(lines) > room:
            left = len(lines) - room + 1
            lines[room - 1 :] = [f"… {left:,} more lines"]
        return "\n".join([*head, *lines, *tail])

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())


def _problems(
    overlay: Overlay, paint: Callable[[str], str], *, shows_all: bool
) -> Iterator[Sequence[str]]:
    """Yield the lines of each problem; of problems that are alike, those of the first."""
    explained = _explained(overlay)
    alike: dict[object, list[tuple[int, Problem]]] = {}
    for place, problem in enumerate(overlay.problems):
        if problem.lead in (None, place):
            texts = problem.why, problem.to_do(overlay.wording)
            names = (problem.place, problem.saved or "", problem.live or "")
            words = (*map(_without_numbers, names), *(_without_names(t, names) for t in texts))
            is_alone = shows_all or place in explained
            key = place if is_alone else (problem.severity, problem.kind, words)
            alike.setdefault(key, []).append((place, problem))
    for (place, first), *others in alike.values():
        lines = [*_problem_lines(overlay, first, paint)]
        if others:
            every = [next(_names(overlay, problem), "") for _, problem in others]
            lines.append(f"      The same of {listed(every)}.")
        yield [*lines, *([explained[place]] if place in explained else [])]


def _without_numbers(words: str) -> str:
    """Return a text without its numbers: of layers without names, the first has none."""
    return _COUNTERS.sub("", words)


def _without_names(words: str, names: Iterable[str]) -> str:
    """Return a sentence without the names that it is about, and without numbers."""
    for name in names:
        words = words.replace(name, "…") if name else words
    return _without_numbers(words)


def _problem_lines(
    overlay: Overlay, problem: Problem, paint: Callable[[str], str]
) -> Iterator[str]:
    kind = problem.kind.replace("_", " ")
    if overlay.comparison is Comparison.DIFF:
        head = f"{STATES[State(kind)].glyph} {STATES[State(kind)].word}"
    else:
        sign = SEVERITIES[problem.severity]
        head = f"{sign.glyph} {sign.word}, {printable(kind)}"
    yield side_by_side(f"  {paint(head)}", *_names(overlay, problem))
    for sentence in (problem.why, problem.to_do(overlay.wording)):
        if sentence:
            yield f"      {shortened(sentence)}"


def _explained(overlay: Overlay) -> dict[int, str]:
    """Return by lead a line that counts the problems which its change explains, by their kind."""
    kinds: dict[int, Counter[str]] = {}
    for place, problem in enumerate(overlay.problems):
        if problem.lead not in (None, place):
            kinds.setdefault(problem.lead, Counter())[problem.kind.replace("_", " ")] += 1
    return {
        lead: f"      This change causes {count(numbers.total(), 'more problem')}: "
        + ", ".join(f"{number} {printable(kind)}" for kind, number in numbers.items())
        + "."
        for lead, numbers in kinds.items()
    }


def _names(overlay: Overlay, problem: Problem) -> Iterator[str]:
    """Yield what people call a problem's place, then TensorFlow's names if these are others."""
    yield shortened(problem.place)
    names = [name for name in (problem.saved, problem.live) if name is not None]
    if problem.place and problem.place == both_sides(map(without_root, names)):
        return
    if problem.saved == problem.live:
        same = shortened(problem.saved or "")
        yield f"at {same}" if same and problem.place else same
        return
    for words, name in zip(SIDES[overlay.comparison], (problem.saved, problem.live), strict=True):
        if name is not None:
            yield f"{words} {shortened(name)}"

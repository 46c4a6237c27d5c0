"""A comparison as text for a terminal: the differences, what to do about them, the summary.

It has one line per node, or per subtree of one state, and one for all that are alike. It only
counts the matching nodes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from ckpt_viz.object_graph.groups import NodeGroup, groups
from ckpt_viz.object_graph.names import counted, without_root
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.object_graph.overlay import Comparison, Overlay, Problem, Severity, State
from ckpt_viz.object_graph.side_names import both_sides
from ckpt_viz.render.both_names import both_names, partner_words
from ckpt_viz.render.encodings import shown_on_stdout
from ckpt_viz.render.signs import SEVERITIES, SIDES, STATES
from ckpt_viz.render.text import printable, shortened, side_by_side
from ckpt_viz.render.views import MAX_LINES
from ckpt_viz.text import count, listed

_MAX_SECTIONS = 10  # lines of matching parts
_FEWEST_ALIKE = 3  # rows that become one
_COUNTERS = re.compile(r"_?\d+")
_NUMBERS = re.compile(r"\d{1,9}")
_RED, _GREEN, _YELLOW, _CYAN, _FAINT = "31", "32", "33", "36", "2"  # ECMA-48, SGR
_STATE_COLORS: Mapping[State, str] = {
    State.PLAIN: _FAINT,
    State.MATCHED: _FAINT,
    State.LIVE_ONLY: _GREEN,
    State.SAVED_ONLY: _RED,
    State.DEFERRED: _CYAN,
    State.SHAPE: _YELLOW,
    State.DTYPE: _YELLOW,
    State.FAILED: _RED,
    State.WARNED: _YELLOW,
    State.ONLY_A: _RED,
    State.ONLY_B: _GREEN,
    State.ROLE: _YELLOW,
    State.VALUE: _YELLOW,
    State.MOVED: _CYAN,
}
_SEVERITY_COLORS: Mapping[Severity, str] = {
    Severity.ERROR: _RED,
    Severity.FAIL: _RED,
    Severity.DEFERRED: _CYAN,
    Severity.WARNING: _YELLOW,
    Severity.INFO: _FAINT,
}
_WIDTHS = {
    Comparison.CHECK: len("waiting for variable"),
    Comparison.DIFF: len("value differs"),
}
_Paint = Callable[[str, str], str]


@dataclass(frozen=True)
class Details:
    """Each problem of a check or difference of a diff, with its reason: `print(check.details)`."""

    _overlay: Overlay = field(repr=False)
    _notes: Sequence[str] = field(default=(), repr=False)

    def to_text(self, max_lines: int | None = MAX_LINES, *, color: bool = False) -> str:
        """Return the text; `print` shows 40 lines, and None means all."""
        return render_plan(self._overlay, max_lines, notes=self._notes, color=color)

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())


def render_plan(
    overlay: Overlay,
    max_lines: int | None = MAX_LINES,
    *,
    notes: Iterable[str] = (),
    color: bool = False,
) -> str:
    """Return the comparison as text.

    The title and its `notes` come first, then the problems of a check, then a line for each node
    that differs. A subtree of one state is one line with its count, and so are rows or problems
    whose texts differ in numbers alone. Then come the notes on what the comparison leaves open; the
    last line is the summary. Of more than `max_lines` in all, a line counts the ones left out. None
    shows every row by itself.
    """
    paint: _Paint = _painted if color else _unpainted
    head = [*map(shortened, (overlay.graph.title, *notes))]
    summary = paint(_GREEN if overlay.passes else _RED, printable(overlay.headline))
    tail = [*(paint(_FAINT, f"  {shortened(note)}") for note in overlay.notes), summary]
    fewest = len(overlay.graph.nodes) + 1 if max_lines is None else _FEWEST_ALIKE
    problems, rows = [*chain(*_problems(overlay, paint))], _rows(overlay, paint, fewest)
    if max_lines is None:
        return "\n".join([*head, *problems, *rows, *tail])
    room = max(max_lines - len(head) - len(tail), 1)
    # Rows get what problems leave, and at least a third.
    at_least = min(len(rows), room // 3)
    shown = _cut(problems, room - at_least, "lines of problems")
    return "\n".join([*head, *shown, *_cut(rows, room - len(shown), "rows"), *tail])


def _cut(lines: Sequence[str], most: int, noun: str) -> Sequence[str]:
    """Return at most so many lines; the last one counts those that are left out."""
    if len(lines) <= most:
        return lines
    shown = lines[: max(most - 1, 0)]
    return [*shown, f"… {len(lines) - len(shown):,} more {noun}"]


def _painted(color: str, text: str) -> str:
    return f"\x1b[{color}m{text}\x1b[0m"


def _unpainted(color: str, text: str) -> str:
    return text


def _problems(overlay: Overlay, paint: _Paint) -> Iterator[Sequence[str]]:
    """Yield the lines of each problem; of problems that are alike, those of the first."""
    if overlay.comparison is not Comparison.CHECK:  # those of a diff repeat the rows
        return
    explained = _explained(overlay)
    alike: dict[object, list[tuple[int, Problem]]] = {}
    for place, problem in enumerate(overlay.problems):
        if problem.lead in (None, place):
            texts = problem.why, problem.to_do(overlay.wording)
            names = (problem.place, problem.saved or "", problem.live or "")
            words = (*map(_without_numbers, names), *(_without_names(t, names) for t in texts))
            key = place if place in explained else (problem.severity, problem.kind, words)
            alike.setdefault(key, []).append((place, problem))
    for (place, first), *others in alike.values():
        lines = [*_problem_lines(overlay, first, paint)]
        if others:
            every = listed([next(_names(problem), "") for _, problem in others])
            lines.append(f"      The same of {every}.")
        yield [*lines, *([explained[place]] if place in explained else [])]


def _rows(overlay: Overlay, paint: _Paint, fewest: int) -> Sequence[str]:
    """Return a line for each part that differs, for `fewest` or more alike, and matching ones."""
    matched: list[NodeGroup] = []
    differing: set[int] = set()
    alike: dict[object, list[tuple[NodeGroup, str, str]]] = {}
    for group in groups(overlay.graph, overlay.marks):
        if group.state is State.MATCHED:
            matched.append(group)
            continue
        differing.add(group.section)
        names = side_by_side(*both_names(overlay.names, overlay.graph, group.top))
        reason = _reason(overlay, group)
        key = group.state, *map(_without_numbers, (names, reason))
        alike.setdefault(key, []).append((group, names, reason))
    rows = []
    for rows_alike in alike.values():
        if len(rows_alike) < fewest:
            rows += [_row(overlay, g.state, names, why, paint) for g, names, why in rows_alike]
            continue
        rows_alike.sort(key=lambda row: [int(digits) for digits in _NUMBERS.findall(row[1])])
        (group, first, reason), (_, last, other) = rows_alike[0], rows_alike[-1]
        why = reason if reason == other else f"{reason} … {other}"
        number = f"{len(rows_alike):,} alike"
        rows.append(
            _row(overlay, group.state, f"{first} … {last}", side_by_side(number, why), paint)
        )
    return [*rows, *_matched_lines(overlay, matched, differing, paint)]


def _without_numbers(words: str) -> str:
    """Return a text without its numbers: of layers without names, the first has none."""
    return _COUNTERS.sub("", words)


def _without_names(words: str, names: Iterable[str]) -> str:
    """Return a sentence without the names that it is about, and without numbers."""
    for name in names:
        words = words.replace(name, "…") if name else words
    return _without_numbers(words)


def _problem_lines(overlay: Overlay, problem: Problem, paint: _Paint) -> Iterator[str]:
    sign = SEVERITIES[problem.severity]
    kind = printable(problem.kind.replace("_", " "))
    head = paint(_SEVERITY_COLORS[problem.severity], f"{sign.glyph} {sign.word}, {kind}")
    yield side_by_side(f"  {head}", *_names(problem))
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


def _names(problem: Problem) -> Iterator[str]:
    """Yield what people call a problem's place, then TensorFlow's names if these are others."""
    yield shortened(problem.place)
    names = [name for name in (problem.saved, problem.live) if name is not None]
    if problem.place and problem.place == both_sides(map(without_root, names)):
        return
    if problem.saved == problem.live:
        same = shortened(problem.saved or "")
        yield f"at {same}" if same and problem.place else same
        return
    for words, name in zip(SIDES[Comparison.CHECK], (problem.saved, problem.live), strict=True):
        if name is not None:
            yield f"{words} {shortened(name)}"


def _row(overlay: Overlay, state: State, names: str, reason: str, paint: _Paint) -> str:
    sign = STATES[state]
    head = paint(_STATE_COLORS[state], f"{sign.glyph} {sign.word:<{_WIDTHS[overlay.comparison]}}")
    return side_by_side(f"  {head}", names, reason)


def _reason(overlay: Overlay, group: NodeGroup) -> str:
    if group.of_slots:
        return count(len(group.members), "slot variable")
    detail = shortened(overlay.marks[group.top].detail)
    partner = side_by_side(*partner_words(overlay, group.top))
    return side_by_side(detail, partner, _extent(overlay, group))


def _extent(overlay: Overlay, group: NodeGroup) -> str:
    """Return in words how much is below the top of a group."""
    below = len(group.members) - (group.top in group.members)
    if not below:
        return ""
    values = counted(overlay.graph.nodes[node] for node in group.members)
    prefix = "and " if group.top in group.members else ""
    return f"{prefix}{count(below, 'node')} below, {values}"


def _matched_lines(
    overlay: Overlay, matched: Iterable[NodeGroup], differing: set[int], paint: _Paint
) -> Iterator[str]:
    """Yield a line for each child of the root with matching nodes."""
    nodes = overlay.graph.nodes
    members: dict[int, list[Node]] = {}
    for group in matched:
        members.setdefault(group.section, []).extend(nodes[i] for i in group.members)
    sections = iter(members.items())
    for section, of_section in islice(sections, _MAX_SECTIONS):
        words = counted(of_section, other=section in differing)
        names = side_by_side(*both_names(overlay.names, overlay.graph, section))
        yield _row(overlay, State.MATCHED, names, words, paint)
    others = list(sections)
    if others:
        words = counted(node for _, of_section in others for node in of_section)
        sign = STATES[State.MATCHED]
        width = _WIDTHS[overlay.comparison]
        yield side_by_side(
            f"  {paint(_STATE_COLORS[State.MATCHED], f'{sign.glyph} {sign.word:<{width}}')}",
            f"{words} in {count(len(others), 'other child', 'other children')} of the root",
        )

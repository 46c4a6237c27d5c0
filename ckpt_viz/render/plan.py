"""A comparison as text for a terminal: the differences, what to do about them, the summary.

It has one line per node, or per subtree of one state. It only counts the matching nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from ckpt_viz.object_graph.groups import NodeGroup, groups
from ckpt_viz.object_graph.names import counted, without_root
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.object_graph.overlay import Comparison, Overlay, Problem, Severity, State
from ckpt_viz.object_graph.side_names import both_sides
from ckpt_viz.render.both_names import both_names, partner_words
from ckpt_viz.render.signs import SEVERITIES, SIDES, STATES
from ckpt_viz.render.text import printable, shortened, side_by_side
from ckpt_viz.render.views import MAX_LINES
from ckpt_viz.text import count

_MAX_SECTIONS = 10  # lines of matching parts
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


def render_plan(
    overlay: Overlay,
    max_lines: int | None = MAX_LINES,
    *,
    notes: Iterable[str] = (),
    color: bool = False,
) -> str:
    """Return the comparison as text.

    The title and its `notes` come first, then the problems of a check, then a line for each node
    that differs. A subtree of one state is one line with its count. After `max_lines` of these, a
    line counts the ones left out. Then come the notes on what the comparison leaves open; the last
    line is the summary.
    """
    paint: _Paint = _painted if color else _unpainted
    lines = _lines(overlay, paint)
    shown = list(islice(lines, max_lines))
    cut = sum(1 for _ in lines)
    if cut:
        shown.append(f"… cut after {max_lines} lines, {cut} more")
    summary = paint(_GREEN if overlay.passes else _RED, printable(overlay.headline))
    left_open = [paint(_FAINT, f"  {shortened(note)}") for note in overlay.notes]
    return "\n".join([*map(shortened, (overlay.graph.title, *notes)), *shown, *left_open, summary])


def _painted(color: str, text: str) -> str:
    return f"\x1b[{color}m{text}\x1b[0m"


def _unpainted(color: str, text: str) -> str:
    return text


def _lines(overlay: Overlay, paint: _Paint) -> Iterator[str]:
    if overlay.comparison is Comparison.CHECK:  # those of a diff repeat the lines
        explained = _explained(overlay)
        for place, problem in enumerate(overlay.problems):
            if problem.lead in (None, place):
                yield from _problem_lines(overlay, problem, paint)
                if place in explained:
                    yield explained[place]
    matched: list[NodeGroup] = []
    differing: set[int] = set()
    for group in groups(overlay.graph, overlay.marks):
        if group.state is State.MATCHED:
            matched.append(group)
            continue
        differing.add(group.section)
        yield _line(overlay, group.state, group.top, _reason(overlay, group), paint)
    yield from _matched_lines(overlay, matched, differing, paint)


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


def _line(overlay: Overlay, state: State, top: int, reason: str, paint: _Paint) -> str:
    sign = STATES[state]
    head = paint(_STATE_COLORS[state], f"{sign.glyph} {sign.word:<{_WIDTHS[overlay.comparison]}}")
    return side_by_side(f"  {head}", *both_names(overlay.names, overlay.graph, top), reason)


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
        yield _line(overlay, State.MATCHED, section, words, paint)
    others = list(sections)
    if others:
        words = counted(node for _, of_section in others for node in of_section)
        sign = STATES[State.MATCHED]
        width = _WIDTHS[overlay.comparison]
        yield side_by_side(
            f"  {paint(_STATE_COLORS[State.MATCHED], f'{sign.glyph} {sign.word:<{width}}')}",
            f"{words} in {count(len(others), 'other child', 'other children')} of the root",
        )

"""A comparison as text for a terminal: what differs, what to do about it, the summary.

One line per node, or per subtree that is the same thing throughout; what matches is only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from ckpt_viz.object_graph.groups import Group, groups, has_value
from ckpt_viz.object_graph.names import readable_name
from ckpt_viz.object_graph.overlay import Comparison, Overlay, Problem, Severity, State
from ckpt_viz.render.text import MAX_LINES, printable, shortened
from ckpt_viz.words import count

_MAX_SECTIONS = 10  # lines of what matches
_RED, _GREEN, _YELLOW, _CYAN, _FAINT = "31", "32", "33", "36", "2"  # ECMA-48, SGR


class _Sign(NamedTuple):
    glyph: str
    word: str
    color: str


# As in labextension/src/signs.ts.
_STATES: Mapping[State, _Sign] = {
    State.PLAIN: _Sign(" ", "without value", _FAINT),
    State.MATCHED: _Sign("✓", "matched", _FAINT),
    State.LIVE_ONLY: _Sign("+", "not in checkpoint", _GREEN),
    State.SAVED_ONLY: _Sign("\N{MINUS SIGN}", "not used by program", _RED),
    State.DEFERRED: _Sign("…", "waiting for variable", _CYAN),
    State.SHAPE: _Sign("≠", "shape differs", _YELLOW),
    State.DTYPE: _Sign("≠", "dtype differs", _YELLOW),
    State.FAILED: _Sign("✗", "fails", _RED),
    State.WARNED: _Sign("!", "restored, but…", _YELLOW),
    State.ONLY_A: _Sign("\N{MINUS SIGN}", "only in a", _RED),
    State.ONLY_B: _Sign("+", "only in b", _GREEN),
    State.ROLE: _Sign("≠", "role differs", _YELLOW),
    State.VALUE: _Sign("Δ", "value differs", _YELLOW),
    State.MOVED: _Sign("↷", "moved", _CYAN),
}
_SEVERITIES: Mapping[Severity, _Sign] = {
    Severity.ERROR: _Sign("✗", "error", _RED),
    Severity.FAIL: _Sign("✗", "fails", _RED),
    Severity.DEFERRED: _Sign("…", "deferred", _CYAN),
    Severity.WARNING: _Sign("!", "warning", _YELLOW),
    Severity.INFO: _Sign("i", "note", _FAINT),
}
_WIDTHS = {
    Comparison.CHECK: len("waiting for variable"),
    Comparison.DIFF: len("value differs"),
}
_SIDES = {Comparison.CHECK: ("saved as", "in the program"), Comparison.DIFF: ("in a", "in b")}
_Paint = Callable[[str, str], str]


def render_plan(
    overlay: Overlay,
    max_lines: int | None = MAX_LINES,
    *,
    notes: Iterable[str] = (),
    color: bool = False,
) -> str:
    """Return the comparison as text.

    Under the title and the `notes` on it stand the problems of a check, then a line for each
    node that differs; a subtree of one state is one line with its count. After `max_lines` of
    these a line counts what was cut. The last line is the summary.
    """
    paint: _Paint = _painted if color else _unpainted
    lines = _lines(overlay, paint)
    shown = list(islice(lines, max_lines))
    cut = sum(1 for _ in lines)
    if cut:
        shown.append(f"… cut after {max_lines} lines, {cut} more")
    summary = paint(_GREEN if overlay.passes else _RED, printable(overlay.headline))
    return "\n".join([*map(shortened, (overlay.graph.title, *notes)), *shown, summary])


def _painted(color: str, text: str) -> str:
    return f"\x1b[{color}m{text}\x1b[0m"


def _unpainted(color: str, text: str) -> str:
    return text


def _lines(overlay: Overlay, paint: _Paint) -> Iterator[str]:
    if overlay.comparison is Comparison.CHECK:  # those of a diff say what the lines say
        for problem in overlay.problems:
            yield from _problem_lines(problem, paint)
    matched: list[Group] = []
    differing: set[int] = set()
    for group in groups(overlay.graph, overlay.marks):
        if group.state is State.MATCHED:
            matched.append(group)
            continue
        differing.add(group.section)
        if group.state is not State.MOVED or group.top < overlay.base_size:
            yield _line(overlay, group.state, group.top, _reason(overlay, group), paint)
    yield from _matched_lines(overlay, matched, differing, paint)


def _problem_lines(problem: Problem, paint: _Paint) -> Iterator[str]:
    sign = _SEVERITIES[problem.severity]
    kind = printable(problem.kind.replace("_", " "))
    head = paint(sign.color, f"{sign.glyph} {sign.word}, {kind}")
    yield _joined(f"  {head}", *_names(problem))
    for sentence in (problem.why, problem.remedy):
        if sentence:
            yield f"      {shortened(sentence)}"


def _names(problem: Problem) -> Iterator[str]:
    if problem.saved == problem.live:
        yield shortened(problem.saved or "")
        return
    for words, name in zip(_SIDES[Comparison.CHECK], (problem.saved, problem.live), strict=True):
        if name is not None:
            yield f"{words} {shortened(name)}"


def _line(overlay: Overlay, state: State, top: int, reason: str, paint: _Paint) -> str:
    sign = _STATES[state]
    head = paint(sign.color, f"{sign.glyph} {sign.word:<{_WIDTHS[overlay.comparison]}}")
    return _joined(f"  {head}", shortened(readable_name(overlay.graph, top)), reason)


def _reason(overlay: Overlay, group: Group) -> str:
    if group.of_slots:
        return count(len(group.members), "slot variable")
    mark = overlay.marks[group.top]
    partner = shortened(mark.partner)
    if partner:
        saved_as, in_program = _SIDES[overlay.comparison]
        partner = f"{saved_as if group.top < overlay.base_size else in_program} {partner}"
    slot = _slot_words(overlay, group.top) if len(group.members) == 1 else ""
    return _joined(slot, shortened(mark.detail), partner, _extent(overlay, group))


def _slot_words(overlay: Overlay, node_id: int) -> str:
    """Return what a slot variable is the slot of, where its name does not tell."""
    slot = overlay.graph.nodes[node_id].slot
    if slot is None or not slot.rule.inferred:
        return ""
    variable = readable_name(overlay.graph, slot.variable)
    return f"({shortened(slot.name)} of {shortened(variable)})"


def _extent(overlay: Overlay, group: Group) -> str:
    """Return in words how much there is below the top of a group."""
    below = len(group.members) - (group.top in group.members)
    if not below:
        return ""
    values = sum(has_value(overlay.graph.nodes[node]) for node in group.members)
    prefix = "and " if group.top in group.members else ""
    return f"{prefix}{count(below, 'node')} below, {count(values, 'value')}"


def _matched_lines(
    overlay: Overlay, matched: Iterable[Group], differing: set[int], paint: _Paint
) -> Iterator[str]:
    """Yield a line for each child of the root in which anything matches."""
    totals: dict[int, int] = {}
    for group in matched:
        totals[group.section] = totals.get(group.section, 0) + len(group.members)
    sections = iter(totals.items())
    for section, values in islice(sections, _MAX_SECTIONS):
        words = count(values, "other value" if section in differing else "value")
        yield _line(overlay, State.MATCHED, section, words, paint)
    others = list(sections)
    if others:
        words = count(sum(values for _, values in others), "value")
        sign = _STATES[State.MATCHED]
        width = _WIDTHS[overlay.comparison]
        yield _joined(
            f"  {paint(sign.color, f'{sign.glyph} {sign.word:<{width}}')}",
            f"{words} in {count(len(others), 'other child', 'other children')} of the root",
        )


def _joined(*words: str) -> str:
    return "  ".join(filter(None, words))

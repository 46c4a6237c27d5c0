"""A history in words: its first sentences, and the signs of its cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from statistics import median

from ckpt_viz.answers.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.answers.timeline.findings import HistoryFinding, HistoryKind, is_alarm
from ckpt_viz.answers.timeline.lines import StructureMark
from ckpt_viz.answers.timeline.ranking import GROWN
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.overlay.overlay import Severity, State
from ckpt_viz.graphs.render.signs import SEVERITIES, STATES
from ckpt_viz.ground.text import count, left_out_words, listed, percent, printable

_MOST_COLUMNS = 60
_MOST_LOST = 3
_ERROR = SEVERITIES[Severity.ERROR].glyph
HEAT = "·▁▂▃▄▅▆▇█"
"""Signs of a change: none, then from the smallest to the largest of a history."""
_SIGNS = {
    CellState.FIRST: "○",
    CellState.EQUAL: "=",
    CellState.RESHAPED: STATES[State.SHAPE].glyph,
    CellState.ABSENT: " ",
    CellState.DAMAGED: _ERROR,
    CellState.UNREAD: "?",
}


def headline(history: Record) -> str:
    """Return how much changed, what changed most, and what is wrong."""
    return " ".join(sentences(history))


def sentences(history: Record) -> Iterator[str]:
    """Yield the sentences of the headline: the alarms in their order, then what changed."""
    sources = history.sources
    if not history.is_complete:
        yield "Interrupted: some variables were not read."
    yield from _alarms(history)
    if len(sources) == 1:
        yield f"{sources[0].title} is the only checkpoint: {count(len(history.rows), 'tensor')}."
    elif history.distances is not None:
        yield _apart(history)
    else:
        yield _change(history)
    yield from (mark_words(history, mark) for mark in history.marks[:2])
    if len(history.marks) > 2:
        yield f"The structure changes {count(len(history.marks) - 2, 'more time')}."
    lost = [checkpoint for checkpoint in sources if checkpoint.graph is None]
    if lost:
        titles = listed([checkpoint.title for checkpoint in lost])
        yield f"{count(len(lost), 'checkpoint')} cannot be opened: {titles}."


def _alarms(history: Record) -> Iterator[str]:
    """Yield the first alarm of each kind, and how many more there are; all of members."""
    are_members = history.distances is not None
    kinds: set[HistoryKind] = set()
    for finding in history.alarms:
        if are_members or finding.kind not in kinds:
            yield finding.why
        kinds.add(finding.kind)
    more = 0 if are_members else len(history.alarms) - len(kinds)
    if more:
        yield f"{count(more, 'more finding')} of these kinds in later checkpoints."


def _change(history: Record) -> str:
    first, last = history.sources[0], history.sources[-1]
    steps = ""
    if first.step is not None and last.step is not None and not _goes_back(history):
        steps = f" ({count(last.step - first.step, 'step')})"
    rows = history.variables
    changed = [row for row in rows if _has_changed(row)]
    sentence = f"From {first.title} to {last.title}{steps}: "
    sentence += _part(history, changed, "changed")
    ranking = history.ranking
    near = [row for row in changed if ranking.began_near_zero(row)]
    totals = [(row, row.total) for row in changed if row not in near and row.total is not None]
    finite = [row for row, total in totals if math.isfinite(total)]
    if finite:
        middle = median(total for _, total in totals if math.isfinite(total))
        sentence += f", the median by {percent(middle)} of its norm"
    return f"{'; '.join([sentence, *_largest(history, finite), *_from_zero(near)])}."


def _largest(history: Record, changed: Sequence[HistoryRow]) -> Iterator[str]:
    """Yield which variables changed most: the one that grew most, and the one of the others."""
    growth = history.ranking.growth
    grown = max(changed, key=growth, default=None)
    if grown is not None and growth(grown) >= GROWN:
        yield f"{grown.place} grew to {_times(growth(grown))} its norm"
    others = [row for row in changed if growth(row) < GROWN and row.total]
    if others:
        largest = max(others, key=lambda row: row.total or 0.0)
        most = "most" if len(others) == len(changed) else "most of the others"
        yield f"{largest.place} changed {most}, by {percent(largest.total)}"


def _times(factor: float) -> str:
    return f"{factor:,.0f} times" if factor >= 10 else f"{factor:.2g} times"


def _from_zero(near: Sequence[HistoryRow]) -> Iterator[str]:
    if near:
        subject = near[0].place if len(near) == 1 else count(len(near), "variable")
        yield f"{subject} began near zero"


def _apart(history: Record) -> str:
    rows = history.variables
    apart = [row for row in rows if row.spread]
    sentence = f"{len(history.sources)} members: {_part(history, apart, 'differ')}"
    finite = [row.spread for row in apart if row.spread and math.isfinite(row.spread)]
    if finite:
        sentence += f", the median by {percent(median(finite))} of its mean's norm"
        largest = max(rows, key=lambda row: row.spread if row.spread in finite else -1.0)
        sentence += f"; {largest.place} differs most, by {percent(largest.spread)}"
    return f"{sentence}."


def mark_words(history: Record, mark: StructureMark) -> str:
    """Return what the structure of a checkpoint has, and the one before has not."""
    parts = [
        f"{word} {listed(list(places))}"
        for word, places in (
            ("+", mark.new),
            ("-", mark.gone),
            (STATES[State.SHAPE].glyph, mark.reshaped),
        )
        if places
    ]
    return f"The structure changes at {history.sources[mark.at].title}: {'; '.join(parts)}."


def notes(history: Record) -> Iterator[str]:
    """Yield what a person should know of the reading."""
    yield f"{count(len(history.sources), 'checkpoint')}, {history.order}."
    if history.left_out:
        left = count(history.left_out, "checkpoint")
        was, them = ("was", "it") if history.left_out == 1 else ("were", "them")
        yield f"{left} {was} skipped. Pass {history.wording.most} to include {them}."
    unread = sum(_is_unread(row) for row in history.rows)
    if unread:
        keeps, its = ("keeps", "its") if unread == 1 else ("keep", "their")
        yield (
            f"{count(unread, 'tensor')} {keeps} {its} checksum, so the history did not read {its} "
            f"values. Pass {history.wording.unchanged} to read them."
        )
    yield from map(printable, islice(_lost(history), _MOST_LOST))
    if _goes_back(history):
        yield "The step variable goes backwards: the training was restarted, or has branches."


def _lost(history: Record) -> Iterator[str]:
    """Yield which data files are missing or cut, if no finding tells of that checkpoint.

    Values that never change are not read, so that no cell shows it.
    """
    damaged = {finding.first for finding in history.findings if finding.kind is HistoryKind.DAMAGED}
    for time, checkpoint in enumerate(history.sources):
        if checkpoint.graph is not None and time not in damaged:
            yield from (f"{_ERROR} {files}" for files in lost_files(checkpoint.graph.stored_in))


def _goes_back(history: Record) -> bool:
    steps = [checkpoint.step for checkpoint in history.sources if checkpoint.step is not None]
    return any(after < before for before, after in pairwise(steps))


def others(history: Record) -> tuple[HistoryFinding, ...]:
    """Return the findings that the headline leaves out."""
    return tuple(finding for finding in history.findings if not is_alarm(finding))


def sign(cell: Cell, level: int) -> str:
    """Return a cell in one or more letters; `level` is that of its change among all, 1 to 8."""
    if cell.values is not None and (cell.values.nan or cell.values.inf):
        return "N" if cell.values.nan else "I"
    return HEAT[level] if cell.state is CellState.CHANGED else _SIGNS[cell.state]


class Levels:
    """The level of each change of a history on one logarithmic scale, from `low` to `high`.

    The scale ends at 100 %, so that variables which begin near zero leave colours to the others.
    `is_cut` says that there are larger changes, which have the last colour.
    """

    def __init__(self, rows: Iterable[HistoryRow]) -> None:
        changes = (cell.relative for row in rows for cell in row.cells)
        known = [change for change in changes if change and math.isfinite(change)]
        most = max(known, default=1.0)
        self.is_cut = most > 1
        self.high = min(most, 1.0)
        least = max(min(known, default=self.high / 1e4), self.high / 1e4)
        self.low = min(least, self.high)

    def of(self, cell: Cell) -> int:
        """Return 0 for no change, 8 for the largest one of the history."""
        change = cell.relative
        if not change:
            return 0
        if change >= self.high or self.low >= self.high:
            return 8
        share = math.log(max(change, self.low) / self.low) / math.log(self.high / self.low)
        return min(8, 1 + int(share * 8))


def ordered(history: Record) -> tuple[HistoryRow, ...]:
    """Return all rows: variables before state, the largest change first.

    Those that began near zero come after the others.
    """
    variables = {id(row) for row in history.variables}
    place = history.ranking.place
    return tuple(sorted(history.rows, key=lambda row: (id(row) not in variables, place(row))))


def scale_words(heat: Levels) -> str:
    """Return the ends of a scale of colours, which may be equal."""
    more = " and more" if heat.is_cut else ""
    low = "" if heat.low == heat.high else f"{percent(heat.low)} to "
    return f"{low}{percent(heat.high)}{more}"


def change_words(cell: Cell) -> str:
    """Return by how much a cell changed, and what that leaves out."""
    is_all = not cell.l2
    share = "" if cell.left_out and is_all else f"changed by {percent(cell.relative)}"
    left_out = left_out_words(cell.left_out, all_of_them=is_all)
    return ", ".join(filter(None, (share, left_out)))


def rest_words(history: Record, shown: int) -> str:
    """Return how many rows come after those that are shown."""
    rest = ordered(history)[shown:]
    states = sum(row.is_state for row in rest)
    parts = [(len(rest) - states, "variable"), (states, "value of optimizers")]
    return " and ".join(
        f"{number} more {_plural(noun, number)}" for number, noun in parts if number
    )


def _plural(noun: str, number: int) -> str:
    first, _, more = noun.partition(" ")
    return noun if number == 1 else f"{first}s {more}".rstrip()


def columns(number: int) -> list[int]:
    """Return the checkpoints that have a column: all, or some at equal distances."""
    if number <= _MOST_COLUMNS:
        return list(range(number))
    return [round(i * (number - 1) / (_MOST_COLUMNS - 1)) for i in range(_MOST_COLUMNS)]


def _part(history: Record, those: Sequence[HistoryRow], did: str) -> str:
    """Return how many of the variables did something, of those whose values can tell it."""
    rows = history.variables
    known = {id(row) for row in those}
    read = [row for row in rows if id(row) in known or not _is_damaged(row)]
    if not read:
        return "no variable can be compared"
    every = count(len(rows), "variable")
    every = every if len(read) == len(rows) else f"{len(read)} comparable variables"
    return f"{len(those)} of {every} {did}"


def _is_damaged(row: HistoryRow) -> bool:
    return any(cell.state is CellState.DAMAGED for cell in row.cells)


def _has_changed(row: HistoryRow) -> bool:
    return any(cell.state in (CellState.CHANGED, CellState.RESHAPED) for cell in row.cells)


def _is_unread(row: HistoryRow) -> bool:
    states = {cell.state for cell in row.cells} - {CellState.ABSENT, CellState.DAMAGED}
    return states <= {CellState.UNREAD, CellState.EQUAL} and CellState.UNREAD in states

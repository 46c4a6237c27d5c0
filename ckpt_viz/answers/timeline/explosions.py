"""The rules of explosions: of weights, and of the gradients that slot variables keep."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.evidence import (
    HistoryEvidence,
    Symptom,
    are_squares,
    norms_in_words,
    sizes_of,
)

BEFORE = 3
"""Checkpoints before that a size is compared with."""
EXPLODED = 10.0
"""A norm explodes if both it and its change per step are at least this many times the usual."""
GRADIENTS_EXPLODED = 100.0
"""Gradients explode if what an optimizer keeps of them is this many times the usual."""


def exploding(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find weights whose norm and change per step are many times the usual, or leap together."""
    leaps = _leaps(case)
    for row in case.weights:
        symptom = _exploding_at(case, row, leaps)
        if symptom is not None:
            yield symptom


def _exploding_at(
    case: HistoryEvidence, row: HistoryRow, leaps: Mapping[int, set[str]]
) -> Symptom | None:
    sizes = sizes_of(row)
    least = EXPLODED * _least_usual(case, row)
    before: list[float] = []  # sorted
    paces: list[float] = []
    for time, size in sizes.items():
        pace = case.pace(row, time)
        is_settled = len(before) >= BEFORE and len(paces) >= BEFORE - 1
        is_large = is_settled and size >= max(least, EXPLODED * _middle(before))
        if row.key in leaps.get(time, ()) or (is_large and pace >= EXPLODED * _middle(paces)):
            return Symptom(row, time, norms_in_words(row, _middle(before), size))
        insort(before, size)
        if pace:
            insort(paces, pace)
    return None


def _middle(ordered: Sequence[float]) -> float:
    """Return the median of sorted numbers, without sorting them again; 0 of none."""
    half = len(ordered) // 2
    if not ordered:
        return 0.0
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _least_usual(case: HistoryEvidence, row: HistoryRow) -> float:
    """Return the usual size of variables of a kind.

    Of one dimension are biases and normalisations, which begin at 0 or 1.
    """
    return case.scale if len(row.shape or ()) > 1 else max(1.0, case.scale)


def _leaps(case: HistoryEvidence) -> dict[int, set[str]]:
    """Return when most of several kernels moved by many times their norm at each step, and which.

    A kernel alone may do so: that of a sound linear regression does, if its targets are large.
    """
    far: dict[int, set[str]] = defaultdict(set)
    number: dict[int, int] = defaultdict(int)
    for row in case.kernels:
        times = list(sizes := sizes_of(row))
        for before, time in pairwise(times):
            number[time] += 1
            if case.pace(row, time) >= EXPLODED * max(sizes[before], case.scale) > 0:
                far[time].add(row.key)
    return {time: keys for time, keys in far.items() if 1 < number[time] < 2 * len(keys)}


def gradients_exploding(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find slot variables if all of one name show gradients many times the usual.

    Slots without a negative element follow squares of gradients.
    """
    by_name: dict[str, list[HistoryRow]] = defaultdict(list)
    for slot in case.slots:
        by_name[slot.name].append(slot.row)
    groups = sorted(by_name.values(), key=are_squares, reverse=True)
    grown = [symptom for rows in groups for symptom in _grown_slots(rows)]
    first = min((symptom.time for symptom in grown), default=None)
    yield from (symptom for symptom in grown if symptom.time == first)


def _grown_slots(rows: Sequence[HistoryRow]) -> Iterator[Symptom]:
    power = 2 if are_squares(rows) else 1
    sizes = {row.key: sizes_of(row) for row in rows}
    times = sorted(set().union(*sizes.values()))
    totals = {time: sum(of_row.get(time, 0.0) for of_row in sizes.values()) for time in times}
    time = _first_jump(totals, GRADIENTS_EXPLODED**power)
    if time is None:
        return
    for row in sorted(rows, key=lambda row: -sizes[row.key].get(time, 0.0)):
        now = sizes[row.key].get(time, 0.0)
        usual = median([0.0, *(size for t, size in sizes[row.key].items() if t < time)])
        if now >= GRADIENTS_EXPLODED**power * usual:
            yield Symptom(row, time, norms_in_words(row, usual, now))


def _first_jump(sizes: Mapping[int, float], factor: float) -> int | None:
    """Return the first time whose size is `factor` times the usual, and far above all before."""
    before: list[float] = []  # sorted
    for time, size in sizes.items():
        is_known = len(before) >= BEFORE - 1
        if is_known and size >= max(factor * _middle(before), EXPLODED * before[-1]):
            return time
        if size:
            insort(before, size)
    return None

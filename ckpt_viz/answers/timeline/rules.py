"""The rules of findings: each yields variables, the first checkpoint concerned, and a detail.

docs/history.md says what each threshold is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from ckpt_viz.answers.timeline.cells import CellState, HistoryRow
from ckpt_viz.answers.timeline.evidence import (
    ROUNDING,
    HistoryEvidence,
    Symptom,
    are_squares,
    changes_of,
    is_constant,
    kept_at,
    norms_in_words,
    returns,
    sizes_of,
    values_before,
)
from ckpt_viz.answers.timeline.explosions import EXPLODED
from ckpt_viz.files.values.partial import values_of_patterns
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, QUANTIZED
from ckpt_viz.graphs.nodes.printed_names import names_in

SAVES = 2
"""Saves that a state lasts before a finding names it."""
VANISHED = 0.1
"""A norm vanishes if it is at most this share of the largest before."""
LEAST_ELEMENTS = 16
"""Of fewer elements, all may come near zero on their way: their norm does not vanish."""
SHRUNK = 0.25
"""A kernel shrinks if this share of the former values, and half of the norm, is left of it."""
LEAST_HEIGHT = 3
"""Of fewer elements, a column may be zero by chance."""
ALIKE = 0.5
"""New values have less than this share of those before; other saves keep a larger correlation."""
DEAD_STEPS = 20
"""Steps in which a unit never changes before it is dead."""
DEAD_SHARE = 1 / 8
"""Sound networks of rectified units have a few dead ones; a finding needs more than this share."""
STOPPED = 0.1
"""A variable stops at once if its last change is at least this share of its usual one."""

_SATURABLE = ("float16", "bfloat16", "float8", "float4", "int4", "int8", "qint", "quint")


Rule = Callable[[HistoryEvidence], Iterator[Symptom]]


def not_finite(attribute: str) -> Rule:
    """Return the rule of variables with elements that are NaN, or infinite."""

    def rule(case: HistoryEvidence) -> Iterator[Symptom]:
        for row in case.rows:
            for time, cell in enumerate(row.cells):
                number = getattr(cell.values, attribute, None) if cell.values is not None else None
                if number and not _is_placeholder(case, row, time):
                    assert cell.values is not None
                    yield Symptom(row, time, f"{number:,} of {cell.values.count:,} elements")
                    break

    return rule


def damaged(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find variables that cannot be read."""
    for row in case.rows:
        for time, cell in enumerate(row.cells):
            if cell.error is not None:
                yield Symptom(row, time, cell.error)
                break


def stale(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find optimizers that count no step, although kernels change, and slot variables or not.

    Without the slot variables, an average of the weights may replace them once.
    """
    counting = {time for row in case.counters for time in changes_of(row)}
    idle = sorted(case.moving - counting)
    branches = {time for slot in case.slots for time in changes_of(slot.row)}
    for row in case.counters:
        times = [time for time in idle if row.cells[time].state is CellState.EQUAL]
        back = [time for time in times if time in branches]
        if back:
            yield Symptom(row, back[0], "the training went back, and took another way")
        elif len(times) >= SAVES:
            yield Symptom(row, times[0], "another optimizer trained it")


def reset(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find optimizers whose count goes down, and that keep the state of the same variables."""
    for row in case.counters:
        for time in changes_of(row):
            was, now = values_before(row, time), row.cells[time].values
            if was is None or now is None or was.max is None or now.max is None:
                continue
            if now.max < was.max and not case.has_other_slots(time):
                yield Symptom(row, time, f"from {was.max:,} to {now.max:,}")
                break


def frozen(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find weights that stop at once, or never change, while kernels do."""
    constant = {row.key for row, _, _ in untrained(case)}
    for row in case.weights:
        since = None if row.key in constant else _unchanged_since(row)
        if since is None or sum(time > since for time in case.moving) < SAVES:
            continue
        changes = [row.cells[time].relative or 0.0 for time in changes_of(row)]
        if not changes or changes[-1] >= STOPPED * median(changes):
            yield Symptom(row, since)


def untrained(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find weights whose elements are one number that never changes, while kernels change."""
    if len(case.moving) < SAVES:
        return
    for row in case.weights:
        known = [cell for cell in row.cells if cell.values is not None]
        numbers = {cell.values.min for cell in known if cell.values is not None}
        if known and all(map(is_constant, known)) and len(numbers) == 1:
            yield Symptom(row, _first(row), f"{numbers.pop():g}")


def vanishing(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find kernels that keep their direction and lose nearly all of their norm, or shrink."""
    for row in case.kernels:
        sizes = sizes_of(row) if math.prod(row.shape or ()) >= LEAST_ELEMENTS else {}
        times, most = list(sizes), 0.0
        shrunk = _shrunk_at(case, row, sizes)
        if shrunk is not None:
            was = sizes[max(time for time in times if time < shrunk)]
            yield Symptom(row, shrunk, norms_in_words(row, was, sizes[shrunk]))
            continue
        for number, time in enumerate(times):
            lasting = [sizes[later] for later in times[number : number + SAVES]]
            if most and max(lasting) <= VANISHED * most:
                if _renewed_at(case, row) != time and not returns(row, time):
                    yield Symptom(row, time, norms_in_words(row, most, sizes[time]))
                break
            most = max(most, sizes[time])


def _shrunk_at(case: HistoryEvidence, row: HistoryRow, sizes: Mapping[int, float]) -> int | None:
    """Return the first save at which a kernel shrank, unlike at other saves.

    Training goes on before the save, and soon the norm is the usual one again. The first change is
    left out, because the first steps may lead far away.
    """
    kept = {time: values for time in changes_of(row) if (values := kept_at(row, time)) is not None}
    for before, time in pairwise(sizes):
        if sizes[before] <= VANISHED * case.scale:  # near zero, noise turns a variable round
            continue
        others = [values.share for other, values in kept.items() if other != time]
        if time not in list(kept)[1:] or len(others) < SAVES or median(others) <= ALIKE:
            continue
        is_small = kept[time].share <= SHRUNK and sizes[time] <= ALIKE * sizes[before]
        if is_small and _renewed_at(case, row) != time and not returns(row, time):
            return time
    return None


def zeroed(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find kernels without a zero that have whole columns of zeros after a save.

    A column is what one index of the last axis has.
    """
    for row in case.kernels:
        columns = (row.shape or (1,))[-1]
        height = math.prod((row.shape or ())[:-1])
        if columns < SAVES or height < LEAST_HEIGHT:
            continue
        for time in changes_of(row):
            was, now = values_before(row, time), row.cells[time].values
            if was is None or was.zeros or now is None or not now.zeros:
                continue
            zeros, rest = divmod(now.zeros, height)
            if not rest:
                yield Symptom(row, time, f"{zeros} of {columns}")
                break


def reinitialised(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find kernels that lose their former values at a save, unlike at others.

    The constant siblings in their layers, such as biases of zeros, come along.
    """
    for row in case.kernels:
        time = _renewed_at(case, row)
        if time is not None:
            yield Symptom(row, time)
            yield from _constant_siblings(case, row, time)


def _renewed_at(case: HistoryEvidence, row: HistoryRow) -> int | None:
    """Return the save at which a kernel got values like its first ones, but none of those before.

    The first change is left out, because the first steps may lead far away.
    """
    kept = {time: values for time in changes_of(row) if (values := kept_at(row, time)) is not None}
    for time in [time for time in list(kept)[1:] if kept[time].share < ALIKE]:
        others = [values.lowest for other, values in kept.items() if other != time]
        usual = median(others) if len(others) >= SAVES else 0.0
        is_lost = usual > ALIKE and kept[time].highest < usual
        if is_lost and _has_usual_sizes(case, row, time) and not returns(row, time):
            return time
    return None


def _has_usual_sizes(case: HistoryEvidence, row: HistoryRow, time: int) -> bool:
    """Return whether a variable is as large as its first values, and was not near zero before.

    Near zero, noise turns a variable round: a bias that crosses it, or one without a gradient.
    """
    sizes = sizes_of(row)
    earlier = [size for other, size in sizes.items() if other < time]
    if not earlier or time not in sizes or earlier[-1] <= VANISHED * case.scale:
        return False
    most = EXPLODED * max(median(earlier), case.scale)
    return ALIKE * earlier[0] <= sizes[time] < most


def _constant_siblings(case: HistoryEvidence, row: HistoryRow, time: int) -> Iterator[Symptom]:
    layer = names_in(row.place)[:-1]
    for other in case.weights:
        is_sibling = other is not row and names_in(other.place)[:-1] == layer
        cell = other.cells[time]
        if is_sibling and cell.state is CellState.CHANGED and is_constant(cell):
            yield Symptom(other, time)


def dead(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find tensors that change, but some of their units never do, or are zero at the end."""
    for row in case.weights:
        times = [t for t in changes_of(row) if (row.cells[t].relative or 0.0) > ROUNDING]
        known = [cell.units for cell in row.cells if cell.units is not None]
        steps = sum(case.steps_before(time) for time in times)
        is_known = any(checkpoint.step for checkpoint in case.checkpoints)
        if len(times) < SAVES or (is_known and steps < DEAD_STEPS):
            continue
        if len({len(units.changed) for units in known}) != 1:
            continue
        moved = np.logical_or.reduce([units.changed for units in known])
        still = int((~moved | ~known[-1].nonzero | _without_gradient(case, row)).sum())
        if DEAD_SHARE < still / len(moved) < 1:
            yield Symptom(row, times[0], f"{still} of {len(moved)}")


def _without_gradient(case: HistoryEvidence, row: HistoryRow) -> Any:
    """Return for each unit whether all squares of its gradients are zero at the end.

    Weight decay changes a unit, too, but no slot variable. A momentum may decay to zero.
    """
    squares = [slot for slot in case.slots_of(row) if are_squares([slot])]
    units = [cell.units for slot in squares for cell in slot.cells]
    known = [cell_units.nonzero for cell_units in units if cell_units is not None]
    return ~np.logical_or.reduce(known) if known else False


def saturated(case: HistoryEvidence) -> Iterator[Symptom]:
    """Find variables of small dtypes that reach the limits of their dtype."""
    for row in case.rows:
        if not (row.dtype or "").startswith(_SATURABLE):
            continue
        limits = _limits(str(row.dtype))
        for time, cell in enumerate(row.cells):
            values = cell.values
            if values is None or values.max is None or values.min is None:
                continue
            if values.min <= limits[0] or values.max >= limits[1]:
                if time > _first(row):  # scaled numbers have the limits from the beginning
                    yield Symptom(row, time, f"{values.min:g} to {values.max:g}")
                break


# --- questions


def _is_placeholder(case: HistoryEvidence, row: HistoryRow, time: int) -> bool:
    """Return whether a value that is not finite may be meant.

    It is then the first one of a scalar, or infinity in a mask that never changes.
    """
    if time != _first(row) or not case.moving:
        return False
    values = row.cells[time].values
    is_mask = values is not None and not values.nan and bool(values.count != values.inf)
    return row.shape == () or (is_mask and not changes_of(row))


def _unchanged_since(row: HistoryRow) -> int | None:
    """Return the checkpoint since which a variable is as it is; None if the last is another one."""
    since: int | None = None
    for time, cell in enumerate(row.cells):
        if cell.state is CellState.EQUAL:
            continue
        if cell.state is CellState.UNREAD and since is not None:
            continue
        since = time if cell.state not in (CellState.ABSENT, CellState.DAMAGED) else None
    last = row.cells[-1] if row.cells else None
    return since if last is not None and last.state is CellState.EQUAL else None


def _first(row: HistoryRow) -> int:
    return next(t for t, cell in enumerate(row.cells) if cell.state is not CellState.ABSENT)


def _limits(dtype: str) -> tuple[float, float]:
    if (ELEMENT_BYTES[dtype] or 0) > 2:  # qint32
        whole = np.iinfo(QUANTIZED.get(dtype, dtype))
        return float(whole.min), float(whole.max)
    numbers = values_of_patterns(dtype)
    finite = numbers[np.isfinite(numbers)]
    return float(finite.min()), float(finite.max())

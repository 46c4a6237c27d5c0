"""What people look for in a training: each finding names its threshold and its first checkpoint.

docs/history.md lists the thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import Any

import numpy as np

from ckpt_viz.formats.tensors import numpy_dtype
from ckpt_viz.text import count, listed, percent, printable
from ckpt_viz.timeline.cells import CellState, HistoryRow
from ckpt_viz.timeline.sources import Checkpoint

FROZEN_SAVES = 2
"""Saves without a change, while others change, that make a variable frozen."""
NORM_FACTOR = 10.0
"""A norm that is this many times the median of those before explodes; its inverse vanishes."""
NORM_SAVES = 3
"""Checkpoints before that a norm is compared with."""
JUMP = 0.9
"""The relative change from which on a variable may be reinitialised."""
JUMP_FACTOR = 5.0
"""It is, if this is so many times the median of its other changes."""
UNLIKE = 0.5
"""It is, if the cosine of the angle between old and new values is less: scaled values are alike."""
DEAD_SAVES = 2
"""Saves that change a tensor without changing some of its units."""

OUTLIER_FACTOR = 2.0
"""A member whose median distance to others is so many times the median of all is an outlier."""

_COUNTERS = ("iterations", "_iterations", "iter", "iteration")
_SATURABLE = ("float16", "bfloat16", "float8", "float4", "int4", "int8", "qint", "quint")


class HistoryKind(str, Enum):
    """What a finding of a history is about."""

    NAN = "nan"
    INF = "inf"
    DAMAGED = "damaged"
    OUTLIER = "outlier"
    OPTIMIZER_RESET = "optimizer_reset"
    STALE_OPTIMIZER = "stale_optimizer"
    REINITIALISED = "reinitialised"
    EXPLODING = "exploding"
    VANISHING = "vanishing"
    SATURATED = "saturated"
    DEAD = "dead"
    UNTRAINED = "untrained"
    FROZEN = "frozen"


@dataclass(frozen=True)
class HistoryFinding:
    """One thing to know of some variables.

    Attributes:
        kind: What it is.
        name: The first variable's place; all are in `names`.
        first: The number of the first checkpoint concerned.
        why: One sentence, with the threshold.
        names: The places of all variables that it is about.
    """

    kind: HistoryKind
    name: str
    first: int
    why: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return printable(self.why)


@dataclass(frozen=True)
class _Case:
    checkpoints: Sequence[Checkpoint]
    rows: Sequence[HistoryRow]

    def title(self, time: int) -> str:
        return self.checkpoints[time].title

    def are_weights(self) -> list[HistoryRow]:
        """Return the floating-point variables of more than one element outside of optimizers."""
        return [row for row in self.rows if _is_float(row) and not row.is_state]


_Found = tuple[HistoryRow, int, str]


def findings_of(
    checkpoints: Sequence[Checkpoint], rows: Sequence[HistoryRow]
) -> tuple[HistoryFinding, ...]:
    """Return the findings, the worst kind first, then by checkpoint.

    Variables with the same finding at the same checkpoint are one finding.
    """
    return _found(_Case(checkpoints, rows), list(HistoryKind))


def findings_of_members(
    checkpoints: Sequence[Checkpoint],
    rows: Sequence[HistoryRow],
    distances: Sequence[Sequence[float]],
) -> tuple[HistoryFinding, ...]:
    """Return the findings of checkpoints without an order."""
    case = _Case(checkpoints, rows)
    kinds = (HistoryKind.NAN, HistoryKind.INF, HistoryKind.DAMAGED, HistoryKind.SATURATED)
    return (*_outliers(case, distances), *_found(case, kinds))


def _outliers(case: _Case, distances: Sequence[Sequence[float]]) -> Iterator[HistoryFinding]:
    """Find members that are farther from the others than these are from each other."""
    opened = [i for i, one in enumerate(case.checkpoints) if one.graph is not None]
    if len(opened) < 3:
        return
    own = {i: median([distances[i][j] for j in opened if j != i]) for i in opened}
    usual = median(own.values())
    for i, distance in own.items():
        if distance > OUTLIER_FACTOR * usual:
            title = case.title(i)
            yield HistoryFinding(
                HistoryKind.OUTLIER,
                title,
                i,
                f"{title} is an outlier: its distance to the others is {percent(distance)} of the "
                f"norm, more than {OUTLIER_FACTOR:g} times the usual {percent(usual)}.",
                (title,),
            )


def _found(case: _Case, kinds: Sequence[HistoryKind]) -> tuple[HistoryFinding, ...]:
    found: list[HistoryFinding] = []
    for kind, rule, say in _RULES:
        if kind not in kinds:
            continue
        groups: dict[int, list[_Found]] = {}
        for row, time, detail in rule(case):
            groups.setdefault(time, []).append((row, time, detail))
        for time, ones in sorted(groups.items()):
            names = tuple(row.place for row, _, _ in ones)
            why = say(case, time, ones)
            found.append(HistoryFinding(kind, names[0], time, why, names))
    return tuple(found)


# --- rules: variables, the first checkpoint concerned, and a detail


def _not_finite(attribute: str) -> Callable[[_Case], Iterator[_Found]]:
    def rule(case: _Case) -> Iterator[_Found]:
        for row in case.rows:
            for time, cell in enumerate(row.cells):
                number = getattr(cell.values, attribute, None) if cell.values is not None else None
                if number:
                    assert cell.values is not None
                    yield row, time, f"{number:,} of {cell.values.count:,} elements"
                    break

    return rule


def _damaged(case: _Case) -> Iterator[_Found]:
    for row in case.rows:
        for time, cell in enumerate(row.cells):
            if cell.error is not None:
                yield row, time, cell.error
                break


def _stale(case: _Case) -> Iterator[_Found]:
    moving = _moving_times(case.are_weights())
    for row in _counters(case):
        for time, cell in enumerate(row.cells):
            if cell.state is CellState.EQUAL and time in moving:
                yield row, time, ""
                break


def _reset(case: _Case) -> Iterator[_Found]:
    for row in _counters(case):
        before: int | float | None = None
        for time, cell in enumerate(row.cells):
            now = cell.values.max if cell.values is not None else None
            if now is not None and before is not None and now < before:
                yield row, time, f"from {before:,} to {now:,}"
                break
            before = now if now is not None else before


def _frozen(case: _Case) -> Iterator[_Found]:
    rows = case.are_weights()
    moving = _moving_times(rows)
    constant = {row.key for row, _, _ in _untrained(case)}
    for row in rows:
        since = None if row.key in constant else _unchanged_since(row)
        if since is not None and sum(time > since for time in moving) >= FROZEN_SAVES:
            yield row, since, ""


def _untrained(case: _Case) -> Iterator[_Found]:
    rows = case.are_weights()
    if len(_moving_times(rows)) < FROZEN_SAVES:
        return
    for row in rows:
        known = [cell.values for cell in row.cells if cell.values is not None]
        is_one_number = all(one.min == one.max and one.min is not None for one in known)
        if known and is_one_number and len({one.min for one in known}) == 1:
            yield row, _first(row), f"{known[0].min:g}"


def _norms(*, is_up: bool) -> Callable[[_Case], Iterator[_Found]]:
    def rule(case: _Case) -> Iterator[_Found]:
        for row in case.are_weights():
            before: list[float] = []
            for time, cell in enumerate(row.cells):
                norm = cell.values.l2 if cell.values is not None else None
                if norm is None:
                    continue
                if len(before) >= NORM_SAVES:
                    usual = median(before)
                    share = norm / usual if usual else 1.0
                    if (share >= NORM_FACTOR) if is_up else (share <= 1 / NORM_FACTOR):
                        yield row, time, f"{usual:.3g} to {norm:.3g}"
                        break
                before.append(norm)

    return rule


def _reinitialised(case: _Case) -> Iterator[_Found]:
    for row in case.are_weights():
        changes = [(t, c.relative) for t, c in enumerate(row.cells) if c.relative and c.l2]
        for time, change in changes[1:]:  # a first step is often the largest one
            others = [other for t, other in changes if t != time]
            if len(others) < NORM_SAVES - 1 or not math.isfinite(change):
                continue
            is_jump = change >= JUMP and change >= JUMP_FACTOR * median(others)
            if is_jump and _likeness(row, time) < UNLIKE:
                yield row, time, percent(change)
                break


def _likeness(row: HistoryRow, time: int) -> float:
    """Return the cosine of the angle between a variable's values at a time and those before.

    A bias that begins near 0 and grows has large changes, too, but goes on in one direction.
    """
    before = next((c.values for c in reversed(row.cells[:time]) if c.values is not None), None)
    cell = row.cells[time]
    if before is None or cell.values is None or cell.l2 is None:
        return 0.0
    was, now = before.l2 or 0.0, cell.values.l2 or 0.0
    if not was * now or not math.isfinite(was * now):
        return 0.0
    return (was**2 + now**2 - cell.l2**2) / (2 * was * now)


def _dead(case: _Case) -> Iterator[_Found]:
    for row in case.are_weights():
        known = [cell.units for cell in row.cells if cell.units is not None]
        changes = [t for t, c in enumerate(row.cells) if c.state is CellState.CHANGED]
        if len(changes) < DEAD_SAVES or len({len(units.changed) for units in known}) != 1:
            continue
        moved = np.logical_or.reduce([units.changed for units in known])
        still = int((~moved | ~known[-1].nonzero).sum())
        if 0 < still < len(moved):
            yield row, changes[0], f"{still} of {len(moved)}"


def _saturated(case: _Case) -> Iterator[_Found]:
    for row in case.rows:
        if not (row.dtype or "").startswith(_SATURABLE):
            continue
        limits = _limits(str(row.dtype))
        for time, cell in enumerate(row.cells):
            values = cell.values
            if values is None or values.max is None or values.min is None:
                continue
            if values.min <= limits[0] or values.max >= limits[1]:
                yield row, time, f"{values.min:g} to {values.max:g}"
                break


# --- sentences


_Say = Callable[[_Case, int, Sequence[_Found]], str]


def _says(sentence: str) -> _Say:
    """Return what says a sentence with `{names}`, `{has}`, `{at}` and the first `{detail}`."""

    def say(case: _Case, time: int, ones: Sequence[_Found]) -> str:
        names = listed([row.place for row, _, _ in ones])
        number = count(len(ones), "variable")
        told = names if len(ones) == 1 else f"{number}: {names}"
        detail = ones[0][2]
        return sentence.format(told=told, at=case.title(time), detail=detail)

    return say


_RULES: Sequence[tuple[HistoryKind, Callable[[_Case], Iterator[_Found]], _Say]] = (
    (HistoryKind.NAN, _not_finite("nan"), _says("NaN first in {at}, {told} ({detail}).")),
    (HistoryKind.INF, _not_finite("inf"), _says("Infinity first in {at}, {told} ({detail}).")),
    (HistoryKind.DAMAGED, _damaged, _says("{at} cannot be read for {told}: {detail}")),
    (
        HistoryKind.OPTIMIZER_RESET,
        _reset,
        _says("The optimizer began again in {at}: {told} went {detail}."),
    ),
    (
        HistoryKind.STALE_OPTIMIZER,
        _stale,
        _says(
            "The model changed up to {at} without a step of {told}: another optimizer trained it, "
            "or the training went back."
        ),
    ),
    (
        HistoryKind.REINITIALISED,
        _reinitialised,
        _says(
            f"New values in {{at}}, {{told}}: changed by {{detail}} of the norm, at least "
            f"{100 * JUMP:.0f} % and {JUMP_FACTOR:g} times the usual."
        ),
    ),
    (
        HistoryKind.EXPLODING,
        _norms(is_up=True),
        _says(f"The norm is {NORM_FACTOR:g} times the usual from {{at}}, {{told}} ({{detail}})."),
    ),
    (
        HistoryKind.VANISHING,
        _norms(is_up=False),
        _says(f"The norm is 1/{NORM_FACTOR:g} of the usual from {{at}}, {{told}} ({{detail}})."),
    ),
    (
        HistoryKind.SATURATED,
        _saturated,
        _says("Values are at the limits of their dtype from {at}, {told} ({detail})."),
    ),
    (
        HistoryKind.DEAD,
        _dead,
        _says("Units never change or are zero, {told} ({detail})."),
    ),
    (
        HistoryKind.UNTRAINED,
        _untrained,
        _says("All elements are still {detail}, {told}, while other variables change."),
    ),
    (
        HistoryKind.FROZEN,
        _frozen,
        _says(f"Unchanged since {{at}}, through {FROZEN_SAVES} or more saves, {{told}}."),
    ),
)


# --- questions


def _is_float(row: HistoryRow) -> bool:
    dtype = row.dtype or ""
    return dtype.startswith(("float", "bfloat", "complex")) and row.shape not in (None, ())


def _counters(case: _Case) -> Iterator[HistoryRow]:
    for row in case.rows:
        name = row.key.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").rpartition("/")[2]
        if name in _COUNTERS and (row.dtype or "").startswith("int") and row.shape == ():
            yield row


def _moving_times(rows: Sequence[HistoryRow]) -> set[int]:
    """Return the checkpoints in which any of the variables changed."""
    return {t for row in rows for t, c in enumerate(row.cells) if c.state is CellState.CHANGED}


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
    found = numpy_dtype(dtype)
    assert found is not None
    if found.kind in "iu":
        whole = np.iinfo(found)
        return float(whole.min), float(whole.max)
    import ml_dtypes  # here, because few histories have such a dtype

    info: Any = ml_dtypes.iinfo if dtype.startswith(("int", "uint")) else ml_dtypes.finfo
    return float(info(found).min), float(info(found).max)


def is_alarm(finding: HistoryFinding) -> bool:
    """Return whether a finding tells of a defect, not of what may be intended."""
    return finding.kind not in (HistoryKind.FROZEN, HistoryKind.UNTRAINED, HistoryKind.DEAD)

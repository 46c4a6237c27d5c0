"""By how much values differ between two graphs: every byte is read once, equal checksums never."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from ckpt_viz.graph_diff.value_comparison import Comparer, by_checksums, by_reading
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Attribute
from ckpt_viz.text import count, printable
from ckpt_viz.timeline.cells import Cell, CellState
from ckpt_viz.timeline.lines import lines_of
from ckpt_viz.timeline.reading import Reader
from ckpt_viz.values.row import ValueRow
from ckpt_viz.values.running import bar
from ckpt_viz.values.table_json import row_json

_MOST_PRINTED = 10
_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A tensor of both graphs whose value differs.

    Attributes:
        key: Its checkpoint key in b.
        name: Its place in b, in the names of layers.
        l2: The Euclidean norm of b - a; None where dtypes or shapes differ, and for strings.
        relative: The same as a fraction of the norm of a; infinite if that is 0.
        max_abs: The largest difference of an element.
        at: The index of that element.
        changed: The fraction of the elements that have other bits.
        a: Its statistics in a; None for strings.
        b: Its statistics in b; None for strings.
        error: Why it cannot be read.
    """

    key: str
    name: str
    l2: float | None
    relative: float | None
    max_abs: float | None
    at: tuple[int, ...] | None
    changed: float | None
    a: ValueRow | None
    b: ValueRow | None
    error: str | None = None


@dataclass(frozen=True)
class ValueChanges:
    """The tensors that differ, the largest relative change first; `pairs` tells it by two keys."""

    rows: tuple[ValueChange, ...]
    pairs: dict[tuple[str, str], bool]


def value_changes(
    a: Graph, b: Graph, *, executor: Executor | None = None, progress: bool = True
) -> ValueChanges:
    """Return how the values of two graphs differ."""
    lines = lines_of([a, b]).lines
    reader = Reader([a, b], lines)
    total = reader.nbytes()
    shown = bar("diff", total) if progress and total else None
    found: list[ValueChange] = []
    pairs: dict[tuple[str, str], bool] = {}
    try:
        for number, row in reader.rows(executor, shown):
            before, after = lines[number].tensors
            if before is None or after is None:
                continue
            first, second = row.cells
            is_known = second.state in (CellState.EQUAL, CellState.CHANGED)
            if is_known and second.l2 is not None:
                pairs[before.key, after.key] = second.state is CellState.CHANGED
            if second.state is not CellState.EQUAL:
                found.append(_change(after, first, second))
    finally:
        if shown is not None:
            shown.close()
    return ValueChanges(tuple(sorted(found, key=_size)), pairs)


def _change(row: ValueRow, first: Cell, second: Cell) -> ValueChange:
    return ValueChange(
        *(row.key, row.place, second.l2, second.relative, second.max_abs, second.at),
        *(second.changed, first.values, second.values, first.error or second.error),
    )


def _size(change: ValueChange) -> tuple[float, str]:
    """Return the sort key: what cannot be compared first, then the largest relative change."""
    size = math.inf if change.relative is None else change.relative
    return -size, change.key


def by_values(a: Graph, b: Graph, found: ValueChanges) -> Comparer:
    """Return a comparison that knows what was read, and reads what was not, such as strings."""
    by_checksum, read = by_checksums(a, b), by_reading(a, b)

    def differ(ours: Attribute, theirs: Attribute) -> bool | None:
        keys = a.tensor_keys(ours.checkpoint_key), b.tensor_keys(theirs.checkpoint_key)
        if len(keys[0]) == len(keys[1]) > 0:
            known = [found.pairs.get(pair) for pair in zip(*keys, strict=True)]
            if None not in known:
                return True in known
        differs = by_checksum(ours, theirs)
        return read(ours, theirs) if differs is None else differs

    return differ


def changes_text(rows: Sequence[ValueChange]) -> Iterator[str]:
    """Yield lines about the ten largest changes, and about NaNs."""
    if not rows:
        yield "values: none of the values that both have differs"
        return
    yield f"values: {count(len(rows), 'tensor')} differ; the largest relative changes:"
    shown = rows[:_MOST_PRINTED]
    names = [_end(printable(row.name)) for row in shown]
    width = max(map(len, names))
    for row, name in zip(shown, names, strict=True):
        yield f"  {name.ljust(width)}  {_words(row)}"
    if len(rows) > len(shown):
        yield f"  … {len(rows) - len(shown)} more in diff.values"
    for row in rows:
        if row.b is not None and row.b.nan and not (row.a is not None and row.a.nan):
            share = f"{row.b.nan:,} of {row.b.count:,} elements"
            yield f"  NaN only in b: {printable(row.name)}, {share}"


def change_json(change: ValueChange) -> dict[str, Any]:
    """Return a change as data for JSON; what it does not have is missing."""
    found: dict[str, Any] = {"key": change.key, "name": change.name}
    for name in ("l2", "relative", "max_abs", "changed"):
        value = getattr(change, name)
        if value is not None and math.isfinite(value):
            found[name] = value
    if change.at is not None:
        found["at"] = list(change.at)
    for name, row in (("a", change.a), ("b", change.b)):
        if row is not None:
            found[name] = row_json(row)
    if change.error is not None:
        found["error"] = change.error
    return found


def _words(row: ValueChange) -> str:
    if row.error is not None:
        return f"cannot be read: {row.error}"
    if row.l2 is None or row.relative is None or row.max_abs is None or row.changed is None:
        return "differs"
    share = f"{row.relative:.2%}" if math.isfinite(row.relative) else "from 0"
    return f"{share.rjust(9)}  max |b-a| {row.max_abs:.3g}, {row.changed:.0%} of elements"


def _end(name: str) -> str:
    return name if len(name) <= _MOST_NAME else f"…{name[1 - _MOST_NAME :]}"

"""A value that differs between two graphs, and how to tell it. This module needs no NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ckpt_viz.answers.graph_diff.comparison import CommonValues
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.table_json import difference_json, row_json
from ckpt_viz.graphs.render.text import briefly
from ckpt_viz.ground.text import count, end_of, left_out_words, percent, printable, shape_words

_MOST_PRINTED = 10
_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A tensor of both graphs whose value differs, or cannot be read.

    Attributes:
        key: Its checkpoint key in b.
        name: Its place in b, in the names of layers.
        l2: The Euclidean norm of b - a; None where dtypes or shapes differ, and for strings.
        relative: The same as a fraction of the norm of a; infinite if that is 0, or if all elements
            that changed are left out.
        max_abs: The largest difference of an element.
        at: The index of that element.
        changed: The fraction of the elements that have other bits.
        a: Its statistics in a; None for strings.
        b: Its statistics in b; None for strings.
        error: Why it cannot be read.
        left_out: How many elements differ, but count in no difference, because they are NaN or
            infinite on either side.
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
    left_out: int = 0


def changes_text(rows: Sequence[ValueChange], common: int, of_nodes: CommonValues) -> Iterator[str]:
    """Yield lines about the ten largest changes of `common` tensors, and about NaNs.

    `of_nodes` counts the values of these tensors: that of a table has two of them.
    """
    yield _headline(rows, common, of_nodes)
    shown = rows[:_MOST_PRINTED]
    names = [end_of(printable(row.name), _MOST_NAME) for row in shown]
    width = max(map(len, names), default=0)
    for row, name in zip(shown, names, strict=True):
        yield f"  {name.ljust(width)}  {_words(row)}"
    if len(rows) > len(shown):
        yield f"  … {len(rows) - len(shown)} more in diff.values"
    for row in rows:
        if row.b is not None and row.b.nan and not (row.a is not None and row.a.nan):
            share = f"{row.b.nan:,} of {row.b.count:,} elements"
            yield f"  NaN only in b: {printable(row.name)}, {share}"


def _headline(rows: Sequence[ValueChange], common: int, of_nodes: CommonValues) -> str:
    """Return how many of the common values differ, and how many cannot be compared.

    It calls them tensors where some values have several.

    >>> print(_headline([], 14, CommonValues(14, 0, 0, 0)))
    values: none of 14 common values differs
    """
    if not common:
        return "values: both have no value in common"
    unread = sum(row.error is not None for row in rows)
    differing = len(rows) - unread
    are_values = common == of_nodes.all
    what = "common value" if are_values else "common tensor"
    if unread == common:
        return f"values: {count(unread, what)}, which cannot be read:"
    number = f"{differing:,}" if differing else "none"
    verb = "differ" if differing > 1 else "differs"
    those = f"{common - unread:,} readable ones" if unread and not differing else ""
    sentence = f"values: {number} of {those or count(common, what)} {verb}"
    ways = ((of_nodes.shape, "shape"), (of_nodes.dtype, "dtype")) if are_values else ()
    sentence += "".join(f", {number:,} in {way}" for number, way in ways if number)
    sentence += f", {unread:,} cannot be read" if unread else ""
    return sentence + ("; the largest relative changes:" if differing else ":" * bool(unread))


def change_json(change: ValueChange) -> dict[str, Any]:
    """Return a change as data for JSON; what it does not have is missing."""
    data = {"key": change.key, "name": change.name, **difference_json(change)}
    for name, row in (("a", change.a), ("b", change.b)):
        if row is not None:
            data[name] = row_json(row)
    if change.error is not None:
        data["error"] = change.error
    return data


def _words(row: ValueChange) -> str:
    if row.error is not None:
        return f"cannot be read: {printable(briefly(row.error))}"
    if row.l2 is None or row.relative is None or row.max_abs is None or row.changed is None:
        kinds = [_kind(tensor) for tensor in (row.a, row.b) if tensor is not None]
        return " ≠ ".join(kinds) if len({*kinds}) == 2 else "differs"
    left_out = left_out_words(row.left_out, all_of_them=not row.l2)
    if left_out and not row.l2:
        return f"{'NaN':>9}  {left_out}"
    share = percent(row.relative).rjust(9)
    words = f"{share}  max |b-a| {row.max_abs:.3g}, {percent(row.changed)} of elements"
    return f"{words}, {left_out}" if left_out else words


def _kind(row: ValueRow) -> str:
    return f"{row.dtype} {shape_words(row.shape)}"

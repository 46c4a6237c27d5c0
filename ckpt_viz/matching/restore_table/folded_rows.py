"""Rows that one line tells together, and when rows may be told so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.matching.restore_table.rows import Destination, RestoreRow, ValueCell, Why

NUMBER = re.compile(r"\d+")
LAYER_AND_VALUE = 2  # names in the path of a value
# Reasons that tell most, first, and then what happens to values without one of these.
_URGENT = {why: n for n, why in enumerate((Why.FAILURE, Why.DAMAGED, Why.SHAPE, Why.DTYPE))}
_UNREAD = frozenset[object]({Why.AFTER_ERROR, Why.NOT_REACHED})
_LESS_URGENT = {Destination.INTO: 4, Destination.HERE: 6}
_USUAL = 5


class RowPart(NamedTuple):
    """A part of one side: of the checkpoint, or of the program if the checkpoint lacks it."""

    is_saved: bool
    node: int


Places = tuple[int | None, int | None]


class FoldedRows(NamedTuple):
    """Rows that all go the same way, with the names of the part that they are, on both sides.

    `saved` and `live` are the place of the part, "" on a side without it; of a run, those of the
    first and of the last part. `nodes` are these parts, each as its saved node and its live object.
    `parts` is the number of parts, and `is_run` says that they are neighbours whose names differ in
    numbers alone. `branches` are the parts with what is below them; rows that are no whole part
    have none.
    """

    saved: tuple[str, ...]
    live: tuple[str, ...]
    rows: tuple[RestoreRow, ...]
    nodes: tuple[Places, ...]
    branches: tuple[tuple[RowPart, Branch], ...] = ()
    parts: int = 1
    is_run: bool = True

    @property
    def is_quiet(self) -> bool:
        """Whether the call and the fix put each value into its own object."""
        return self.rows[0].is_quiet


@dataclass
class Branch:
    """A part, what is below it, and its own rows."""

    rows: list[RestoreRow] = field(default_factory=list)
    below: dict[RowPart, Branch] = field(default_factory=dict)

    @cached_property
    def every_row(self) -> Sequence[RestoreRow]:
        """The rows of the part and of all below it, in order."""
        return [*self.rows, *chain.from_iterable(b.every_row for b in self.below.values())]

    @cached_property
    def ways(self) -> frozenset[tuple[object, ...]]:
        """Where the rows of the part and of all below it go."""
        own = frozenset(map(way_of, self.rows))
        return own.union(*(branch.ways for branch in self.below.values()))

    @cached_property
    def is_quiet(self) -> bool:
        """Whether the call and the fix put each value of the part into its own object."""
        inside = (branch.is_quiet for branch in self.below.values())
        return all(row.is_quiet for row in self.rows) and all(inside)

    @property
    def names_misfits(self) -> bool:
        """Whether layers below the part have values of another shape, each with its own name."""
        return not self.is_layer and any(map(is_misfit, self.every_row))

    @property
    def is_layer(self) -> bool:
        """Whether the part holds values, and no other part."""
        return all(branch.rows for branch in self.below.values())


def run_of(names: Sequence[str]) -> str:
    """Return the first and the last name of a run, of the last one what differs.

    >>> run_of(["blocks.block_0", "blocks.block_5"]), run_of(["head"])
    ('blocks.block_0 … block_5', 'head')
    """
    first, last = names[0], names[-1]
    if first == last:
        return first
    holder, dot, _ = first.rpartition(".")
    return f"{first} … {last.removeprefix(holder + dot)}"


def way_of(row: RestoreRow) -> tuple[object, ...]:
    """Return what rows have in common that fold into one line.

    What the program alone has keeps its own values, whatever the call tried to put there.
    """
    is_new = row.saved is None and row.plain.place is Destination.KEEPS
    plain = (Destination.KEEPS,) if is_new else _way(row.plain.meant)
    return plain, _way(row.fixed), row.saved is None, row.live is None


def part_of(row: RestoreRow) -> RowPart:
    """Return a value as a part of its side."""
    return RowPart(True, row.saved) if row.saved is not None else RowPart(False, row.live or ROOT)


def is_misfit(row: RestoreRow) -> bool:
    """Return whether a value is on both sides, with another shape or dtype."""
    return None not in (row.saved, row.live) and row.plain.why in (Why.SHAPE, Why.DTYPE)


def places(row: RestoreRow) -> tuple[object, ...]:
    """Return where the call and the fix put a value; rows of one line agree in this."""
    where = None if row.fixed is None else (row.fixed.place, row.why_left is Why.GUESS)
    return row.plain.meant.place, where, row.saved is None, row.live is None


def after_fix(row: RestoreRow) -> tuple[object, ...]:
    """Return what the values of a layer have in common that are one line."""
    where, *others = places(row)
    return tuple(others) if row.fixed is not None else (where, *others)


def urgency(row: RestoreRow) -> int:
    """Return how early a row is told: failures first."""
    cell = row.plain.meant
    usual = _LESS_URGENT.get(cell.place, _USUAL)
    return usual if cell.why is None else _URGENT.get(cell.why, usual)


def _way(cell: ValueCell | None) -> tuple[object, ...]:
    return () if cell is None else (cell.place, cell.why, cell.error)


def without_cause(way: tuple[object, ...]) -> tuple[object, ...]:
    """Return the way of a value, whatever keeps the call from coming to it: all say "nowhere"."""
    plain, *others = way
    is_unread = isinstance(plain, tuple) and not _UNREAD.isdisjoint(plain)
    return (Destination.STAYS if is_unread else plain, *others)

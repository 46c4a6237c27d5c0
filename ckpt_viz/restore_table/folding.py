"""Folds the rows of a table into lines: parts whose values all go the same way, and runs of these.

A part is a layer or what holds layers. A slot variable belongs to its variable if both go the same
way, and else to its optimizer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.names import is_holder
from ckpt_viz.object_graph.nodes import ROOT
from ckpt_viz.restore_table.rows import Destination, RestoreRow, RestoreTable, ValueCell, Why

_NUMBER = re.compile(r"\d+")
_MOST_LINES = 24
_MOST_LEVELS = 16  # of parts; a hostile chain has a hundred thousand
# Reasons that tell most, first.
_URGENT = {why: n for n, why in enumerate((Why.FAILURE, Why.DAMAGED, Why.SHAPE, Why.DTYPE))}


class _Part(NamedTuple):
    """A part of one side: of the checkpoint, or of the program if the checkpoint lacks it."""

    is_saved: bool
    node: int


@dataclass(frozen=True)
class FoldedRows:
    """Rows that all go the same way, with the names of the part that they are, on both sides.

    `saved` and `live` are the place of the part, "" on a side without it; of a run, those of the
    first and of the last part. `parts` is the number of parts, and `is_run` says that they are
    neighbours whose names differ in numbers alone.
    """

    saved: tuple[str, ...]
    live: tuple[str, ...]
    rows: tuple[RestoreRow, ...]
    parts: int = 1
    is_run: bool = True


@dataclass
class _Branch:
    """A part, what is below it, and its own rows."""

    rows: list[RestoreRow] = field(default_factory=list)
    below: dict[_Part, _Branch] = field(default_factory=dict)

    def every_row(self) -> Iterator[RestoreRow]:
        """Yield the rows of the part and of all below it, in order."""
        stack = [self]
        while stack:
            branch = stack.pop()
            yield from branch.rows
            stack += reversed(branch.below.values())

    @cached_property
    def ways(self) -> frozenset[object]:
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
        return not self.is_layer and any(map(_is_misfit, self.every_row()))

    @property
    def is_layer(self) -> bool:
        """Whether the part holds values, and no other part."""
        return all(branch.rows for branch in self.below.values())


def lines_of(table: RestoreTable) -> Sequence[FoldedRows]:
    """Return the rows that are not quiet, folded into at most about 25 lines."""
    if all(row.is_quiet for row in table.rows):
        return []
    lines = [*_Folding(table).lines()]
    return lines if len(lines) <= _MOST_LINES else _merged(lines)


def way_of(row: RestoreRow) -> tuple[object, ...]:
    """Return what rows have in common that fold into one line.

    What the program alone has keeps its own values, whatever the call tried to put there.
    """
    is_new = row.saved is None and row.plain.place is Destination.KEEPS
    plain = (Destination.KEEPS,) if is_new else _way(row.plain)
    return plain, _way(row.fixed), row.saved is None, row.live is None


def _is_misfit(row: RestoreRow) -> bool:
    is_both, reason = None not in (row.saved, row.live), row.plain.reason
    return is_both and reason is not None and reason.why in (Why.SHAPE, Why.DTYPE)


def _places(row: RestoreRow) -> tuple[object, ...]:
    fixed = row.fixed
    is_guess = fixed is not None and fixed.reason is not None and fixed.reason.why is Why.GUESS
    where = None if fixed is None else (fixed.place, is_guess)
    return row.plain.place, where, row.saved is None, row.live is None


def _urgency(row: RestoreRow) -> int:
    reason = row.plain.reason
    return len(_URGENT) if reason is None else _URGENT.get(reason.why, len(_URGENT))


def _way(cell: ValueCell | None) -> tuple[object, ...]:
    reason = None if cell is None else cell.reason
    if cell is None:
        return ()
    return cell.place, None if reason is None else (reason.why, reason.error)


@dataclass(frozen=True)
class _Folding:
    table: RestoreTable

    def lines(self) -> Iterator[FoldedRows]:
        """Yield the lines in saved order, what the program alone has beside its neighbours."""
        yield from self._below(_Part(True, ROOT), self._tree)

    def _below(self, part: _Part, branch: _Branch) -> Iterator[FoldedRows]:
        if branch.is_quiet:
            return
        if part.node != ROOT and len(branch.ways) == 1 and not branch.names_misfits:
            # The first row tells why.
            yield self._line(part, sorted(branch.every_row(), key=_urgency))
            return
        if part.node != ROOT and branch.is_layer:
            rows = [*branch.every_row()]
            if len({_places(row) for row in rows}) == 1:
                yield self._line(part, sorted(rows, key=_urgency))
                return
        of_part = [row for row in branch.rows if not row.is_quiet]
        inner = [line for child, sub in branch.below.items() for line in self._below(child, sub)]
        own = dict.fromkeys(map(way_of, of_part))
        for way in own:
            alike = (row for line in inner if way_of(line.rows[0]) == way for row in line.rows)
            yield self._line(part, [*(row for row in of_part if way_of(row) == way), *alike])
        yield from _runs(line for line in inner if way_of(line.rows[0]) not in own)

    def _line(self, part: _Part, rows: Sequence[RestoreRow]) -> FoldedRows:
        (first, *others), graphs = rows, (self.table.saved, self.table.live)
        if not others:
            places = first.saved, first.live
        elif part.is_saved:
            places = part.node, self._counterparts[1].get(part.node, self._holder(first.live))
        else:
            places = first.saved, part.node
        is_there = any(row.saved is not None for row in rows), any(r.live is not None for r in rows)
        saved, live = (
            self._place(graph, node) if is_side else ""
            for graph, node, is_side in zip(graphs, places, is_there, strict=True)
        )
        return FoldedRows((saved,), (live,), tuple(rows))

    def _holder(self, obj: int | None) -> int | None:
        """Return what holds a value of the program, such as the root for a saved part."""
        return None if obj is None else max(self.table.live.tree.parents[obj], ROOT)

    @staticmethod
    def _place(graph: Graph | None, node: int | None) -> str:
        if graph is None or node is None:
            return ""
        return graph.names.place_or_state(node)

    # --- the tree

    @cached_property
    def _tree(self) -> _Branch:
        root = _Branch()
        ways = self._ways
        for row in self.table.rows:
            if row.saved is not None:
                assert self.table.saved is not None
                home = _home(self.table.saved, row.saved, _places(row), ways[0])
                nodes = self._as_slot(row) or _chain(self.table.saved, home)
                chain = [_Part(True, node) for node in nodes]
            else:
                assert row.live is not None
                home = _home(self.table.live, row.live, _places(row), ways[1])
                chain = [self._as_saved(node) for node in _chain(self.table.live, home)]
            branch = root
            for part in chain:
                branch = branch.below.setdefault(part, _Branch())
            branch.rows.append(row)
        return root

    def _as_slot(self, row: RestoreRow) -> list[int] | None:
        """Return the chain of a saved value that only the program tells as a slot variable."""
        saved, live = self.table.saved, self.table.live
        assert saved is not None and row.saved is not None
        slot = None if row.live is None else live.nodes[row.live].slot
        if slot is None or row.live is None or saved.nodes[row.saved].slot is not None:
            return None
        if _home(live, row.live, _places(row), self._ways[1]) != row.live:
            return _chain(saved, row.saved)[:-1]
        variable = self._saved_of.get(slot.variable)
        return None if variable is None else [*_chain(saved, variable), row.saved]

    @cached_property
    def _saved_of(self) -> Mapping[int | None, int]:
        """By live value, the saved value of its row."""
        return {row.live: row.saved for row in self.table.rows if row.saved is not None}

    def _as_saved(self, obj: int) -> _Part:
        node = self._counterparts[0].get(obj)
        return _Part(False, obj) if node is None else _Part(True, node)

    @cached_property
    def _ways(self) -> tuple[dict[int, object], dict[int, object]]:
        """By saved value and by live value, where its row goes."""
        rows = self.table.rows
        return (
            {row.saved: _places(row) for row in rows if row.saved is not None},
            {row.live: _places(row) for row in rows if row.live is not None},
        )

    @cached_property
    def _counterparts(self) -> tuple[dict[int, int], dict[int, int]]:
        """By live part the saved one, and the reverse, as most of the values below them say."""
        votes = Counter[tuple[int, int]]()
        saved, live = self.table.saved, self.table.live
        for row in self.table.rows:
            if saved is not None and row.saved is not None and row.live is not None:
                pair = [*_chain(saved, row.saved)][::-1], [*_chain(live, row.live)][::-1]
                votes.update(zip(*pair, strict=False))
        of_live, of_saved = dict[int, int](), dict[int, int]()
        for (node, obj), _ in votes.most_common():
            if node not in of_saved and obj not in of_live:
                of_saved[node], of_live[obj] = obj, node
        return of_live, of_saved


def _chain(graph: Graph, node: int) -> list[int]:
    """Return what holds a value, below the root, and the value itself; no private container."""
    tree = graph.tree
    near = islice(tree.above(node), _MOST_LEVELS)
    above = [n for n in near if n != ROOT and not is_holder(graph.nodes, tree, n)]
    return [*reversed(above), node]


def _home(graph: Graph, node: int, way: object, ways: dict[int, object]) -> int:
    """Return the node with whose part a value counts: of some slots, their optimizer."""
    slot = graph.nodes[node].slot
    if slot is None or slot.optimizer is None or ways.get(slot.variable) == way:
        return node
    return slot.optimizer


def _runs(lines: Iterator[FoldedRows]) -> Iterator[FoldedRows]:
    """Yield lines, those of neighbours as one whose names differ in numbers alone."""
    run: list[FoldedRows] = []
    for line in lines:
        if run and _look(run[-1]) != _look(line):
            yield _joined(run)
            run = []
        run.append(line)
    if run:
        yield _joined(run)


def _look(line: FoldedRows) -> tuple[object, ...]:
    names = (*line.saved, *line.live)
    return way_of(line.rows[0]), *(_NUMBER.sub("#", name) for name in names)


def _joined(run: Sequence[FoldedRows], *, is_run: bool = True) -> FoldedRows:
    if len(run) == 1:
        return run[0]
    first, last = run[0], run[-1]
    rows = tuple(row for line in run for row in line.rows)
    parts = sum(line.parts for line in run)
    names = (first.saved[0], last.saved[-1]), (first.live[0], last.live[-1])
    return FoldedRows(*names, rows, parts, is_run)


def _merged(lines: Sequence[FoldedRows]) -> Sequence[FoldedRows]:
    """Return one line for all that go the same way, by their first names."""
    groups: dict[object, list[FoldedRows]] = {}
    for line in lines:
        groups.setdefault(way_of(line.rows[0]), []).append(line)
    return [_joined(group, is_run=False) for group in groups.values()]

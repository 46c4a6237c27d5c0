"""Folds the rows of a table into lines: parts whose values all go the same way, and runs of these.

A part is a layer or what holds layers. A slot variable belongs to its variable if both go the same
way, and else to its optimizer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile

from ckpt_viz.graphs.nodes.names import slot_of
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.restore_table.folded_rows import (
    LAYER_AND_VALUE,
    NUMBER,
    Branch,
    FoldedRows,
    Places,
    RowPart,
    after_fix,
    part_of,
    places,
    urgency,
    way_of,
    without_cause,
)
from ckpt_viz.matching.restore_table.parts import Chains, home_of, place_of_row
from ckpt_viz.matching.restore_table.rows import RestoreRow, RestoreTable

_MOST_LINES = 24


@dataclass(frozen=True)
class Folding:
    """The lines of a table, and what is inside of each."""

    table: RestoreTable

    def lines(self) -> Iterator[FoldedRows]:
        """Yield the lines in saved order, what the program alone has beside its neighbours."""
        yield from self._below(RowPart(True, ROOT), self._tree)

    def loud_lines(self) -> Sequence[FoldedRows]:
        """Return the lines that are not quiet, at most about 25."""
        if all(row.is_quiet for row in self.table.rows):
            return []
        lines = [line for line in self.lines() if not line.is_quiet]
        return lines if len(lines) <= _MOST_LINES else _merged(lines)

    def inside(self, line: FoldedRows) -> Iterator[FoldedRows]:
        """Yield the lines into which one unfolds: parts of a run, parts of a part, and values."""
        match line.branches:
            case ():
                if len(line.rows) > 1:
                    yield from (self._value(row) for row in line.rows)
            case ((part, branch),):
                yield from (self._value(row) for row in branch.rows if part_of(row) != part)
                yield from _runs(self._whole(*below) for below in branch.below.items())
            case branches:
                yield from (self._whole(part, branch) for part, branch in branches)

    def _value(self, row: RestoreRow) -> FoldedRows:
        return self._line(part_of(row), [row])

    def _whole(self, part: RowPart, branch: Branch) -> FoldedRows:
        rows = branch.every_row
        if not branch.is_quiet:  # the first row tells why
            rows = sorted(rows, key=urgency)
        return self._line(part, rows, branch)

    def _below(self, part: RowPart, branch: Branch) -> Iterator[FoldedRows]:
        if part.node != ROOT and self._is_one_line(part, branch):
            yield self._whole(part, branch)
            return
        inner = [line for child, sub in branch.below.items() for line in self._below(child, sub)]
        is_divided = self._is_divided(part, branch)

        def way(row: RestoreRow) -> object:
            return way_of(row), self._trainer(row) if is_divided else None

        own: dict[object, list[RestoreRow]] = {}
        for row in branch.rows:
            if row.is_quiet:
                yield self._value(row)
            else:
                own.setdefault(way(row), []).append(row)
        for key, rows in own.items():
            alike = (row for line in inner if way(line.rows[0]) == key for row in line.rows)
            yield self._line(part, [*rows, *alike])
        yield from _runs(line for line in inner if way(line.rows[0]) not in own)

    def _is_divided(self, part: RowPart, branch: Branch) -> bool:
        """Return whether the values of a saved optimizer are those of several ones now."""
        if self.table.saved is None or not (part.is_saved and self._is_optimizer(part)):
            return False
        trainers = {self._trainer(row) for row in branch.every_row} - {None}
        parents = self.table.live.tree.parents
        return len({each for each in trainers if each and parents[each] not in trainers}) > 1

    def _trainer(self, row: RestoreRow) -> int | None:
        """Return the optimizer of the program that has the value of a row, if it tells one."""
        if row.live is None:
            return None
        live = self.table.live
        slot, parent = live.nodes[row.live].slot, live.tree.parents[row.live]
        if slot is not None:
            return slot.optimizer
        return parent if parent >= ROOT and live.nodes[parent].role is Role.OPTIMIZER else None

    def _is_one_line(self, part: RowPart, branch: Branch) -> bool:
        """Return whether a part is one line: all goes one way, or the fix does so with a layer."""
        if branch.is_quiet or self._is_divided(part, branch):
            return branch.is_quiet
        ways: Set[tuple[object, ...]] = branch.ways
        if part.is_saved and part.node in self._counterparts[1]:
            ways = {*map(without_cause, ways)}
        if len(ways) == 1 and not branch.names_misfits:
            return True
        is_closed = branch.is_layer or self._is_block(part)
        return is_closed and len({after_fix(row) for row in branch.every_row}) == 1

    def _is_block(self, part: RowPart) -> bool:
        return part.node >= len(self._graph_of(part).nodes)

    def _line(
        self, part: RowPart, rows: Sequence[RestoreRow], branch: Branch | None = None
    ) -> FoldedRows:
        (first, *others), graphs = rows, (self.table.saved, self.table.live)
        places: Places
        if not others:
            places = first.saved, first.live
        elif part.is_saved:
            places = part.node, self._live_part(part, rows)
        elif len(self._values_in[part.node]) == len(rows) or self._has_own(part, rows):
            places = first.saved, part.node
        else:  # only a part of it is new
            places = first.saved, self._common_part(rows, otherwise=part.node)
        is_there = any(row.saved is not None for row in rows), any(r.live is not None for r in rows)
        nodes = (places[0] if is_there[0] else None, places[1] if is_there[1] else None)
        saved, live = (
            "" if graph is None or node is None else self.place(graph, node)
            for graph, node in zip(graphs, nodes, strict=True)
        )
        branches = () if branch is None else ((part, branch),)
        inside = self._layers_inside(part, nodes[1], rows)
        names = tuple(self.place(self.table.live, layer) for layer in inside) or (live,)
        return FoldedRows((saved,), names, tuple(rows), (nodes,), branches)

    def _layers_inside(
        self, part: RowPart, within: int | None, rows: Sequence[RestoreRow]
    ) -> Sequence[int]:
        """Return the first and the last layer with these values in a part that has others, too.

        There are none if the part is the counterpart of the saved one, or a layer.
        """
        if within in (None, ROOT) or not part.is_saved or not rows[1:]:
            return ()
        live, counterpart = self.table.live, self._counterparts[1].get(part.node)
        saved_trunk, live_trunk = self._trunks
        if within == counterpart and (part.node == saved_trunk) == (within == live_trunk):
            return ()
        layers = list[int]()
        for obj in sorted(row.live for row in rows if row.live is not None):
            parts = self._chain(live, obj)
            below = parts[parts.index(within) + 1 :] if within in parts else parts
            if live.nodes[obj].slot is None and below[:1] not in ([], [obj]):
                layers.append(below[0])
        return (layers[0], layers[-1]) if len({*layers}) > 1 else ()

    def _live_part(self, part: RowPart, rows: Sequence[RestoreRow]) -> int | None:
        """Return the part of the program with the values of a saved part, by most of them.

        Slots and counters are in their optimizer.
        """
        most = self._counterparts[1].get(part.node)
        objects = [row.live for row in rows if row.live is not None]
        if not objects:
            return None
        if most is not None and self._values_in[most].issuperset(objects):
            return most
        (trainer, *others) = {self._trainer(row) for row in rows if row.live is not None}
        if trainer is not None and not others:
            return trainer
        return self._common_part(rows, otherwise=ROOT)

    def _common_part(self, rows: Sequence[RestoreRow], *, otherwise: int) -> int:
        """Return the smallest part of the program with these values, or else a larger one."""
        live, objects = self.table.live, [row.live for row in rows if row.live is not None]
        own = [o for o in objects if live.nodes[o].slot is None]
        common = self.common_part(live, own or objects)
        return otherwise if common is None else common

    def common_part(self, graph: Graph, nodes: Sequence[int]) -> int | None:
        """Return the smallest part that holds all nodes; None for the whole graph."""
        common: Sequence[int] | None = None
        for node in nodes:
            parts = self._chain(graph, node)
            if common is None:
                common = parts
            alike = takewhile(lambda pair: pair[0] == pair[1], zip(common, parts, strict=False))
            common = [part for part, _ in alike]
        return common[-1] if common else None

    @cached_property
    def _values_in(self) -> Mapping[int, set[int]]:
        """The values in each part of the program; a slot is in two: its optimizer has it."""
        live, values = self.table.live, defaultdict[int, set[int]](set)
        for obj in (row.live for row in self.table.rows if row.live is not None):
            slot = live.nodes[obj].slot
            for node in (obj, None if slot is None else slot.optimizer):
                for part in () if node is None else (node, *self._chain(live, node)):
                    values[part].add(obj)
        return values

    def place(self, graph: Graph, row: int) -> str:
        """Return the path of a row of layers, without the one part that holds all others."""
        node = self._trunks[0 if graph is self.table.saved else 1]
        trunk = "" if node is None else f"{place_of_row(graph, node)}."
        slot = graph.nodes[row].slot if row < len(graph.nodes) else None
        if slot is None:
            return place_of_row(graph, row).removeprefix(trunk)
        return slot_of(slot.name, place_of_row(graph, slot.variable).removeprefix(trunk))

    @cached_property
    def _trunks(self) -> tuple[int | None, int | None]:
        """What holds all other parts with several names, in the file and in the program.

        There is none if several parts of the root hold others, if the only one is a layer, or if a
        name would then mean two.
        """
        parts = [
            part
            for part, branch in self._tree.below.items()
            if len(branch.below) > 1 and not self._is_optimizer(part)
        ]
        root = self._tree
        if len(parts) != 1 or not parts[0].is_saved or root.below[parts[0]].is_layer:
            return None, None
        (trunk,) = parts
        beside = {self._own_name(part) for part in root.below}
        if not beside.isdisjoint(map(self._own_name, root.below[trunk].below)):
            return None, None
        return trunk.node, self._live_trunk(trunk.node)

    def _live_trunk(self, trunk: int) -> int | None:
        """Return what holds the parts of the program that were saved in the trunk."""
        saved, live = self.table.saved, self.table.live
        pairs = [
            (self._chain(saved, row.saved), self._chain(live, row.live))
            for row in self.table.rows
            if saved is not None and row.saved is not None and row.live is not None
        ]
        below = [parts for (top, *_), parts in pairs if top == trunk]
        tops = {parts[0] for parts in below}
        is_layer = all(len(parts) <= LAYER_AND_VALUE for parts in below)
        return tops.pop() if len(tops) == 1 and not is_layer else None

    def _is_optimizer(self, part: RowPart) -> bool:
        graph = self._graph_of(part)
        return part.node < len(graph.nodes) and graph.nodes[part.node].role is Role.OPTIMIZER

    def _has_own(self, part: RowPart, rows: Sequence[RestoreRow]) -> bool:
        """Return whether rows have a value of an optimizer itself, and not only its slots."""
        objects = [row.live for row in rows if row.live is not None]
        has_own = any(self.table.live.nodes[obj].slot is None for obj in objects)
        return has_own and self._is_optimizer(part)

    def _own_name(self, part: RowPart) -> str:
        return self._graph_of(part).layers.names[part.node]

    def _graph_of(self, part: RowPart) -> Graph:
        graph = self.table.saved if part.is_saved else self.table.live
        assert graph is not None
        return graph

    # --- the tree

    @cached_property
    def _tree(self) -> Branch:
        root = Branch()
        of_saved, of_live = self._ways
        # Slots that count with their optimizer follow its own values, which have its place.
        for row in sorted(self.table.rows, key=self._counts_with_optimizer):
            if row.saved is not None:
                assert self.table.saved is not None
                home = home_of(self.table.saved, row.saved, of_saved)
                nodes = self._as_slot(row) or self._chain(self.table.saved, home)
                parts = [RowPart(True, node) for node in nodes]
            else:
                assert row.live is not None
                home = home_of(self.table.live, row.live, of_live)
                parts = [self._as_saved(node) for node in self._chain(self.table.live, home)]
            branch = root
            for part in parts:
                branch = branch.below.setdefault(part, Branch())
            branch.rows.append(row)
        return root

    def _counts_with_optimizer(self, row: RestoreRow) -> bool:
        of_saved, of_live = self._ways
        if row.saved is not None and self.table.saved is not None:
            return home_of(self.table.saved, row.saved, of_saved) != row.saved
        return row.live is not None and home_of(self.table.live, row.live, of_live) != row.live

    def _as_slot(self, row: RestoreRow) -> list[int] | None:
        """Return the chain of a saved value that only the program tells as a slot variable."""
        saved, live = self.table.saved, self.table.live
        assert saved is not None and row.saved is not None
        slot = None if row.live is None else live.nodes[row.live].slot
        if slot is None or row.live is None or saved.nodes[row.saved].slot is not None:
            return None
        if home_of(live, row.live, self._ways[1]) != row.live:
            return self._chain(saved, row.saved)[:-1]
        variable = self._saved_of.get(slot.variable)
        return None if variable is None else [*self._chain(saved, variable), row.saved]

    def _chain(self, graph: Graph, node: int) -> list[int]:
        return self._chains[graph is self.table.saved].of(node)

    @cached_property
    def _chains(self) -> tuple[Chains, Chains]:
        """Those of the program, and of the checkpoint."""
        return Chains(self.table.live), Chains(self.table.saved or self.table.live)

    @cached_property
    def _saved_of(self) -> Mapping[int | None, int]:
        """By live value, the saved value of its row."""
        return {row.live: row.saved for row in self.table.rows if row.saved is not None}

    def _as_saved(self, obj: int) -> RowPart:
        node = self._counterparts[0].get(obj)
        return RowPart(False, obj) if node is None else RowPart(True, node)

    @cached_property
    def _ways(self) -> tuple[dict[int | None, object], dict[int | None, object]]:
        """By saved value and by live value, where its row goes."""
        rows = [(row, places(row)) for row in self.table.rows]
        return {row.saved: way for row, way in rows}, {row.live: way for row, way in rows}

    @cached_property
    def _counterparts(self) -> tuple[dict[int, int], dict[int, int]]:
        """By live part the saved one, and the reverse, as most of the values below them say."""
        votes = Counter[tuple[int, int]]()
        saved, live = self.table.saved, self.table.live
        for row in self.table.rows:
            if saved is not None and row.saved is not None and row.live is not None:
                pair = [*self._chain(saved, row.saved)][::-1], [*self._chain(live, row.live)][::-1]
                votes.update(zip(*pair, strict=False))
        of_live, of_saved = dict[int, int](), dict[int, int]()
        for (node, obj), _ in votes.most_common():
            if node not in of_saved and obj not in of_live:
                of_saved[node], of_live[obj] = obj, node
        return of_live, of_saved


def _runs(lines: Iterator[FoldedRows]) -> Iterator[FoldedRows]:
    """Yield lines, those of neighbours as one whose names differ in numbers alone."""
    for _, run in groupby(lines, _look):
        yield _joined([*run])


def _look(line: FoldedRows) -> tuple[object, ...]:
    names = (*line.saved, *line.live)
    return way_of(line.rows[0]), *(NUMBER.sub("#", name) for name in names)


def _joined(run: Sequence[FoldedRows], *, is_run: bool = True) -> FoldedRows:
    if len(run) == 1:
        return run[0]
    first, last = run[0], run[-1]
    rows = tuple(row for line in run for row in line.rows)
    parts = sum(line.parts for line in run)
    names = (first.saved[0], last.saved[-1]), (first.live[0], last.live[-1])
    branches = tuple(branch for line in run for branch in line.branches)
    return FoldedRows(*names, rows, (first.nodes[0], last.nodes[-1]), branches, parts, is_run)


def _merged(lines: Sequence[FoldedRows]) -> Sequence[FoldedRows]:
    """Return one line for all that go the same way, by their first names."""
    groups: dict[object, list[FoldedRows]] = {}
    for line in lines:
        groups.setdefault(way_of(line.rows[0]), []).append(line)
    return [_joined(group, is_run=False) for group in groups.values()]

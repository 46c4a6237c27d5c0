"""Reads what changed between the checkpoints of a history, each byte at most once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ckpt_viz.answers.timeline.cells import Cell, CellState, HistoryRow
from ckpt_viz.answers.timeline.lines import Line
from ckpt_viz.answers.timeline.plan import CHANGES, PIECE_BYTES, READ, ReadingPlan
from ckpt_viz.files.values.ranges import folded
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.running import OnRead
from ckpt_viz.formats.arrays.tensors import Array
from ckpt_viz.formats.bundles.stored_ranges import Claims
from ckpt_viz.graphs.layers.parameters import counts
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph

UNCHANGED_SHARE = 1 / 200
"""Of tensors that never change, the smallest are read, as long as this share of all bytes lasts."""


Plans = dict[int, ReadingPlan]
"""What is to be read of rows, and what was read up to now; by their number."""
_POWERS = ("beta1_power", "beta2_power")  # of an Adam of TensorFlow 1


@dataclass
class Reader:
    """Reads the variables of several checkpoints.

    `unchanged` says whether to read also all of those that never change. `is_compared` says that
    the checkpoints are members without an order; `squares` then has the sums of the squared
    distances of their variables, N×N, and `norm` the squared norm of the mean. `known` has rows
    of an earlier reading, by number: of all these checkpoints, or of the first ones only. They
    are not read again, except what later checkpoints are compared with. `begun` has the plans of
    rows that were read in part; a later reading goes on from them.
    Each checkpoint is read in pieces of at most `piece_bytes`.
    """

    graphs: Sequence[Graph | None]
    lines: Sequence[Line]
    unchanged: bool = False
    is_compared: bool = False
    known: Mapping[int, HistoryRow] = field(default_factory=dict)
    begun: Plans = field(default_factory=dict)
    piece_bytes: int = PIECE_BYTES
    squares: Array = field(init=False)
    norm: float = 0.0
    _claims: list[Claims] = field(init=False)
    _states: list[list[CellState]] = field(init=False)

    def __post_init__(self) -> None:
        self._states = [self._states_of(line) for line in self.lines]
        self._to_read = [self._states_to_read(number) for number in range(len(self.lines))]
        self._claims = [Claims() for _ in self.graphs]
        self.squares = np.zeros((len(self.graphs), len(self.graphs)))

    def rows(self, executor: Executor | None, on_read: OnRead) -> Iterator[tuple[int, HistoryRow]]:
        """Yield each variable's number and row, those that need no reading first."""
        wanted = self._wanted
        for number in range(len(self.lines)):
            if number not in wanted:
                yield number, self._row(number, self._earlier(number))
        plans = {n: self.begun.get(n) or self._plan(n) for n in sorted(wanted)}
        for number, plan in list(plans.items()):
            if plan.memory:
                plan.fold_in_memory()
                on_read(self._nbytes(number))
            if plan.is_done:
                yield number, self._finished(number, plans.pop(number))
        self.begun.update(plans)
        reading = folded(
            {(n, i): each for n, plan in plans.items() for i, each in enumerate(plan.requests)},
            lambda _: self.piece_bytes,
            executor=executor,
            on_read=on_read,
        )
        try:
            with closing(reading):  # type: ignore[type-var]
                for number, _ in reading:
                    if plans[number].is_done:  # drop what it has read: the row has the results
                        yield number, self._finished(number, plans.pop(number))
                        del self.begun[number]
        finally:
            for number, plan in plans.items():
                if not any(request.bytes_read for request in plan.requests):
                    self.begun.pop(number, None)

    def reads(self, number: int) -> bool:
        """Return whether `rows` reads a variable: the indexes do not tell all of it."""
        return number in self._wanted

    def unread(self, number: int) -> HistoryRow:
        """Return the row of a variable whose values were not read."""
        return self._row(number, {})

    def nbytes(self) -> int:
        """Return the bytes that `rows` reads."""
        plans = self.begun.values()
        read = sum(request.bytes_read for plan in plans for request in plan.requests)
        return sum(map(self._nbytes, self._wanted)) - read

    def _nbytes(self, number: int) -> int:
        return sum(
            row.nbytes or 0
            for row, state in zip(self.lines[number].tensors, self._to_read[number], strict=True)
            if row is not None and state in READ
        )

    def _states_of(self, line: Line) -> list[CellState]:
        """Return how each tensor compares with the one before, from the indexes alone."""
        states: list[CellState] = []
        before: tuple[ValueRow, Any] | None = None
        for graph, row in zip(self.graphs, line.tensors, strict=True):
            if row is None or graph is None:
                states.append(CellState.ABSENT if graph is not None else CellState.DAMAGED)
                continue
            mark = graph.fingerprint(row.key)
            if before is None:
                states.append(CellState.FIRST)
            elif (before[0].dtype, before[0].shape) != (row.dtype, row.shape):
                states.append(CellState.RESHAPED)
            elif mark is not None and mark == before[1]:
                states.append(CellState.EQUAL)
            else:
                states.append(CellState.CHANGED)
            before = row, mark
        return states

    def _states_to_read(self, number: int) -> list[CellState]:
        """Return the states of a variable; EQUAL for the earlier ones that need no reading."""
        states = self._states[number]
        cells = self._earlier(number)
        if not any(state in READ for state in states[len(cells) :]):
            return [
                CellState.EQUAL if time in cells else state for time, state in enumerate(states)
            ]
        if any(cells[time].state is CellState.UNREAD for time in cells):
            return states
        begin = max((t for t in cells if states[t] is CellState.RESHAPED), default=0)
        good = [
            time
            for time in range(begin, len(cells))
            if states[time] in READ and cells[time].state is not CellState.DAMAGED
        ]
        # Later ones are compared with the last, and with the first of the same shape.
        compared = {*good[:1], *good[-1:]}
        return [
            CellState.EQUAL if time in cells and time not in compared else state
            for time, state in enumerate(states)
        ]

    def _earlier(self, number: int) -> dict[int, Cell]:
        """Return the known cells of a variable by time."""
        row = self.known.get(number)
        return {} if row is None else dict(enumerate(row.cells))

    @cached_property
    def _wanted(self) -> set[int]:
        """Return the numbers of the variables to read: those that change, and small other ones."""
        wanted, rest = set(), []
        times = sum(graph is not None for graph in self.graphs)
        for number, states in enumerate(self._states):
            if number in self.known:
                if any(state in READ for state in self._to_read[number]):
                    wanted.add(number)
                continue
            is_changing = any(state in CHANGES for state in states)
            if is_changing or self.unchanged or times == 1:
                wanted.add(number)
            else:
                rest.append(number)
        every = sum(
            row.nbytes or 0 for line in self.lines for row in line.tensors if row is not None
        )
        budget = every * UNCHANGED_SHARE
        for number in sorted(rest, key=lambda number: self.lines[number].latest.nbytes or 0):
            budget -= self.lines[number].latest.nbytes or 0
            if budget < 0:
                break
            wanted.add(number)
        return wanted

    def _plan(self, number: int) -> ReadingPlan:
        return ReadingPlan(
            *(self.graphs, self.lines[number], self._to_read[number], self._claims),
            is_compared=self.is_compared,
            piece_bytes=self.piece_bytes,
        )

    def _finished(self, number: int, plan: ReadingPlan) -> HistoryRow:
        cells = plan.cells()
        earlier = self._earlier(number)
        if any(cell.state is CellState.UNREAD for cell in earlier.values()):
            earlier = {}
        row = self._row(number, {**cells, **earlier})
        if plan.spread is None:
            return row
        members, spread = plan.spread
        if not row.is_state:
            self.squares[np.ix_(members, members)] += spread.squares
            self.norm += spread.mean
        return replace(row, spread=spread.disagreement)

    def _row(self, number: int, read: dict[int, Cell]) -> HistoryRow:
        line, cells = self.lines[number], []
        last: Cell | None = None
        for time, state in enumerate(self._states[number]):
            graph, row = self.graphs[time], line.tensors[time]
            cell = read.get(time)
            if cell is None and state is CellState.EQUAL:
                values = last.values if last is not None else None
                cell = Cell(state, values, 0.0, 0.0, 0.0, changed=0.0)
                if last is not None and values is not None:
                    cell = replace(cell, since_first=last.since_first or 0.0)
            elif cell is None:
                is_read = state in (CellState.ABSENT, CellState.DAMAGED)
                cell = Cell(state if is_read else CellState.UNREAD)
            if graph is not None and row is not None and row.error is not None:
                cell = Cell(CellState.DAMAGED, error=row.error)
            if cell.state not in (CellState.ABSENT, CellState.DAMAGED):
                last = cell
            cells.append(cell)
        row = line.latest
        return HistoryRow(
            *(row.key, row.name, row.place, row.node_id, row.dtype, row.shape, tuple(cells)),
            is_state=self._is_state(line),
        )

    def _is_state(self, line: Line) -> bool:
        """Return whether a variable is an optimizer's, or counts steps or checkpoints."""
        time = max(t for t, row in enumerate(line.tensors) if row is not None)
        graph, node = self.graphs[time], line.latest.node_id
        assert graph is not None
        if graph.nodes[node].slot is not None or counts(line.latest.shape, line.latest.dtype):
            return True
        if graph.is_name_based and graph.tree.labels[node].startswith(_POWERS):
            return True
        above = (ancestor for ancestor in graph.tree.above(node) if ancestor != ROOT)
        return any(graph.nodes[ancestor].role is Role.OPTIMIZER for ancestor in above)

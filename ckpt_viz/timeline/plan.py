"""What is to be read of one variable of a history, and the cells that follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import numpy as np

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.bundle import Bundle
from ckpt_viz.formats.dtypes import ELEMENT_BYTES
from ckpt_viz.formats.stored_ranges import Claims, StoredRange, stored_ranges
from ckpt_viz.formats.tensors import Array, encode, numpy_dtype
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.timeline.cells import Cell, CellState
from ckpt_viz.timeline.lines import Line
from ckpt_viz.values.assembly import Assembly, filled
from ckpt_viz.values.difference import Difference, joined_difference, relative
from ckpt_viz.values.pieces import Measured
from ckpt_viz.values.row import ValueRow
from ckpt_viz.values.spread import Spread
from ckpt_viz.values.tracks import PIECE_BYTES, Followed, Part, Where, follow_in_memory

_MEMBERS_BYTES = 1 << 25  # 32 MiB of all members of a comparison together
_LEAST_PIECE = 1 << 16

CHANGES = (CellState.CHANGED, CellState.RESHAPED)
"""The states of a tensor that has other bytes than the one before."""
READ = (CellState.FIRST, *CHANGES)
"""The states of tensors to read."""


class Plan:
    """What is to be read of one variable, and what was read up to now.

    `claims` are those of each checkpoint. `is_compared` says that its tensors are members to be
    compared with each other, in no order. `piece_bytes` limits a part, at each time.
    """

    def __init__(
        self,
        number: int,
        graphs: Sequence[Graph | None],
        line: Line,
        states: Sequence[CellState],
        claims: Sequence[Claims],
        *,
        is_compared: bool = False,
        piece_bytes: int = PIECE_BYTES,
    ) -> None:
        self._piece_bytes = piece_bytes
        self.parts: list[Part] = []
        self.memory: list[tuple[Part, list[Callable[[], bytes]]]] = []
        self._number, self._states, self._is_compared = number, states, is_compared
        self._rows = {t: row for t, row in enumerate(line.tensors) if row is not None}
        self._assemblies: dict[int, Assembly] = {}
        self._errors: dict[int, str] = {}
        self._found: dict[tuple[int, int], Followed] = {}
        self._segments: list[tuple[list[int], int]] = []  # times, and the number of parts
        for times in self._times():
            self._begin(graphs, times, claims)

    @property
    def is_done(self) -> bool:
        """Whether all parts were read."""
        return len(self._found) == sum(number for _, number in self._segments)

    def add(self, part: Part, followed: Followed) -> None:
        """Add what became of a part."""
        self._found[part.name[1], part.first] = followed

    def follow_in_memory(self) -> None:
        """Read the tensors that are no ranges of files, here."""
        for part, values in self.memory:
            self.add(part, follow_in_memory(part, values))

    def cells(self) -> dict[int, Cell]:
        """Return the cells of the times that were to be read."""
        found: dict[int, Cell] = {}
        for segment, (times, _) in enumerate(self._segments):
            parts = [self._found[key] for key in sorted(self._found) if key[0] == segment]
            if parts and self._is_compared:
                found |= self._compared(times, parts)
            elif parts:
                found |= self._cells_of(times, parts)
        for time, error in self._errors.items():
            found[time] = Cell(CellState.DAMAGED, error=error)
        return found

    @property
    def spread(self) -> tuple[tuple[int, ...], Spread] | None:
        """The members, by time, and how far they are from each other; None if not compared."""
        for segment, (times, _) in enumerate(self._segments):
            of_parts = [self._found[key].spread for key in sorted(self._found) if key[0] == segment]
            known = [one for one in of_parts if one is not None]
            if known and len(known) == len(of_parts):
                return self._members(times)[0], reduce(Spread.joined, known)
        return None

    def _members(self, times: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the times of members, and for each the time whose bytes it has."""
        members, sources = [], []
        source = -1
        for time, state in enumerate(self._states):
            if time in times:
                source = time
            if time in times or (state is CellState.EQUAL and source >= 0):
                members.append(time)
                sources.append(source)
        return tuple(members), tuple(sources)

    def _compared(self, times: Sequence[int], parts: Sequence[Followed]) -> dict[int, Cell]:
        """Return the cells of members: how far each is from their mean."""
        found: dict[int, Cell] = {}
        spread = self.spread
        members, sources = self._members(times)
        for place, (time, source) in enumerate(zip(members, sources, strict=True)):
            if time == source:
                values = self._values_of(time, [part.measured[time] for part in parts])
                known = values
            if isinstance(known, str):
                found[time] = Cell(CellState.DAMAGED, error=known)
            elif spread is None:
                found[time] = Cell(CellState.FIRST, known)
            else:
                distance = math.sqrt(float(spread[1].to_mean[place]))
                state = CellState.CHANGED if distance else CellState.EQUAL
                share = relative(distance, math.sqrt(spread[1].mean))
                found[time] = Cell(state, known, distance, share)
        return found

    def _times(self) -> Iterator[list[int]]:
        """Yield the times to read whose tensors have one dtype and shape."""
        times: list[int] = []
        for time, state in enumerate(self._states):
            if state is CellState.RESHAPED and times:
                yield times
                times = []
            row = self._rows.get(time)
            if state in READ and row is not None and row.error is None:
                times.append(time)
        if times:
            yield times

    def _begin(
        self, graphs: Sequence[Graph | None], times: list[int], claims: Sequence[Claims]
    ) -> None:
        row = self._rows[times[0]]
        if row.dtype in (None, "string", "variant", "resource") or numpy_dtype(row.dtype) is None:
            return
        ranges: dict[int, tuple[StoredRange, ...]] = {}
        memory: dict[int, Callable[[], bytes]] = {}
        for time in times:
            graph, key = graphs[time], self._rows[time].key
            assert graph is not None
            if not isinstance(graph.stored_in, Bundle):
                memory[time] = _bytes_of(graph, key)
                continue
            try:
                found = stored_ranges(graph.stored_in, key)
                claims[time].add(found)
                ranges[time] = found
            except CkptVizError as error:
                self._errors[time] = str(error)
        layouts = {tuple((one.size, one.count) for one in found) for found in ranges.values()}
        if memory or len(layouts) > 1:
            rest = [time for time in times if time not in self._errors]
            self._in_memory(graphs, rest, memory)
        elif ranges:
            self._in_ranges(graphs, ranges)

    def _in_ranges(
        self, graphs: Sequence[Graph | None], ranges: dict[int, tuple[StoredRange, ...]]
    ) -> None:
        some = next(iter(ranges.values()))
        row = self._rows[next(iter(ranges))]
        size, units = ELEMENT_BYTES[str(row.dtype)] or 1, _units(row, len(some))
        most = self._piece_bytes // size * size
        members: tuple[int, ...] = ()
        if self._is_compared:
            members, units = self._members(list(ranges))[1], 0
            most = max(_LEAST_PIECE, _MEMBERS_BYTES // len(members)) // size * size
        if units * size <= most and units:
            most = most // (units * size) * units * size
        else:
            units = 0
        for time, found in ranges.items():
            self._assemblies[time] = Assembly(self._rows[time], found, most)
        first = number = 0
        segment = len(self._segments)
        for place in range(len(some)):
            for start in range(0, max(some[place].size, 1), most):
                length = min(most, some[place].size - start)
                at: list[Where | None] = [None] * len(self._states)
                for time, found in ranges.items():
                    graph, one = graphs[time], found[place]
                    assert graph is not None
                    crc = one.crc32c if length == one.size else None
                    order = graph.stored_in.byte_order
                    offset = one.offset + start
                    at[time] = Where(one.path, offset, length, order, one.place, crc)
                name = self._number, segment
                self.parts.append(Part(name, str(row.dtype), first, units, tuple(at), members))
                first += length // size
                number += 1
        self._segments.append((list(ranges), number))

    def _in_memory(
        self,
        graphs: Sequence[Graph | None],
        times: Sequence[int],
        memory: dict[int, Callable[[], bytes]],
    ) -> None:
        row = self._rows[times[0]]
        at: list[Where | None] = [None] * len(self._states)
        values: list[Callable[[], bytes]] = [bytes] * len(self._states)
        for time in times:
            graph = graphs[time]
            assert graph is not None
            values[time] = memory.get(time) or _bytes_of(graph, self._rows[time].key)
            at[time] = Where("", 0, 0, "little", f"{graph.title}: {self._rows[time].key}")
        name = self._number, len(self._segments)
        members = self._members(times)[1] if self._is_compared else ()
        units = 0 if members else _units(row, 1)
        self.memory.append((Part(name, str(row.dtype), 0, units, tuple(at), members), values))
        self._segments.append((list(times), 1))

    def _cells_of(self, times: Sequence[int], parts: Sequence[Followed]) -> dict[int, Cell]:
        found: dict[int, Cell] = {}
        norm = first_norm = 0.0
        is_first = True
        for time in times:
            values = self._values_of(time, [part.measured[time] for part in parts])
            if isinstance(values, str):
                found[time] = Cell(CellState.DAMAGED, error=values)
                continue
            delta = _joined([part.since_last[time] for part in parts])
            total = _joined([part.since_first[time] for part in parts])
            state = self._states[time]
            if is_first or delta is None or total is None:
                state = state if state is CellState.RESHAPED else CellState.FIRST
                found[time] = Cell(state, values)
            else:
                found[time] = Cell(
                    CellState.CHANGED if delta.changed else CellState.EQUAL,
                    values,
                    delta.l2,
                    relative(delta.l2, norm),
                    delta.largest,
                    _index(delta.at, values.shape),
                    delta.changed / delta.elements if delta.elements else 0.0,
                    relative(total.l2, first_norm),
                    left_out=delta.left_out,
                    units=delta.units,
                )
            norm = values.l2 or 0.0
            first_norm = norm if is_first else first_norm
            is_first = False
        return found

    def _values_of(self, time: int, measured: Sequence[Measured | str | None]) -> ValueRow | str:
        assembly = self._assemblies.get(time)
        for number, one in enumerate(measured):
            if isinstance(one, str):
                return one
            if one is None:
                return "its bytes were not read"
            if assembly is None:
                return filled(self._rows[time], one.found)
            assembly.add(number, one)
        if assembly is None:
            return "its bytes were not read"
        row = assembly.finished()
        return row if row.error is None else row.error


def _units(row: ValueRow, ranges: int) -> int:
    """Return the size of a tensor's last axis; 0 if it has no rows, or is in slices."""
    if row.shape is None or len(row.shape) < 2 or ranges > 1 or 0 in row.shape:
        return 0
    return row.shape[-1] if row.shape[-1] > 1 else 0


def _joined(differences: Sequence[Difference | None]) -> Difference | None:
    found = Difference()
    for one in differences:
        if one is None:
            return None
        found = joined_difference(found, one)
    return found


def _index(at: int, shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if at < 0 or shape is None:
        return None
    index = []
    for size in reversed(shape):
        at, place = divmod(at, size)
        index.append(place)
    return tuple(reversed(index))


def _bytes_of(graph: Graph, key: str) -> Callable[[], bytes]:
    """Return a function that reads a tensor's value as little-endian bytes."""
    return lambda: _encoded(graph.read(key))


def _encoded(value: Array) -> bytes:
    return np.asarray(encode(value)).tobytes()

"""What is to be read of one variable of a history, and the cells that follow from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ckpt_viz.answers.timeline.cells import Cell, CellState
from ckpt_viz.answers.timeline.lines import Line
from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.values.difference import index_at, relative
from ckpt_viz.files.values.folds import Followed, Measured, OverTime, filled, with_statistics
from ckpt_viz.files.values.ranges import Request, cut, in_memory
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.spread import Spread
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES
from ckpt_viz.formats.arrays.tensors import encode, numpy_dtype
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_ranges import Claims, stored_ranges
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.graphs.object_graph.graph import Graph

PIECE_BYTES = 1 << 23  # 8 MiB; three of them and their numbers in blocks are in memory
_MEMBERS_BYTES = 1 << 25  # 32 MiB of all members of a comparison together
_LEAST_PIECE = 1 << 16

CHANGES = (CellState.CHANGED, CellState.RESHAPED)
"""The states of a tensor that has other bytes than the one before."""
READ = (CellState.FIRST, *CHANGES)
"""The states of tensors to read."""


class ReadingPlan:
    """What is to be read of one variable, and what was read up to now.

    `claims` are those of each checkpoint. `is_compared` says that its tensors are members to be
    compared with each other, in no order. `piece_bytes` limits a part, at each time.
    """

    def __init__(
        self,
        graphs: Sequence[Graph | None],
        line: Line,
        states: Sequence[CellState],
        claims: Sequence[Claims],
        *,
        is_compared: bool = False,
        piece_bytes: int = PIECE_BYTES,
    ) -> None:
        self._piece_bytes = piece_bytes
        self.memory: list[tuple[Request, list[Callable[[], bytes]]]] = []
        self._states, self._is_compared = states, is_compared
        self._rows = {t: row for t, row in enumerate(line.tensors) if row is not None}
        self._errors: dict[int, str] = {}
        self._segments: list[_Segment] = []
        for times in self._times():
            self._begin(graphs, times, claims)

    @property
    def requests(self) -> Iterator[Request]:
        """What is to be read, and what was read up to now."""
        return (segment.request for segment in self._segments)

    @property
    def is_done(self) -> bool:
        """Whether all parts were read."""
        return all(request.is_done for request in self.requests)

    def fold_in_memory(self) -> None:
        """Read the tensors that are no ranges of files, here."""
        for request, values in self.memory:
            request.fold_in_memory(values)

    def cells(self) -> dict[int, Cell]:
        """Return the cells of the times that were to be read."""
        cells: dict[int, Cell] = {}
        for segment in self._segments:
            cells |= self._compared(segment) if self._is_compared else self._cells_of(segment)
        for time, error in self._errors.items():
            cells[time] = Cell(CellState.DAMAGED, error=error)
        return cells

    @property
    def spread(self) -> tuple[tuple[int, ...], Spread] | None:
        """The members, by time, and how far they are from each other; None if not compared."""
        for segment in self._segments:
            if segment.followed.spread is not None:
                return self._members(segment.times)[0], segment.followed.spread
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

    def _compared(self, segment: _Segment) -> dict[int, Cell]:
        """Return the cells of members: how far each is from their mean."""
        cells: dict[int, Cell] = {}
        spread = self.spread
        members, sources = self._members(segment.times)
        for place, (time, source) in enumerate(zip(members, sources, strict=True)):
            if time == source:
                known = self._values_of(segment, time)
            if isinstance(known, str):
                cells[time] = Cell(CellState.DAMAGED, error=known)
            elif spread is None:
                cells[time] = Cell(CellState.FIRST, known)
            else:
                distance = math.sqrt(float(spread[1].to_mean[place]))
                state = CellState.CHANGED if distance else CellState.EQUAL
                share = relative(distance, math.sqrt(spread[1].mean))
                cells[time] = Cell(state, known, distance, share)
        return cells

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
        for time in times:
            graph, key = graphs[time], self._rows[time].key
            if graph is not None and isinstance(graph.stored_in, Bundle):
                try:
                    stored = stored_ranges(graph.stored_in, key)
                    claims[time].add(stored)
                    ranges[time] = stored
                except CkptVizError as error:
                    self._errors[time] = str(error)
        left = [time for time in times if time not in self._errors]
        layouts = {tuple((part.size, part.shape) for part in parts) for parts in ranges.values()}
        if len(layouts) == 1 and len(ranges) == len(left):
            self._in_ranges(ranges)
        elif left:
            self._in_memory(graphs, left)

    def _in_ranges(self, ranges: dict[int, tuple[StoredRange, ...]]) -> None:
        layout = next(iter(ranges.values()))
        row = self._rows[next(iter(ranges))]
        size, units = ELEMENT_BYTES[str(row.dtype)] or 1, _units(row, len(layout))
        most = self._piece_bytes // size * size
        members: tuple[int, ...] = ()
        if self._is_compared:
            members, units = self._members(list(ranges))[1], 0
            most = max(_LEAST_PIECE, _MEMBERS_BYTES // len(members)) // size * size
        if units * size <= most and units:
            most = most // (units * size) * units * size
        else:
            units = 0
        fold = OverTime(units, members, is_whole=len(layout) == 1 and layout[0].size <= most)
        at = [ranges.get(time) for time in range(len(self._states))]
        self._segments.append(_Segment(list(ranges), Request(cut(fold, at, most))))

    def _in_memory(self, graphs: Sequence[Graph | None], times: list[int]) -> None:
        row = self._rows[times[0]]
        at: list[StoredRange | None] = [None] * len(self._states)
        values: list[Callable[[], bytes]] = [bytes] * len(self._states)
        for time in times:
            graph, key = graphs[time], self._rows[time].key
            assert graph is not None
            values[time] = partial(stored_value, graph, key, str(row.dtype))
            at[time] = StoredRange(graph.title, 0, 0, None, brief(key), str(row.dtype), row.shape)
        members = self._members(times)[1] if self._is_compared else ()
        fold = OverTime(0 if members else _units(row, 1), members, is_whole=True)
        request = in_memory(fold, at)
        self.memory.append((request, values))
        self._segments.append(_Segment(times, request))

    def _cells_of(self, segment: _Segment) -> dict[int, Cell]:
        cells: dict[int, Cell] = {}
        norm = first_norm = 0.0
        is_first, last = True, -1
        for time in segment.times:
            values = self._values_of(segment, time)
            if isinstance(values, str):
                cells[time] = Cell(CellState.DAMAGED, error=values)
                continue
            delta, total = segment.followed.since_last[time], segment.followed.since_first[time]
            state = self._states[time]
            if is_first or delta is None or total is None:
                state = state if state is CellState.RESHAPED else CellState.FIRST
                cells[time] = Cell(state, values)
            else:
                cells[time] = Cell(
                    CellState.CHANGED if delta.changed else CellState.EQUAL,
                    values,
                    delta.l2,
                    delta.share_of(norm),
                    delta.largest,
                    index_at(delta.at, values.shape),
                    delta.changed / delta.elements if delta.elements else 0.0,
                    math.inf if total.left_out else relative(total.l2, first_norm),
                    left_out=delta.left_out,
                )
                last = time
            norm = values.l2 or 0.0
            first_norm = norm if is_first else first_norm
            is_first = False
        if last >= 0:
            cells[last] = replace(cells[last], units=segment.followed.units)
        return cells

    def _values_of(self, segment: _Segment, time: int) -> ValueRow | str:
        """Return the statistics of a tensor, or why its bytes cannot be read."""
        measured = segment.followed.measured[time]
        if isinstance(measured, ValueRow):
            return with_statistics(self._rows[time], measured)
        if isinstance(measured, Measured):
            return filled(self._rows[time], measured.statistics)
        return measured or "its bytes were not read"


class _Segment(NamedTuple):
    """The times whose tensors have one dtype and shape, and what reads them."""

    times: list[int]
    request: Request

    @property
    def followed(self) -> Followed:
        """What became of the tensor, once all was read."""
        followed: Followed = self.request.value
        return followed


def _units(row: ValueRow, ranges: int) -> int:
    """Return the size of a tensor's last axis; 0 if it has no rows, or is in slices."""
    if row.shape is None or len(row.shape) < 2 or ranges > 1 or 0 in row.shape:
        return 0
    return row.shape[-1] if row.shape[-1] > 1 else 0


def stored_value(graph: Graph, key: str, dtype: str) -> bytes:
    """Return a tensor's value as little-endian bytes."""
    return encode(graph.read(key), dtype).tobytes()

"""Where a variable changed between two checkpoints: a map of |b - a| of at most 64 × 64 cells."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ckpt_viz.answers.timeline.plan import stored_value
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.errors import CkptVizError, FormatError, SourceError, UnsupportedError
from ckpt_viz.files.values.difference import as_numbers, index_at, native_patterns
from ckpt_viz.files.values.folds import Measured, joined_measured
from ckpt_viz.files.values.ranges import Piece, Request, cut, folded, in_memory
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, tensor_bytes
from ckpt_viz.formats.arrays.slices import SliceExtent
from ckpt_viz.formats.arrays.tensors import Array, numpy_dtype
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_ranges import stored_ranges
from ckpt_viz.formats.storage import checksums
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import listed, shape_words

MOST_CELLS = 64
"""The most rows, and the most columns, of a map."""
_READ_BYTES = 1 << 22  # 4 MiB of each checkpoint at a time
_MOST_WHOLE_BYTES = 1 << 30  # 1 GiB: a tensor that can only be read at once
_BLOCK = 1 << 17  # elements: as complex128 they and their differences take some 10 MiB
_LARGEST = sys.float_info.max


class MapState(str, Enum):
    """Whether there is a map, or why there is none."""

    MAPPED = "mapped"
    EQUAL = "equal"
    RESHAPED = "reshaped"
    ABSENT = "absent"
    NO_NUMBERS = "no_numbers"


@dataclass(frozen=True, eq=False)
class ChangeMap:
    """Where a variable differs between checkpoints a and b.

    Attributes:
        state: Whether there is a map. EQUAL: all elements have the same bits.
        words: What the map shows, or why there is none.
        matrix: The rows and columns of the tensor as a matrix. A tensor of rank 0 or 1 is one row.
            Of others, the first axes are the rows and the rest the columns, so that the matrix is
            as near to a square as it can be.
        means: float64, at most 64 × 64: of each block of the matrix the mean of |b - a|, over the
            elements that are finite in both; NaN where none is.
        broken: int64, as `means`: how many elements of the block are NaN or infinite in a or b.
        changed: How many elements have other bits.
        max_abs: The largest |b - a| of an element that is finite in both.
        at: The index of that element in the tensor; the first one if there are several.
    """

    state: MapState
    words: str
    matrix: tuple[int, int] | None = None
    means: Array | None = None
    broken: Array | None = None
    changed: int = 0
    max_abs: float | None = None
    at: tuple[int, ...] | None = None


def change_map(history: Record, row: int, a: int, b: int) -> ChangeMap:
    """Return where a variable of a history differs between two of its checkpoints.

    Reads both tensors, in ranges of 4 MiB, and tests them against their checksums. Tensors with
    equal checksums are not read. Complex numbers differ by the magnitude of their difference.

    Args:
        history: The checkpoints; of a `Record`, only `sources` are used.
        row: The number of the variable in its `rows`.
        a: The number of a checkpoint.
        b: The number of another one.

    Raises:
        SourceError: There is no such checkpoint or variable, or it cannot be opened.
        FormatError: Bytes are damaged or missing.
        UnsupportedError: A tensor of more than 1 GiB can only be read at once: in its format, or in
            slices that are no whole rows.
    """
    graphs = [history.opened(number) for number in (a, b)]
    if not 0 <= row < len(history.lines):
        raise SourceError(
            f"expected the number of a variable, 0 to {len(history.lines) - 1}; found {row}"
        )
    tensors = history.lines[row].tensors
    tensor_a, tensor_b = tensors[a], tensors[b]
    if tensor_a is None or tensor_b is None:
        lacking = [history.sources[n].title for n in sorted({a, b}) if tensors[n] is None]
        return ChangeMap(MapState.ABSENT, f"not in {listed(lacking)}")
    for tensor in (tensor_a, tensor_b):
        if tensor.error is not None:
            raise SourceError(tensor.error)
    if (tensor_a.dtype, tensor_a.shape) != (tensor_b.dtype, tensor_b.shape):
        kinds = f"{_kind(tensor_a)} in a, {_kind(tensor_b)} in b"
        return ChangeMap(MapState.RESHAPED, f"other shape or dtype: {kinds}")
    sides = list(zip(graphs, (tensor_a, tensor_b), strict=True))
    marks = [graph.fingerprint(tensor.key) for graph, tensor in sides]
    if a == b or (marks[0] is not None and marks[0] == marks[1]):
        return ChangeMap(MapState.EQUAL, "equal, bit by bit")
    dtype, shape = tensor_a.dtype, tensor_a.shape
    if dtype is None or shape is None or not _has_numbers(dtype):
        return ChangeMap(MapState.NO_NUMBERS, f"{dtype or 'unknown'} values have no difference")
    if 0 in shape:
        return ChangeMap(MapState.NO_NUMBERS, "it has no elements")
    cells = _Cells(dtype, shape)
    request = _read([(graph, tensor.key) for graph, tensor in sides], cells)
    if isinstance(request.value, str):
        raise FormatError(request.value)
    return cells.as_map()


def _read(sides: Sequence[tuple[Graph, str]], cells: _Cells) -> Request:
    """Read both tensors into the cells; raise CkptVizError if the bytes are missing."""
    fold, shape, dtype = _OfBoth(cells), cells.shape, cells.dtype
    layouts = {_layout(graph, key, shape) for graph, key in sides}
    if len(layouts) == 1 and None not in layouts:
        row = tensor_bytes(dtype, shape[1:]) or 1
        most = _READ_BYTES // row * row or _READ_BYTES
        ranges = [stored_ranges(graph.stored_in, key) for graph, key in sides]
        request = Request(cut(fold, ranges, most))
        deque(folded({0: request}, lambda _: most), maxlen=0)
        return request
    size = tensor_bytes(dtype, shape) or 0
    for graph, key in sides:
        if size > _MOST_WHOLE_BYTES:
            raise UnsupportedError(
                f"{graph.title}: {key}: has {size} bytes, and its format is read at once; "
                f"expected at most {_MOST_WHOLE_BYTES}"
            )
    request = in_memory(fold, [StoredRange(g.title, 0, 0, None, key, dtype) for g, key in sides])
    request.fold_in_memory([partial(stored_value, *side, dtype) for side in sides])
    return request


def _layout(graph: Graph, key: str, shape: tuple[int, ...]) -> tuple[SliceExtent, ...] | None:
    """Return the slices of a tensor, None if their bytes are not in the order of its elements."""
    if not isinstance(graph.stored_in, Bundle):
        return None
    slices: tuple[SliceExtent, ...] = graph.stored_in.entries[key].slices
    rows = 0
    for start, size in slices:
        if (start, size[1:]) != ((rows, *(0,) * len(shape[1:])), shape[1:]):
            return None
        rows += size[0]
    return slices


@dataclass(frozen=True)
class _OfBoth:
    """The fold that adds the elements of both checkpoints to cells, in their order."""

    cells: _Cells
    at_once: ClassVar[int] = _READ_BYTES

    def begin(self, piece: Piece) -> _BytesOfBoth:
        """Return what becomes of no bytes yet."""
        return _BytesOfBoth([])

    def joined(
        self, before: Sequence[Measured] | None, now: Sequence[bytes], piece: Piece
    ) -> Sequence[Measured] | str:
        """Return the checksums of both sides up to here; a text says that one differs."""
        crcs: list[Measured] = []
        patterns = []
        for side, (data, span) in enumerate(zip(now, piece.spans, strict=True)):
            of_piece = Measured(None, checksums.value(data))
            crc = joined_measured(before[side] if before else None, of_piece, span)
            if isinstance(crc, str):
                return crc
            crcs.append(crc)
            patterns.append(native_patterns(data, self.cells.dtype, span.stored.byte_order))
        first = piece.first // (ELEMENT_BYTES[self.cells.dtype] or 1)
        for start in range(0, len(patterns[0]), _BLOCK):
            was, after = (pattern[start : start + _BLOCK] for pattern in patterns)
            self.cells.add(was, after, first + start)
        return crcs

    def result_bytes(self, piece: Piece) -> int:
        """Return the bytes of both."""
        return piece.size


class _BytesOfBoth(NamedTuple):
    """The bytes of each checkpoint up to now."""

    of_sides: list[bytes]

    def take(self, time: int, chunks: Iterator[bytes]) -> None:
        self.of_sides.append(b"".join(chunks))

    def fail(self, time: int, error: CkptVizError) -> None:
        raise error

    def result(self) -> list[bytes]:
        return self.of_sides


def change_map_json(change: ChangeMap) -> dict[str, Any]:
    """Return a map as data for JSON: see docs/history.md."""
    data: dict[str, Any] = {"state": change.state.value, "words": change.words}
    if change.matrix is not None and change.means is not None and change.broken is not None:
        data["matrix"] = list(change.matrix)
        data["cells"] = [
            [float(mean) if math.isfinite(mean) else None for mean in line]
            for line in change.means.tolist()
        ]
        places = zip(*np.nonzero(change.broken), strict=True)
        data["broken"] = [[int(i), int(j), int(change.broken[i, j])] for i, j in places]
        data["changed"] = change.changed
    if change.max_abs is not None and change.at is not None:
        data |= {"max_abs": change.max_abs, "at": list(change.at)}
    return data


def matrix_of(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return the rows and columns of a tensor as a matrix, and how many axes are the rows.

    >>> matrix_of((64, 4, 16)), matrix_of((3, 3, 64, 128)), matrix_of((10,)), matrix_of(())
    ((64, 64, 1), (576, 128, 3), (1, 10, 0), (1, 1, 0))
    """
    if len(shape) < 2:
        return 1, math.prod(shape), 0
    splits = [
        (math.prod(shape[:axis]), math.prod(shape[axis:]), axis) for axis in range(1, len(shape))
    ]
    return min(splits, key=lambda split: abs(math.log(split[0]) - math.log(split[1])))


def _kind(row: ValueRow) -> str:
    return f"{shape_words(row.shape)} {row.dtype}"


def _has_numbers(dtype: str) -> bool:
    return dtype not in ("string", "variant", "resource") and numpy_dtype(dtype) is not None


class _Cells:
    """The sums of the cells up to now."""

    def __init__(self, dtype: str, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape = dtype, shape
        self._rows, self._columns, self._axes = matrix_of(shape)
        size = min(self._rows, MOST_CELLS), min(self._columns, MOST_CELLS)
        self._sums, self._broken = np.zeros(size), np.zeros(size, np.int64)
        self._largest, self._at, self._changed = -1.0, -1, 0

    def add(self, was: Array, now: Array, first: int) -> None:
        """Add elements that follow each other; `first` is the flat index of the first one."""
        is_other = was != now
        changed = is_other.any(axis=1) if is_other.ndim > 1 else is_other
        self._changed += int(np.count_nonzero(changed))
        with np.errstate(all="ignore"):  # a file may have any patterns, and sums may overflow
            sizes, is_finite = magnitudes(was, now, self.dtype)
            place = int(np.argmax(sizes))
            if sizes[place] > self._largest:
                self._largest, self._at = float(sizes[place]), first + place
            self._spread(self._sums, np.maximum(sizes, 0.0), first)
            if is_finite is not None:
                self._spread(self._broken, (~is_finite).astype(np.int64), first)

    def as_map(self) -> ChangeMap:
        """Return the map, after all elements."""
        if not self._changed:
            return ChangeMap(MapState.EQUAL, "equal, bit by bit")
        heights, widths = (
            np.diff(_edges(0, total, total, cells), append=total)
            for total, cells in zip((self._rows, self._columns), self._sums.shape, strict=True)
        )
        counts = np.outer(heights, widths) - self._broken
        with np.errstate(all="ignore"):
            means = np.minimum(self._sums / counts, _LARGEST)  # the sum of huge ones is infinite
        means[counts == 0] = np.nan
        return ChangeMap(
            MapState.MAPPED,
            self._words(),
            (self._rows, self._columns),
            means,
            self._broken,
            self._changed,
            self._largest if self._at >= 0 else None,
            index_at(self._at, self.shape),
        )

    def _spread(self, cells: Array, numbers: Array, first: int) -> None:
        """Add numbers to the cells of their elements."""
        done, columns = 0, self._columns
        while done < len(numbers):
            row, column = divmod(first + done, columns)
            left = len(numbers) - done
            is_whole = column == 0 and left >= columns
            rows = left // columns if is_whole else 1
            width = columns if is_whole else min(left, columns - column)
            part = numbers[done : done + rows * width].reshape(rows, width)
            across = _edges(column, width, columns, cells.shape[1])
            down = _edges(row, rows, self._rows, cells.shape[0])
            i, j = row * cells.shape[0] // self._rows, column * cells.shape[1] // columns
            sums = np.add.reduceat(np.add.reduceat(part, across, axis=1), down, axis=0)
            cells[i : i + len(down), j : j + len(across)] += sums
            done += rows * width

    def _words(self) -> str:
        down, across = self._sums.shape
        height, width = self._rows / down, self._columns / across
        content = "one element" if height == width == 1 else f"the mean of {_times(height, width)}"
        words = f"{down} × {across}, each cell {content}"
        rank = len(self.shape)
        if rank < 3:
            return words
        axes = [listed([str(axis) for axis in part], most=rank) for part in self._split(rank)]
        names = [f"axes {numbers}" if " " in numbers else f"axis {numbers}" for numbers in axes]
        return f"{words}; rows are {names[0]}, columns {names[1]}"

    def _split(self, rank: int) -> tuple[range, range]:
        return range(self._axes), range(self._axes, rank)


def magnitudes(was: Array, now: Array, dtype: str) -> tuple[Array, Array | None]:
    """Return |now - was| as float64, and which elements are finite in both.

    It is -1 for the others. All are finite if there is no second array.
    """
    if dtype in ("int64", "uint64"):  # a float64 does not have all of their digits
        before, after = (patterns.view(np.dtype(dtype)) for patterns in (was, now))
        up, down = _unsigned(now, was), _unsigned(was, now)
        return np.where(after >= before, up, down).astype(np.float64), None
    before, after = as_numbers(was, dtype), as_numbers(now, dtype)
    is_finite = np.isfinite(before) & np.isfinite(after)
    sizes = np.minimum(np.abs(after - before), _LARGEST)  # it may be more than a float64 holds
    if is_finite.all():
        return sizes, None
    return np.where(is_finite, sizes, -1.0), is_finite


def _unsigned(minuend: Array, subtrahend: Array) -> Array:
    """Return the difference of two integers' patterns as uint64; it wraps around."""
    difference: Array = minuend.view(np.uint64) - subtrahend.view(np.uint64)
    return difference


def _edges(begin: int, size: int, total: int, cells: int) -> Array:
    """Return where each cell begins that has any of `size` places from `begin` on, of `total`.

    The numbers count from `begin`. Place `i` is in the cell `i * cells // total`.
    """
    first, last = begin * cells // total, (begin + size - 1) * cells // total
    starts = [-(-cell * total // cells) - begin for cell in range(first, last + 1)]
    return np.maximum(np.array(starts, np.int64), 0)


def _times(height: float, width: float) -> str:
    sizes = " × ".join(f"{size:,.1f}".removesuffix(".0") for size in (height, width))
    return f"{sizes} elements"

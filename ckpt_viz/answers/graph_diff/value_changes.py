"""By how much values differ between two graphs: every byte is read once.

Tensors with equal checksums are equal, and hardly any of them is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass

from ckpt_viz.answers.graph_diff.change_sentence import NodeChange, node_change
from ckpt_viz.answers.graph_diff.value_change import ValueChange
from ckpt_viz.answers.graph_diff.value_comparison import (
    Comparer,
    by_checksums,
    differ_by_index,
    tensors_differ,
)
from ckpt_viz.answers.timeline.cells import Cell, CellState
from ckpt_viz.answers.timeline.lines import Line, lines_between
from ckpt_viz.answers.timeline.reading import Reader
from ckpt_viz.errors import CkptVizError, UnsupportedError
from ckpt_viz.files.values.places import in_layer_names
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.running import bar, progress_of, silent
from ckpt_viz.graphs.layers.parameters import counts
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph


@dataclass(frozen=True)
class ValueChanges:
    """The tensors that differ, the largest relative change first; `pairs` tells it by two keys.

    Counters come after all others. `common` is the number of tensors that both graphs have.
    `nodes` has how much each node of b differs, and those of its part, that were read.
    """

    rows: tuple[ValueChange, ...]
    pairs: dict[tuple[str, str], bool]
    common: int
    nodes: Mapping[int, NodeChange]


def value_changes(
    a: Graph,
    b: Graph,
    counterparts: Mapping[int, int],
    *,
    parts: Callable[[], Mapping[int, int]],
    executor: Executor | None = None,
    progress: bool = True,
) -> ValueChanges:
    """Return how the values of two graphs differ, by the counterpart in b of nodes of a.

    `parts` returns the part of each node of b: a part that changed is compared with all of its
    values, so those are read, too.
    """
    lines = [line for line in lines_between(a, b, counterparts) if None not in line.tensors]
    reader = Reader([a, b], lines)
    equal = Reader([a, b], _beside_changes(b, reader, parts), unchanged=True)
    total = reader.nbytes() + equal.nbytes()
    changes: list[tuple[ValueRow, Cell, Cell]] = []
    pairs: dict[tuple[str, str], bool] = {}
    nodes: dict[int, list[tuple[Cell, Cell]]] = {}
    with progress_of("diff", total, bar if progress else silent) as on_read:
        for _, row in equal.rows(executor, on_read):
            nodes.setdefault(row.node_id, []).append((row.cells[0], row.cells[1]))
        for number, row in reader.rows(executor, on_read):
            before, after = lines[number].tensors
            assert before is not None and after is not None
            first, second = row.cells
            if reader.reads(number):
                nodes.setdefault(after.node_id, []).append((first, second))
            is_known = second.state in (CellState.EQUAL, CellState.CHANGED)
            if is_known and second.l2 is not None:
                pairs[before.key, after.key] = second.state is CellState.CHANGED
            if second.state is CellState.UNREAD:  # strings, and values that only a program knows
                second = _compared(a, b, before.key, after.key)
                if second.error is None:
                    pairs[before.key, after.key] = second.state is CellState.CHANGED
            if second.state is not CellState.EQUAL:
                changes.append((after, first, second))
    named = in_layer_names(b, (row for row, _, _ in changes))
    rows = [_change(row, *cells) for row, (_, *cells) in zip(named, changes, strict=True)]
    of_nodes = {node: change for node, cells in nodes.items() if (change := node_change(cells))}
    return ValueChanges(tuple(sorted(rows, key=_size)), pairs, len(lines), of_nodes)


def _beside_changes(b: Graph, reader: Reader, parts: Callable[[], Mapping[int, int]]) -> list[Line]:
    """Return the parameters that the indexes know as equal, in parts where others may differ."""
    elements = b.parameters
    lines = [(reader.reads(number), line) for number, line in enumerate(reader.lines)]
    parameters = [each for each in lines if elements[each[1].latest.node_id]]
    if all(is_read for is_read, _ in parameters):
        return []
    part_of = parts()
    changing = {part_of.get(line.latest.node_id) for is_read, line in parameters if is_read}
    return [
        line
        for is_read, line in parameters
        if not is_read and part_of.get(line.latest.node_id) in changing
    ]


def _compared(a: Graph, b: Graph, key_in_a: str, key_in_b: str) -> Cell:
    try:
        differs: bool | None = tensors_differ(a, b, key_in_a, key_in_b)
    except UnsupportedError as error:
        # NumPy has no such values, an iterator's state, for example. Other bytes are other values.
        differs = differ_by_index(a, b, key_in_a, key_in_b)
        if differs is None:
            return Cell(CellState.UNREAD, error=str(error))
    except CkptVizError as error:
        return Cell(CellState.UNREAD, error=str(error))
    return Cell(CellState.CHANGED if differs else CellState.EQUAL)


def _change(row: ValueRow, first: Cell, second: Cell) -> ValueChange:
    return ValueChange(
        *(row.key, row.place, second.l2, second.relative, second.max_abs, second.at),
        *(second.changed, first.values, second.values, first.error or second.error),
        left_out=second.left_out,
    )


def _size(change: ValueChange) -> tuple[bool, bool, float, str]:
    """Return the sort key: other kinds and NaN, largest changes, counters, what is unreadable."""
    size = math.inf if change.relative is None or change.left_out else change.relative
    is_counter = change.b is not None and counts(change.b.shape, change.b.dtype)
    return change.error is not None, is_counter, -size, change.key


def by_values(a: Graph, b: Graph, changes: ValueChanges) -> Comparer:
    """Return a comparison that knows what was read, and reads what was not, such as strings.

    The answer is unknown for unreadable values: missing bytes, or values that only the program's
    own code knows.
    """
    by_checksum = by_checksums(a, b)

    def differ(left: Attribute, right: Attribute) -> bool | None:
        keys = left.checkpoint_key, right.checkpoint_key
        stored = a.tensor_keys(keys[0]), b.tensor_keys(keys[1])
        are_alike = len(stored[0]) == len(stored[1]) > 0
        pairs = [*zip(*stored, strict=True)] if are_alike else [keys]
        known = [changes.pairs.get(pair) for pair in pairs]
        if None not in known:
            return True in known
        differs = by_checksum(left, right)
        if differs is not None:
            return differs
        try:
            return any(tensors_differ(a, b, *pair) for pair in pairs)
        except CkptVizError:
            return None

    return differ

"""Which tensors of several checkpoints are one variable over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ckpt_viz.files.values.places import in_layer_names
from ckpt_viz.files.values.reading import Tensor, tensors_of
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.value_mapping import map_values

_Part = tuple[str, str]  # which tensor of a node: one of a table's, one of a variable's slices


@dataclass
class Line:
    """One variable over time: its tensor in each checkpoint, None where there is none."""

    tensors: list[ValueRow | None]

    @property
    def latest(self) -> ValueRow:
        """Its tensor in the last checkpoint that has it."""
        return next(row for row in reversed(self.tensors) if row is not None)


@dataclass(frozen=True)
class StructureMark:
    """The structure of a checkpoint differs from that of the one before.

    `at` is the number of the checkpoint. `new`, `gone` and `reshaped` are places of tensors.
    """

    at: int
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    reshaped: tuple[str, ...] = ()


@dataclass
class Lines:
    """All variables over time, and where the structure changes."""

    lines: list[Line] = field(default_factory=list)
    marks: list[StructureMark] = field(default_factory=list)

    def begin(self, times: int) -> Line:
        """Return a new variable, which no checkpoint has yet."""
        self.lines.append(Line([None] * times))
        return self.lines[-1]


def lines_of(graphs: Sequence[Graph | None]) -> Lines:
    """Return the variables of several checkpoints, in the order of the first that has each.

    Tensors of unchanged graphs belong together by key, others as a fix maps them. None is a
    checkpoint that cannot be opened.
    """
    lines = Lines()
    current: dict[str, Line] = {}  # by key in the checkpoint before
    ended: dict[str, Line] = {}
    before: Graph | None = None
    rows: dict[str, ValueRow] = {}
    for time, graph in enumerate(graphs):
        if graph is None:
            continue
        # Most checkpoints of a training have the nodes of the one before.
        is_alike = before is not None and before.nodes == graph.nodes and _has(graph, rows)
        rows = rows if is_alike else _rows_of(graph)
        names = {} if before is None else _renamed(before, graph, _kinds(current), rows)
        following: dict[str, Line] = {}
        for key, line in current.items():
            if key in names:
                following[names[key]] = line
            else:
                ended[key] = line
        for key, row in rows.items():
            if key not in following:
                following[key] = ended.pop(key) if key in ended else lines.begin(len(graphs))
            following[key].tensors[time] = row
        if before is not None:
            mark = _mark(time, current, following)
            lines.marks += [mark] if mark is not None else []
        current = {key: following[key] for key in rows}
        before = graph
    return lines


def lines_between(a: Graph, b: Graph, counterparts: Mapping[int, int]) -> list[Line]:
    """Return the tensors of two graphs, those of a pair of nodes together.

    `counterparts` has, by node of a, the node of b.
    """
    rows_of_b: dict[int, dict[_Part, ValueRow]] = {}
    for tensor in tensors_of(b):
        rows_of_b.setdefault(tensor.row.node_id, {})[_part(tensor)] = tensor.row
    lines: list[Line] = []
    for tensor in tensors_of(a):
        other = counterparts.get(tensor.row.node_id)
        of_counterpart = {} if other is None else rows_of_b.get(other, {})
        part = _part_in(of_counterpart, _part(tensor))
        lines.append(Line([tensor.row, of_counterpart.pop(part, None)]))
    left = (row for rows in rows_of_b.values() for row in rows.values())
    return [*lines, *(Line([None, row]) for row in left)]


def _part(tensor: Tensor) -> _Part:
    key = tensor.attribute.checkpoint_key
    return tensor.attribute.name, tensor.row.key.removeprefix(key)


def _part_in(rows: Mapping[_Part, ValueRow], part: _Part) -> _Part:
    """Return the part of another node: the first one if only an object's code knows its parts."""
    return part if part in rows else next(iter(rows), part)


def _rows_of(graph: Graph) -> dict[str, ValueRow]:
    """Return the tensors of a graph by key, with their places as people name them."""
    rows = in_layer_names(graph, (row for row, _ in tensors_of(graph)))
    return {row.key: row for row in rows}


def _has(graph: Graph, rows: Mapping[str, ValueRow]) -> bool:
    """Return whether a graph stores these tensors: equal nodes may have several tensors each."""
    for key, row in rows.items():
        stored = graph.stored(key)
        if stored is None or (stored.dtype, stored.shape) != (row.dtype, row.shape):
            return False
    return True


def _kinds(current: Mapping[str, Line]) -> dict[str, ValueRow]:
    return {key: line.latest for key, line in current.items()}


def _renamed(
    before: Graph, graph: Graph, was: Mapping[str, ValueRow], rows: Mapping[str, ValueRow]
) -> dict[str, str]:
    """Return the key of each tensor of one checkpoint in the next one, if that has it."""
    if was.keys() == rows.keys() and all(_are_alike(was[key], rows[key]) for key in was):
        return {key: key for key in was}
    new_keys: dict[str, str] = {}
    taken: set[str] = set()
    mapping = map_values(before, graph)
    for pair in (*mapping.pairs, *mapping.misfits):
        if mapping.is_by_shape(pair):
            continue
        old_node, new_node = before.nodes[pair.node], graph.nodes[pair.obj]
        for old, new in zip(old_node.attributes, new_node.attributes, strict=False):
            keys = before.tensor_keys(old.checkpoint_key), graph.tensor_keys(new.checkpoint_key)
            for key, name in zip(*keys, strict=False):
                if key in was and name in rows and name not in taken and key not in new_keys:
                    new_keys[key] = name
                    taken.add(name)
    for key in was:  # counters of checkpoints, and what only its place tells apart
        if key in rows and key not in new_keys and key not in taken:
            new_keys[key] = key
            taken.add(key)
    return new_keys


def _are_alike(row: ValueRow, other: ValueRow) -> bool:
    return (row.dtype, row.shape) == (other.dtype, other.shape)


def _mark(time: int, was: Mapping[str, Line], now: Mapping[str, Line]) -> StructureMark | None:
    lines_before, lines_now = set(map(id, was.values())), set(map(id, now.values()))
    new = [line for line in now.values() if id(line) not in lines_before]
    gone = [line for line in was.values() if id(line) not in lines_now]
    reshaped = []
    for line in now.values():
        earlier = next((row for row in reversed(line.tensors[:time]) if row is not None), None)
        row = line.tensors[time]
        if earlier is None or row is None or id(line) not in lines_before:
            continue
        if not _are_alike(earlier, row):
            reshaped.append(row.place)
    mark = StructureMark(
        time,
        tuple(row.place for line in new if (row := line.tensors[time]) is not None),
        tuple(line.latest.place for line in gone),
        tuple(reshaped),
    )
    return mark if mark.new or mark.gone or mark.reshaped else None

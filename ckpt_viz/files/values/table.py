"""The values of a graph's tensors as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any, overload

from ckpt_viz.errors import NoSuchTensorError, SourceError
from ckpt_viz.files.values.frame import frame_of
from ckpt_viz.files.values.places import in_layer_names
from ckpt_viz.files.values.row import COLUMNS, MAX_ROWS, Total, ValueRow
from ckpt_viz.formats.bundles.lost_files import LostFiles, lost_files
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.lookup import first_meant
from ckpt_viz.graphs.render.encodings import shown_on_stdout

_WORDS = ("key", "name", "dtype")
_MOST_COMPARED = 10_000  # names to compare with a wrong one


class ValueTable(Sequence[ValueRow]):
    """Statistics of stored tensors: a sequence of `ValueRow`, in the order of the outline.

    >>> table = cv.graph("ckpts/ckpt-3").values(progress=False)
    >>> table
    <ValueTable of ckpts/ckpt-3: 6 tensors>
    >>> table["net.head.w"].max
    4.0
    >>> table.problems  # the rows with a NaN, an infinity or damage
    ()

    `print` names tensors by their layers. `table["model.conv1.kernel"]` is the row of such a name,
    of a node's name as TensorFlow prints it, or of a checkpoint key.
    """

    def __init__(self, graph: Graph, rows: Sequence[ValueRow]) -> None:
        self._graph = graph
        self._rows = tuple(rows)

    @property
    def title(self) -> str:
        """The source: a path, or the class of a live object."""
        return self._graph.title

    @property
    def problems(self) -> tuple[ValueRow, ...]:
        """The rows with a NaN or an infinity, and those of tensors that cannot be read."""
        return tuple(row for row in self._rows if row.has_problem)

    @overload
    def __getitem__(self, place: int | str) -> ValueRow: ...
    @overload
    def __getitem__(self, place: slice) -> ValueTable: ...
    def __getitem__(self, place: int | str | slice) -> ValueRow | ValueTable:
        """Return a row by its position, checkpoint key or name; a part of the table.

        Raises NoSuchTensorError for a name of no row or of several, IndexError for a position.
        """
        if isinstance(place, slice):
            return ValueTable(self._graph, self._rows[place])
        return self._named(place) if isinstance(place, str) else self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[ValueRow]:
        return iter(self._rows)

    def __contains__(self, value: object) -> bool:
        return any(value in (row, row.key, row.name) for row in self._rows)

    def sorted(self, by: str, *, descending: bool | None = None) -> ValueTable:
        """Return the table in the order of a column; rows without a value come last.

        Args:
            by: key, name, dtype, count, nbytes, zeros, nan, inf, min, max, mean, std or l2.
            descending: Whether the largest comes first; None: for numbers, and not for words.

        Raises:
            SourceError: There is no such column.
        """
        if by not in COLUMNS:
            raise SourceError(f"expected a column to sort by, {', '.join(COLUMNS)}; found {by!r}")
        is_down = by not in _WORDS if descending is None else descending
        value: Callable[[ValueRow], Any] = lambda row: getattr(row, by)  # noqa: E731
        filled = [row for row in self._rows if value(row) is not None]
        empty = [row for row in self._rows if value(row) is None]
        return ValueTable(self._graph, [*sorted(filled, key=value, reverse=is_down), *empty])

    def total(self, name_or_node_id: str | int = 0) -> Total:
        """Return the statistics of this table's tensors in a subtree of the outline together.

        Args:
            name_or_node_id: The node at the top; a name is what `graph.node_id` takes. The default
                is the root.

        Raises:
            NoSuchNodeError: The graph has no such node, or several have this name.
        """
        top = name_or_node_id
        top = self._graph.node_id(top) if isinstance(top, str) else top
        below = _below(self._graph, top)
        rows = [row for row in self._rows if row.node_id in below]
        numbers = [row for row in rows if row.lengths is None]
        return Total(
            tensors=len(rows),
            unreadable=sum(row.error is not None for row in rows),
            count=sum(row.count or 0 for row in numbers),
            strings=sum(row.lengths.count for row in rows if row.lengths is not None),
            zeros=sum(row.zeros or 0 for row in numbers),
            nan=sum(row.nan or 0 for row in numbers),
            inf=sum(row.inf or 0 for row in numbers),
            l2=math.hypot(*(row.l2 for row in numbers if row.l2 is not None)),
            nbytes=sum(row.nbytes or 0 for row in rows),
        )

    def to_text(self, max_rows: int | None = MAX_ROWS) -> str:
        """Return the table for a terminal; None shows all rows. `print(table)` shows 40."""
        from ckpt_viz.files.values.table_text import table_text

        return table_text(self.title, self._named_by_layers, self._lost, max_rows)

    def to_json(self) -> dict[str, Any]:
        """Return the table as data for `json.dumps`: see docs/values_json.md."""
        from ckpt_viz.files.values.table_json import table_json

        return table_json(self.title, self._rows, self._lost)

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row for each tensor, and the fields of `ValueRow`.

        Raises UnsupportedError if pandas is not installed.
        """
        names = ValueRow.__slots__
        rows = ({name: getattr(row, name) for name in names} for row in self._rows)
        return frame_of(rows, names)

    def __str__(self) -> str:
        return shown_on_stdout(self.to_text())

    def __repr__(self) -> str:
        return shown_on_stdout(f"<ValueTable of {self.title}: {len(self._rows)} tensors>")

    def _repr_html_(self) -> str:
        from ckpt_viz.files.values.table_html import table_html

        return table_html(self.title, self._named_by_layers, self._lost)

    @property
    def _lost(self) -> tuple[LostFiles, ...]:
        return lost_files(self._graph.stored_in)

    @cached_property
    def _named_by_layers(self) -> tuple[ValueRow, ...]:
        return in_layer_names(self._graph, self._rows)

    def _named(self, name: str) -> ValueRow:
        matches = [row for row in self._rows if row.key == name]
        if not matches:
            shown = zip(self._rows, self._named_by_layers, strict=True)
            matches = [row for row, shown in shown if shown.place == name]
        if not matches:
            nodes = {*first_meant(self._graph.meanings(name))}
            matches = [row for row in self._rows if row.node_id in nodes]
        if len(matches) == 1:
            return matches[0]
        if matches:
            keys = ", ".join(row.key for row in matches[:3])
            raise NoSuchTensorError(
                f"{self.title}: {len(matches)} rows have the name {name!r}; use a key: {keys}"
            )
        rows = self._named_by_layers[:_MOST_COMPARED]
        known = [label for row in rows for label in (row.place, row.name, row.key)]
        close = get_close_matches(name, known, n=3)
        meant = f"; did you mean {' or '.join(close)}?" if close else ""
        raise NoSuchTensorError(f"{self.title}: no row {name!r} in this table of values{meant}")


def _below(graph: Graph, top: int) -> set[int]:
    """Return a node and all nodes below it in the outline."""
    if not 0 <= top < len(graph.nodes):
        graph.node_id(str(top))  # raises
    return set(graph.tree.below(top))

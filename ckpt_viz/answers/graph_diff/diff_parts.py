"""The parts of two compared graphs that people tell apart: layers, blocks, and single values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.nodes.printed_names import child_of
from ckpt_viz.graphs.overlay.overlay import Overlay


@dataclass(frozen=True)
class DiffParts:
    """The rows of a comparison's layers, as parts."""

    overlay: Overlay

    def children(self, row: int) -> Sequence[int]:
        """Return the rows inside of a row."""
        return self.overlay.layers.children[row]

    def is_closed(self, row: int) -> bool:
        """Return whether a row is a block or a run of parts, or holds values itself."""
        return row >= self._size or self._holds_values(row)

    def is_whole(self, row: int) -> bool:
        """Return whether a row is one part: a block, a layer, an optimizer, or a single value."""
        group = self.overlay.layers.group(row)
        if group is not None:
            return not group.is_alike
        is_optimizer = self.overlay.graph.nodes[row].role is Role.OPTIMIZER
        return is_optimizer or not self.children(row) or self._holds_values(row)

    @cached_property
    def of_nodes(self) -> Mapping[int, int]:
        """By node, the part that it is in, the parts in the order of the picture."""
        layers, parts = self.overlay.layers, dict[int, int]()
        stack = [(row, row) for row in reversed(self.children(ROOT))]
        while stack:
            row, part = stack.pop()
            if row < self._size:
                parts.update((node, part) for node in layers.path(row))
            is_inside = part != row or self.is_whole(row)
            stack += [(c, part if is_inside else c) for c in reversed(self.children(row))]
        return parts

    def place(self, row: int, name: str) -> str:
        """Return the path of a row of this name; runs, the trunk and private parts are no steps."""
        above = ".".join(reversed([*self._above(row)]))
        return child_of(above, name) if above else name

    def _above(self, row: int) -> Iterator[str]:
        layers = self.overlay.layers
        above = layers.parents[row]
        while above > ROOT and above != self._trunk:
            group = layers.group(above)
            if above not in layers.unnamed and (group is None or not group.is_alike):
                yield layers.title(above)
            above = layers.parents[above]

    @cached_property
    def _trunk(self) -> int:
        """The one part of the root that holds others: the paths of lines leave its name out."""
        nodes = self.overlay.graph.nodes
        holders = [
            row
            for row in self.children(ROOT)
            if any(self.children(c) for c in self.children(row))
            and (row >= self._size or nodes[row].role is not Role.OPTIMIZER)
        ]
        return holders[0] if len(holders) == 1 else ROOT

    def _holds_values(self, row: int) -> bool:
        nodes = self.overlay.graph.nodes
        return any(c < self._size and has_value(nodes[c]) for c in self.children(row))

    @property
    def _size(self) -> int:
        return len(self.overlay.graph.nodes)

"""The rows of the view of layers: layers, blocks and parts that are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes import walks
from ckpt_viz.graphs.nodes.nodes import ROOT, NotSaved
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.nodes.tree import NOWHERE


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """A row for several rows: the layers of a block, or parts that are alike.

    `first` and `last` are the names of its first and last member; a block has one name. `size` is
    the number of its members. Only an attribute that no checkpoint holds has none.
    """

    first: str
    last: str
    size: int
    is_alike: bool


@dataclass(frozen=True)
class Layers:
    """A place for every node that is not folded, by id; groups have the ids after those of nodes.

    `parents` is NOWHERE for the root and for nodes without a row of their own. Those are the
    `folded` ones, and those that share a row: `through` gives all nodes of such a row on one path,
    outermost first. `names` has what people call each node; the `unnamed` ones are private and add
    nothing to the title of their row. `hanging` counts by row the variables of a model that an
    optimizer alone holds: such a row is beside the other layers of that model. `lost` has the rows
    of attributes in which values are that no checkpoint holds.
    """

    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    groups: tuple[LayerGroup, ...]
    through: Mapping[int, tuple[int, ...]]
    folded: tuple[int, ...]
    unnamed: frozenset[int]
    hanging: Mapping[int, int]
    lost: Mapping[int, NotSaved]

    def path(self, row: int) -> tuple[int, ...]:
        """Return the nodes of a node's row on one path, outermost first."""
        return self.through.get(row, (row,))

    def group(self, row: int) -> LayerGroup | None:
        """Return the group of a row; None for a node."""
        count = len(self.parents) - len(self.groups)
        return None if row < count else self.groups[row - count]

    def title(self, row: int) -> str:
        """Return what people call a row: the names of all its nodes, "" for the root alone."""
        if (group := self.group(row)) is not None:
            return f"{group.first} … {group.last}" if group.is_alike else group.first
        return self._title(row, {})

    def titles_with(self, names: Mapping[int, str]) -> Mapping[int, str]:
        """Return the titles of the rows that have another title with other names of some nodes."""
        ends: dict[int, tuple[str, str]] = {}
        for row in reversed([*self.preorder()] if names else []):
            group, below = self.group(row), self.children[row]
            if group is None:
                if any(node_id in names for node_id in self.path(row)):
                    ends[row] = (self._title(row, names),) * 2
            elif below and (any if group.is_alike else all)(child in ends for child in below):
                own = ((self.title(child),) * 2 for child in (below[0], below[-1]))
                (first, _), (_, last) = map(ends.get, (below[0], below[-1]), own)
                ends[row] = (first, last)
        return {row: a if a == b else f"{a} … {b}" for row, (a, b) in ends.items()}

    def _title(self, row: int, names: Mapping[int, str]) -> str:
        first, *others = self.path(row)
        parts = [names.get(node, self.names[node]) for node in others if node not in self.unnamed]
        own = ROOT_NAME if row == ROOT and parts else names.get(first, self.names[first])
        return " · ".join([own, *parts])

    @cached_property
    def shown_in(self) -> tuple[int, ...]:
        """For each node the row that shows it; NOWHERE for a folded node."""
        shown = [NOWHERE] * (len(self.parents) - len(self.groups))
        for row in self.preorder():
            for node_id in self.path(row) if row < len(shown) else ():
                shown[node_id] = row
        return tuple(shown)

    def preorder(self) -> Iterator[int]:
        """Yield the id of every row, parents before children."""
        return walks.below(self.children)

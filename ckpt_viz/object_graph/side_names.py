"""The names of the nodes of a merged graph, where each side may have a name of its own.

A comparison shows what both sides have once. The base names these nodes, and the other graph names
them in its own column, and whatever it alone has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ckpt_viz.object_graph.names import LayerNames, NamedGraph, readable_name, without_root


def both_sides(paths: Iterable[str]) -> str:
    """Return the paths of one thing on two sides in one text: one path if these agree."""
    return " → ".join(dict.fromkeys(paths))


@dataclass(frozen=True)
class SideNames:
    """The names of the nodes of a merged graph: the base's ids, then those of the other's ghosts.

    `in_other` has the node of the other graph for each merged node that the other graph has.
    """

    base: NamedGraph
    other: NamedGraph | None = None
    in_other: Mapping[int, int] = field(default_factory=dict)

    def name(self, node_id: int) -> str:
        """Return what people call a merged node on its own side."""
        names, node = self._side(node_id)
        return names.name(node)

    def place(self, node_id: int) -> str:
        """Return the path of a merged node in the names that people give, on its own side."""
        names, node = self._side(node_id)
        return names.place(node)

    def place_of_both(
        self, in_other: tuple[str | None, Sequence[int]], in_base: tuple[str | None, Sequence[int]]
    ) -> str:
        """Return where a thing is on both sides: one path if these agree.

        Each argument has a name of the thing on that side, None for none, and its nodes in that
        graph, the thing first. Without nodes the name itself is the path.
        """
        sides = ((self._other or self._base, in_other), (self._base, in_base))
        paths = [
            names.place(nodes[0]) if nodes else without_root(name)
            for names, (name, nodes) in sides
            if name is not None
        ]
        return both_sides(paths)

    def readable_name(self, node_id: int) -> str:
        """Return TensorFlow's name of a merged node, on its own side."""
        names, node = self._side(node_id)
        return readable_name(names.graph, node)

    def name_in_other(self, node_id: int) -> str:
        """Return what people call a merged node in the other graph; "" if that lacks the node."""
        node = self.in_other.get(node_id)
        return "" if node is None or self._other is None else self._other.name(node)

    def label_in_other(self, node_id: int) -> str:
        """Return the local name of a merged node in the other graph; "" if that lacks the node."""
        node = self.in_other.get(node_id)
        return "" if node is None or self.other is None else self.other.tree.labels[node]

    def _side(self, node_id: int) -> tuple[LayerNames, int]:
        if node_id < len(self.base.nodes) or self._other is None:
            return self._base, node_id
        return self._other, self.in_other[node_id]

    @cached_property
    def _base(self) -> LayerNames:
        return LayerNames(self.base)

    @cached_property
    def _other(self) -> LayerNames | None:
        return None if self.other is None else LayerNames(self.other)

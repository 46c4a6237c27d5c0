"""The names of the nodes of a merged graph, where each side may have a name of its own.

A comparison shows what both sides have once. The base names these nodes, and the other graph names
them in its own column, and whatever it alone has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import readable_name, without_root
from ckpt_viz.graphs.object_graph.graph import Graph


def both_sides(paths: Iterable[str]) -> str:
    """Return the paths of one thing on two sides in one text: one path if these agree."""
    return " → ".join(dict.fromkeys(paths))


@dataclass(frozen=True)
class SideNames:
    """The names of the nodes of a merged graph: the base's ids, then those of the other's ghosts.

    `in_other` has the node of the other graph for each merged node that the other graph has.
    """

    base: Graph
    other: Graph
    in_other: Mapping[int, int]

    @classmethod
    def of_one(cls, graph: Graph) -> SideNames:
        """Return the names of a graph that has all nodes of both sides."""
        return cls(graph, graph, {})

    def name(self, node_id: int) -> str:
        """Return what people call a merged node on its own side."""
        if node_id < len(self.base.nodes):
            return self.base.names.name(node_id)
        return self.other.names.name(self.in_other[node_id])

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
        sides = ((self.other.names, in_other), (self.base.names, in_base))
        return both_sides(
            names.place(nodes[0]) if nodes else without_root(name)
            for names, (name, nodes) in sides
            if name is not None
        )

    def readable_name(self, node_id: int) -> str:
        """Return TensorFlow's name of a merged node, on its own side."""
        names, node = self._side(node_id)
        return readable_name(names.graph, node)

    @cached_property
    def readable_in_other(self) -> Mapping[int, str]:
        """TensorFlow's names in the other graph, of nodes that have another name in the base."""
        names = {
            place: readable_name(self.other, node)
            for place, node in self.in_other.items()
            if place < len(self.base.nodes) and node not in self._alike
        }
        return {place: name for place, name in names.items() if name != self.readable_name(place)}

    def meanings(self, name: str) -> Iterator[Sequence[int]]:
        """Yield the merged nodes that a name means as each kind of name: of the base, else other.

        The most exact kind comes first.
        """
        places = {node: place for place, node in sorted(self.in_other.items(), reverse=True)}
        kinds = zip(self.base.meanings(name), self.other.meanings(name), strict=True)
        for in_base, in_other in kinds:
            yield in_base or sorted(places[node] for node in in_other if node in places)

    def name_in_other(self, node_id: int) -> str:
        """Return what people call a merged node in the other graph; "" if that lacks the node."""
        node = self.in_other.get(node_id)
        return "" if node is None else self.other.names.name(node)

    def place_in_other(self, node_id: int) -> str:
        """Return the path of a merged node in the other graph; "" if that lacks the node."""
        node = self.in_other.get(node_id)
        return "" if node is None else self.other.names.place(node)

    def label_in_other(self, node_id: int) -> str:
        """Return the local name of a merged node in the other graph; "" if that lacks the node."""
        node = self.in_other.get(node_id)
        return "" if node is None else self.other.tree.labels[node]

    def is_held_elsewhere(self, node_id: int) -> bool:
        """Return whether another part holds a node in the other graph than in the base."""
        node = self.in_other.get(node_id)
        if node in (None, ROOT) or node_id >= len(self.base.nodes):
            return False
        holder = self.in_other.get(self.base.tree.parents[node_id])
        return holder != self.other.tree.parents[node]

    def _side(self, node_id: int) -> tuple[LayerNames, int]:
        is_of_base = node_id < len(self.base.nodes)
        return (
            (self.base.names, node_id) if is_of_base else (self.other.names, self.in_other[node_id])
        )

    @cached_property
    def _alike(self) -> set[int]:
        """Nodes of the other graph that surely have the name of their node in the base.

        Compares by edges, because the names in a deep graph are long.
        """
        places = {node: place for place, node in self.in_other.items()}
        alike = {ROOT} if places.get(ROOT) == ROOT else set()
        for node, (parent, label) in self.other.first_edges.items():
            slot = self.other.nodes[node].slot
            of_alike = slot is None or slot.optimizer is None or slot.optimizer in alike
            edge = self.base.first_edges.get(places.get(node, -1))
            if parent in alike and of_alike and edge == (places[parent], label):
                alike.add(node)
        return alike

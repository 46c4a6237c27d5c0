"""Subtrees of both sides with the same content: equal numbers for equal values below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.correspondence.full_names import without_number
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.object_graph.subtrees import EMPTY, joined, signatures, values_of


class Alike(NamedTuple):
    """Saved nodes and live objects whose subtrees are all equal."""

    nodes: list[int]
    objects: list[int]


@dataclass(frozen=True)
class Signatures:
    """A number for the subtree of each saved node and each live object.

    Equal subtrees of both sides have equal numbers. The number is EMPTY for a subtree without
    values, None for a node that leads to itself. With names, the full names of variables count,
    without the numbers with which Keras makes them unique.
    """

    _saved: Graph
    _live: Graph

    def of_saved(self, node: int, *, with_names: bool = False) -> int | None:
        """Return the signature of a saved node."""
        return (self._with_names if with_names else self._plain)[node]

    def of_live(self, obj: int, *, with_names: bool = False) -> int | None:
        """Return the signature of a live object."""
        found = self._with_names if with_names else self._plain
        return found[len(self._saved.nodes) + obj]

    def alike(self, signature: int | None) -> Alike:
        """Return all nodes of both sides with this signature; none if it proves nothing."""
        return self._alike.get(signature, Alike([], []))

    @cached_property
    def _both(self) -> Sequence[Node]:
        """The nodes of both sides, the live ones after the saved ones."""
        return joined(self._saved.nodes, self._live.nodes)

    @cached_property
    def _plain(self) -> Sequence[int | None]:
        return signatures(self._both, values_of)

    @cached_property
    def _with_names(self) -> Sequence[int | None]:
        return signatures(self._both, _names_and_values)

    @cached_property
    def _alike(self) -> Mapping[int | None, Alike]:
        found: dict[int | None, Alike] = {}
        size = len(self._saved.nodes)
        for place, signature in enumerate(self._plain):
            if signature not in (None, EMPTY):
                alike = found.setdefault(signature, Alike([], []))
                if place < size:
                    alike.nodes.append(place)
                else:
                    alike.objects.append(place - size)
        return found


def _names_and_values(node: Node) -> object:
    return tuple([without_number(a.full_name) for a in node.attributes]), values_of(node)

"""Subtrees of both sides with the same content: equal numbers for equal values below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ckpt_viz.graphs.nodes.subtrees import EMPTY, joined, signatures, values_of
from ckpt_viz.graphs.object_graph.graph import Graph


class Alike(NamedTuple):
    """Saved nodes and live objects whose subtrees are all equal."""

    nodes: list[int]
    objects: list[int]


@dataclass(frozen=True)
class Signatures:
    """A number for the subtree of each saved node and each live object.

    Equal subtrees of both sides have equal numbers. The number is EMPTY for a subtree without
    values, None for a node that leads to itself.
    """

    _saved: Graph
    _live: Graph

    def of_saved(self, node: int) -> int | None:
        """Return the signature of a saved node."""
        return self._plain[node]

    def of_live(self, obj: int) -> int | None:
        """Return the signature of a live object."""
        return self._plain[len(self._saved.nodes) + obj]

    def alike(self, signature: int | None) -> Alike:
        """Return all nodes of both sides with this signature; none if it proves nothing."""
        return self._alike.get(signature, Alike([], []))

    @cached_property
    def _plain(self) -> Sequence[int | None]:
        """The numbers of both sides, the live ones after the saved ones."""
        return signatures(joined(self._saved.nodes, self._live.nodes), values_of)

    @cached_property
    def _alike(self) -> Mapping[int | None, Alike]:
        by_signature: dict[int | None, Alike] = {}
        size = len(self._saved.nodes)
        for place, signature in enumerate(self._plain):
            if signature not in (None, EMPTY):
                alike = by_signature.setdefault(signature, Alike([], []))
                if place < size:
                    alike.nodes.append(place)
                else:
                    alike.objects.append(place - size)
        return by_signature

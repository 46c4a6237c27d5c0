"""Parts that a file and a program both have, though only one of them has values there.

Such a part is not new, and not gone: it may be not built, or be no place for these values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.nodes.places import same_places
from ckpt_viz.graphs.nodes.printed_names import NamedGraph
from ckpt_viz.matching.correspondence.sequences import INDEX

_Lookup = Callable[[int], int | None]


@dataclass(frozen=True)
class Emptied:
    """Tells such parts of a file and a program; `counterparts` has the saved nodes with theirs.

    An index leads to whatever is there now, so it tells nothing.
    """

    saved: NamedGraph
    live: NamedGraph
    counterparts: Mapping[int, int]

    def is_in_program(self, node: int) -> bool:
        """Return whether the program has a part without values for a saved part with values."""
        obj = self.counterparts.get(node) or _place_of(self.saved, node, self._places[0])
        return obj is not None and _is_empty(self.live, obj)

    def is_in_file(self, obj: int) -> bool:
        """Return whether the file has a part without values for a part of the program."""
        node = self._saved_parts.get(obj) or _place_of(self.live, obj, self._places[1])
        return node is not None and _is_empty(self.saved, node)

    @cached_property
    def _places(self) -> tuple[_Lookup, _Lookup]:
        return same_places(self.saved, self.live), same_places(self.live, self.saved)

    @cached_property
    def _saved_parts(self) -> Mapping[int, int]:
        return {obj: node for node, obj in self.counterparts.items()}


def _place_of(graph: NamedGraph, part: int, lookup: _Lookup) -> int | None:
    return None if INDEX.fullmatch(graph.tree.labels[part]) else lookup(part)


def _is_empty(graph: NamedGraph, part: int) -> bool:
    return not any(has_value(graph.nodes[node]) for node in graph.tree.below(part))

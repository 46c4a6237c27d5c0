"""Which objects of the program each saved value belongs to, wherever a restore puts it.

Three kinds of evidence identify a saved object. Local names that a person chose are strong: an
attribute, the key of a dict. The index in a sequence is weak: one inserted layer shifts the index
of all later layers. The order of the items that hold values is in between, and names of variables
show which item is which. If the items of both sides look alike, one by one, the index decides.

The lists of an optimizer repeat the model's content, so they count only for variables that the
model does not lead to. A slot variable belongs to its variable's counterpart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from ckpt_viz.mapping.alignment import aligned
from ckpt_viz.mapping.sequences import INDEX, Item, ItemReader, items_with_values, sequences
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Role

_MOST_CLAIMS = 8  # more objects for one node are no counterparts

Claims = Mapping[int, Sequence[int]]


def counterparts(saved: Graph, live: Graph, bound: Mapping[int, int], reader: ItemReader) -> Claims:
    """Return, by saved node, the live objects that it belongs to, as far as known.

    A node has several if its object was shared and no longer is. `bound` is where a restore puts
    each node; it counts if nothing contradicts it.
    """
    return _Walk(saved, live, bound, reader).claims()


class _Walk:
    """A walk through both graphs at once, from the roots on; it visits optimizers last."""

    def __init__(
        self, saved: Graph, live: Graph, bound: Mapping[int, int], reader: ItemReader
    ) -> None:
        self._saved, self._live, self._bound = saved, live, bound
        self._claims: dict[int, list[int]] = {}
        self._taken: set[int] | None = None  # the objects that the model leads to, once known
        self._queue: deque[tuple[int, int]] = deque()
        self._reader = reader

    def claims(self) -> Claims:
        self._claim(ROOT, ROOT)
        optimizers = list(self._walk())
        self._taken = {obj for objects in self._claims.values() for obj in objects}
        self._queue.extend(optimizers)
        list(self._walk())
        self._claim_slots()
        return self._claims

    def _walk(self) -> Iterator[tuple[int, int]]:
        """Walk on from all waiting nodes; yield the optimizers, which wait for the model."""
        while self._queue:
            node, obj = self._queue.popleft()
            sides = self._saved.nodes[node], self._live.nodes[obj]
            if self._taken is None and any(side.role is Role.OPTIMIZER for side in sides):
                yield node, obj
                continue
            for child, other in self._children(node, obj):
                self._claim(child, other)

    def _claim(self, node: int, obj: int) -> None:
        if self._taken is not None and (
            node in self._claims
            or obj in self._taken
            or self._saved.nodes[node].slot is not None
            or self._live.nodes[obj].slot is not None
        ):
            return
        known = self._claims.setdefault(node, [])
        if obj not in known[:_MOST_CLAIMS]:
            known.append(obj)
            if len(known) == 1:
                self._queue.append((node, obj))

    def _children(self, node: int, obj: int) -> Iterator[tuple[int, int]]:
        saved, live = self._saved.nodes[node].children, self._live.nodes[obj].children
        of_saved, of_live = sequences(saved), sequences(live)
        by_name = {child.local_name: child.node_id for child in reversed(live)}
        done: set[str] = set()
        for child in saved:
            match = INDEX.fullmatch(child.local_name)
            prefix = match[1] if match is not None else None
            if prefix is None or prefix not in of_saved or prefix not in of_live:
                if child.local_name in by_name:
                    yield child.node_id, by_name[child.local_name]
            elif prefix not in done:
                done.add(prefix)
                yield from self._items(of_saved[prefix], of_live[prefix])

    def _items(self, saved: Sequence[int], live: Sequence[int]) -> Iterator[tuple[int, int]]:
        if self._saved.nodes[saved[0]].slot is not None:
            return  # follows from the variables
        ours = self._reader.items(self._saved, saved)
        theirs = self._reader.items(self._live, live)
        if ours is None or theirs is None or _look_alike(ours, theirs):
            yield from zip(saved, live, strict=False)
            return
        places = {obj: j for j, obj in reversed(list(enumerate(live)))}
        known = {
            i: places[objects[0]]
            for i, node in enumerate(saved)
            if (objects := self._claims.get(node)) and objects[0] in places
        }
        for i, j in aligned(items_with_values(ours), items_with_values(theirs), known, self._bound):
            yield saved[i], live[j]

    def _claim_slots(self) -> None:
        slots = {
            (node.slot.optimizer, node.slot.variable, node.slot.name): obj
            for obj, node in enumerate(self._live.nodes)
            if node.slot is not None and node.slot.optimizer is not None
        }
        for node_id, node in enumerate(self._saved.nodes):
            slot = node.slot
            if slot is None or slot.optimizer is None:
                continue
            optimizers = self._claims.get(slot.optimizer)
            variables = self._claims.get(slot.variable)
            if optimizers and variables:
                obj = slots.get((optimizers[0], variables[0], slot.name))
                if obj is not None:
                    self._claims[node_id] = [obj]


def _look_alike(saved: Sequence[Item], live: Sequence[Item]) -> bool:
    return [item.look for item in saved] == [item.look for item in live]

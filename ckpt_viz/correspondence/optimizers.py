"""The optimizers that belong together, and what they keep besides slot variables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator

from ckpt_viz.correspondence.alignment import unique
from ckpt_viz.correspondence.items import value_of
from ckpt_viz.correspondence.names import canonical
from ckpt_viz.correspondence.pairing import PairedItems
from ckpt_viz.mapping.pairs import Certainty, Evidence
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import ROOT, Role

_WRAPPED = ("inner_optimizer", "base_optimizer")  # of a LossScaleOptimizer


class Optimizers:
    """Pairs the optimizers of two graphs whose variables are paired."""

    def __init__(self, paired: PairedItems, saved: Graph, live: Graph) -> None:
        self.paired, self.saved, self.live = paired, saved, live
        self.ours = _inner_optimizers(saved, paired.saved.items.in_optimizers)
        self.theirs = _inner_optimizers(live, paired.live.items.in_optimizers)

    def run(self) -> None:
        """Pair optimizers: by the variables of their slots, by path, or if each is the only one."""
        for (x, y), _ in self._votes().most_common():
            self.paired.add(x, y, Certainty.CERTAIN, Evidence.SLOT)
        free = self.paired.free(self.ours, self.theirs)
        paths = (lambda x: _path(self.saved, x)), (lambda y: _path(self.live, y))
        for x, y in unique(*free, *paths):
            self.paired.add(x, y, Certainty.CERTAIN, Evidence.PLACE)
        free = self.paired.free(*free)
        if len(free[0]) == len(free[1]) == 1:
            self.paired.add(free[0][0], free[1][0], Certainty.LIKELY, Evidence.ALONE)
        for pair in list(self.paired.by_node.values()):
            if self.saved.nodes[pair.node].role is Role.OPTIMIZER:
                self._values(pair.node, pair.obj)

    def _votes(self) -> Counter[tuple[int, int]]:
        owners: dict[int, set[int]] = defaultdict(set)
        for optimizer, variable in _slots(self.live):
            owners[variable].add(optimizer)
        votes: Counter[tuple[int, int]] = Counter()
        for optimizer, variable in _slots(self.saved):
            pair = self.paired.by_node.get(variable)
            if pair is not None:
                votes.update((optimizer, owner) for owner in owners.get(pair.obj, ()))
        return votes

    def _values(self, x: int, y: int) -> None:
        """Pair what two optimizers, and what wraps them, have besides slots, by local name."""
        certainty = self.paired.by_node[x].certainty
        tops = _outermost(self.saved, x), _outermost(self.live, y)
        self.paired.add(*tops, certainty, Evidence.HOLDER)
        for top, other in dict.fromkeys([(x, y), tops]):
            ours = self._values_of(self.saved, top, self.paired.by_node)
            theirs = self._values_of(self.live, other, self.paired.node_of)
            for node, obj in unique(list(ours), list(theirs), ours.get, theirs.get):
                self.paired.add(node, obj, certainty, Evidence.HOLDER)

    def _values_of(self, graph: Graph, optimizer: int, taken: Container[int]) -> dict[int, str]:
        """Return the values of an optimizer that are no slots, with their local names."""
        values = {
            node: canonical(graph.tree.labels[node])
            for node in _below(graph, optimizer)
            if node not in taken and value_of(graph.nodes[node]) is not None
        }
        return {node: label for node, label in values.items() if label}


def _slots(graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield the optimizer and the variable of each slot whose optimizer is known."""
    for node in graph.nodes:
        if node.slot is not None and node.slot.optimizer is not None:
            yield node.slot.optimizer, node.slot.variable


def _inner_optimizers(graph: Graph, below: Container[int]) -> list[int]:
    """Return the optimizers that wrap no other optimizer."""
    nodes = enumerate(graph.nodes)
    optimizers = [n for n, node in nodes if n in below and node.role is Role.OPTIMIZER]
    wrapping = {graph.tree.parents[node] for node in optimizers}
    return [node for node in optimizers if node not in wrapping]


def _path(graph: Graph, node: int) -> tuple[str, ...]:
    """Return the local names that lead to an optimizer, without those of what wraps it."""
    path = graph.path(node)
    return tuple(canonical(label) for label in path if label not in _WRAPPED)


def _outermost(graph: Graph, optimizer: int) -> int:
    while optimizer != ROOT and graph.tree.labels[optimizer] in _WRAPPED:
        optimizer = graph.tree.parents[optimizer]
    return optimizer


def _below(graph: Graph, optimizer: int) -> Iterator[int]:
    """Yield the nodes of an optimizer, without slots."""
    stack = [optimizer]
    while stack:
        node = stack.pop()
        yield node
        below = graph.tree.children[node]
        stack.extend(child for child in below if graph.nodes[child].slot is None)

"""The optimizers that belong together, and what they keep besides slot variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence

from ckpt_viz.graphs.nodes.name_evidence import paired_by_name
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.keras_optimizers import trained_variables
from ckpt_viz.matching.correspondence.alignment import unique
from ckpt_viz.matching.correspondence.items import value_of
from ckpt_viz.matching.correspondence.pairing import PairedItems
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, surest
from ckpt_viz.matching.name_rules.names import canonical

_WRAPPED = ("inner_optimizer", "base_optimizer")  # of a LossScaleOptimizer


class Optimizers:
    """Pairs the optimizers of two graphs whose variables are paired."""

    def __init__(self, paired: PairedItems, saved: Graph, live: Graph) -> None:
        self.paired, self.saved, self.live = paired, saved, live
        self.of_saved = _inner_optimizers(saved, paired.saved.items.in_optimizers)
        self.of_live = _inner_optimizers(live, paired.live.items.in_optimizers)

    def run(self) -> None:
        """Pair optimizers: by the variables of their slots, by path, or if each is the only one."""
        votes = self._votes()
        for (x, y), certainty in votes.items():
            if certainty is not Certainty.GUESS:
                self.paired.add(x, y, certainty, Evidence.SLOT)
        free = self.paired.free(self.of_saved, self.of_live)
        paths = (lambda x: _path(self.saved, x)), (lambda y: _path(self.live, y))
        for x, y in unique(*free, *paths):
            self.paired.add(x, y, Certainty.CERTAIN, Evidence.PLACE)
        self._by_words(*self.paired.free(*free))
        for x, y in votes:  # the optimizer of a guessed model is a guess, too
            self.paired.add(x, y, Certainty.GUESS, Evidence.SLOT)
        xs, ys = self.paired.free(*free)
        if len(xs) == len(ys) == 1:
            are_only = len(self.of_saved) == len(self.of_live) == 1
            sure = Certainty.LIKELY if are_only else Certainty.GUESS
            self.paired.add(xs[0], ys[0], sure, Evidence.ALONE)
        for pair in list(self.paired.by_node.values()):
            if self.saved.nodes[pair.node].role is Role.OPTIMIZER:
                self._values(pair.node, pair.obj)
                if pair.certainty is not Certainty.GUESS:
                    self._by_lists(pair.node, pair.obj)

    def _by_words(self, xs: Sequence[int], ys: Sequence[int]) -> None:
        """Pair optimizers whose names share words, if both keep equal values."""
        names = [self.saved.path(x) for x in xs], [self.live.path(y) for y in ys]
        for i, j in paired_by_name(*names).items():
            kept = _listed(self.saved, xs[i], ()), _listed(self.live, ys[j], ())
            if _values_of(self.saved, kept[0]) == _values_of(self.live, kept[1]):
                self.paired.add(xs[i], ys[j], Certainty.LIKELY, Evidence.WORDS)

    def _by_lists(self, x: int, y: int) -> None:
        """Pair what lists of trained variables have in one order, but not as other parts have it.

        Guesses that lists of equal values share are likely.
        """
        lists = trained_variables(self.saved.nodes, x), trained_variables(self.live.nodes, y)
        self._in_order(*self.paired.free(*lists))
        values = _values_of(self.saved, lists[0]), _values_of(self.live, lists[1])
        both = zip(*lists, strict=True) if values[0] == values[1] else ()
        agreed = {node for node, obj in both if self.paired.node_of.get(obj) == node}
        for node in agreed:
            self.paired.confirm(node, Evidence.LISTED)
        children, parents = self.paired.saved.items.children, self.paired.saved.items.parent
        for holder in {parents[node] for node in agreed if node in parents}:
            if holder in children and agreed.issuperset(children[holder]):
                self.paired.confirm(holder, Evidence.LISTED)

    def _in_order(self, xs: Sequence[int], ys: Sequence[int]) -> None:
        """Pair variables without counterparts if those that look alike come in one order.

        Where other parts lead to the variables on both sides, names told them apart.
        """
        looks = {x: _look(self.saved, x) for x in xs}, {y: _look(self.live, y) for y in ys}
        common = {*looks[0].values()} & {*looks[1].values()}
        nodes, objects = ([node for node in side if side[node] in common] for side in looks)
        hanging = {*self.saved.hanging.variables}, {*self.live.hanging.variables}
        if hanging[0].isdisjoint(nodes) is hanging[1].isdisjoint(objects):
            return
        if [looks[0][x] for x in nodes] == [looks[1][y] for y in objects]:
            for node, obj in zip(nodes, objects, strict=True):
                self.paired.add(node, obj, Certainty.LIKELY, Evidence.LISTED)

    def _votes(self) -> Mapping[tuple[int, int], Certainty]:
        """Return optimizers with slots of paired variables, and the surest pair of these.

        First come those with most, and between equals those that a plain restore binds.
        """
        owners: dict[int, set[int]] = defaultdict(set)
        for optimizer, variable in _slots(self.live):
            owners[variable].add(optimizer)
        certainties: dict[tuple[int, int], list[Certainty]] = defaultdict(list)
        for optimizer, variable in _slots(self.saved):
            pair = self.paired.by_node.get(variable)
            for owner in owners.get(pair.obj, ()) if pair is not None else ():
                certainties[optimizer, owner].append(self.paired.by_node[variable].certainty)

        def order(both: tuple[int, int]) -> tuple[int, bool]:
            return -len(certainties[both]), self.paired.bound.get(both[0]) != both[1]

        most_first = sorted(certainties, key=order)
        return {both: surest(*certainties[both]) for both in most_first}

    def _values(self, x: int, y: int) -> None:
        """Pair what two optimizers, and what wraps them, have besides slots, by local name."""
        certainty = self.paired.by_node[x].certainty
        tops = _outermost(self.saved, x), _outermost(self.live, y)
        self.paired.add(*tops, certainty, Evidence.HOLDER)
        for top, other in dict.fromkeys([(x, y), tops]):
            labels = _own_values(self.saved, top, self.paired.by_node)
            others = _own_values(self.live, other, self.paired.node_of)
            for node, obj in unique(list(labels), list(others), labels.get, others.get):
                self.paired.add(node, obj, certainty, Evidence.HOLDER)
        if self.paired.by_node[x].evidence is Evidence.WORDS:  # no slot is known as such
            lists = (
                _listed(self.saved, x, self.paired.by_node),
                _listed(self.live, y, self.paired.node_of),
            )
            for node, obj in zip(*lists, strict=False):
                self.paired.add(node, obj, certainty, Evidence.LISTED)


def shared_counters(saved: Graph, live: Graph, pairs: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield the counters and rates of divided optimizers with those of their further parts.

    These have counted the same steps: a part has its states from one optimizer, and no own one.
    """
    taken = {pair.obj for pair in pairs.values()}
    sources: dict[int, set[int | None]] = defaultdict(set)
    for node, obj, _, evidence in pairs.values():
        was, now = saved.nodes[node].slot, live.nodes[obj].slot
        if evidence is not Evidence.SLOT or was is None or now is None:
            continue
        if now.optimizer is not None and now.optimizer not in taken:
            sources[now.optimizer].add(was.optimizer)
    for part, optimizers in sources.items():
        (source, *others) = optimizers
        if source is not None and not others:
            labels = _own_values(saved, source, ())
            live_labels = _own_values(live, part, taken)
            both = list(labels), list(live_labels)
            for node, obj in unique(*both, labels.get, live_labels.get):
                if node in pairs:
                    yield Pair(node, obj, Certainty.LIKELY, Evidence.SHARED)


def _listed(graph: Graph, optimizer: int, taken: Container[int]) -> list[int]:
    """Return the values that an optimizer keeps in lists."""
    return [
        node
        for node in _below(graph, optimizer)
        if value_of(graph.nodes[node]) is not None
        and node not in taken
        and not canonical(graph.tree.labels[node])
    ]


def _look(graph: Graph, variable: int) -> tuple[object, str]:
    """Return what a variable holds, and the end of its full name: a kernel is no gamma."""
    node = graph.nodes[variable]
    names = [attribute.full_name.removesuffix(":0") for attribute in node.attributes]
    return value_of(node), "".join(names).rpartition("/")[2]


def _values_of(graph: Graph, nodes: Sequence[int]) -> list[object]:
    return [value_of(graph.nodes[node]) for node in nodes]


def _own_values(graph: Graph, optimizer: int, taken: Container[int]) -> dict[int, str]:
    """Return the values of an optimizer that are no slots, with their local names."""
    values = {
        node: canonical(graph.tree.labels[node])
        for node in _below(graph, optimizer)
        if node not in taken and value_of(graph.nodes[node]) is not None
    }
    return {node: label for node, label in values.items() if label}


def _slots(graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield the optimizer and the variable of each slot whose optimizer is known.

    Keras' files have the slots of a wrapped optimizer twice: here they are its own alone.
    """
    slots = [node.slot for node in graph.nodes if node.slot is not None]
    wrapping = _wrapping(graph, {slot.optimizer for slot in slots})
    for slot in slots:
        if slot.optimizer is not None and slot.optimizer not in wrapping:
            yield slot.optimizer, slot.variable


def _wrapping(graph: Graph, optimizers: Container[int | None]) -> set[int]:
    """Return the nodes that hold some of these optimizers."""
    nodes = [n for n, node in enumerate(graph.nodes) if node.role is Role.OPTIMIZER]
    return {graph.tree.parents[node] for node in nodes if node in optimizers}


def _inner_optimizers(graph: Graph, below: Container[int]) -> list[int]:
    """Return the optimizers that wrap no other optimizer."""
    nodes = enumerate(graph.nodes)
    optimizers = [n for n, node in nodes if n in below and node.role is Role.OPTIMIZER]
    wrapping = _wrapping(graph, range(len(graph.nodes)))
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

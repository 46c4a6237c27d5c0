"""Which optimizers of both sides belong together.

A `LossScaleOptimizer` of Keras 3 holds the optimizer that does the work. In Keras 2, it is that
optimizer's shadow: it has its slot variables and counters, and the loss scale in a part of its own.
In TensorFlow 2.2 and 2.3, it holds the other one as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import product

from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair, surer
from ckpt_viz.mapping.part_questions import alone
from ckpt_viz.mapping.parts import Parts
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.keras_optimizers import trained_variables
from ckpt_viz.object_graph.nodes import Role

_INNER = ("inner_optimizer", "base_optimizer")
_LOSS_SCALE, _DYNAMIC_SCALE = "loss_scale", "dynamic_scale"


def optimizer_pairs(saved: Parts, live: Parts, matched: Mapping[int, Pair]) -> Iterator[Pair]:
    """Yield optimizers with slots of the same variables, those on one path, then the only ones.

    `matched` are the pairs so far, also those that the caller adds as it reads these. A pair counts
    only if both of its parts are free then.
    """
    votes: Counter[tuple[int, int]] = Counter()
    surest: dict[tuple[int, int], Certainty] = {}
    owners = _optimizers_of(live.graph)
    for variable, optimizers in _optimizers_of(saved.graph).items():
        pair = matched.get(variable)
        if pair is None:
            continue
        for both in product(optimizers, owners.get(pair.obj, set())):
            votes[both] += 1
            surest[both] = surer(surest.get(both, pair.certainty), pair.certainty)
    for (node, obj), _ in votes.most_common():
        yield Pair(node, obj, surest[node, obj], Evidence.SLOT)
    for node, obj in alone(saved.optimizers, live.optimizers, saved.place, live.place):
        yield Pair(*_unwrapped(saved, node, live, obj), Certainty.CERTAIN, Evidence.PLACE)
    taken = {pair.obj for pair in matched.values()}
    ours = [node for node in saved.optimizers if node not in matched]
    theirs = [obj for obj in live.optimizers if obj not in taken]
    if len(ours) == len(theirs) == 1:
        both = _unwrapped(saved, ours[0], live, theirs[0])
        yield Pair(*both, Certainty.LIKELY, Evidence.ALONE)


def listed_alike(saved: Parts, live: Parts) -> dict[int, int]:
    """Return the live variable for each saved one at its place in an optimizer's list.

    Keras 3 lists what an optimizer trains. Lists count if they are as long, with the same dtypes
    and shapes in their order: of optimizers on one path, or of the only ones.
    """
    both = list(alone(saved.optimizers, live.optimizers, saved.place, live.place))
    if len(saved.optimizers) == len(live.optimizers) == 1:
        both = [(saved.optimizers[0], live.optimizers[0])]
    found: dict[int, int] = {}
    for node, obj in both:
        ours = trained_variables(saved.graph.nodes, node)
        theirs = trained_variables(live.graph.nodes, obj)
        if [saved.look[one] for one in ours] == [live.look[one] for one in theirs]:
            found |= zip(ours, theirs, strict=True)
    return found


def scale_holder(side: Parts, optimizer: int) -> int | None:
    """Return the part that holds the loss scale of an optimizer; None if it has none."""
    holders = [optimizer]
    if side.label(optimizer) in _INNER:
        holders.append(side.parent(optimizer))
    for holder in holders:
        for child in side.children[holder]:
            if side.label(child) == _LOSS_SCALE and side.children[child]:
                return child
            if side.label(child) == _DYNAMIC_SCALE:
                return holder
    return None


def _optimizers_of(graph: Graph) -> dict[int, set[int]]:
    """Return, by variable, the optimizers that have slot variables for it."""
    found: dict[int, set[int]] = defaultdict(set)
    for node in graph.nodes:
        if node.slot is not None and node.slot.optimizer is not None:
            found[node.slot.variable].add(node.slot.optimizer)
    return found


def _unwrapped(saved: Parts, node: int, live: Parts, obj: int) -> tuple[int, int]:
    """Return both optimizers; where one side alone wraps its own, that is the inner one."""
    inner = _inner(saved, node), _inner(live, obj)
    if (inner[0] is None) == (inner[1] is None):
        return node, obj
    return node if inner[0] is None else inner[0], obj if inner[1] is None else inner[1]


def _inner(side: Parts, optimizer: int) -> int | None:
    for child in side.children[optimizer]:
        if side.label(child) in _INNER and side.graph.nodes[child].role is Role.OPTIMIZER:
            return child
    return None

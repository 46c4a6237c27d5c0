"""Which node of a saved graph belongs to which of a live graph, wherever a restore puts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.gc_pause import gc_paused
from ckpt_viz.matching.correspondence.by_names import pairs_by_name
from ckpt_viz.matching.correspondence.descriptions import described
from ckpt_viz.matching.correspondence.of_exports import has_lists_alone, pairs_of_export
from ckpt_viz.matching.correspondence.optimizers import Optimizers
from ckpt_viz.matching.correspondence.pairing import PairedItems
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.rivals import make_guesses_of_rivals
from ckpt_viz.matching.correspondence.states import state_pairs, unsure_states
from ckpt_viz.matching.correspondence.unchanged import is_unchanged, pairs_as_bound
from ckpt_viz.matching.correspondence.whole_tree import WholeTree
from ckpt_viz.matching.name_rules.names import ChosenNames


def correspond(
    saved: Graph,
    live: Graph,
    *,
    given: Sequence[Pair] = (),
    bound: Mapping[int, int] | None = None,
) -> Mapping[int, Pair]:
    """Return what belongs together in the graphs of a checkpoint and a program, by saved node.

    TensorFlow's own way is the default: what a plain restore binds is a pair, unless names or
    content speak against it. A name-based checkpoint is compared by the scopes of its names, but
    two of them by their trees. Values of a pair may differ in dtype or shape.

    `given` are pairs that are certain. `bound` is what a restore binds that goes another way than
    TensorFlow's.
    """

    def pairs() -> Mapping[int, Pair]:
        others = [*_without_states(saved, live, given, bound), *_of_counters(saved, live)]
        return _with_states(saved, live, others)

    return gc_paused(pairs)


def _without_states(
    saved: Graph, live: Graph, given: Sequence[Pair], bound: Mapping[int, int] | None
) -> Iterable[Pair]:
    if saved.is_name_based and not live.is_name_based:
        return pairs_by_name(saved, live)
    bound = plain_restore(saved, live) if bound is None else dict(bound)
    if is_unchanged(saved, live, bound):
        return pairs_as_bound(saved, bound)
    if has_lists_alone(saved, bound):
        return pairs_of_export(saved, live)
    return _compared(saved, live, bound, given)


def _of_counters(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield the counters of saves: each belongs to its root, whatever happened to the parts."""
    node, obj = saved.save_counter, live.save_counter
    if node and obj:  # a hostile file can declare the root a counter
        yield Pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)


def _with_states(saved: Graph, live: Graph, others: Iterable[Pair]) -> dict[int, Pair]:
    """Return all pairs by node, in the order of the checkpoint."""
    pairs = {pair.node: pair for pair in others}
    taken = {pair.obj for pair in pairs.values()}
    is_free = any(
        node not in pairs for node in range(len(saved.nodes)) if node != saved.save_counter
    )
    for pair in [*state_pairs(saved, live, pairs)] if is_free else ():  # by what is paired so far
        if pair.node not in pairs and pair.obj not in taken:
            pairs[pair.node] = pair
            taken.add(pair.obj)
    pairs |= {pair.node: pair for pair in [*unsure_states(saved, live, pairs)]}
    places = {node: place for place, node in enumerate(saved.tree.preorder())}
    return {node: pairs[node] for node in sorted(pairs, key=lambda node: places.get(node, node))}


def _compared(
    saved: Graph, live: Graph, bound: dict[int, int], given: Sequence[Pair]
) -> Iterable[Pair]:
    sides = described(saved, live, ChosenNames.of(live))
    paired = PairedItems(*sides, bound)
    paired.give([*given, *_of_hanging(saved, live)])
    tree = WholeTree(paired)
    tree.run()
    make_guesses_of_rivals(paired)
    tree.rest_of_guesses()
    Optimizers(paired, saved, live).run()
    return paired.by_node.values()


def _of_hanging(saved: Graph, live: Graph) -> Iterator[Pair]:
    """Yield the variables below optimizers alone whose slots have one name for them on both sides.

    If one side trains fewer of them, the places in its list are those of other variables. Where a
    program made more layers before, Keras has given all names other numbers: they are no evidence.
    """
    was, now = saved.hanging.named_by_slots, live.hanging.named_by_slots
    if was.keys() <= now.keys() or now.keys() <= was.keys():
        for name in filter(now.__contains__, was):
            yield Pair(was[name], now[name], Certainty.LIKELY, Evidence.NAMES)


def plain_restore(saved: Graph, live: Graph) -> dict[int, int]:
    """Return the live object to which TensorFlow binds each saved node, by local names.

    It binds a node once, and an object to as many nodes as lead to it.
    """
    bound, queue = {ROOT: ROOT}, [ROOT]
    for node in queue:
        objects = {child.local_name: child.node_id for child in live.nodes[bound[node]].children}
        for child in saved.nodes[node].children:
            obj = objects.get(child.local_name)
            if obj is not None and child.node_id not in bound:
                bound[child.node_id] = obj
                queue.append(child.node_id)
    return bound

"""The mapping of a checkpoint to a program: every saved value, and where it belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.matching.correspondence.by_names import pairs_of_namesakes
from ckpt_viz.matching.correspondence.conversions import Conversion, Form, cast_of, conversion_of
from ckpt_viz.matching.correspondence.correspond import correspond
from ckpt_viz.matching.correspondence.optimizers import shared_counters
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.name_rules.full_names import FullNames


@dataclass(frozen=True)
class ValueMapping:
    """Where each saved value belongs.

    Attributes:
        pairs: The values with a place of their own dtype and shape, in saved order. A value that
            was shared has several.
        parts: The saved nodes without values, and the live objects that they became.
        misfits: Values whose counterpart has another dtype or shape.
        missing: The live objects with values that no saved value belongs to, each once.
        unused: The saved nodes with values that belong nowhere.
        conversions: How values of pairs change their form, by saved node and live object.
    """

    saved: Graph
    live: Graph
    pairs: tuple[Pair, ...]
    parts: Mapping[int, Pair]
    misfits: tuple[Pair, ...]
    missing: tuple[int, ...]
    unused: tuple[int, ...]
    conversions: Mapping[tuple[int, int], Conversion] = field(default_factory=dict)

    def is_by_shape(self, pair: Pair) -> bool:
        """Return whether only order or shape tells a pair of values.

        A slot variable goes with its variable. No function may take such a pair unasked.
        """
        slot = self.saved.nodes[pair.node].slot
        node = pair.node if slot is None else slot.variable
        return pair.certainty is Certainty.GUESS or {pair.node, node} & self._by_shape != set()

    @cached_property
    def _by_shape(self) -> frozenset[int]:
        return paired_by_shape(self.saved, self.live, (*self.parts.values(), *self.pairs))

    def without(self, waiting: Collection[int]) -> ValueMapping:
        """Return the mapping without values that only wait until an object is built."""
        return replace(self, unused=tuple(node for node in self.unused if node not in waiting))


_OF_SHAPE = (Evidence.CONTENT, Evidence.ORDER, Evidence.ALONE)


def paired_by_shape(saved: Graph, live: Graph, pairs: Iterable[Pair]) -> frozenset[int]:
    """Return the saved values whose names say nothing for their pair, without slot variables.

    A number in a file of Keras is no name, and says nothing against a pair.
    """
    chosen = FullNames.of(live).is_chosen

    def is_named(graph: Graph, node: int) -> bool:
        return not (graph.is_of_keras and graph.tree.labels[node].isdecimal())

    def names(graph: Graph, node: int) -> set[str]:
        full = {a.full_name for a in graph.nodes[node].attributes if chosen(a.full_name)}
        return {graph.tree.labels[node]} | full

    return frozenset(
        pair.node
        for pair in pairs
        if pair.evidence in _OF_SHAPE
        and has_value(saved.nodes[pair.node])
        and is_named(saved, pair.node)
        and is_named(live, pair.obj)
        and not (names(saved, pair.node) & names(live, pair.obj)) - {""}
    )


def map_values(
    saved: Graph,
    live: Graph,
    *,
    given: Sequence[Pair] = (),
    bound: Mapping[int, int] | None = None,
    casts: bool = False,
) -> ValueMapping:
    """Return where each value of a checkpoint belongs in a program; it reads no value.

    `live` is the graph of a program, or of a checkpoint that this program would save. `given` and
    `bound` are as in `correspond`. `casts` says that the call converts floating-point numbers.
    """
    counterparts = correspond(saved, live, given=given, bound=bound)
    taken = {pair.obj: node for node, pair in counterparts.items()}
    reached = {ROOT, *saved.first_edges}, {ROOT, *live.first_edges}
    pairs = [
        pair
        for pair in counterparts.values()
        if pair.node in reached[0] and pair.obj in reached[1] and has_value(saved.nodes[pair.node])
    ]
    valued = _valued(saved, reached[0]), _valued(live, reached[1])
    fitting: list[Pair] = []
    misfits: list[Pair] = []
    conversions: dict[tuple[int, int], Conversion] = {}
    for pair in pairs:
        conversion = conversion_of(saved, live, pair)
        if conversion is None and casts:
            conversion = cast_of(saved, live, pair.node, pair.obj)
        if conversion is None:
            (fitting if fits(saved, live, pair.node, pair.obj) else misfits).append(pair)
        elif conversion.form is Form.NONE:
            misfits.append(pair)
        else:
            fitting.append(pair)
            conversions[pair.node, pair.obj] = conversion
    if saved.is_name_based:
        namesakes = [*pairs_of_namesakes(saved, live, fitting)]
        fitting += (pair for pair in namesakes if pair.obj not in taken)
    elif bound is None:  # Keras' paths lead to a value once
        alone = [obj for obj in valued[1] if obj not in taken]
        shared = [*_shared(saved, live, counterparts, taken, alone)]
        shared += shared_counters(saved, live, counterparts)
        fitting += (
            pair
            for pair in shared
            if fits(saved, live, *pair[:2]) and conversion_of(saved, live, pair) is None
        )
    second = live.second_places
    filled = {*second, *(second.get(pair.obj, pair.obj) for pair in fitting)}
    used = {pair.node for pair in fitting}
    return ValueMapping(
        saved,
        live,
        _in_order(fitting),
        counterparts,
        tuple(misfits),
        tuple(obj for obj in valued[1] if obj not in filled),
        tuple(node for node in valued[0] if node not in used),
        conversions,
    )


def _in_order(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return pairs in saved order; of a value that was shared, that of its counterpart first."""
    return tuple(sorted(pairs, key=lambda p: (p.node, p.evidence is Evidence.SHARED, p.obj)))


def with_pairs(mapping: ValueMapping, pairs: Sequence[Pair]) -> ValueMapping:
    """Return the mapping with these pairs of values in place of all others of both sides."""
    nodes, objects = {pair.node for pair in pairs}, {pair.obj for pair in pairs}
    kept = [p for p in mapping.pairs if p.node not in nodes and p.obj not in objects]
    freed = {p.obj for p in mapping.pairs if p.node in nodes or p.obj in objects} - objects
    unplaced = {p.node for p in mapping.pairs if p.node in nodes or p.obj in objects} - nodes
    return replace(
        mapping,
        pairs=_in_order([*kept, *pairs]),
        parts={**mapping.parts, **{pair.node: pair for pair in pairs}},
        misfits=tuple(p for p in mapping.misfits if p.node not in nodes and p.obj not in objects),
        missing=tuple(sorted({*mapping.missing, *freed} - objects)),
        unused=tuple(sorted({*mapping.unused, *unplaced} - nodes)),
    )


def with_counters(mapping: ValueMapping, live: Graph) -> ValueMapping:
    """Return the mapping to a program whose root has its `save_counter`, if it counts saves.

    A counter that the file lacks keeps its value. A file that no `save` wrote has none to lack. A
    saved one that a new counter does not take stays in the file.
    """
    node, obj = mapping.saved.save_counter, live.save_counter
    if not obj or (node is None and mapping.saved.layout is not Layout.OBJECTS):
        return mapping
    if not node:
        return replace(mapping, missing=(*mapping.missing, obj))
    if live is mapping.live:
        return mapping
    pair = Pair(node, obj, Certainty.CERTAIN, Evidence.PLACE)
    if fits(mapping.saved, live, node, obj):
        return replace(with_pairs(mapping, [pair]), live=live)
    return mapping


def _valued(graph: Graph, reached: Set[int]) -> list[int]:
    """Return the nodes with values that a restore can reach, without the `save_counter`."""
    nodes = enumerate(graph.nodes)
    valued = (node_id for node_id, node in nodes if node_id in reached and has_value(node))
    return [node_id for node_id in valued if node_id != graph.save_counter]


def fits(saved: Graph, live: Graph, node: int, obj: int) -> bool:
    """Return whether a value can go into an object; what only the object's code knows fits."""
    was, now = saved.nodes[node], live.nodes[obj]
    if values_of(was) == values_of(now):
        return True
    if was.registered_saver != now.registered_saver:
        return False
    if any(not value.name for value in now.attributes):
        return bool(was.attributes)  # only the object's own code names its values
    if [value.name for value in was.attributes] != [value.name for value in now.attributes]:
        return False
    if any(value.dtype is None for value in now.attributes):
        return True
    return all(
        value.dtype == own.dtype and own.shape in (None, value.shape)  # None: it takes any shape
        for value, own in zip(was.attributes, now.attributes, strict=True)
    )


def _shared(
    saved: Graph,
    live: Graph,
    counterparts: Mapping[int, Pair],
    taken: Mapping[int, int],
    alone: Sequence[int],
) -> Iterator[Pair]:
    """Yield saved values that were shared, with the further objects that they became.

    `taken` are the objects with a counterpart, and `alone` those that have a value and none. The
    same local names lead to such an object as to the value, along another path of the file.
    """

    @cache
    def children(node: int) -> Mapping[str, int]:
        return {child.local_name: child.node_id for child in saved.nodes[node].children}

    def is_around(obj: int, node: int) -> bool:
        """Return whether a new part holds what a saved one became, under the old name."""
        inside = (child.node_id for child in live.nodes[obj].children)
        return node in counterparts and counterparts[node].obj in inside

    by_path: dict[int, int] = {}
    for obj in live.tree.preorder():
        parent, label = live.tree.parents[obj], live.tree.labels[obj]
        holder = by_path.get(parent)
        if obj in taken:
            by_path[obj] = taken[obj]
        elif holder is not None and INDEX.fullmatch(label) is None and label in children(holder):
            namesake = children(holder)[label]
            if not is_around(obj, namesake):
                by_path[obj] = namesake
    for obj in alone:
        node = by_path.get(obj)
        if node is not None and node in counterparts:
            yield Pair(node, obj, Certainty.LIKELY, Evidence.SHARED)

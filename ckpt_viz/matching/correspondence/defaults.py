"""What a restore does itself is the default: a value goes there unless evidence speaks against it.

Parts that look alike are a guess by their order alone, and a restore has an order, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import dropwhile

from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.slots.hanging import hanging_from_optimizers
from ckpt_viz.matching.correspondence.items import are_of_other_layers
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair, is_guess
from ckpt_viz.matching.correspondence.sequences import sequences
from ckpt_viz.matching.correspondence.states import state_pairs
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, fits, with_pairs
from ckpt_viz.matching.name_rules.full_names import FullNames, without_number


def with_defaults(
    mapping: ValueMapping,
    bound: Mapping[int, int],
    source_of: Mapping[int, int],
    *,
    raises: bool = False,
) -> ValueMapping:
    """Return the mapping with the places that a restore gives to values without a sure place.

    `bound` has the live object of each saved node, as a restore binds it, and `source_of` the saved
    node whose value it gives to each live object. Both go beyond an error, if it `raises`.
    """
    pairs = [*_Defaults(mapping, bound, source_of, raises).pairs()]
    if not pairs:
        return mapping
    nodes, objects = {pair.node for pair in pairs}, {pair.obj for pair in pairs}
    parts = {
        node: _as_bound(pair, bound)
        for node, pair in mapping.parts.items()
        if node in nodes or pair.obj not in objects
    }
    return with_pairs(replace(mapping, parts=parts), pairs)


def _as_bound(pair: Pair, bound: Mapping[int, int]) -> Pair:
    """Return a pair, likely in place of guessed if a restore makes it."""
    if is_guess(pair) and bound.get(pair.node) == pair.obj:
        return pair._replace(certainty=Certainty.LIKELY, evidence=Evidence.DEFAULT)
    return pair


@dataclass(frozen=True)
class _Defaults:
    mapping: ValueMapping
    bound: Mapping[int, int]
    source_of: Mapping[int, int]
    raises: bool

    def pairs(self) -> Iterator[Pair]:
        """Yield the values of the model, then those of optimizers."""
        new: list[Pair] = []
        for obj, node in self.source_of.items():
            is_guessed = (node, obj) in self._guessed
            if self._are_free(node, obj) and (is_guessed or not self._contradict(node, obj)):
                new.append(Pair(node, obj, Certainty.LIKELY, Evidence.DEFAULT))
        yield from new
        slots = [*self._slots_of({pair.node: pair for pair in new})] if new else []
        yield from slots
        known = {pair.node for pair in slots}, {pair.obj for pair in slots}
        for pair in self._agreed_guesses({pair.node for pair in new}):
            if pair.node not in known[0] and pair.obj not in known[1]:
                yield pair._replace(certainty=Certainty.LIKELY, evidence=Evidence.DEFAULT)

    def _slots_of(self, new: Mapping[int, Pair]) -> Iterator[Pair]:
        """Yield the slot variables of variables that have their place by default."""
        saved, live = self.mapping.saved, self.mapping.live
        for pair in state_pairs(saved, live, {**self.mapping.parts, **new}):
            slot = saved.nodes[pair.node].slot
            is_of_new = slot is not None and slot.variable in new
            if is_of_new and pair.evidence is Evidence.SLOT and fits(saved, live, *pair[:2]):
                yield pair._replace(certainty=Certainty.LIKELY, evidence=Evidence.DEFAULT)

    @cached_property
    def _guessed(self) -> frozenset[tuple[int, int]]:
        """The guesses: nothing fits better there, so other names do not speak against them.

        An error shows that something fits there that moved; names tell what moved with it.
        """
        if self.raises:
            return frozenset()
        return frozenset((p.node, p.obj) for p in self.mapping.pairs if is_guess(p))

    def _are_free(self, node: int, obj: int) -> bool:
        """Return whether a value of the model and an object have no sure counterparts, and fit."""
        saved, live = self.mapping.saved, self.mapping.live
        return (
            obj < len(live.nodes)  # a restore also makes slot variables
            and node not in self._settled[0]
            and obj not in self._settled[1]
            and has_value(saved.nodes[node])
            and fits(saved, live, node, obj)
            and (saved.is_name_based or not self._is_of_optimizer(node, obj))
            and node not in self._behind_changes
        )

    def _is_of_optimizer(self, node: int, obj: int) -> bool:
        """Return whether a value is an optimizer's own; a model's may hang from its list alone."""
        return node in self._of_optimizers[0] or obj in self._of_optimizers[1]

    @cached_property
    def _of_optimizers(self) -> tuple[set[int], set[int]]:
        """The saved nodes and the live objects that belong to optimizers."""
        return _of_optimizers(self.mapping.saved), _of_optimizers(self.mapping.live)

    @cached_property
    def _behind_changes(self) -> frozenset[int]:
        """The saved nodes in items of a sequence that an error shows to have moved.

        These are from the first item on with a value of another shape, or with none that fits. A
        value that was resized has not moved.
        """
        if not self.raises:
            return frozenset()
        saved, live = self.mapping.saved, self.mapping.live
        resized = {pair[:2] for pair in self.mapping.misfits if not is_guess(pair)}
        filled, misfits, unbound = groups = set[int](), set[int](), set[int]()
        order = [*saved.tree.preorder()]
        for node in (n for n in order if has_value(saved.nodes[n]) and saved.nodes[n].slot is None):
            obj = self.bound.get(node, len(live.nodes))
            group = unbound
            if obj < len(live.nodes):
                is_in_place = (node, obj) in resized or fits(saved, live, node, obj)
                group = filled if is_in_place else misfits
            group.add(node)
        for group in groups:  # what holds such values, too
            group.update(saved.tree.parents[node] for node in reversed(order) if node in group)
        moved = misfits | (unbound - filled)
        behind = set[int]()
        for node in order:
            for items in sequences(saved.nodes[node].children).values():
                behind.update(dropwhile(lambda item: item not in moved, items))
            if saved.tree.parents[node] in behind:
                behind.add(node)
        return frozenset(behind)

    @cached_property
    def _settled(self) -> tuple[frozenset[int], frozenset[int]]:
        """The saved nodes and the live objects of sure pairs."""
        pairs = [
            pair
            for pair in (*self.mapping.pairs, *self.mapping.misfits)
            if pair.certainty is not Certainty.GUESS
        ]
        return frozenset(p.node for p in pairs), frozenset(p.obj for p in pairs)

    def _agreed_guesses(self, new: Set[int]) -> Iterator[Pair]:
        """Yield the guesses for an optimizer's slot variables and counters that a restore shares.

        A slot waits for its variable, which is in a sure place or is `new`; Keras' files have their
        own order of slots. The places in its lists are no evidence: full names may be theirs alone.
        A number in Keras' file tells nothing of a state without an owner if variables of its shape
        are open.
        """
        saved, live = self.mapping.saved, self.mapping.live
        for pair in self.mapping.pairs:
            if is_guess(pair) and self.bound.get(pair.node) == pair.obj:
                slot, holder = saved.nodes[pair.node].slot, saved.tree.parents[pair.node]
                is_listed = saved.nodes[holder].role is Role.OPTIMIZER
                now = live.nodes[pair.obj].slot if saved.is_of_keras else None
                if now is not None and values_of(live.nodes[now.variable]) in self._open_looks:
                    is_listed = False
                variable = pair.node if slot is None else slot.variable
                has_place = variable in new or variable in self._settled[0] or saved.is_of_keras
                if has_place if slot is not None else is_listed:
                    yield pair

    @cached_property
    def _open_looks(self) -> frozenset[object]:
        """The looks of the model's values that have no sure counterparts."""
        sides = zip(
            (self.mapping.saved, self.mapping.live), self._settled, self._of_optimizers, strict=True
        )
        return frozenset(
            values_of(graph.nodes[node])
            for graph, settled, aside in sides
            for node in graph.tree.preorder()
            if has_value(graph.nodes[node]) and node not in settled and node not in aside
        )

    def _contradict(self, node: int, obj: int) -> bool:
        """Return whether a person gave two values, or the layers around them, different names.

        So it is if one of them is in a layer whose name another layer of the other side has, and if
        Keras calls them otherwise.
        """
        if are_of_other_layers(self.mapping.saved, node, self.mapping.live, obj):
            return True
        names = zip(_names(self.mapping.saved, node), _names(self.mapping.live, obj), strict=True)
        if any(was != now for was, now in names if self._is_chosen(was, now)):
            return True
        saved, live = self.mapping.saved, self.mapping.live
        was, now = self._names_above(saved, node), self._names_above(live, obj)
        return not (was - now).isdisjoint(live.own_names) or not (now - was).isdisjoint(
            saved.own_names
        )

    def _names_above(self, graph: Graph, node: int) -> set[str]:
        """Return the names that a person gave to the layers around a value."""
        names = (graph.nodes[holder].own_name for holder in graph.tree.above(node))
        return {name for name in names if name and self._is_chosen(name)}

    def _is_chosen(self, *names: str) -> bool:
        return all(name and self._full_names.is_chosen(name) for name in names)

    @cached_property
    def _full_names(self) -> FullNames:
        return FullNames.of(self.mapping.live)


def _names(graph: Graph, node: int) -> tuple[str, str]:
    """Return the name of the layer that holds a value, and the value's full name."""
    holder, attributes = graph.tree.parents[node], graph.nodes[node].attributes
    full_name = attributes[0].full_name.removesuffix(":0") if attributes else ""
    own_name = graph.nodes[holder].own_name if holder >= 0 else None
    return own_name or "", without_number(full_name) if "/" in full_name else ""


def _of_optimizers(graph: Graph) -> set[int]:
    """Return slot variables, and what is below optimizers; no model's variable hangs from one."""
    nodes, parents = graph.nodes, graph.tree.parents
    below: set[int] = set()
    for node in graph.tree.preorder():
        if nodes[node].role is Role.OPTIMIZER or parents[node] in below:
            below.add(node)
    slots = {node_id for node_id, node in enumerate(nodes) if node.slot is not None}
    return (below | slots).difference(hanging_from_optimizers(nodes).variables)

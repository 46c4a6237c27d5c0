"""What a restore does itself is the default: a value goes there unless evidence speaks against it.

Parts that look alike are a guess by their order alone, and a restore has an order, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ckpt_viz.correspondence.full_names import FullNames, without_number
from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair, is_guess
from ckpt_viz.correspondence.value_mapping import ValueMapping, fits, with_pairs
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.hanging import hanging_from_optimizers
from ckpt_viz.object_graph.nodes import Role, has_value


def with_defaults(
    mapping: ValueMapping, bound: Mapping[int, int], source_of: Mapping[int, int]
) -> ValueMapping:
    """Return the mapping with the places that a restore gives to values without a sure place.

    `bound` has the live object of each saved node, as a restore that returns binds it, and
    `source_of` the saved node whose value each live object has afterwards.
    """
    pairs = [*_Defaults(mapping, bound, source_of).pairs()]
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

    def pairs(self) -> Iterator[Pair]:
        """Yield the values of the model, then those of optimizers."""
        new: set[int] = set()
        for obj, node in self.source_of.items():
            is_guessed = (node, obj) in self._guessed
            if self._are_free(node, obj) and (is_guessed or not self._contradict(node, obj)):
                new.add(node)
                yield Pair(node, obj, Certainty.LIKELY, Evidence.DEFAULT)
        for node, obj in self._agreed_guesses():
            slot = self.mapping.saved.nodes[node].slot
            if slot is None or slot.variable in new or slot.variable in self._settled[0]:
                yield Pair(node, obj, Certainty.LIKELY, Evidence.DEFAULT)

    @cached_property
    def _guessed(self) -> frozenset[tuple[int, int]]:
        """The guesses: nothing fits better there, so other names do not speak against them."""
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
        )

    def _is_of_optimizer(self, node: int, obj: int) -> bool:
        """Return whether a value is an optimizer's own; a model's may hang from its list alone."""
        return node in self._of_optimizers[0] or obj in self._of_optimizers[1]

    @cached_property
    def _of_optimizers(self) -> tuple[set[int], set[int]]:
        """The saved nodes and the live objects that belong to optimizers."""
        return _of_optimizers(self.mapping.saved), _of_optimizers(self.mapping.live)

    @cached_property
    def _settled(self) -> tuple[frozenset[int], frozenset[int]]:
        """The saved nodes and the live objects of sure pairs."""
        pairs = [
            pair
            for pair in (*self.mapping.pairs, *self.mapping.misfits)
            if pair.certainty is not Certainty.GUESS
        ]
        return frozenset(p.node for p in pairs), frozenset(p.obj for p in pairs)

    def _agreed_guesses(self) -> Iterator[tuple[int, int]]:
        """Yield the guesses for an optimizer's slot variables and counters that a restore shares.

        The places in its lists are no evidence: full names may be theirs alone.
        """
        saved = self.mapping.saved
        for pair in self.mapping.pairs:
            if is_guess(pair) and self.bound.get(pair.node) == pair.obj:
                holder = saved.nodes[saved.tree.parents[pair.node]]
                if saved.nodes[pair.node].slot is not None or holder.role is Role.OPTIMIZER:
                    yield pair.node, pair.obj

    def _contradict(self, node: int, obj: int) -> bool:
        """Return whether a person gave two values, or the layers around them, different names."""
        names = zip(_names(self.mapping.saved, node), _names(self.mapping.live, obj), strict=True)
        return any(was != now for was, now in names if self._is_chosen(was, now))

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

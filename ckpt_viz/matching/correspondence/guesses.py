"""The parts of a checkpoint of which only a person can tell whether their values belong there.

Of some, the place is a guess. Others have a place of another shape, so a part of them could be
copied, if its elements mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.nodes.nodes import ROOT, Role
from ckpt_viz.graphs.nodes.printed_names import NamedGraph
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.correspondence.conversions import cast_of
from ckpt_viz.matching.correspondence.pairs import Certainty, Pair, is_guess
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from ckpt_viz.matching.name_rules.names import canonical

_MOST_NAMED = 3
_OF_RECURRENT = "recurrent_kernel"


class GuessedPart(NamedTuple):
    """A part of the checkpoint, and the part of the program to which its values may belong.

    `saved` and `live` are the names of people. `node` is the saved part, `nodes` are its values.
    `copied` says which of their elements could be copied into values of another shape; it is empty
    for values whose place is a guess.
    """

    node: int
    saved: str
    live: str
    nodes: frozenset[int]
    copied: str = ""


def guessed_values(mapping: ValueMapping) -> list[Pair]:
    """Return the pairs of values that are guesses."""
    return [pair for pair in mapping.pairs if is_guess(pair)]


def guessed_parts(mapping: ValueMapping) -> list[GuessedPart]:
    """Return the saved parts that hold guesses, in saved order; a slot goes with its variable.

    A part that is a guess as a whole is one, with all that is in it.
    """
    guessed = {pair.node for pair in guessed_values(mapping)}
    pairs: dict[int, list[Pair]] = {}
    for pair in guessed_values(mapping):
        slot = mapping.saved.nodes[pair.node].slot
        variable = slot.variable if slot is not None and slot.variable in guessed else pair.node
        pairs.setdefault(_whole_part(mapping, variable), []).append(pair)
    return [_guessed_part(mapping, part, inside) for part, inside in pairs.items()]


def _whole_part(mapping: ValueMapping, node: int) -> int:
    """Return the highest part around a guessed value that is a guess as a whole."""
    tree, parts = mapping.saved.tree, mapping.parts
    part = _part(mapping.saved, node)
    while tree.parents[part] > ROOT and (above := parts.get(tree.parents[part])) is not None:
        if not is_guess(above):
            break
        part = tree.parents[part]
    return part


def _guessed_part(
    mapping: ValueMapping, part: int, inside: Sequence[Pair], copied: str = ""
) -> GuessedPart:
    """Return a saved part with these pairs; its own values tell its name in the program."""
    nodes = {pair.node for pair in inside}
    slots = ((pair, mapping.saved.nodes[pair.node].slot) for pair in inside)
    own = [pair for pair, slot in slots if slot is None or slot.variable not in nodes]
    is_whole = any(_part(mapping.saved, pair.node) != part for pair in own)
    return GuessedPart(
        part,
        mapping.saved.names.place_or_state(part),
        mapping.live.names.place_or_state(mapping.parts[part].obj)
        if is_whole
        else _live_names(mapping.live.names, [pair.obj for pair in own]),
        frozenset(nodes),
        copied,
    )


def copies_in_part(mapping: ValueMapping) -> list[Pair]:
    """Return the pairs of values whose shapes differ in sizes alone, into live variables."""
    saved, live = mapping.saved, mapping.live
    if live.origin is not Origin.LIVE or saved.is_name_based:
        return []
    return [pair for pair in mapping.misfits if _has_common_elements(saved, live, pair)]


def casts_of(mapping: ValueMapping) -> list[Pair]:
    """Return the pairs of values into live variables of another floating-point dtype alone."""
    saved, live = mapping.saved, mapping.live
    if live.origin is not Origin.LIVE or saved.is_name_based:
        return []
    sure = (pair for pair in mapping.misfits if pair.certainty is not Certainty.GUESS)
    return [pair for pair in sure if cast_of(saved, live, *pair[:2]) is not None]


def _has_common_elements(saved: Graph, live: Graph, pair: Pair) -> bool:
    was, now = saved.nodes[pair.node].attributes, live.nodes[pair.obj].attributes
    if pair.certainty is Certainty.GUESS or not len(was) == len(now) == 1:
        return False
    shapes = was[0].shape, now[0].shape
    if None in shapes or was[0].dtype != now[0].dtype or was[0].dtype == "string":
        return False
    before, after = _shape(saved, pair.node), _shape(live, pair.obj)
    if before[-1:] != after[-1:] and (_has_gates(saved, pair.node) or _has_gates(live, pair.obj)):
        return False
    is_variable = live.nodes[pair.obj].role in (Role.VARIABLE, Role.SLOT)
    return is_variable and len(before) == len(after) and min((*before, *after), default=0) > 0


def _has_gates(graph: Graph, node: int) -> bool:
    """Return whether the last axis of a value has the units of several gates, one after another.

    Of other units, the first elements are those of other gates.
    """
    slot, tree = graph.nodes[node].slot, graph.tree
    holder = tree.parents[node if slot is None else slot.variable]
    beside = tree.children[holder] if holder >= 0 else ()
    return any(canonical(tree.labels[child]) == _OF_RECURRENT for child in beside)


def parts_to_copy(mapping: ValueMapping) -> list[GuessedPart]:
    """Return the saved parts in which one size is another, in saved order.

    Where several are, it is another layer, and hardly anything means the same. Slots go with their
    variables.
    """
    nodes = mapping.saved.nodes
    pairs = {pair.node: pair for pair in copies_in_part(mapping)}
    inside: dict[int, list[Pair]] = {}
    for node, pair in pairs.items():
        slot = nodes[node].slot
        if slot is None:
            inside.setdefault(_part(mapping.saved, node), []).append(pair)
        elif slot.variable in pairs:
            inside.setdefault(_part(mapping.saved, slot.variable), []).append(pair)
    parts = []
    for part, every in sorted(inside.items()):
        if copied := _common_elements(mapping.saved, mapping.live, every):
            parts.append(_guessed_part(mapping, part, every, copied))
    return parts


def _common_elements(saved: Graph, live: Graph, pairs: Sequence[Pair]) -> str:
    """Return which elements both sides have if one size differs in all pairs; else ""."""
    sizes = {
        (was, now)
        for pair in pairs
        for was, now in zip(_shape(saved, pair.node), _shape(live, pair.obj), strict=True)
        if was != now
    }
    if len(sizes) != 1:
        return ""
    (both,) = sizes
    return f"the first {min(both):,} of {max(both):,}"


def _shape(graph: Graph, node: int) -> tuple[int, ...]:
    return graph.nodes[node].attributes[0].shape or ()


def _live_names(live: LayerNames, objects: Sequence[int]) -> str:
    parts = dict.fromkeys(_part(live.graph, obj) for obj in objects)
    return listed([live.place_or_state(part) for part in parts], most=_MOST_NAMED)


def _part(graph: NamedGraph, node: int) -> int:
    """Return what holds a value; the value itself if that is the root."""
    parent = graph.tree.parents[node]
    return parent if parent > ROOT else node

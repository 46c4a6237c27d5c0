"""Layers and shapes that changed, in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from ckpt_viz.graphs.nodes.nodes import ROOT, Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Layout
from ckpt_viz.graphs.slots.optimizer_table import ROWS
from ckpt_viz.ground.text import shape_words
from ckpt_viz.matching.changes.short_names import Side
from ckpt_viz.matching.correspondence.optimizer_classes import OptimizerSlots, has_slots_of
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.engines.keras_sides import LISTS_OF_LAYERS

_MOST_LEVELS = 16  # of parts; a hostile chain has a hundred thousand
_Shape = Sequence[int | None]


def layers(side: Side, values: Sequence[int]) -> list[int]:
    """Return layers in place of their values, where all of one layer are here."""
    names, here = side.graph.names, {*values}
    holders = dict.fromkeys(map(names.holder, values))
    whole = {
        holder
        for holder in holders
        if holder != ROOT and all(v in here for v in side.held[holder] if v in side.valued)
    }
    holder_or_value = (names.holder(v) if names.holder(v) in whole else v for v in values)
    return [*dict.fromkeys(holder_or_value)]


def wholes(side: Side, values: Sequence[int]) -> list[int]:
    """Return parts in place of their layers, where each of these has one of the values."""
    holder, touched = side.graph.names.holder, {*values}
    for value in values:
        above = holder(value)
        while above not in touched:
            touched.add(above)
            above = holder(above) if above != ROOT else ROOT
    parts = dict[int, None]()
    for part in layers(side, values):
        whole = at = part
        for _ in range(_MOST_LEVELS):
            above = holder(at)
            inside = (inner for inner in side.held[above] if inner in side.valued)
            if above != ROOT and touched.issuperset(inside):
                whole = above
            elif above == ROOT or not has_value(side.graph.nodes[at]):
                break
            at = above
        parts[whole] = None
    return [*parts]


def shape(graph: Graph, node: int) -> _Shape:
    """Return the shape of the first value of a node."""
    return graph.nodes[node].attributes[0].shape or ()


def size_words(was: _Shape, now: _Shape) -> str:
    """Return the one size that differs, or the shapes.

    >>> size_words((64, 500), (64, 600)), size_words((4, 3), (5, 6))
    ('500 → 600', '4×3 → 5×6')
    """
    differing = [(a, b) for a, b in zip(was, now, strict=False) if a != b]
    if len(was) == len(now) and len(differing) == 1:
        was, now = (differing[0][0],), (differing[0][1],)
    return f"{shape_words(was)} → {shape_words(now)}"


def larger(shapes: Sequence[tuple[_Shape, _Shape]]) -> str:
    """Return how values differ in their shapes, in one word if they can."""
    pairs = [(a, b) for was, now in shapes for a, b in zip(was, now, strict=False)]
    if all(len(was) == len(now) for was, now in shapes) and not any(None in pair for pair in pairs):
        if all((a or 0) <= (b or 0) for a, b in pairs):
            return "larger"
        if all((a or 0) >= (b or 0) for a, b in pairs):
            return "smaller"
    return "of another shape"


def optimizer_classes(graph: Graph, optimizer: int) -> tuple[str, Sequence[str]]:
    """Return the class of a saved optimizer, "" if nothing tells it, and those it may have."""
    slots = {
        data.slot.name: data
        for data in graph.nodes
        if data.slot is not None and data.slot.optimizer == optimizer
    }
    names = [row.name for row in OptimizerSlots(graph, optimizer, slots).classes()]
    names = names or [row.name for row in ROWS if has_slots_of(row, slots)]
    first = next(iter(slots.values()), None)
    scope = first.attributes[0].full_name.split("/")[0] if first and first.attributes else ""
    named = [name for name in names if _is_named_by(scope, name)]
    named = named or ([*dict.fromkeys(names)] if len({*names}) == 1 else [])
    return next(iter(named), ""), named or names


def has_slots(graph: Graph, optimizer: int) -> bool:
    """Return whether any slot variable is known to be of an optimizer."""
    slots = (data.slot for data in graph.nodes if data.slot is not None)
    return any(slot.optimizer == optimizer for slot in slots)


def _is_named_by(scope: str, name: str) -> bool:
    """Return whether a scope is a class's name with a number, as Keras gives it: `adam_1`."""
    return scope.rstrip("0123456789").replace("_", "").lower() == name.lower()


def are_last(side: Side, parts: Sequence[int]) -> bool:
    """Return whether parts are the last layers or items with values in one sequence."""
    tree = side.graph.tree
    above = tree.parents[parts[0]]
    every = [part for part in tree.children[above] if part in side.valued]
    row = [part for part in every if _is_in_order(side.graph, above, part)]
    return len(row) > len(parts) and {*row[-len(parts) :]} == {*parts}


def _is_in_order(graph: Graph, above: int, part: int) -> bool:
    """Return whether a part has a place among others: an item, or a layer in files of Keras."""
    match graph.layout:
        case Layout.KERAS_PATHS:
            return graph.tree.labels[above] in LISTS_OF_LAYERS
        case Layout.KERAS_NAMES:
            return above == ROOT and graph.nodes[part].role is Role.LAYER
    return INDEX.fullmatch(graph.tree.labels[part]) is not None

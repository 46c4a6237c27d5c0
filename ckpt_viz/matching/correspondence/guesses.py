"""The parts of a checkpoint whose values have a place only by a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ckpt_viz.graphs.nodes.names import LayerNames, NamedGraph
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.correspondence.pairs import Pair, is_guess
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping

_MOST_NAMED = 3


class GuessedPart(NamedTuple):
    """A part of the checkpoint, and the part of the program to which its values may belong.

    `saved` and `live` are the names of people. `node` is the saved part, `nodes` are its values.
    """

    node: int
    saved: str
    live: str
    nodes: frozenset[int]


def guessed_values(mapping: ValueMapping) -> list[Pair]:
    """Return the pairs of values that are guesses."""
    return [pair for pair in mapping.pairs if is_guess(pair)]


def guessed_parts(mapping: ValueMapping) -> list[GuessedPart]:
    """Return the saved parts that hold guesses, in saved order; a slot goes with its variable."""
    guessed = {pair.node for pair in guessed_values(mapping)}
    pairs: dict[int, list[Pair]] = {}
    for pair in guessed_values(mapping):
        slot = mapping.saved.nodes[pair.node].slot
        if slot is None or slot.variable not in guessed:
            pairs.setdefault(_part(mapping.saved, pair.node), []).append(pair)
    saved, live = mapping.saved.names, mapping.live.names
    return [
        GuessedPart(
            part,
            saved.place_or_state(part),
            _live_names(live, [pair.obj for pair in inside]),
            frozenset(pair.node for pair in inside),
        )
        for part, inside in pairs.items()
    ]


def _live_names(live: LayerNames, objects: Sequence[int]) -> str:
    parts = dict.fromkeys(_part(live.graph, obj) for obj in objects)
    return listed([live.place_or_state(part) for part in parts], most=_MOST_NAMED)


def _part(graph: NamedGraph, node: int) -> int:
    """Return what holds a value; the value itself if that is the root."""
    parent = graph.tree.parents[node]
    return parent if parent > ROOT else node

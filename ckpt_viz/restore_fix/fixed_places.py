"""A mapping of saved values as a picture shows it: by nodes of the check's merged graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.mapping.pairs import Certainty, Evidence, Pair
from ckpt_viz.mapping.value_mapping import ValueMapping
from ckpt_viz.matching.name_based_restore import NameTrace
from ckpt_viz.matching.trace import Trace
from ckpt_viz.object_graph.merge import merged_ids


class Placed(NamedTuple):
    """A saved node and the live object that it belongs to, as nodes of the merged graph."""

    saved: int
    live: int
    certainty: Certainty
    evidence: Evidence


@dataclass(frozen=True)
class FixedPlaces:
    """What a fix does with every value.

    Attributes:
        restored: How many live objects get their values.
        pairs: Parts and values that belong to another node, and all guesses. What is in no list is
            restored at the place where it was.
        misfits: Values whose counterpart has another dtype or shape.
        kept: The live objects that keep their values.
        unused: The saved values that nothing takes.
    """

    restored: int
    pairs: tuple[Placed, ...]
    misfits: tuple[Placed, ...]
    kept: tuple[int, ...]
    unused: tuple[int, ...]


def fixed_places(mapping: ValueMapping, trace: Trace | NameTrace | None) -> FixedPlaces:
    """Return the picture of a mapping; `trace` is that of the check, which made the graph."""
    bound = trace.bound if isinstance(trace, Trace) else {}
    of_saved = merged_ids(mapping.live, mapping.saved, bound)

    def placed(pairs: Iterator[Pair] | tuple[Pair, ...]) -> tuple[Placed, ...]:
        return tuple(Placed(of_saved[p.node], p.obj, p.certainty, p.evidence) for p in pairs)

    sure = [pair for pair in mapping.pairs if pair.certainty is not Certainty.GUESS]
    filled, used = {pair.obj for pair in sure}, {pair.node for pair in sure}
    guesses = [pair for pair in mapping.pairs if pair.certainty is Certainty.GUESS]
    misfits = frozenset(mapping.misfits)
    everything = dict.fromkeys((*mapping.parts.values(), *mapping.pairs))
    kept = {*mapping.missing, *(pair.obj for pair in guesses)} - filled
    unused = {*mapping.unused, *(pair.node for pair in guesses)} - used
    return FixedPlaces(
        len(filled),
        placed(
            pair
            for pair in everything
            if pair not in misfits
            and (of_saved[pair.node] != pair.obj or pair.certainty is Certainty.GUESS)
        ),
        placed(mapping.misfits),
        tuple(sorted(kept)),
        tuple(sorted(of_saved[node] for node in unused)),
    )

"""A mapping of saved values as a picture shows it: by nodes of the check's merged graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ckpt_viz.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.correspondence.value_mapping import ValueMapping


class Placed(NamedTuple):
    """A saved node and the live object that it belongs to, as nodes of the merged graph.

    A saved node that is not in that graph has the place of its object.
    """

    saved: int
    live: int
    certainty: Certainty
    evidence: Evidence


@dataclass(frozen=True)
class FixedPlaces:
    """What a fix does with every value.

    Attributes:
        restored: How many live objects get their values.
        pairs: Parts and values that a plain restore puts elsewhere or nowhere, and all guesses.
            What is in no list, a plain restore puts where it belongs.
        misfits: Values whose counterpart has another dtype or shape.
        kept: The live objects that keep their values.
        unused: The saved values that nothing takes, as far as the merged graph has them.
        unused_count: The number of all of these.
        guessed: The saved part of each guess of the check, in its order; -1 for one that is not in
            the merged graph.
    """

    restored: int
    pairs: tuple[Placed, ...]
    misfits: tuple[Placed, ...]
    kept: tuple[int, ...]
    unused: tuple[int, ...]
    unused_count: int
    guessed: tuple[int, ...]


def fixed_places(
    mapping: ValueMapping,
    of_saved: Mapping[int, int],
    of_made: Mapping[int, int],
    bound: Mapping[int, int],
    guessed: Iterable[int],
) -> FixedPlaces:
    """Return the picture of a mapping.

    `of_saved` has the merged graph's nodes by saved node, `of_made` those of objects that the
    restore makes. `bound` has the live objects to which a plain restore binds saved nodes.
    `guessed` are the saved parts of the guesses.
    """

    def placed(pairs: Iterable[Pair]) -> tuple[Placed, ...]:
        return tuple(
            Placed(of_saved.get(p.node, obj), obj, p.certainty, p.evidence)
            for p in pairs
            for obj in [of_made.get(p.obj, p.obj)]
        )

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
            and (bound.get(pair.node) != pair.obj or pair.certainty is Certainty.GUESS)
        ),
        placed(mapping.misfits),
        tuple(sorted(kept)),
        tuple(sorted(of_saved[node] for node in unused if node in of_saved)),
        len(unused),
        tuple(of_saved.get(node, -1) for node in guessed),
    )

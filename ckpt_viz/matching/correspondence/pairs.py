"""What a mapping says about one saved node: the live object it belongs to, and how sure that is."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Certainty(str, Enum):
    """How sure a pair is.

    CERTAIN: nothing else of this structure and these shapes could be meant. LIKELY: evidence
    decides between several. GUESS: only order or shape speaks for it.
    """

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


_ORDER = tuple(Certainty)


def weakest(*certainties: Certainty) -> Certainty:
    """Return the least of some certainties."""
    return max(certainties, key=_ORDER.index)


def surest(*certainties: Certainty) -> Certainty:
    """Return the greatest of some certainties."""
    return min(certainties, key=_ORDER.index)


class Evidence(str, Enum):
    """Why two nodes belong together."""

    PLACE = "both have the same path"
    CONTENT = "no other part has this structure and these shapes"
    NAMES = "the full names of their variables agree"
    WORDS = "their names share words"
    HOLDER = "they have the same name in parts that belong together"
    ORDER = "they come in the same order"
    ALONE = "each is the only one left in parts that belong together"
    WITHIN = "a new part took the place of one and holds the other"
    LISTED = "an optimizer lists them at the same place"
    SHARED = "they were one variable in the checkpoint"
    SLOT = "their variables belong together"
    OTHER_STATE = "their variables belong together, but the optimizer is of another class"
    DEFAULT = "a restore pairs them, and nothing contradicts that"
    PARTS = "one is divided into parts whose names have numbers"
    RESHAPED = "an encoder keeps the same elements with a dimension for the heads of attention"


class Pair(NamedTuple):
    """A saved node and the live object that it belongs to."""

    node: int
    obj: int
    certainty: Certainty
    evidence: Evidence


def is_guess(pair: Pair) -> bool:
    """Return whether a pair is a guess that a person, or what a restore does, may decide.

    A state that may mean something else in an optimizer of another class is not.
    """
    return pair.certainty is Certainty.GUESS and pair.evidence is not Evidence.OTHER_STATE

"""What names of two programs prove: local names, layer names, and names that share words."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ckpt_viz.graphs.nodes.name_evidence import BETWEEN_WORDS
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.name_rules.full_names import FullNames
from ckpt_viz.matching.name_rules.migrations import OF_KERAS_3, local_name

_INDEX = re.compile(r"(?:layer-|layer_with_weights-|)(\d{1,9})")
_NUMBER = re.compile(r"\d+")
LONGEST_NAME = 200  # characters; a longer one is of no person's choice
_SHORTEST_BEGINNING = 3  # characters of a word that begin a longer word
# TensorFlow 1's layers have other local names than `migrations.local_name` spells.
_SPELLED = {"weights": "kernel", "biases": "bias", "depthwise_weights": "kernel"}


def canonical(label: str) -> str:
    """Return a local name as every version of Keras spells it, "" if no person chose it.

    >>> canonical("_kernel"), canonical("biases"), canonical("layer-3")
    ('kernel', 'bias', '')
    """
    if len(label) > LONGEST_NAME:
        return ""
    public = local_name(label)
    is_counted = label in OF_KERAS_3 or _INDEX.fullmatch(public)
    return "" if is_counted else spelled(public)


def spelled(part: str) -> str:
    """Return a part of a name of TensorFlow 1 as Keras spells it.

    >>> spelled("biases"), spelled("gamma")
    ('bias', 'gamma')
    """
    return _SPELLED.get(part, part)


def index_of(label: str) -> int | None:
    """Return the place in a sequence that a local name tells, if it tells any."""
    match = _INDEX.fullmatch(label)
    return int(match[1]) if match else None


def trailing_number(names: AbstractSet[str]) -> int | None:
    """Return the number at the end of a name, None if no name has any.

    >>> trailing_number({"block_12"}), trailing_number({"head"})
    (12, None)
    """
    matches = (re.search(r"(\d{1,9})$", name) for name in sorted(names))
    return next((int(match[1]) for match in matches if match), None)


def words(name: str) -> set[str]:
    """Return the words of a name.

    >>> sorted(words("myEncoder_block_2"))
    ['block', 'encoder', 'my']
    """
    return {w.casefold() for w in BETWEEN_WORDS.split(name) if w and not w.isdecimal()}


def are_related(
    names: AbstractSet[str], others: AbstractSet[str], common: AbstractSet[str] = frozenset()
) -> bool:
    """Return whether two sets of names share a word, or the beginning of a word.

    The words and numbers that are `common` to several things prove nothing of one of them.

    >>> are_related({"neck"}, {"neck_net"}), are_related({"block_1"}, {"block_2"})
    (True, False)
    >>> are_related({"fc_7"}, {"net_fc_7"}, {"fc"}), are_related({"fc_7"}, {"net_fc"}, {"fc"})
    (True, False)
    """
    if not names or not others or _have_other_numbers(names, others):
        return False
    left = {word for name in names for word in words(name)}
    right = {word for name in others for word in words(name)}
    if left & right and (numbers(names) & numbers(others)) - common:
        return True
    left, right = left - common, right - common
    return bool(left & right) or any(_begins(a, b) for a in left for b in right)


def are_namesakes(names: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """Return whether two sets share a name, or a word of a name."""
    return bool(names & others) or are_related(names, others)


def begin_alike(names: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """Return whether a name of one set is the beginning of a name of the other.

    >>> begin_alike({"q_network"}, {"q_net"}), begin_alike({"target_network"}, {"q_net"})
    (True, False)
    """
    return any(_begins(name, other) for name in names for other in others)


def numbers(names: AbstractSet[str]) -> set[str]:
    """Return the numbers in names.

    >>> sorted(numbers({"block_12", "conv2d"}))
    ['12', '2']
    """
    return {number for name in names for number in _NUMBER.findall(name)}


def _have_other_numbers(names: AbstractSet[str], others: AbstractSet[str]) -> bool:
    left, right = numbers(names), numbers(others)
    return bool(left) and bool(right) and not left & right


def _begins(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return len(short) >= _SHORTEST_BEGINNING and long.startswith(short)


@dataclass(frozen=True)
class ChosenNames:
    """Tells names that a person chose from names that Keras counts out.

    >>> names = ChosenNames(frozenset({"dense", "sequential"}))
    >>> names.is_chosen("dense_3"), names.is_chosen("head_3"), names.is_chosen("3")
    (False, True, False)

    Keras 3 joins the names of layers in the names of slots.

    >>> names.is_chosen("sequential_1_dense_3"), names.is_chosen("encoder_dense_3")
    (False, True)
    """

    given: frozenset[str]

    @classmethod
    def of(cls, live: Graph) -> ChosenNames:
        """Return the names that a program's classes do not explain."""
        return cls(FullNames.of(live).given | {"dropout"})

    def is_chosen(self, name: str) -> bool:
        """Return whether a person chose a name."""
        if not 0 < len(name) <= LONGEST_NAME or name.isdecimal():
            return False
        return not self._is_counted(name.lower().split("_"))

    def _is_counted(self, parts: list[str]) -> bool:
        """Return whether the parts are given names, each with or without a number."""
        ends = [0]
        for end, part in enumerate(parts, 1):
            is_number = len(ends) > 1 and ends[-1] == end - 1 and part.isdecimal()
            if is_number or any("_".join(parts[start:end]) in self.given for start in ends):
                ends.append(end)
        return ends[-1] == len(parts)

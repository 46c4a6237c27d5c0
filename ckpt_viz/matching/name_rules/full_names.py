"""Evidence from the full names of variables: which Keras gives, and which a person chose."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ckpt_viz.graphs.nodes.keras_variables import path_component
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import MOST_READABLE

_UNIQUIFIER = re.compile(r"_\d+(?=/|$)")
_MOST_DIGITS = 9
_GIVEN = {
    "variable",
    *("dense", "einsum_dense", "embedding", "multi_head_attention", "p_re_lu"),
    *("conv1d", "conv2d", "conv3d", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose"),
    *("depthwise_conv1d", "depthwise_conv2d", "separable_conv1d", "separable_conv2d"),
    *("batch_normalization", "layer_normalization", "group_normalization", "rms_normalization"),
    *("lstm", "gru", "simple_rnn", "bidirectional", "sequential", "functional", "model"),
}
_WAYS = ("forward", "backward")  # of the two layers in a Bidirectional


@dataclass(frozen=True)
class FullNames:
    """Judges full names by the names that Keras gives: a class in snake case, and a number.

    >>> names = FullNames(frozenset({"dense"}))
    >>> names.plain("net/dense_3/kernel"), names.plain("block_3/kernel")
    ('net/dense/kernel', 'block_3/kernel')
    >>> names.is_chosen("dense_3/kernel"), names.is_chosen("block_3/kernel")
    (False, True)
    """

    given: frozenset[str]

    @classmethod
    def of(cls, live: Graph) -> FullNames:
        """Return the names that Keras gives to objects of the classes in a program.

        That includes its layers with weights, which Keras 3 does not track in a list.
        """
        types = {node.type_name for node in live.nodes if node.type_name}
        given = {*_GIVEN, *map(path_component, types)}
        return cls(frozenset(given.union(f"{way}_{name}" for way in _WAYS for name in given)))

    def plain(self, full_name: str) -> str:
        """Return a full name without the numbers with which Keras makes it unique.

        A name that is too long to read stays as it is: Keras makes no such one.
        """
        if len(full_name) > MOST_READABLE:
            return full_name
        return "/".join([self._plain(part) for part in full_name.split("/")])

    def plain_state(self, full_name: str) -> str:
        """Return a Keras 3 slot variable's name, which follows its variable's path, likewise.

        >>> FullNames(frozenset({"dense"})).plain_state("adam_1/net_dense_3_kernel_momentum")
        'net_dense_kernel_momentum'
        """
        parts = full_name.rpartition("/")[2].split("_")
        for end in reversed(range(1, len(parts))):
            bases = ("_".join(parts[start:end]) for start in range(max(0, end - 3), end))
            if parts[end].isdecimal() and any(base in self.given for base in bases):
                del parts[end]
        return "_".join(parts)

    def is_chosen(self, full_name: str) -> bool:
        """Return whether a person has chosen the name of the variable or its layer."""
        parts = full_name.split("/")
        return not all(self.is_given(part) for part in parts[:-1] or parts)

    def is_given(self, part: str) -> bool:
        """Return whether Keras has given a name that contains no scope.

        >>> names = FullNames(frozenset({"dense"}))
        >>> names.is_given("dense_2"), names.is_given("head_2")
        (True, False)
        """
        return self._plain(part).lower() in self.given

    def numbers(self, parts: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers with which Keras makes names unique, 0 for the first of a name.

        >>> FullNames(frozenset({"dense"})).numbers(["net_2", "dense", "dense_10"])
        (0, 0, 10)
        """
        return tuple(int(part[len(self._plain(part)) + 1 :] or 0) for part in parts)

    def _plain(self, part: str) -> str:
        base, _, number = part.rpartition("_")
        is_number = number.isdecimal() and len(number) <= _MOST_DIGITS
        return base if is_number and base.lower() in self.given else part


def without_number(full_name: str) -> str:
    """Return a full name without the numbers with which Keras makes it unique.

    >>> without_number("dense_1/kernel"), without_number("net/block_2/bias")
    ('dense/kernel', 'net/block/bias')
    """
    return _UNIQUIFIER.sub("", full_name)

"""Whether values differ: by the checksums in two files, or by reading the values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.object_graph.graph import Graph

# Whether two values differ; None if that is unknown.
Comparer = Callable[[Attribute, Attribute], bool | None]


def by_checksums(a: Graph, b: Graph) -> Comparer:
    """Return a comparison by the checksums in the indexes of two files.

    It reads no value. The answer is unknown if a side has no checksums (live objects, files
    of the V1 format), or for a tensor in different slices.
    """

    @cache  # one key may have many tensors, and a forged graph may repeat it
    def differ_by_keys(key_in_a: str, key_in_b: str) -> bool | None:
        of_a, of_b = _tensors(a, key_in_a), _tensors(b, key_in_b)
        if of_a is None or of_b is None:
            return None
        if of_a.keys() != of_b.keys():
            return True
        differ = [_tensors_differ(of_a[name], of_b[name]) for name in of_a]
        return True if True in differ else None if None in differ else False

    return lambda left, right: differ_by_keys(left.checkpoint_key, right.checkpoint_key)


def _tensors(graph: Graph, checkpoint_key: str) -> dict[str, _Tensor] | None:
    """Return an attribute's tensors by the part of their keys that follows its own key.

    None if a tensor has no checksums, or if there is no tensor.
    """
    tensors: dict[str, _Tensor] = {}
    for key in graph.tensor_keys(checkpoint_key):
        tensor = _tensor(graph, key)
        if tensor is None:
            return None
        tensors[key.removeprefix(checkpoint_key)] = tensor
    return tensors or None


class _Tensor(NamedTuple):
    """A stored tensor: its kind, the layout of its bytes, and their checksums."""

    dtype: str | None
    shape: tuple[int, ...] | None
    layout: object
    sums: object


def _tensor(graph: Graph, key: str) -> _Tensor | None:
    stored, fingerprint = graph.stored(key), graph.fingerprint(key)
    if stored is None or fingerprint is None:
        return None
    return _Tensor(stored.dtype, stored.shape, *fingerprint)


def differ_by_index(a: Graph, b: Graph, key_in_a: str, key_in_b: str) -> bool | None:
    """Return whether two tensors differ, as two indexes say; None if these do not tell."""
    left, right = _tensor(a, key_in_a), _tensor(b, key_in_b)
    return None if left is None or right is None else _tensors_differ(left, right)


def _tensors_differ(left: _Tensor, right: _Tensor) -> bool | None:
    if left[:2] != right[:2]:
        return True  # a table that has grown, for example
    return None if left.layout != right.layout else left.sums != right.sums


def tensors_differ(a: Graph, b: Graph, key_in_a: str, key_in_b: str) -> bool:
    """Return whether two tensors have other elements; raises CkptVizError if one is unreadable."""
    left, right = a.read(key_in_a), b.read(key_in_b)
    if left.dtype.hasobject or right.dtype.hasobject:  # strings
        return bool(left.tolist() != right.tolist())
    return left.tobytes() != right.tobytes()

"""The average of checkpoints as a graph: each mean is computed when somebody asks for it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING

from ckpt_viz.errors import EditError, SourceError, UnsupportedError
from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, is_float
from ckpt_viz.formats.bundles.bundle import PIECE_BYTES, Bundle
from ckpt_viz.formats.bundles.bundle_writer import copied_tensor
from ckpt_viz.graphs.edits.as_checkpoint import as_checkpoint
from ckpt_viz.graphs.edits.edited_access import EditedAccess, NewValue
from ckpt_viz.graphs.nodes.nodes import Attribute, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.ground.text import readable
from ckpt_viz.matching.correspondence.value_mapping import map_values

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_COMPLEX = ("complex64", "complex128")
_BLOCK = 1 << 18  # elements that are averaged at a time: a processor's cache holds them


@dataclass(frozen=True)
class _TensorPlace:
    """Where one checkpoint has a tensor."""

    graph: Graph
    node: int
    key: str


@dataclass(frozen=True)
class _Mean:
    """A weighted mean of tensors of one dtype and shape, piece by piece."""

    places: Sequence[_TensorPlace]
    weights: Sequence[float]
    dtype: str

    def __call__(self) -> Iterator[Array]:
        import numpy as np

        from ckpt_viz.formats.arrays.tensors import cast, numpy_dtype

        is_complex = self.dtype in _COMPLEX
        wide = np.complex128 if is_complex else np.float64
        total, share = np.empty(_BLOCK, wide), np.empty(_BLOCK, wide)
        for pieces in zip(*map(self._pieces, self.places), strict=True):
            for start in range(0, len(pieces[0]), _BLOCK):
                blocks = [piece[start : start + _BLOCK] for piece in pieces]
                size = len(blocks[0])
                total[:size] = 0
                for weight, place, block in zip(self.weights, self.places, blocks, strict=True):
                    self._assert_no_nan(block, place)
                    np.copyto(share[:size], block)
                    share[:size] *= weight
                    total[:size] += share[:size]
                if is_complex:
                    yield total[:size].astype(numpy_dtype(self.dtype))
                else:
                    yield cast(total[:size], self.dtype, self.places[-1].graph.title)

    @staticmethod
    def _assert_no_nan(block: Array, place: _TensorPlace) -> None:
        import numpy as np

        if np.isnan(block).any():
            raise UnsupportedError(
                f"{place.graph.title}: {readable(place.graph.names.place(place.node))} has a NaN, "
                "and so would the average; leave this checkpoint out"
            )

    def _pieces(self, place: _TensorPlace) -> Iterator[Array]:
        """Yield the elements of a tensor, as many at a time as fit into a piece."""
        from ckpt_viz.formats.arrays.tensors import in_little_endian

        stored = place.graph.stored_in
        if isinstance(stored, Bundle):
            for piece in copied_tensor(stored, place.key).pieces():
                yield in_little_endian(piece, self.dtype)
            return
        array = place.graph.read(place.key).reshape(-1)
        size = PIECE_BYTES // (ELEMENT_BYTES[self.dtype] or 1)
        for start in range(0, len(array), size):
            yield array[start : start + size]


def averaged(graphs: Sequence[Graph], weights: Sequence[float] | None = None) -> Graph:
    """Return the graph of the last checkpoint with the means of all.

    Raises:
        SourceError: There are fewer than two checkpoints, or the weights do not fit.
        EditError: A checkpoint has other values than the last one.
    """
    if len(graphs) < 2:
        raise SourceError(f"found {len(graphs)} checkpoints, expected at least two to average")
    live = [graph.title for graph in graphs if graph.origin is Origin.LIVE]
    if live:
        raise SourceError(
            f"{live[0]}: found live objects, expected checkpoints or snapshots: take "
            "cv.snapshot(live)"
        )
    shares = _shares(weights, len(graphs))
    last = graphs[-1]
    counterparts = [_counterparts(graph, last) for graph in graphs[:-1]]
    last, values = as_checkpoint(last), dict[str, NewValue]()
    for obj, attribute in _averaged_in(last):
        places = [
            _place(graph, last, obj, attribute, nodes)
            for graph, nodes in zip(graphs[:-1], counterparts, strict=True)
        ]
        places.append(_TensorPlace(last, obj, attribute.checkpoint_key))
        assert attribute.dtype is not None
        mean = _Mean(places, shares, attribute.dtype)
        values[attribute.checkpoint_key] = NewValue(attribute.dtype, attribute.shape, made=mean)
    return replace(
        last,
        title=f"average of {len(graphs)} checkpoints, {_name(graphs[0])} to {_name(last)}",
        provenance=None,
        _access=EditedAccess.over(last, values),
    )


def _name(graph: Graph) -> str:
    return os.path.basename(graph.title) or graph.title


def _shares(weights: Sequence[float] | None, number: int) -> list[float]:
    """Return the weights so that they add up to 1."""
    if weights is None:
        return [1 / number] * number
    if isinstance(weights, (str, os.PathLike)):
        raise SourceError(
            f"found the path {os.fspath(weights)!r:.200}, expected weights; to write the "
            f"average: cv.average(sources).write({os.fspath(weights)!r:.200})"
        )
    are_numbers = all(isinstance(weight, Real) and math.isfinite(weight) for weight in weights)
    if len(weights) != number or not are_numbers or (total := math.fsum(weights)) <= 0:
        raise SourceError(
            f"found the weights {[*weights]!r:.200}, expected {number} finite numbers, one for "
            "each checkpoint, whose sum is more than 0"
        )
    return [weight / total for weight in weights]


def _averaged_in(graph: Graph) -> Iterator[tuple[int, Attribute]]:
    """Yield the tensors of floats and of complex numbers, with their nodes."""
    for obj, node in enumerate(graph.nodes):
        for attribute in node.attributes if node.registered_saver is None else ():
            key = attribute.checkpoint_key
            is_number = is_float(attribute.dtype) or attribute.dtype in _COMPLEX
            if is_number and graph.tensor_keys(key) == (key,):
                yield obj, attribute


def _counterparts(graph: Graph, last: Graph) -> dict[int, int]:
    """Return the node of a checkpoint by that of the last one; raise EditError for other models."""
    mapping = map_values(graph, last)
    misfits = [pair.node for pair in mapping.misfits]
    alone = [node for node in (*misfits, *mapping.unused) if has_value(graph.nodes[node])]
    first = next(filter(mapping.is_by_shape, mapping.pairs), None)
    if first is not None:
        places = graph.names.place(first.node), last.names.place(first.obj)
        old, new = (repr(readable(place)) for place in places)
        raise EditError(
            f"{graph.title}: only its shape tells that {places[0]} is {places[1]} of {last.title}; "
            f"expected one model; if it is, rename it first: graph.renamed({{{old}: {new}}})"
        )
    if alone or mapping.missing:
        name, title = (
            (graph.names.place_or_state(alone[0]), last.title)
            if alone
            else (last.names.place_or_state(mapping.missing[0]), graph.title)
        )
        raise EditError(
            f"{title}: has no value for {name} of the same dtype and shape, expected checkpoints "
            "of one model"
        )
    return {pair.obj: pair.node for pair in mapping.pairs}


def _place(
    graph: Graph, last: Graph, obj: int, attribute: Attribute, nodes: dict[int, int]
) -> _TensorPlace:
    """Return where a checkpoint has the tensor that the last one has in a node."""
    node = nodes.get(obj)
    for own in () if node is None else graph.nodes[node].attributes:
        is_same = (own.name, own.dtype, own.shape) == (
            *(attribute.name, attribute.dtype, attribute.shape),
        )
        if is_same and node is not None:
            return _TensorPlace(graph, node, own.checkpoint_key)
    raise EditError(
        f"{graph.title}: has no value for {last.names.place_or_state(obj)} of the same dtype and "
        "shape, expected checkpoints of one model"
    )

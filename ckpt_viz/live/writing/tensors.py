"""A tensor of the saved graph, as it is or as an edit has changed it."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.bundle_writer import (
    NewTensor,
    array_tensor,
    arrays_of,
    computed_tensor,
    copied_tensor,
)
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.graphs.edits.edited_access import NewValue
from ckpt_viz.graphs.edits.union import source_of
from ckpt_viz.graphs.object_graph.graph import Graph


def changed(
    graph: Graph, values: Mapping[str, NewValue], key: str, tensor: NewTensor | None
) -> NewTensor:
    """Return a tensor with what an edit has done to it; None for one that is not stored."""
    new = values.get(key)
    if new is None:
        assert tensor is not None
        return tensor
    array, made, place = new.array, new.made, f"{graph.title}: {brief(key)}"
    if array is not None:
        assert new.shape is not None
        return array_tensor(new.dtype, new.shape, lambda: array)
    if made is not None:
        shape = new.shape or ()
        return computed_tensor(new.dtype, shape, lambda: (new.of(p, place) for p in made()))
    assert tensor is not None
    stored = tensor
    return computed_tensor(
        new.dtype, stored.shape, lambda: (new.of(p, place) for p in arrays_of(stored))
    )


def tensor_of(saved: Graph, key: str) -> NewTensor:
    """Return a stored tensor, to be written again; raises UnsupportedError for an unknown form."""
    saved, key = source_of(saved, key)
    stored = saved.stored_in
    if isinstance(stored, Bundle):
        return copied_tensor(stored, key)
    kind = saved.stored(key)
    if kind is None or kind.dtype is None or kind.shape is None:
        raise UnsupportedError(
            f"{saved.title}: {key!r}: expected a tensor of known dtype and shape"
        )
    return array_tensor(kind.dtype, kind.shape, lambda: saved.read(key))

"""Name-based checkpoints as object graphs: files that a `tf.compat.v1.train.Saver` wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.formats.bundles.meta_graph import MetaGraph, MetaVariable
from ckpt_viz.graphs.nodes.nodes import Node, Slice
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes


class StoredSlice(Protocol):
    """One part of a tensor that was saved in slices."""

    @property
    def start(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102


class StoredTensor(Protocol):
    """A tensor as the index describes it; `size` is in bytes, 0 if the index does not have it."""

    @property
    def dtype(self) -> str: ...  # noqa: D102
    @property
    def shape(self) -> tuple[int, ...] | None: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def slices(self) -> Sequence[StoredSlice]: ...  # noqa: D102


class StoredTensors(Protocol):
    """An opened file: a bundle, or a checkpoint of the V1 format."""

    @property
    def entries(self) -> Mapping[str, StoredTensor]: ...  # noqa: D102
    def why_unreadable(self, key: str, /) -> str | None: ...  # noqa: D102


def read_name_based(
    tensors: StoredTensors, meta: MetaGraph | None = None, *, place: str = "name-based checkpoint"
) -> tuple[Node, ...]:
    """Return the tensors as a tree of name scopes, with roles and slots.

    Args:
        tensors: The opened file; no value is read.
        meta: The MetaGraph of the program that saved it. A variable's default name in a checkpoint
            identifies it.
        place: The file, as messages name it.
    """
    known: dict[str, list[MetaVariable]] = {}
    for variable in meta.variables if meta is not None else ():
        known.setdefault(variable.saved_as, []).append(variable)
    named = (
        _variable(name, entry, known.get(name, ()), tensors.why_unreadable(name))
        for name, entry in tensors.entries.items()
    )
    try:
        return scope_nodes(named)
    except UnsupportedError as error:
        raise UnsupportedError(f"{place}: {error}") from error


def _variable(
    name: str, entry: StoredTensor, known: Sequence[MetaVariable], error: str | None
) -> NamedVariable:
    # A MetaGraph may come from another run: partitions of another shape are different ones.
    variables = [v for v in known if v.save_slice is None or v.save_slice.full_shape == entry.shape]
    trainable = {variable.trainable for variable in variables}
    return NamedVariable(
        value=named_value(
            name,
            entry.dtype,
            entry.shape,
            _nbytes(entry),
            slices=_slices(entry.slices, variables),
            error=error,
        ),
        trainable=trainable.pop() if len(trainable) == 1 else None,
        collections=tuple(sorted({key for v in variables for key in v.collections})),
    )


def _nbytes(entry: StoredTensor) -> int | None:
    if entry.size == 0 and (entry.shape is None or 0 not in entry.shape):
        return None  # a tensor with elements takes some bytes, so the index does not know its size
    return entry.size


def _slices(stored: Iterable[StoredSlice], variables: Iterable[MetaVariable]) -> tuple[Slice, ...]:
    names = {
        (v.save_slice.start, v.save_slice.shape): v.name
        for v in variables
        if v.save_slice is not None
    }
    parts = sorted((part.start, part.shape) for part in stored)
    return tuple(Slice(start, shape, names.get((start, shape), "")) for start, shape in parts)

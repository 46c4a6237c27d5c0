"""Tensors that are held in memory, by checkpoint key, behind the graph of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.errors import NoSuchTensorError, SourceError, UnsupportedError
from ckpt_viz.formats.arrays.slices import parse_slice_spec
from ckpt_viz.graphs.nodes.keys import parse_checkpoint_key
from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.graphs.object_graph.graph import Access, Graph

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array


class HeldTensor(NamedTuple):
    """A tensor of an object's state: its name in the object, its slice ("" if whole), its value.

    The value is an array, a tensor that NumPy does not know (of an iterator), or None if an
    uninitialized variable has none.
    """

    name: str
    slice_spec: str
    dtype: str
    value: Any


@dataclass(frozen=True)
class HeldAccess(Access):
    """The tensors of a snapshot, by checkpoint key; it holds no live object.

    `by_names` says that the keys are names of variables, as in a session.
    """

    title: str
    tensors: Mapping[str, Sequence[HeldTensor]]
    by_names: bool = False

    def accessor(self, graph: Graph, node_id: int, source: str) -> str:
        """Raise SourceError: a snapshot is like a file."""
        raise SourceError(f"{self.title}: holds values and no objects; ask the graph of the source")

    def beginning(self, checkpoint_key: str, count: int) -> Array:
        """Return the first elements of a tensor, flat."""
        first: Array = self._whole(checkpoint_key).reshape(-1)[:count].copy()
        return first

    def value(self, checkpoint_key: str) -> Array:
        """Return a copy of a tensor."""
        value: Array = self._whole(checkpoint_key).copy()
        return value

    def stored(self, checkpoint_key: str) -> Stored | None:
        """Return the dtype and shape of a tensor."""
        parts = self.tensors.get(checkpoint_key)
        return None if parts is None else Stored(parts[0].dtype, shape_of(parts))

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""
        if checkpoint_key in self.tensors:
            return (checkpoint_key,)
        if parse_checkpoint_key(checkpoint_key) is None:  # a name, or the beginning of one
            return ()
        return tuple(key for key in self.tensors if key.startswith(checkpoint_key))

    def _whole(self, checkpoint_key: str) -> Array:
        import numpy as np

        keys = self.tensor_keys(checkpoint_key)
        if len(keys) != 1:
            actual = f"is held as {' and '.join(keys[:3])}" if keys else "there is none"
            raise NoSuchTensorError(
                f"{self.title}: expected one tensor {checkpoint_key!r}, {actual}"
            )
        parts = self.tensors[keys[0]]
        if not hasattr(parts[0].value, "nbytes"):
            raise UnsupportedError(
                f"{checkpoint_key}: found a value of dtype {parts[0].dtype}, expected one that "
                "NumPy knows; the snapshot holds it, and puts it back"
            )
        return np.asarray(whole(parts))  # TensorFlow gives scalars that are no arrays


def shape_of(parts: Sequence[HeldTensor]) -> tuple[int, ...]:
    """Return the shape of a tensor, which may be in slices."""
    if parts[0].slice_spec:
        return parse_slice_spec(parts[0].slice_spec)[0]
    return tuple(parts[0].value.shape)


def whole(parts: Sequence[HeldTensor]) -> Any:
    """Return the value of a tensor, joined if it is in slices."""
    if not parts[0].slice_spec:
        return parts[0].value
    import numpy as np  # here, because only few programs have sharded variables

    joined = np.empty(shape_of(parts), parts[0].value.dtype)
    for part in parts:
        _, start, size = parse_slice_spec(part.slice_spec)
        joined[tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))] = part.value
    return joined


def parts_of(checkpoint_keys: Iterable[str], graph: Graph) -> tuple[HeldTensor, ...]:
    """Return the held tensors under some keys of a snapshot's graph."""
    tensors: Mapping[str, Sequence[HeldTensor]] = graph.held
    keys = (tensor for key in checkpoint_keys for tensor in graph.tensor_keys(key))
    return tuple(part for key in keys for part in tensors[key])

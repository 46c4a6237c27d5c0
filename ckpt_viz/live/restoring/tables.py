"""Hash tables: the effect of importing the stored entries into one.

Follows `CheckKeyAndValueTensorsForImport` in tensorflow/core/framework/lookup_interface.cc and
`MutableDenseHashTable` in tensorflow/core/kernels/lookup_table_op.cc. A DenseHashTable stores its
buckets as matrices. The entries of a MutableHashTable are vectors; if their shapes happen to pass
the check, it treats them as matrices, and the process ends (`CHECK` in tensor_shape.cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.ground.text import shape_words
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.matching.engines.read_failures import wrong_shape
from ckpt_viz.matching.engines.trace import Cause, Failure

_BUCKETS_RANK = 2
ABORT = "SIGABRT"


@dataclass(frozen=True, slots=True)
class HashTable:
    """A hash table: the shapes of one key and one value."""

    key_shape: tuple[int, ...]
    value_shape: tuple[int, ...]
    is_dense: bool

    def refuses(self, stored: Sequence[Stored]) -> Failure | None:
        """Return what importing these keys and values raises; None if it takes them."""
        if len(stored) != 2 or None in (stored[0].shape, stored[1].shape):
            return None
        return _refused(self, stored[0].shape or (), stored[1].shape or ())


def table_of(obj: Any) -> HashTable | None:
    """Return what a MutableHashTable or DenseHashTable accepts; None for other objects."""
    shapes = tf_restore.shapes_of_table(obj)
    return HashTable(*shapes) if shapes is not None else None


def _refused(table: HashTable, keys: tuple[int, ...], values: tuple[int, ...]) -> Failure | None:
    """Return the failure of an import; keys come first, each with one row of values.

    >>> mutable, dense = HashTable((), (), False), HashTable((), (), True)
    >>> _refused(mutable, (3,), (3,)), _refused(dense, (8, 1), (8, 1))
    (None, None)
    >>> _refused(dense, (3,), (3,)).message
    'Expected shape [1] for value, got [3]'
    >>> _refused(dense, (1,), (1,)).type
    'SIGABRT'
    """
    rank = len(table.key_shape)
    if keys[max(0, len(keys) - rank) :] != table.key_shape and rank:
        message = (
            f"Input key shape {_brackets(keys)} must end with the table's key shape "
            f"{_brackets(table.key_shape)}"
        )
        return wrong_shape("InvalidArgumentError", message, keys, table.key_shape)
    value_shape = table.value_shape
    if table.is_dense:  # it stores scalars as vectors of one element
        rank, value_shape = max(rank, 1), value_shape or (1,)
    expected = keys[: max(0, len(keys) - rank)] + value_shape
    if values != expected:
        message = f"Expected shape {_brackets(expected)} for value, got {_brackets(values)}"
        return wrong_shape("InvalidArgumentError", message, values, expected)
    if table.is_dense and len(keys) != _BUCKETS_RANK:
        return Failure(
            Cause.ABORT,
            ABORT,
            f"Check failed: NDIMS == dims() ({_BUCKETS_RANK} vs. {len(keys)}) Asking for tensor of "
            f"{_BUCKETS_RANK} dimensions from a tensor of {len(keys)} dimensions",
            actual=shape_words(keys),
        )
    return None


def _brackets(shape: tuple[int, ...]) -> str:
    """Return a shape as TensorFlow's kernels print it."""
    return "[" + ",".join(map(str, shape)) + "]"

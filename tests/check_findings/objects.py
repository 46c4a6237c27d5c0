"""Building blocks of the programs for several families of findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.check_findings.table import Pair
from tests.support.programs import ckpt, made_within, module, save_any, var, with_adam


def mutable_table(entries: int = 0, key: str = "int64") -> Any:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.as_dtype(key), tf.int64, -1)
    return filled(table, entries, key)


def dense_table(entries: int = 0, value_shape: Sequence[int] = (), key: str = "int64") -> Any:
    import tensorflow as tf

    empty, deleted = ("", "-") if key == "string" else (-1, -2)
    default = tf.zeros(value_shape, tf.int64)
    table = tf.lookup.experimental.DenseHashTable(
        tf.as_dtype(key), tf.int64, default, empty, deleted
    )
    return filled(table, entries, key)


def filled(table: Any, entries: int, key: str) -> Any:
    import tensorflow as tf

    keys = tf.range(entries, dtype=tf.int64)
    if entries:
        table.insert(tf.strings.as_string(keys) if key == "string" else keys, keys)
    return table


def two_blocks() -> Any:
    """Return a module with a list of two modules."""
    return module(blocks=[module(v=var()), module(v=var())])


def replaced_block() -> Any:
    """Return the same with an item of the list replaced: TensorFlow refuses to follow it."""
    model = two_blocks()
    model.blocks[0] = module(v=var())
    return model


def saved_with(at: Path, make: Callable[..., Any]) -> str:
    """Save a model of one variable and the optimizer that is made for it."""
    return save_any(at, with_adam(make))


def in_a_graph(path: str, value: Any, **options: Any) -> Pair:
    """Return a pair that TensorFlow 1 restores: a graph is built, and a session runs it."""
    import tensorflow as tf

    graph = tf.Graph()
    make = made_within(graph.as_default, lambda: ckpt(v=var(value, use_resource=True, **options)))
    return Pair(path, make, within=graph.as_default)

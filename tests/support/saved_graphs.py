"""Writes object graphs as checkpoints, without TensorFlow."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from pathlib import Path

from ckpt_viz import Attribute, Node, ObjectGraph
from tests.support.tables import (
    FLOAT32,
    INT32,
    INT64,
    Tensor,
    field,
    raw,
    shape,
    string,
    write_bundle,
)

_DTYPES = {"float32": (FLOAT32, 4), "int32": (INT32, 4), "int64": (INT64, 8)}
_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def write_graph(
    prefix: Path | str,
    graph: ObjectGraph,
    filled: Mapping[int, int] | None = None,
    *,
    shards: int = 1,
) -> str:
    """Write a checkpoint of these nodes and return its prefix.

    Every byte of a node's values is 0, or the number that `filled` has for the node's id.
    """
    tensors = {
        attribute.checkpoint_key: _tensor(attribute, (filled or {}).get(node_id, 0))
        for node_id, node in enumerate(graph.nodes)
        for attribute in node.attributes
    }
    proto = b"".join(field(1, _node(node)) for node in graph.nodes)
    every = dict(sorted({**tensors, _GRAPH: string(proto)}.items()))
    return write_bundle(prefix, every, shards=shards)


def _tensor(attribute: Attribute, byte: int) -> Tensor:
    dtype, size = _DTYPES[attribute.dtype or "float32"]
    dims = attribute.shape or ()
    return raw(dtype, shape(*dims), struct.pack("B", byte) * size * math.prod(dims))


def _node(node: Node) -> bytes:
    parts = [field(1, field(1, c.node_id) + field(2, c.local_name.encode())) for c in node.children]
    parts += [
        field(
            2,
            field(1, a.name.encode())
            + field(2, a.full_name.encode())
            + field(3, a.checkpoint_key.encode()),
        )
        for a in node.attributes
    ]
    parts += [
        field(3, field(1, s.variable) + field(2, s.slot_name.encode()) + field(3, s.slot_variable))
        for s in node.slot_variables
    ]
    return b"".join(parts)

"""The public object graph: what `graph(source)` returns, with its pictures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckpt_viz.live.source import read_live
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.roles import assign_roles
from ckpt_viz.render import text
from ckpt_viz.saved.object_based import read_checkpoint

if TYPE_CHECKING:
    import graphviz


@dataclass(frozen=True)
class ObjectGraph(Graph):
    """An object graph, of live objects or of a saved checkpoint.

    `nodes` by node id, node 0 the root: those of a saved graph are the file's, those of a
    live graph the ones that `Checkpoint.write` would give now. `print(graph)` draws a tree.
    """

    def to_dot(self) -> graphviz.Digraph:
        """Return the graph in the look of TensorFlow's guide, as a `graphviz.Digraph`."""
        from ckpt_viz.render.dot import to_dot

        return to_dot(self)

    def __str__(self) -> str:
        return text.render_tree(self)

    def __repr__(self) -> str:
        return f"<ObjectGraph of {text.summary(self)}>"


def graph(source: object) -> ObjectGraph:
    """Return the object graph of a live object or of a saved checkpoint.

    Args:
        source: A live object that TensorFlow can track (`tf.train.Checkpoint`, `tf.Module`,
            Keras layer, model or optimizer), the prefix of an object-based checkpoint (str or
            path), or an ObjectGraph, which is returned as it is.

    Raises:
        CheckpointNotFoundError: The path leads to no checkpoint.
        FormatError: The file is corrupt, truncated or no checkpoint.
        UnsupportedError: A kind of checkpoint that this version does not read.
        SourceError: The object is neither a path nor trackable.
    """
    if isinstance(source, ObjectGraph):
        return source
    found = read_checkpoint(source) if isinstance(source, (str, os.PathLike)) else read_live(source)
    return ObjectGraph(
        assign_roles(found.nodes),
        found.title,
        found.origin,
        found.provenance,
        found._access,
    )

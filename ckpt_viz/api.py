"""The public object graph: what `graph(source)` returns, with its pictures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.render import text

if TYPE_CHECKING:
    import graphviz

    from ckpt_viz.restore_check.result import RestoreCheck


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


def graph(source: object, *, meta: str | os.PathLike[str] | None = None) -> ObjectGraph:
    """Return the object graph of a live object or of a saved checkpoint.

    Args:
        source: What to read. Live: anything that TensorFlow can track (`tf.train.Checkpoint`,
            `tf.Module`, Keras layer, model or optimizer), a `tf.train.CheckpointManager`, the
            status that `restore` returned, a `tf.compat.v1.train.Saver`. Saved, as str or
            path, local or remote: a checkpoint's prefix, any of its files, a directory of
            checkpoints (its latest) or a SavedModel's. An ObjectGraph is returned as it is.
        meta: The `.meta` file of a name-based checkpoint, where it does not lie beside it.

    Raises:
        CheckpointNotFoundError: The path leads to no checkpoint.
        FormatError: A file is corrupt, truncated or no checkpoint.
        UnsupportedError: A kind of file that is not read, or an extra that is not installed.
        SourceError: The object is neither a path nor trackable.
    """
    if isinstance(source, ObjectGraph):
        return source
    if isinstance(source, (str, os.PathLike)):
        from ckpt_viz.saved.source import read_saved

        found = read_saved(source, meta)
    else:
        from ckpt_viz.live.source import read_live

        found = read_live(source)
    return ObjectGraph(
        found.nodes,
        found.title,
        found.origin,
        found.provenance,
        found._access,
    )


def check(
    live: object,
    saved: object = None,
    *,
    method: str | None = None,
    options: Any = None,
) -> RestoreCheck:
    """Return what restoring a checkpoint into a live object would do; changes nothing.

    Args:
        live: What would be restored: a `tf.train.Checkpoint` or its manager, a
            `tf.compat.v1.train.Saver`, or any other trackable, which stands for
            `tf.train.Checkpoint(root=live)`. The status that a `restore` returned shows what
            that has done; it takes no `saved`. The ObjectGraph of live objects stands for them,
            that of a checkpoint, or its path, for a program that would save just it.
        saved: The path exactly as `restore` would get it, an ObjectGraph of a checkpoint, a
            manager (its latest checkpoint), or None, which `tf.train.latest_checkpoint` returns
            where there is none.
        method: `"restore"` or `"read"`; by default what the kind of live object has.
        options: The `tf.train.CheckpointOptions` of the call.

    Returns:
        A RestoreCheck. What the restore itself would raise is in its `raises`.

    Raises:
        SourceError: The live object cannot be restored into, or the arguments do not fit.
        FormatError: TensorFlow opens the checkpoint, and ckpt_viz cannot read it.
    """
    from ckpt_viz.restore_check.result import RestoreCheck
    from ckpt_viz.restore_check.run import run_check

    return RestoreCheck(run_check(live, saved, method, options, graph=graph))

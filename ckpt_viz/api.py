"""The public object graph: what `graph(source)` returns, with its pictures."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.render import text
from ckpt_viz.render.signs import shown_on_stdout

if TYPE_CHECKING:
    import graphviz

    from ckpt_viz.graph_diff.diff_result import GraphDiff
    from ckpt_viz.restore_check.check_result import RestoreCheck


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

    def to_svg(self) -> str:
        """Return the outline as a static SVG, in at most 300 rows."""
        from ckpt_viz.render.svg import to_svg

        return to_svg(self)

    def to_json(self) -> dict[str, Any]:
        """Return the graph as data for `json.dumps`: see docs/graph_json.md."""
        from ckpt_viz.render.graph_json import graph_json

        return graph_json(self)

    def __str__(self) -> str:
        return shown_on_stdout(text.render_tree(self))

    def __repr__(self) -> str:
        return shown_on_stdout(f"<ObjectGraph of {text.summary(self)}>")


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
        from ckpt_viz.saved.saved_source import read_saved

        found = read_saved(source, meta)
    else:
        from ckpt_viz.live.live_source import read_live

        found = read_live(source)
    return object_graph(found)


def object_graph(found: Graph) -> ObjectGraph:
    """Return a graph with its pictures."""
    if isinstance(found, ObjectGraph):
        return found
    return ObjectGraph(found.nodes, found.title, found.origin, found.provenance, found._access)


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
    from ckpt_viz.restore_check.check_result import RestoreCheck
    from ckpt_viz.restore_check.run import run_check

    return RestoreCheck(*run_check(live, saved, method, options, graph=graph))


def diff(a: object, b: object, *, values: bool = False) -> GraphDiff:
    """Return how two object graphs differ, node by node.

    Nodes are paired as restoring a into b would: by their local names from the roots on, slot
    variables by variable, optimizer and name. Between two files, other values show in the
    checksums of the stored bytes; no tensor is read.

    Args:
        a: Any source that `graph` takes: live objects, a path, an ObjectGraph.
        b: Another.
        values: Whether to read and compare the values that checksums do not tell of: those of
            live objects, of files of the V1 format, of tensors stored in other slices.

    Returns:
        A GraphDiff; `print` lists what differs, `is_empty` says whether anything does.

    Raises:
        CkptVizError: As `graph` does, for either source.
    """
    from ckpt_viz.graph_diff.diff_result import diff_of

    return diff_of(graph(a), graph(b), values=values)


def compare(source: object, against: object) -> RestoreCheck | GraphDiff:
    """Return the check of a live and a saved side, or the diff of two sides of a kind.

    A manager is its latest file beside something live, and its checkpoint beside a file. Of a
    diff `against` is a, the older one.
    """
    if _is_manager(source) and _is_manager(against):
        return diff(against, source)
    source_is_saved = _is_saved(source, beside=against)
    if source_is_saved == _is_saved(against, beside=source):
        return diff(against, source)
    return check(against, source) if source_is_saved else check(source, against)


def _is_saved(source: object, *, beside: object) -> bool:
    if _is_manager(source):
        return not _is_saved(beside, beside=None)
    if isinstance(source, ObjectGraph):
        return source.origin is Origin.SAVED
    return isinstance(source, (str, os.PathLike))


def _is_manager(source: object) -> bool:
    from ckpt_viz.live.tensorflow_private import is_checkpoint_manager

    return "tensorflow" in sys.modules and is_checkpoint_manager(source)

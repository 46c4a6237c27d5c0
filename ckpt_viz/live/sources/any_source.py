"""Any source, live or saved, as an object graph."""

from __future__ import annotations

import os
import sys

from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.sources.pictured import ObjectGraph


def graph_of(
    source: object, meta: str | os.PathLike[str] | None = None, as_saved_by: str | None = None
) -> ObjectGraph:
    """Return the graph of a path, a live object or a snapshot, or the source if it is a graph.

    `meta` is the `.meta` file of a name-based checkpoint. `as_saved_by` is "keras" for the graph of
    the file that Keras' `save_weights` would write of a model. Raises CkptVizError.
    """
    if as_saved_by is not None:
        return _as_saved_by(as_saved_by, source)
    if isinstance(source, Graph):
        return ObjectGraph.of(source)
    # Imported late: most programs need only one of them.
    if isinstance(source, (str, os.PathLike)):
        from ckpt_viz.files.saved.saved_source import read_saved

        return ObjectGraph.of(read_saved(source, meta))
    from ckpt_viz.live.objects.live_source import read_live

    if is_snapshot(source):
        graph: ObjectGraph = source.graph  # type: ignore[attr-defined]
        return graph
    return ObjectGraph.of(read_live(source))


def _as_saved_by(saver: str, source: object) -> ObjectGraph:
    if saver != "keras":
        raise SourceError(f"as_saved_by: found {saver!r}, expected 'keras' or None")
    from ckpt_viz.live.keras.keras_graph import read_as_keras_saves

    return ObjectGraph.of(read_as_keras_saves(source))


def is_snapshot(source: object) -> bool:
    """Return whether a source is a Snapshot: values in memory, which count as saved."""
    # A program that has made none has not imported the module.
    module = sys.modules.get("ckpt_viz.live.sources.snapshot")
    return module is not None and isinstance(source, module.Snapshot)

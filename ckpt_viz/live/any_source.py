"""Any source, live or saved, as an object graph."""

from __future__ import annotations

import os

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.render.pictured import ObjectGraph


def graph_of(source: object, meta: str | os.PathLike[str] | None = None) -> ObjectGraph:
    """Return the graph of a path or of a live object, or the source if it is a graph.

    `meta` is the `.meta` file of a name-based checkpoint. Raises CkptVizError.
    """
    if isinstance(source, Graph):
        return ObjectGraph.of(source)
    # Imported late: most programs need only one of them.
    if isinstance(source, (str, os.PathLike)):
        from ckpt_viz.saved.saved_source import read_saved

        return ObjectGraph.of(read_saved(source, meta))
    from ckpt_viz.live.live_source import read_live

    return ObjectGraph.of(read_live(source))

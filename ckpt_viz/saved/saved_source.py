"""Any saved checkpoint as an object graph."""

from __future__ import annotations

import os

from ckpt_viz.gc_pause import gc_paused
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.saved.locate import locate


def read_saved(path: str | os.PathLike[str], meta: str | os.PathLike[str] | None = None) -> Graph:
    """Return the object graph of the checkpoint that a path leads to (see `locate`).

    `meta` is the `.meta` file of a name-based checkpoint, if it is elsewhere. Reads the index, the
    object graph, and the facts about objects in a SavedModel or MetaGraph; reads no other tensor.
    Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """

    def read() -> Graph:
        location = locate(os.fspath(path))
        return location.reader.read(location, None if meta is None else os.fspath(meta))

    return gc_paused(read)

"""Any saved checkpoint as an object graph."""

from __future__ import annotations

import os

from ckpt_viz.errors import CkptVizError, GoneError
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.location import Location
from ckpt_viz.formats.storage.files import again_if_gone, is_file
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.gc_pause import gc_paused


def read_saved(path: str | os.PathLike[str], meta: str | os.PathLike[str] | None = None) -> Graph:
    """Return the object graph of the checkpoint that a path leads to (see `locate`).

    `meta` is the `.meta` file of a name-based checkpoint, if it is elsewhere. Reads the index, the
    object graph, and the facts about objects in a SavedModel or MetaGraph; reads no other tensor.
    Raises CheckpointNotFoundError, FormatError or UnsupportedError.
    """
    given, of_user = os.fspath(path), None if meta is None else os.fspath(meta)
    return gc_paused(lambda: again_if_gone(lambda: _read(given, of_user)))


def _read(path: str, meta: str | None) -> Graph:
    """Return the graph at a path; raise GoneError if its checkpoint was removed meanwhile."""
    location = locate(path)
    try:
        graph = location.reader.read(location, meta)
    except CkptVizError as error:
        if not _is_there(location):
            raise GoneError(str(error)) from error
        raise
    if _lacks_bytes(graph) and not _is_there(location):
        raise GoneError(f"{location.prefix}: this checkpoint has disappeared; read again")
    return graph


def _is_there(location: Location) -> bool:
    """Return whether a checkpoint that was located still exists, as far as that is known."""
    files = location.reader.files_of(location)
    try:
        return any(map(is_file, files.values if files.index is None else (files.index,)))
    except CkptVizError:
        return True


def _lacks_bytes(graph: Graph) -> bool:
    for node in graph.nodes:  # a loop in place of `any`, which takes twice as long
        if node.error is not None:
            return True
        for attribute in node.attributes:
            if attribute.error is not None:
                return True
    return False

"""The facts about variables in a MetaGraph beside a name-based checkpoint."""

from __future__ import annotations

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.location import Location
from ckpt_viz.formats.bundles.meta_graph import (
    MetaGraph,
    open_meta_graph,
    open_saved_models_meta_graph,
)
from ckpt_viz.formats.bundles.saved_model import SAVED_MODEL
from ckpt_viz.formats.storage.files import join


def facts_of(location: Location, meta: str | None) -> tuple[MetaGraph | None, tuple[str, ...]]:
    """Return the MetaGraph of a checkpoint, None if there is none, and a note if it is unreadable.

    `meta` is its path if the user gave one: then it must be readable.
    """
    if meta is not None:
        return open_meta_graph(meta), ()
    try:
        if location.saved_model is not None:
            return open_saved_models_meta_graph(join(location.saved_model, SAVED_MODEL)), ()
        return None if location.meta is None else open_meta_graph(location.meta), ()
    except CkptVizError as error:
        return None, (f"without the MetaGraph's facts: {error}",)

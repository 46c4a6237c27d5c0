"""What a check says of an Orbax checkpoint: which call restores it, since TensorFlow does not."""

from __future__ import annotations

import os

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.orbax_reader import ORBAX, run_of
from ckpt_viz.files.saved.saved_source import read_saved
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.graphs.overlay.remedy import Advice, LoadWithKeras
from ckpt_viz.live.keras.keras_private import is_model


def refuse_orbax(live: object, saved: object) -> None:
    """Raise UnsupportedError for a Keras model and an Orbax checkpoint, with what to do instead."""
    if not is_model(live):
        return
    graph = saved
    if isinstance(saved, (str, os.PathLike)) and _is_orbax(os.fspath(saved)):
        graph = read_saved(saved)
    source = graph.provenance if isinstance(graph, Graph) else None
    if source is None or source.format not in (Format.ORBAX, Format.KERAS_ORBAX):
        return
    assert isinstance(graph, Graph)
    raise UnsupportedError(
        f"{source.prefix}: a {source.format.value}, which this check does not try to load. "
        f"{_how(source.format)}Compare first: cv.diff(model, {source.prefix!r}). "
        f"{remedy_of(graph)}".rstrip(".")
    )


def _is_orbax(path: str) -> bool:
    return os.path.isdir(path) and locate(path).reader is ORBAX


def _how(form: Format) -> str:
    if form is Format.ORBAX:
        return ""
    return (
        "Keras gives each value to the variable of the same path, raises ValueError for another "
        "shape, and leaves out all other values without a message. Compile the model before. "
    )


def remedy_of(graph: Graph) -> LoadWithKeras | Advice:
    """Return which call restores an Orbax checkpoint."""
    source = graph.provenance
    assert source is not None
    if source.format is Format.ORBAX:
        return Advice("Restore it with orbax-checkpoint, in a program like the one that saved it.")
    directory, is_latest = run_of(source.prefix)
    is_model = graph.nodes[ROOT].type_name is not None
    if is_latest:
        return LoadWithKeras(directory, is_model, has_fix=False)
    return Advice(
        f"Copy {source.prefix} into a directory of its own, and load that directory with "
        "model.load_weights: Keras loads the latest step of a directory."
    )

"""TensorFlow.js' layers models: a `model.json` and its shards."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.saved.location import Files, FormatReader, Location
from ckpt_viz.files.saved.saved_access import graph_at
from ckpt_viz.files.saved.writers import of_tfjs
from ckpt_viz.formats.storage.files import File, is_readable_file, join, split
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format

# What reads a model is imported when one is met.

_JSON, _SHARD = ".json", ".bin"
_USUAL = "model.json"


def tfjs_in(directory: str) -> Location | None:
    """Return the model whose `model.json` is in a directory, None if there is none."""
    path = join(directory, _USUAL)
    if not _is_model(path):
        return None
    resolved = f"{path} is the TensorFlow.js model in {directory}"
    return Location(directory, path, TFJS, resolved=resolved)


def _is_model(path: str) -> bool:
    with suppress(CkptVizError):
        if is_readable_file(path):
            from ckpt_viz.files.keras_files.tfjs_model import lists_weights

            return lists_weights(path)
    return False


def _is_at(prefix: str) -> bool:
    return prefix.endswith(_JSON) and is_readable_file(prefix)


def _holds(file: File) -> bool:
    return False


def _in_file(path: str) -> Location | None:
    if path.endswith(_SHARD):
        return _of_shard(path)
    return Location(path, path, TFJS) if _is_model(path) else None


def _of_shard(path: str) -> Location | None:
    """Return the model that lists a shard, if it is the `model.json` beside it."""
    whole = join(split(path)[0], _USUAL)
    with suppress(CkptVizError):
        if _is_model(whole) and path in _shards(whole):
            resolved = f"{path} is a shard of the TensorFlow.js model {whole}"
            return Location(path, whole, TFJS, resolved=resolved)
    return None


def _shards(path: str) -> tuple[str, ...]:
    from ckpt_viz.files.keras_files.tfjs_model import TfjsModel

    return TfjsModel(path).shards


def _files_of(location: Location) -> Files:
    return Files(location.prefix, _shards(location.prefix))


def _read(location: Location, meta: str | None) -> Graph:
    from ckpt_viz.files.keras_files.legacy_layout import nodes_of_legacy
    from ckpt_viz.files.keras_files.tfjs_model import TfjsModel
    from ckpt_viz.files.keras_files.weights_layout import nodes_of_weights

    model = TfjsModel(location.prefix)
    notes: tuple[str, ...] = ()
    form = Format.TFJS
    if model.is_of_keras_3:
        form = Format.TFJS_OF_KERAS_3
        nodes, calls, notes = nodes_of_weights(model, model.config)
    else:
        nodes, calls = nodes_of_legacy(model)
    graph = graph_at(location, model, nodes, form, notes, writer=of_tfjs(model))
    return replace(graph, calls=calls)


TFJS = FormatReader("TensorFlow.js", _is_at, _holds, _in_file, _files_of, _read)

"""Writes the weights of a live Keras model, with other values for some, as Keras' own file."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import CkptVizError, SourceError, UnsupportedError
from ckpt_viz.formats.storage.files import is_remote
from ckpt_viz.formats.storage.new_files import NewFiles
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.interrupts import OwnDirectory
from ckpt_viz.live.keras.keras_graph import keras_target, read_as_keras_saves
from ckpt_viz.live.keras.keras_private import is_model

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

SUFFIX = ".weights.h5"
_OF_KERAS = (".h5", ".hdf5", ".keras", ".weights.json")
_PIECE = 1 << 24  # bytes


def is_path_of_weights(path: str) -> bool:
    """Return whether a path is one of Keras' weights; raise SourceError for Keras' other files.

    >>> is_path_of_weights("new.weights.h5"), is_path_of_weights("ckpts/ckpt-1")
    (True, False)
    """
    if path.endswith(SUFFIX):
        return True
    if path.endswith(_OF_KERAS):
        raise SourceError(
            f"{path}: expected a path that ends with {SUFFIX}, or the prefix of a new checkpoint; "
            "load what a fix writes, then save the model by Keras"
        )
    return False


def write_keras_weights(live: Graph, values: Mapping[int, Callable[[], Array]], path: str) -> None:
    """Write what `save_weights` of the model would write once some objects have other values.

    Keras itself writes the file, so the format is that of the installed version. The model does not
    change.

    Args:
        live: The graph of a Keras model.
        values: What reads the value of each live object that gets another one.
        path: Of the new file; it ends with `.weights.h5`.

    Raises:
        SourceError: The program is no built Keras model.
        UnsupportedError: Keras saves no weight for one of the objects.
        CkptVizError: The file exists or cannot be written, or a value cannot be read.
    """
    if is_remote(path):
        raise UnsupportedError(f"{path}: expected a local path to write to; copy the file then")
    if os.path.lexists(path):
        raise CkptVizError(f"{path}: exists already, expected no such file; choose another path")
    model: Any = live.source
    if not is_model(model):
        raise SourceError(
            f"{live.title}: expected a live Keras model for a file {SUFFIX}; check the model "
            "itself, or give the prefix of a new checkpoint"
        )
    with OwnDirectory() as directory:
        written = os.path.join(directory, f"new{SUFFIX}")
        keys = _keys_by_object(live, model, values)
        model.save_weights(written)
        _replace(written, {key: values[obj] for obj in values for key in keys[obj]})
        with NewFiles() as files:
            files.write(f"{path}.part", pieces(written))
            files.publish(f"{path}.part", path)


def _keys_by_object(
    live: Graph, model: object, objects: Mapping[int, object]
) -> Mapping[int, list[str]]:
    """Return the paths of the data sets that Keras writes for live objects."""
    saved = read_as_keras_saves(model)
    keys: dict[int, list[str]] = defaultdict(list)
    for node_id, node in enumerate(saved.nodes):
        obj = saved.object(node_id)
        if node.attributes and obj is not None:
            keys[id(obj)].append(node.attributes[0].checkpoint_key)
    target = keras_target(model)
    for number, node_id in target.variables.items():
        of_variable = keys[id(target.held[number]())]
        if not of_variable:  # the kernel under LoRA: Keras saves a sum with it
            of_variable.append(target.graph.nodes[node_id].attributes[0].checkpoint_key)
    by_object = {obj: keys[id(live.object(obj))] for obj in objects}
    for obj, of_object in by_object.items():
        if not of_object:
            raise UnsupportedError(
                f"{live.name(obj)}: Keras saves no weight for this object; give the prefix of a "
                "new checkpoint instead"
            )
    return by_object


def _replace(path: str, values: Mapping[str, Callable[[], Array]]) -> None:
    """Give data sets of a file other values, one at a time."""
    import h5py

    with h5py.File(path, "r+") as file:
        for key, read in values.items():
            dataset, value = file[key], read()
            # Keras stores bfloat16 as bytes without a meaning.
            dataset[...] = value.view(dataset.dtype) if dataset.dtype.kind == "V" else value


def pieces(path: str) -> Iterator[bytes]:
    """Yield the bytes of a local file."""
    with Path(path).open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece

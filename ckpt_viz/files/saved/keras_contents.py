"""The graphs of Keras' own files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.files.keras_files.legacy_layout import is_legacy, nodes_of_legacy
from ckpt_viz.files.keras_files.shards import Shards, shard_paths
from ckpt_viz.files.keras_files.weights_layout import VARIABLES, nodes_of_weights
from ckpt_viz.files.saved.location import Location
from ckpt_viz.files.saved.saved_access import graph_at
from ckpt_viz.files.saved.writers import of_archive, of_hdf5, of_weights
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5, begins_as_hdf5, open_hdf5
from ckpt_viz.formats.storage.files import open_file
from ckpt_viz.formats.storage.zip_archive import member, read_member
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format

_CONFIG = "config.json"
_WEIGHTS = "model.weights.h5"
_METADATA = "metadata.json"
_MOST_METADATA = 1 << 16
_MOST_JSON = 64 << 20  # bytes of a configuration, or of the list of shards
# The attribute of the root by which other programs mark their HDF5 files.
_WRITERS = {
    "PYTABLES_FORMAT_VERSION": (" of PyTables or pandas", "pandas.HDFStore"),
    "_NCProperties": (" of netCDF-4", "xarray.open_dataset"),
    "encoding-type": (" of AnnData", "anndata.read_h5ad"),
}


def read_keras(location: Location, *, is_list: bool) -> Graph:
    """Return the graph of a file of Keras, or of the shards that a `.weights.json` lists."""
    path = location.prefix
    if is_list:
        shards = Shards(path, _list_of_shards(path))
        with shards.kept_open():
            nodes, _, notes = nodes_of_weights(shards)
        if shards.missing:
            nodes = (nodes[ROOT]._replace(error=_missing(shards)), *nodes[1:])
        return graph_at(location, shards, nodes, Format.KERAS_WEIGHTS, notes, writer=of_weights())
    with open_file(path) as file:
        is_archive = not begins_as_hdf5(file)
    if is_archive:
        return _read_archive(location)
    stored = open_hdf5(path, lambda: open_file(path))
    with stored.kept_open():
        if is_legacy(stored):
            nodes, calls = nodes_of_legacy(stored)
            graph = graph_at(location, stored, nodes, Format.KERAS_H5, writer=of_hdf5(stored))
            return replace(graph, calls=calls)
        _check_weights(stored)
        nodes, calls, notes = nodes_of_weights(stored)
    graph = graph_at(location, stored, nodes, Format.KERAS_WEIGHTS, notes, writer=of_weights())
    return replace(graph, calls=calls)


def _missing(shards: Shards) -> str:
    number = len(shards.missing)
    are, them = ("shards are", "them") if number > 1 else ("shard is", "it")
    first = f"{shards.missing[0]:.300}"
    return f"{number} {are} missing, {first} first; the values in {them} are not shown"


def _read_archive(location: Location) -> Graph:
    path = location.prefix
    stored = open_hdf5(f"{path}: {_WEIGHTS}", member(path, _WEIGHTS))
    _check_weights(stored)
    try:
        encoded, damage = read_member(path, _CONFIG, _MOST_JSON) or b"{}", None
    except FormatError as error:  # the values are in another member, with a checksum of its own
        encoded, damage = b"{}", f"{error}; the graph has no classes and no names of layers"
    config = mapping_in(f"{path}: {_CONFIG}", encoded)
    with stored.kept_open():
        nodes, calls, notes = nodes_of_weights(stored, config)
    if damage is not None:
        nodes = (nodes[ROOT]._replace(error=damage), *nodes[1:])
    writer = of_archive(_metadata(path))
    return replace(
        graph_at(location, stored, nodes, Format.KERAS_ARCHIVE, notes, writer=writer), calls=calls
    )


def _metadata(path: str) -> Mapping[str, Any]:
    """Return what an archive says of its writer; nothing if that is damaged."""
    with suppress(CkptVizError):
        return mapping_in(path, read_member(path, _METADATA, _MOST_METADATA) or b"{}")
    return {}


def _check_weights(stored: Hdf5) -> None:
    """Raise UnsupportedError for an HDF5 file that Keras did not write."""
    if not any(group.rpartition("/")[2] == VARIABLES for group in stored.groups):
        some = ", ".join(list(stored.entries)[:3]) or "no data sets"
        writer, reader = _other_writer(stored)
        raise UnsupportedError(
            f"{stored.path}: an HDF5 file{writer}, but not one of Keras: found {some}; expected "
            f"the attribute layer_names or groups called vars; open it with {reader}"
        )


def _other_writer(stored: Hdf5) -> tuple[str, str]:
    """Return which program wrote an HDF5 file, after " of", and what opens it."""
    attributes = ((name, stored.text("", name)) for name in _WRITERS)
    known = next((name for name, text in attributes if text is not None), None)
    return ("", "h5py") if known is None else _WRITERS[known]


def paths_of_shards(path: str) -> tuple[str, ...]:
    """Return the paths of the shards that a `.weights.json` lists."""
    return shard_paths(path, _list_of_shards(path))


def _list_of_shards(path: str) -> Mapping[str, Any]:
    """Return what a `.weights.json` says: for each group the files that hold it."""
    with open_file(path) as file:
        if file.size > _MOST_JSON:
            raise UnsupportedError(
                f"{path}: has {file.size} bytes, expected a list of shards of at most {_MOST_JSON}"
            )
        content = mapping_in(f"{path}: the list of shards", file.read(0, file.size))
    shards = content.get("weight_map")
    if not isinstance(shards, Mapping):
        raise FormatError(f"{path}: found no weight_map, expected the groups of each shard")
    return shards

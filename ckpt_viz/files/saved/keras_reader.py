"""Keras' own files: `.h5`, `.weights.h5`, `.weights.json` with its shards, and `.keras`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.files.keras_files.legacy_layout import is_legacy, nodes_of_legacy
from ckpt_viz.files.keras_files.shards import Shards, shard_paths
from ckpt_viz.files.keras_files.weights_layout import VARIABLES, nodes_of_weights
from ckpt_viz.files.saved.file_types import has_name_of_keras
from ckpt_viz.files.saved.location import Files, FormatReader, Location
from ckpt_viz.files.saved.saved_access import graph_at
from ckpt_viz.files.saved.writers import of_archive, of_hdf5, of_weights
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5, begins_as_hdf5, open_hdf5
from ckpt_viz.formats.storage.files import File, is_file, is_readable_file, open_file
from ckpt_viz.formats.storage.zip_archive import member, member_names, read_member
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Format, Graph

_ZIP = b"PK\x03\x04"
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
_LIST = ".weights.json"
_SHARD = re.compile(r"(.*)_[0-9]{5}\.weights\.h5", re.DOTALL)


def without_shards(names: Iterable[str]) -> list[str]:
    """Return the names without the shards of a `.weights.json` that is among them."""
    there = list(names)
    lists = {name for name in there if name.endswith(_LIST)}
    return [name for name in there if list_of_shard(name) not in lists]


def list_of_shard(path: str) -> str | None:
    """Return the path of the `.weights.json` that lists a shard; None for other names.

    >>> list_of_shard("x_00001.weights.h5"), list_of_shard("x.weights.h5")
    ('x.weights.json', None)
    """
    shard = _SHARD.fullmatch(path)
    return None if shard is None else shard[1] + _LIST


def _is_at(prefix: str) -> bool:
    return has_name_of_keras(prefix) and is_readable_file(prefix)


def _holds(file: File) -> bool:
    return begins_as_hdf5(file)


def _in_file(path: str) -> Location | None:
    if path.endswith(_LIST):
        return Location(path, path, KERAS)
    with open_file(path) as file:
        if begins_as_hdf5(file):
            return _of_hdf5(path)
        is_zip = file.size > len(_ZIP) and file.read(0, len(_ZIP)) == _ZIP
    with suppress(FormatError):  # of a damaged archive, which `other_files` names
        if is_zip and {_CONFIG, _WEIGHTS} <= set(member_names(path)):
            return Location(path, path, KERAS)
    return None


def _of_hdf5(path: str) -> Location:
    """Return the location of an HDF5 file; of a shard, that of the file that lists all shards."""
    whole = list_of_shard(path)
    if whole is not None and is_file(whole):
        return Location(path, whole, KERAS, resolved=f"{path} is a shard of the weights {whole}")
    return Location(path, path, KERAS)


def _files_of(location: Location) -> Files:
    if not location.prefix.endswith(_LIST):
        return Files(None, (location.prefix,))
    return Files(location.prefix, shard_paths(location.prefix, _list_of_shards(location.prefix)))


def _read(location: Location, meta: str | None) -> Graph:
    path = location.prefix
    if path.endswith(_LIST):
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


KERAS = FormatReader("Keras", _is_at, _holds, _in_file, _files_of, _read)

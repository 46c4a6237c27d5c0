"""Keras' own files: `.h5`, `.weights.h5`, `.weights.json` with its shards, and `.keras`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from ckpt_viz.errors import FormatError
from ckpt_viz.files.saved.file_types import has_name_of_keras
from ckpt_viz.files.saved.location import Files, FormatReader, Location
from ckpt_viz.formats.storage.files import File, is_file, is_readable_file, open_file
from ckpt_viz.graphs.object_graph.graph import Graph

# What reads the files is imported when one is met: most checkpoints are TensorFlow's.

_ZIP = b"PK\x03\x04"
_MEMBERS = {"config.json", "model.weights.h5"}
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
    from ckpt_viz.formats.hdf5_files.hdf5 import begins_as_hdf5

    return begins_as_hdf5(file)


def _in_file(path: str) -> Location | None:
    if path.endswith(_LIST):
        return Location(path, path, KERAS)
    with open_file(path) as file:
        if _holds(file):
            return _of_hdf5(path)
        is_zip = file.size > len(_ZIP) and file.read(0, len(_ZIP)) == _ZIP
    with suppress(FormatError):  # of a damaged archive, which `other_files` names
        if is_zip and _has_members(path):
            return Location(path, path, KERAS)
    return None


def _has_members(path: str) -> bool:
    from ckpt_viz.formats.storage.zip_archive import member_names

    return set(member_names(path)) >= _MEMBERS


def _of_hdf5(path: str) -> Location:
    """Return the location of an HDF5 file; of a shard, that of the file that lists all shards."""
    whole = list_of_shard(path)
    if whole is not None and is_file(whole):
        return Location(path, whole, KERAS, resolved=f"{path} is a shard of the weights {whole}")
    return Location(path, path, KERAS)


def _files_of(location: Location) -> Files:
    if not location.prefix.endswith(_LIST):
        return Files(None, (location.prefix,))
    from ckpt_viz.files.saved.keras_contents import paths_of_shards

    return Files(location.prefix, paths_of_shards(location.prefix))


def _read(location: Location, meta: str | None) -> Graph:
    from ckpt_viz.files.saved.keras_contents import read_keras

    return read_keras(location, is_list=location.prefix.endswith(_LIST))


KERAS = FormatReader("Keras", _is_at, _holds, _in_file, _files_of, _read)

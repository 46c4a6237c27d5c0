r"""Writes a copy of Keras' file in which the groups have the names that Keras looks for.

Keras 2 calls them `layers\dense` on Windows, and then finds none of them.
"""

from __future__ import annotations

import os
import zipfile
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ckpt_viz.errors import CkptVizError, SourceError, UnsupportedError
from ckpt_viz.files.keras_files.windows_names import with_slashes
from ckpt_viz.formats.storage.files import is_remote
from ckpt_viz.formats.storage.new_files import NewFiles
from ckpt_viz.formats.storage.zip_archive import member
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format
from ckpt_viz.live.writing.keras_weights import pieces

if TYPE_CHECKING:
    from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5

_SUFFIXES = {Format.KERAS_WEIGHTS: ".weights.h5", Format.KERAS_ARCHIVE: ".keras"}


def is_path_of_copy(path: str) -> bool:
    """Return whether a path is one of a file that Keras loads.

    >>> is_path_of_copy("new.keras"), is_path_of_copy("new.weights.h5"), is_path_of_copy("ckpt")
    (True, True, False)
    """
    return path.endswith(tuple(_SUFFIXES.values()))


def write_keras_copy(graph: Graph, path: str) -> None:
    """Write the file of a graph once more, with `/` for each backslash in the names of groups.

    Raises:
        SourceError: The graph is edited, or not of such a file.
        CkptVizError: The file exists or cannot be written, or the source cannot be read.
    """
    provenance = graph.provenance
    suffix = None if provenance is None else _SUFFIXES.get(provenance.format)
    if provenance is None or suffix is None or graph.is_unwritten or not path.endswith(suffix):
        raise SourceError(
            f"{graph.title}: {path!r} is the name of a file that Keras loads; expected the "
            "unedited graph of a file that ends so, or the prefix of a new checkpoint"
        )
    if is_remote(path) or is_remote(provenance.prefix):
        raise UnsupportedError(f"{path}: expected local paths to read and write; copy the file")
    if os.path.lexists(path):
        raise CkptVizError(f"{path}: exists already, expected no such file; choose another path")
    stored: Hdf5 = graph.stored_in
    if not hasattr(stored, "member"):
        raise UnsupportedError(f"{provenance.prefix}: expected one file; join its shards in Keras")
    with TemporaryDirectory() as directory:
        new = os.path.join(directory, "new.h5")
        _copy(stored, new)
        if stored.member is not None:
            weights, new = new, os.path.join(directory, "new.keras")
            _pack(provenance.prefix, new, stored.member.name, weights)
        with NewFiles() as files:
            files.write(f"{path}.part", pieces(new))
            files.publish(f"{path}.part", path)


def _copy(stored: Hdf5, target: str) -> None:
    """Write groups and values into a new file, in the order in which they were saved.

    Our own reader reads them, so that no link of a hostile file leads elsewhere.
    """
    try:
        import h5py
    except ImportError as error:
        raise UnsupportedError(f"{stored.path}: a copy needs h5py; pip install h5py") from error
    if len({entry.address for entry in stored.entries.values()}) < len(stored.entries):
        raise UnsupportedError(f"{stored.path}: some paths lead to the same value, expected one")
    with h5py.File(target, "w") as new, stored.kept_open():
        for path in stored.groups:
            group = new.require_group(with_slashes(path) or "/")
            name = stored.text(path, "name")
            if name is not None:
                group.attrs["name"] = name
        for key in stored.entries:
            value, place = stored.read(key), with_slashes(key)
            if place in new:
                raise UnsupportedError(f"{stored.path}: two values have the path {place!r}")
            if value.dtype.name == "bfloat16":  # as Keras stores it
                new.create_dataset(place, data=value.view("V2")).attrs["dtype"] = "bfloat16"
            else:
                new[place] = value


def _pack(source: str, target: str, name: str, weights: str) -> None:
    """Write a copy of an archive with other weights."""
    with zipfile.ZipFile(target, "w") as new:
        with zipfile.ZipFile(source) as old:
            others = [info for info in old.infolist() if info.filename != name]
        for info in others:
            made = member(source, info.filename)
            with made() as file:
                made.test()
                new.writestr(info.filename, file.read(0, file.size), info.compress_type)
        new.write(weights, name)

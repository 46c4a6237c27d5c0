"""Writes all tensors of a graph into one `.npz` archive, as `numpy.load` reads it."""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ckpt_viz.errors import CkptVizError, UnsupportedError
from ckpt_viz.files.values.reading import tensors_of
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.formats.arrays.dtypes import OF_ML_DTYPES, is_float
from ckpt_viz.formats.storage.new_files import NewFiles
from ckpt_viz.graphs.edits.as_checkpoint import assert_short_keys
from ckpt_viz.graphs.nodes.keys import part_in_words
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import readable
from ckpt_viz.live.writing.own_bytes import assert_own_bytes

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_PIECE_BYTES = 1 << 24  # 16 MiB


def write_npz(graph: Graph, path: str) -> None:
    """Write the tensors of a graph under their printed names; read one at a time.

    Raises CkptVizError: the file exists or cannot be written, or a value cannot be read. No file
    remains.
    """
    if os.path.lexists(path):
        raise CkptVizError(f"{path}: exists already; choose another name")
    assert_short_keys(graph)
    assert_own_bytes(graph)
    part = f"{path}.part"
    with NewFiles() as files:
        files.write(part, _archive(graph))
        files.publish(part, path)


def names_in_npz(graph: Graph) -> dict[str, str]:
    """Return the name of each tensor in the archive by its checkpoint key.

    It is the printed name of the node, with the part of a node of several tensors. A name-based
    checkpoint has its own names. Two tensors of one name have their checkpoint keys.
    """
    names = {tensor.row.key: _name(graph, tensor.row) for tensor in tensors_of(graph)}
    counts = Counter(names.values())
    return {key: name if counts[name] == 1 else key for key, name in names.items()}


def _name(graph: Graph, row: ValueRow) -> str:
    if graph.is_name_based:
        return row.key
    attributes = graph.nodes[row.node_id].attributes
    has_several = len(attributes) > 1 or row.key != attributes[0].checkpoint_key
    part = part_in_words(row.key) if has_several else ""
    return f"{graph.names.place(row.node_id)}{part}"


def _archive(graph: Graph) -> Iterator[bytes]:
    """Yield the bytes of the archive."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for key, name in names_in_npz(graph).items():
            array = _plain(graph, key, name)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                header = io.BytesIO()
                described = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(header, described)
                member.write(header.getvalue())
                data = array.reshape(-1).view(np.uint8).data
                for start in range(0, len(data), _PIECE_BYTES):
                    member.write(data[start : start + _PIECE_BYTES])
                    yield sink.taken()
            yield sink.taken()
    yield sink.taken()


def _plain(graph: Graph, key: str, name: str) -> Array:
    """Return a tensor as an array that every NumPy loads: small floats as float32, strings as S."""
    place = f"{graph.title}: {readable(name)}"
    kind = graph.stored(key)
    dtype = None if kind is None else kind.dtype
    array = graph.read(key)
    if dtype == "string":
        strings = array.reshape(-1).tolist()
        if any(string.endswith(b"\0") for string in strings):
            raise UnsupportedError(
                f"{place}: found a string with a NUL byte at its end, which NumPy's strings lose; "
                "leave it out: graph.without(…)"
            )
        return np.array(strings, np.bytes_).reshape(array.shape)
    if dtype in OF_ML_DTYPES:
        array = array.astype(np.float32 if is_float(dtype) else np.int8)
    return np.asarray(array, order="C")


class _Sink(io.RawIOBase):
    """A file that keeps what is written until somebody takes it; an archive never goes back."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: object) -> int:
        """Keep some bytes."""
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)

"""What a file unpacks to has one bound, whatever unpacks it, and whoever shares its bytes."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cramjam
import h5py
import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.formats.storage.unpacking import SMALL_BYTES
from tests.support import ocdbt, tables
from tests.support.counted import counted_reads, counted_unpacked

pytestmark = pytest.mark.slow

_SPARE = 1 << 20  # configurations and other small parts
_CHUNK = 1 << 20  # bytes; many of them share the frame that they unpack from
_MANY = 200  # of them are far more than the budget of a small file


def _assert_bounded(
    graph: cv.ObjectGraph, unpacked: list[int], values: int, readable: int | None = None
) -> None:
    """Assert that reading all values unpacks no more than a small file may."""
    unpacked.clear()
    table = graph.values(progress=False)
    assert len(table) == values
    assert sum(unpacked) <= SMALL_BYTES + _SPARE
    refused = [row for row in table if row.error or row.note]
    assert all("bytes when unpacked" in f"{row.error}{row.note}" for row in refused)
    if readable is not None:
        assert len(table) - len(refused) == readable


def _zstd(size: int) -> bytes:
    return bytes(cramjam.zstd.compress(bytes(size)))


def _gzip(size: int) -> bytes:
    return gzip.compress(bytes(size), mtime=0)


def _orbax(
    directory: Path, arrays: int, chunks: int, pack: Callable[[int], bytes], codec: str
) -> str:
    """Write arrays all of whose chunks are the same few bytes of the file."""
    words = ocdbt.described(
        [chunks, 1], "|u1", chunks=[1, _CHUNK], compressor={"id": codec}, fill_value=0
    )
    path = ocdbt.write_tree(directory / "t", [[f"a{n}"] for n in range(arrays)])
    frame = pack(_CHUNK)
    entries: dict[bytes, bytes | tuple[int, int]] = {}
    for n in range(arrays):
        entries[b"a%d/.zarray" % n] = words
        entries |= {b"a%d/%d.0" % (n, chunk): (0, len(frame)) for chunk in range(chunks)}
    node = ocdbt.leaf(dict(sorted(entries.items())))
    (path / ocdbt.DATA).write_bytes(frame + node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(len(frame), len(node), keys=len(entries)))
    return str(path)


@pytest.mark.parametrize(("pack", "codec"), [(_zstd, "zstd"), (_gzip, "gzip")])
def test_chunks_of_an_array_that_share_a_frame(
    pack: Callable[[int], bytes], codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = cv.graph(_orbax(tmp_path, 1, _MANY, pack, codec))
    _assert_bounded(graph, counted_unpacked(monkeypatch), 1, 0)


def test_arrays_that_share_a_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cv.graph(_orbax(tmp_path, _MANY, 1, _zstd, "zstd"))
    _assert_bounded(graph, counted_unpacked(monkeypatch), _MANY, 63)


def test_trees_of_a_checkpoint_have_one_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "_CHECKPOINT_METADATA").write_text("[")
    for tree in range(_MANY // 20):
        written = Path(_orbax(tmp_path / "written", 20, 1, _zstd, "zstd"))
        written.rename(tmp_path / f"item{tree}")
    _assert_bounded(cv.graph(str(tmp_path)), counted_unpacked(monkeypatch), _MANY, 63)


def test_chunks_that_share_far_more_bytes_than_they_unpack_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frame of one byte, and a long one that a reader skips."""
    skipped = b"\x50\x2a\x4d\x18" + (1 << 20).to_bytes(4, "little") + bytes(1 << 20)
    words = ocdbt.described([_MANY], "|u1", chunks=[1], compressor={"id": "zstd"})
    path = ocdbt.write_tree(tmp_path / "t", [["a"]])
    frame = _zstd(1) + skipped
    entries: dict[bytes, bytes | tuple[int, int]] = {b"a/.zarray": words}
    entries |= {b"a/%d" % chunk: (0, len(frame)) for chunk in range(_MANY)}
    node = ocdbt.leaf(dict(sorted(entries.items())))
    (path / ocdbt.DATA).write_bytes(frame + node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(len(frame), len(node), keys=len(entries)))
    graph = cv.graph(str(path))
    reads = counted_reads(monkeypatch)
    graph.values(progress=False)
    assert sum(reads) <= 4 * (len(frame) + len(node))


def test_descriptions_that_share_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 3_000
    words = ocdbt.described([1]).ljust(64 << 10)
    path = ocdbt.write_tree(tmp_path / "t", [[f"a{n}"] for n in range(count)])
    entries: dict[bytes, bytes | tuple[int, int]] = {
        b"a%d/.zarray" % n: (0, len(words)) for n in range(count)
    }
    node = ocdbt.leaf(dict(sorted(entries.items())))
    (path / ocdbt.DATA).write_bytes(words + node)
    (path / "manifest.ocdbt").write_bytes(ocdbt.manifest(len(words), len(node), keys=count))
    graph = cv.graph(str(path))
    assert "when unpacked" in str(graph.nodes[1].attributes[0].error)


@pytest.mark.parametrize("shared", ["directory", "links"])
def test_arrays_in_directories(
    shared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    path.mkdir()
    (path / "_METADATA").write_bytes(ocdbt.metadata({"a": ["a"]}))
    (path / "a").mkdir()
    words = ocdbt.described([_MANY, 1], "|u1", chunks=[1, _CHUNK], compressor={"id": "zstd"})
    (path / "a" / ".zarray").write_bytes(words)
    (path / "a" / "0.0").write_bytes(_zstd(_CHUNK))
    for n in range(1, _MANY):
        if shared == "links":
            (path / "a" / f"{n}.0").symlink_to("0.0")
        else:
            (path / "a" / f"{n}.0").write_bytes(_zstd(_CHUNK))
    _assert_bounded(cv.graph(str(path)), counted_unpacked(monkeypatch), 1, 0)


# --- HDF5


def _weights(directory: Path, write: Callable[[Any], object]) -> str:
    path = directory / "model.weights.h5"
    with h5py.File(path, "w") as file:
        write(file.create_group("layers/dense/vars"))
    return str(path)


def test_data_sets_that_unpack_to_far_more_than_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(group: Any) -> None:
        for n in range(_MANY):
            group.create_dataset(
                str(n), data=np.zeros(_CHUNK, "u1"), chunks=(_CHUNK,), compression="gzip"
            )

    path = _weights(tmp_path, write)
    assert Path(path).stat().st_size * 64 < SMALL_BYTES
    unpacked = counted_unpacked(monkeypatch)
    _assert_bounded(cv.graph(path), unpacked, _MANY, 63)


def test_one_data_set_of_many_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(group: Any) -> None:
        group["0"] = np.random.default_rng(0).integers(0, 256, _CHUNK, "u1")
        for n in range(1, _MANY):
            group[str(n)] = group["0"]

    graph = cv.graph(_weights(tmp_path, write))
    reads = counted_reads(monkeypatch)
    graph.values(progress=False)
    assert sum(reads) <= 64 * 1.2 * _CHUNK + _SPARE


def test_chunks_of_a_data_set_that_take_far_more_bytes_than_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each chunk is a few deflated bytes, and claims all that follow them, too."""

    def write(group: Any) -> None:
        group.create_dataset("0", data=np.zeros((_MANY, 9), "u1"), chunks=(1, 9), compression=9)
        group["1"] = np.random.default_rng(0).integers(0, 256, _CHUNK, "u1")

    path = Path(_weights(tmp_path, write))
    with h5py.File(path) as file:
        size = file["layers/dense/vars/0"].id.get_chunk_info(0).size
    data = path.read_bytes()
    before, after = struct.pack("<II", size, 0), struct.pack("<II", _CHUNK // 2, 0)
    assert data.count(before) >= _MANY
    path.write_bytes(data.replace(before, after))
    graph = cv.graph(path)
    reads = counted_reads(monkeypatch)
    table = graph.values(progress=False)
    assert sum(reads) <= 4 * _CHUNK
    (refused,) = [row for row in table if row.error]
    assert "found chunks that are stored in more bytes than" in str(refused.error)


# --- archives


def test_members_that_unpack_to_far_more_than_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file["layers/dense/vars/0"] = [1.0]
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", weights.getvalue())
        for n in range(_MANY):
            archive.writestr(f"assets/{n}", bytes(_CHUNK))
    graph = cv.graph(path)
    unpacked = counted_unpacked(monkeypatch)
    verified = graph.verify(progress=False)
    assert sum(unpacked) <= SMALL_BYTES + _SPARE
    assert not verified and len(verified.untested) == _MANY - 63
    assert "when unpacked, expected at most" in verified.untested[0].why


# --- tables


def test_values_of_a_v1_checkpoint_that_share_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [b"v%d" % n for n in range(_MANY)]
    whole: tables.Extents = ((0, -1),)
    meta = tables.contents(
        *(tables.slice_meta(name, tables.FLOAT32, tables.shape(1), whole) for name in names)
    )
    value = tables.saved_slice(tables.packed_floats(5, 1.5))
    keys = sorted(tables.slice_key(name, *whole) for name in names)
    entries = b"".join(tables.entry(0, key, value) for key in keys)
    entries += tables.entry(0, b"\xff", bytes(_CHUNK))  # after all of them
    payloads = [tables.entry(0, b"", meta), entries]
    packed = [bytes(cramjam.snappy.compress_raw(tables.block(part))) for part in payloads]
    path = tmp_path / "v1"
    path.write_bytes(tables.table_of_blocks(packed, separators=[b"", b"\xff"], block_type=1))
    graph = cv.graph(path)
    unpacked = counted_unpacked(monkeypatch)
    table = graph.values(progress=False)
    assert len(table) == _MANY and all(row.mean == 1.5 for row in table)
    assert sum(unpacked) <= 10 * _CHUNK

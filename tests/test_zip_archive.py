from __future__ import annotations

import io
import random
import struct
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, UnsupportedError
from ckpt_viz.formats.hdf5_files.hdf5 import open_hdf5
from ckpt_viz.formats.storage import zip_archive
from ckpt_viz.formats.storage.unpacking import SMALL_BYTES
from ckpt_viz.formats.storage.zip_archive import member, member_names, read_member
from tests.hostile.limits import ends
from tests.support.amounts import amount
from tests.support.counted import counted_reads
from tests.support.hdf5_files import write_small, written

CONFIG = b'{"module": "keras"}'
WEIGHTS = bytes(range(256)) * 40
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def archive(
    path: Path, method: int = STORED, others: dict[str, bytes] | None = None, comment: bytes = b""
) -> str:
    with zipfile.ZipFile(path, "w", method) as new:
        new.writestr("config.json", CONFIG)
        new.writestr("model.weights.h5", WEIGHTS)
        for name, data in (others or {}).items():
            new.writestr(name, data)
        new.comment = comment
    return str(path)


def whole(path: str, name: str) -> bytes:
    with member(path, name)() as file:
        return file.read(0, file.size)


def error_of(path: str, name: str = "model.weights.h5") -> str:
    with pytest.raises(CkptVizError) as caught:
        whole(path, name)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("method", [STORED, DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"c" * 60_000])
def test_members_are_read(tmp_path: Path, method: int, comment: bytes) -> None:
    path = archive(tmp_path / "m.keras", method, comment=comment)
    assert member_names(path) == ["config.json", "model.weights.h5"]
    assert read_member(path, "config.json", 1000) == CONFIG
    assert read_member(path, "missing", 1000) is None
    assert whole(path, "model.weights.h5") == WEIGHTS


def test_an_archive_after_other_bytes_and_with_large_sizes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as new, new.open("a", "w", force_zip64=True) as file:
        file.write(WEIGHTS)
    path.write_bytes(b"#!/bin/sh\n" * 100 + path.read_bytes())
    assert whole(str(path), "a") == WEIGHTS


def test_a_stored_member_is_read_in_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "m.keras", others={"large": bytes(5_000_000)})
    sizes = counted_reads(monkeypatch)
    with member(path, "large")() as file:
        assert file.size == 5_000_000
        assert file.read(4_999_990, 10) == bytes(10)
        with pytest.raises(FormatError, match="has 5000000 bytes, expected bytes 4999990 to"):
            file.read(4_999_990, 11)
    assert sum(sizes) < 100_000


def test_hdf5_is_read_out_of_an_archive(tmp_path: Path) -> None:
    data = written(write_small)
    for method in (STORED, DEFLATED):
        path = archive(tmp_path / f"{method}.keras", method, {"weights": data})
        file = open_hdf5(f"{path}: weights", member(path, "weights"))
        with h5py.File(io.BytesIO(data)) as oracle:
            assert np.array_equal(file.read("layers/dense/vars/0"), oracle["layers/dense/vars/0"])


def test_what_is_gone_raises(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.keras")
    opener = member(path, "config.json")
    assert "there is no member 'missing' in this archive" in error_of(path, "missing")
    Path(path).unlink()
    for use in (opener, partial(member_names, path), partial(read_member, path, "a", 1)):
        with pytest.raises(GoneError):
            use()


def test_an_archive_that_changes_after_it_was_opened_raises(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.keras")
    opener = member(path, "model.weights.h5")
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("other", WEIGHTS * 2)
    with pytest.raises(FormatError, match=r"or has changed: open it again"):
        opener()


# --- what cannot be read


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "m.keras"))
    data = bytearray(path.read_bytes())
    for start in (data.rfind(b"PK\1\2") + 8, data.find(b"PK\3\4", 1) + 6):
        data[start] |= 1
    path.write_bytes(data)
    assert error_of(str(path)) == "'model.weights.h5': is encrypted; unpack the archive first"
    assert read_member(str(path), "config.json", 100) == CONFIG


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(tmp_path: Path, method: int) -> None:
    path = archive(tmp_path / "m.keras", method)
    with pytest.raises(UnsupportedError, match=f"has the compression {method}, expected 0"):
        member(path, "model.weights.h5")


def test_a_member_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.keras", DEFLATED, {"large": bytes(SMALL_BYTES + 1)})
    with pytest.raises(UnsupportedError, match="takes 10240 bytes, expected at most 100; unpack"):
        read_member(path, "model.weights.h5", 100)
    assert "takes 67108865 bytes, expected at most 67108864" in error_of(path, "large")


def test_a_member_that_claims_to_be_small_is_not_unpacked_further(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "m.keras", DEFLATED, {"bomb": bytes(100_000_000)}))
    size = struct.pack("<I", 100_000_000)
    path.write_bytes(path.read_bytes().replace(size, struct.pack("<I", 1000)))
    with ends(path):
        assert "found 1001 bytes" in error_of(str(path), "bomb")


def test_a_directory_of_too_many_members_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path / "m.keras", others={f"name_{number}": b"" for number in range(1000)})
    assert len(member_names(path)) == 1002
    monkeypatch.setattr(zip_archive, "_MAX_DIRECTORY_BYTES", 20_000)
    with pytest.raises(UnsupportedError, match="has more members than allowed; unpack it"):
        member_names(path)


def test_a_header_that_does_not_agree_with_the_directory_is_refused(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "m.keras"))
    good = path.read_bytes()
    start = good.find(b"PK\3\4", 1)
    for offset, byte in ((0, 0), (8, 8), (6, 1), (30, 0x41)):
        data = bytearray(good)
        data[start + offset] = byte
        path.write_bytes(data)
        assert "the archive's directory does not agree" in error_of(str(path))


def test_damaged_content_of_a_small_member_is_found(tmp_path: Path) -> None:
    for method in (STORED, DEFLATED):
        path = Path(archive(tmp_path / "m.keras", method))
        data = path.read_bytes()
        path.write_bytes(data[:45] + bytes([data[45] ^ 255]) + data[46:])
        with pytest.raises(FormatError, match="copy the archive again"):
            read_member(str(path), "config.json", 1000)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    for data in (b"", b"PK", b"x" * 1000):
        path = tmp_path / "m.keras"
        path.write_bytes(data)
        assert error_of(str(path)).startswith("not a sound zip archive (File is not a zip file)")


def test_names_are_only_keys(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "/etc/passwd", "é中", "a\nb", "x" * 60_000]
    path = archive(tmp_path / "m.keras", others=dict.fromkeys(names, b"data"))
    assert member_names(path)[2:] == names
    for name in names:
        assert read_member(path, name, 10) == b"data"
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.keras"]


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_a_damaged_archive_has_answers_or_errors_that_explain_it(
    tmp_path: Path, method: int, seed: int
) -> None:
    path = Path(archive(tmp_path / "m.keras", method, comment=b"comment"))
    good = path.read_bytes()
    directory = good.rfind(b"PK\1\2", 0, -100)
    for number in range(amount(200, 5000)):
        chooser = random.Random(f"{seed}.{number}")
        data = bytearray(good)
        for _ in range(chooser.choice((1, 1, 2, 5))):
            place = chooser.choice(
                (chooser.randrange(len(data)), chooser.randrange(directory, len(data)))
            )
            size = chooser.choice((1, 2, 4))
            data[place : place + size] = chooser.randbytes(size)
        path.write_bytes(data[: chooser.randrange(len(data))] if number % 10 == 0 else data)
        with ends(path):
            for use in (
                partial(member_names, str(path)),
                partial(read_member, str(path), "config.json", 1000),
                partial(whole, str(path), "model.weights.h5"),
            ):
                try:
                    use()
                except CkptVizError as error:
                    assert str(error).startswith(str(path))
                    assert len(str(error)) < 1500


@pytest.mark.tf
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_weights_in_files_of_keras_are_those_that_h5py_reads(package: str, tmp_path: Path) -> None:
    keras: Any = pytest.importorskip(package)
    path = str(tmp_path / "m.keras")
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)]).save(path)
    assert set(member_names(path)) == {"metadata.json", "config.json", "model.weights.h5"}
    file = open_hdf5(path, member(path, "model.weights.h5"))
    with zipfile.ZipFile(path) as whole_archive:
        data = whole_archive.read("model.weights.h5")
        assert read_member(path, "config.json", 1 << 20) == whole_archive.read("config.json")
    with h5py.File(io.BytesIO(data)) as oracle:
        assert len(file.entries) >= 2
        for key in file.entries:
            assert np.array_equal(file.read(key), oracle[key][()])

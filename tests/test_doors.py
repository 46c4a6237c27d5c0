"""Directories that are not one of V2 checkpoints with a fresh `checkpoint` file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.errors import CheckpointNotFoundError, UnsupportedError
from ckpt_viz.files.saved.locate import checkpoints_at, locate
from tests.support.tables import floats, write_bundle, write_v1

SHARDS = "-?????-of-00002"


def _named(directory: Path, *paths: str) -> None:
    lines = [f'model_checkpoint_path: "{paths[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{path}"' for path in paths]
    (directory / "checkpoint").write_text("\n".join(lines).replace("\\", "\\\\"))


def _v1(directory: Path, *, sharded: bool) -> None:
    for number in (1, 9, 10):
        if sharded:
            write_v1(directory / f"m.ckpt-{number}-00000-of-00002", float(number))
            empty = directory / f"m.ckpt-{number}-00001-of-00002"
            shutil.copy(directory / f"m.ckpt-{number}-00000-of-00002", empty)
        else:
            write_v1(directory / f"m.ckpt-{number}", float(number))
        (directory / f"m.ckpt-{number}.meta").write_bytes(b"")
    (directory / "events.out.tfevents.1").write_bytes(bytes(100))


# --- V1


@pytest.mark.parametrize("sharded", [False, True], ids=["one file", "shards"])
@pytest.mark.parametrize(
    "named",
    [
        None,
        "{}",
        "{at}/{}",
        "/of/another/machine/{}",
        r"C:\runs\{}",
        r"C:/runs\mixed/{}",
        r"\\server\share\{}",
        r"sub\{}",
        "gs://bucket/{}",
    ],
)
def test_directory_of_v1_leads_to_its_latest_and_lists_all(
    tmp_path: Path, named: str | None, sharded: bool
) -> None:
    _v1(tmp_path, sharded=sharded)
    names = [f"m.ckpt-{number}{SHARDS if sharded else ''}" for number in (1, 9, 10)]
    if named is not None:
        _named(tmp_path, *(named.format(name, at=tmp_path) for name in names))
    found = locate(str(tmp_path))
    assert found.prefix == f"{tmp_path}/{names[-1]}"
    kept = [(one.prefix, one.exists, one.is_named) for one in found.kept]
    assert kept == [(f"{tmp_path}/{name}", True, named is not None) for name in names]
    told = CliRunner().invoke(main, ["history", str(tmp_path), "--json", "-"])
    assert '"title": "m.ckpt-10' in told.output.replace('":"', '": "'), told.output
    assert locate(f"{tmp_path}/m.ckpt").prefix == f"{tmp_path}/{names[-1]}"
    assert locate(f"{tmp_path}/m.ckpt-9").prefix == f"{tmp_path}/{names[1]}"
    if sharded:
        with pytest.raises(CheckpointNotFoundError, match=r"did you mean .*m\.ckpt-10-\?{5}-of-0"):
            locate(f"{tmp_path}/m.ckpt-11{SHARDS}")


@pytest.mark.parametrize("sharded", [False, True], ids=["one file", "shards"])
def test_history_of_v1_is_in_the_order_of_its_numbers(tmp_path: Path, sharded: bool) -> None:
    _v1(tmp_path, sharded=sharded)
    if sharded:
        for number in (1, 9, 10):
            (tmp_path / f"m.ckpt-{number}-00001-of-00002").unlink()
    for source in (tmp_path, f"{tmp_path}/m.*"):
        history = cv.history(source, progress=False)
        assert "by the number in the name" in str(history.to_json())
        titles = [one["title"] for one in history.to_json()["checkpoints"]]
        assert [int(title.split("-")[1]) for title in titles] == [1, 9, 10]


def test_paths_of_windows_lead_to_v2_too_and_into_directories_below(tmp_path: Path) -> None:
    write_bundle(tmp_path / "c-1", {"v": floats(1.0)})
    (tmp_path / "sub").mkdir()
    write_bundle(tmp_path / "sub" / "c-1", {"v": floats(1.0)})
    for named, prefix in ((r"D:\c-1", "c-1"), (r"sub\c-1", "sub/c-1"), (r"..\gone\c-1", "c-1")):
        _named(tmp_path, named)
        assert locate(str(tmp_path)).prefix == f"{tmp_path}/{prefix}"
    _named(tmp_path, r"D:\runs\c-7")
    with pytest.raises(CheckpointNotFoundError, match=rf"expected a file {tmp_path}/c-7\.index"):
        locate(str(tmp_path))


def test_what_the_state_file_names_is_opened_and_no_stray_index(tmp_path: Path) -> None:
    write_v1(tmp_path / "run" / "m.ckpt-3", 3.0)
    write_bundle(tmp_path / "run" / "x", {"old": floats(1.0)})
    _named(tmp_path / "run", "m.ckpt-3")
    assert locate(str(tmp_path / "run")).prefix == f"{tmp_path}/run/m.ckpt-3"
    (tmp_path / "copy").mkdir()
    _named(tmp_path / "copy", f"{tmp_path}/run/m.ckpt-3")
    write_bundle(tmp_path / "copy" / "m.ckpt-3", {"old": floats(1.0)})
    assert locate(str(tmp_path / "copy")).prefix == f"{tmp_path}/run/m.ckpt-3"


def test_an_index_comes_before_v1_files_of_other_names(tmp_path: Path) -> None:
    write_v1(tmp_path / "backup-of-old", 3.0)
    write_bundle(tmp_path / "x", {"v": floats(1.0)})
    found = locate(str(tmp_path))
    assert found.resolved == f"{tmp_path}/x is the only checkpoint with an index in {tmp_path}"
    assert [one.prefix for one in found.kept] == [f"{tmp_path}/backup-of-old", f"{tmp_path}/x"]
    write_v1(tmp_path / "x-7", 3.0)
    write_bundle(tmp_path / "x-5", {"v": floats(1.0)})
    for name in ("x", "backup-of-old"):
        for file in tmp_path.glob(f"{name}*"):
            if "-5" not in file.name and "-7" not in file.name:
                file.unlink()
    assert locate(str(tmp_path)).prefix == f"{tmp_path}/x-7"


def _saved(directory: Path, **options: Any) -> None:
    import tensorflow as tf

    v1: Any = tf.compat.v1
    directory.mkdir()
    with tf.Graph().as_default(), v1.Session() as session:
        for name in "ab":
            v1.get_variable(name, (2,), use_resource=False)
        step = v1.train.get_or_create_global_step()
        saver = v1.train.Saver(**options)
        session.run(v1.global_variables_initializer())
        for _ in range(2):
            session.run(step.assign_add(5))
            saver.save(session, str(directory / "m.ckpt"), global_step=step)


@pytest.mark.tf
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("sharded", [False, True])
def test_a_directory_leads_to_what_tensorflow_calls_its_latest(
    version: int, sharded: bool, tmp_path: Path
) -> None:
    import tensorflow as tf

    def same(directory: Path) -> bool:
        latest = tf.train.latest_checkpoint(str(directory))
        if latest is None:
            return False
        assert locate(str(directory)).prefix == latest
        shapes = {name: tuple(shape) for name, shape in tf.train.list_variables(latest)}
        values = cv.graph(directory).values(progress=False)
        assert {row.key: row.shape for row in values} == shapes
        return True

    for relative in (False, True):
        run = tmp_path / f"run-{relative}"
        options = {"write_version": version, "sharded": sharded}
        _saved(run, save_relative_paths=relative, **options)
        assert same(run)
        write_bundle(run / "x", {"stray": floats(1.0)})
        assert same(run)
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(tmp_path / "run-False" / "checkpoint", copy)
    write_bundle(copy / "m.ckpt-10", {"stray": floats(1.0)})
    assert same(copy)
    moved = (tmp_path / "run-False").rename(tmp_path / "moved")
    assert not same(moved)
    assert locate(str(moved)).prefix.startswith(f"{moved}/m.ckpt-10")


# --- files of other programs


def _tar(mode: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        file = io.BytesIO()
        with tarfile.open("x", mode, fileobj=file) as archive:  # type: ignore[call-overload]
            info = tarfile.TarInfo("v.index")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        return file.getvalue()

    return pack


def _zip(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("v.index", data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "pack", "said"),
    [
        ("it's v.tar", _tar("w"), "a tar archive"),
        ("v.tar.gz", _tar("w:gz"), "a tar archive"),
        ("v.tgz", _tar("w:gz"), "a tar archive"),
        ("v.tar.bz2", _tar("w:bz2"), "a tar archive"),
        ("v.tar.xz", _tar("w:xz"), "a tar archive"),
        ("renamed", _tar("w:gz"), "a tar archive"),
        ("-v.tar", _tar("w"), "a tar archive"),
        ("v $(touch x).zip", _zip, "a zip archive of 1 file (v.index)"),
        ("v.index.gz", gzip.compress, "a file compressed with gzip"),
        ("v.index.bz2", bz2.compress, "a file compressed with bzip2"),
        ("v.index.xz", lzma.compress, "a file compressed with xz"),
    ],
)
def test_an_archive_is_named_with_the_command_that_unpacks_it(
    name: str,
    pack: Callable[[bytes], bytes],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_bundle(tmp_path / "made", {"v": floats(1.0)})
    data = (tmp_path / "made.index").read_bytes()
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    Path(name).write_bytes(pack(data))
    with pytest.raises(UnsupportedError, match=f"{re.escape(said)}, not a TensorFlow") as raised:
        locate(name)
    command = str(raised.value).split("unpack it: `")[1].removesuffix("`")
    words = shlex.split(command)
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]} here")
    words[0] = sys.executable if words[0] == "python" else words[0]
    subprocess.run(words, check=True)
    assert Path("v.index").read_bytes() == data


def test_a_directory_of_archives_names_the_last(tmp_path: Path) -> None:
    for name in ("a.tar", "b.tar.gz"):
        (tmp_path / name).write_bytes(_tar("w")(b"x"))
    said = rf"a directory without a checkpoint; {tmp_path}/b.tar.gz is a tar archive"
    with pytest.raises(CheckpointNotFoundError, match=said):
        locate(str(tmp_path))


@pytest.fixture(scope="module")
def of_keras(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories that Keras 3 and tf_keras wrote, and one as Keras Tuner leaves it."""
    import keras
    import numpy as np
    import tf_keras

    at = tmp_path_factory.mktemp("keras")
    for name, one in (("keras", keras), ("tf_keras", tf_keras)):
        callbacks = one.callbacks
        for suffix in (".weights.h5", ".keras", ".h5"):
            path = str(at / f"{name}{suffix}" / f"m-{{epoch}}{suffix}")
            only = suffix.startswith(".w")
            callback = callbacks.ModelCheckpoint(path, save_weights_only=only)
            model = one.Sequential([one.layers.Input((2,)), one.layers.Dense(1)])
            model.compile("sgd", "mse", run_eagerly=True)
            backup = callbacks.BackupAndRestore(str(at / name), delete_checkpoint=False)
            x = np.ones((4, 2))
            model.fit(x, x[:, :1], epochs=10, verbose=0, callbacks=[callback, backup])
            shutil.rmtree(at / name) if suffix != ".h5" else None
    for trial in ("trial_0", "trial_1"):
        (at / "tuner" / trial).mkdir(parents=True)
        weights = at / "tuner" / trial / "checkpoint.weights.h5"
        shutil.copy(at / "keras" / "latest.weights.h5", weights)
        (at / "tuner" / trial / "trial.json").write_text("{}")
    (at / "tuner" / "oracle.json").write_text("{}")
    return at


@pytest.mark.tf
@pytest.mark.parametrize("suffix", [".weights.h5", ".keras", ".h5"])
@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
def test_a_directory_of_keras_opens_its_last_file(keras: str, suffix: str, of_keras: Path) -> None:
    at = of_keras / f"{keras}{suffix}"
    location = locate(str(at))
    assert location.prefix == f"{at}/m-10{suffix}"
    assert location.resolved == (
        f"{at}/m-10{suffix} has the highest number of the 10 files of Keras in {at}"
    )
    expected = [f"{at}/m-{number}{suffix}" for number in range(1, 11)]
    assert [kept.prefix for kept in location.kept] == expected
    assert [kept.prefix for kept in checkpoints_at(str(at))] == expected
    assert cv.graph(at).read("kernel").shape == (2, 1)


@pytest.mark.tf
def test_a_backup_and_a_trial_of_keras_open(of_keras: Path) -> None:
    for name in ("keras/latest.weights.h5", "tuner/trial_1/checkpoint.weights.h5"):
        path = of_keras / name
        assert locate(str(path.parent)).resolved == (
            f"{path} is the only file of Keras in {path.parent}"
        )


@pytest.mark.tf
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tf_keras", "did you mean {at}chief/ckpt-10?"),
        ("tuner", "did you mean {at}trial_0/checkpoint.weights.h5 or {at}trial_1/"),
    ],
)
def test_a_directory_of_keras_is_named_with_the_next_step(
    name: str, said: str, of_keras: Path
) -> None:
    at = of_keras / name
    with pytest.raises(CheckpointNotFoundError) as raised:
        locate(str(at))
    assert said.format(at=f"{at}/") in str(raised.value)


@pytest.mark.tf
def test_files_of_keras_of_several_names_are_listed(of_keras: Path, tmp_path: Path) -> None:
    shutil.copy(of_keras / "keras.keras" / "m-9.keras", tmp_path / "m.keras")
    shutil.copy(of_keras / "keras.h5" / "m-9.h5", tmp_path / "m.h5")
    with pytest.raises(CheckpointNotFoundError, match="a directory of 2 files of Keras") as raised:
        locate(str(tmp_path))
    assert f"expected the path of one: {tmp_path}/m.keras or {tmp_path}/m.h5" in str(raised.value)


@pytest.mark.tf
def test_checkpoints_beside_files_of_keras_open_and_name_these(
    of_keras: Path, tmp_path: Path
) -> None:
    for name in ("m-9.keras", "m-10.keras"):
        shutil.copy(of_keras / "keras.keras" / name, tmp_path)
    write_bundle(tmp_path / "c-1", {"v": floats(1.0)})
    for state in (False, True):
        if state:
            _named(tmp_path, "c-1")
        found = locate(str(tmp_path))
        assert found.prefix == f"{tmp_path}/c-1"
        assert found.resolved.endswith(
            "; m-10.keras and m-9.keras are there too, as files of Keras"
        )

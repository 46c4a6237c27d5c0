"""Data files that are missing, too short or closed: one finding, wherever people look."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.graphs.overlay.remedy import PartialFix
from ckpt_viz.graphs.render.payload import encode
from tests.support.graphs import keras3_adam
from tests.support.saved_graphs import write_graph
from tests.support.tables import (
    Extents,
    Tensor,
    floats,
    packed_floats,
    shape,
    write_bundle,
    write_sliced,
)
from tests.test_saver_v1 import ALL, write_floats

_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1234\n"
Damage = Callable[[list[Path]], None]


def _shards(prefix: str) -> list[Path]:
    return sorted(Path(prefix).parent.glob(f"{Path(prefix).name}.data-*"))


def _unlink(*numbers: int) -> Damage:
    def damage(files: list[Path]) -> None:
        for number in numbers:
            files[number].unlink()

    return damage


def _cut(size: int, *numbers: int) -> Damage:
    def damage(files: list[Path]) -> None:
        for number in numbers:
            os.truncate(files[number], size)

    return damage


# Three files of the tensors a, d; b, e and c. Each has 8 bytes.
_CASES: dict[str, tuple[Damage, str]] = {
    "one": (
        _unlink(1),
        "c.data-00001-of-00003 is missing: 2 of 5 tensors (16 bytes) cannot be read, 3 can. "
        "Copy this file from where the checkpoint came.",
    ),
    "two": (
        _unlink(0, 2),
        "c.data-00000-of-00003 and c.data-00002-of-00003 are missing: 3 of 5 tensors (24 bytes) "
        "cannot be read, 2 can. Copy these files from where the checkpoint came.",
    ),
    "all, as after a copy of the index alone": (
        _unlink(0, 1, 2),
        "all 3 data files are missing, such as c.data-00000-of-00003: none of 5 tensors "
        "(40 bytes) can be read. Copy these files from where the checkpoint came.",
    ),
    "cut": (
        _cut(12, 0),
        "c.data-00000-of-00003 has 12 of 16 bytes: 1 of 5 tensors (8 bytes) cannot be read, "
        "4 can. Copy this file again from where the checkpoint came.",
    ),
    "two cut": (
        _cut(9, 0, 1),
        "c.data-00000-of-00003 and c.data-00001-of-00003 are too short: 2 of 5 tensors (16 bytes) "
        "cannot be read, 3 can. Copy these files again from where the checkpoint came.",
    ),
    "empty": (
        _cut(0, 2),
        "c.data-00002-of-00003 has 0 of 8 bytes: 1 of 5 tensors (8 bytes) cannot be read, "
        "4 can. Copy this file again from where the checkpoint came.",
    ),
}


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    tensors = {name: floats(1, 2) for name in "abcde"}
    return write_bundle(tmp_path / "c", tensors, shards=3)


@pytest.mark.parametrize(("damage", "sentence"), _CASES.values(), ids=list(_CASES))
def test_lost_files_are_told_once_with_their_tensors(
    damage: Damage, sentence: str, prefix: str
) -> None:
    damage(_shards(prefix))
    (found,) = lost_files(cv.graph(prefix).stored_in)
    assert str(found) == sentence
    unread = {one.key for one in cv.graph(prefix).verify(progress=False)}
    assert {*found.keys} == unread and found.left == 5 - len(unread)
    assert {one.raises for one in cv.graph(prefix).verify(progress=False)} == {found.raises}


def test_git_lfs_pointers_tell_the_command(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "c", {"a": floats(*range(200))})
    _shards(path)[0].write_text(_POINTER)
    (found,) = lost_files(cv.graph(path).stored_in)
    assert found.what == "c.data-00000-of-00001 is only a pointer of Git LFS"
    assert found.remedy == "Run `git lfs pull`."


def test_each_reason_is_one_finding(prefix: str) -> None:
    files = _shards(prefix)
    files[0].unlink()
    os.truncate(files[1], 3)
    found = lost_files(cv.graph(prefix).stored_in)
    assert [one.extent for one in found] == [
        "2 of 5 tensors (16 bytes) cannot be read, 1 can",
        "2 of 5 tensors (16 bytes) cannot be read, 1 can",
    ]
    assert [one.raises for one in found] == ["NotFoundError", "OutOfRangeError"]


def test_slices_of_a_tensor_count_by_their_files(tmp_path: Path) -> None:
    halves: dict[Extents, Tensor] = {((0, 2),): floats(0, 1), ((2, 2),): floats(2, 3)}
    path = write_sliced(tmp_path / "c", shape(4), halves, shards=2)
    _shards(path)[1].unlink()
    (found,) = lost_files(cv.graph(path).stored_in)
    assert found.why == "c.data-00001-of-00002 is missing: none of 1 tensor (8 bytes) can be read"


def test_remote_files_are_told_alike(prefix: str) -> None:
    memory = fsspec.filesystem("memory")
    for file in Path(prefix).parent.iterdir():
        if "00001-of" not in file.name:
            memory.pipe(f"/lost/{file.name}", file.read_bytes())
    (found,) = lost_files(cv.graph("memory://lost/c").stored_in)
    assert str(found) == _CASES["one"][1]
    memory.rm("/lost", recursive=True)


def test_a_missing_file_of_the_v1_format_is_told_though_its_tensors_are_unknown(
    tmp_path: Path,
) -> None:
    write_floats(tmp_path / "v1-00000-of-00002", [ALL], packed_floats(5, 1, 2, 3))
    (found,) = lost_files(cv.graph(tmp_path / "v1").stored_in)
    assert found.why == (
        "v1-00001-of-00002 is missing: its tensors are unknown; 1 tensor of the other files can "
        "be read"
    )
    for command in ("verify", "values"):
        done = CliRunner().invoke(main, [command, str(tmp_path / "v1")])
        assert (done.exit_code, done.output.count(found.why)) == (1, 1)


# --- wherever people look


@pytest.fixture
def training(tmp_path: Path) -> tuple[str, str, str]:
    """A whole checkpoint, one of other values without a file, and what that lacks, in words."""
    whole = write_graph(tmp_path / "whole", keras3_adam(), shards=2)
    filled = dict.fromkeys(range(len(keras3_adam().nodes)), 1)
    lacking = write_graph(tmp_path / "ckpt", keras3_adam(), filled, shards=2)
    # The object graph comes first in the index, so the other file has no part of it.
    _shards(lacking)[1].unlink()
    (found,) = lost_files(cv.graph(lacking).stored_in)
    return whole, lacking, found.why


@pytest.mark.parametrize(
    "line",
    [
        "show {lacking}",
        "show --view objects {lacking}",
        "show --svg - {lacking}",
        "verify {lacking}",
        "values {lacking}",
        "check {whole} {lacking}",
        "diff {whole} {lacking}",
        "diff --values {whole} {lacking}",
    ],
)
def test_commands_tell_of_a_lost_file_once(line: str, training: tuple[str, str, str]) -> None:
    whole, lacking, why = training
    said = CliRunner().invoke(main, line.format(whole=whole, lacking=lacking).split()).output
    assert " ".join(said.split()).count(why) == 1
    assert f"{lacking}.data-" not in said  # rows name the file in short


def test_folded_rows_count_what_they_hide(training: tuple[str, str, str]) -> None:
    whole, lacking, _ = training
    (found,) = lost_files(cv.graph(lacking).stored_in)
    told = CliRunner().invoke(main, ["show", lacking]).output
    own = told.count("data-00001-of-00002: no such file")
    below = map(int, re.findall(r"! (\d+) below cannot be read", told))
    assert own + sum(below) == len(found.keys)
    assert "below cannot be read" in cv.graph(lacking).to_svg()
    assert "cannot be read" not in CliRunner().invoke(main, ["show", whole]).output


def test_data_and_explorer_have_the_lost_files(training: tuple[str, str, str]) -> None:
    _, lacking, why = training
    (found,) = lost_files(cv.graph(lacking).stored_in)
    for command in ("show", "verify", "values"):
        data = json.loads(CliRunner().invoke(main, [command, lacking, "--json"]).output)
        assert data["lost_files"] == [found.to_json()]
    assert cv.diff(lacking, lacking).overlay.notes == (f"✗ a: {found}", f"✗ b: {found}")
    assert gzip.decompress(encode(cv.graph(lacking))).count(json.dumps(why)[1:-1].encode()) == 1


def test_a_fix_restores_what_is_left(training: tuple[str, str, str]) -> None:
    whole, lacking, _ = training
    check = cv.check(whole, lacking)
    (found,) = [one for one in check.findings if one.kind == "damaged"]
    assert isinstance(found.remedy, PartialFix) and not found.remedy.takes_guesses
    (lost,) = lost_files(cv.graph(lacking).stored_in)
    assert len(check.fix().missing) == len(lost.keys)

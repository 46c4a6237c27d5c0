"""Saved checkpoints: what is read, and what is said of paths that lead to none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz import CheckpointNotFoundError, FormatError, UnsupportedError
from tests import live_objects

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ckpts")
    for number in (1, 2):
        live_objects.containers().write(str(directory / f"ckpt-{number}"))
    return directory


def test_reading_imports_neither_tensorflow_nor_jupyter(checkpoints: Path) -> None:
    program = (
        "import sys, ckpt_viz as cv; print(cv.graph(sys.argv[1])); "
        "sys.exit(not {'tensorflow', 'keras', 'IPython', 'ipywidgets'}.isdisjoint(sys.modules))"
    )
    prefix = str(checkpoints / "ckpt-1")
    subprocess.run([sys.executable, "-c", program, prefix], check=True, capture_output=True)


def test_path_objects_are_prefixes_too(checkpoints: Path) -> None:
    assert cv.graph(checkpoints / "ckpt-1") == cv.graph(str(checkpoints / "ckpt-1"))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "ckpt-3",
            r"/ckpt-3: no such checkpoint; expected a file .*/ckpt-3\.index; did you mean .*/ckpt-",
        ),
        ("ckpt-1.index", r"this is a checkpoint's index; expected its prefix, .*/ckpt-1$"),
        ("ckpt-1.data-00000-of-00001", r"a shard of a checkpoint; expected its prefix, .*/ckpt-1$"),
        ("", r": a directory; expected the prefix of a checkpoint in it: .*/ckpt-1 or .*/ckpt-2$"),
        ("nowhere/ckpt", r"nowhere/ckpt: no such checkpoint, and no directory .*/nowhere$"),
    ],
)
def test_wrong_path_is_answered_with_the_right_one(checkpoints: Path, path: str, said: str) -> None:
    with pytest.raises(CheckpointNotFoundError, match=said):
        cv.graph(str(checkpoints / path) if path else str(checkpoints))


def test_directory_without_a_checkpoint_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="a directory without a checkpoint"):
        cv.graph(tmp_path)


def test_file_that_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(CheckpointNotFoundError, match=r"notes\.txt: a file, but not a checkpoint"):
        cv.graph(tmp_path / "notes.txt")


def test_index_that_is_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "git.index").write_bytes(b"DIRC" + bytes(100))
    with pytest.raises(FormatError, match=r"git\.index: .*expected"):
        cv.graph(tmp_path / "git")


@pytest.mark.parametrize("kept", [0, 1, 100, -1, -48])
def test_truncated_index_is_named(checkpoints: Path, tmp_path: Path, kept: int) -> None:
    whole = (checkpoints / "ckpt-1.index").read_bytes()
    (tmp_path / "cut.index").write_bytes(whole[:kept])
    with pytest.raises(FormatError, match=r"cut\.index: .*expected"):
        cv.graph(tmp_path / "cut")


def test_missing_shard_is_named(checkpoints: Path, tmp_path: Path) -> None:
    (tmp_path / "ckpt.index").write_bytes((checkpoints / "ckpt-1.index").read_bytes())
    with pytest.raises(cv.CkptVizError, match=r"ckpt\.data-00000-of-00001"):
        cv.graph(tmp_path / "ckpt")


def test_name_based_checkpoint_is_named_for_what_it_is(tmp_path: Path) -> None:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.compat.v1.get_variable("v", initializer=1.0)
        session.run(v.initializer)
        prefix = tf.compat.v1.train.Saver([v]).save(session, str(tmp_path / "tf1"))
    with pytest.raises(UnsupportedError, match="no object graph inside: this is a name-based"):
        cv.graph(prefix)

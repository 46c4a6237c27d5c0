"""Pairs for the findings on paths and files: wrong_path, key_missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.savers import eager_saver
from tests.check_findings.table import ERROR, FAIL, Pair, Rows
from tests.check_rows.objects import serializing
from tests.support.programs import ckpt, module, saved, saved_model, tensors, var

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- wrong_path


def _passing() -> Any:
    return ckpt(v=var(2.0))


@shows(
    Kind.WRONG_PATH, FAIL, None, None, ".index is not a checkpoint's prefix", "pass every assert"
)
def index_file(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(path + ".index", _passing, fixed=lambda: Pair(path, _passing))


@shows(Kind.WRONG_PATH, ERROR, None, None, "cannot read it (DataLossError)", "ckpt-1'")
def directory_of_checkpoints(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(str(at), _passing, fixed=lambda: Pair(path, _passing))


@shows(Kind.WRONG_PATH, ERROR, None, None, "(NotFoundError)", "ckpt-1'")
def prefix_without_its_number(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt"), _passing)


@shows(Kind.WRONG_PATH, ERROR, None, None, "which would raise, too")
def data_file_of_a_checkpoint_that_does_not_fit(at: Path) -> Pair:
    path = saved(at, v=var()) + ".data-00000-of-00001"
    return Pair(path, lambda: ckpt(v=var([1.0, 2.0])))


@shows(Kind.WRONG_PATH, ERROR, None, None, "restore values, but fail assert_consumed()")
def directory_of_a_checkpoint_of_something_else(at: Path) -> Pair:
    saved(at, w=var())
    return Pair(str(at), _passing)


@shows(Kind.WRONG_PATH, ERROR, None, None, "ckpt-7", "did you mean", "ckpt-1?")
def checkpoint_that_is_gone(at: Path) -> Pair:
    saved(at, v=var())
    return Pair(str(at / "ckpt-7"), _passing)


@shows(Kind.WRONG_PATH, FAIL, None, None, "path is None", "tf.train.latest_checkpoint()")
def latest_checkpoint_of_an_empty_directory(at: Path) -> Pair:
    import tensorflow as tf

    return Pair(tf.train.latest_checkpoint(str(at)), _passing)


def _saver() -> Any:
    return eager_saver([var([2.0], name="v")])


@shows(Kind.WRONG_PATH, ERROR, None, None, "restore() raises ValueError", "latest_checkpoint()")
def saver_of_an_empty_directory(at: Path) -> Pair:
    return Pair(None, _saver)


@shows(Kind.WRONG_PATH, ERROR, None, None, "(NotFoundError)", "pass every assert")
def index_file_for_a_saver(at: Path) -> Pair:
    path = tensors(at, v=[1.0])
    return Pair(path + ".index", _saver, fixed=lambda: Pair(path, _saver))


@shows(Kind.WRONG_PATH, ERROR, None, None, "(DataLossError)", "which would raise, too")
def directory_for_a_saver_of_other_variables(at: Path) -> Pair:
    tensors(at, w=[1.0])
    return Pair(str(at), _saver)


@shows(Kind.WRONG_PATH, ERROR, None, None, "not a valid checkpoint", "did you mean", "model.ckpt?")
def checkpoint_that_is_gone_for_a_saver(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0]) + "-7", _saver)


@silent(Kind.WRONG_PATH)
def path_object(at: Path) -> Pair:
    return Pair(Path(saved(at, v=var())), _passing)


@silent(Kind.WRONG_PATH)
def directory_of_a_saved_model(at: Path) -> Pair:
    return Pair(saved_model(at, v=var()), lambda: ckpt(module(v=var(2.0))))


# --- key_missing


@shows(Kind.KEY_MISSING, ERROR, "(root).h", "(root).h", "upper not found", "saved class")
def object_reads_a_tensor_that_was_not_saved(at: Path) -> Pair:
    path = saved(at, h=serializing(lower=1.0))
    return Pair(
        path,
        lambda: ckpt(h=serializing(lower=1.0, upper=1.0)),
        fixed=lambda: Pair(path, lambda: ckpt(h=serializing(lower=1.0))),
    )


@shows(Kind.KEY_MISSING, ERROR, "(root).i", "(root).i", "ends in the stage Range", "input pipeline")
def iterator_of_another_dataset(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, i=iter(tf.data.Dataset.range(4)))
    return Pair(path, lambda: ckpt(i=iter(tf.data.Dataset.range(4).batch(2))))


@silent(Kind.KEY_MISSING)
def iterator_of_more_data(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, i=iter(tf.data.Dataset.range(4).batch(2)))
    return Pair(path, lambda: ckpt(i=iter(tf.data.Dataset.range(9).batch(2))))


@shows(
    Kind.KEY_MISSING, ERROR, None, None, "cannot be read", ".index: a Git LFS pointer", "git lfs"
)
def index_is_a_pointer_of_git_lfs(at: Path) -> Pair:
    path = saved(at, v=var([1.0]))
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12345\n"
    Path(path + ".index").write_text(pointer)
    return Pair(path, lambda: ckpt(v=var([0.0])))


@shows(Kind.KEY_MISSING, ERROR, None, None, ".index: begins like a TensorFlow checkpoint index")
def index_is_cut_short(at: Path) -> Pair:
    path = saved(at, v=var([1.0]))
    index = Path(path + ".index")
    index.write_bytes(index.read_bytes()[:-20])
    return Pair(path, lambda: ckpt(v=var([0.0])))


@silent(Kind.KEY_MISSING)
def no_path_at_all_for_a_saver(at: Path) -> Pair:
    return Pair(None, _saver)


@shows(Kind.KEY_MISSING, ERROR, "(root).h", "(root).h", "VARIABLE_VALUE not found")
def variable_where_an_object_with_tensors_was_saved(at: Path) -> Pair:
    return Pair(saved(at, h=serializing(lower=1.0)), lambda: ckpt(h=var()))


@silent(Kind.KEY_MISSING)
def object_reads_one_of_two_tensors_that_were_saved(at: Path) -> Pair:
    return Pair(
        saved(at, h=serializing(lower=1.0, upper=1.0)), lambda: ckpt(h=serializing(lower=1.0))
    )

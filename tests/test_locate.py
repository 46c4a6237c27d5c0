"""Paths that people type, and the checkpoint that each leads to."""

from __future__ import annotations

import os
import re
import shutil
import socket
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner
from fsspec.implementations.memory import MemoryFileSystem

import ckpt_viz as cv
from ckpt_viz import CheckpointNotFoundError, FormatError, UnsupportedError
from ckpt_viz.cli import main
from ckpt_viz.files.saved import nearby
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.formats.bundles.checkpoint_state import read_checkpoint_state
from tests.support.tables import floats, write_bundle

BIG = 10


def _touch(directory: Path, *names: str) -> Path:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return directory


def _resolved(path: Path | str) -> tuple[str, str]:
    found = locate(str(path))
    return found.prefix, found.resolved


def test_prefix_is_taken_as_it_is(tmp_path: Path) -> None:
    _touch(tmp_path, "ckpt-1.index", "ckpt-1")
    assert _resolved(tmp_path / "ckpt-1") == (f"{tmp_path}/ckpt-1", "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("ckpt-1.index", "{given} is the index of the checkpoint {prefix}"),
        ("ckpt-1.data-00000-of-00002", "{given} is a shard of the checkpoint {prefix}"),
        ("ckpt-1.meta", "{given} is the MetaGraph of the checkpoint {prefix}"),
    ],
)
def test_files_of_a_checkpoint_lead_to_it(tmp_path: Path, given: str, said: str) -> None:
    _touch(tmp_path, "ckpt-1.index", "ckpt-1.data-00000-of-00002", "ckpt-1.meta")
    prefix, path = f"{tmp_path}/ckpt-1", f"{tmp_path}/{given}"
    assert _resolved(path) == (prefix, said.format(given=path, prefix=prefix))
    assert locate(path).meta == f"{prefix}.meta"


def test_prefix_without_its_number_leads_to_the_highest(tmp_path: Path) -> None:
    _touch(tmp_path, "ckpt-9.index", f"ckpt-{BIG}.index", "other-11.index")
    expected = f"{tmp_path}/ckpt-10", f"{tmp_path}/ckpt-10 has the highest number of 2"
    assert _resolved(tmp_path / "ckpt") == _resolved(f"{tmp_path}/ckpt-") == expected


def test_directory_with_one_checkpoint_leads_to_it(tmp_path: Path) -> None:
    _touch(tmp_path, "variables.index", "notes.txt")
    prefix = f"{tmp_path}/variables"
    said = f"{prefix} is the only checkpoint with an index in {tmp_path}"
    assert _resolved(tmp_path) == (prefix, said)


def test_directory_with_one_series_leads_to_its_highest_number(tmp_path: Path) -> None:
    _touch(tmp_path, "ckpt-2.index", "ckpt-10.index")
    assert _resolved(tmp_path)[0] == f"{tmp_path}/ckpt-10"


def test_directory_with_different_checkpoints_asks_which(tmp_path: Path) -> None:
    _touch(tmp_path, "a.index", "b-1.index", "c.index", "d.index")
    with pytest.raises(
        CheckpointNotFoundError,
        match=r"of 4 checkpoints; expected the prefix of one: .*/a or .*/b-1 or .*1 more",
    ):
        locate(str(tmp_path))


@pytest.mark.parametrize(
    ("names", "given", "said"),
    [
        (["ckpt-1.index"], "ckpt-x", r"expected a file .*/ckpt-x\.index; did you mean .*/ckpt-1\?"),
        (["ckpt-1.index"], "nowhere/ckpt", r"no such checkpoint, and no directory .*/nowhere$"),
        (["notes.txt"], "", r"a directory without a checkpoint; expected a prefix such as"),
        (["notes.txt"], "notes.txt", r"notes\.txt: an empty file, not a TensorFlow checkpoint"),
        (["c.data-00000-of-00001"], "c.data-00000-of-00001", r"index is missing; .*/c\.index"),
        (["c.meta"], "c.meta", r"a MetaGraph without its checkpoint; expected a file .*/c\.index"),
        (["m/saved_model.pb"], "m", r"a SavedModel without variables; .*/variables\.index"),
    ],
)
def test_path_that_leads_nowhere_is_answered_with_the_next_step(
    tmp_path: Path, names: list[str], given: str, said: str
) -> None:
    _touch(tmp_path, *names)
    with pytest.raises(CheckpointNotFoundError, match=said):
        locate(str(tmp_path / given))


def _with_no_files(directory: Path) -> None:
    """Put there what is called like an index and is none: pipe, socket, directory, links."""
    os.mkfifo(directory / "pipe-1.index")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(directory / "socket-1.index"))  # which may not be long
    (directory / "directory-1.index").mkdir()
    (directory / "device-1.index").symlink_to("/dev/null")
    (directory / "nowhere-1.index").symlink_to("nothing")
    (directory / "circle-1.index").symlink_to("circle-1.index")


@pytest.mark.parametrize("given", ["pipe-1", "socket-1", "directory-1", "nowhere-1", "device", "x"])
def test_only_checkpoints_are_offered_and_not_what_was_given(given: str, tmp_path: Path) -> None:
    _with_no_files(tmp_path)
    with pytest.raises(CheckpointNotFoundError, match=rf"{given}: .* a file \S*{given}\.index$"):
        locate(str(tmp_path / given))
    _touch(tmp_path, "ckpt-7.index")
    (tmp_path / "link-7.index").symlink_to("ckpt-7.index")
    with pytest.raises(CheckpointNotFoundError, match=r"did you mean \S* or \S*\?$") as caught:
        locate(str(tmp_path / given))
    offered = str(caught.value).rstrip("?").rsplit(maxsplit=3)[1:]
    assert sorted(offered) == [f"{tmp_path}/ckpt-7", f"{tmp_path}/link-7", "or"]


def test_series_is_of_files_alone(tmp_path: Path) -> None:
    _touch(tmp_path, "ckpt-1.index")
    os.mkfifo(tmp_path / "ckpt-2.index")
    assert _resolved(tmp_path)[0] == _resolved(tmp_path / "ckpt")[0] == f"{tmp_path}/ckpt-1"


def test_index_without_its_suffix_is_opened_with_its_shards(tmp_path: Path) -> None:
    write_bundle(tmp_path / "ckpt-1", {"v": floats(1.0)})
    for name in ("copied", "lonely"):
        shutil.copy(tmp_path / "ckpt-1.index", tmp_path / name)
    shutil.copy(tmp_path / "ckpt-1.data-00000-of-00001", tmp_path / "copied.data-00000-of-00001")
    path = f"{tmp_path}/copied"
    said = (
        f"{path} is the index of a checkpoint, whatever its name; to restore it, rename it to "
        f"{path}.index, and its shards alike"
    )
    assert _resolved(path) == (path, said)
    assert cv.graph(path).read("v") == [1.0]
    lonely = cv.graph(tmp_path / "lonely")
    assert "lonely.data-00000-of-00001: no such file" in str(lonely.nodes[1].attributes[0].error)


def test_index_without_its_suffix_gives_way_to_a_prefix(tmp_path: Path) -> None:
    write_bundle(tmp_path / "ckpt-1", {"v": floats(1.0)})
    shutil.copy(tmp_path / "ckpt-1.index", tmp_path / "ckpt-1")
    assert _resolved(tmp_path / "ckpt-1") == (f"{tmp_path}/ckpt-1", "")


@pytest.mark.tf
def test_files_of_keras_are_known_by_their_content(tmp_path: Path) -> None:
    import keras

    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    for name, form in {
        "x.keras": cv.Format.KERAS_ARCHIVE,
        "x.h5": cv.Format.KERAS_H5,
        "x.weights.h5": cv.Format.KERAS_WEIGHTS,
    }.items():
        (model.save_weights if "weights" in name else model.save)(tmp_path / name)
        shutil.copy(tmp_path / name, tmp_path / f"{name}.renamed")
        for place in (name, f"{name}.renamed"):
            provenance = cv.graph(tmp_path / place).provenance
            assert provenance is not None
            assert (provenance.format, provenance.resolved) == (form, "")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"PK\x03\x04", "a zip archive without its end, not a TensorFlow checkpoint"),
        (b"PK\x03\x04 PK\x05\x06", "a zip archive, not a TensorFlow checkpoint"),
        (b"version https://git-lfs.github.com/spec/v1\n", "run `git lfs pull`"),
    ],
)
def test_files_that_are_taken_for_checkpoints_are_named(
    tmp_path: Path, head: bytes, said: str
) -> None:
    (tmp_path / "model").write_bytes(head + bytes(100))
    with pytest.raises(UnsupportedError, match=said):
        locate(str(tmp_path / "model"))


def test_index_that_is_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "git.index").write_bytes(b"DIRC" + bytes(100))
    with pytest.raises(FormatError, match=r"git\.index: .*expected"):
        cv.graph(tmp_path / "git")


def test_saved_model_leads_to_its_variables_from_any_of_its_files(tmp_path: Path) -> None:
    model = _touch(
        tmp_path / "m", "saved_model.pb", "keras_metadata.pb", "variables/variables.index"
    )
    for given in ("", "saved_model.pb", "keras_metadata.pb", "variables", "variables/variables"):
        found = locate(str(model / given))
        assert found.prefix == f"{model}/variables/variables"
        assert found.saved_model == str(model)


def test_home_directory_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(_touch(tmp_path, "ckpt-1.index")))
    assert _resolved("~/ckpt-1")[0] == f"{tmp_path}/ckpt-1"


# --- the file `checkpoint`


@pytest.fixture
def managed(tmp_path: Path) -> Path:
    """Return a directory in which a CheckpointManager keeps two of three checkpoints."""
    import tensorflow as tf

    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1)), str(tmp_path / "run"), max_to_keep=2
    )
    for _ in range(3):
        manager.save()
    return tmp_path / "run"


@pytest.mark.tf
def test_directory_of_a_manager_leads_to_the_latest_and_lists_all(managed: Path) -> None:
    import tensorflow as tf

    state = tf.train.get_checkpoint_state(str(managed))
    for given in (managed, managed / "checkpoint"):
        graph = cv.graph(given)
        assert graph.provenance is not None
        assert graph.provenance.prefix == tf.train.latest_checkpoint(str(managed))
        assert "ckpt-3 is the latest of 2 checkpoints that" in graph.provenance.resolved
        kept = graph.provenance.kept
        assert [one.prefix for one in kept] == list(state.all_model_checkpoint_paths)
        assert [one.saved_at.timestamp() for one in kept if one.saved_at] == pytest.approx(
            list(state.all_model_checkpoint_timestamps)
        )
        assert all(one.exists for one in kept)


@pytest.mark.tf
def test_directory_that_was_moved_still_leads_to_its_latest(managed: Path, tmp_path: Path) -> None:
    text = (managed / "checkpoint").read_text().replace('"ckpt', f'"{managed}/ckpt')
    (managed / "checkpoint").write_text(text)
    moved = managed.rename(tmp_path / "moved")
    assert locate(str(moved)).prefix == f"{moved}/ckpt-3"


@pytest.mark.tf
def test_latest_that_is_gone_leads_to_the_one_before(managed: Path) -> None:
    for path in managed.glob("ckpt-3.*"):
        path.unlink()
    found = locate(str(managed))
    assert found.prefix == f"{managed}/ckpt-2"
    assert "ckpt-3, the latest checkpoint of" in found.resolved and "is gone" in found.resolved
    assert [one.exists for one in found.kept] == [True, False]
    for path in managed.glob("ckpt-2.*"):
        path.unlink()
    with pytest.raises(CheckpointNotFoundError, match="names 2 checkpoints, and none of them"):
        locate(str(managed))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "names no model_checkpoint_path"),
        (b"\xff\xfe\x00", "not a CheckpointState as text"),
        (b"model_checkpoint_path: 3", "not a CheckpointState as text"),
        (b"a {" * 100_000, "not a CheckpointState as text"),
    ],
)
def test_checkpoint_file_that_is_something_else_is_named(
    tmp_path: Path, text: bytes, said: str
) -> None:
    (tmp_path / "checkpoint").write_bytes(text)
    with pytest.raises(FormatError, match=said):
        locate(str(tmp_path))


def test_checkpoint_file_may_hold_more_than_is_known_and_odd_times(tmp_path: Path) -> None:
    _touch(tmp_path, "c-1.index")
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "c-1"\nall_model_checkpoint_paths: "c-1"\n'
        "all_model_checkpoint_timestamps: 1e300\nfrom_the_future { x: 1 }\n"
    )
    assert [one.saved_at for one in locate(str(tmp_path)).kept] == [None]


def test_checkpoint_file_leads_out_of_its_directory_only_by_an_explicit_path(
    tmp_path: Path,
) -> None:
    _touch(tmp_path, "elsewhere/c-1.index")
    run = tmp_path / "run"
    run.mkdir()
    (run / "checkpoint").write_text(f'model_checkpoint_path: "{tmp_path}/elsewhere/c-1"')
    assert locate(str(run)).prefix == f"{tmp_path}/elsewhere/c-1"
    shutil.copy(tmp_path / "elsewhere" / "c-1.index", run / "c-1.index")
    assert locate(str(run)).prefix == f"{tmp_path}/elsewhere/c-1"


def test_checkpoint_file_of_this_machine_asks_no_server(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "gs://bucket/run/c-1"')
    state = read_checkpoint_state(str(tmp_path), lambda path: path.startswith("gs:"))
    assert state is not None and state.latest == str(tmp_path / "c-1")


def test_name_that_no_file_can_have_counts_as_gone(tmp_path: Path) -> None:
    _touch(tmp_path, "c-1.index")
    giant = "c" * 300
    with pytest.raises(CheckpointNotFoundError, match="no such checkpoint"):
        locate(str(tmp_path / giant))
    (tmp_path / "checkpoint").write_text(
        f'model_checkpoint_path: "c-1"\nall_model_checkpoint_paths: "{giant}"\n'
        'all_model_checkpoint_paths: "c-1"\n'
    )
    assert [one.exists for one in locate(str(tmp_path)).kept] == [False, True]


# --- directories that several Savers share


@pytest.mark.tf
def test_directory_that_two_savers_share_tells_what_lies_there_and_what_is_named(
    tmp_path: Path,
) -> None:
    import tensorflow as tf

    v1, res = tf.compat.v1, tmp_path / "res"
    with tf.Graph().as_default(), v1.Session() as session:
        for name in ("data.chkp", "data-v2.chkp"):
            v1.get_variable(name[:-5], (1,))
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(res / name))
    assert tf.train.latest_checkpoint(str(res)) == f"{res}/data-v2.chkp"
    graph = cv.graph(res)
    assert graph.provenance is not None
    assert graph.provenance.resolved == (
        f"{res}/data-v2.chkp is the checkpoint that {res}/checkpoint names; {res}/data.chkp is "
        f"there too, but {res}/checkpoint does not name it"
    )
    kept = [(one.prefix, one.is_named, one.is_latest) for one in graph.provenance.kept]
    assert kept == [(f"{res}/data.chkp", False, False), (f"{res}/data-v2.chkp", True, True)]
    assert f"also there: {res}/data.chkp\n" in f"{graph}\n"
    with pytest.raises(CheckpointNotFoundError) as raised:
        locate(f"{res}/data_v2")
    assert f"{res}/data.chkp" in str(raised.value) and f"{res}/data-v2.chkp" in str(raised.value)


def _named(directory: Path, latest: str, *paths: str) -> None:
    lines = [f'model_checkpoint_path: "{latest}"']
    lines += [f'all_model_checkpoint_paths: "{path}"' for path in paths]
    (directory / "checkpoint").write_text("\n".join(lines))


def test_state_file_that_names_what_is_gone_is_answered_with_what_lies_there(
    tmp_path: Path,
) -> None:
    _touch(tmp_path, "other.index")
    for latest in ("gone-2", "/of/another/machine/gone-2"):
        _named(tmp_path, latest, "gone-1", latest)
        with pytest.raises(CheckpointNotFoundError) as raised:
            locate(str(tmp_path))
        assert str(raised.value).endswith(f"; did you mean {tmp_path}/other?")
    _touch(tmp_path, "gone-1.index")
    found = locate(str(tmp_path))
    assert found.prefix == f"{tmp_path}/gone-1"
    assert "is gone" in found.resolved and f"{tmp_path}/other is there too" in found.resolved
    assert [(one.prefix, one.exists, one.is_named, one.is_latest) for one in found.kept] == [
        (f"{tmp_path}/other", True, False, False),
        (f"{tmp_path}/gone-1", True, True, False),
        (latest, False, True, True),
    ]


def test_latest_is_what_the_state_file_names_wherever_it_is_in_the_list(
    tmp_path: Path,
) -> None:
    _touch(tmp_path, "c-1.index", "c-2.index")
    _named(tmp_path, "c-1", "c-1", "c-2")
    assert [one.is_latest for one in locate(str(tmp_path)).kept] == [True, False]
    _named(tmp_path, "c-1", "c-2")  # which is not even in its list
    found = locate(str(tmp_path))
    assert found.resolved == (
        f"{tmp_path}/c-1 is the latest of 2 checkpoints that {tmp_path}/checkpoint names"
    )
    assert [(one.prefix, one.is_latest) for one in found.kept] == [
        (f"{tmp_path}/c-2", False),
        (f"{tmp_path}/c-1", True),
    ]


def test_checkpoint_of_another_directory_hides_none_of_the_same_name(tmp_path: Path) -> None:
    _touch(tmp_path, "elsewhere/c-1.index", "run/c-1.index")
    _named(tmp_path / "run", f"{tmp_path}/elsewhere/c-1")
    found = locate(str(tmp_path / "run"))
    assert found.prefix == f"{tmp_path}/elsewhere/c-1"
    assert f"; {tmp_path}/run/c-1 is there too" in found.resolved
    (tmp_path / "link").symlink_to(tmp_path / "run")
    _named(tmp_path / "run", f"{tmp_path}/run/c-1")
    found = locate(str(tmp_path / "link"))  # the same directory by another name
    assert "lies there" not in found.resolved and len(found.kept) == 1


def test_thousands_of_checkpoints_beside_the_named_one_are_counted_and_not_all_listed(
    tmp_path: Path,
) -> None:
    _touch(tmp_path, *(f"c-{number}.index" for number in range(3000)))
    _named(tmp_path, "c-0", "c-0")
    found = locate(str(tmp_path))
    said = f"; {tmp_path}/c-2997, {tmp_path}/c-2998, {tmp_path}/c-2999 and 2996 more are there too"
    assert said in found.resolved
    assert len(found.kept) <= 201 and found.kept[-2].prefix == f"{tmp_path}/c-2999"
    (tmp_path / "checkpoint").unlink()
    found = locate(str(tmp_path))
    assert found.resolved == (
        f"{tmp_path}/c-2999 has the highest number of the 3000 checkpoints in {tmp_path}"
    )
    assert len(found.kept) <= 200 and not any(one.is_named for one in found.kept)


@pytest.mark.parametrize(
    ("are_named", "words"), [(True, "kept"), (False, "also there")], ids=["named", "not named"]
)
def test_of_many_checkpoints_a_tree_tells_the_latest(
    are_named: bool, words: str, tmp_path: Path
) -> None:
    names = [f"c-{number}" for number in range(1, 31)]
    _touch(tmp_path, *(f"{name}.index" for name in names))
    write_bundle(tmp_path / "c-31", {"v": floats(1.0)})
    _named(tmp_path, "c-31", *(names if are_named else ()), "c-31")
    lines = str(cv.graph(tmp_path)).splitlines()
    told = [line.split(words + ": ")[1].split(",")[0] for line in lines if words + ": " in line]
    latest = [*names, "c-31"] if are_named else names
    assert told == [f"{tmp_path}/{name}" for name in latest[-20:]]


def test_checkpoint_of_version_1_beside_an_index_makes_no_sentence_false(tmp_path: Path) -> None:
    _touch(tmp_path, "new.index", "old", "old.meta")
    said = f"{tmp_path}/new is the only checkpoint with an index in {tmp_path}"
    assert _resolved(tmp_path) == (f"{tmp_path}/new", said)


# --- checkpoints nearby


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("runs", "runs/exp1/ckpts/ckpt-10"),
        ("runs/exp1", "runs/exp1/ckpts/ckpt-10"),
        ("export", "export/1"),
        ("runs/exp1/chkpts/ckpt-9", "runs/exp1/ckpts/ckpt-9"),
        ("run/exp1/ckpts/ckpt-9", "runs/exp1/ckpts/ckpt-9"),
        ("runs/exp2/chkpts/ckpt-9", "runs/exp1/ckpts/ckpt-9"),
        ("runs/exp1/chkpts/ckpt-7", "runs/exp1/ckpts/ckpt-9 or {at}/runs/exp1/ckpts/ckpt-10"),
    ],
)
def test_checkpoints_below_and_similar_directories_are_named(
    tmp_path: Path, given: str, meant: str
) -> None:
    _touch(tmp_path, "runs/exp1/ckpts/ckpt-9.index", f"runs/exp1/ckpts/ckpt-{BIG}.index")
    _touch(tmp_path, "export/1/saved_model.pb", "export/1/variables/variables.index")
    with pytest.raises(CheckpointNotFoundError) as raised:
        locate(f"{tmp_path}/{given}")
    assert str(raised.value).endswith(f"; did you mean {tmp_path}/{meant.format(at=tmp_path)}?")


def test_nothing_is_named_where_nothing_is_near(tmp_path: Path) -> None:
    _touch(tmp_path, "a/b/c/d/e/ckpt-1.index", "notes/readme.txt")
    (tmp_path / "link").symlink_to(tmp_path / "a/b/c/d/e")
    for given in ("notes", "nothing/like/it/ckpt-1", "."):
        with pytest.raises(CheckpointNotFoundError) as raised:
            locate(f"{tmp_path}/{given}")
        assert "did you mean" not in str(raised.value)


def test_a_directory_of_many_directories_is_looked_into_for_a_while_only(
    tmp_path: Path,
) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}").mkdir()
    _touch(tmp_path, "299/ckpt-1.index")
    with pytest.raises(CheckpointNotFoundError) as raised:
        locate(str(tmp_path))
    assert "did you mean" not in str(raised.value)


def test_a_search_that_takes_too_long_ends_and_leaves_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _touch(tmp_path, "runs/ckpt-1.index")
    monkeypatch.setattr(nearby, "_MOST_SECONDS", -1.0)
    with pytest.raises(CheckpointNotFoundError, match=r"expected a prefix such as \S*ckpt-1$"):
        locate(str(tmp_path))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "a directory without a checkpoint; .*; did you mean .* or {}/runs/ckpt-1\\?$"),
        ("runz/ckpt-1", "no such checkpoint, and no directory .*; did you mean {}/runs/ckpt-1\\?$"),
        ("runs/ckpt-2", "no such checkpoint; .*; did you mean {}/runs/ckpt-1\\?$"),
        ("pipe/ckpt-1", "no such checkpoint, and no directory .*/pipe$"),
        ("bad/ckpt-1", r"did you mean {}/bad\\udcff/ckpt-\\udcfe1\?$"),
    ],
)
def test_what_is_beside_a_wrong_path_never_hides_the_error(
    tmp_path: Path, given: str, said: str
) -> None:
    _touch(tmp_path, "runs/ckpt-1.index", "runs/ckpt", "bad\udcff/ckpt-\udcfe1.index")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "runt").symlink_to("runt")  # in a circle, and spelled like `runs`
    (tmp_path / "runs" / "again").symlink_to(tmp_path)
    for name in ("zero", "null"):
        (tmp_path / "runs" / f"{name}.index").symlink_to(f"/dev/{name}")
    with pytest.raises(CheckpointNotFoundError, match=said.format(re.escape(str(tmp_path)))) as one:
        locate(str(tmp_path / given))
    told = CliRunner().invoke(main, ["show", str(tmp_path / given)])
    assert (told.exit_code, told.output) == (2, f"Error: {one.value}\n")


class _Unlisted(MemoryFileSystem):  # type: ignore[misc]
    """Files of a bucket that allows to read objects, but not to list them."""

    protocol = "unlisted"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("unlisted:/")))

    def ls(self, path: str, detail: bool = True, **_: object) -> list[object]:
        raise PermissionError("AccessDenied")


def test_a_remote_directory_that_cannot_be_listed_hides_no_error(tmp_path: Path) -> None:
    fsspec.register_implementation("unlisted", _Unlisted, clobber=True)
    prefix = write_bundle(tmp_path / "ckpt-1", {"v": floats(1.0)})
    for file in tmp_path.iterdir():
        _Unlisted().pipe_file(f"/run/{file.name}", file.read_bytes())
    assert Path(prefix).name in locate("unlisted://run/ckpt-1").prefix
    said = r"no such checkpoint; .*ckpt-2\.index; the directory cannot be listed: .*AccessDenied"
    with pytest.raises(CheckpointNotFoundError, match=said):
        locate("unlisted://run/ckpt-2")

"""Files that exist but may not be read: the error says this, with the place and the next step."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, DeniedError
from ckpt_viz.formats.bundles import bundle_writer
from tests.support.tables import floats, write_bundle

_NOBODY = 65534
_INDEX = "ckpt-2.index"
_SHARD = "ckpt-2.data-00000-of-00001"
_STATE = """
model_checkpoint_path: "ckpt-2"
all_model_checkpoint_paths: "ckpt-1"
all_model_checkpoint_paths: "ckpt-2"
"""


@contextmanager
def _as_another_user() -> Iterator[None]:
    """Act for somebody to whom permissions apply; for oneself where one is not root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory of two checkpoints whose owner is who reads them; not below pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for step in (1, 2):
            write_bundle(place / f"ckpt-{step}", {"a": floats(float(step))})
        (place / "checkpoint").write_text(_STATE)
        os.chmod(place, 0o755)
        cv.graph(place).beginning("a", 1)  # what is imported later may not be readable then
        CliRunner().invoke(main, ["show", name, "--svg", str(place / "a.svg")])
        yield place
        os.chown(place, os.getuid(), os.getgid())
        os.chmod(place, 0o755)


def test_a_checkpoint_in_a_directory_of_another_user_is_not_begun(place: Path) -> None:
    before = sorted(os.listdir(place))
    os.chmod(place, 0o555)
    said = f"{place}/new.data-00000-of-00001: cannot be written: permission denied"
    with _as_another_user(), pytest.raises(DeniedError, match=re.escape(said)):
        bundle_writer.write_bundle(str(place / "new"), {})
    assert sorted(os.listdir(place)) == before


@contextmanager
def _denied(place: Path, name: str, mode: int) -> Iterator[None]:
    """Have one file's permissions, or the directory's own, be these."""
    if os.geteuid() == 0:
        for path in (place, *place.iterdir()):
            os.chown(path, _NOBODY, _NOBODY)
    os.chmod(place / name, mode)
    with _as_another_user():
        if name == "." and os.access(place, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
            pytest.skip("permissions do not hold here")
        yield


@pytest.mark.parametrize(
    ("denied", "mode", "asked", "error", "said"),
    [
        (_INDEX, 0, "ckpt-2", DeniedError, "{}/ckpt-2.index: cannot be read: permission denied"),
        (_INDEX, 0, _INDEX, DeniedError, "{}/ckpt-2.index: cannot be read: permission denied"),
        (_INDEX, 0, ".", DeniedError, "{}/ckpt-2.index: cannot be read: permission denied"),
        (_INDEX, 0, "ckpt-3", CheckpointNotFoundError, "did you mean {}/ckpt-2 or {}/ckpt-1?"),
        ("checkpoint", 0, ".", DeniedError, "{}/checkpoint: cannot be read: permission denied"),
        (".", 0, "ckpt-2", DeniedError, "{}: cannot be searched: permission denied"),
        (".", 0, _INDEX, DeniedError, "{}: cannot be searched: permission denied"),
        (".", 0, "none/of/these", DeniedError, "{}: cannot be searched: permission denied"),
        (".", 0, ".", DeniedError, "{}: cannot be searched: permission denied"),
        (".", 0o600, "ckpt-2", DeniedError, "{}: cannot be searched: permission denied"),
        (
            ".",
            0o300,
            "ckpt",
            CheckpointNotFoundError,
            "expected a file {}/ckpt.index; the directory",
        ),
        (".", 0o300, "ckpt", CheckpointNotFoundError, "{}: cannot be read: permission denied"),
    ],
)
def test_what_denies_is_named_with_the_next_step(
    denied: str, mode: int, asked: str, error: type[CkptVizError], said: str, place: Path
) -> None:
    path = os.path.normpath(place / asked)
    with _denied(place, denied, mode):
        with pytest.raises(error) as raised:
            cv.graph(path)
        told = CliRunner().invoke(main, ["show", path])
    message = str(raised.value)
    assert said.format(place, place) in message
    assert "permission denied" not in message or message.endswith("a copy that you may read")
    assert (told.exit_code, told.output) == (2, f"Error: {message}\n")


@pytest.mark.parametrize(
    ("denied", "mode", "asked"),
    [(_SHARD, 0, "ckpt-2"), (_INDEX, 0, "ckpt-1"), (".", 0o300, "."), (".", 0o500, "ckpt")],
)
def test_what_need_not_be_read_denies_nothing(
    denied: str, mode: int, asked: str, place: Path
) -> None:
    with _denied(place, denied, mode):
        assert len(cv.graph(place / asked).nodes) == 2


def test_a_shard_that_may_not_be_read_denies_values_alone(place: Path) -> None:
    graph = cv.graph(place / "ckpt-2")
    with _denied(place, _SHARD, 0), pytest.raises(DeniedError, match=f"{_SHARD}: cannot be read"):
        graph.beginning("a", 1)


def test_a_copied_directory_is_read_whoever_may_enter_the_one_that_it_names(place: Path) -> None:
    with tempfile.TemporaryDirectory() as copied:
        os.chmod(copied, 0o755)
        for step in (1, 2):
            write_bundle(Path(copied) / f"ckpt-{step}", {"a": floats(1.0)})
        for file in Path(copied).iterdir():
            os.chmod(file, 0o644)
        state = _STATE.replace('"ckpt', f'"{place}/ckpt').replace("ckpt-1", "ckpt-0")
        (Path(copied) / "checkpoint").write_text(state)
        with _denied(place, ".", 0):
            graph = cv.graph(copied)
    assert graph.title == f"{copied}/ckpt-2"
    assert graph.provenance is not None
    assert [one.exists for one in graph.provenance.kept if one.is_named] == [False, True]


@pytest.mark.parametrize("mode", [0, 0o400, 0o100], ids=["nothing", "listing", "searching"])
@pytest.mark.parametrize("given", ["", "denies/ckpt-1", "rums/ckpt-1"])
def test_a_directory_that_denies_hides_no_error_about_a_path_beside_it(
    given: str, mode: int, place: Path
) -> None:
    for name in ("denied", "runs"):
        (place / "all" / name).mkdir(parents=True)
        write_bundle(place / "all" / name / "ckpt-1", {"a": floats(1.0)})
    denied = place / "all" / "denied"
    with _denied(denied, ".", mode), pytest.raises(CheckpointNotFoundError) as raised:
        cv.graph(place / "all" / given)
    os.chmod(denied, 0o755)
    if not given.startswith("denies"):
        assert str(raised.value).endswith(f" {place}/all/runs/ckpt-1?")


@pytest.mark.parametrize("option", ["--svg", "--dot", "--html"])
def test_a_directory_that_is_read_only_stays_as_it_is(option: str, place: Path) -> None:
    path = str(place / "ckpt-1")
    CliRunner().invoke(main, ["show", path, option, str(place / "a")])
    written = place / "b"
    with _denied(place, ".", 0o500):
        before = sorted(os.listdir(place))
        told = CliRunner().invoke(main, ["show", path, option, str(written)])
        assert sorted(os.listdir(place)) == before
    sentence = "permission denied; name a file in a directory that you may write to"
    assert told.output == f"Error: {written}: cannot be written: {sentence}\n"
    assert told.exit_code == 2


@pytest.mark.tf
@pytest.mark.parametrize(
    ("denied", "mode"), [(_INDEX, 0), (_SHARD, 0), (".", 0), (".", 0o300), (".", 0o500)]
)
def test_a_check_says_what_tensorflow_does(denied: str, mode: int, place: Path) -> None:
    import tensorflow as tf

    made = tf.train.Checkpoint(v=tf.Variable(1.0))
    prefix = made.write(str(place / "ckpt-2"))
    live = tf.train.Checkpoint(v=tf.Variable(2.0))
    cv.check(live, prefix, method="read").assert_consumed()  # has all imported
    live.read(prefix).assert_consumed()
    live = tf.train.Checkpoint(v=tf.Variable(2.0))
    raised = said = None
    with _denied(place, denied, mode):
        try:
            live.restore(prefix).assert_consumed()
        except Exception as error:
            raised = error
        found = cv.check(tf.train.Checkpoint(v=tf.Variable(2.0)), prefix)
        try:
            found.assert_consumed()
        except Exception as error:
            said = error
    assert type(said) is type(raised)
    assert (raised is None) == found.consumed
    if "; Permission denied" in str(raised):
        assert "Copy the whole checkpoint again" not in str(found)
        assert re.search(
            "[Aa]sk (its owner|the owner of the file|the file's owner) for (the )?permission",
            str(found),
        )


@pytest.mark.parametrize(
    ("denied", "mode", "asked", "status"),
    [
        (_INDEX, 0, "ckpt-2", 403),
        (".", 0, "ckpt-2", 403),
        ("checkpoint", 0, "", 403),
        (".", 0o300, "ckpt", 404),
    ],
)
def test_the_server_refuses_with_a_reason_and_names_no_place_above_its_root(
    denied: str, mode: int, asked: str, status: int, place: Path
) -> None:
    from ckpt_viz.entrances.server.graphs import look_at, read_page
    from ckpt_viz.entrances.server.messages import Asked
    from ckpt_viz.entrances.server.refusals import STATUS, refusal_of

    where = Asked(str(place), False, asked, None)
    whole = Asked(str(place), False, "ckpt-1", None)
    read_page(whole, 1 << 20)
    look_at(whole, "1", 1 << 20)
    looked_at = () if denied == _INDEX else (lambda: look_at(where, "1", 1 << 20),)
    with _denied(place, denied, mode):
        for read in (lambda: read_page(where, 1 << 20), *looked_at):
            with pytest.raises(CkptVizError) as raised:
                read()
            refusal = refusal_of(raised.value)
            assert refusal is not None
            assert STATUS[refusal.reason] == status
            assert "permission denied; ask its owner" in refusal.message
            assert str(place) not in refusal.message

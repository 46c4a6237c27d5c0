"""What the page's engine does in Python: finds checkpoints among files, opens and answers."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from ckpt_viz.entrances.web.session import Session
from tests.support.graphs import keras3_adam
from tests.support.saved_graphs import write_graph

EXAMPLES = Path(__file__).parents[1] / "labextension" / "page"
KERAS = Path(__file__).parent / "data" / "old_versions" / "keras3.9" / "keras_files.zip"


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def files_in(directory: Path) -> list[str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return sorted(path.relative_to(directory).as_posix() for path in files)


def series(directory: Path) -> Any:
    return json.loads(Session().series(files_in(directory)))["series"]


def opened(session: Session, show: str, *paths: str) -> dict[str, Any]:
    about, payload = session.open(show, paths)
    parsed: dict[str, Any] = json.loads(about)
    assert ("error" in parsed) == (payload == b"")
    return parsed


def test_the_series_that_was_written_last_comes_first(dropped: Path) -> None:
    (dropped / "old").mkdir()
    (dropped / "new" / "deep").mkdir(parents=True)
    for number in (2, 10, 1):
        write_graph(dropped / "old" / f"ckpt-{number}", keras3_adam())
    write_graph(dropped / "new" / "deep" / "ckpt-1", keras3_adam())
    for path in dropped.glob("old/*"):
        os.utime(path, (1, 1))
    (dropped / "notes.txt").write_text("training")
    assert series(dropped) == [
        {"directory": "new/deep", "paths": ["new/deep/ckpt-1"]},
        {"directory": "old", "paths": ["old/ckpt-1", "old/ckpt-2", "old/ckpt-10"]},
    ]


def test_of_many_checkpoints_the_page_lists_the_latest(
    dropped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckpt_viz.entrances.web.dropped._MOST_LISTED", 2)
    (dropped / "run").mkdir()
    for number in (1, 2, 10):
        write_graph(dropped / "run" / f"ckpt-{number}", keras3_adam())
    assert series(dropped) == [{"directory": "run", "paths": ["run/ckpt-2", "run/ckpt-10"]}]


def test_loose_files_are_a_series_without_a_directory(dropped: Path) -> None:
    write_graph(dropped / "ckpt-1", keras3_adam())
    write_graph(dropped / "~home", keras3_adam())
    assert series(dropped) == [{"directory": "", "paths": ["ckpt-1", "~home"]}]
    assert opened(Session(), "graph", "~home")["title"] == "./~home"


def test_content_decides_about_a_file_alone(dropped: Path) -> None:
    write_graph(dropped / "ckpt", keras3_adam())
    shutil.move(dropped / "ckpt.index", dropped / "renamed")
    (dropped / "ckpt.data-00000-of-00001").unlink()
    assert [each["paths"] for each in series(dropped)] == [["renamed"]]
    assert opened(Session(), "graph", "renamed")["missing"] == ["renamed.data-…"]
    (dropped / "renamed").write_bytes(b"PK\x03\x04 and so on")
    assert "not a TensorFlow checkpoint" in opened(Session(), "graph", "renamed")["error"]


def test_files_without_a_checkpoint_get_a_sentence(dropped: Path) -> None:
    for name in ("train.py", "notes.txt"):
        (dropped / name).write_text("x")
    assert json.loads(Session().series(files_in(dropped))) == {
        "error": "none of these 2 files is a checkpoint. Drop the .index file and its .data files, "
        "a SavedModel's folder, or a file of Keras"
    }


def test_files_of_keras_and_a_saved_model_are_checkpoints(dropped: Path) -> None:
    with ZipFile(KERAS) as archive:
        archive.extractall(dropped)
    paths = [path for each in series(dropped) for path in each["paths"]]
    assert len(paths) == 3
    session = Session()
    for path in paths:
        assert "error" not in opened(session, "graph", path)
        values = json.loads(session.ask('{"ask": "measures"}')[0])
        assert "error" not in values


def test_missing_shards_have_their_names(dropped: Path) -> None:
    write_graph(dropped / "ckpt", keras3_adam())
    shutil.copy("ckpt.data-00000-of-00001", "ckpt.data-00001-of-00003")
    (dropped / "ckpt.data-00000-of-00001").unlink()
    missing = opened(Session(), "graph", "ckpt")["missing"]
    assert missing == ["ckpt.data-00000-of-00003", "ckpt.data-00002-of-00003"]


def test_what_is_in_a_saved_model_is_a_checkpoint_without_its_folder(dropped: Path) -> None:
    (dropped / "saved_model.pb").touch()
    error = opened(Session(), "graph", *series(dropped)[0]["paths"])["error"]
    assert error.startswith(".: a SavedModel without variables; expected a file ./variables/")
    (dropped / "variables").mkdir()
    write_graph(dropped / "variables" / "variables", keras3_adam())
    assert series(dropped) == [{"directory": "", "paths": ["."]}]
    assert opened(Session(), "graph", ".")["missing"] == []
    (dropped / "others").mkdir()
    write_graph(dropped / "others" / "ckpt-1", keras3_adam())
    assert [each["directory"] for each in series(dropped)] == ["others", ""]


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", json.loads((EXAMPLES / "examples.json").read_text()), ids=lambda each: each["id"]
)
def test_each_example_opens_with_its_values(example: dict[str, Any], dropped: Path) -> None:
    with ZipFile(EXAMPLES / "examples.zip") as archive:
        archive.extractall(dropped)
    done: list[tuple[int, int]] = []
    session = Session(lambda *bytes_read: done.append(bytes_read))
    about = opened(session, example["show"], *example["paths"])
    assert (about["show"], about["missing"]) == (example["show"], [])
    if example["show"] != "history":
        assert "error" not in json.loads(session.ask('{"ask": "measures"}')[0])
    assert done[0][0] == 0 < done[-1][0] <= done[-1][1]


def test_a_history_answers_its_view_with_code_and_files(dropped: Path) -> None:
    with ZipFile(EXAMPLES / "examples.zip") as archive:
        archive.extractall(dropped)
    session = Session()
    opened(session, "history", *(f"training/ckpt-{number}" for number in (1, 2, 3)))
    code = json.loads(session.ask('{"ask": "restore", "checkpoint": 1}')[0])["code"]
    assert "'training/ckpt-2'" in code
    assert b"ckpt-3" in session.ask('{"ask": "file", "format": "csv"}')[1][0]
    assert "error" in json.loads(session.ask('{"ask": "fix"}')[0])


def test_a_check_of_one_checkpoint_takes_changes_of_its_program(dropped: Path) -> None:
    with ZipFile(EXAMPLES / "examples.zip") as archive:
        archive.extractall(dropped)
    session = Session()
    assert opened(session, "check", "renamed/before", "renamed/before")["show"] == "check"
    changes = {"edits": [{"kind": "name", "node": 1}]}
    answered = json.loads(session.ask(json.dumps({"ask": "changed", "changes": changes}))[0])
    assert "error" not in answered, answered


@pytest.mark.parametrize("question", ["", "[", "3", "null", "{}", '{"ask": ["x"]}', '{"ask": "x"}'])
def test_a_bad_question_gets_a_sentence(question: str, dropped: Path) -> None:
    session = Session()
    assert json.loads(session.ask(question)[0])["error"]
    write_graph(dropped / "ckpt", keras3_adam())
    opened(session, "graph", "ckpt")
    assert json.loads(session.ask(question)[0])["error"]


def test_model_of_tensorflowjs_among_dropped_files_is_found(dropped: Path) -> None:
    packed = Path(__file__).parent / "data" / "tfjs" / "models.zip"
    with ZipFile(packed) as archive:
        names = [name for name in archive.namelist() if name.startswith("uint8/")]
        archive.extractall(dropped, names)
    assert series(dropped) == [{"directory": "uint8", "paths": ["uint8/model.json"]}]
    assert "error" not in opened(Session(), "graph", "uint8/model.json")

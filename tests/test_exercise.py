"""`cv.exercise`: an explorer that asks, and keeps the answers out of what it shows."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter import snapshots
from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE
from tests.support.graphs import keras3_adam, without_optimizer
from tests.test_snapshots import Front

_ASKED = ("optimizer", "assert_consumed")


@pytest.fixture
def exercise() -> cv.Exercise:
    return cv.exercise(without_optimizer(), keras3_adam(), questions=_ASKED)


def _steps(explorer: cv.Explorer) -> Any:
    packed = _snapshot(explorer)["steps"]
    return json.loads(gzip.decompress(base64.b64decode(packed)))[0]


def _snapshot(explorer: cv.Explorer) -> Any:
    bundle = explorer._repr_mimebundle_()
    assert bundle is not None
    return bundle[0][MIME_TYPE]


def test_an_exercise_has_its_questions_and_answers(exercise: cv.Exercise) -> None:
    assert [question.about for question in exercise.questions] == [*_ASKED]
    optimizer, assert_consumed = exercise.answers
    check = exercise.comparison
    assert isinstance(check, cv.RestoreCheck)
    step = check.steps[optimizer["step"] - 1]
    assert step.action == "defer" and step.local_name == "optimizer"
    assert optimizer == {
        "question": "What becomes of optimizer?",
        "choices": ["restored now", "waits", "forgotten", "error"],
        "answer": "waits",
        "why": f"{step.text} {step.reason}",
        "step": step.number,
    }
    assert assert_consumed["answer"] == "fails"
    assert assert_consumed["step"] == len(check.steps) + 1


def test_what_is_printed_and_stored_as_text_has_no_answers(exercise: cv.Exercise) -> None:
    words = (
        "1. What becomes of optimizer? 1 restored now, 2 waits, 3 forgotten, 4 error\n"
        "2. Does assert_consumed() pass? 1 passes, 2 fails"
    )
    assert str(exercise) == repr(exercise) == words
    bundle = exercise._repr_mimebundle_()
    assert bundle is not None
    assert bundle[0]["text/plain"] == words
    assert "text/html" not in bundle[0]


def test_the_page_gets_the_questions_and_opens_with_them(
    exercise: cv.Exercise, tmp_path: Path
) -> None:
    for question in ({"ask": "steps", "at": 0}, {"ask": "questions"}):
        answer, _ = exercise._answer(question)
        assert answer["is_exercise"]
        assert [entry["about"] for entry in answer["questions"]] == [*_ASKED]
    assert exercise.step == 1 == _snapshot(exercise)["step"]
    exercise.save_html(tmp_path / "exercise.html")
    page = (tmp_path / "exercise.html").read_text("utf-8")
    (state,) = re.findall(r'id="state">(.*?)</script>', page)
    assert json.loads(state)["step"] == 1
    (packed,) = re.findall(r'id="steps" data-count="\d+">(.*?)</script>', page)
    assert json.loads(gzip.decompress(base64.b64decode(packed)))[0]["is_exercise"]


def test_other_explorers_choose_questions_only_when_a_page_asks(exercise: cv.Exercise) -> None:
    check = exercise.comparison
    assert isinstance(check, cv.RestoreCheck)
    shown = cv.show(check)
    assert "questions" not in shown._answer({"ask": "steps", "at": 0})[0]
    answer, _ = shown._answer({"ask": "questions"})
    assert not answer["is_exercise"] and 0 < len(answer["questions"]) <= 5
    for entry in answer["questions"]:
        assert 0 < entry["at"] < len(check.steps)
    assert "step" not in _snapshot(shown)
    assert "only the check" in cv.show(keras3_adam())._answer({"ask": "questions"})[0]["error"]


def test_an_exercise_and_an_explorer_of_one_check_keep_their_own_steps(
    exercise: cv.Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = Front()
    monkeypatch.setattr(snapshots, "kernel_shell", lambda: front.shell)
    monkeypatch.setattr(snapshots, "_holders", {})
    made = [cv.show(exercise.comparison), exercise, cv.exercise(*_sides(), questions=1)]
    digests = []
    for cell, explorer in enumerate(made):
        front.run(f"cell {cell}")
        digests.append(_snapshot(explorer)["digest"])
        front.run(f"cell {cell}")
        assert _steps(explorer)["is_exercise"] == (explorer is not made[0])
    assert len({*digests}) == 3


def _sides() -> tuple[cv.ObjectGraph, cv.ObjectGraph]:
    return without_optimizer(), keras3_adam()


def test_wrong_questions_have_the_usual_errors() -> None:
    with pytest.raises(cv.NoSuchNodeError, match="found 'nothing'"):
        cv.exercise(without_optimizer(), keras3_adam(), questions=["nothing"])
    with pytest.raises(cv.SourceError, match="expected a number from 1 on"):
        cv.exercise(without_optimizer(), keras3_adam(), questions=0)


def test_an_exercise_of_files_needs_no_tensorflow() -> None:
    code = """
import sys
import ckpt_viz as cv
from tests.support.graphs import keras3_adam, without_optimizer
print(cv.exercise(without_optimizer(), keras3_adam()))
sys.exit("tensorflow" in sys.modules)
"""
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=root, capture_output=True, text=True
    )
    assert "What becomes of optimizer?" in done.stdout

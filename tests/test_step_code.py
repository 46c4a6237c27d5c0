"""The code that opens an explorer at a step runs in the notebook that asked for it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter import step_code
from tests.support.graphs import keras3_adam, without_optimizer
from tests.support.programs import ckpt, saved, var


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a notebook, at first none."""
    names: dict[str, Any] = {}
    shell = SimpleNamespace(user_ns=names)
    monkeypatch.setattr(step_code, "kernel_shell", lambda: shell)
    return names


def _code(explorer: cv.Explorer, at: object = 4) -> str:
    answer, _ = explorer._answer({"ask": "link", "at": at})
    return str(answer.get("text") or answer["error"])


def test_the_explorer_itself_goes_to_the_step(notebook: dict[str, Any]) -> None:
    explorer = cv.show(cv.check(without_optimizer(), keras3_adam()))
    notebook["shown"] = explorer
    assert _code(explorer) == "shown.step = 5"
    exec(_code(explorer), notebook)
    assert explorer.step == 5


@pytest.mark.tf
def test_another_explorer_is_made_of_the_notebooks_names(
    notebook: dict[str, Any], tmp_path: Path
) -> None:
    path, live = saved(tmp_path, a=var(), b=var()), ckpt(a=var())
    shown = cv.show(live, against=path)
    assert _code(shown).startswith("No variable of the notebook holds this explorer.")
    notebook["program"] = live
    for expected in (f"show(program, against={path!r})", "show(result)"):
        code = _code(shown)
        assert expected in code
        names = {**notebook}
        exec(code, names)
        assert names["explorer"].step == 5
        assert str(names["explorer"].comparison) == str(shown.comparison)
        notebook["result"] = shown.comparison
    assert "import" in _code(shown)
    notebook["viz"] = cv
    assert _code(shown) == "explorer = viz.show(result)\nexplorer.step = 5\nexplorer"


def test_only_steps_of_a_check_in_a_notebook_have_code(notebook: dict[str, Any]) -> None:
    check = cv.show(cv.check(without_optimizer(), keras3_adam()))
    notebook["check"] = check
    for at in (-1, 10_000, True, "4", None):
        assert "expected one below" in _code(check, at)
    assert "Only the explorer of a check" in _code(cv.show(keras3_adam()))


def test_a_kernel_offers_code_and_a_plain_program_does_not(notebook: dict[str, Any]) -> None:
    explorer = cv.show(cv.check(without_optimizer(), keras3_adam()))
    question = {"ask": "steps", "at": 0}
    assert explorer._answer(question)[0]["link"] == "code"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_code, "kernel_shell", lambda: None)
        assert "link" not in explorer._answer(question)[0]
        assert "Only the explorer of a check in a notebook" in _code(explorer)

"""The first examples that a user meets: those of README, and those of each public name."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import ckpt_viz as cv
from tests.support.doctests import modules_of_public_examples
from tests.support.example_program import names_of_examples
from tests.support.once import ROOT

pytestmark = pytest.mark.tf

_OPTIONS = doctest.NORMALIZE_WHITESPACE  # a printed table has empty lines, which would end a text
_BUILDS_A_MODEL = {"check_load_model", "LoadCheck", "LoadFinding"}
_API = sorted((ROOT / "docs" / "api").glob("*.md"))


@pytest.mark.parametrize("name", ["ckpt_viz", *cv.__all__])
def test_the_example_of_a_public_name_prints_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in _BUILDS_A_MODEL and version("keras").startswith("2."):
        pytest.skip("Keras 2 has another answer")
    text = inspect.getdoc(cv if name == "ckpt_viz" else getattr(cv, name)) or ""
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples, f"{name} has no example"
    assert not any(doctest.SKIP in part.options for part in example.examples)
    monkeypatch.chdir(tmp_path)
    example.globs = names_of_examples()
    printed: list[str] = []
    doctest.DocTestRunner(optionflags=_OPTIONS).run(example, out=printed.append)
    assert "".join(printed) == ""


def test_modules_of_public_names_have_no_examples_that_nothing_runs() -> None:
    modules = modules_of_public_examples()
    places = {Path(inspect.getfile(getattr(cv, name))) for name in cv.__all__}
    assert set(modules) == places | {Path(cv.__file__)}
    with_examples = [
        node
        for module in modules
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and ">>> " in (ast.get_docstring(node) or "")
    ]
    assert len(with_examples) == 1 + len(cv.__all__)


@pytest.mark.parametrize("name", ["check", "show"])
def test_help_begins_with_a_sentence_and_an_example(name: str) -> None:
    lines = (inspect.getdoc(getattr(cv, name)) or "").splitlines()
    assert lines[0].endswith(".") and lines[1] == "" and lines[2].startswith(">>> ")
    assert f"cv.{name}(" in lines[2]


def test_help_of_the_package_begins_with_an_example() -> None:
    lines = (cv.__doc__ or "").splitlines()
    assert lines[0].endswith(".") and lines[2] == ">>> import ckpt_viz as cv"


def test_the_reference_has_each_public_name_once() -> None:
    text = "\n".join(page.read_text("utf-8") for page in _API)
    names = re.findall(r"^\.\. auto(?:function|class|exception):: (\w+)$", text, re.M)
    assert sorted(names) == sorted(cv.__all__)


def test_readme_leads_from_a_failed_restore_to_a_restored_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its program is that of its picture, and it prints what README shows."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.S)
    assert len([line for line in code.splitlines() if line]) <= 6  # five, and the import
    saved, ckpt = import_module("benchmarks.models").changed_cnn()
    with pytest.raises(ValueError):
        ckpt.restore("cnn/ckpt-1")
    exec(code, {"ckpt": ckpt})
    printed = capsys.readouterr().out
    assert printed.startswith(shown)
    assert (ckpt.features.kernel == saved.conv2.kernel).numpy().all()


def test_readme_is_short_and_begins_with_a_picture() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= 900
    assert text.splitlines()[2].startswith("![")

"""Plain `pytest` runs every tool that judges the code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import frontend

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "tool", ["ruff check", "ruff format --check", pytest.param("mypy", marks=pytest.mark.slow)]
)
def test_python(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *tool.split()],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    _expect_success(done)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["typecheck", "lint", "test"])
def test_typescript(script: str) -> None:
    _expect_success(frontend.run_script(script))


def test_the_lock_file_holds_for_any_registry() -> None:
    assert '"resolved"' not in (frontend.LABEXTENSION / "package-lock.json").read_text()


def test_an_installation_leaves_the_lock_file_as_it_is(tmp_path: Path) -> None:
    """So that the README's first command leaves a clone clean."""
    lock = frontend.LABEXTENSION / "package-lock.json"
    assert frontend.lock_file(tmp_path) == lock.read_bytes()


def test_the_lock_file_has_the_packages_of_every_platform() -> None:
    """npm adds what is missing to a clone, and on other platforms the tools would not start."""
    packages = json.loads((frontend.LABEXTENSION / "package-lock.json").read_bytes())["packages"]
    names = {place.rpartition("node_modules/")[2] for place in packages}
    optional = {
        name for package in packages.values() for name in package.get("optionalDependencies", ())
    }
    assert optional
    assert optional <= names


def test_collecting_the_tests_imports_no_tensorflow() -> None:
    """So that the fast part of the tests, which needs none, does not wait for it."""
    imported = {
        alias.name.split(".")[0]
        for path in (ROOT / "tests").rglob("*.py")
        for statement in ast.parse(path.read_bytes()).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in (
            statement.names
            if isinstance(statement, ast.Import)
            else [ast.alias(statement.module or "")]
        )
    }
    assert "pytest" in imported
    assert imported.isdisjoint({"tensorflow", "keras", "tf_keras"})


def _expect_success(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode != 0:
        pytest.fail(done.stdout, pytrace=False)

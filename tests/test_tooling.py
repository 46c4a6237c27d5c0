"""Plain `pytest` runs every tool that judges the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import frontend

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("tool", ["ruff check", "ruff format --check", "mypy"])
def test_python(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *tool.split()],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("script", ["typecheck", "lint", "test"])
def test_typescript(script: str) -> None:
    done = frontend.run_script(script)
    assert done.returncode == 0, done.stdout


def test_the_lock_file_holds_for_any_registry() -> None:
    assert '"resolved"' not in (frontend.LABEXTENSION / "package-lock.json").read_text()

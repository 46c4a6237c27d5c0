"""The site of the docs, built once for all tests of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import frontend
from tests.support.once import make_once

ROOT = Path(__file__).parents[2]


def built_site(factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the site, built as `nox -s site` builds it."""

    def build(place: Path) -> None:
        done = frontend.run_script("build:site")
        assert done.returncode == 0, done.stdout
        build_docs(place / "site", place / "doctrees")

    return make_once("site", build, factory) / "site"


def build_docs(site: Path, doctrees: Path) -> None:
    """Build the pages; a warning of Sphinx is a failure."""
    strict = ("--fresh-env", "--fail-on-warning", "--keep-going", "--quiet")
    places = ("-c", "docs", "-d", doctrees, ".", site)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *strict, *places],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout

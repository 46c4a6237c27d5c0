"""The parts of the site, each built once for all tests of a run, and a server of their files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support import frontend
from tests.support.once import make_once

ROOT = Path(__file__).parents[2]
_PAGE = ROOT / "build" / "page"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(directory: Path) -> Iterator[str]:
    """Serve the files of a directory; gives the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(directory))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def built_page(factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the page that opens checkpoints, in `any folder/page`."""

    def build(place: Path) -> None:
        done = frontend.run_script("build:page")
        assert done.returncode == 0, done.stdout
        shutil.copytree(_PAGE, place / "any folder" / "page")

    return make_once("page", build, factory)


def built_try(factory: pytest.TempPathFactory) -> Path:
    """Return a directory with that page and JupyterLab in the browser, in `any folder/page`."""
    built_page(factory)

    def build(place: Path) -> None:
        done = frontend.run_script("build:try")
        assert done.returncode == 0, done.stdout
        shutil.copytree(_PAGE, place / "any folder" / "page")

    return make_once("try", build, factory)


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

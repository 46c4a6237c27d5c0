"""The parts of the site, each built once for each state of its sources, and a server of files."""

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

from filelock import FileLock

from tests.support import frontend, network
from tests.support.once import MADE, ROOT, environment, keep_made, key_of, sources

_PAGE = ROOT / "build" / "page"  # where the scripts of package.json build it
_PACKAGE = ("ckpt_viz/**/*", "tests/support/site.py")  # and how all is built
_OF_PAGE = (*_PACKAGE, "labextension/page/**/*")
_OF_TRY = (*_OF_PAGE, "labextension/lite/**/*", "CITATION.cff")
_OF_SITE = (
    *_PACKAGE,
    *("*.md", "docs/**/*", "notebooks/**/*", "benchmarks/*.md"),
    *("tests/support/course.py", "pyproject.toml"),
)


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


def built_page() -> Path:
    """Return a directory with the page that opens checkpoints, in `any folder/page`."""

    def build(place: Path) -> None:
        with FileLock(MADE / "build-page.lock"):
            _run("build:page")
            shutil.copytree(_PAGE, place / "any folder" / "page")

    return keep_made("page", _key(_OF_PAGE), build)


def built_try() -> Path:
    """Return a directory with that page and JupyterLab in the browser, in `any folder/page`."""

    def build(place: Path) -> None:
        page = built_page() / "any folder" / "page"
        with FileLock(MADE / "build-page.lock"):
            shutil.rmtree(_PAGE, ignore_errors=True)
            shutil.copytree(page, _PAGE)
            _run("build:try")
            shutil.copytree(_PAGE, place / "any folder" / "page")

    return keep_made("try", _key(_OF_TRY), build)


def built_site() -> Path:
    """Return the directory of the site, built as `nox -s site` builds it."""

    def build(place: Path) -> None:
        build_docs(place / "site", place / "doctrees")
        shutil.rmtree(place / "doctrees")

    return keep_made("site", _key(_OF_SITE), build) / "site"


def build_docs(site: Path, doctrees: Path) -> None:
    """Build the pages with the scripts in them; a warning of Sphinx is a failure."""
    _run("build:site")
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


def _key(patterns: tuple[str, ...]) -> str:
    return key_of(sources(*patterns), frontend.source_key(), environment())


def _run(script: str) -> None:
    """Run a script of package.json, which takes the front end that is built."""
    failure = frontend.built()
    assert not failure, failure
    done = frontend.run_script(script)
    if done.returncode != 0:
        network.skip_if_unreachable(done.stdout, "Python's package index, which has what it packs")
    assert done.returncode == 0, done.stdout

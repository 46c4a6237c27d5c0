"""The wheel that is built from a source archive, and that it works alone."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

import ckpt_viz as cv
from tests.hostile.seeds import DIRECTORY, seeds
from tests.support.once import make_once

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as `pip install` does from the unpacked source distribution."""

    def build(dist: Path) -> None:
        _run(sys.executable, "-m", "build", "--outdir", dist, ROOT)

    (path,) = make_once("wheel", build, tmp_path_factory).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel and what it requires, and nothing else."""

    def install(environment: Path) -> None:
        venv.create(environment, with_pip=True, symlinks=os.name != "nt")
        # What is imported is compiled then; nothing else need be.
        command = ("-m", "pip", "install", "--quiet", "--no-compile")
        _run(_script(environment, "python"), *command, wheel)

    return make_once("environment-of-the-wheel", install, tmp_path_factory)


def test_wheel_holds_the_package_and_both_front_ends_only(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    name, version = wheel.name.split("-")[:2]
    data = f"{name}-{version}.data/data/share/jupyter/labextensions/ckpt-viz"
    assert {
        "ckpt_viz/static/widget.js",
        "ckpt_viz/static/widget.css",
        "ckpt_viz/static/extras.js",
        "ckpt_viz/static/graphviz.js",
        "ckpt_viz/static/history.js",
        "ckpt_viz/static/history.css",
        "ckpt_viz/static/loader.js",
        f"{data}/package.json",
        f"{data}/install.json",
        f"{data}/static/third-party-licenses.json",
        f"{name}-{version}.data/data/etc/jupyter/jupyter_server_config.d/ckpt_viz.json",
        f"{name}-{version}.dist-info/licenses/labextension/THIRD_PARTY.md",
    } <= set(names)
    assert [asset for asset in names if re.fullmatch(rf"{data}/static/\w+\.source", asset)]
    elsewhere = [
        name
        for name in names
        if not re.match(
            r"ckpt_viz/((\w+/)*\w+\.py|py\.typed|server/jupyter_server_config\.json"
            r"|(render/(exports|families|palette|signs)|saved/file_types|search/grammar"
            r"|story/sentences)\.json"
            r"|static/(extras|graphviz|history|loader|widget)\.(js|css))$|ckpt_viz-",
            name,
        )
    ]
    assert elsewhere == []


def test_the_widget_keeps_its_budget(wheel: Path) -> None:
    module = ZipFile(wheel).read("ckpt_viz/static/widget.js")
    assert len(module) <= 200_000
    assert len(gzip.compress(module)) <= 70_000


def test_wheel_alone_has_both_front_ends(alone: Path) -> None:
    source = "import ckpt_viz as cv; print(len(str(cv.Explorer._esm)) > 10_000)"
    assert _run(_script(alone, "python"), "-c", source) == "True\n"
    extension = alone / "share" / "jupyter" / "labextensions" / "ckpt-viz"
    assert (extension / "package.json").is_file()


@pytest.mark.parametrize("name", ["adam", "compressed", "compressed_v1"])
def test_wheel_alone_reads_a_checkpoint(name: str, alone: Path) -> None:
    path = DIRECTORY / name / seeds()[name].opened
    tree = _run(_script(alone, "ckpt-viz"), "show", path, "--view", "objects")
    assert tree == f"{cv.graph(path)}\n"


def test_jupyterlab_lists_the_extension_as_enabled() -> None:
    listing = _run(sys.executable, "-m", "jupyter", "labextension", "list")
    assert re.search(r"ckpt-viz v\S+ .*enabled.*OK", listing), listing


def test_jupyter_server_lists_its_part_as_enabled() -> None:
    listing = _run(sys.executable, "-m", "jupyter", "server", "extension", "list")
    assert re.search(r"ckpt_viz\.server\.extension .*enabled", listing), listing
    assert re.search(r"ckpt_viz\.server\.extension \d\S* .*OK", listing), listing


def _script(environment: Path, name: str) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def _run(*command: str | Path) -> str:
    """Run a command outside the sources; its output is the answer, or says why it failed."""
    done = subprocess.run(
        command,
        cwd=ROOT.anchor,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout

"""The wheel that is built from a source archive, and that it works alone."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.hostile.seeds import DIRECTORY, seeds
from tests.support.network import skip_if_unreachable
from tests.support.once import ROOT, environment, keep_made, key_of, sources
from tests.support.untrusted import untrusted_server

pytestmark = [pytest.mark.slow, pytest.mark.more]

# What the wheel is made of; the source archive has more, which no build reads.
_SOURCES = (
    *("ckpt_viz/**/*", "labextension/**/*", "*.md", "LICENSE", "pyproject.toml", ".gitignore"),
    "tests/test_wheel.py",  # how it is built
)
_INDEX = "Python's package index, which has what {} requires"


@pytest.fixture(scope="session")
def key() -> str:
    """What identifies the wheel of today's sources."""
    return key_of(sources(*_SOURCES), environment())


@pytest.fixture(scope="session")
def builder() -> Path:
    """The Python of an environment that has what a build from the source archive needs, no more."""

    def install(place: Path) -> None:
        venv.create(place, with_pip=True, symlinks=os.name != "nt")
        command = ("-m", "pip", "install", "--quiet", *_build_requires())
        _run(_script(place, "python"), *command, needs=_INDEX.format("a build"))

    key = key_of([], *_build_requires(), environment())
    return _script(keep_made("environment-of-the-build", key, install), "python")


@pytest.fixture(scope="session")
def source(key: str) -> Path:
    """The unpacked source archive."""

    def build(directory: Path) -> None:
        command = ("-m", "build", "--sdist", "--outdir", directory, ROOT)
        _run(sys.executable, *command, needs=_INDEX.format("a build"))
        (archive,) = directory.glob("*.tar.gz")
        shutil.unpack_archive(archive, directory)
        archive.unlink()

    (path,) = keep_made("source-archive", key, build).iterdir()
    return path


@pytest.fixture(scope="session")
def wheel(builder: Path, source: Path, key: str) -> Path:
    """The wheel, built as conda-forge does: from the source archive, without npm or an index."""

    def build(dist: Path) -> None:
        options = ("--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", dist)
        nowhere = os.environ | {"PATH": os.fspath(dist)}
        # Not in the checkout, where hatch would read the checkout's list of ignored files.
        with tempfile.TemporaryDirectory() as elsewhere:
            copy = shutil.copytree(source, Path(elsewhere, source.name))
            _run(builder, "-m", "pip", "wheel", *options, copy, env=nowhere)

    (path,) = keep_made("wheel", key, build).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def alone(wheel: Path, key: str) -> Path:
    """An environment that holds the wheel and what it requires, and nothing else."""

    def install(environment: Path) -> None:
        venv.create(environment, symlinks=os.name != "nt")
        # What is imported is compiled then; nothing else need be.
        pip = (sys.executable, "-m", "pip", "--python", _script(environment, "python"))
        _run(*pip, "install", "--quiet", "--no-compile", wheel, needs=_INDEX.format("the wheel"))

    return keep_made("environment-of-the-wheel", key, install)


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
            r"ckpt_viz/((\w+/)*\w+\.py|py\.typed|entrances/server/jupyter_server_config\.json"
            r"|(graphs/(render/(exports|families|palette|payload|signs)|search/grammar)"
            r"|files/saved/file_types|matching/story/sentences)\.json"
            r"|static/(extras|graphviz|history|loader|widget)\.(js|css))$|ckpt_viz-",
            name,
        )
    ]
    assert elsewhere == []


def test_the_source_archive_has_all_that_a_wheel_of_the_checkout_has(wheel: Path) -> None:
    built = ZipFile(wheel)
    named = (_in_checkout(name) for name in built.namelist())
    packed = {path: name for path, name in zip(named, built.namelist(), strict=True) if path}
    package = ROOT / "ckpt_viz"
    in_package = {path for path in package.rglob("*") if path.is_file()}
    assert packed.keys() - in_package == {ROOT / "labextension/install.json"}
    assert {
        path.relative_to(ROOT) for path in in_package - packed.keys() if path.suffix != ".pyc"
    } == set()
    assert all(path.read_bytes() == built.read(name) for path, name in packed.items())


def test_the_page_on_pypi_has_absolute_links_that_lead_to_files(wheel: Path) -> None:
    built = ZipFile(wheel)
    (metadata,) = (name for name in built.namelist() if name.endswith(".dist-info/METADATA"))
    header, description = built.read(metadata).decode().split("\n\n", 1)
    (source,) = re.findall(r"^Project-URL: Source, (.+)$", header, re.MULTILINE)
    (version,) = re.findall(r"^Version: (.+)$", header, re.MULTILINE)
    links = re.findall(r"\]\(([^)]+)\)", description)
    assert [link for link in links if not link.startswith("https://")] == []
    own = re.compile(rf"{re.escape(source)}/(?:blob|raw)/v{re.escape(version)}/([^#]+)")
    targets = [match[1] for link in links if (match := own.match(link))]
    relative = re.findall(r"\]\((?!https?://)([^)#]+)", _read("README.md"))
    assert targets == relative
    assert [target for target in targets if not (ROOT / target).is_file()] == []


def _wheel_without_isolation(
    builder: Path, source: Path, place: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = (builder, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", source)
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)


def test_an_untrusted_certificate_ends_a_build_with_a_sentence(
    builder: Path, source: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(source, checkout)
    (checkout / "PKG-INFO").unlink()
    with untrusted_server(tmp_path) as url:
        env = os.environ | {"npm_config_registry": url, "npm_config_fetch_retries": "0"}
        env["PATH"] = os.pathsep.join([os.fspath(Path(sys.executable).parent), env["PATH"]])
        done = _wheel_without_isolation(builder, checkout, tmp_path, env)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "Node does not trust a certificate (DEPTH_ZERO_SELF_SIGNED_CERT)" in said
    assert "set NODE_EXTRA_CA_CERTS to the file" in said
    assert "npm error" not in said


def test_a_source_archive_without_its_front_end_is_refused(
    builder: Path, source: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(source, damaged)
    (damaged / "ckpt_viz/static/widget.js").unlink()
    done = _wheel_without_isolation(builder, damaged, tmp_path)
    assert done.returncode != 0
    assert "ckpt_viz/static/widget.js: no such file" in done.stdout + done.stderr


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
    program = "from ckpt_viz.cli import main; main()"
    here = _run(sys.executable, "-c", program, "show", path, "--view", "objects")
    assert tree == here and "#0 [object]" in tree


def test_jupyterlab_lists_the_extension_as_enabled() -> None:
    listing = _run(sys.executable, "-m", "jupyter", "labextension", "list")
    assert re.search(r"ckpt-viz v\S+ .*enabled.*OK", listing), listing


def test_jupyter_server_lists_its_part_as_enabled() -> None:
    listing = _run(sys.executable, "-m", "jupyter", "server", "extension", "list")
    assert re.search(r"ckpt_viz .*enabled", listing), listing
    assert re.search(r"ckpt_viz \d\S* .*OK", listing), listing


def _in_checkout(name: str) -> Path | None:
    """Return where the checkout has a file of the wheel; None for what the build writes itself."""
    if name.startswith("ckpt_viz/"):
        return ROOT / name
    _, is_shared, path = name.partition(".data/data/")
    if not is_shared:
        return None
    if path.startswith("etc/"):
        return ROOT / "ckpt_viz/entrances/server/jupyter_server_config.json"
    path = path.removeprefix("share/jupyter/labextensions/ckpt-viz/")
    return ROOT / ("labextension" if path == "install.json" else "ckpt_viz/labextension") / path


def _build_requires() -> list[str]:
    """Return what pyproject.toml says that every build needs."""
    (requires,) = re.findall(
        r"^\[build-system\]\nrequires = \[(.+?)\]", _read("pyproject.toml"), re.MULTILINE
    )
    return re.findall(r'"(.+?)"', requires)


def _read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def _script(environment: Path, name: str) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def _run(*command: str | Path, env: Mapping[str, str] | None = None, needs: str = "") -> str:
    """Run a command outside the sources; its output is the answer, or says why it failed.

    `needs` names what on the network the command needs: without it, the test is skipped.
    """
    done = subprocess.run(
        command,
        cwd=ROOT.anchor,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0 and needs:
        skip_if_unreachable(done.stdout, needs)
    assert done.returncode == 0, done.stdout
    return done.stdout

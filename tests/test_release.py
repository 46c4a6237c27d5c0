"""What a release tells of itself is the same everywhere: its version, its date, its address."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What conda calls what Python's index calls otherwise.
_CONDA_NAMES = {"graphviz": "python-graphviz"}


def test_the_citation_has_the_version_and_date_of_the_changelog() -> None:
    version = _value(r'"version": "(.+)"', "labextension/package.json")
    (date,) = re.findall(rf"^## \[{re.escape(version)}\] - (\S+)$", _read("CHANGELOG.md"), re.M)
    assert _value("^version: (.+)$", "CITATION.cff") == version
    assert _value('^date-released: "(.+)"$', "CITATION.cff") == date


def test_the_lock_file_has_the_version_of_the_package() -> None:
    version = _value(r'"version": "(.+)"', "labextension/package.json")
    assert re.findall(r'"version": "(.+)"', _read("labextension/package-lock.json"))[:2] == [
        version,
        version,
    ]


def test_the_latest_minor_version_gets_fixes() -> None:
    minor = _value(r'"version": "(\d+\.\d+)\..+"', "labextension/package.json")
    assert _value(r"^\| (\S+) \| yes \|$", "SECURITY.md") == minor


def test_the_extension_asks_for_the_jupyterlab_that_it_may_run_in() -> None:
    """Its builder would ask for the newest: an older JupyterLab then warns in the console."""
    package = json.loads(_read("labextension/package.json"))
    dependencies = {
        name: version
        for name, version in package["dependencies"].items()
        if name.startswith("@jupyterlab/")
    }
    shared = package["jupyterlab"]["sharedPackages"]
    assert {name: entry["requiredVersion"] for name, entry in shared.items()} == dependencies
    (oldest,) = re.findall(r'"jupyterlab>=([\d.]+),', _read("pyproject.toml"))
    assert dependencies["@jupyterlab/application"] == f"^{oldest}.0"
    (entry,) = (ROOT / "ckpt_viz" / "labextension" / "static").glob("remoteEntry*.js")
    asked = set(re.findall(r'"(\^\d[\d.]+)"', entry.read_text()))
    assert asked >= set(dependencies.values())
    assert {version for version in asked if version.startswith("^4.")} <= set(dependencies.values())


def test_the_address_of_the_repository_is_the_same_everywhere() -> None:
    source = _value('^Source = "(.+)"$', "pyproject.toml")
    assert _value("^repository-code: (.+)$", "CITATION.cff") == source
    pages = re.findall(r"https://github\.com/[^\s\"\')]+", _read("pyproject.toml"))
    assert [page for page in pages if not f"{page}/".startswith(f"{source}/")] == []
    assert set(re.findall(r"https://\S+", _read("docs/recipe.yaml"))) == {source}


def test_the_recipe_has_the_version_and_requirements_of_the_package() -> None:
    project, recipe = _read("pyproject.toml"), _read("docs/recipe.yaml")
    assert _value('^  version: "(.+)"$', "docs/recipe.yaml") == _value(
        r'"version": "(.+)"', "labextension/package.json"
    )
    python = _value('^requires-python = "(.+)"$', "pyproject.toml")
    assert f"--variant python_min={python.removeprefix('>=')}`" in recipe
    for key, pattern in [
        ("run", r"^dependencies = \[(.+?)^\]"),
        ("host", r"^requires = \[(.+?)\]"),
    ]:
        (required,) = re.findall(pattern, project, re.MULTILINE | re.DOTALL)
        (block,) = re.findall(rf"^  {key}:\n((?:    - .+\n)+)", recipe, re.MULTILINE)
        named = set(re.findall(r"- (\S+ >=[\d.]+(?:,<[\d.]+)?)$", block, re.MULTILINE))
        assert named == {
            f"{_CONDA_NAMES.get(name, name)} {version}"
            for name, version in re.findall(r'"([\w-]+)(>=[\d.]+(?:,<[\d.]+)?)', required)
        }


def _value(pattern: str, path: str) -> str:
    (value, *_) = re.findall(pattern, _read(path), re.MULTILINE)
    assert isinstance(value, str)
    return value


def _read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")

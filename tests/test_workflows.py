"""The workflows in .github/ agree with the project that they test and release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_pinned_by_its_commit(workflow: Path) -> None:
    actions = re.findall(r"uses: (\S+)", workflow.read_text())
    assert actions
    assert [action for action in actions if not re.search(r"@[0-9a-f]{40}$", action)] == []


def test_the_matrix_has_the_versions_of_nox_and_of_contributing() -> None:
    matrix = (ROOT / ".github/workflows/matrix.yml").read_text()
    listed = re.findall(
        r"^\| (\d\.\d+) \| \d \| (.+) \|$", _read("docs/maintaining.md"), re.MULTILINE
    )
    cells = {
        (tensorflow, python)
        for tensorflow in _versions(r"tensorflow: \[(.+)\]", matrix)
        for python in _versions(r"python: \[(.+)\]", matrix)
    }
    excluded = re.findall(r'tensorflow: "(.+)", python: "(.+)"', matrix)
    assert cells >= set(excluded)
    assert cells - set(excluded) == {
        (tensorflow, python) for tensorflow, pythons in listed for python in pythons.split(", ")
    }
    assert _versions(r"TENSORFLOWS = \[(.+)\]", _read("noxfile.py")) == [row[0] for row in listed]


def test_the_matrix_begins_with_the_oldest_versions_that_the_package_allows() -> None:
    project, matrix = _read("pyproject.toml"), _read(".github/workflows/matrix.yml")
    for name, requirement in [
        ("tensorflow", r'"tensorflow>=(.+?)"'),
        ("python", r'requires-python = ">=(.+)"'),
    ]:
        (oldest,) = re.findall(requirement, project)
        assert _versions(rf"{name}: \[(.+)\]", matrix)[0] == oldest


def test_the_changelog_has_the_version_of_the_package() -> None:
    (version,) = re.findall(r'"version": "(.+)"', _read("labextension/package.json"))
    assert f"\n## [{version}] - " in _read("CHANGELOG.md")


def _versions(pattern: str, text: str) -> list[str]:
    (versions,) = re.findall(pattern, text)
    return re.findall(r'"(.+?)"', versions)


def _read(path: str) -> str:
    return (ROOT / path).read_text()

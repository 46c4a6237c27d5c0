"""What holds of the tools: the lock file of npm, and the collection of the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import frontend

ROOT = Path(__file__).parents[1]


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


@pytest.mark.slow
def test_collecting_the_fast_tests_imports_no_large_package() -> None:
    """So that nobody waits for these in the fast part of the tests, which needs none."""
    collect = """
import sys, pytest
class Plugin:
    def pytest_collection_finish(self, session):
        assert session.items
        print("loaded:", *sorted({name.split(".")[0] for name in sys.modules}))
chosen = ("-m", "not (tf or ui or slow)", "--collect-only", "--quiet", "-s")
sys.exit(pytest.main([*chosen, "-p", "no:cacheprovider"], plugins=[Plugin()]))
"""
    done = subprocess.run(
        [sys.executable, "-c", collect], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("loaded: "))
    assert "pytest" in line.split()
    assert not {"tensorflow", "keras", "tf_keras", "pandas", "distributed"} & {*line.split()}

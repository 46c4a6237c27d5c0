"""What holds of the tools: the lock file of npm, and the collection of the tests."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import frontend


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


def test_collecting_the_tests_imports_no_large_package(imported_by_collection: set[str]) -> None:
    """So that nobody waits for these in the fast part of the tests, which needs none."""
    assert "pytest" in imported_by_collection
    large = {"tensorflow", "keras", "tf_keras", "pandas", "distributed"}
    assert not large & imported_by_collection

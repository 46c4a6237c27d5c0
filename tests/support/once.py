"""Work that one process does for all processes of a test run: pytest-xdist starts several."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def make_once(name: str, make: Callable[[Path], object], factory: pytest.TempPathFactory) -> Path:
    """Return a directory of the run that the first process to ask for it has filled."""
    base = factory.getbasetemp()  # of a worker: a directory in that of the run
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once"
    shared.mkdir(exist_ok=True)
    place, done = shared / name, shared / f"{name}.done"
    with FileLock(shared / f"{name}.lock"):
        if not done.exists():
            place.mkdir(exist_ok=True)
            make(place)
            done.touch()
    return place

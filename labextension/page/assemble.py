"""Puts the page together: `python labextension/page/assemble.py DIRECTORY`.

`npm run build:page` has written its scripts there. This adds the engine with its packages, the
examples, and the hashes of all that.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NODE_MODULES = HERE.parent / "node_modules"
PACKAGES = "packages.files"
# Of Pyodide. The lock file names packages of its own distribution, which this site does not have.
_ENGINE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
# The entrances that a page has no use for, and front ends that no export needs.
_LEFT_OUT = re.compile(r"ckpt_viz/(server|commands|labextension|static/(graphviz|loader))\b")
_UNUSED = re.compile(r"(^|/)tests?/|^fsspec/implementations/|\.pyi$|/_core/include/|/f2py/")
_WITHOUT_TIME = (1980, 1, 1, 0, 0, 0)


def main(directory: str) -> None:
    """Assemble the page in a directory."""
    site = Path(directory).resolve()
    (site / "engine").mkdir(parents=True, exist_ok=True)
    for name in _ENGINE:
        shutil.copyfile(NODE_MODULES / "pyodide" / name, site / "engine" / name)
    lock = json.loads((NODE_MODULES / "pyodide" / "pyodide-lock.json").read_text())
    (site / "engine" / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}))
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(scratch) / "sources.zip"
        wheels = of_wheels(Path(scratch), HERE / "requirements.txt")
        write_zip(sources, {**wheels, **_of_package()})
        compiled = Path(scratch) / "compiled.zip"
        compile_zip(sources, compiled, site / "engine" / "memory.gz")
        with zipfile.ZipFile(compiled) as archive:
            packages = {name: archive.read(name) for name in archive.namelist()}
    (site / "engine" / PACKAGES).write_bytes(_packed(packages))
    write_zip(site / "engine" / "numpy.zip", dict(_numpy()))
    _write_examples(site / "examples")
    shutil.copyfile(ROOT / "ckpt_viz" / "static" / "graphviz.js", site / "graphviz.js")
    _finish(site)


def _of_package() -> dict[str, bytes]:
    paths = (path for path in (ROOT / "ckpt_viz").rglob("*") if path.is_file())
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    files = {
        name: path.read_bytes()
        for name, path in named.items()
        if "__pycache__" not in name and _LEFT_OUT.match(name) is None
    }
    own = (HERE / "ckpt_viz_page.py", *(HERE / "stand_ins").glob("*.py"))
    return {**files, **{path.name: path.read_bytes() for path in own}}


def of_wheels(scratch: Path, requirements: Path) -> dict[str, bytes]:
    """Return the files of the wheels that are listed with their hashes."""
    wheels = scratch / "wheels"
    options = ("--no-deps", "--only-binary=:all:", "--require-hashes", "--quiet")
    of_any = ("--platform=any", "--implementation=py", "--abi=none", "--python-version=3.12")
    command = [sys.executable, "-m", "pip", "download", *options, *of_any, f"--dest={wheels}"]
    subprocess.run([*command, f"--requirement={requirements}"], check=True)
    files = {}
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if is_needed(name)]
            files.update({name: archive.read(name) for name in names})
    return files


def compile_zip(sources: Path, compiled: Path, *memory: Path) -> None:
    """Compile an archive of Python's packages for the engine, and store the memory with them."""
    subprocess.run(["node", HERE / "compile.mjs", sources, compiled, *memory], check=True)


def is_needed(name: str) -> bool:
    """Return whether a run needs this file of a package."""
    return not name.endswith("/") and _UNUSED.search(name) is None


def _numpy() -> Iterator[tuple[str, bytes]]:
    """Yield the files of numpy for Pyodide's WebAssembly, from a package of emscripten-forge."""
    (packed,) = (NODE_MODULES / "@emscripten-forge" / "numpy" / "pkg").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        for member in archive:
            _, _, name = member.name.partition("/site-packages/")
            file = archive.extractfile(member) if name and is_needed(name) else None
            if file is not None:
                yield name, file.read()


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write an archive that depends on nothing but its files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _WITHOUT_TIME)
            archive.writestr(info, files[name], zipfile.ZIP_DEFLATED, compresslevel=9)


def _write_examples(target: Path) -> None:
    from ckpt_viz.entrances.web.session import Session

    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, _inside(scratch):
        with zipfile.ZipFile(HERE / "examples.zip") as archive:
            archive.extractall()
        for example in json.loads((HERE / "examples.json").read_text()):
            about, payload = Session().open(example["show"], example["paths"])
            if "error" in json.loads(about):
                raise SystemExit(f"{example['id']}: {about}")
            (target / f"{example['id']}.payload").write_bytes(payload)
            (target / f"{example['id']}.files").write_bytes(_packed(_files_of(example)))


def _files_of(example: Mapping[str, Any]) -> dict[str, bytes]:
    roots = sorted({path.split("/")[0] for path in example["paths"]})
    paths = [path for root in roots for path in sorted(Path(root).rglob("*")) if path.is_file()]
    return {path.as_posix(): path.read_bytes() for path in paths}


def _packed(files: Mapping[str, bytes]) -> bytes:
    """Return an archive as src/page/archive.ts reads it."""
    entries = [(name, len(data)) for name, data in files.items()]
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as stream:
        stream.write(json.dumps(entries).encode() + b"\n")
        for data in files.values():
            stream.write(data)
    return packed.getvalue()


def unpacked(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive that `_packed` has made."""
    stream = io.BytesIO(gzip.decompress(archive))
    return {name: stream.read(size) for name, size in json.loads(stream.readline())}


@contextmanager
def _inside(directory: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def _finish(site: Path) -> None:
    """Write index.html with the hashes of all files, and the service worker that keeps them."""
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())
    contents = {
        name: (site / name).read_bytes()
        for name in names
        if name not in ("index.html", "offline.js")
    }
    hashes = {name: _integrity(data) for name, data in contents.items()}
    files = {name: (hashes[name], len(data)) for name, data in contents.items()}
    text = (HERE / "index.html").read_text()
    for name in ("page.css", "page.js"):
        text = text.replace(f"{{{name}}}", hashes[name])
    (site / "index.html").write_text(text.replace("{files}", json.dumps(files)))
    kept = {"./": "", **hashes}
    edition = _integrity(json.dumps([kept, text]).encode())
    worker = (site / "offline.js").read_text()
    begin = f"const FILES = {json.dumps(kept)}, EDITION = {json.dumps(edition)};\n"
    (site / "offline.js").write_text(begin + worker)


def _integrity(data: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


if __name__ == "__main__":
    main(sys.argv[1])

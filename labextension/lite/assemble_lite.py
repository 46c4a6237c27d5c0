"""Adds JupyterLab in the browser to the page: `python labextension/lite/assemble_lite.py PAGE`.

The page's engine and numpy serve here, too. The folder `try/` has the rest: JupyterLite, a kernel
for that engine with the page's packages, and a notebook with its checkpoints.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "page"
sys.path.insert(0, str(PAGE))

import assemble  # noqa: E402

_UNPACKING = HERE.parent / "lib" / "try" / "unpacking.js"  # npm run build:try
_STATIC = assemble.ROOT / "ckpt_viz" / "static"
_KERNEL = "@jupyterlite/pyodide-kernel-extension"
# Front ends in wheels of Python.
_IN_WHEEL = re.compile(r"[^/]+\.data/data/share/jupyter/labextensions/(.+)")
_NOT_IMPORTED = re.compile(r"\.data/|^jupyterlite_pyodide_kernel\b")
# What the kernel asks for by name. One archive has what of it is here.
_ASKED = ("comm", "ipykernel", "ipython", "jedi", "micropip", "piplite", "pyodide-kernel")
# The kernel's own packages, in its front end. The site has nothing to install, so no micropip.
_OWN = ("ipykernel-", "piplite-", "pyodide_kernel-")
# IPython completes names without jedi, too, which is as large as all others together.
_WITH_JEDI = (b"self.Completer.use_jedi = True", b"self.Completer.use_jedi = False")
# A browser has no threads, and tqdm warns of it.
_WARNINGS = "ignore:tqdm"
# These parts of the front end ask Jupyter Server, or are for objects of TensorFlow.
_WITHOUT = ["ckpt-viz:explorer", "ckpt-viz:live"]
_EXAMPLES = ("gan/", "guide/", "renamed/", "training/")
# Nothing comes from a third party. JupyterLab compiles the schemas of its settings.
_POLICY = (
    "default-src 'self' data: blob:; style-src 'self' 'unsafe-inline' blob:; "
    "script-src 'self' blob: 'unsafe-inline' 'unsafe-eval'; base-uri 'none'; form-action 'self'"
)


def main(directory: str) -> None:
    """Add the folder `try/` to a directory that has the page."""
    site = Path(directory).resolve()
    target = site / "try"
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        wheels = assemble.of_wheels(Path(scratch), HERE / "requirements.txt")
        _build_lab(Path(scratch), wheels, target)
        packages = assemble.unpacked((site / "engine" / assemble.PACKAGES).read_bytes())
        _write_kernel(Path(scratch), packages, wheels, target / "kernel")
    _write_lock(site / "engine", target / "kernel")
    shutil.copyfile(HERE / "index.html", target / "index.html")
    for path in sorted((target / "lab").rglob("*.html")):
        _forbid_third_parties(path)


def _build_lab(scratch: Path, wheels: Mapping[str, bytes], target: Path) -> None:
    """Build JupyterLite with the notebook, its checkpoints and the front ends that it needs."""
    _write_contents(scratch / "files")
    _write_front_ends(scratch / "extensions", wheels)
    config = {
        "FederatedExtensionAddon": {"extra_labextensions_path": [str(scratch / "extensions")]},
        "LiteBuildConfig": {
            "apps": ["lab"],
            "cache_dir": str(scratch / "cache"),
            "ignore_sys_prefix": True,
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
            "output_dir": str(target),
            "source_date_epoch": _date_of_version(),  # each build gives the same bytes
        },
    }
    (scratch / "jupyter_lite_config.json").write_text(json.dumps(config))
    (scratch / "jupyter-lite.json").write_text(json.dumps(_settings()))
    done = subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build", f"--lite-dir={scratch}"],
        cwd=scratch,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"JupyterLite cannot be built:\n{done.stdout[-5_000:]}")


def _write_contents(files: Path) -> None:
    with zipfile.ZipFile(PAGE / "examples.zip") as archive:
        archive.extractall(
            files, [name for name in archive.namelist() if name.startswith(_EXAMPLES)]
        )
    shutil.copyfile(HERE / "ckpt-viz.ipynb", files / "ckpt-viz.ipynb")


def _write_front_ends(place: Path, wheels: Mapping[str, bytes]) -> None:
    shutil.copytree(assemble.ROOT / "ckpt_viz" / "labextension", place / "ckpt-viz")
    for name, data in wheels.items():
        match = _IN_WHEEL.fullmatch(name)
        if match is not None:
            path = place / match[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def _date_of_version() -> int:
    match = re.search(r'date-released: "(.+)"', (assemble.ROOT / "CITATION.cff").read_text())
    if match is None:
        raise SystemExit("CITATION.cff: expected a line `date-released`")
    return int(datetime.fromisoformat(match[1]).replace(tzinfo=timezone.utc).timestamp())


def _settings() -> dict[str, Any]:
    kernel = {
        "pyodideUrl": "./kernel/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {
            "env": {"PYTHONWARNINGS": _WARNINGS},
            "indexURL": "../engine/",
            "lockFileURL": "kernel/pyodide-lock.json",
            "packages": [*_ASKED, "numpy"],
        },
    }
    data = {
        "appName": "ckpt-viz",
        "disabledExtensions": _WITHOUT,
        "litePluginSettings": {f"{_KERNEL}:kernel": kernel},
    }
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}


def _write_kernel(
    scratch: Path, packages: Mapping[str, bytes], wheels: Mapping[str, bytes], place: Path
) -> None:
    """Write the archive of what the kernel imports, but for numpy."""
    place.mkdir()
    files = {
        **packages,
        **{name: data for name, data in wheels.items() if _NOT_IMPORTED.search(name) is None},
        **dict(_own_packages(wheels)),
        "piplite/piplite.py": (HERE / "piplite.py").read_bytes(),
        "ckpt_viz_worker.py": (HERE / "ckpt_viz_worker.py").read_bytes(),
        "unpacking.js": _UNPACKING.read_bytes(),
        "ckpt_viz/static/graphviz.js": (_STATIC / "graphviz.js").read_bytes(),
        "ckpt_viz/static/loader.js": (_STATIC / "loader.js").read_bytes(),
    }
    assemble.write_zip(scratch / "sources.zip", files)
    assemble.compile_zip(scratch / "sources.zip", place / "kernel.zip")
    assemble.write_zip(place / "nothing.zip", {})
    shutil.copyfile(assemble.NODE_MODULES / "pyodide" / "pyodide.mjs", place / "pyodide.mjs")


def _own_packages(wheels: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for inner in sorted(name for name in wheels if name.endswith(".whl")):
        if inner.rpartition("/")[2].startswith(_OWN):
            with zipfile.ZipFile(io.BytesIO(wheels[inner])) as archive:
                for name in filter(assemble.is_needed, archive.namelist()):
                    yield name, _without_jedi(name, archive.read(name))


def _without_jedi(name: str, data: bytes) -> bytes:
    if name != "pyodide_kernel/interpreter.py":
        return data
    if data.count(_WITH_JEDI[0]) != 1:
        raise SystemExit(f"{name}: expected the line {_WITH_JEDI[0].decode()} once")
    return data.replace(*_WITH_JEDI)


def _write_lock(engine: Path, place: Path) -> None:
    """Write the list of packages, with hashes. Their paths begin in the folder of the engine."""
    archives = {
        **dict.fromkeys(_ASKED, place / "nothing.zip"),
        "ipython": place / "kernel.zip",
        "numpy": engine / "numpy.zip",
    }
    lock = json.loads((engine / "pyodide-lock.json").read_text())
    lock["packages"] = {name: _entry(name, path, engine) for name, path in archives.items()}
    (place / "pyodide-lock.json").write_text(json.dumps(lock))


def _entry(name: str, path: Path, engine: Path) -> dict[str, Any]:
    return {
        "name": name,
        "version": "0",
        "file_name": os.path.relpath(path, engine),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "install_dir": "site",
        "package_type": "package",
        "imports": [],
        "depends": [],
    }


def _forbid_third_parties(page: Path) -> None:
    text = page.read_text("utf-8")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'
    if text.count("<head>") != 1:
        raise SystemExit(f"{page}: expected <head> once")
    icon = '<link rel="icon" href="data:," />'  # until JupyterLab has its own
    page.write_text(text.replace("<head>", f"<head>\n    {meta}\n    {icon}"), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

"""Notebooks with outputs: those that are stored, or those of a run that this build makes."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

import nbformat
from filelock import FileLock

from tests.support import course

_ROOT = Path(__file__).parents[2]
# A run takes seconds and always gives the same, so builds share them.
_RUNS = _ROOT / "build" / "runs"
# Runs in the kernel before the notebook: temporary directories get the same names in every run.
_NAMES = """
import itertools
import tempfile

tempfile._name_sequence = (f"run-{number}" for number in itertools.count(1))
"""


def with_outputs(text: str) -> nbformat.NotebookNode:
    """Return a notebook that holds its outputs; if it holds none, those of a run."""
    notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    if any(cell["outputs"] for cell in course.code_cells(notebook)):
        return notebook
    path = _RUNS / f"{_digest(text)}.ipynb"
    if not path.exists():
        _run(notebook, path)
    return course.read_notebook(path)


def _run(notebook: nbformat.NotebookNode, path: Path) -> None:
    # Outputs show the paths of files, so the directory has the same name in every run.
    directory = Path(tempfile.gettempdir(), "ckpt-viz-site", path.stem[:8])
    directory.parent.mkdir(exist_ok=True)
    with FileLock(directory.with_suffix(".lock")):
        shutil.rmtree(directory, ignore_errors=True)  # of a run that someone has stopped
        startup = directory / "ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "names.py").write_text(_NAMES)
        course.execute(notebook, directory, may_leave_temporary_files=True)
        shutil.rmtree(directory)
    course.clean(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    nbformat.write(notebook, partial)  # type: ignore[no-untyped-call]
    partial.replace(path)


def _digest(text: str) -> str:
    """Return what identifies a run: the notebook, the package and the versions that it uses."""
    digest = hashlib.sha256(text.encode())
    digest.update(repr(sorted(course.versions().items())).encode())
    sources = (
        *_ROOT.glob("ckpt_viz/**/*.py"),
        *_ROOT.glob("ckpt_viz/**/*.json"),
        *(Path(__file__), Path(course.__file__)),
    )
    for path in sorted(path for path in sources if "labextension" not in path.parts):
        digest.update(path.relative_to(_ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]

"""The quickstart and the course hold the outputs of a run: pages without a kernel show them.

Executes each notebook in an empty directory, and stores the outputs without what differs between
two runs or two machines:

    python -m tests.support.course [notebooks/course/1_what_is_in_a_checkpoint.ipynb ...]
"""

from __future__ import annotations

import argparse
import base64
import gzip
import os
import re
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"
COURSE = ROOT / "notebooks" / "course"
VERSIONS = "ckpt_viz"  # the entry in a notebook's metadata
_LONGEST_LINE = 100  # characters; prose counts in lines of this length

Cell = dict[str, Any]


def course_notebooks() -> list[Path]:
    """Return the notebooks of the course, in the order of its lessons."""
    return sorted(COURSE.glob("*.ipynb"))


def read_notebook(path: Path) -> NotebookNode:
    """Return a notebook, unchanged."""
    import nbformat

    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def execute(
    notebook: NotebookNode, directory: Path, *, may_leave_temporary_files: bool = False
) -> None:
    """Run a notebook; it may write nothing where it is, and must remove its temporary files."""
    from nbclient import NotebookClient

    place, temporary = directory / "notebook", directory / "temporary"
    place.mkdir()
    temporary.mkdir()
    settings = {
        "TMPDIR": str(temporary),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "IPYTHONDIR": str(directory / "ipython"),
    }
    resources = {"metadata": {"path": str(place)}}
    client = NotebookClient(notebook, timeout=300, resources=resources, coalesce_streams=True)
    client.execute(env=os.environ | settings)
    watched = (place,) if may_leave_temporary_files else (place, temporary)
    remaining = [path.name for parent in watched for path in parent.iterdir()]
    assert remaining == [], f"the notebook left {remaining} behind"


def versions() -> dict[str, str]:
    """Return the versions that decide what an explorer's data are."""
    return {package: version(package) for package in ("tensorflow", "keras")}


def clean(notebook: NotebookNode) -> None:
    """Take out what differs between two runs: times, ids, log messages, the state of widgets."""
    metadata = notebook.metadata
    metadata.pop("widgets", None)
    metadata[VERSIONS] = versions()
    for cell in code_cells(notebook):
        cell["metadata"].pop("execution", None)
        cell["outputs"] = [output for output in cell["outputs"] if output.get("name") != "stderr"]
        for number, output in enumerate(cell["outputs"]):
            explorer = output.get("data", {}).get(MIME_TYPE)
            if explorer is not None:
                explorer["model_id"] = uuid5(NAMESPACE_URL, f"{cell['id']}/{number}").hex


def out_of_date(stored: NotebookNode, executed: NotebookNode) -> list[str]:
    """Return the ids of the cells whose stored outputs differ from those of a clean new run.

    Versions of Keras differ in the nodes that they add for themselves, and explorers count all of
    them. With other versions than the stored ones, only what cells print is compared, without
    numbers.
    """
    shown = _shown if stored.metadata[VERSIONS] == executed.metadata[VERSIONS] else _printed
    return [
        old["id"]
        for old, new in zip(code_cells(stored), code_cells(executed), strict=True)
        if (old["execution_count"], shown(old)) != (new["execution_count"], shown(new))
    ]


def _shown(cell: Cell) -> list[Any]:
    outputs = []
    for output in cell["outputs"]:
        data = dict(output.get("data", {}))
        if MIME_TYPE in data:
            data[MIME_TYPE] = _unpacked(data[MIME_TYPE])
        outputs.append((output["output_type"], output.get("text"), data))
    return outputs


def _printed(cell: Cell) -> list[str]:
    return [re.sub(r"\d+", "#", output.get("text", "")) for output in cell["outputs"]]


def _unpacked(explorer: dict[str, Any]) -> dict[str, bytes]:
    """Return the data of an explorer; another zlib may compress them to other bytes."""
    packed = {name: explorer[name] for name in ("payload", "steps") if name in explorer}
    return {name: gzip.decompress(base64.b64decode(text)) for name, text in packed.items()}


def code_cells(notebook: NotebookNode) -> list[Cell]:
    """Return the cells of code."""
    return [cell for cell in notebook.cells if cell["cell_type"] == "code"]


def is_hidden(cell: Cell) -> bool:
    """Return whether pages hide a cell: JupyterLab by its setting, Jupyter Book by its tag."""
    metadata = cell["metadata"]
    hidden = metadata.get("jupyter", {}).get("source_hidden", False)
    assert hidden == ("hide-cell" in metadata.get("tags", ())), cell["id"]
    return bool(hidden)


def exercises(notebook: NotebookNode) -> list[tuple[Cell, str]]:
    """Return the cells that wait for an answer, each with the code of its solution."""
    cells = notebook.cells
    return [
        (cell, "".join(_FENCED.findall(after["source"])))
        for cell, after in pairwise(cells)
        if "exercise" in cell["metadata"].get("tags", ())
    ]


def lines_of_code(notebook: NotebookNode) -> int:
    """Return the number of lines of code that a reader gets, without comments.

    What readers write as their answers does not count, nor what opens after that.
    """
    cells = [cell for cell in code_cells(notebook) if not is_hidden(cell)]
    visible = [c["source"] for c in cells if "exercise" not in c["metadata"].get("tags", ())]
    open_texts = (_CLOSED.sub("", text) for text in texts_of(notebook))
    visible += [code for text in open_texts for code in _FENCED.findall(text)]
    lines = "\n".join(visible).splitlines()
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)


def lines_of_prose(notebook: NotebookNode) -> int:
    """Return the number of lines of text, if a line has 100 characters."""
    paragraphs = [
        " ".join(paragraph.split())
        for text in texts_of(notebook)
        for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-|]|\d+\.)\s)", _FENCED.sub("", text))
    ]
    return sum(-(-len(paragraph) // _LONGEST_LINE) for paragraph in paragraphs)


def bold_terms(notebook: NotebookNode) -> set[str]:
    """Return the terms in bold. `**Predict.**` and `**1.**` are none: a full stop ends them."""
    return {term for text in texts_of(notebook) for term in bold_in(text) if not term.endswith(".")}


def bold_in(markdown: str) -> set[str]:
    """Return each text in bold, on one line.

    >>> bold_in("A **local\\nname** is no **key**.") == {"local name", "key"}
    True
    """
    return {" ".join(term.split()) for term in re.findall(r"\*\*(.+?)\*\*", markdown, flags=re.S)}


_CLOSED = re.compile(r"<details>.*?</details>", flags=re.S)
_FENCED = re.compile(r"^\s*```\w*\n(.*?)^\s*```", flags=re.S | re.M)


def texts_of(notebook: NotebookNode) -> list[str]:
    """Return the texts between the cells of code, in Markdown."""
    return [cell["source"] for cell in notebook.cells if cell["cell_type"] == "markdown"]


def store(path: Path) -> None:
    """Execute a notebook and store its outputs."""
    import nbformat

    notebook = read_notebook(path)
    with TemporaryDirectory() as directory:
        execute(notebook, Path(directory))
    clean(notebook)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def main() -> None:
    """Store the outputs of the named notebooks, or of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    stored = [QUICKSTART, *course_notebooks()]
    parser.add_argument("notebooks", type=Path, nargs="*", default=stored)
    for path in parser.parse_args().notebooks:
        store(path)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

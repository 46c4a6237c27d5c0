"""The notebooks run; the quickstart and the course hold their outputs, the others none."""

from __future__ import annotations

import base64
import gzip
import json
import re
from copy import deepcopy
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE
from ckpt_viz.graphs.render import payload
from tests.support import course

if TYPE_CHECKING:
    from nbformat import NotebookNode

LESSONS = course.course_notebooks()
STORED = [course.QUICKSTART, *LESSONS]
NOTEBOOKS = sorted({*course.ROOT.glob("notebooks/*.ipynb")} - {*STORED})
GLOSSARY = course.ROOT / "docs" / "glossary.md"
_PAGES = "https://github.com/ckpt-viz/ckpt-viz/blob/main/"  # where a link works in each Jupyter
_LARGEST = 1_000_000  # bytes of a stored notebook
# What a stored output must not hold: it differs between runs, or tells of the machine.
_OF_A_MACHINE = re.compile(
    r"0x[0-9a-f]{6,}|/(?:tmp|home|root|var|usr)/|site-packages|, line \d+|ipykernel_\d"
)


def _name(path: Path) -> str:
    return path.stem


def _data(notebook: NotebookNode) -> list[tuple[course.Cell, dict[str, Any]]]:
    """Return the data of all outputs by MIME type, each with its cell."""
    cells = course.code_cells(notebook)
    return [
        (cell, output["data"]) for cell in cells for output in cell["outputs"] if "data" in output
    ]


all_notebooks = pytest.mark.parametrize("path", [*NOTEBOOKS, *STORED], ids=_name)
stored_notebooks = pytest.mark.parametrize("path", STORED, ids=_name)
lessons = pytest.mark.parametrize("path", LESSONS, ids=_name)


def _first_then_more(paths: list[Path]) -> list[Any]:
    """Return the first path for the first tier, and the others for --all."""
    return [paths[0], *(pytest.param(path, marks=pytest.mark.more) for path in paths[1:])]


@pytest.mark.tf
@pytest.mark.parametrize("path", _first_then_more(NOTEBOOKS), ids=_name)
def test_notebook_runs_from_top_to_bottom(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site shows the same run, which its build keeps for this state of the package."""
    monkeypatch.syspath_prepend(course.ROOT / "docs")
    from sitebuild.executed import with_outputs

    with_outputs(path.read_text("utf-8"))


@pytest.mark.tf
@pytest.mark.parametrize("path", _first_then_more(STORED), ids=_name)
def test_stored_outputs_are_those_of_a_run(path: Path, tmp_path: Path) -> None:
    if version("keras").startswith("2."):
        pytest.skip("the outputs are of Keras 3")
    stored = course.read_notebook(path)
    executed = deepcopy(stored)
    course.execute(executed, tmp_path)
    course.clean(executed)
    outdated = course.out_of_date(stored, executed)
    assert outdated == [], f"run `python -m tests.support.course {path.relative_to(course.ROOT)}`"


@pytest.mark.parametrize("mime_type", ["text/plain", "text/html", MIME_TYPE])
def test_an_output_that_has_changed_is_seen(mime_type: str) -> None:
    stored = course.read_notebook(LESSONS[0])
    executed = deepcopy(stored)
    assert course.out_of_date(stored, executed) == []
    cell, data = next((cell, data) for cell, data in _data(stored) if MIME_TYPE in data)
    if mime_type == MIME_TYPE:
        data[MIME_TYPE]["payload"] = base64.b64encode(gzip.compress(b"another graph")).decode()
    else:
        data[mime_type] = data[mime_type].replace("kernel", "weights")
    assert course.out_of_date(stored, executed) == [cell["id"]]


@pytest.mark.parametrize(("new", "is_seen"), [("run-2.index", False), ("run-1.table", True)])
def test_other_versions_may_print_other_numbers_but_no_other_words(new: str, is_seen: bool) -> None:
    stored = course.read_notebook(LESSONS[0])
    executed = deepcopy(stored)
    executed.metadata[course.VERSIONS] = {"tensorflow": "2.99", "keras": "3.99"}
    cell = next(cell for cell in course.code_cells(executed) if cell["outputs"])
    assert "run-1.index" in cell["outputs"][0]["text"]
    cell["outputs"][0]["text"] = cell["outputs"][0]["text"].replace("run-1.index", new)
    assert course.out_of_date(stored, executed) == [cell["id"]] * is_seen


@all_notebooks
def test_notebook_is_valid(path: Path) -> None:
    import nbformat

    notebook = course.read_notebook(path)
    nbformat.validate(notebook)
    assert notebook.metadata["kernelspec"]["name"] == "python3"  # else JupyterLab asks for a kernel


@pytest.mark.parametrize("path", NOTEBOOKS, ids=_name)
def test_notebook_is_committed_clean(path: Path) -> None:
    cells = course.code_cells(course.read_notebook(path))
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)


@stored_notebooks
def test_a_notebook_shows_each_picture_without_a_kernel(path: Path) -> None:
    data = [data for _, data in _data(course.read_notebook(path))]
    explorers = [item for item in data if MIME_TYPE in item]
    assert explorers
    # An exercise has no picture: that would answer its questions.
    pictures = [item["text/html"] for item in explorers if "step" not in item[MIME_TYPE]]
    assert pictures and all('src="data:image/svg+xml;base64,' in picture for picture in pictures)
    assert {item[MIME_TYPE]["version"] for item in explorers} == {payload.VERSION}
    assert not any("widget" in mime_type for item in data for mime_type in item)


@stored_notebooks
def test_stored_outputs_hold_nothing_of_the_machine(path: Path) -> None:
    assert path.stat().st_size < _LARGEST
    outputs = [cell["outputs"] for cell in course.code_cells(course.read_notebook(path))]
    assert _OF_A_MACHINE.findall(json.dumps(outputs)) == []
    assert not any(o.get("name") == "stderr" for cell in outputs for o in cell)


@lessons
def test_a_lesson_has_goals_predictions_exercises_and_proofs(path: Path) -> None:
    notebook = course.read_notebook(path)
    texts = course.texts_of(notebook)
    assert len(re.findall(r"^- ", texts[0], flags=re.M)) == 3
    text = "\n".join(texts)
    predictions = text.count("**Predict.**")
    assert predictions >= 3
    assert re.findall(r"\*\*(\d)\.\*\*", text) == ["1", "2", "3"]
    assert text.count("<details><summary>Answer</summary>") == predictions + 3
    assert text.count("</details>") == predictions + 3
    proofs = [cell for cell in course.code_cells(notebook) if course.is_hidden(cell)]
    assert sum("assert" in proof["source"] for proof in proofs) >= 3
    assert [output for proof in proofs for output in proof["outputs"]] == []


@lessons
def test_a_lesson_has_two_lines_of_text_for_each_line_of_code(path: Path) -> None:
    notebook = course.read_notebook(path)
    assert 2 * course.lines_of_code(notebook) <= course.lines_of_prose(notebook)


@lessons
def test_no_assert_is_in_the_way_of_a_reader(path: Path) -> None:
    cells = [c for c in course.read_notebook(path).cells if c.cell_type == "code"]
    assert not any(
        re.search(r"^\s*assert ", c.source, re.M) and not course.is_hidden(c) for c in cells
    )


def test_the_quickstart_has_five_cells_from_a_failed_restore_to_the_next_save() -> None:
    cells = course.code_cells(course.read_notebook(course.QUICKSTART))
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3, 4, 5]
    error, shown, _ = cells[2]["outputs"]
    assert cells[2]["source"].startswith("%load_ext ckpt_viz")
    assert error["ename"] == "ValueError" and MIME_TYPE in shown["data"]
    assert "restores 3 values" in cells[3]["outputs"][0]["text"]
    assert "saved ckpts/ckpt-2" in cells[4]["outputs"][0]["text"]


def test_the_glossary_has_each_term_of_the_course_and_no_other() -> None:
    terms = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("- **")]
    entries = {term for line in terms for term in course.bold_in(line)}
    assert entries == {t for path in LESSONS for t in course.bold_terms(course.read_notebook(path))}
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.tf
def test_the_glossary_names_places_of_the_installed_tensorflow() -> None:
    entries = re.split(r"\n- ", GLOSSARY.read_text())[1:]
    sources = [re.findall(r"`([\w.]+)`\s+in\s+(?:`([\w/.]+)`|Keras)", entry) for entry in entries]
    assert all(sources)
    tensorflow = Path(str(find_spec("tensorflow").origin)).parent  # type: ignore[union-attr]

    def source(file: str) -> str:
        if file.endswith(".proto"):  # a wheel has only the module that is made of it
            file = f"../core/protobuf/{file.removesuffix('.proto')}_pb2.py"
        text = (tensorflow / "python" / file).read_text()
        return text.encode().decode("unicode_escape") if file.endswith("_pb2.py") else text

    missing = [
        (name, file)
        for name, file in chain.from_iterable(sources)
        if file and name.rpartition(".")[2] not in source(file)
    ]
    assert missing == []


@lessons
def test_a_lesson_links_to_the_glossary_and_only_to_what_exists(path: Path) -> None:
    text = "\n".join(course.texts_of(course.read_notebook(path)))
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    pages = [link.removeprefix(_PAGES) for link in links if link.startswith(_PAGES)]
    assert "docs/glossary.md" in pages
    assert [page for page in pages if not (course.ROOT / page).is_file()] == []
    beside = [link for link in links if "://" not in link]
    assert [link for link in beside if not (path.parent / link).is_file()] == []


def test_no_notebook_has_a_link_that_jupyter_cannot_open_with_the_notebooks_as_its_root() -> None:
    for path in (course.ROOT / "notebooks").rglob("*.ipynb"):
        text = "\n".join(course.texts_of(course.read_notebook(path)))
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if "://" not in link:
                assert (path.parent / link).resolve().is_relative_to(course.ROOT / "notebooks"), (
                    link
                )

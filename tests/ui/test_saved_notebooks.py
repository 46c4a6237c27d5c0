"""Saved notebooks opened again: with the extension, without it, as a page, and after deletions."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import BrowserContext, Locator, Page, expect

from ckpt_viz.graphs.render.static_html import comparison_html
from tests.support import course
from tests.support.payload_fixtures import overlays
from tests.support.waiting import wait_until
from tests.ui import processes
from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import OpenPage, new_page
from tests.ui.test_renderer import MIME_TYPE, SHOW, expect_live, expect_snapshot

CHECK = """
from tests.support.graphs import keras3_adam, without_optimizer
cv.show(without_optimizer(), against=keras3_adam())
"""
AGAIN = "cv.show(explorer.graph)"
SLIDER = "import ipywidgets; ipywidgets.IntSlider(7)"
BOXED = "import ipywidgets; ipywidgets.VBox([explorer])"
SAVE_STATE = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"
SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
MISSING = "stored in another output of this notebook, which is gone; run the cell again"


def held(lab: JupyterLab, path: str) -> list[bool | None]:
    """Return of each cell whether its output holds a payload; None of one without ours."""
    cells = json.loads((lab.server.root / path).read_text())["cells"]
    bundles = [cell["outputs"][0]["data"] if cell["outputs"] else {} for cell in cells]
    return ["payload" in data[MIME_TYPE] if MIME_TYPE in data else None for data in bundles]


def each_output(lab: JupyterLab, count: int) -> Iterator[Locator]:
    """Yield outputs that are in sight: an explorer draws nothing before it is."""
    for place in range(count):
        lab.output(place).scroll_into_view_if_needed()
        yield lab.output(place)


def run_and_save(lab: JupyterLab, shared: SharedKernel, path: str, *sources: str) -> None:
    shared.open(lab, path, *sources)
    run_all_and_save(lab, len(sources))


def run_all_and_save(lab: JupyterLab, count: int) -> None:
    lab.run_all()
    for output in each_output(lab, count):
        expect_live(output)
    lab.save()


def delete_cell(lab: JupyterLab, place: int) -> None:
    lab.select_cell(place)
    lab.execute("notebook:delete-cell")


def test_several_explorers_are_one_payload_and_several_snapshots(lab: JupyterLab) -> None:
    lab.create_notebook("several.ipynb", code_cell(SHOW), *[code_cell(AGAIN)] * 3)
    lab.open_notebook("several.ipynb")
    run_all_and_save(lab, 4)
    assert held(lab, "several.ipynb") == [True, False, False, False]
    lab.shut_down_kernel()
    lab.save()
    lab.reopen_without_kernel("several.ipynb")
    for output in each_output(lab, 4):
        expect_snapshot(output)


def test_the_cell_that_holds_the_payload_is_deleted(lab: JupyterLab, shared: SharedKernel) -> None:
    run_and_save(lab, shared, "deleted.ipynb", SHOW, AGAIN, AGAIN)
    delete_cell(lab, 0)
    lab.save()
    assert held(lab, "deleted.ipynb") == [True, False]
    expect_live(lab.output(0))
    lab.reopen_without_kernel("deleted.ipynb")
    for output in each_output(lab, 2):
        expect_snapshot(output)
    picture = json.loads((lab.server.root / "deleted.ipynb").read_text())["cells"][0]["outputs"][0]
    assert "<img" in "".join(picture["data"]["text/html"])


def test_the_output_that_holds_the_payload_is_cleared(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    run_and_save(lab, shared, "cleared.ipynb", SHOW, AGAIN)
    lab.select_cell(0)
    lab.execute("notebook:clear-cell-output")
    lab.save()
    assert held(lab, "cleared.ipynb") == [None, True]


def test_cells_run_again_leave_one_payload(lab: JupyterLab, shared: SharedKernel) -> None:
    run_and_save(lab, shared, "again.ipynb", SHOW, AGAIN)
    lab.run_cell(1)
    lab.save()
    assert held(lab, "again.ipynb") == [True, False]
    lab.run_cell(0)
    lab.save()
    assert held(lab, "again.ipynb") == [True, False]


def test_a_reference_copied_into_another_notebook_takes_the_payload_along(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    run_and_save(lab, shared, "from.ipynb", SHOW, AGAIN)
    lab.select_cell(1)
    lab.execute("notebook:copy-cell")
    lab.create_notebook("to.ipynb", code_cell("1"))
    lab.open_without_kernel("to.ipynb")
    lab.execute("notebook:paste-cell-below")
    expect_snapshot(lab.output(1))
    lab.save()
    assert held(lab, "to.ipynb") == [None, True]


def test_a_second_notebook_of_the_same_kernel_holds_its_own(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    run_and_save(lab, shared, "first.ipynb", SHOW)
    kernel = lab.kernel_id
    lab.close()
    lab.create_notebook("second.ipynb", code_cell(AGAIN))
    lab.open_notebook("second.ipynb", kernel)
    lab.reload()  # now only the live widget has it
    lab.run_cell(0)
    expect_live(lab.output(0))
    lab.save()
    assert held(lab, "second.ipynb") == [True]


def test_a_lost_payload_is_one_sentence(lab: JupyterLab) -> None:
    reference = {"version": 2, "model_id": "0" * 32, "digest": "1" * 32}
    lab.create_notebook("lost.ipynb", code_cell("explorer", {MIME_TYPE: reference}))
    lab.open_without_kernel("lost.ipynb")
    expect(lab.output(0)).to_contain_text(MISSING)


@pytest.fixture
def saving_state(lab: JupyterLab) -> Iterator[JupyterLab]:
    """A JupyterLab where "Save Widget State Automatically" is on."""
    file = lab.settings / "@jupyter-widgets/jupyterlab-manager/plugin.jupyterlab-settings"
    assert not file.exists()
    lab.execute(SAVE_STATE)
    wait_until(file.exists, "for the setting")
    yield lab
    lab.execute(SAVE_STATE)
    wait_until(lambda: '"saveState": false' in file.read_text(), "for the setting as it was")
    file.unlink()  # so that the page serves the next test


def read(lab: JupyterLab, path: str) -> Any:
    return json.loads((lab.server.root / path).read_text())


def shown_in(notebook: Any) -> list[set[str]]:
    """Return of each cell the MIME types of its output."""
    return [set(cell["outputs"][0]["data"]) for cell in notebook["cells"]]


def names_in_state(notebook: Any) -> set[str]:
    state = notebook["metadata"]["widgets"][STATE]["state"]
    return {model["model_name"] for model in state.values()}


def test_with_widget_state_the_widgets_of_others_are_saved(
    saving_state: JupyterLab, shared: SharedKernel
) -> None:
    lab = saving_state
    path = "others.ipynb"
    shared.open(lab, path, SHOW, AGAIN, SLIDER)
    lab.run_all()
    expect(lab.output(2).locator(".widget-slider")).to_be_visible()
    lab.save()
    assert [VIEW in shown for shown in shown_in(read(lab, path))] == [False, False, True]
    assert names_in_state(read(lab, path)) == {
        *("IntSliderModel", "LayoutModel", "SliderStyleModel")
    }


def test_with_widget_state_an_explorer_in_a_box_is_saved(
    saving_state: JupyterLab, shared: SharedKernel
) -> None:
    lab = saving_state
    shared.open(lab, "boxed.ipynb", SHOW, AGAIN, BOXED)
    lab.run_all()
    expect_live(lab.output(2))
    lab.save()
    notebook = read(lab, "boxed.ipynb")
    assert [VIEW in shown for shown in shown_in(notebook)] == [False, False, True]
    state = notebook["metadata"]["widgets"][STATE]["state"].values()
    explorers = [model for model in state if model["model_name"] == "AnyModel"]
    assert len(explorers) == 1
    assert {"VBoxModel", "WidgetModel", "LayoutModel"} < names_in_state(notebook)


def test_what_is_saved_without_its_widget_stays_live(
    saving_state: JupyterLab, shared: SharedKernel
) -> None:
    lab = saving_state
    run_and_save(lab, shared, "live.ipynb", SHOW, AGAIN)
    ran = read(lab, "live.ipynb")["cells"][1]["execution_count"]
    explorer = lab.output(0).get_by_role("treegrid").element_handle()
    assert explorer is not None
    for count in (
        ran + 1,
        ran + 2,
    ):  # did the page expect another file, it would ask which one to keep
        lab.run_cell(1)
        lab.save()
        notebook = read(lab, "live.ipynb")
        assert notebook["cells"][1]["execution_count"] == count
        assert not any(VIEW in shown for shown in shown_in(notebook))
        assert "widgets" not in notebook["metadata"]
        expect(lab.page.locator(".jp-Dialog")).to_have_count(0)
        expect_live(lab.output(1))
    assert explorer.evaluate("e => e.isConnected")
    lab.reload()
    for output in each_output(lab, 2):
        expect_live(output)


@pytest.fixture(scope="module")
def plain_server(
    kernels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[processes.Server]:
    """A JupyterLab that has the widgets and neither of these extensions."""
    directory = tmp_path_factory.mktemp("plain")
    config = directory / "jupyter_config_dir" / "labconfig" / "page_config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"disabledExtensions": {"ckpt-viz": true}}')  # if it is installed at all
    labextensions = tmp_path_factory.mktemp("no-labextensions")
    with processes.jupyterlab(
        directory, labextensions, server_extension=False, kernels=kernels
    ) as running:
        yield running


@pytest.fixture
def plain_lab(context: BrowserContext, plain_server: processes.Server) -> Iterator[JupyterLab]:
    lab = JupyterLab(new_page(context), plain_server, workspace="plain")
    assert not lab.page.evaluate("jupyterapp.hasPlugin('ckpt-viz:renderer')")
    yield lab
    lab.shut_down()


_DRAW_AGAIN = """place => {
    const { model } = jupyterapp.shell.currentWidget.content.widgets[place].outputArea;
    model.fromJSON(model.toJSON());
}"""


def _draw_again_if_given_up(lab: JupyterLab, place: int) -> None:
    """Draw an output again for which ipywidgets has given up its model while restoring it.

    ipywidgets looks for a model for two seconds. If it restores all models after its last look but
    before it gives up, it never looks again: on a busy machine, one of ten outputs may be so late.
    """
    output = lab.output(place)
    given_up = output.get_by_text("Error displaying widget: model not found")
    expect(output.get_by_role("treegrid").or_(given_up)).to_be_visible()
    if given_up.count():
        lab.page.evaluate(_DRAW_AGAIN, place)


@pytest.mark.more
def test_without_the_extension_the_saved_state_restores_the_widgets(plain_lab: JupyterLab) -> None:
    lab = plain_lab
    lab.execute(SAVE_STATE)
    lab.create_notebook("state.ipynb", code_cell(SHOW), *[code_cell(AGAIN)] * 9)
    lab.open_notebook("state.ipynb")
    run_all_and_save(lab, 10)
    notebook = json.loads((lab.server.root / "state.ipynb").read_text())
    state = notebook["metadata"]["widgets"][STATE]["state"]
    views = [cell["outputs"][0]["data"][VIEW]["model_id"] for cell in notebook["cells"]]
    layouts = [state[view]["state"]["layout"].removeprefix("IPY_MODEL_") for view in views]
    assert len(state) == len({*views, *layouts}) + 2  # code and payload
    of_nine = sum(len(json.dumps(state[model])) for model in (*views[1:], *layouts[1:]))
    cells = sum(len(json.dumps(cell)) for cell in notebook["cells"][1:])
    assert len(json.dumps(notebook)) <= 1.5 * (len(json.dumps(notebook)) - of_nine - cells)
    text = (lab.server.root / "state.ipynb").read_text()
    lab.shut_down_kernel()
    lab.close()  # saved as it is, without the kernel's models
    (lab.server.root / "state.ipynb").write_text(text)
    lab.open_notebook("state.ipynb")
    # ipywidgets loses a model that it is still restoring when its kernel is shut down.
    for place, output in enumerate(each_output(lab, 10)):
        _draw_again_if_given_up(lab, place)
        expect_live(output)
    lab.shut_down_kernel()
    for output in each_output(lab, 10):
        expect_live(output)
    lab.screenshot("saved-state-without-extension")


def test_untrusted_and_without_the_extension_the_picture_is_let_through(
    plain_lab: JupyterLab,
) -> None:
    overlay = overlays()["check"]
    data = {"text/plain": "a check", "text/html": comparison_html(overlay)}
    plain_lab.create_notebook("untrusted.ipynb", code_cell("explorer", data))
    plain_lab.open_without_kernel("untrusted.ipynb")
    expect_picture(plain_lab.output(0))
    plain_lab.output(0).locator("summary").first.click()
    expect(plain_lab.output(0).locator("details table")).to_contain_text(
        overlay.table.lines[0].live
    )
    plain_lab.screenshot("static-check-untrusted")


def executed(*sources: str) -> Any:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def page_of(notebook: Any, lend: OpenPage, path: Path) -> Page:
    """Return the page that nbconvert makes of a notebook, opened without a network."""
    page, _ = page_and_requests(notebook, lend, path)
    return page


def page_and_requests(notebook: Any, lend: OpenPage, path: Path) -> tuple[Page, list[str]]:
    """Return nbconvert's page, and what it asks for by and by."""
    from nbconvert import HTMLExporter

    body, _ = HTMLExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    path.write_text(body, "utf-8")
    page = lend(offline=True, viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    return page, asked


def expect_picture(output: Locator) -> None:
    picture = output.locator("img")
    expect(picture).to_be_visible()
    width = picture.evaluate("async e => { await e.decode(); return e.naturalWidth; }")
    assert width >= 600


@pytest.mark.parametrize("with_state", [True, False])
def test_nbconverts_page_shows_picture_and_rows_offline(
    lend: OpenPage, tmp_path: Path, with_state: bool
) -> None:
    notebook = executed(SHOW, AGAIN, CHECK)
    assert STATE in notebook.metadata["widgets"]
    if not with_state:
        del notebook.metadata["widgets"]
    page = page_of(notebook, lend, tmp_path / "page.html")
    outputs = page.locator(".jp-OutputArea-output")
    expect_picture(outputs.nth(0))
    expect(outputs.nth(1)).to_have_text("two nodes: see output [1]")
    expect_picture(outputs.nth(2))
    rows = outputs.nth(2).locator("details table")
    expect(rows).not_to_be_visible()
    outputs.nth(2).locator("summary").first.click()
    expect(rows).to_contain_text("layer")
    page.screenshot(path=SCREENSHOTS / "nbconvert-offline.png", full_page=True)


def test_saved_with_widget_state_nbconverts_page_needs_no_network(
    saving_state: JupyterLab, lend: OpenPage, tmp_path: Path
) -> None:
    lab, path = saving_state, saving_state.server.root / "page.ipynb"
    # In a kernel that has shown the graph before, the picture is in another notebook.
    lab.create_notebook(path.name, code_cell(SHOW), code_cell(AGAIN))
    lab.open_notebook(path.name)
    run_all_and_save(lab, 2)
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    page, asked = page_and_requests(notebook, lend, tmp_path / "page.html")
    outputs = page.locator(".jp-OutputArea-output")
    expect_picture(outputs.nth(0))
    expect(outputs.nth(1)).to_have_text("two nodes: see output [1]")
    outputs.nth(0).locator("summary").first.click()
    expect(outputs.nth(0).locator("details details").first).to_contain_text("(root)")
    _, asked_anyway = page_and_requests(executed("1"), lend, tmp_path / "page.html")
    assert asked == asked_anyway  # itself, RequireJS and MathJax


def test_opening_the_quickstart_does_not_mark_it_changed(lab: JupyterLab) -> None:
    """JupyterLab itself marks a notebook of another version of Python as changed."""
    notebook = course.read_notebook(course.QUICKSTART)
    notebook.metadata["language_info"]["version"] = platform.python_version()
    nbformat.write(notebook, lab.server.root / "quickstart.ipynb")  # type: ignore[no-untyped-call]
    lab.open_notebook("quickstart.ipynb")
    lab.await_idle()
    expect(lab.page.locator(".jp-Notebook .jp-Cell")).not_to_have_count(0)
    expect(lab.page.locator(".jp-mod-dirty")).to_have_count(0)
    table = lab.page.locator(".jp-OutputArea").filter(has_text="The head is larger: 3 → 5").first
    table.scroll_into_view_if_needed()
    lab.screenshot("quickstart")
    expect(lab.page.locator(".jp-mod-dirty")).to_have_count(0)

"""Which view of an output JupyterLab shows: the widget while its kernel lives, else a snapshot."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import Locator, expect

from ckpt_viz.graphs.render import payload
from tests.support.graphs import keras3_adam
from tests.ui.jupyter import Cell, JupyterLab, SharedKernel, code_cell

MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json"

SHOW = """
import ckpt_viz as cv
nodes = (cv.Node((cv.Child("v", 1),)), cv.Node())
explorer = cv.show(cv.ObjectGraph(nodes, "two nodes", cv.Origin.SAVED))
explorer
"""


def saved_cell(**changes: object) -> Cell:
    """Return a cell with an output that some kernel of long ago has left."""
    data = {
        "version": payload.VERSION,
        "model_id": "8c6b1f6e3a5d4d7a9c1f0e2b4a6c8d0e",
        "digest": "d1",
        "payload": base64.b64encode(payload.encode(keras3_adam())).decode(),
    }
    widget = {"version_major": 2, "version_minor": 0, "model_id": data["model_id"]}
    return code_cell(
        "explorer",
        {
            "text/plain": "an object graph",
            "application/vnd.jupyter.widget-view+json": widget,
            MIME_TYPE: data | changes,
        },
    )


def expect_snapshot(output: Locator) -> None:
    expect(output.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(output.get_by_role("treegrid")).to_be_visible()
    expect(output).not_to_contain_text("model not found")


def expect_live(output: Locator) -> None:
    expect(output.get_by_role("treegrid")).to_be_visible()
    # Not before: an output that is still empty has no such text either.
    expect(output.get_by_text("saved picture", exact=True)).to_have_count(0)


@pytest.fixture
def shown(lab: JupyterLab, shared: SharedKernel, request: pytest.FixtureRequest) -> JupyterLab:
    """A notebook whose kernel shows the explorer in its first cell."""
    shared.open(lab, f"{request.node.name}.ipynb", SHOW, "explorer.close()")
    lab.run_cell(0)
    expect_live(lab.output(0))
    return lab


def test_without_a_kernel_the_snapshot_is_shown(lab: JupyterLab) -> None:
    lab.create_notebook("no-kernel.ipynb", saved_cell())
    lab.open_without_kernel("no-kernel.ipynb")
    expect_snapshot(lab.output(0))


def test_a_kernel_that_does_not_know_the_widget_leaves_the_snapshot(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    lab.create_notebook("other-kernel.ipynb", saved_cell(), code_cell("print('ran')"))
    lab.open_notebook("other-kernel.ipynb", shared.started(lab))
    lab.run_cell(1)
    expect(lab.output(1)).to_have_text("ran")
    expect_snapshot(lab.output(0))


def test_a_kernel_that_ends_leaves_the_snapshot(lab: JupyterLab) -> None:
    die = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    lab.create_notebook("ends.ipynb", code_cell(SHOW), code_cell(die))
    lab.open_notebook("ends.ipynb")

    def crash() -> None:
        lab.run_cell(1)
        lab.page.locator(".jp-Dialog .jp-mod-accept").click()  # which tells of it

    for end in (lab.restart_kernel, crash, lab.shut_down_kernel):
        lab.run_cell(0)
        expect_live(lab.output(0))
        end()
        expect_snapshot(lab.output(0))


def test_a_closed_widget_leaves_the_snapshot(shown: JupyterLab) -> None:
    shown.run_cell(1)
    expect_snapshot(shown.output(0))


def test_reopened_a_notebook_with_its_kernel_shows_the_live_widget(shown: JupyterLab) -> None:
    path = shown.path
    shown.save()
    shown.close()
    shown.open_notebook(path)
    expect_live(shown.output(0))


def test_a_fresh_output_never_shows_its_snapshot_first(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "fresh.ipynb", SHOW)
    seen = lab.page.evaluate_handle(
        """() => {
            const seen = { text: "" };
            const notebook = document.querySelector(".jp-Notebook");
            const look = () => { seen.text += notebook.querySelector(".jp-OutputArea").innerText; };
            new MutationObserver(look).observe(notebook, { childList: true, subtree: true });
            return seen;
        }"""
    )
    lab.run_all()
    expect_live(lab.output(0))
    text = seen.evaluate("seen => seen.text")
    assert "two nodes" in text
    assert "snapshot" not in text


def test_bad_data_shows_one_sentence(lab: JupyterLab) -> None:
    bad: tuple[tuple[dict[str, object], str], ...] = (
        ({"version": 99}, "has format version 99"),
        ({"version": 1}, "has format version 1, but the installed ckpt-viz reads version 2; run"),
        ({"payload": "no base64!"}, "payload is not base64"),
        ({"payload": None}, "payload is missing"),
    )
    lab.create_notebook("bad.ipynb", *(saved_cell(**changes) for changes, _ in bad))
    lab.open_without_kernel("bad.ipynb")
    for place, (_, sentence) in enumerate(bad):
        expect(lab.output(place)).to_contain_text(sentence)


def test_a_second_notebook_on_the_same_kernel_shows_the_live_widget(shown: JupyterLab) -> None:
    shown.create_notebook("second.ipynb", code_cell("explorer"))
    shown.open_notebook("second.ipynb", shown.kernel_id)
    shown.run_cell(0)
    expect_live(shown.output(0))


def test_a_console_shows_the_live_widget(shown: JupyterLab) -> None:
    path = shown.path
    shown.execute("notebook:create-console", activate=True)
    console = shown.page.locator(".jp-CodeConsole")
    expect(console).to_contain_text("Python 3")
    shown.execute("console:inject", path=path, code="explorer")
    expect_live(console)


def test_a_view_of_an_output_shows_the_live_widget(shown: JupyterLab) -> None:
    shown.select_cell(0)
    shown.execute("notebook:create-output-view")
    expect_live(shown.page.locator(".jp-LinkedOutputView"))

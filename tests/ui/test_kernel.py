"""The explorer's questions to its kernel, and the explorer after the kernel changes or goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import open_exports
from tests.ui.test_explorer import box, focused, row

NET = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import ckpt_viz as cv
net = tf.Module()
net.step = tf.Variable(7)
net.kernel = tf.Variable(tf.reshape(tf.range(400.0), (20, 20)))
net.layers = [tf.Module() for _ in range(3)]
for layer in net.layers:
    layer.bias = tf.Variable([1.0, 2.0])
explorer = cv.show(net)
explorer
"""


@pytest.fixture
def shown(lab: JupyterLab, shared: SharedKernel, request: pytest.FixtureRequest) -> JupyterLab:
    """A notebook that shows the explorer of a module in its first cell."""
    path = f"{request.node.name}.ipynb"
    cells = getattr(request, "param", ())
    shared.open(lab, path, NET, *cells)
    lab.run_cell(0)
    lab.output(0).get_by_role("treegrid").wait_for()
    return lab


def explorer_of(lab: JupyterLab, cell: int = 0) -> Locator:
    return lab.output(cell).locator(".ckpt-viz")


def _in_drawing(explorer: Locator, name: str) -> tuple[float, float]:
    """Return the place of a node's box in the drawing."""
    shape, drawing = box(explorer, name).locator("> .ckv-shape"), explorer.locator(".ckv-drawing")
    inner, outer = shape.bounding_box(), drawing.bounding_box()
    assert inner is not None
    assert outer is not None
    return inner["x"] - outer["x"], inner["y"] - outer["y"]


def test_values_come_when_they_are_asked_for(shown: JupyterLab) -> None:
    explorer = explorer_of(shown)
    box(explorer, "step").click()
    values = explorer.locator(".ckv-values")
    expect(values).to_contain_text("int32")
    expect(values.locator(".ckv-elements")).to_contain_text("7")
    box(explorer, "kernel").click()
    expect(values.locator(".ckv-elements")).to_have_count(0)
    explorer.get_by_role("button", name="Show values").click()
    expect(values.locator(".ckv-elements")).to_contain_text("98, 99 … 300 more")
    expect(values).to_contain_text("float32 20×20")
    explorer.get_by_role("button", name="Python expression").click()
    expect(explorer.locator(".ckv-details code")).to_have_text("source.kernel")
    shown.screenshot("values")


def test_the_kernel_writes_files(shown: JupyterLab, tmp_path: Path) -> None:
    explorer = explorer_of(shown)
    starts = {
        "Outline, SVG": "<svg",
        "Graph, DOT (Graphviz)": "digraph",
        "Graph, JSON": "{",
        "Explorer, one HTML file": "<!DOCTYPE html>",
    }
    for name, start in starts.items():
        open_exports(explorer)
        with shown.page.expect_download() as download:
            explorer.get_by_role("button", name=name).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.read_text("utf-8").startswith(start)
        assert "kernel" in path.read_text("utf-8") or path.suffix == ".html"


@pytest.mark.parametrize(
    "shown",
    [
        (
            "net.a_new_one = tf.Variable(1)\nnet.step.assign(8)\nexplorer.refresh()",
            "print(explorer.selected_node.children[0].local_name, len(explorer.expanded))",
        )
    ],
    indirect=True,
)
def test_refreshed_the_explorer_stays_where_it_is(shown: JupyterLab) -> None:
    explorer = explorer_of(shown)
    box(explorer, "layers.2").click()
    focused(explorer)
    shown.page.keyboard.press("ArrowLeft")
    shown.page.keyboard.press("ArrowRight")
    place = _in_drawing(explorer, "layers.2")
    expect(row(explorer, "a_new_one")).to_have_count(0)
    shown.run_cell(1)
    expect(row(explorer, "a_new_one")).to_be_visible()
    expect(explorer.get_by_role("row", selected=True)).to_contain_text("2Module")
    assert _in_drawing(explorer, "layers.2") == pytest.approx(place, abs=1)
    shown.run_cell(2)
    expect(shown.output(2)).to_have_text(re.compile("bias [0-9]"))


@pytest.mark.parametrize(
    "shown",
    [
        (
            "import threading\nrefreshed = threading.Event()\n"
            "explorer.observe(lambda _: refreshed.wait(20), 'query')",
            "net.a_new_one = tf.Variable(1)\nexplorer.refresh()\nrefreshed.set()",
            "named = explorer.graph.name\n"
            "print(named(explorer.selected), *map(named, explorer.expanded))",
            "print(explorer.query)",
        )
    ],
    indirect=True,
)
def test_steps_that_the_kernel_has_not_heard_of_outlive_a_refresh(shown: JupyterLab) -> None:
    """It learns of them after the refresh, by ids of a graph that it no longer has."""
    explorer = explorer_of(shown)
    layers = [explorer.get_by_role("row", name=re.compile(f"^{n} .*Module")) for n in range(3)]
    layers[2].click()
    focused(explorer)
    shown.page.keyboard.press("ArrowLeft")
    shown.run_cell(1)
    # Until the kernel is done with this, the page sends no further step.
    explorer.get_by_role("combobox", name="Search").fill("bias")
    shown.run_cell_until(4, "bias")
    layers[0].click()
    focused(explorer)
    shown.page.keyboard.press("ArrowLeft")
    shown.page.keyboard.press("ArrowUp")
    shown.run_cell(2)
    expect(row(explorer, "a_new_one")).to_be_visible()
    shown.run_cell_until(3, "(root).layers (root) (root).layers (root).layers.1\n")
    expect(row(explorer, "layers")).to_have_attribute("aria-selected", "true")
    for layer, is_open in zip(layers, ("false", "true", "false"), strict=True):
        expect(layer).to_have_attribute("aria-expanded", is_open)


@pytest.mark.parametrize(
    "shown",
    [("explorer._payload = b'broken'", "explorer.refresh()")],
    indirect=True,
)
def test_a_broken_payload_is_said_and_what_was_drawn_stays(shown: JupyterLab) -> None:
    explorer = explorer_of(shown)
    rows = explorer.get_by_role("row").count()
    shown.run_cell(1)
    expect(explorer.get_by_role("alert")).to_be_visible()
    assert explorer.get_by_role("row").count() == rows
    shown.run_cell(2)
    expect(explorer.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("shown", [("explorer",)], indirect=True)
def test_two_views_of_one_explorer_agree(shown: JupyterLab) -> None:
    shown.run_cell(1)
    first, second = explorer_of(shown), explorer_of(shown, 1)
    second.get_by_role("treegrid").wait_for()
    row(first, "kernel").click()
    expect(row(second, "kernel")).to_have_attribute("aria-selected", "true")
    expect(second.locator(".ckv-node-name")).to_contain_text("kernel")
    second.get_by_role("combobox", name="Search").fill("bias")
    expect(first.get_by_role("combobox", name="Search")).to_have_value("bias")
    expect(row(first, "0")).to_be_visible()
    expect(row(second, "bias")).to_have_count(3)  # rows that appear would move under the pointer
    shown.await_idle()
    row(second, "layers").dblclick()
    expect(row(first, "0")).to_have_count(0)


LIST = """
import ckpt_viz as cv
children = tuple(cv.Child(f"item_{i}", i + 1) for i in range(250))
explorer = cv.show(cv.ObjectGraph((cv.Node(children), *[cv.Node()] * 250), "list", cv.Origin.SAVED))
explorer
"""


def test_the_kernel_hears_of_no_chunk_and_leaves_it_selected(lab: JupyterLab) -> None:
    lab.create_notebook("chunks.ipynb", code_cell(LIST), code_cell("print(explorer.selected)"))
    lab.open_notebook("chunks.ipynb")
    lab.run_cell(0)
    explorer = explorer_of(lab)
    focused(explorer)
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        lab.page.keyboard.press(key)
    lab.run_cell_until(1, "None")
    selected = explorer.get_by_role("row", selected=True)
    expect(selected).to_contain_text("item_100 … item_199")
    focused(explorer)
    lab.page.keyboard.press("ArrowRight")
    expect(explorer.get_by_role("treegrid")).to_have_attribute("aria-rowcount", "105")
    lab.page.keyboard.press("ArrowRight")
    lab.run_cell_until(1, "101")


BLOCKS = """
import ckpt_viz as cv
blocks = tuple(cv.Child(str(i), 2 * i + 2) for i in range(250))
below = [cv.Node(blocks)]
for i in range(250):
    below += cv.Node((cv.Child(f"dense_{i}", 2 * i + 3),)), cv.Node()
graph = cv.ObjectGraph((cv.Node((cv.Child("blocks", 1),)), *below), "blocks", cv.Origin.SAVED)
explorer = cv.show(graph)
explorer
"""


def test_enter_opens_the_way_to_the_first_match_in_a_long_list(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "blocks.ipynb", BLOCKS)
    lab.run_cell(0)
    explorer = explorer_of(lab)
    badge = row(explorer, "0 … 99").locator(".ckv-count")
    expect(badge).to_have_attribute("title", "200 nodes below")
    box_for_search = explorer.get_by_role("combobox", name="Search")
    box_for_search.fill("dense_13")
    expect(explorer.locator(".ckv-matches")).to_contain_text("11")
    expect(badge).to_have_attribute("title", "1 match below")
    lab.screenshot("badges-of-a-search")
    box_for_search.press("Enter")
    selected = explorer.get_by_role("row", selected=True)
    expect(selected).to_contain_text("dense_13")
    expect(box(explorer, "blocks.13.dense_13")).to_be_in_viewport()
    box_for_search.press("Enter")
    expect(selected).to_contain_text("dense_130")


def test_of_a_lost_kernel_the_picture_stays(shown: JupyterLab) -> None:
    explorer = explorer_of(shown)
    row(explorer, "step").click()
    shown.shut_down_kernel()
    snapshot = shown.output(0).locator(".ckpt-viz")
    expect(snapshot.get_by_role("treegrid")).to_be_visible()
    expect(shown.output(0).get_by_text("saved picture", exact=True)).to_be_visible()
    row(snapshot, "step").click()
    expect(snapshot.locator(".ckv-node-name")).to_contain_text("step")
    expect(snapshot.get_by_role("button", name="Show values")).to_have_count(0)

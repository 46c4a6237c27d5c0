"""Colour and search by what values measure: in a notebook, and in a file without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from tests.support import name_based
from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import OpenPage, choose_view, html_pages, open_exports
from tests.ui.tables import line

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_SVG = "{http://www.w3.org/2000/svg}"

TRAINED = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import numpy as np
import tensorflow as tf
import ckpt_viz as cv

net = tf.Module()
net.small, net.large = tf.Variable([0.5, 0.0]), tf.Variable([30.0, 40.0])
net.broken = tf.Variable([1.0, np.nan])
path = tf.train.Checkpoint(net=net).write(tempfile.mkdtemp() + "/a")
net.large.assign([33.0, 44.0])
later = tf.train.Checkpoint(net=net).write(tempfile.mkdtemp() + "/b")
explorer = cv.show(path)
explorer
"""
DIFF = "cv.show(path, against=later)"
STATE = "print(explorer.measure, [explorer.graph.name(i) for i in explorer.find('norm>40')])"


@pytest.fixture
def shown(lab: JupyterLab, shared: SharedKernel) -> JupyterLab:
    sources = (SharedKernel.AFRESH + TRAINED, DIFF, STATE)
    lab.create_notebook("measures.ipynb", *map(code_cell, sources))
    lab.open_notebook("measures.ipynb", shared.started(lab))
    lab.run_cell(0)
    return lab


def _row(explorer: Locator, name: str) -> Locator:
    return explorer.get_by_role("treegrid").get_by_role("row").filter(has_text=name)


def _fill(explorer: Locator, name: str) -> str:
    box = explorer.locator(".ckv-node").filter(has_text=name).last
    return str(box.locator(".ckv-shape").first.evaluate("(box) => getComputedStyle(box).fill"))


def test_a_measure_colours_the_nodes_and_fills_a_column_in_a_notebook(shown: JupyterLab) -> None:
    explorer = shown.output(0).locator(".ckpt-viz")
    choice = explorer.get_by_label("Colour by")
    expect(explorer.get_by_role("columnheader", name="parameters")).to_be_visible()
    choice.select_option("norm")
    head = explorer.get_by_role("columnheader", name="norm")
    expect(head).to_be_visible()
    expect(_row(explorer, "large")).to_contain_text("50")
    expect(_row(explorer, "broken").locator(".ckv-bad")).to_have_text("NaN")
    expect(explorer.locator(".ckv-scale").first).to_contain_text("0.5")
    expect(explorer.locator(".ckv-scale").first).to_contain_text("50")
    assert len({_fill(explorer, name) for name in ("small", "broken", "large")}) == 3

    head.get_by_role("button").click()
    names = explorer.locator(".ckv-row .ckv-name")
    expect(names.nth(2)).to_have_text("large")
    expect(names.nth(4)).to_have_text("small")

    _row(explorer, "large").click()
    details = explorer.locator(".ckv-details")
    expect(details.locator(".ckv-histogram svg")).to_be_visible()
    expect(details.get_by_role("row", name="norm")).to_contain_text("50")
    shown.run_cell_until(2, "norm ['(root).net.large']")


def test_a_query_about_values_offers_to_read_them(shown: JupyterLab) -> None:
    explorer = shown.output(0).locator(".ckpt-viz")
    explorer.get_by_role("combobox", name="Search").fill("is:nan")
    expect(explorer.locator(".ckv-mistake")).to_contain_text("This search needs the values")
    explorer.get_by_role("button", name="Read values").click()
    expect(explorer.locator(".ckv-mistake")).to_have_count(0)
    expect(explorer.locator(".ckv-matches")).to_contain_text("1")
    expect(explorer.locator("mark.ckv-name")).to_have_text("broken")


def test_a_diff_says_by_how_much_values_changed(shown: JupyterLab) -> None:
    shown.run_cell(1)
    explorer = shown.output(1).locator(".ckpt-viz")
    line(explorer, "net").click()
    explorer.page.keyboard.press("ArrowRight")
    # It reads few bytes without a question.
    expect(line(explorer, "large")).to_contain_text("10 %")
    line(explorer, "large").click()
    choose_view(explorer, "Graph")
    explorer.get_by_label("Colour by").select_option("change")
    expect(_row(explorer, "large")).to_contain_text("10 %")
    sides = explorer.locator(".ckv-details .ckv-numbers").last
    expect(sides.get_by_role("row", name="norm")).to_contain_text("5055")


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    with html_pages(browser, tmp_path) as opened:
        yield opened


def test_a_file_has_the_measures_that_were_read(
    open_page: OpenPage, front_end: None, tmp_path: Path
) -> None:
    import numpy as np

    path = name_based.write(tmp_path / "c", a=np.ones(4), b=np.array([np.inf, 2.0]))
    page = _page_of(open_page, cv.show(path, measure="norm"), tmp_path)
    expect(page.get_by_label("Colour by")).to_have_value("norm")
    expect(page.locator(".ckv-row .ckv-bad")).to_have_text("Inf")
    page.get_by_label("Colour by").select_option("max")
    expect(page.get_by_role("columnheader", name="max")).to_be_visible()
    page.get_by_role("combobox", name="Search").fill("is:inf")
    expect(page.locator("mark.ckv-name")).to_have_text("b")

    unread = _page_of(open_page, cv.show(path), tmp_path)
    expect(unread.locator(".ckv-row").first).to_be_visible()
    expect(unread.get_by_label("Colour by")).to_have_count(0)


def test_the_sign_for_nan_has_its_place_in_the_drawing_and_in_its_file(
    open_page: OpenPage, front_end: None, tmp_path: Path
) -> None:
    import numpy as np

    names = ("a", "b")
    values = {name: np.ones((4, 3), np.float32) for name in names}
    before = name_based.write(tmp_path / "before", **values)
    values["b"] = np.full((4, 5), np.nan, np.float32)
    after = name_based.write(tmp_path / "after", **values)
    explorer = cv.show(before, against=after, measure="norm")
    explorer.view = "layers"
    page = _page_of(open_page, explorer, tmp_path)
    sign = page.locator(".ckv-drawing .ckv-bad-sign").last.bounding_box()
    words = page.locator(".ckv-drawing .ckv-beside").last.bounding_box()
    drawing = page.locator(".ckv-drawing").bounding_box()
    assert sign is not None and words is not None and drawing is not None
    assert words["x"] + words["width"] < sign["x"]
    assert sign["x"] + sign["width"] < drawing["x"] + drawing["width"]

    open_exports(page.locator(".ckpt-viz"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Drawing, SVG").click()
    download.value.save_as(tmp_path / "drawing.svg")
    tree = ElementTree.parse(tmp_path / "drawing.svg").getroot()
    scale = tree[-1]
    assert "".join(scale.itertext()) == "norm0.34643.464 (log)zero"
    fills = [one.get("fill") for one in scale.iter(f"{_SVG}rect")]
    assert len(set(fills)) == 9 == len(fills)
    page.goto((tmp_path / "drawing.svg").as_uri())
    for text in page.locator("text").all():
        box = text.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] < float(tree.get("width") or 0)
        assert box["y"] + box["height"] < float(tree.get("height") or 0)
    page.screenshot(path=SCREENSHOTS / "exported-measure.png")


def _page_of(open_page: OpenPage, explorer: cv.Explorer, directory: Path) -> Page:
    explorer.save_html(directory / "x.html")
    return open_page((directory / "x.html").read_text("utf-8"))

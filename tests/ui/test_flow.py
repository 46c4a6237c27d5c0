"""How a model flows: its branches in the drawing and in the outline, and what feeds a layer."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import ckpt_viz as cv
from ckpt_viz.graphs.render.html import to_html
from tests.support.graphs import transformer
from tests.ui.first_view import measured
from tests.ui.pages import OpenPage, choose_view, html_pages, showing_first

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    with html_pages(browser, tmp_path) as opened:
        yield opened


def _two_inputs(keras: Any) -> Any:
    """Return a model with a frozen base, a residual block, two inputs and two outputs."""
    layers = keras.layers
    photo = keras.Input((16, 16, 3), name="photo")
    image = keras.Input((16, 16, 3))
    base = keras.Model(image, layers.Conv2D(8, 3, name="stem")(image), name="base")
    base.trainable = False
    pooled = layers.GlobalAveragePooling2D(name="pool")(base(photo))
    proj = layers.Dense(12, activation="relu", name="proj")(pooled)
    inner = layers.Dense(12, name="res_out")(layers.Dense(12, name="res_in")(proj))
    added = layers.Add(name="res_add")([inner, proj])
    text = keras.Input((6,), name="text", dtype="int32")
    embedded = layers.LSTM(4, name="lstm")(layers.Embedding(50, 5, name="embed")(text))
    joined = layers.Concatenate(name="join")([added, embedded])
    topic, urgent = layers.Dense(3, name="topic"), layers.Dense(1, name="urgent")
    return keras.Model([photo, text], [topic(joined), urgent(joined)])


@pytest.fixture(params=["keras", "tf_keras"])
def page(request: pytest.FixtureRequest, open_page: OpenPage) -> Page:
    importlib.import_module("tensorflow")
    keras = importlib.import_module("keras")
    if request.param == "tf_keras":
        keras = pytest.importorskip("tf_keras")
    graph = cv.graph(_two_inputs(keras))
    viewport = {"width": 1900, "height": 900}
    return open_page(showing_first("layers", to_html(graph)), viewport=viewport)


def _outline(page: Page) -> list[str]:
    return page.locator(".ckv-row .ckv-name").all_text_contents()


def _row(page: Page, name: str) -> Any:
    return page.locator(".ckv-row").filter(has=page.get_by_text(name, exact=True))


def _boxes(page: Page) -> dict[str, tuple[float, float]]:
    """Return the left and the upper edge of each box in the drawing, by its name."""
    boxes: dict[str, tuple[float, float]] = page.locator(".ckv-drawing").evaluate(
        """(drawing) => Object.fromEntries(
            [...drawing.querySelectorAll(".ckv-node")].map((box) => {
                const { left, top } = box.querySelector(".ckv-shape").getBoundingClientRect();
                return [box.querySelector(".ckv-box-name")?.textContent, [left, top]];
            }))"""
    )
    return boxes


@pytest.mark.tf
def test_branches_are_side_by_side_and_together_in_the_outline(page: Page) -> None:
    names = _outline(page)
    order = ["photo", "base", "pool", "proj", "res_in", "res_out", "res_add", "text", "embed"]
    places = [names.index(name) for name in [*order, "lstm", "join", "topic", "urgent"]]
    assert places == sorted(places)
    boxes = _boxes(page)
    trunk = {boxes[name][0] for name in ("photo", "pool", "proj", "res_add", "join", "topic")}
    assert len(trunk) == 1
    assert {boxes[name][0] for name in ("text", "embed", "lstm")} == {boxes["urgent"][0]}
    assert boxes["urgent"][0] > boxes["topic"][0]
    assert boxes["urgent"][1] == boxes["topic"][1]
    assert boxes["res_out"][1] < boxes["lstm"][1] < boxes["join"][1]
    page.screenshot(path=SCREENSHOTS / "flow.png")


@pytest.mark.tf
def test_branches_that_have_no_space_are_one_below_the_other_with_all_words(page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 1000})
    drawing = page.locator(".ckv-drawing")
    expect(drawing.get_by_text("Embedding", exact=True)).to_be_visible()
    names = ["photo", "base", "pool", "proj", "res_in", "res_out", "res_add", "text", "embed"]
    boxes = _boxes(page)
    places = [boxes[name] for name in [*names, "lstm", "join", "topic", "urgent"]]
    assert [y for _, y in places] == sorted(y for _, y in places)
    assert len({boxes[name][0] for name in ("proj", "text", "lstm", "urgent")}) == 1
    assert measured(page).cut == 0
    page.screenshot(path=SCREENSHOTS / "flow-stacked.png")


def _gpt(keras: Any) -> Any:
    """Return a model with two residuals in each of its three blocks."""
    layers = keras.layers
    tokens = keras.Input((8,), dtype="int32", name="tokens")
    x = layers.Embedding(50, 16, name="wte")(tokens)
    for i in range(3):
        attended = layers.MultiHeadAttention(2, 8, name=f"block{i}_attn")(x, x)
        x = layers.Add(name=f"block{i}_add1")([x, attended])
        up = layers.Dense(32, name=f"block{i}_up")(x)
        x = layers.Add(name=f"block{i}_add2")([x, layers.Dense(16, name=f"block{i}_down")(up)])
    return keras.Model(tokens, layers.Dense(50, name="head")(x))


@pytest.mark.tf
def test_lines_lead_straight_into_blocks_and_to_each_of_their_layers(open_page: OpenPage) -> None:
    importlib.import_module("tensorflow")
    graph = cv.graph(_gpt(importlib.import_module("keras")))
    page = open_page(
        showing_first("layers", to_html(graph)), viewport={"width": 1500, "height": 1000}
    )
    boxes = _boxes(page)
    spine = ("tokens", "wte", "attn", "add1", "up", "down", "add2", "head")
    assert len({boxes[name][0] for name in spine}) == 1
    # What the embedding gives leads to the attention and past it, to where both are added.
    _row(page, "wte").click()
    ends = page.locator(".ckv-call.ckv-lit").evaluate(
        """(lines) => {
            const arrows = lines.getAttribute("d").split("m-3 -3").slice(0, -1);
            const numbers = (path) => path.match(/[-.0-9]+/g).map(Number);
            return arrows.map((path) => numbers(path).at(-1));
        }"""
    )
    assert len(ends) == 3  # tokens → wte, wte → attn, wte → add1
    page.screenshot(path=SCREENSHOTS / "flow-into-blocks.png")


@pytest.mark.tf
def test_a_layer_shows_what_feeds_it_and_what_it_feeds(page: Page) -> None:
    _row(page, "proj").click()
    details = page.locator(".ckv-details")
    flow = details.locator("h4", has_text="Flow").locator("xpath=following-sibling::ul[1]")
    assert [" ".join(item.split()) for item in flow.locator("li").all_inner_texts()] == [
        "input pool 8",
        "output 1 res_in 12",
        "output 2 res_add 12",
    ]
    expect(details.locator("dl").first).to_contain_text("units")
    page.screenshot(path=SCREENSHOTS / "flow-of-a-layer.png")
    flow.get_by_role("button", name="res_add").click()
    expect(page.locator(".ckv-node-name")).to_contain_text("res_add")


@pytest.mark.tf
def test_a_frozen_layer_has_a_sign_and_a_word_once(page: Page) -> None:
    expect(page.locator(".ckv-frozen")).to_have_text("❄ frozen")
    expect(_row(page, "base").locator(".ckv-frozen")).to_be_visible()
    summary = page.locator(".ckv-summary")
    expect(summary).to_contain_text("224 frozen")
    expect(summary).to_contain_text("base has trainable = False")
    expect(page.locator(".ckv-strip-frozen")).to_have_count(1)


def test_a_group_of_a_comparison_has_its_cells_in_one_line(open_page: OpenPage) -> None:
    diff = cv.diff(transformer(4), transformer(6))
    page = open_page(to_html(diff.overlay.graph, diff.overlay))
    choose_view(page.locator(".ckpt-viz"), "Graph")
    page.locator(".ckv-row.ckv-chunk").first.wait_for()
    lines = page.locator(".ckv-row.ckv-chunk").evaluate_all(
        """(rows) => rows.map((row) => {
            const tops = [...row.querySelectorAll("[role=gridcell]")]
                .map((cell) => cell.getBoundingClientRect())
                .filter(({ width }) => width > 0)
                .map(({ top, height }) => top + height / 2);
            return Math.max(...tops) - Math.min(...tops);
        })"""
    )
    assert lines and max(lines) < 2


@pytest.mark.tf
def test_layers_that_no_checkpoint_holds_are_a_dashed_box_with_their_number(
    open_page: OpenPage,
) -> None:
    keras = importlib.import_module("keras")
    if keras.__version__.startswith("2."):
        pytest.skip("TensorFlow tracks the lists of Keras 2")
    blocks = [keras.layers.Dense(2) for _ in range(3)]
    model = keras.Sequential([keras.layers.Dense(2, name="first")])
    model.parts = blocks
    for layer in (model, *blocks):
        layer.build((None, 2))
    page = open_page(showing_first("layers", to_html(cv.graph(model))))
    box = page.locator(".ckv-node.ckv-ghost")
    expect(box.locator("title")).to_have_text("parts (6 variables, in no checkpoint)")
    dashes = box.locator("path.ckv-shape").evaluate(
        "(shape) => getComputedStyle(shape).strokeDasharray"
    )
    assert dashes != "none"
    box.click()
    details = page.locator(".ckv-facts")
    expect(details.get_by_role("heading", name="parts")).to_be_visible()
    expect(details).to_contain_text("6 variables, in no checkpoint, an attribute of: (root)")
    expect(_row(page, "parts")).to_contain_text("in no checkpoint")

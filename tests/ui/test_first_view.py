"""The first view fits: no box is cut, and people can read every letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ckpt_viz import ObjectGraph
from ckpt_viz.graphs.render.html import to_html
from tests.support.graphs import graph, keras3_adam, transformer
from tests.ui.first_view import SMALLEST_LETTER, measured
from tests.ui.pages import OpenPage, html_pages, showing_first

pytestmark = pytest.mark.usefixtures("front_end")


@pytest.fixture
def pages(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    with html_pages(browser, tmp_path) as open_page:
        yield open_page


def _long_list() -> ObjectGraph:
    return graph({0: {"layer": 1}, 1: {str(i): i + 2 for i in range(300)}}, tuple(range(2, 302)))


def _long_names() -> ObjectGraph:
    """Return two models whose layers have long names, as those of MobileNetV2."""
    parts = [f"expanded_conv_depthwise_{part}_normalisation" for part in "abcdef"]
    models = {"discriminator_of_the_program": 1, "generator_of_the_program": 2}
    inner = {model: {part: 9 * model + i for i, part in enumerate(parts)} for model in (1, 2)}
    values = {id: {"kernel": id + 20} for layers in inner.values() for id in layers.values()}
    return graph({0: models, **inner, **values}, tuple(id + 20 for id in values))


@pytest.mark.parametrize("width", [1500, 1100])
@pytest.mark.parametrize(
    "shown",
    [keras3_adam(), transformer(12), transformer(1), _long_list(), _long_names()],
    ids=["adam", "blocks", "one-block", "long-list", "long-names"],
)
def test_all_boxes_are_whole_and_all_letters_large_enough(
    pages: OpenPage, shown: ObjectGraph, width: int
) -> None:
    text = showing_first("layers", to_html(shown))
    page = pages(text, viewport={"width": width, "height": 1000})
    page.locator(".ckv-drawing .ckv-node").first.wait_for()
    view = measured(page)
    assert view.rows >= 5
    assert view.ink > 0
    assert view.cut == 0
    assert view.letter >= SMALLEST_LETTER


def _large() -> ObjectGraph:
    """Return layers with long names and millions of parameters."""
    long = _long_names()
    nodes = [
        node._replace(attributes=tuple(a._replace(shape=(1234, 5678)) for a in node.attributes))
        for node in long.nodes
    ]
    return replace(long, nodes=tuple(nodes))


# The numbers in the summary that continue on another line.
_BROKEN_NUMBERS = """() => {
    const texts = document.createTreeWalker(
        document.querySelector(".ckv-summary"), NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const found = { whole: 0, broken: [] };
    while (texts.nextNode()) {
        for (const { 0: number, index } of texts.currentNode.data.matchAll(/[0-9][0-9,.]*/g)) {
            range.setStart(texts.currentNode, index);
            range.setEnd(texts.currentNode, index + number.length);
            const lines = new Set([...range.getClientRects()].map(({ top }) => top)).size;
            lines > 1 ? found.broken.push(number) : found.whole++;
        }
    }
    return found;
}"""


@pytest.mark.parametrize("width", [1500, 1100, 961])
def test_the_summary_breaks_no_number(pages: OpenPage, width: int) -> None:
    text = showing_first("layers", to_html(_large()))
    page = pages(text, viewport={"width": width, "height": 800})
    page.locator(".ckv-largest").wait_for()
    found = page.evaluate(_BROKEN_NUMBERS)
    assert found["broken"] == []
    assert found["whole"] > 8


def test_a_narrow_outline_has_short_numbers_and_whole_ones_as_titles(pages: OpenPage) -> None:
    text = showing_first("layers", to_html(_large()))
    page = pages(text, viewport={"width": 832, "height": 600})
    rows = page.locator(".ckv-outline-body [role=row]")
    cell = rows.first.locator(".ckv-cell-parameters")
    expect(cell).to_have_text("84.1 M", use_inner_text=True)
    expect(cell).to_have_attribute("title", re.compile("^84,079,824 "))
    numbers = page.locator(".ckv-short:visible")
    assert numbers.count() > 2
    assert numbers.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")
    page.set_viewport_size({"width": 1400, "height": 600})
    expect(cell).to_have_text("84,079,824", use_inner_text=True)


# The names that are cut, as the page shows them, and whole; and how far they are out of sight.
_CUT_NAMES = """() => [...document.querySelectorAll(".ckv-cut[data-short]")]
    .filter((name) => name.checkVisibility() && name.dataset.short !== " ")
    .map((name) => [name.dataset.short, name.textContent, name.scrollWidth - name.clientWidth])"""


@pytest.mark.parametrize("width", [1500, 1000])
def test_names_are_cut_in_the_middle_between_words(pages: OpenPage, width: int) -> None:
    text = showing_first("layers", to_html(_long_names()))
    page = pages(text, viewport={"width": width, "height": 1000})
    page.locator(".ckv-drawing .ckv-node").first.wait_for()
    cut = page.evaluate(_CUT_NAMES)
    assert len(cut) > 4
    for shown, whole, beyond in cut:
        first, _, last = shown.partition("…")
        assert whole.startswith(first) and whole.endswith(last)
        if "_" in last:  # more than a word
            assert re.search(r"[_ ]$", whole.removesuffix(last))
        assert whole[len(first)] in "_ ." if first else last
        assert beyond <= 0
    # The whole name is in the document, for searches and screen readers.
    assert page.locator(".ckv-name", has_text="expanded_conv_depthwise_a_normalisation").count()


def test_the_measure_finds_boxes_out_of_sight_and_small_letters(pages: OpenPage) -> None:
    text = showing_first("layers", to_html(transformer(12)))
    page = pages(text, viewport={"width": 1500, "height": 1000})
    page.locator(".ckv-drawing .ckv-node").first.wait_for()
    drawing = page.locator(".ckv-drawing")
    drawing.focus()
    for _ in range(8):
        page.keyboard.press("+")
    assert measured(page).cut > 0
    for key in "0--":  # any further away, the drawing has no letters
        page.keyboard.press(key)
    assert measured(page).letter < SMALLEST_LETTER

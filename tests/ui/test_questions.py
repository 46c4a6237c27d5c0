"""How many actions it takes to answer a question: the table in docs/explorer.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import ckpt_viz as cv
from ckpt_viz.jupyter.answers import fix_answer
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.render.html import to_html
from tests.support.fixed_check import FixedCheck
from tests.support.programs import ckpt
from tests.ui.pages import ANSWERING, html_pages, showing_first

_TABLE = Path(__file__).parents[2] / "docs" / "explorer.md"
_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end", "quiet_tensorflow")]

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a graph or a comparison in a page of its own."""
    with html_pages(browser, tmp_path) as open_page:

        def open_graph(
            graph: Graph, overlay: Overlay | None = None, check: FixedCheck | None = None
        ) -> Page:
            text, mount = to_html(graph, overlay), "explorer.render({ model,"
            if check is not None:
                model = f"answering(model, {{ error: 'no' }}, [], {check.as_javascript()})"
                text = text.replace(mount, f"{ANSWERING}explorer.render({{ model: {model},")
            text = showing_first("layers", text)
            return open_page(text, viewport={"width": 1500, "height": 800}, bypass_csp=True)

        yield open_graph


def _model(head: str) -> Any:
    """Return a model with two inputs, a frozen part and a head."""
    keras = pytest.importorskip("keras")
    pixels, words = keras.Input((8,), name="pixels"), keras.Input((4,), name="words")
    base = keras.Sequential([keras.layers.Dense(6), keras.layers.Dense(5)], name="base")
    base.trainable = False
    merged = keras.layers.Concatenate(name="concatenate")(
        [base(pixels), keras.layers.Dense(3, name="embed")(words)]
    )
    hidden = keras.layers.Dense(7, name="dense_14")(merged)
    return keras.Model([pixels, words], keras.layers.Dense(2, name=head)(hidden))


def _actions(question: str) -> int:
    """Return how many actions the documentation promises."""
    (row,) = re.findall(rf"^\| {re.escape(question)} \| (\w+)", _TABLE.read_text(), re.MULTILINE)
    return {"none": 0, "1": 1, "2": 2}[row]


def _search(page: Page, name: str) -> None:
    """Type a name into the search box, and go to the match: two actions."""
    page.get_by_role("treegrid").first.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def test_questions_about_a_model_take_as_many_actions_as_promised(opened: Open) -> None:
    page = opened(cv.graph(_model("head")))
    for question in ("What is in it?", "What is frozen?"):
        assert _actions(question) == 0
    for name in ("base", "concatenate", "dense_14", "head"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    expect(page.get_by_text("❄ frozen").first).to_be_visible()
    page.screenshot(path=_SCREENSHOTS / "questions-model.png")

    assert _actions("What feeds `concatenate`?") == _actions("How many units has `dense_14`?") == 2
    details = page.locator(".ckv-details")
    _search(page, "concatenate")
    for layer in ("base", "embed"):
        expect(details.get_by_role("button", name=layer)).to_be_visible()
    _search(page, "dense_14")
    expect(details).to_contain_text(re.compile(r"units\s*7"))


def test_questions_about_a_check_take_as_many_actions_as_promised(
    opened: Open, tmp_path: Path
) -> None:
    path = str(ckpt(model=_model("logits")).save(str(tmp_path / "ckpt")))
    check = cv.check(ckpt(net=_model("head")), path)
    answers = {"fix": fix_answer(check, check.fix(), "checkpoint")}
    page = opened(check.overlay.graph, check.overlay, FixedCheck(check.overlay, answers))
    assert _actions("Which saved layer is my `head`?") == 2
    _search(page, "head")
    line = page.locator(".ckv-line.ckv-selected")
    expect(line.locator(".ckv-side-saved .ckv-box-name")).to_have_text("logits")

    assert _actions("What goes where after the fix?") == 1
    page.get_by_role("treegrid").first.press("x")
    expect(page.locator(".ckv-fix h3")).to_contain_text("Restores all")
    expect(line.locator(".ckv-between")).to_contain_text(re.compile("certain|likely"))
    page.screenshot(path=_SCREENSHOTS / "questions-check.png")

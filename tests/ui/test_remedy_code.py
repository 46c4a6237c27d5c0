"""The code of a remedy in a page: it is there once, whole, and breaks between its parts only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ckpt_viz.graphs.object_graph.graph import Origin
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.overlay.remedy import Code
from ckpt_viz.graphs.render.html import to_html
from tests.support.payload_fixtures import overlays
from tests.ui.pages import ANSWERING, choose_view, html_pages
from tests.ui.tables import line

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_CODE = (
    "tf.train.Checkpoint(live.trainer.network, encoder=live.trainer.network.inner.encoder, "
    "**{'layer-0': tf.train.Checkpoint(w=live.trainer.network.inner.first.weights)}).restore(path)"
)
_LONG_NAME = f"tf.train.Checkpoint({'a' * 120}=live.b).restore(path)"
# The pairs of characters between which the code goes on in the next line.
_BREAKS = """pre => {
  const range = document.createRange();
  const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const found = [];
  let last = null;
  while (texts.nextNode()) {
    const text = texts.currentNode;
    for (let place = 0; place < text.length; place++) {
      range.setStart(text, place);
      range.setEnd(text, place + 1);
      const { bottom } = range.getBoundingClientRect();
      const sign = text.data[place];
      if (last !== null && sign !== " " && bottom > last.bottom + 2) {
        found.push(last.sign + sign);
      }
      last = { bottom, sign };
    }
  }
  return found;
}"""

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a check whose second problem has some code as its remedy."""
    with html_pages(browser, tmp_path) as open_page:

        def open_check(code: str, width: int = 1500, **options: Any) -> Page:
            overlay = _with_code(overlays()["check"], code)
            html = to_html(overlay.graph, overlay).replace(
                "explorer.render({ model,",
                f"{ANSWERING}explorer.render({{ model: answering(model, {{ error: 'no' }}, []),",
            )
            viewport = {"width": width, "height": 800}
            return open_page(html, viewport=viewport, **{"bypass_csp": True, **options})

        yield open_check


def _with_code(overlay: Overlay, code: str) -> Overlay:
    first, second, *rest = overlay.problems
    live = replace(overlay.graph, origin=Origin.LIVE)
    return replace(overlay, graph=live, problems=(first, replace(second, remedy=Code(code)), *rest))


def _remedy(page: Page) -> Locator:
    """Select the problem with the code, and return what to do about it."""
    line(page, "aux").click()
    _open_tab(page, "Details")
    return page.locator(".ckv-problem-text")


def _open_tab(page: Page, name: str) -> None:
    tab = page.get_by_role("tab", name=name)
    if tab.is_visible():
        tab.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1500, 1100, 700, 340])
def test_code_breaks_between_its_parts(opened: Open, width: int, scheme: str) -> None:
    page = opened(_CODE, width, color_scheme=scheme)
    remedy = _remedy(page)
    remedy.scroll_into_view_if_needed()
    page.screenshot(path=_SCREENSHOTS / f"remedy-code-{width}-{scheme}.png")
    expect(page.locator(".ckv-problem-text")).to_contain_text(
        "Run the code below, where live is the checked object and path is the checkpoint's path."
    )
    code = remedy.locator("pre")
    expect(code).to_have_text(_CODE)
    breaks = code.evaluate(_BREAKS)
    assert breaks or width > 1100
    assert all(re.fullmatch(r"[ ,([{/].|.\.", signs) for signs in breaks), breaks
    assert code.evaluate("pre => pre.scrollWidth <= pre.clientWidth")
    expect(remedy.get_by_role("button")).to_have_count(1)  # copies the code


def test_a_name_that_is_too_wide_scrolls_by_keys(opened: Open) -> None:
    code = _remedy(opened(_LONG_NAME, 700)).locator("pre")
    expect(code).to_have_text(_LONG_NAME)
    assert all("aa" not in signs for signs in code.evaluate(_BREAKS))
    assert code.evaluate("pre => pre.scrollWidth > pre.clientWidth")
    for _ in range(3):
        code.press("ArrowRight")  # selects no other node
    expect(code).to_be_focused()
    assert code.evaluate("pre => pre.scrollLeft") > 0


def test_code_is_selected_and_copied_as_it_is(opened: Open) -> None:
    page = opened(_CODE, 700, permissions=["clipboard-read", "clipboard-write"])
    remedy = _remedy(page)
    remedy.locator("pre").click(click_count=3)
    assert page.evaluate("String(getSelection()).trim()") == _CODE
    page.get_by_role("button", name="Copy the code").click()
    expect(remedy).to_contain_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == _CODE


def test_the_object_graph_leads_to_the_code(opened: Open) -> None:
    page = opened(_CODE)
    _remedy(page)
    choose_view(page.locator(".ckpt-viz"), "Object graph")
    problem = page.locator(".ckv-details .ckv-problem-text").filter(has_text="Run the code below")
    expect(problem.locator("pre")).to_have_text(_CODE)
    page.screenshot(path=_SCREENSHOTS / "remedy-code-objects.png")

"""The picture of a fix in a page: its lines, words and code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ckpt_viz.render.html import to_html
from tests.support.fixed_check import FixedCheck, every_kind, named_items_exchanged, of_many
from tests.ui.pages import ANSWERING, html_pages
from tests.ui.test_two_sides import CUT

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a check in a page with a kernel, and presses *Fix*."""
    with html_pages(browser, tmp_path) as open_page:

        def open_check(check: FixedCheck, width: int = 1500, **options: Any) -> Page:
            mount = "explorer.render({ model,"
            html = to_html(check.overlay.graph, check.overlay)
            assert html.count(mount) == 1
            model = f"answering(model, {{ error: 'no' }}, [], {check.as_javascript()})"
            page = open_page(
                html.replace(mount, f"{ANSWERING}explorer.render({{ model: {model},"),
                viewport={"width": width, "height": 800},
                **{"bypass_csp": True, **options},
            )
            page.get_by_role("button", name="Fix", exact=True).click()
            return page

        yield open_check


def _line(page: Page, name: str) -> Locator:
    named = page.locator(".ckv-box-name").get_by_text(name, exact=True)
    return page.locator(".ckv-line").filter(has=named)


def _open_tab(page: Page, name: str) -> None:
    tab = page.get_by_role("tab", name=name)
    if tab.is_visible():
        tab.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1500, 1100, 900, 700])
def test_no_word_is_cut(opened: Open, width: int, scheme: str) -> None:
    page = opened(every_kind(), width, color_scheme=scheme)
    expect(page.locator(".ckv-fix h3")).to_contain_text("Restores 3 of")
    page.screenshot(path=_SCREENSHOTS / f"fix-pane-{width}-{scheme}.png")
    _open_tab(page, "Two sides")
    expect(page.locator(".ckv-line").first).to_be_visible()
    page.screenshot(path=_SCREENSHOTS / f"fix-lines-{width}-{scheme}.png")
    # The title gives way to the buttons of a page with a kernel.
    assert [words for words in page.evaluate(CUT) if not words.startswith("ckv-title")] == []
    sizes = """() => [...document.querySelectorAll(".ckv-sides *, .ckv-fix *")]
        .map(element => parseFloat(getComputedStyle(element).fontSize))"""
    assert min(page.evaluate(sizes)) >= 11


def test_certainties_differ_in_word_and_line(opened: Open) -> None:
    page = opened(every_kind())
    between = _line(page, "1").locator(".ckv-between")
    expect(between).to_contain_text("a guess")
    style = "element => getComputedStyle(element, '::before').borderTopStyle"
    assert between.evaluate(style) == "dotted"
    likely = _line(page, "encoder").locator(".ckv-between")
    expect(likely).to_contain_text("likely")
    expect(likely).to_contain_text("the full names of their variables agree")
    assert likely.evaluate(style) == "dashed"
    expect(page.locator(".ckv-moves")).to_have_count(0)
    expect(page.locator(".ckv-fix")).to_contain_text("The code leaves guesses out")


def test_the_line_of_a_certain_pair_is_solid(opened: Open) -> None:
    page = opened(named_items_exchanged())
    expect(page.locator(".ckv-fix h3")).to_contain_text("Restores all 2 values")
    between = page.locator(".ckv-stroke-restored > .ckv-between").filter(has_text="certain")
    assert between.first.evaluate("e => getComputedStyle(e, '::before').borderTopStyle") == "solid"


def test_the_key_shows_and_hides_the_fix(opened: Open) -> None:
    page = opened(every_kind())
    expect(page.locator(".ckv-code")).to_be_visible()
    page.get_by_role("treegrid").press("x")
    expect(page.locator(".ckv-fix")).to_have_count(0)
    expect(page.locator(".ckv-ribbon")).to_be_visible()
    page.get_by_role("treegrid").press("x")
    expect(page.locator(".ckv-code")).to_be_visible()


def test_the_fix_is_still_there_after_its_check(opened: Open) -> None:
    page = opened(every_kind())
    page.get_by_role("button", name="Show the check after it").click()
    tag = page.get_by_text("after the fix", exact=True)
    expect(tag).to_be_visible()
    expect(page.locator(".ckv-fix")).to_have_count(0)
    back = page.get_by_role("button", name="Back to the check")
    expect(back).to_be_focused()
    page.get_by_role("treegrid").press("ArrowDown")  # it has its own selection
    expect(page.locator(".ckv-node-name")).to_be_visible()
    back.click()
    expect(page.get_by_role("button", name="Fix", exact=True)).to_be_focused()
    expect(tag).to_have_count(0)
    expect(page.locator(".ckv-code")).to_be_visible()
    expect(page.locator(".ckv-node-name")).to_have_count(0)


def test_long_code_is_cut_in_the_page_and_whole_in_the_clipboard(opened: Open) -> None:
    check = of_many(3_000)
    code = check.answers["fix"][0]["fix"]["code"]
    assert code.count("\n") > 3_000
    page = opened(check, permissions=["clipboard-read", "clipboard-write"])
    shown = page.locator(".ckv-code > pre")
    expect(shown).to_be_visible(timeout=20_000)
    assert shown.inner_text().count("\n") < 300
    expect(page.locator(".ckv-code")).to_contain_text(re.compile(r"… and 2,\d+ more lines"))
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator(".ckv-code")).to_contain_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == code


def test_an_error_of_the_kernel_is_a_sentence(opened: Open) -> None:
    check = every_kind()
    failing = FixedCheck(check.overlay, {"fix": ({"error": "x: the file\u202e is gone"}, [])})
    page = opened(failing)
    expect(page.locator(".ckv-fix")).to_have_text("x: the file\\u202e is gone")
    broken = FixedCheck(check.overlay, {"fix": (check.answers["fix"][0], [b"123"])})
    expect(opened(broken).locator(".ckv-fix")).to_contain_text("a fix that this page cannot read")

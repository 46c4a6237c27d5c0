"""JupyterLab in the browser: its notebook runs, in a real Chromium, and nothing leaves the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect

from tests.support.site import built_try, served
from tests.ui.pages import EXPECT_MS, choose_view

pytestmark = [pytest.mark.more, pytest.mark.slow, pytest.mark.usefixtures("front_end")]

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
KERNEL_MS = 120_000  # in which a kernel starts on a busy machine


class Visitor:
    """A browser that was never there, with all that it asked of other sites and complained of."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        self._origin = origin
        self._context = browser.new_context(
            viewport={"width": 1500, "height": 1000}, reduced_motion="reduce"
        )
        self._context.on("request", self._note_request)
        self._context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self._context.on("console", self._note_message)
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(KERNEL_MS)

    def close(self) -> None:
        self._context.close()

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._origin}/", "blob:", "data:")):
            self.foreign.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    """A visitor on the site's folder `try/`, who waits until the kernel has run the cells."""
    expect.set_options(timeout=KERNEL_MS)
    with served(built_try()) as origin:
        visitor = Visitor(browser, origin)
        visitor.page.goto(f"{origin}/any%20folder/page/try/")
        yield visitor
        visitor.close()
    expect.set_options(timeout=EXPECT_MS)


def test_a_notebook_runs_and_nothing_leaves_the_site(visitor: Visitor) -> None:
    """One test, because each one would start a kernel of its own."""
    page = visitor.page
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    see_values(page)
    see_that_results_are_those_of_the_files(page)
    play_a_check(page)
    look_for_what_is_not_there(page)
    assert visitor.complaints == []
    write_a_copy_and_install_nothing(page)
    assert visitor.foreign == []


def see_values(page: Page) -> None:
    explorer = output(page, 'cv.show("guide/ckpt-1")')
    choose_view(explorer, "Object graph")
    explorer.get_by_role("treegrid").locator("text=kernel").first.click()
    explorer.get_by_text("Show values").click()
    expect(explorer.get_by_label("Histogram")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "try-explorer.png")


def see_that_results_are_those_of_the_files(page: Page) -> None:
    expect(output(page, "graph.read(")).to_contain_text("array([-0.24, -0.65")
    expect(output(page, "cv.diff(")).to_contain_text("common values have other numbers.")
    expect(output(page, "cv.history(")).to_contain_text("8 checkpoints")
    expect(output(page, "print(cv.check(")).to_contain_text("All asserts pass.")


def play_a_check(page: Page) -> None:
    check = output(page, "cv.show(check)")
    expect(check).to_contain_text("assert_consumed() and")
    check.get_by_role("button", name="Step by step").click()
    expect(check.locator(".ckv-play")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "try-check.png")


def look_for_what_is_not_there(page: Page) -> None:
    """Nothing offers what needs a server or TensorFlow."""
    expect(page.get_by_role("tab", name="Live TensorFlow Objects")).to_have_count(0)
    page.locator(".jp-DirListing-item", has_text="renamed").click(button="right")
    menu = page.locator(".lm-Menu")
    expect(menu.get_by_text("Rename", exact=True)).to_be_visible()
    expect(menu.get_by_text("Checkpoint")).to_have_count(0)
    page.keyboard.press("Escape")


def write_a_copy_and_install_nothing(page: Page) -> None:
    for code, shown in (
        ('renamed.write("renamed/copy")', "'renamed/copy'"),
        ('cv.graph("renamed/copy")', "13 nodes"),
        ('get_ipython().complete("cv.averag")', "['.average']"),
        ("%pip install keras", "no other packages to install"),
    ):
        page.locator(".jp-Notebook-footer").click()
        page.locator(".jp-CodeCell .cm-content").last.click()
        page.keyboard.type(code)
        page.keyboard.press("Shift+Enter")
        expect(page.locator(".jp-OutputArea-output", has_text=shown).first).to_be_visible()


def output(page: Page, code: str) -> Locator:
    """Return what the cell with this code shows, in sight."""
    cell = page.locator(".jp-CodeCell").filter(has=page.locator(".cm-content", has_text=code))
    shown = cell.locator(".jp-OutputArea-output").last
    shown.scroll_into_view_if_needed()
    return shown

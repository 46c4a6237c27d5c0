"""The site in a real Chromium: explorers live in its pages, and it explains a pasted error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, Route, expect

from tests.support.matrices import at_night
from tests.support.once import ROOT
from tests.support.site import built_site, served
from tests.ui.pages import choose_view, lent_pages

# The build runs the notebooks, and takes the front end that it finds.
pytestmark = [
    *(pytest.mark.tf, pytest.mark.slow, pytest.mark.more),
    pytest.mark.usefixtures("front_end"),
]

SCREENSHOTS = ROOT / "tests/screenshots"
SHAPE = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 12, in <module>\n'
    "    ckpt.restore(path)\n"
    "ValueError: Received incompatible tensor with shape (3, 2) when attempting to restore "
    "variable with shape (3, 5) and name dense/kernel:0."
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a server of files serves the site."""
    with served(built_site()) as address:
        yield address


class Reader:
    """A page of the site, with all that it printed and asked of other sites."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self._address = address
        page.on("console", self._note_message)
        page.on("pageerror", self._note_error)
        page.route("**/*", self._stay)

    def _note_message(self, message: ConsoleMessage) -> None:
        self.complaints.append(message.text)

    def _note_error(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _stay(self, route: Route, request: Request) -> None:
        if request.url.startswith((self._address, "data:", "blob:")):
            route.continue_()
        else:
            self.foreign.append(request.url)
            route.abort()

    def read(self, path: str) -> Page:
        self.page.goto(f"{self._address}/{path}")
        return self.page

    def leave(self) -> None:
        """Leave the page as it was lent."""
        self.page.remove_listener("console", self._note_message)
        self.page.remove_listener("pageerror", self._note_error)

    def keep_picture(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"site-{name}.png")

    def check_quiet(self) -> None:
        assert self.complaints == []
        assert self.foreign == []


LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1500, "light"), (700, "dark"))


@contextmanager
def _reading(browser: Browser, address: str, width: int, scheme: str) -> Iterator[Reader]:
    with lent_pages(browser) as lend:
        page = lend(viewport={"width": width, "height": 1000}, color_scheme=scheme)
        reader = Reader(page, address)
        yield reader
        reader.leave()


@pytest.fixture(params=[pytest.param(look, id="-".join(map(str, look))) for look in LOOKS])
def reader(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Reader]:
    with _reading(browser, address, *request.param) as reader:
        yield reader


@pytest.fixture
def wide(browser: Browser, address: str) -> Iterator[Reader]:
    with _reading(browser, address, *LOOKS[0]) as reader:
        yield reader


PAGES = (
    *("docs/index", "docs/errors", "docs/gallery", "docs/api/functions", "README"),
    "notebooks/quickstart",
)
_MORE_PAGES = (
    *("docs/restore_check", "CONTRIBUTING", "notebooks/training_history"),
    "notebooks/course/5_why_it_does_not_fit",
)


@pytest.mark.parametrize("name", [*PAGES, *(_MORE_PAGES if at_night() else ())])
def test_a_page_fits_and_follows_the_system(wide: Reader, name: str) -> None:
    page = wide.read(f"{name}.html")
    page.wait_for_load_state("load")
    overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(overhang) == 0
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(17, 17, 17)" if scheme == "dark" else "rgb(255, 255, 255)")
        assert page.evaluate("getComputedStyle(document.body).colorScheme") == scheme
        wide.keep_picture(f"{name.replace('/', '-')}-{scheme}")
    wide.check_quiet()


def test_an_explorer_is_a_picture_until_a_reader_is_near_it(reader: Reader) -> None:
    page = reader.read("notebooks/course/5_why_it_does_not_fit.html")
    stored = page.locator(".stored-explorer")
    last = stored.last
    expect(last.locator(".picture img")).to_have_count(1)
    expect(last.locator(".ckpt-viz")).to_have_count(0)
    before = last.bounding_box()
    last.scroll_into_view_if_needed()
    expect(last.locator(".ckpt-viz [role=treegrid]").first).to_be_attached()
    expect(last.locator(".picture")).to_have_count(0)
    now = last.bounding_box()
    assert before is not None and now is not None
    assert now["height"] == before["height"]  # nothing moves under the reader's eyes
    reader.check_quiet()


def test_a_click_on_a_row_selects_its_node(wide: Reader) -> None:
    lesson = "notebooks/course/1_what_is_in_a_checkpoint.html"
    first = wide.read(lesson).locator(".stored-explorer").first
    first.scroll_into_view_if_needed()
    row = first.get_by_role("row", name="optimizer").first
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    choose_view(first, "TensorFlow's guide")
    expect(first.locator(".ckv-textbook svg, svg").first).to_be_visible()
    wide.keep_picture("living-explorer")
    wide.check_quiet()


def test_a_check_in_a_page_plays_its_restore(wide: Reader) -> None:
    check = wide.read("notebooks/quickstart.html").locator(".stored-explorer").last
    check.scroll_into_view_if_needed()
    check.get_by_role("button", name="Step by step").click()
    expect(check.locator(".ckv-play")).to_be_visible()
    wide.keep_picture("check-plays")
    wide.check_quiet()


def test_from_the_start_to_the_answer_are_two_actions(reader: Reader) -> None:
    page = reader.read("docs/index.html")
    page.get_by_label("Paste an error message").fill(SHAPE)
    page.get_by_role("button", name="Explain").click()
    answer = page.locator(".answers > section")
    expect(answer).to_have_count(1)
    expect(answer).to_contain_text("A saved value has another shape than the variable")
    expect(answer).to_be_in_viewport()
    reader.keep_picture("answer")
    reader.check_quiet()


def test_a_paste_leads_to_the_answer_at_once(wide: Reader) -> None:
    page = wide.read("docs/index.html")
    page.get_by_label("Paste an error message").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('paste')); }", SHAPE
    )
    expect(page.locator(".answers > section")).to_contain_text("another shape than the variable")
    assert "/docs/errors.html#paste=" in page.url


def test_an_unknown_text_gets_no_wrong_answer(wide: Reader) -> None:
    page = wide.read("docs/errors.html#paste=ZeroDivisionError%3A%20division%20by%20zero")
    expect(page.get_by_text("This page does not know the text.")).to_be_visible()
    expect(page.locator(".fits-none")).to_contain_text("%load_ext ckpt_viz")
    expect(page.locator(".answers > section")).to_have_count(0)
    page.get_by_label("Paste an error message").fill(SHAPE)
    expect(page.locator(".answers > section")).to_have_count(1)
    expect(page.get_by_text("This page does not know the text.")).to_be_hidden()
    page.get_by_label("Paste an error message").fill("")
    expect(page.locator(".answers > section")).to_have_count(0)
    wide.check_quiet()


def test_a_text_with_markup_stays_a_text(wide: Reader) -> None:
    page = wide.read("docs/errors.html#paste=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%E0%A4%A")
    expect(page.locator(".fits-none")).to_be_visible()
    expect(page.locator(".paste-box img")).to_have_count(0)
    wide.check_quiet()


def test_the_search_finds_a_page(wide: Reader) -> None:
    page = wide.read("search.html?q=iterator")
    expect(page.locator("ul.search li").first).to_be_visible()
    wide.check_quiet()

"""The site in a real Chromium: explorers live in its pages, and it explains a pasted error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, expect

from tests.support.once import ROOT
from tests.support.site import built_site, served

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

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self._address = address
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._stay)

    def _stay(self, route: Route, request: Request) -> None:
        if request.url.startswith((self._address, "data:", "blob:")):
            route.continue_()
        else:
            self.foreign.append(request.url)
            route.abort()

    def read(self, path: str) -> Page:
        self.page.goto(f"{self._address}/{path}")
        return self.page

    def keep_picture(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"site-{name}.png")

    def check_quiet(self) -> None:
        assert self.complaints == []
        assert self.foreign == []


@pytest.fixture(
    params=[
        pytest.param((1500, "light"), id="wide-light"),
        pytest.param((700, "dark"), id="narrow-dark", marks=pytest.mark.more),
    ]
)
def reader(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Reader]:
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 1000}, color_scheme=scheme, reduced_motion="reduce"
    )
    yield Reader(context, address)
    context.close()


@pytest.fixture
def wide(browser: Browser, address: str) -> Iterator[Reader]:
    context = browser.new_context(viewport={"width": 1500, "height": 1000}, reduced_motion="reduce")
    yield Reader(context, address)
    context.close()


PAGES = (
    *("docs/index", "docs/errors", "docs/gallery", "docs/restore_check", "README", "CONTRIBUTING"),
    *("notebooks/quickstart", "notebooks/training_history"),
    "notebooks/course/5_why_it_does_not_fit",
)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_follows_the_system(reader: Reader, name: str) -> None:
    page = reader.read(f"{name}.html")
    page.wait_for_load_state("load")
    overhang = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overhang) == 0
    scheme = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(17, 17, 17)" if scheme else "rgb(255, 255, 255)")
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == (
        "dark" if scheme else "light"
    )
    reader.keep_picture(f"{name.replace('/', '-')}-{'dark' if scheme else 'light'}")
    reader.check_quiet()


def test_an_explorer_is_a_picture_until_a_reader_is_near_it(reader: Reader) -> None:
    page = reader.read("notebooks/quickstart.html")
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
    first = wide.read("notebooks/quickstart.html").locator(".stored-explorer").first
    first.scroll_into_view_if_needed()
    row = first.get_by_role("row", name="optimizer").first
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    first.get_by_role("button", name="TensorFlow's guide").click()
    expect(first.locator(".ckv-textbook svg, svg").first).to_be_visible()
    wide.keep_picture("living-explorer")
    wide.check_quiet()


def test_a_check_in_a_page_plays_its_restore(wide: Reader) -> None:
    check = wide.read("notebooks/quickstart.html").locator(".stored-explorer").last
    check.scroll_into_view_if_needed()
    check.get_by_role("button", name="Play", exact=True).click()
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


def test_a_paste_leads_to_the_answer_at_once(reader: Reader) -> None:
    page = reader.read("docs/index.html")
    page.get_by_label("Paste an error message").evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('paste')); }", SHAPE
    )
    expect(page.locator(".answers > section")).to_contain_text("another shape than the variable")
    assert "/docs/errors.html#paste=" in page.url


def test_an_unknown_text_gets_no_wrong_answer(reader: Reader) -> None:
    page = reader.read("docs/errors.html#paste=ZeroDivisionError%3A%20division%20by%20zero")
    expect(page.get_by_text("This page does not know the text.")).to_be_visible()
    expect(page.locator(".fits-none")).to_contain_text("%load_ext ckpt_viz")
    expect(page.locator(".answers > section")).to_have_count(0)
    page.get_by_label("Paste an error message").fill(SHAPE)
    expect(page.locator(".answers > section")).to_have_count(1)
    expect(page.get_by_text("This page does not know the text.")).to_be_hidden()
    page.get_by_label("Paste an error message").fill("")
    expect(page.locator(".answers > section")).to_have_count(0)
    reader.check_quiet()


def test_a_text_with_markup_stays_a_text(reader: Reader) -> None:
    page = reader.read("docs/errors.html#paste=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%E0%A4%A")
    expect(page.locator(".fits-none")).to_be_visible()
    expect(page.locator(".paste-box img")).to_have_count(0)
    reader.check_quiet()


def test_the_search_finds_a_page(reader: Reader) -> None:
    page = reader.read("search.html?q=iterator")
    expect(page.locator("ul.search li").first).to_be_visible()
    reader.check_quiet()

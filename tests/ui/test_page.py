"""The page that opens checkpoints in a browser, with its engine, in a real Chromium."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.hostile.seeds import DIRECTORY
from tests.support.site import built_page
from tests.support.tables import FLOAT32, floats, raw, shape, write_bundle
from tests.test_web import EXAMPLES, KERAS
from tests.ui.pages import EXPECT_MS

pytestmark = [pytest.mark.ui, pytest.mark.more]

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
ENGINE_MS = 90_000  # in which the engine starts on a busy machine
WITHOUT_STORAGE = (
    "Object.defineProperty(navigator, 'serviceWorker', {get() { throw Error('denied') }})"
)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    # The names of files that someone has changed.
    changed: ClassVar[set[str]] = set()
    # Files that come later, each with what they wait for.
    late: ClassVar[dict[str, threading.Event]] = {}

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        if name in self.late:
            self.late[name].wait()
        if name in self.changed:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"others")
        else:
            with suppress(ConnectionError):  # of a browser that has been closed meanwhile
                super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """What a page shows may have to wait for the engine."""
    expect.set_options(timeout=ENGINE_MS)
    yield
    expect.set_options(timeout=EXPECT_MS)


@pytest.fixture(scope="module")
def site(front_end: None) -> Iterator[str]:
    """The address of the page, in a folder of a server that knows nothing of it."""
    handler = functools.partial(_Quiet, directory=str(built_page()))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/any%20folder/page/"
        server.shutdown()


class Visitor:
    """Opens the page in browsers that were never there; `strangers` keeps what left the site."""

    def __init__(self, browser: Browser, site: str) -> None:
        self.strangers: list[str] = []
        self._browser = browser
        self._site = site
        self._contexts: list[BrowserContext] = []

    def open(self, hash: str = "", *, has_engine: bool = True, script: str = "") -> Page:
        """Open the page in a new browser; without an engine, Python cannot come."""
        size: ViewportSize = {"width": 1500, "height": 1000}
        context = self._browser.new_context(viewport=size, reduced_motion="reduce")
        self._contexts.append(context)
        context.on("request", lambda request: self._note(request.url))
        page = context.new_page()
        page.set_default_timeout(ENGINE_MS)
        if not has_engine:
            page.route("**/engine/**", lambda route: route.abort())
        if script or not has_engine:
            page.add_init_script(script or WITHOUT_STORAGE)
        return self.read(page, hash)

    def read(self, page: Page, hash: str = "") -> Page:
        """Open the page's address, and wait for its example."""
        page.goto(self._site + hash)
        page.locator(".ckp-stage [role=treegrid]").wait_for()
        return page

    def leave(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, url: str) -> None:
        if not url.startswith((self._site, "blob:", "data:")):
            self.strangers.append(url)


@pytest.fixture
def visitor(browser: Browser, site: str) -> Iterator[Visitor]:
    """Opens the page anew; fails if something leaves the site."""
    visitor = Visitor(browser, site)
    yield visitor
    visitor.leave()
    assert visitor.strangers == []


@pytest.fixture(scope="module")
def guest(browser: Browser, site: str) -> Iterator[Visitor]:
    """Keeps a page open for tests that need not see how it opens: its engine takes seconds."""
    visitor = Visitor(browser, site)
    yield visitor
    visitor.leave()


@pytest.fixture(scope="module")
def open_pages() -> list[Page]:
    """The page of the guest, once there is one."""
    return []


@pytest.fixture
def page(guest: Visitor, open_pages: list[Page]) -> Iterator[Page]:
    """The page as it is after its opening; fails if something leaves the site."""
    if not open_pages:
        open_pages.append(guest.open())
    page = open_pages.pop()
    yield page
    assert guest.strangers == []
    back_to_start(page)
    open_pages.append(page)  # unless it did not come back: then the next test gets a new one


def back_to_start(page: Page) -> None:
    """Close what is open, and show the example that a new page shows."""
    for closes in page.get_by_role("button", name="close", exact=True).all()[::-1]:
        closes.click()
    page.locator(".ckp-start h2").first.click()  # so that no field has the keys
    page.keyboard.press("1")
    expect(page.locator("[data-example=guide]")).to_have_attribute("aria-current", "true")
    expect(page.locator(".ckp-notice")).to_have_count(0)
    page.locator(".ckp-stage [role=treegrid]").wait_for()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoints of the examples, and files of Keras."""
    directory = tmp_path_factory.mktemp("dropped")
    for archive in (EXAMPLES / "examples.zip", KERAS):
        with ZipFile(archive) as opened:
            opened.extractall(directory)
    return directory


def drop(page: Page, *paths: Path, zone: str = ".ckp-first") -> None:
    """Give files to the dialog of a zone, as a person chooses them there."""
    page.locator(f"{zone} input").first.set_input_files([*paths])
    page.locator(".ckp-status").wait_for(state="detached")


def _choose_in_place(page: Page, files: Iterable[Path]) -> None:
    """Give files that the browser reads where they are: Playwright sends copies of small ones."""
    page.evaluate("chosen = document.querySelector('.ckp-first input')")
    session = page.context.new_cdp_session(page)
    chosen = session.send("Runtime.evaluate", {"expression": "chosen"})["result"]["objectId"]
    session.send("DOM.setFileInputFiles", {"files": [*map(str, files)], "objectId": chosen})


def strip_and_stage(page: Page) -> None:
    page.locator(".ckp-strip").wait_for()
    page.locator(".ckp-stage [role=treegrid]").wait_for()


def show_values(page: Page) -> None:
    """Show the values of the selected variable: their statistics, with a histogram."""
    page.get_by_text("Show values").click()
    expect(page.get_by_label("Histogram")).to_be_visible()


def test_an_empty_browser_shows_an_example_before_python_runs(visitor: Visitor) -> None:
    page = visitor.open(has_engine=False)
    expect(page.locator(".ckp-cards button")).to_have_count(8)
    expect(page.locator("[data-example=guide]")).to_have_attribute("aria-current", "true")
    page.locator(".ckp-stage >> text=kernel").first.click()
    assert "select=" in page.url
    page.screenshot(path=SCREENSHOTS / "page-start.png")


def test_an_example_has_values(page: Page) -> None:
    page.locator(".ckp-stage >> text=kernel").first.click()
    show_values(page)


def test_drop_search_values_export(page: Page, files: Path) -> None:
    drop(page, *(files / "gan").iterdir())
    strip_and_stage(page)
    expect(page.locator(".ckp-strip")).to_contain_text("2 files, 1.2 MB")
    view = page.locator(".ckp-stage .ckpt-viz")
    view.locator("input[type=search]").fill("role:slot kernel")
    expect(view).to_contain_text("8 matches")
    view.get_by_label("Colour by").select_option("norm")
    expect(view.locator(".ckv-level-8, .ckv-unmeasured").first).to_be_visible()
    view.locator(".ckv-toolbar > .ckv-menu > summary").click()
    view.locator("summary:visible").get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        view.get_by_role("button", name="HTML").click()
    assert Path(download.value.path()).read_bytes().startswith(b"<!DOCTYPE html>")
    page.screenshot(path=SCREENSHOTS / "page-open.png")


def test_two_are_compared_checked_and_played(page: Page, files: Path) -> None:
    renamed = files / "renamed"
    drop(page, *renamed.glob("before*"), zone="[data-zone=before]")
    strip_and_stage(page)
    drop(page, *renamed.glob("after*"), zone="[data-zone=after]")
    expect(page.locator(".ckp-ways")).to_be_visible()
    expect(page.locator(".ckp-stage")).to_contain_text("only in")
    page.get_by_role("button", name="What a restore would do").click()
    expect(page.locator(".ckp-stage")).to_contain_text("assert_consumed() and")
    page.get_by_role("button", name="Step by step").click()
    expect(page.locator(".ckv-play")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "page-played.png")


def test_two_sides_that_close_at_once_lead_to_the_start(page: Page, files: Path) -> None:
    for zone in ("before", "after"):
        drop(page, *(files / "renamed").glob(f"{zone}*"), zone=f"[data-zone={zone}]")
        strip_and_stage(page)
    expect(page.get_by_role("button", name="close", exact=True)).to_have_count(2)
    page.evaluate(
        """() => {
            for (const closes of [...document.querySelectorAll(".ckp-side > button")].reverse()) {
                closes.click();
            }
        }"""
    )
    expect(page.locator(".ckp-start")).to_be_visible()


def test_a_folder_opens_its_newest_checkpoint_and_shows_a_history(page: Page, files: Path) -> None:
    page.locator(".ckp-first input").nth(1).set_input_files(files / "training")
    strip_and_stage(page)
    choice = page.get_by_label("Checkpoint")
    expect(choice).to_have_value("training/ckpt-8")
    choice.select_option("training/ckpt-3")
    expect(page.locator(".ckp-stage")).to_contain_text("training/ckpt-3")
    page.get_by_role("button", name="History of 8 checkpoints").click()
    expect(page.locator(".ckpt-viz-timeline")).to_contain_text("step 7,000")
    page.screenshot(path=SCREENSHOTS / "page-history.png")


def test_files_of_keras_open_and_a_restore_is_rehearsed(page: Page, files: Path) -> None:
    page.locator(".ckp-first input").nth(1).set_input_files(DIRECTORY / "orbax_keras")
    strip_and_stage(page)
    expect(page.locator(".ckp-stage")).to_contain_text("kernel")
    page.get_by_role("button", name="close").click()
    for name in ("model.keras", "model.h5", "model.weights.h5"):
        drop(page, files / name)
        strip_and_stage(page)
        expect(page.locator(".ckp-stage")).to_contain_text(name)
        expect(page.get_by_role("button", name="Rehearse a restore")).to_have_count(0)
        page.get_by_role("button", name="close").click()
    drop(page, *(files / "renamed").glob("before*"))
    strip_and_stage(page)
    page.get_by_role("button", name="Rehearse a restore").click()
    expect(page.locator(".ckp-stage")).to_contain_text("All asserts pass")
    page.get_by_role("button", name="What if…").click()
    page.get_by_text("Back to the checkpoint").click()
    title = page.locator(".ckp-stage .ckv-title")
    expect(title).to_have_attribute("title", re.compile("saved checkpoint"))


def test_numbers_that_numpy_has_no_dtype_for_are_shown_and_compared(
    page: Page, tmp_path: Path
) -> None:
    """The engine has no ml_dtypes."""
    for name, numbers in (("before", b"\xcd\x3d\x80\x7f"), ("after", b"\xcd\x3d\x00\x40")):
        tensors = {"half": raw(14, shape(2), numbers), "eighth": raw(25, shape(1), b"\x1d")}
        write_bundle(tmp_path / name, tensors)
    drop(page, *tmp_path.glob("before*"), zone="[data-zone=before]")
    strip_and_stage(page)
    page.locator(".ckp-stage [role=row] >> text=half").first.click()
    show_values(page)
    expect(page.locator(".ckp-stage")).to_contain_text("bfloat16")
    expect(page.locator(".ckp-stage")).to_contain_text("0.100098, inf")
    page.locator(".ckp-stage [role=row] >> text=eighth").first.click()
    show_values(page)
    expect(page.locator(".ckp-stage")).to_contain_text("0.101562")
    drop(page, *tmp_path.glob("after*"), zone="[data-zone=after]")
    expect(page.locator(".ckp-stage")).to_contain_text("1 of ")
    page.screenshot(path=SCREENSHOTS / "page-small-numbers.png")


def test_the_page_works_without_a_network_after_the_first_visit(
    guest: Visitor, page: Page, files: Path
) -> None:
    page.locator("[data-offline]").wait_for(state="attached")
    context = page.context
    context.set_offline(True)
    page = guest.read(context.new_page())
    drop(page, *(files / "gan").iterdir())
    strip_and_stage(page)
    page.locator(".ckp-stage >> text=kernel").first.click()
    show_values(page)
    context.set_offline(False)
    page.close()


def test_a_missing_shard_is_named_and_can_be_added(page: Page, files: Path) -> None:
    drop(page, files / "gan" / "ckpt.index")
    expect(page.locator(".ckp-note")).to_contain_text("ckpt.data-… is not here")
    drop(page, files / "gan" / "ckpt.data-00000-of-00001", zone=".ckp-note")
    expect(page.locator(".ckp-note")).to_have_count(0)
    expect(page.locator(".ckp-stage")).to_contain_text("optimizer")


def test_reading_shows_how_far_it_is_and_can_be_stopped(page: Page, tmp_path: Path) -> None:
    size = 100_000_000  # elements: some ten seconds in this engine
    zeros = raw(FLOAT32, shape(size), bytes(4 * size))
    write_bundle(tmp_path / "large", {"weights": zeros, "bias": floats(1.5)})
    del zeros
    _choose_in_place(page, tmp_path.iterdir())
    strip_and_stage(page)
    page.get_by_label("Colour by").select_option("norm")
    expect(page.locator(".ckp-stage")).to_contain_text("of 400 MB")
    page.get_by_role("button", name="Stop").click()
    page.locator(".ckp-stage [role=row] >> text=bias").first.click()
    page.get_by_text("Show values").click()
    expect(page.locator(".ckp-stage")).to_contain_text("1.5")  # by another engine


def test_a_drop_goes_before_the_values_of_an_example(
    visitor: Visitor, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numpy, which reads values, takes longer than a first picture."""
    is_dropped, is_drawn = threading.Event(), threading.Event()
    monkeypatch.setattr(_Quiet, "late", {"memory.gz": is_dropped, "numpy.zip": is_drawn})
    page = visitor.open(script=WITHOUT_STORAGE)  # else its service worker fetches all files
    page.locator(".ckp-first input").first.set_input_files([*(files / "gan").iterdir()])
    loading = r"Starting Python in this page … \d+ of \d+ MB"
    expect(page.locator(".ckp-status")).to_contain_text(re.compile(loading))
    is_dropped.set()
    strip_and_stage(page)
    is_drawn.set()


def test_links_lead_to_an_example_a_node_and_a_step(visitor: Visitor) -> None:
    page = visitor.open("#example=renamed&step=3")
    expect(page.locator("[data-example=renamed]")).to_have_attribute("aria-current", "true")
    expect(page.locator(".ckv-play")).to_be_visible()
    page = visitor.open("#example=gan&select=(root).generator", has_engine=False)
    expect(page.locator("[role=row][aria-selected=true]")).to_contain_text("generator")


def test_number_keys_open_examples_and_a_paste_leads_to_the_errors(visitor: Visitor) -> None:
    page = visitor.open(has_engine=False)
    page.keyboard.press("6")
    expect(page.locator("[data-example=head]")).to_have_attribute("aria-current", "true")
    page.get_by_label("Or paste an error message").fill("AssertionError: Unresolved object")
    with page.expect_request("**/docs/errors.html*") as request:
        page.keyboard.press("Enter")
    assert request.value.url.endswith("docs/errors.html")


# --- bad input


def test_what_is_no_checkpoint_gets_a_sentence(page: Page, tmp_path: Path) -> None:
    for name, data in (
        ("train.py", b"import tensorflow"),
        ("a.zip", b"PK\3\4"),
        ("<b>.index", b""),
    ):
        (tmp_path / name).write_bytes(data)
    drop(page, tmp_path / "a.zip")
    expect(page.locator(".ckp-alert")).to_contain_text("a.zip")
    drop(page, tmp_path / "train.py", tmp_path / "a.zip")
    expect(page.locator(".ckp-alert")).to_contain_text("none of these 2 files is a checkpoint")
    drop(page, tmp_path / "<b>.index")
    expect(page.locator(".ckp-alert")).to_contain_text("<b>")
    expect(page.locator(".ckp-stage")).to_contain_text("guide/ckpt-1")  # the example stays
    page.evaluate(
        """() => {
          const files = Array.from({ length: 20_001 }, (_, i) => new File([], `${i}`));
          const drop = new DragEvent("drop", { bubbles: true });
          // Chromium takes five seconds to put so many into a DataTransfer.
          Object.defineProperty(drop, "dataTransfer", { value: { items: [], files } });
          document.body.dispatchEvent(drop);
        }"""
    )
    expect(page.locator(".ckp-alert")).to_contain_text("more than 20,000 files")


def test_a_file_that_changes_while_it_is_open_gets_a_sentence(
    page: Page, files: Path, tmp_path: Path
) -> None:
    for path in (files / "gan").iterdir():
        shutil.copy(path, tmp_path)
    _choose_in_place(page, tmp_path.iterdir())
    strip_and_stage(page)
    data = tmp_path / "ckpt.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:1000])
    page.get_by_label("Colour by").select_option("norm")
    expect(page.locator(".ckp-stage")).to_contain_text(re.compile(r"\d+ unreadable"))
    page.locator(".ckp-stage [role=row] >> text=kernel").first.click()
    expect(page.locator(".ckp-stage")).to_contain_text("cannot be read")


def test_without_webassembly_or_storage_the_page_tells_why(visitor: Visitor) -> None:
    page = visitor.open(script=f"delete globalThis.WebAssembly; {WITHOUT_STORAGE}")
    expect(page.locator(".ckp-alert").first).to_contain_text("runs no WebAssembly")
    expect(page.locator(".ckp-promise")).to_have_text(
        "✓ Nothing is uploaded. This page reads the files itself.", use_inner_text=True
    )


def test_in_an_old_browser_a_sentence_stays(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.add_init_script(f"CSS.supports = () => false; {WITHOUT_STORAGE}")
    page.goto(site)
    page.wait_for_load_state("networkidle")
    expect(page.locator("body")).to_contain_text("the browser is too old")
    expect(page.locator(".ckp-cards")).to_have_count(0)
    page.close()


@pytest.mark.parametrize(
    "name", ["packages.files", "memory.gz", "python_stdlib.zip", "pyodide.asm.wasm"]
)
def test_changed_files_of_the_site_do_not_run(
    name: str, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those of another edition, or of someone who got into the server."""
    monkeypatch.setattr(_Quiet, "changed", {name})
    page = visitor.open(script=WITHOUT_STORAGE)  # else its service worker fetches all files
    page.locator(".ckp-stage >> text=kernel").first.click()
    page.get_by_text("Show values").click()
    expect(page.locator(".ckp-stage")).to_contain_text("Python could not start in this page")

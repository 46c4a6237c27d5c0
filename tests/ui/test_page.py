"""The page that opens checkpoints in a browser, with its engine, in a real Chromium."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.hostile.seeds import DIRECTORY
from tests.support.site import built_page
from tests.support.tables import FLOAT32, floats, raw, shape, write_bundle
from tests.test_web import EXAMPLES, KERAS
from tests.ui.pages import EXPECT_MS, WITHOUT_MOTION

pytestmark = pytest.mark.ui

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
ENGINE_MS = 90_000  # in which the engine starts on a busy machine
OpenPage = Callable[..., Page]


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


@pytest.fixture
def open_page(browser: Browser, site: str) -> Iterator[OpenPage]:
    """Opens the page in a browser that was never there; fails if something leaves the site."""
    contexts: list[BrowserContext] = []
    strangers: list[str] = []

    def open_page(hash: str = "", script: str = "", **options: Any) -> Page:
        size = {"width": 1500, "height": 1000}
        context = browser.new_context(**{"viewport": size, **WITHOUT_MOTION, **options})
        contexts.append(context)
        context.on("request", lambda request: _note(request.url, strangers, site))
        page = context.new_page()
        page.set_default_timeout(ENGINE_MS)
        if script:
            page.add_init_script(script)
        page.goto(site + hash)
        page.locator(".ckp-stage [role=treegrid]").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert strangers == []


def _note(url: str, strangers: list[str], site: str) -> None:
    if not url.startswith((site, "blob:", "data:")):
        strangers.append(url)


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


def test_an_empty_browser_shows_an_example_before_python_runs(open_page: OpenPage) -> None:
    page = open_page()
    expect(page.locator(".ckp-cards button")).to_have_count(8)
    expect(page.locator("[data-example=guide]")).to_have_attribute("aria-current", "true")
    page.locator(".ckp-stage >> text=kernel").first.click()
    assert "select=" in page.url
    show_values(page)
    page.screenshot(path=SCREENSHOTS / "page-start.png")


def test_drop_search_values_export(open_page: OpenPage, files: Path) -> None:
    page = open_page()
    drop(page, *(files / "gan").iterdir())
    strip_and_stage(page)
    expect(page.locator(".ckp-strip")).to_contain_text("2 files, 1.2 MB")
    view = page.locator(".ckp-stage .ckpt-viz")
    view.locator("input[type=search]").fill("role:slot kernel")
    expect(view).to_contain_text("8 matches")
    view.get_by_label("Colour by").select_option("norm")
    expect(view.locator(".ckv-level-8, .ckv-unmeasured").first).to_be_visible()
    view.locator("summary:visible").get_by_text("Export", exact=True).click()
    with page.expect_download() as download:
        view.get_by_role("button", name="HTML").click()
    assert Path(download.value.path()).read_bytes().startswith(b"<!DOCTYPE html>")
    page.screenshot(path=SCREENSHOTS / "page-open.png")


def test_two_are_compared_checked_and_played(open_page: OpenPage, files: Path) -> None:
    page = open_page()
    renamed = files / "renamed"
    drop(page, *renamed.glob("before*"), zone="[data-zone=before]")
    strip_and_stage(page)
    drop(page, *renamed.glob("after*"), zone="[data-zone=after]")
    expect(page.locator(".ckp-ways")).to_be_visible()
    expect(page.locator(".ckp-stage")).to_contain_text("only in")
    page.get_by_role("button", name="What a restore would do").click()
    expect(page.locator(".ckp-stage")).to_contain_text("assert_consumed() would fail")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator(".ckv-play")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "page-played.png")


def test_a_folder_opens_its_newest_checkpoint_and_shows_a_history(
    open_page: OpenPage, files: Path
) -> None:
    page = open_page()
    page.locator(".ckp-first input").nth(1).set_input_files(files / "training")
    strip_and_stage(page)
    choice = page.get_by_label("Checkpoint")
    expect(choice).to_have_value("training/ckpt-8")
    choice.select_option("training/ckpt-3")
    expect(page.locator(".ckp-stage")).to_contain_text("training/ckpt-3")
    page.get_by_role("button", name="History of 8 checkpoints").click()
    expect(page.locator(".ckpt-viz-timeline")).to_contain_text("step 7,000")
    page.screenshot(path=SCREENSHOTS / "page-history.png")


def test_files_of_keras_open_and_a_restore_is_rehearsed(open_page: OpenPage, files: Path) -> None:
    page = open_page()
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
    expect(page.locator(".ckp-stage")).to_contain_text("assert_consumed() would pass")
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_text("Back to the checkpoint").click()
    expect(page.locator(".ckp-stage")).to_contain_text("saved checkpoint")


def test_numbers_that_numpy_has_no_dtype_for_are_shown_and_compared(
    open_page: OpenPage, tmp_path: Path
) -> None:
    """The engine has no ml_dtypes."""
    for name, numbers in (("before", b"\xcd\x3d\x80\x7f"), ("after", b"\xcd\x3d\x00\x40")):
        tensors = {"half": raw(14, shape(2), numbers), "eighth": raw(25, shape(1), b"\x1d")}
        write_bundle(tmp_path / name, tensors)
    page = open_page()
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
    expect(page.locator(".ckp-stage")).to_contain_text("differs: 1 value")
    page.screenshot(path=SCREENSHOTS / "page-small-numbers.png")


def test_the_page_works_without_a_network_after_the_first_visit(
    open_page: OpenPage, files: Path
) -> None:
    page = open_page()
    page.locator("[data-offline]").wait_for(state="attached")
    page.context.set_offline(True)
    page.reload()
    page.locator(".ckp-stage [role=treegrid]").wait_for()
    drop(page, *(files / "gan").iterdir())
    strip_and_stage(page)
    page.locator(".ckp-stage >> text=kernel").first.click()
    show_values(page)


def test_a_missing_shard_is_named_and_can_be_added(open_page: OpenPage, files: Path) -> None:
    page = open_page()
    drop(page, files / "gan" / "ckpt.index")
    expect(page.locator(".ckp-note")).to_contain_text("ckpt.data-… is not here")
    drop(page, files / "gan" / "ckpt.data-00000-of-00001", zone=".ckp-note")
    expect(page.locator(".ckp-note")).to_have_count(0)
    expect(page.locator(".ckp-stage")).to_contain_text("optimizer")


def test_reading_shows_how_far_it_is_and_can_be_stopped(
    open_page: OpenPage, tmp_path: Path
) -> None:
    size = 100_000_000  # elements: some ten seconds in this engine
    zeros = raw(FLOAT32, shape(size), bytes(4 * size))
    write_bundle(tmp_path / "large", {"weights": zeros, "bias": floats(1.5)})
    del zeros
    page = open_page()
    _choose_in_place(page, tmp_path.iterdir())
    strip_and_stage(page)
    page.get_by_label("Colour by").select_option("norm")
    expect(page.locator(".ckp-stage")).to_contain_text("of 400 MB")
    page.get_by_role("button", name="Stop").click()
    page.locator(".ckp-stage [role=row] >> text=bias").first.click()
    page.get_by_text("Show values").click()
    expect(page.locator(".ckp-stage")).to_contain_text("1.5")  # by another engine


def test_a_drop_goes_before_the_values_of_an_example(
    open_page: OpenPage, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numpy, which reads values, takes longer than a first picture."""
    is_dropped, is_drawn = threading.Event(), threading.Event()
    monkeypatch.setattr(_Quiet, "late", {"memory.gz": is_dropped, "numpy.zip": is_drawn})
    page = open_page(script=_WITHOUT_STORAGE)  # else its service worker fetches all files
    page.locator(".ckp-first input").first.set_input_files([*(files / "gan").iterdir()])
    loading = r"Starting Python in this page … \d+ of \d+ MB"
    expect(page.locator(".ckp-status")).to_contain_text(re.compile(loading))
    is_dropped.set()
    strip_and_stage(page)
    is_drawn.set()


def test_links_lead_to_an_example_a_node_and_a_step(open_page: OpenPage) -> None:
    page = open_page("#example=renamed&step=3")
    expect(page.locator("[data-example=renamed]")).to_have_attribute("aria-current", "true")
    expect(page.locator(".ckv-play")).to_be_visible()
    page = open_page("#example=gan&select=(root).generator")
    expect(page.locator("[role=row][aria-selected=true]")).to_contain_text("generator")


def test_number_keys_open_examples_and_a_paste_leads_to_the_errors(open_page: OpenPage) -> None:
    page = open_page()
    page.keyboard.press("6")
    expect(page.locator("[data-example=head]")).to_have_attribute("aria-current", "true")
    page.get_by_label("Or paste an error message").fill("AssertionError: Unresolved object")
    with page.expect_request("**/docs/errors.html*") as request:
        page.keyboard.press("Enter")
    assert request.value.url.endswith("docs/errors.html")


# --- bad input


def test_what_is_no_checkpoint_gets_a_sentence(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page()
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
          const dataTransfer = new DataTransfer();
          for (let i = 0; i < 20_001; i++) dataTransfer.items.add(new File([], `${i}`));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
        }"""
    )
    expect(page.locator(".ckp-alert")).to_contain_text("more than 20,000 files")


def test_a_file_that_changes_while_it_is_open_gets_a_sentence(
    open_page: OpenPage, files: Path, tmp_path: Path
) -> None:
    page = open_page()
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


_WITHOUT_STORAGE = (
    "Object.defineProperty(navigator, 'serviceWorker', {get() { throw Error('denied') }})"
)


def test_without_webassembly_or_storage_the_page_tells_why(open_page: OpenPage) -> None:
    page = open_page(script="delete globalThis.WebAssembly")
    expect(page.locator(".ckp-alert").first).to_contain_text("runs no WebAssembly")
    page = open_page(script=_WITHOUT_STORAGE)
    expect(page.locator(".ckp-promise")).to_have_text(
        "✓ Nothing is uploaded. This page reads the files itself.", use_inner_text=True
    )


def test_in_an_old_browser_a_sentence_stays(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.add_init_script("CSS.supports = () => false")
    page.goto(site)
    page.wait_for_load_state("networkidle")
    expect(page.locator("body")).to_contain_text("the browser is too old")
    expect(page.locator(".ckp-cards")).to_have_count(0)
    page.close()


@pytest.mark.parametrize(
    "name", ["packages.files", "memory.gz", "python_stdlib.zip", "pyodide.asm.wasm"]
)
def test_changed_files_of_the_site_do_not_run(
    name: str, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as those of another edition, or of someone who got into the server."""
    monkeypatch.setattr(_Quiet, "changed", {name})
    page = open_page()
    page.locator(".ckp-stage >> text=kernel").first.click()
    page.get_by_text("Show values").click()
    expect(page.locator(".ckp-stage")).to_contain_text("Python could not start in this page")

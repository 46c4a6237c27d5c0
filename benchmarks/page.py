"""How long the page takes to its first pictures, and how much memory a large file takes.

`python -m benchmarks.page` needs `npm run build:page` in labextension/ and Chromium. It prints
seconds on the clock of this machine, as medians, and the same as a ratio to an empty page.
"""

from __future__ import annotations

import functools
import http.server
import statistics
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.tables import floats, write_bundle
from tests.ui import processes

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "build" / "page"
_TIMES = 5
_LARGE = 1 << 30  # bytes
_HEAP = "performance.memory.usedJSHeapSize"


def main() -> None:
    """Print the table of benchmarks/README.md."""
    handler = functools.partial(_Quiet, directory=str(PAGE))
    executable = processes.find_chromium()
    assert executable is not None
    with (
        tempfile.TemporaryDirectory() as directory,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        dropped = _mobilenet(Path(directory))
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        empty = _median(lambda: _empty(browser, url))
        for title, measure in {
            "first example, empty cache": lambda: _example(browser, url),
            "dropped at once, empty cache": lambda: _dropped(browser, url, dropped),
            "dropped at once, second visit": lambda: _dropped_again(browser, url, dropped),
            "dropped when the engine is up": lambda: _dropped(browser, url, dropped, waits=True),
        }.items():
            seconds = _median(measure)
            print(f"{title}: {seconds:.2f} s, {seconds / empty:.1f} times an empty page")
        print(f"heap of the engine with {_LARGE >> 20} MB open: {_heap(browser, url, directory)}")
        browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(_TIMES))


def _mobilenet(directory: Path) -> list[Path]:
    with zipfile.ZipFile(ROOT / "labextension" / "page" / "examples.zip") as archive:
        archive.extractall(directory)
    return [*(directory / "mobilenet").iterdir()]


def _empty(browser: Browser, url: str) -> float:
    page = browser.new_context().new_page()
    start = time.perf_counter()
    page.goto(f"{url}graphviz.js")
    seconds = time.perf_counter() - start
    page.context.close()
    return seconds


def _example(browser: Browser, url: str) -> float:
    page = browser.new_context().new_page()
    start = time.perf_counter()
    _open(page, url)
    seconds = time.perf_counter() - start
    page.context.close()
    return seconds


def _open(page: Page, url: str) -> None:
    page.goto(url, wait_until="commit")
    _wait_for(page, ".ckp-stage [role=treegrid]")


def _wait_for(page: Page, selector: str) -> None:
    """Wait as long as the page does: `Locator.wait_for` looks again only after up to 0.5 s."""
    page.wait_for_function("selector => document.querySelector(selector)", arg=selector)


def _wait_for_a_value(page: Page) -> None:
    page.locator(".ckp-stage >> text=30").first.wait_for(timeout=60_000)


def _drop(page: Page, files: list[Path]) -> float:
    start = time.perf_counter()
    page.locator(".ckp-first input").first.set_input_files(files)
    _wait_for(page, ".ckp-strip ~ * [role=treegrid]")
    return time.perf_counter() - start


def _dropped(browser: Browser, url: str, files: list[Path], *, waits: bool = False) -> float:
    page = browser.new_context().new_page()
    start = time.perf_counter()
    _open(page, url)
    seconds = 0.0
    if waits:
        _wait_for_a_value(page)
        start = time.perf_counter()
    _drop(page, files)
    seconds = time.perf_counter() - start
    page.context.close()
    return seconds


def _dropped_again(browser: Browser, url: str, files: list[Path]) -> float:
    page = browser.new_context().new_page()
    _open(page, url)
    page.locator("[data-offline]").wait_for(state="attached", timeout=60_000)
    _wait_for_a_value(page)  # the first visit then has nothing left to do
    start = time.perf_counter()
    _open(page, url)
    _drop(page, files)
    seconds = time.perf_counter() - start
    page.context.close()
    return seconds


def _heap(browser: Browser, url: str, directory: str) -> str:
    """Return the size of Python's memory and of the page's heap, with a large checkpoint open."""
    prefix = write_bundle(Path(directory) / "large", {"weights": floats(*[0.0] * 1024)})
    data = Path(f"{prefix}.data-00000-of-00001")
    with data.open("r+b") as file:
        file.truncate(_LARGE)
    page = browser.new_context().new_page()
    _open(page, url)
    _drop(page, [data, Path(f"{prefix}.index")])
    (worker,) = page.workers
    python = worker.evaluate("heapBytes()")
    return f"{python >> 20} MB of Python, {page.evaluate(_HEAP) >> 20} MB of the page"


if __name__ == "__main__":
    main()

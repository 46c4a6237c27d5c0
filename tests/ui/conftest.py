"""Fixtures that drive a real JupyterLab in a real Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.support import frontend
from tests.ui import processes
from tests.ui.forked_kernels import forked_kernels
from tests.ui.jupyter import JupyterLab, SharedKernel, SharedPage
from tests.ui.pages import EXPECT_MS, OpenPage, lent_pages

_BUILT = frontend.LABEXTENSION.parent / "ckpt_viz" / "labextension"
expect.set_options(timeout=EXPECT_MS)
_NO_CHROMIUM = "no Chromium: apt-get install chromium, or set CKPT_VIZ_CHROMIUM to its path"


def pytest_itemcollected(item: pytest.Item) -> None:  # of those below this directory
    item.add_marker("ui")


def pytest_runtest_setup() -> None:
    # Skipped here, and not in a fixture, all tests share one line of pytest's summary.
    if processes.find_chromium() is None:
        if os.environ.get("CI"):
            pytest.fail(_NO_CHROMIUM, pytrace=False)
        pytest.skip(_NO_CHROMIUM)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what its page and the server printed, and keep a picture."""
    report = yield
    lab = getattr(item, "funcargs", {}).get("lab")
    if report.failed and call.when != "teardown" and isinstance(lab, JupyterLab):
        lab.has_failed = True
        log = lab.log.splitlines()[-50:]
        report.sections.append(("browser console", "\n".join(lab.console[-50:])))
        report.sections.append(("JupyterLab's log", "\n".join(log)))
        with suppress(PlaywrightError):
            lab.screenshot(f"failed-{_file_name(item)}")
    return report


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Of which a process has one."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    executable = processes.find_chromium()
    assert executable is not None
    directory = tmp_path_factory.mktemp("chromium")
    with processes.chromium(executable, directory) as address:
        browser = playwright.chromium.connect_over_cdp(address)
        yield browser
        browser.close()


@pytest.fixture
def lend(browser: Browser) -> Iterator[OpenPage]:
    """A function that lends an empty page with the options of a context."""
    with lent_pages(browser) as lend:
        yield lend


@pytest.fixture(scope="session")
def kernels() -> Iterator[Path]:
    """The kernelspec of kernels that begin with TensorFlow imported."""
    with forked_kernels() as directory:
        yield directory


@pytest.fixture(scope="session")
def server(
    front_end: None, kernels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[processes.Server]:
    """A JupyterLab with the front end of today's sources."""
    directory, labextensions = _directories(tmp_path_factory)
    with processes.jupyterlab(directory, labextensions, kernels=kernels) as running:
        yield running


@pytest.fixture(scope="session")
def notebook_server(
    front_end: None, kernels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[processes.Server]:
    """A Jupyter Notebook 7 with the front end of today's sources."""
    directory, labextensions = _directories(tmp_path_factory)
    with processes.notebook_7(directory, labextensions, kernels=kernels) as running:
        yield running


def _directories(factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a directory for a server, and one with the front end of today's sources."""
    labextensions = factory.mktemp("labextensions")
    (labextensions / "ckpt-viz").symlink_to(_BUILT, target_is_directory=True)
    return factory.mktemp("server"), labextensions


@pytest.fixture(scope="session")
def context(browser: Browser) -> BrowserContext:
    """The one that all pages of JupyterLab share.

    It has a cache on disk, with the scripts as V8 has compiled them. That halves the work of a
    page: others compile JupyterLab each time.
    """
    return browser.contexts[0]  # later ones are of pages without JupyterLab


@pytest.fixture(scope="session")
def shared() -> SharedKernel:
    return SharedKernel()


@pytest.fixture(scope="session")
def shared_page(context: BrowserContext, server: processes.Server) -> Iterator[SharedPage]:
    page = SharedPage(context, server)
    yield page
    page.close()


@pytest.fixture
def lab(shared_page: SharedPage, request: pytest.FixtureRequest) -> Iterator[JupyterLab]:
    """A page of JupyterLab with nothing open; only shared kernels may run.

    Tests share the page, but for those that leave something there.
    """
    yield shared_page.taken()
    if left := shared_page.give_back():
        request.node.add_report_section("teardown", "page of JupyterLab closed for", left)


def _file_name(item: pytest.Item) -> str:
    return re.sub(r"\W+", "-", item.name)

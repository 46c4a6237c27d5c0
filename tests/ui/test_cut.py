"""Nothing is cut and nothing overlaps at the widths that people have, also in real JupyterLab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from tests.support import history_fixtures
from tests.support.fixed_check import every_kind
from tests.support.graphs import transformer
from tests.support.payload_fixtures import overlays
from tests.ui.cut import faults, settle
from tests.ui.history_pages import history_page
from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import ANSWERING, OpenPage, html_pages, lent_pages
from tests.ui.test_access import SCHEMES
from tests.ui.test_renderer import saved_cell
from tests.ui.test_restoring import CHECK

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_LONG = "runs/2026-11-22/resnet50_stage_two/checkpoints/epoch_0042/ckpt-172"
# Of an explorer: from a cell beside the file browser in a page of 700 px to a page of its own.
_WIDTHS = (300, 420, 520, 640, 700, 760, 860, 960, 1080, 1280, 1500)
_PICTURED = (700, 1280)  # also in the dark, which changes colours alone
_LAB_WIDTHS = (700, 1000, 1280, 1366, 1440, 1500)
_WITH_KERNEL = "explorer.render({ model,"

pytestmark = pytest.mark.usefixtures("front_end")


@pytest.fixture
def pages(browser: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    with html_pages(browser, tmp_path) as open_page:
        yield open_page


def _answering(html: str, others: str = "{}") -> str:
    """Return a page with a kernel, which offers everything that a toolbar can have."""
    assert html.count(_WITH_KERNEL) == 1
    model = f"answering(model, {{ error: 'no' }}, [], {others})"
    return html.replace(_WITH_KERNEL, f"{ANSWERING}explorer.render({{ model: {model},")


def _single(pages: OpenPage, **options: Any) -> Page:
    graph = replace(transformer(12), title=_LONG)
    return pages(_answering(to_html(graph)), **options)


def _compared(name: str) -> Callable[..., Page]:
    def opened(pages: OpenPage, **options: Any) -> Page:
        overlay: Overlay = overlays()[name]
        graph = replace(overlay.graph, title=f"{_LONG} → Checkpoint")
        return pages(_answering(to_html(graph, replace(overlay, graph=graph))), **options)

    return opened


def _code(pages: OpenPage, **options: Any) -> Page:
    """A check with guesses, its asserts and its code."""
    check = every_kind()
    html = _answering(to_html(check.overlay.graph, check.overlay), check.as_javascript())
    page = pages(html, **options)
    page.get_by_role("button", name="The asserts").click()
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.locator(".ckv-code-text")).to_have_count(2)
    return page


def _history(lend: OpenPage, directory: Path) -> Page:
    sources = history_fixtures.write(directory, history_fixtures.training())
    page = lend()
    (directory / "history.html").write_text(history_page(cv.history(sources), 0, 8), "utf-8")
    page.goto((directory / "history.html").as_uri())
    page.get_by_role("grid").wait_for()
    return page


_SCENES = {
    "single": _single,
    "check": _compared("check"),
    "code": _code,
    "diff": _compared("diff"),
}


@pytest.mark.parametrize("scene", _SCENES)
def test_an_explorer_cuts_nothing(pages: OpenPage, scene: str) -> None:
    page = _SCENES[scene](pages, bypass_csp=True)
    found = _faults_at(page, _WIDTHS, page.locator(".ckpt-viz"), f"cut-{scene}", SCHEMES)
    assert not found, "\n".join(found)


def test_a_history_cuts_nothing(browser: Browser, tmp_path: Path) -> None:
    with lent_pages(browser) as lend:
        page = _history(lend, tmp_path)
        root = page.locator(".ckpt-viz-timeline")
        found = _faults_at(page, _WIDTHS, root, "cut-history", ("light",))
    assert not found, "\n".join(found)


def _faults_at(
    page: Page,
    widths: tuple[int, ...],
    root: Locator,
    name: str,
    schemes: tuple[Literal["light", "dark"], ...],
) -> list[str]:
    """Return the faults at each width, and leave pictures of some of them."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in schemes if width in _PICTURED else ("light",):
            page.emulate_media(color_scheme=scheme)
            settle(root)
            if width in _PICTURED:
                page.screenshot(path=_SCREENSHOTS / f"{name}-{scheme}-{width}.png")
            found += [f"{width}, {scheme}: {fault}" for fault in faults(root)]
    return found


def test_a_cut_and_an_overlap_are_found(pages: OpenPage) -> None:
    page = _compared("check")(pages, bypass_csp=True)
    page.add_style_tag(content=".ckv-views { max-width: 20px; min-width: 0; overflow: hidden }")
    assert any("cut in ckv-mode" in fault for fault in faults(page.locator(".ckpt-viz")))
    page.add_style_tag(content=".ckpt-viz .ckv-check-head .ckv-check-verdict { margin-top: -20px }")
    assert any("overlap: " in fault for fault in faults(page.locator(".ckpt-viz")))


def _menu(page: Page) -> Locator:
    return page.locator(".ckv-toolbar > .ckv-menu")


def test_the_menu_has_the_other_views_and_what_is_rare_by_keys_alone(pages: OpenPage) -> None:
    page = _single(pages, bypass_csp=True, viewport={"width": 520, "height": 800})
    bar = page.locator(".ckv-toolbar")
    expect(bar.get_by_role("button", name="Keys (?)")).to_be_visible()
    page.get_by_role("combobox", name="Search").focus()
    page.keyboard.press("Tab")
    expect(_menu(page).locator("summary").first).to_be_focused()
    page.keyboard.press("Enter")
    items = _menu(page).locator(".ckv-menu-items").first
    expect(items).to_contain_text("saved checkpoint")
    for name in ("Graph", "filter", "Full screen"):
        expect(items.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.screenshot(path=_SCREENSHOTS / "toolbar-menu.png")
    page.keyboard.press("Tab")
    expect(items.get_by_role("button", name="Graph", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(items).to_be_hidden()
    # The files to save are one level further.
    _menu(page).locator("summary").first.click()
    expect(items.get_by_role("button", name="Graph", exact=True)).to_have_count(0)
    items.get_by_text("Export", exact=True).click()
    expect(items.get_by_role("button", name="Drawing, SVG")).to_be_visible()


@pytest.mark.more
def test_nothing_is_cut_in_jupyterlab(
    lab: JupyterLab, shared: SharedKernel, tmp_path: Path
) -> None:
    sources = history_fixtures.write(tmp_path, history_fixtures.training())
    cells = (
        CHECK,
        "cv.show(saved)",
        "cv.show(path, against=path)",
        f"cv.history({sources!r}, progress=False).show()",
    )
    lab.create_notebook("cut.ipynb", *map(code_cell, cells), saved_cell())
    lab.open_notebook("cut.ipynb", shared.started(lab))
    for place in range(len(cells)):
        lab.run_cell(place)
    lab.execute("filebrowser:activate")
    explorer = lab.output(0).locator(".ckpt-viz")
    found = []
    for has_code in (False, True):
        if has_code:
            lab.page.set_viewport_size({"width": 1500, "height": 900})
            explorer.get_by_role("button", name="Code", exact=True).click()
            expect(explorer.locator(".ckv-code-text")).to_have_count(2)
        for width in _LAB_WIDTHS:
            lab.page.set_viewport_size({"width": width, "height": 900})
            for place in range(1 if has_code else len(cells) + 1):
                root = lab.output(place).locator(".ckpt-viz, .ckpt-viz-timeline")
                root.scroll_into_view_if_needed()
                settle(root)
                if width in _PICTURED:
                    lab.screenshot(f"cut-lab-{place}{'-code' if has_code else ''}-{width}")
                found += [f"{width}, cell {place}: {fault}" for fault in faults(root)]
    assert not found, "\n".join(found)

"""The explorer for everybody: screen readers, keys, contrast, themes, zoomed pages."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.render.html import to_html
from tests import frontend
from tests.graphs import keras3_adam
from tests.payload_fixtures import overlays

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_STATIC = frontend.LABEXTENSION.parent / "ckpt_viz" / "static"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    for script in ("build:widget", "build:graphviz"):
        done = frontend.run_script(script)
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens the explorer of a graph in a page of its own."""
    contexts: list[BrowserContext] = []

    def open_page(graph: Graph, overlay: Overlay | None = None, **options: Any) -> Page:
        viewport = {"width": 1280, "height": 800}
        # The file's policy would forbid the worker that the textbook view needs.
        context = browser.new_context(**{"viewport": viewport, "bypass_csp": True, **options})
        contexts.append(context)
        path = tmp_path / f"{len(contexts)}.html"
        path.write_text(_with_graphviz(to_html(graph, overlay)), "utf-8")
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".ckv-panes").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()


def _with_graphviz(html: str) -> str:
    """Return the page with a kernel that has Graphviz, and answers nothing else."""
    script = base64.b64encode((_STATIC / "graphviz.js").read_bytes()).decode("ascii")
    decode = f'Uint8Array.from(atob("{script}"), (character) => character.charCodeAt(0))'
    kernel = f"{{ invoke: async () => [null, [{decode}]] }}"
    mount = "explorer.render({ "
    assert html.count(mount) == 1
    return html.replace(mount, f"{mount}experimental: {kernel}, ")


# --- screen readers


def _single(opened: Open, **options: Any) -> Page:
    page = opened(keras3_adam(), **options)
    page.get_by_role("row", name="layer").first.click()
    return page


def _failing_check(opened: Open, **options: Any) -> Page:
    overlay = overlays()["check"]
    page = opened(overlay.graph, overlay, **options)
    page.keyboard.press("Tab")
    page.get_by_role("treegrid").press("]")
    return page


def _problem_list(opened: Open, **options: Any) -> Page:
    overlay = overlays()["check"]
    return opened(overlay.graph, overlay, **options)


def _narrow(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.set_viewport_size({"width": 600, "height": 700})
    return page


def _narrow_details(opened: Open, **options: Any) -> Page:
    page = _narrow(opened, **options)
    page.get_by_role("tab", name="Details").click()
    return page


def _mistake(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("searchbox").fill("size>")
    page.locator(".ckv-mistake").wait_for()
    return page


def _matches(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("searchbox").fill("a")
    page.locator("mark").first.wait_for()
    return page


def _focused(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("treegrid").press("f")
    page.get_by_role("navigation").wait_for()
    return page


def _menu(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.locator(".ckv-menu summary").click()
    return page


def _help(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("treegrid").press("?")
    page.get_by_role("dialog").wait_for()
    return page


def _textbook(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("button", name="Textbook view").click()
    page.locator(".ckv-textbook .ckv-node").first.wait_for()
    return page


SCENES = {
    scene.__name__.strip("_"): scene
    for scene in (
        *(_single, _failing_check, _problem_list, _narrow, _narrow_details, _mistake),
        *(_matches, _focused, _menu, _help, _textbook),
    )
}


def _violations(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run(document.querySelector('.ckpt-viz'))")["violations"]
    return [
        f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", SCENES)
def test_axe_finds_nothing(opened: Open, axe: str, scene: str, scheme: str) -> None:
    page = SCENES[scene](opened, color_scheme=scheme)
    page.screenshot(path=_SCREENSHOTS / f"access-{scene}-{scheme}.png")
    assert _violations(page, axe) == []

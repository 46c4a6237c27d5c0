"""The explorer in a file, opened in a real Chromium without a network."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from ckpt_viz.render.html import to_html
from ckpt_viz.render.writing import write_text
from tests import frontend
from tests.graphs import keras3_adam, named
from tests.payload_fixtures import HOSTILE, overlays


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    done = frontend.run_script("build:widget")
    assert done.returncode == 0, done.stdout


@pytest.fixture(params=["light", "dark"])
def offline(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    context = browser.new_context(
        offline=True, color_scheme=request.param, viewport={"width": 1280, "height": 800}
    )
    yield context
    context.close()


class _Opened:
    """A page of a file, with all that it printed and asked for."""

    def __init__(self, context: BrowserContext, path: Path, html: str) -> None:
        write_text(path, html)
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.address = path.as_uri()

    def check_quiet(self) -> None:
        assert self.said == []
        assert self.requests == [self.address]


def test_file_shows_the_explorer_offline_and_asks_for_nothing(
    offline: BrowserContext, tmp_path: Path
) -> None:
    opened = _Opened(offline, tmp_path / "a.html", to_html(keras3_adam()))
    rows = opened.page.get_by_role("treegrid").get_by_role("row")
    opened.page.get_by_role("row", name="optimizer").first.wait_for()
    count = rows.count()
    assert count > 5
    opened.page.get_by_role("row", name="layer").first.click()
    opened.page.keyboard.press("ArrowLeft")
    assert rows.count() < count
    assert opened.page.locator(".ckv-panes svg").first.is_visible()
    box = opened.page.locator(".ckpt-viz").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (1280, 800)
    opened.check_quiet()


def test_file_starts_with_the_node_that_was_selected(
    offline: BrowserContext, tmp_path: Path
) -> None:
    html = to_html(keras3_adam(), state={"selected": 2})
    opened = _Opened(offline, tmp_path / "a.html", html)
    opened.page.locator('[role="row"][aria-selected="true"]', has_text="layer").wait_for()
    opened.check_quiet()


def test_file_of_a_comparison_says_its_verdict(offline: BrowserContext, tmp_path: Path) -> None:
    overlay = overlays()["check"]
    opened = _Opened(offline, tmp_path / "a.html", to_html(overlay.graph, overlay))
    opened.page.get_by_text(overlay.headline).first.wait_for()
    opened.check_quiet()


def test_hostile_names_are_text_in_the_file(offline: BrowserContext, tmp_path: Path) -> None:
    hostile = replace(named(keras3_adam(), HOSTILE), title=HOSTILE)
    opened = _Opened(offline, tmp_path / "a.html", to_html(hostile))
    opened.page.get_by_role("treegrid").get_by_role("row").nth(3).wait_for()
    opened.check_quiet()


def test_policy_of_the_file_stops_scripts_and_requests(
    offline: BrowserContext, tmp_path: Path
) -> None:
    injected = "<script>window.alive = 1; fetch('https://example.org')</script></body>"
    html = to_html(keras3_adam()).replace("</body>", injected)
    opened = _Opened(offline, tmp_path / "a.html", html)
    opened.page.get_by_role("row", name="optimizer").first.wait_for()
    assert opened.page.evaluate("window.alive") is None
    assert opened.requests == [opened.address]
    assert any("Content Security Policy" in message for message in opened.said)


def test_file_without_scripts_is_the_static_outline(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    opened = _Opened(context, tmp_path / "a.html", to_html(keras3_adam()))
    assert opened.page.get_by_text("_trainable_variables", exact=True).is_visible()
    picture = opened.page.locator("svg.ckv-static")
    box = picture.bounding_box()
    assert box is not None
    assert box["y"] == 0
    assert "rgb" in picture.locator(".back").evaluate("e => getComputedStyle(e).fill")
    context.close()

"""The explorer in a file, opened in a real Chromium without a network."""

import base64
import gzip
import random
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.graphs.render.writing import write_text
from tests.support.graphs import graph, keras3_adam, named
from tests.support.payload_fixtures import HOSTILE, overlays
from tests.ui.pages import ANSWERING, OpenPage, showing_objects
from tests.ui.test_access import in_scheme

pytestmark = pytest.mark.usefixtures("front_end")


@pytest.fixture
def offline(lend: OpenPage) -> Page:
    return lend(offline=True)


class _Opened:
    """A page of a file, with all that it printed and asked for."""

    def __init__(self, page: Page, path: Path, html: str) -> None:
        write_text(path, showing_objects(html))
        self.page = page
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
    offline: Page, tmp_path: Path
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
    in_scheme(opened.page, "dark")
    opened.check_quiet()


def test_file_hears_keys_at_once(offline: Page, tmp_path: Path) -> None:
    opened = _Opened(offline, tmp_path / "a.html", to_html(keras3_adam()))
    page = opened.page
    page.get_by_role("row", name="optimizer").first.wait_for()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=row][aria-selected=true]")).to_have_count(1)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    page.keyboard.type("bias")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    expect(box).to_have_value("bias")
    opened.check_quiet()


def test_file_starts_with_the_node_that_was_selected(offline: Page, tmp_path: Path) -> None:
    html = to_html(keras3_adam(), state={"selected": 2})
    opened = _Opened(offline, tmp_path / "a.html", html)
    opened.page.locator('[role="row"][aria-selected="true"]', has_text="layer").wait_for()
    opened.check_quiet()


def test_file_of_a_comparison_says_its_verdict(offline: Page, tmp_path: Path) -> None:
    overlay = overlays()["check"]
    opened = _Opened(offline, tmp_path / "a.html", to_html(overlay.graph, overlay))
    opened.page.get_by_text(overlay.table.verdict).first.wait_for()
    opened.check_quiet()


def test_hostile_names_are_text_in_the_file(offline: Page, tmp_path: Path) -> None:
    hostile = replace(named(keras3_adam(), HOSTILE), title=HOSTILE)
    opened = _Opened(offline, tmp_path / "a.html", to_html(hostile))
    opened.page.get_by_role("treegrid").get_by_role("row").nth(3).wait_for()
    opened.check_quiet()


def test_policy_of_the_file_stops_scripts_and_requests(offline: Page, tmp_path: Path) -> None:
    injected = "<script>window.alive = 1; fetch('https://example.org')</script></body>"
    html = to_html(keras3_adam()).replace("</body>", injected)
    opened = _Opened(offline, tmp_path / "a.html", html)
    opened.page.get_by_role("row", name="optimizer").first.wait_for()
    assert opened.page.evaluate("window.alive") is None
    assert opened.requests == [opened.address]
    assert any("Content Security Policy" in message for message in opened.said)


def test_file_without_scripts_is_the_static_outline(lend: OpenPage, tmp_path: Path) -> None:
    page = lend(java_script_enabled=False, offline=True)
    opened = _Opened(page, tmp_path / "a.html", to_html(keras3_adam()))
    assert opened.page.get_by_text("v5", exact=True).is_visible()
    picture = opened.page.locator("svg.ckv-static")
    box = picture.bounding_box()
    assert box is not None
    assert box["y"] == 0
    assert "rgb" in picture.locator(".back").evaluate("e => getComputedStyle(e).fill")


_MUTANTS = 24


def _mutants(count: int) -> Iterator[bytes]:
    """Yield damaged payloads; labextension/src/tests/fuzz.test.ts has thousands, and more kinds."""
    chance = random.Random(5)
    whole = gzip.decompress(payload.encode(keras3_adam()))
    after_header = 12 + int.from_bytes(whole[8:12], "little")
    for header in (b"null", b"7", b"[]", b'{"version": 2, "sections": [null]}'):
        yield gzip.compress(whole[:8] + struct.pack("<I", len(header)) + header)
    yield b""
    yield gzip.compress(whole)[:-20]
    yield gzip.compress(whole.replace(b'"role"', b'"__proto__"', 1))
    yield gzip.compress(whole.replace(b'"int32"', b'"__proto__"'))
    for _ in range(count - 8):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(after_header, len(whole))] = chance.choice((0, 1, 7, 127, 255))
        yield gzip.compress(damaged[: chance.choice((len(whole), chance.randrange(len(whole))))])


def test_damaged_payloads_show_a_graph_or_a_sentence_and_nothing_else_happens(
    offline: Page, tmp_path: Path
) -> None:
    html = to_html(keras3_adam())
    encoded = base64.b64encode(payload.encode(keras3_adam())).decode()
    assert encoded in html
    frames = []
    for number, damaged in enumerate(_mutants(_MUTANTS)):
        page = html.replace(encoded, base64.b64encode(damaged).decode())
        write_text(tmp_path / f"{number}.html", page)
        frames.append(f"<iframe src={number}.html width=1000 height=500></iframe>")
    opened = _Opened(offline, tmp_path / "all.html", "".join(frames))
    said = []
    for frame in opened.page.frames[1:]:
        shown = frame.locator(".ckpt-viz").locator("[role=treegrid], [role=alert]").first
        expect(shown).to_be_visible()
        if shown.get_attribute("role") == "alert":
            said.append(shown.inner_text())
        else:
            frame.get_by_role("row").nth(1).click()
            expect(frame.get_by_role("row").nth(1)).to_have_attribute("aria-selected", "true")
    assert 8 <= len(said) < _MUTANTS
    assert all(one.startswith("The graph cannot be shown: the payload ") for one in said)
    assert opened.said == []
    addresses = {opened.address, *(frame.url for frame in opened.page.frames)}
    assert set(opened.requests) == addresses


_MOUNT = "explorer.render({ model,"
_NO_ANSWER = "{ ...model, send() {} }"  # a saved notebook: its kernel does not know the explorer


def _with_model(html: str, model: str) -> str:
    """Return the page with a different model, which its policy on scripts would forbid."""
    assert html.count(_MOUNT) == 1
    return html.replace(_MOUNT, f"{ANSWERING}explorer.render({{ model: {model},")


@pytest.fixture
def lax(lend: OpenPage) -> Page:
    return lend(offline=True, bypass_csp=True)


@pytest.mark.parametrize(
    "model", ["model", _NO_ANSWER, "answering(model, { text: 'another query' }, [])"]
)
def test_the_query_of_a_file_is_shown_and_waits_for_enter(
    lax: Page, tmp_path: Path, model: str
) -> None:
    query = "/(a+)+$/"
    html = to_html(graph({0: {"a" * 1000 + "!": 1, "b": 2}}), state={"query": query})
    page = _Opened(lax, tmp_path / "a.html", _with_model(html, model)).page
    box, said = page.get_by_role("combobox", name="Search"), page.locator(".ckv-matches")
    expect(box).to_have_value(query)
    expect(said).to_have_text("Press Enter to search")
    expect(page.get_by_role("status")).to_contain_text("Press Enter to search")
    page.get_by_role("button", name="filter", exact=True).click()
    box.press("Escape")
    row = page.get_by_role("row", name="b", exact=True).last
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    expect(box).to_have_value(query)
    expect(said).to_have_text("Press Enter to search")
    box.fill("b")
    box.press("Enter")
    expect(said).to_have_text("1 of 1")


def test_a_query_that_the_kernel_has_is_run_at_once(lax: Page, tmp_path: Path) -> None:
    html = to_html(keras3_adam(), state={"query": "/bias$/"})
    html = _with_model(html, "answering(model, { text: '/bias$/' }, [])")
    opened = _Opened(lax, tmp_path / "a.html", html)
    expect(opened.page.locator(".ckv-matches")).to_have_text("1 match")


def test_enter_runs_the_query_of_a_file(lax: Page, tmp_path: Path) -> None:
    html = to_html(keras3_adam(), state={"query": "bias", "mode": "filter"})
    page = _Opened(lax, tmp_path / "a.html", html).page
    page.get_by_role("combobox", name="Search").press("Enter")
    expect(page.locator(".ckv-matches")).to_have_text("1 of 1")
    expect(page.get_by_role("row", name="optimizer")).to_have_count(0)

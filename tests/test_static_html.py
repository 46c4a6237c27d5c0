"""The outline as HTML for hosts that run nothing."""

import base64
import html
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import ckpt_viz as cv
from benchmarks.saved_notebook import large
from ckpt_viz.graphs.render.static_html import MAX_SIZE, comparison_html, to_static_html
from ckpt_viz.graphs.render.svg import to_svg
from tests.hostile.makers import NASTY
from tests.support.graphs import keras3_adam, named
from tests.support.payload_fixtures import overlays

_ALLOWED = {"div", "img", "details", "summary", "ul", "li", "code", "b"}
_VOID = {"img"}


class _Parsed(HTMLParser):
    """The elements, their attributes and text of a piece of HTML, and how deep they nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.depth = 0
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in _VOID:
            self._open.append(tag)
            self.depth = max(self.depth, len(self._open))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def _picture(page: str) -> str:
    (encoded,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    return base64.b64decode(encoded).decode()


def test_it_is_a_picture_and_the_same_rows_in_nested_details() -> None:
    page = to_static_html(keras3_adam())
    picture = ElementTree.fromstring(_picture(page))
    drawn = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    labels = [html.unescape(label) for label in re.findall(r"<code>(.*?)</code>", page)]
    assert set(labels) <= drawn
    assert len(labels) == to_svg(keras3_adam()).count('role="listitem"')
    assert re.search(r"<details><summary>.*<details open><summary>", page, re.DOTALL)


@pytest.mark.parametrize("kind", ["check", "diff"])
def test_a_comparison_is_its_table_as_picture_and_in_words(kind: str) -> None:
    overlay = overlays()[kind]
    page = comparison_html(overlay)
    drawn = {text.text for text in ElementTree.fromstring(_picture(page)).iter()}
    cells = [html.unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", page)]
    assert overlay.table.sentence in drawn and overlay.table.sentence in html.unescape(page)
    for line in overlay.table.at_first(40).lines:
        assert {line.saved, line.live} - {""} <= drawn
        assert line.plain.words in drawn and line.plain.words in cells
        assert all(any(name in cell for cell in cells) for name in (line.saved, line.live))
    parsed = _Parsed(page)
    assert set(parsed.tags) <= {"div", "img", "details", "summary", "table", "tr", "th", "td"}


def test_hostile_texts_of_a_comparison_are_text() -> None:
    parsed = _Parsed(comparison_html(overlays()["hostile_check"]))
    assert set(parsed.tags) <= {"div", "img", "details", "summary", "table", "tr", "th", "td"}
    assert parsed.attributes == {"style", "alt", "src"}


@pytest.mark.parametrize("name", [*NASTY, '"><script>alert(1)</script>', "</details></div>", "-->"])
def test_hostile_names_are_text(name: str) -> None:
    harmless = _Parsed(to_static_html(keras3_adam()))
    graph = replace(named(keras3_adam(), name), title=name)
    parsed = _Parsed(to_static_html(graph))
    assert set(parsed.tags) <= _ALLOWED
    assert parsed.attributes == harmless.attributes == {"style", "alt", "src", "open"}
    ElementTree.fromstring(_picture(to_static_html(graph)))


def test_nothing_in_it_runs_or_comes_from_elsewhere() -> None:
    page = to_static_html(keras3_adam())
    assert "<style" not in page
    assert "<script" not in page + _picture(page)
    assert re.findall(r"(?:href|src)=\"(?!data:)", page + _picture(page)) == []


def _chain(length: int) -> cv.ObjectGraph:
    nodes = [cv.Node((cv.Child("next", i + 1),)) for i in range(length)]
    return cv.ObjectGraph((*nodes, cv.Node()), "chain", cv.Origin.SAVED)


@pytest.mark.parametrize(
    "make",
    [
        large,
        lambda: _chain(10_000),
        lambda: named(large(), "<" * 500),
        lambda: named(large(), "漢" * 500),
        lambda: replace(large(), title="&" * 100_000),
    ],
    ids=["large", "chain", "long names", "wide names", "long title"],
)
def test_size_and_depth_are_bounded(make: Callable[[], cv.ObjectGraph]) -> None:
    page = to_static_html(make())
    assert len(page) <= MAX_SIZE
    parsed = _Parsed(page)
    assert parsed.tags.count("code") <= 300
    assert parsed.depth < 200

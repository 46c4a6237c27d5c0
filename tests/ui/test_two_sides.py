"""Both sides of a comparison in a page: causes, lines and evidence are one state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.object_graph.overlay import Explanation, Overlay, State
from ckpt_viz.render.html import to_html
from ckpt_viz.render.signs import STATES
from tests.support.graphs import graph, keras3_adam, without_optimizer
from tests.support.payload_fixtures import CODE, overlays
from tests.support.programs import ckpt
from tests.ui.pages import html_pages, showing_first
from tests.ui.test_access import SCHEMES, in_scheme

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_WIDTHS = (1500, 1100, 700)

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a comparison in a page of its own."""
    with html_pages(browser, tmp_path) as open_page:

        def open_overlay(
            overlay: Overlay, width: int = 1500, view: str = "objects", **options: Any
        ) -> Page:
            viewport = {"width": width, "height": 800}
            text = showing_first(view, to_html(overlay.graph, overlay))
            return open_page(text, viewport=viewport, **options)

        yield open_overlay


def _line(page: Page, name: str) -> Locator:
    named = page.locator(".ckv-box-name").get_by_text(name, exact=True)
    return page.locator(".ckv-line").filter(has=named)


def _moved() -> Overlay:
    was = graph({0: {"old": 1, "step": 3}, 1: {"w": 2}}, (2, 3))
    now = graph({0: {"new": 1, "step": 3}, 1: {"w": 2}}, (2, 3))
    return cv.diff(was, now).overlay


def _moved_into_net() -> Overlay:
    was = graph(
        {0: {"outer": 5, "net": 3}, 5: {"part": 1, "a": 6}, 1: {"w": 2}, 3: {"b": 4}}, (2, 4, 6)
    )
    now = graph(
        {0: {"outer": 5, "net": 1}, 5: {"a": 6}, 1: {"part": 2, "b": 4}, 2: {"w": 3}}, (3, 4, 6)
    )
    return cv.diff(_of_shapes(was, {2: (7,)}), _of_shapes(now, {3: (7,)})).overlay


def _of_shapes(of: ObjectGraph, shapes: dict[int, tuple[int, ...]]) -> ObjectGraph:
    nodes = list(of.nodes)
    for node_id, shape in shapes.items():
        (attribute,) = nodes[node_id].attributes
        nodes[node_id] = nodes[node_id]._replace(attributes=(attribute._replace(shape=shape),))
    return replace(of, nodes=tuple(nodes))


def test_a_cause_a_line_and_the_evidence_are_one_state(opened: Open) -> None:
    page = opened(overlays()["check"])
    causes = page.get_by_role("tree").get_by_role("treeitem")
    expect(causes.first).to_contain_text("Shape differs")
    expect(causes.first).to_contain_text("2 values")
    expect(causes.first).to_contain_text("model.head.kernel")
    evidence = page.locator(".ckv-evidence")
    expect(evidence).to_contain_text("The checkpoint has shape 10×3")

    # From the list to the line and the evidence,
    causes.filter(has_text="Not in the program").click()
    selected = page.locator(".ckv-line.ckv-selected")
    expect(selected).to_contain_text("not used by program")
    expect(evidence).to_contain_text("Nothing in the program takes this value.")
    expect(evidence).to_contain_text("Run the code below, where live is the checked object and ")
    expect(evidence).to_contain_text(CODE)
    expect(page.locator(".ckv-node-name")).to_contain_text("model.aux")

    # from a line to the list and the evidence,
    _line(page, "step").click()
    expect(page.locator(".ckv-cause.ckv-selected")).to_contain_text("Not in the checkpoint")
    expect(evidence).to_contain_text("Save once more with step tracked.")

    # and by keys.
    page.get_by_role("treegrid").press("]")
    expect(page.locator(".ckv-position")).to_contain_text("4 of 8")
    expect(page.locator(".ckv-cause.ckv-selected")).to_contain_text("Saver unknown")
    expect(selected).to_contain_text("table")
    page.get_by_role("treegrid").press("ArrowUp")
    expect(selected).to_contain_text("step")
    expect(evidence).to_contain_text("Save once more with step tracked.")


@pytest.mark.parametrize("width", [1500, pytest.param(1100, marks=pytest.mark.more), 700])
def test_two_strips_show_the_verdicts_and_lead_to_the_rows(opened: Open, width: int) -> None:
    page = opened(overlays()["diff"], width)
    strips = page.locator(".ckv-ribbon ul")
    expect(strips).to_have_count(2)
    for strip, name in enumerate(("In a", "In b")):
        expect(strips.nth(strip)).to_have_attribute("aria-label", re.compile(f"^{name}: "))
    dropped = strips.first.get_by_role("button", name="dropped")
    expect(dropped).to_contain_text(STATES[State.ONLY_A].glyph)
    expect(dropped).to_have_attribute(
        "title", re.compile("dropped: 20 parameters, .*, 1 only in a$")
    )
    expect(strips.last.get_by_role("button", name="dropped")).to_have_count(0)
    dropped.click()
    expect(dropped).to_have_class(re.compile("ckv-lit"))
    expect(page.locator(".ckv-line.ckv-selected")).to_contain_text("dropped")
    page.screenshot(path=_SCREENSHOTS / f"two-strips-{width}.png")


def test_a_restored_node_has_its_facts_and_no_evidence(opened: Open) -> None:
    page = opened(overlays()["check"])
    page.get_by_role("treegrid").focus()
    _line(page, "dense").get_by_role("button", include_hidden=True).first.click()
    _line(page, "dense").click()
    expect(page.locator(".ckv-node-name")).to_have_text("model.dense")
    expect(page.locator(".ckv-evidence")).to_have_count(0)


def test_the_list_of_causes_answers_to_keys(opened: Open) -> None:
    page = opened(cv.diff(without_optimizer(), keras3_adam()).overlay)
    items = page.get_by_role("treeitem")
    expect(items).to_have_count(1)
    items.first.focus()
    items.first.press("ArrowRight")
    assert items.first.get_attribute("aria-expanded") in (None, "true")

    page = opened(overlays()["check"])
    items = page.get_by_role("treeitem")
    items.first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(items.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(items.nth(2)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(items.last).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(items.first).to_have_attribute("aria-selected", "true")


def test_problems_that_one_cause_explains_are_folded_below_it(opened: Open) -> None:
    check = overlays()["check"]
    several = Explanation("Three at once", "model.head", "The layer is another one.", 3, (0, 3, 5))
    rest = [cause for cause in check.causes if not {0, 3, 5} & {*cause.problems}]
    page = opened(replace(check, causes=(several, *rest)))
    item = page.get_by_role("treeitem", expanded=False).first
    expect(item).to_contain_text("Three at once")
    item.focus()
    page.keyboard.press("ArrowRight")
    below = page.get_by_role("group").get_by_role("treeitem")
    expect(below).to_have_count(3)
    below.last.click()
    expect(below.last).to_have_attribute("aria-selected", "true")
    expect(page.locator(".ckv-line.ckv-selected")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(item).to_have_count(0)  # it is open, and has the focus
    page.keyboard.press("ArrowLeft")
    expect(below).to_have_count(0)


def test_a_moved_part_is_one_line_with_both_names(opened: Open) -> None:
    page = opened(_moved())
    line = _line(page, "new")
    expect(line.locator(".ckv-side-saved .ckv-box-name")).to_have_text("old")
    expect(line).to_contain_text("moved")
    expect(page.locator(".ckv-moves")).to_have_count(0)


def test_a_part_of_another_parent_says_where_it_was(opened: Open) -> None:
    page = opened(_moved_into_net())
    line = _line(page, "part")
    for side in ("saved", "live"):
        expect(line.locator(f".ckv-side-{side} .ckv-box-name")).to_have_text("part")
    expect(line.locator(".ckv-side-saved .ckv-box-facts")).to_have_text("outer.part")
    expect(page.locator(".ckv-moves")).to_have_count(0)


CUT = """() => [...document.querySelectorAll(
    ".ckv-line-word, .ckv-headline > span, .ckv-cause-title > b, .ckv-state-word, .ckv-title, "
    + ".ckv-sides .ckv-box-name, .ckv-verdicts > li, .ckv-between"
)].filter(element => element.checkVisibility() && element.clientWidth > 1
    && (element.scrollWidth > element.clientWidth + 1
        || element.scrollHeight > element.clientHeight + 1))
.map(element => `${element.className} ${element.textContent}`)"""


@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("name", ["check", pytest.param("diff", marks=pytest.mark.more)])
def test_no_word_is_cut(opened: Open, name: str, width: int) -> None:
    page = opened(overlays()[name], width)
    tab = page.get_by_role("tab", name="Two sides")
    if tab.is_visible():
        tab.click()
    expect(page.locator(".ckv-line").first).to_be_visible()
    sizes = """() => [...document.querySelectorAll(".ckv-sides *, .ckv-causes *")]
        .map(element => parseFloat(getComputedStyle(element).fontSize))"""
    for scheme in SCHEMES:
        in_scheme(page, scheme)
        page.screenshot(path=_SCREENSHOTS / f"two-sides-{name}-{width}-{scheme}.png")
        assert page.evaluate(CUT) == [], scheme
        assert min(page.evaluate(sizes)) >= 11


def test_no_state_is_cut_in_the_object_graph(opened: Open) -> None:
    page = opened(overlays()["check"])
    page.get_by_role("button", name="Object graph").click()
    expect(page.locator(".ckv-outline")).to_be_visible()
    expect(page.locator(".ckv-sides")).to_have_count(0)
    cut = """() => [...document.querySelectorAll(".ckv-row > .ckv-cell-state")]
        .filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"""
    assert page.evaluate(cut) == []
    assert page.evaluate(CUT) == []
    page.get_by_role("button", name="Two sides").click()
    expect(page.locator(".ckv-sides")).to_be_visible()


def test_a_narrow_page_has_one_list_with_the_same_signs(opened: Open) -> None:
    wide, narrow = opened(overlays()["check"], 1500), opened(overlays()["check"], 890)
    signs = "lines => lines.map(line => line.querySelector('.ckv-between').textContent)"
    shown = [page.locator(".ckv-line").evaluate_all(signs) for page in (wide, narrow)]
    assert shown[0] == shown[1]
    for page, boxes in ((wide, 2), (narrow, 1)):
        expect(_line(page, "head").locator(".ckv-box:visible")).to_have_count(boxes)
        expect(_line(page, "aux").locator(".ckv-box:visible")).to_have_count(1)
        expect(_line(page, "step").locator(".ckv-box:visible")).to_have_count(1)


def test_what_restores_stays_folded_and_is_counted(opened: Open) -> None:
    restored = opened(cv.diff(keras3_adam(), keras3_adam()).overlay)
    expect(restored.locator(".ckv-causes")).to_contain_text("No differences")
    expect(restored.locator(".ckv-others")).to_contain_text("values are equal")
    expect(restored.locator(".ckv-sign.ckv-loud")).to_have_count(0)

    page = opened(overlays()["check"])
    expect(page.locator(".ckv-others")).to_have_text(re.compile("3 others restore"))
    alone = opened(cv.diff(without_optimizer(), keras3_adam()).overlay)
    expect(_line(alone, "optimizer")).to_contain_text("only in b")
    expect(_line(alone, "optimizer")).to_have_attribute("aria-expanded", "false")


def test_code_of_a_remedy_can_be_copied(opened: Open) -> None:
    page = opened(overlays()["check"], permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("treeitem").filter(has_text="Not in the program").click()
    expect(page.locator(".ckv-remedy pre")).to_have_text(CODE)
    # Without cells there is nothing to insert into.
    expect(page.get_by_role("button", name="Insert below")).to_have_count(0)
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator(".ckv-remedy")).to_contain_text("copied")


def test_only_lines_in_sight_exist(opened: Open) -> None:
    names = {f"layer {i}": 1 + i for i in range(20_000)}
    a = graph({0: names}, tuple(range(1, 20_001)))
    page = opened(cv.diff(_of_shapes(a, {15_000: (9,)}), a).overlay)
    expect(page.locator(".ckv-cause")).to_have_count(1)
    expect(_line(page, "layer 14999")).to_be_visible()
    page.get_by_role("treegrid").press("*")
    assert page.locator(".ckv-line").count() < 100
    page.get_by_role("treegrid").press("End")
    page.get_by_role("treegrid").press("]")
    expect(_line(page, "layer 14999")).to_be_in_viewport()


def _dense(*names: str) -> Any:
    keras = pytest.importorskip("keras")
    inputs = outputs = keras.Input((2,))
    for name in names:
        outputs = keras.layers.Dense(2, name=name)(outputs)
    return ckpt(model=keras.Model(inputs, outputs))


def test_a_line_has_one_layer_and_says_where_a_plain_restore_puts_its_values(
    opened: Open, tmp_path: Path
) -> None:
    path = str(_dense("stem", "middle", "top").save(str(tmp_path / "ckpt")))
    page = opened(cv.check(_dense("stem", "top"), path).overlay, view="layers")
    # TensorFlow goes by the index, so the program's top gets the values of the middle.
    top, middle = _line(page, "top"), _line(page, "middle")
    for side in ("saved", "live"):
        expect(top.locator(f".ckv-side-{side} .ckv-box-name")).to_have_text("top")
    expect(middle.locator(".ckv-side-live .ckv-box")).to_have_count(0)
    strip = page.locator(".ckv-ribbon ul").first
    expect(strip.get_by_role("button", name="middle")).to_have_count(1)
    for line in (top, middle):
        if line.get_attribute("aria-expanded") == "false":
            line.dblclick()
    kernel = page.locator(".ckv-line", has_text="gets middle.kernel")
    expect(kernel).to_have_count(1)
    gone = page.locator(".ckv-line", has_text="goes into top.kernel")
    expect(gone).to_have_count(1)
    page.screenshot(path=_SCREENSHOTS / "names-in-the-file.png")

    # A curve leads there from the selected line, or on demand from each.
    ways = page.locator(".ckv-moves > path")
    expect(ways).to_have_count(0)
    gone.click()
    expect(ways).to_have_count(1)
    page.get_by_role("button", name="model.top.kernel").click()
    expect(kernel).to_have_attribute("aria-selected", "true")
    expect(page.locator(".ckv-details")).to_contain_text("puts here the saved value of")
    page.get_by_role("treegrid").press("t")
    expect(ways).to_have_count(3)  # of both values, and of the layer
    page.screenshot(path=_SCREENSHOTS / "ways-of-a-plain-restore.png")
    page.get_by_role("button", name="TensorFlow's way").click()
    expect(ways).to_have_count(1)


def _counts(page: Page, texts: str, pattern: str) -> dict[str, int]:
    """Return the numbers in some texts of the page, by the words beside them."""
    found = re.findall(pattern, " ; ".join(page.locator(texts).all_inner_texts()))
    return {words: int(number) for words, number in found}


@pytest.mark.parametrize("now", ["stem top", "a stem middle top", "stem other top", "x y z"])
def test_all_counts_on_a_screen_agree(opened: Open, tmp_path: Path, now: str) -> None:
    path = str(_dense("stem", "middle", "top").save(str(tmp_path / "ckpt")))
    check = cv.check(_dense(*now.split()), path)
    page = opened(check.overlay)
    marks = zip(check.overlay.graph.nodes, check.overlay.marks, strict=True)
    states = Counter(mark.state for node, mark in marks if node.attributes)
    texts = page.locator(".ckv-filters label").all_inner_texts()
    shown = [re.fullmatch(r"\W*(.*?)\s*(\d+)", text.strip()) for text in texts]
    filters = {match[1]: int(match[2]) for match in shown if match is not None}
    assert filters == {
        STATES[state].word: states[state]
        for state in {mark.state for mark in check.overlay.marks}
        if state is not State.PLAIN
    }
    headline = page.locator(".ckv-headline").inner_text()
    for state, words in (
        (State.MOVED, "moved"),
        (State.SAVED_ONLY, "not used"),
        (State.LIVE_ONLY, "not in checkpoint"),
        (State.SHAPE, "of another shape"),
    ):
        told = re.search(rf"(\d+)(?: values?)? {words}", headline)
        assert (int(told[1]) if told else 0) == states[state]
    astray = re.search(r"(\d+)(?: values?)? misplaced", headline)
    assert astray is None or int(astray[1]) == states[State.WARNED]
    others = page.locator(".ckv-others").inner_text()
    assert re.search(r"\d+", others)[0] == str(states[State.MATCHED])  # type: ignore[index]
    for button in page.locator(".ckv-position").all_inner_texts():
        assert re.search(r"\d+", button)[0] == str(len(check.overlay.problems))  # type: ignore[index]
    for cause, item in zip(
        check.overlay.causes, page.locator(".ckv-cause").all_inner_texts(), strict=True
    ):
        of_sentence = re.search(r"\((\d+) values?", cause.sentence)
        in_title = re.search(r"(\d+) values?", item)
        assert in_title is not None
        if of_sentence is not None:
            assert in_title[1] == of_sentence[1]

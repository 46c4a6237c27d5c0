"""How many actions it takes to answer a question: the table in docs/explorer.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.graphs.search.measures import Measures
from tests.support.fixed_check import FixedCheck, every_kind, of_shapes
from tests.support.graphs import graph
from tests.support.programs import ckpt, module, saved, var
from tests.support.tables import floats, write_bundle
from tests.ui.pages import ANSWERING, ASKING, answer_pages, html_pages, showing_first
from tests.ui.tables import line, selected

_TABLE = Path(__file__).parents[2] / "docs" / "explorer.md"
_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_NAN = float("nan")
_PROMISED = re.compile(r"^\| (.*\?) \| (none|\d)[:,]", re.MULTILINE)

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end", "quiet_tensorflow")]


class _Actions:
    """A person in front of a page, who counts each press, click and word typed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._made = 0
        page.get_by_role("treegrid").first.focus()

    def press(self, key: str) -> None:
        self._made += 1
        self.page.keyboard.press(key)

    def click(self, button: str) -> None:
        self._made += 1
        self.page.get_by_role("button", name=button).first.click()

    def open_menu(self) -> None:
        self._made += 1
        self.page.locator(".ckv-toolbar > .ckv-menu > summary").click()

    def select(self, name: str) -> None:
        self._made += 1
        line(self.page, name).first.click()

    def type(self, text: str) -> None:
        self._made += 1
        self.page.keyboard.type(text)

    def end(self, question: str) -> None:
        """Compare the actions with those that the documentation promises."""
        promised = dict(_PROMISED.findall(_TABLE.read_text()))[question]
        assert self._made == (0 if promised == "none" else int(promised)), question
        self._made = 0


Open = Callable[..., _Actions]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a graph or a comparison in a page of its own, in front of a person."""
    with html_pages(browser, tmp_path) as open_page:

        def open_graph(
            shown: Graph,
            overlay: Overlay | None = None,
            check: FixedCheck | None = None,
            measures: Measures | None = None,
            kernel: Shown | None = None,
        ) -> _Actions:
            text, mount = to_html(shown, overlay, measures), "explorer.render({ model,"
            if check is not None:
                model = f"answering(model, {{ error: 'no' }}, [], {check.as_javascript()})"
                text = text.replace(mount, f"{ANSWERING}explorer.render({{ model: {model},")
            if kernel is not None:
                text = text.replace(mount, f"{ASKING}explorer.render({{ model: asking(model),")
            text = showing_first("layers", text)
            viewport = {"width": 1500, "height": 800}
            page = open_page(text, viewport=viewport, bypass_csp=True)
            if kernel is not None:
                answer_pages(page, lambda question: answer(kernel, question))
            return _Actions(page)

        yield open_graph


def _model(head: str) -> Any:
    """Return a model with two inputs, a frozen part and a head."""
    keras = pytest.importorskip("keras")
    pixels, words = keras.Input((8,), name="pixels"), keras.Input((4,), name="words")
    base = keras.Sequential([keras.layers.Dense(6), keras.layers.Dense(5)], name="base")
    base.trainable = False
    merged = keras.layers.Concatenate(name="concatenate")(
        [base(pixels), keras.layers.Dense(3, name="embed")(words)]
    )
    hidden = keras.layers.Dense(7, name="dense_14")(merged)
    return keras.Model([pixels, words], keras.layers.Dense(2, name=head)(hidden))


def test_questions_about_a_model_take_as_many_actions_as_promised(opened: Open) -> None:
    person = opened(cv.graph(_model("head")))
    page = person.page
    for name in ("base", "concatenate", "dense_14", "head"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    person.end("What is in it?")
    expect(page.get_by_text("❄ frozen").first).to_be_visible()
    person.end("What is frozen?")
    page.screenshot(path=_SCREENSHOTS / "questions-model.png")

    details = page.locator(".ckv-details")
    page.get_by_role("treegrid").first.press("/")  # or a click into the box, as part of typing
    person.type("concatenate")
    person.press("Enter")
    for layer in ("base", "embed"):
        expect(details.get_by_role("button", name=layer)).to_be_visible()
    person.end("What feeds `concatenate`?")
    page.get_by_role("treegrid").first.press("/")
    page.keyboard.press("Control+a")
    person.type("dense_14")
    person.press("Enter")
    expect(details).to_contain_text(re.compile(r"units\s*7"))
    person.end("How many units has `dense_14`?")


def _block_gone(directory: Path) -> RestoreCheck:
    """Return the check of a program without the second of its blocks."""
    keras = pytest.importorskip("keras")

    def program(*blocks: str) -> Any:
        inputs = outputs = keras.Input((8,))
        for name in ("stem", *blocks, "head"):
            outputs = keras.layers.Dense(8 if name != "head" else 3, name=name)(outputs)
        return ckpt(model=keras.Model(inputs, outputs))

    path = str(program("block0", "block1", "block2").save(str(directory / "ckpt")))
    return cv.check(program("block0", "block2"), path)


def test_questions_about_a_check_take_as_many_actions_as_promised(
    opened: Open, tmp_path: Path
) -> None:
    shown = show_of(_block_gone(tmp_path))
    assert shown.overlay is not None
    asks = ("fix", "restore", "undo", "steps", "questions", "said")
    answers = {ask: answer(shown, {"ask": ask, "at": 0}) for ask in asks}
    person = opened(shown.graph, shown.overlay, FixedCheck(shown.overlay, answers))
    page = person.page
    expect(page.locator(".ckv-sentence")).to_contain_text("removed block1")
    person.end("What did I change?")
    expect(page.locator(".ckv-check-verdict")).to_contain_text("restore() raises ValueError")
    person.end("Would `restore()` work?")
    gone = line(page, "block1")
    expect(gone.locator(".ckv-cell-plain")).to_have_text(re.compile("into block2"))
    expect(gone.locator(".ckv-cell-fixed")).to_contain_text("stays")
    person.end("Where do the values of a block go?")
    expect(page.locator(".ckv-strip-name").last).to_have_text("0 of 9 keep their own")
    person.end("What stays as it is?")
    page.screenshot(path=_SCREENSHOTS / "questions-check.png")

    person.select("block1")
    expect(page.locator(".ckv-details .ckv-problem-text").first).to_be_visible()
    person.end("Why?")
    person.click("The asserts")
    expect(page.locator(".ckv-asserts")).to_contain_text("assert_consumed()")
    person.end("Do the asserts pass?")
    person.click("Code")
    expect(page.locator(".ckv-code-text").last).to_contain_text("tf.train")
    person.end("Which code restores the same?")
    person.click("Restore 9 values")
    expect(page.locator(".ckv-sentence")).to_contain_text("Restored all 9 values.")
    person.end("Can I have what fits?")
    person.click("Undo")
    expect(page.locator(".ckv-sentence")).to_contain_text("Put back")
    person.end("Can I have my values back?")
    person.press("t")
    expect(page.locator(".ckv-drawing")).to_be_visible()
    person.end("How do the layers connect?")
    page.keyboard.press("t")
    person.open_menu()
    person.click("Object graph")
    expect(page.get_by_role("row", name="_operations").first).to_be_visible()
    person.end("What are all objects of TensorFlow?")
    page.keyboard.press("t")
    page.keyboard.press("t")
    person.press("p")
    expect(page.locator(".ckv-play-number")).to_be_visible()
    person.press("]")
    expect(page.locator(".ckv-play-wrong")).to_be_visible()
    person.end("Which step goes wrong first?")


def test_a_question_about_another_name_takes_as_many_actions_as_promised(
    opened: Open, tmp_path: Path
) -> None:
    """Keys alone, with a kernel that answers."""

    def net(head: str) -> Any:
        return module(embed=var([1.0]), **{head: var([2.0, 3.0])})

    path = saved(tmp_path, net=net("lm_head"))
    shown = show_of(cv.check(ckpt(net=net("head")), path))
    person = opened(shown.graph, shown.overlay, kernel=shown)
    page = person.page
    expect(page.locator(".ckv-sentence")).to_contain_text("renamed lm_head to head")
    person.press("e")
    name = page.get_by_role("combobox", name="Name of net.head in the program")
    expect(name).to_be_focused()
    person.type("lm_head")
    person.press("Enter")
    expect(page.locator(".ckv-sentence")).to_contain_text("Restores all 3 values.")
    expect(page.locator(".ckv-changing-edits li")).to_contain_text("Rename net.head to lm_head")
    person.end("And if I kept the old name?")
    page.screenshot(path=_SCREENSHOTS / "questions-name.png")


def test_questions_about_guesses_and_diffs_take_as_many_actions_as_promised(opened: Open) -> None:
    check = every_kind()
    person = opened(check.overlay.graph, check.overlay, check)
    person.press("y")
    expect(person.page.get_by_role("checkbox").first).to_be_checked()
    person.end("Are these the same?")

    edges = {0: {"net": 1, "head": 4}, 1: {"x": 2, "y": 3}}
    a, b = graph(edges, (2, 3, 4)), of_shapes(graph(edges, (2, 3, 4)), {4: (9,)})
    overlay = cv.diff(a, b).overlay
    person = opened(overlay.graph, overlay)
    expect(person.page.locator(".ckv-sentence")).to_contain_text("another shape")
    person.end("What differs?")
    person.press("]")
    expect(selected(person.page)).to_contain_text("head")
    person.end("Where is the first difference?")


def test_questions_about_changes_take_as_many_actions_as_promised(
    opened: Open, tmp_path: Path
) -> None:
    paths = [
        write_bundle(tmp_path / name, {f"{key}/kernel": floats(1, at) for key, at in of.items()})
        for name, of in (
            ("a", {"up": 1, "mid": 1, "head": 1}),
            ("b", {"up": 2, "mid": _NAN, "head": 3}),
        )
    ]
    diff = show_of(cv.diff(*paths))
    diff.measures()
    content = diff.content()
    person = opened(diff.graph, content.overlay, measures=content.measures)
    sentence = person.page.locator(".ckv-sentence")
    expect(sentence).to_contain_text("head changed most")
    person.end("What changed most?")
    expect(sentence).to_contain_text("mid.kernel has 1 NaN")
    person.end("Where is the NaN?")
    person.click("change")
    names = person.page.locator(".ckv-cell-saved .ckv-table-name")
    expect(names).to_have_text(["mid", "head", "up"])
    person.end("Which parts changed more than others?")
    person.click("Show the NaN")
    expect(names).to_have_text(["mid", "kernel", "head", "up"])
    expect(selected(person.page)).to_contain_text("NaN")
    person.end("What else is in its layer?")


def test_each_promise_is_kept() -> None:
    """The tests above count the actions of every question in the documentation."""
    promised = {question for question, _ in _PROMISED.findall(_TABLE.read_text())}
    source = Path(__file__).read_text()
    assert promised == set(re.findall(r'\.end\("(.*)"\)', source))

"""A restore that plays in a page: its sentences, keys, slider, queue, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from tests.support.graphs import graph
from tests.ui.cut import faults
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import choose_view, html_pages
from tests.ui.played import program_and_path
from tests.ui.tables import line, shown
from tests.ui.test_saved_notebooks import run_and_save

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end")]

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> RestoreCheck:
    return cv.check(*program_and_path(tmp_path_factory.mktemp("play")))


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a check in a page without a kernel, and plays its restore."""
    with html_pages(browser, tmp_path) as open_page:

        def open_check(check: RestoreCheck, width: int = 1500, **options: Any) -> Page:
            file = tmp_path / "saved.html"
            cv.show(check).save_html(file)
            page = open_page(
                file.read_text("utf-8"), viewport={"width": width, "height": 800}, **options
            )
            page.get_by_role("button", name="Step by step").click()
            expect(page.locator(".ckv-play-bar, .ckv-play-note")).to_be_visible()
            expect(page.locator(".ckv-play")).not_to_contain_text("Asking")
            return page

        yield open_check


def _go(page: Page, number: int) -> None:
    page.get_by_role("slider", name="Steps").fill(str(number))
    expect(page.locator(".ckv-play-number")).to_have_text(re.compile(rf"^step {number} of"))


def _cell(page: Page, name: str) -> Locator:
    """Return what the table says of a part so far."""
    return line(page, name).locator(".ckv-cell-plain")


def test_each_step_has_the_words_and_the_queue_of_the_check(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check)
    steps = check.steps
    for number in range(1, len(steps) + 1, 9):
        _go(page, number)
        step = steps[number - 1]
        state = step.state
        assert state is not None
        expect(page.locator(".ckv-play-sentence")).to_have_text(step.text)
        expect(page.locator(".ckv-play-why")).to_have_text(step.reason)
        expect(page.locator(".ckv-play-function")).to_have_text(step.place.function)
        expect(page.locator(".ckv-play-file")).to_contain_text(f".py:{step.place.line}")
        nodes = "items => items.map(item => Number(item.dataset.node))"
        shown = page.locator(".ckv-play-queue .ckv-play-chip")
        expect(shown).to_have_count(min(len(state.queue), 16))
        assert tuple(shown.evaluate_all(nodes)) == state.queue[:16]
        waiting = page.locator(".ckv-play-waits .ckv-play-chip").evaluate_all(nodes)
        assert tuple(waiting) == tuple(wait.saved for wait in state.waiting)
        counts = page.locator(".ckv-play-counts b").all_inner_texts()
        assert (int(counts[0]), int(counts[3])) == (state.bound, state.assigned)
    expect(page.locator(".ckv-play-number")).to_contain_text(f"of {len(steps)}")


def test_the_middle_column_shows_what_has_become_of_each_line(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check)
    heads = page.get_by_role("columnheader").locator("b")
    expect(heads).to_have_text(["as saved", "so far", "in the program"])
    step = _cell(page, "step")
    expect(step).to_have_text("not looked at")
    bound = next(s for s in check.steps if s.action == "bind" and s.local_name == "step")
    _go(page, bound.number)
    expect(step).to_have_text("“step” ✓ bound")
    expect(step).to_have_class(re.compile("ckv-now"))
    _go(page, bound.number + 1)
    expect(step).to_contain_text("in the queue")
    # A closed line counts what is below it; the lines around a step open.
    kernel = next(s.number for s in check.steps if s.action == "restore" and "l1.kernel" in s.text)
    _go(page, kernel)
    expect(_cell(page, "kernel")).to_contain_text("restored")
    expect(_cell(page, "optimizer")).to_contain_text("bound below")
    _go(page, len(check.steps))
    expect(step).to_contain_text("restored")
    expect(_cell(page, "old")).to_contain_text("waits")


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_the_words_of_the_middle_column_are_whole(
    check: RestoreCheck, opened: Open, width: int
) -> None:
    page = opened(check, width)
    for number in range(1, len(check.steps) + 1, 7):
        _go(page, number)
        cells = page.locator(".ckv-fate > span:last-child:visible")
        assert cells.evaluate_all("a => a.filter(e => e.scrollWidth > e.clientWidth).length") == 0


def test_keys_step_play_stop_and_close(check: RestoreCheck, opened: Open) -> None:
    page = opened(check)
    number = page.locator(".ckv-play-number")
    keys = page.keyboard
    keys.press("ArrowRight")
    expect(number).to_contain_text("step 2 ")
    keys.press("Shift+ArrowRight")
    visits = [s.number for s in check.steps if "next in the queue" in s.text]
    expect(number).to_contain_text(f"step {visits[1]} ")
    keys.press("ArrowLeft")
    expect(number).to_contain_text(f"step {visits[1] - 1} ")
    keys.press("]")
    problem = next(s.number for s in check.steps if s.is_problem)
    keys.press("Home")
    keys.press("]")
    expect(number).to_contain_text(f"step {problem} ")
    expect(page.locator(".ckv-play-wrong")).to_be_visible()
    keys.press("End")
    expect(number).to_contain_text(f"step {len(check.steps)} ")
    keys.press("Home")
    page.get_by_role("combobox", name="Speed").select_option("4")
    page.locator(".ckv-play").focus()
    keys.press("Space")
    expect(page.get_by_role("button", name="Pause (Space)")).to_be_visible()
    keys.press("Space")
    expect(page.get_by_role("button", name="Play (Space)")).to_be_visible()
    keys.press("Escape")
    expect(page.locator(".ckv-play")).to_have_count(0)
    expect(page.get_by_role("button", name="Step by step")).to_be_focused()


def test_closing_shows_the_check_as_it_was(check: RestoreCheck, opened: Open) -> None:
    page = opened(check)
    page.get_by_role("button", name="Close").click()
    before = shown(page)
    page.get_by_role("treegrid").press("p")
    _go(page, 12)
    assert shown(page) != before
    page.keyboard.press("Escape")
    expect(page.locator(".ckv-play")).to_have_count(0)
    expect(page.locator(".ckv-check-head")).to_be_visible()
    assert shown(page) == before
    page.get_by_role("treegrid").press("p")
    choose_view(page.locator(".ckpt-viz"), "Graph")
    expect(page.locator(".ckv-play")).to_have_count(0)
    expect(page.locator(".ckv-outline")).to_be_visible()
    # The key of the graph closes the steps, as the choice does.
    page.keyboard.press("t")
    page.get_by_role("treegrid").press("p")
    expect(page.locator(".ckv-play-number")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".ckv-play")).to_have_count(0)
    expect(page.locator(".ckv-outline")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1500, 1100, 700])
def test_no_word_is_cut_and_none_overlap(
    check: RestoreCheck, opened: Open, width: int, scheme: str
) -> None:
    page = opened(check, width, color_scheme=scheme)
    items = [s for s in check.steps if s.action == "bind" and s.local_name.isdecimal()]
    longest = max(check.steps, key=lambda s: len(s.text))
    for step in (items[-1], longest, check.steps[len(check.steps) - 1]):
        _go(page, step.number)
        expect(page.locator(".ckv-play-sentence")).to_have_text(step.text)
        if step is items[-1]:
            page.screenshot(path=_SCREENSHOTS / f"play-{width}-{scheme}.png")
        assert faults(page.locator(".ckv-play")) == []


def test_names_are_text_and_a_long_story_opens_only_what_is_near(opened: Open) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e"
    edges = {0: {f"{evil}{i}": 1 + 2 * i for i in range(200)}}
    edges |= {1 + 2 * i: {"w": 2 + 2 * i} for i in range(200)}
    made = graph(edges, tuple(2 + 2 * i for i in range(200)))
    check = cv.check(made, made)
    page = opened(check)
    _go(page, 500)
    expect(page.locator(".ckv-now")).to_have_count(1)
    expect(page.locator(".ckv-now")).to_be_in_viewport()
    assert page.locator(".ckv-table-line[aria-expanded=true]").count() < 20
    assert page.locator(".ckv-play img").count() == 0
    page.keyboard.press("Home")
    expect(page.locator(".ckv-play-sentence")).to_contain_text("binds the root")


def test_a_file_opens_at_the_step_of_the_explorer(
    check: RestoreCheck, browser: Browser, tmp_path: Path
) -> None:
    explorer = cv.show(check)
    explorer.step = 12
    explorer.save_html(tmp_path / "step.html")
    with html_pages(browser, tmp_path) as open_page:
        page = open_page((tmp_path / "step.html").read_text("utf-8"))
        expect(page.locator(".ckv-play-sentence")).to_have_text(check.steps[11].text)
        page.get_by_role("button", name="Close").click()
        expect(page.locator(".ckv-play")).to_have_count(0)


def test_an_address_is_that_of_the_step_and_no_other_text_changes_anything(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check)
    number = page.locator(".ckv-play-number")
    address, _, step = page.url.partition("#")
    assert step == "step=1"
    page.evaluate("location.hash = '#step=12'")
    expect(number).to_contain_text("step 12 of")
    length = len(check.steps)
    others = (0, -1, length + 1, "1e1", "3<img src=x onerror=alert(1)>", "%33", "³", "")
    for other in (*(f"step={value}" for value in others), "step", "steps=3", "x&step=3"):
        page.evaluate("hash => { location.hash = hash; }", f"#{other}")
        page.evaluate("() => new Promise(requestAnimationFrame)")
        expect(number).to_contain_text("step 12 of")
    page.goto(f"{address}#step={length}")
    page.reload()
    expect(number).to_contain_text(f"step {length} of")
    page.keyboard.press("Home")
    assert page.url == f"{address}#step=1"
    page.keyboard.press("Escape")
    expect(page.locator(".ckv-play")).to_have_count(0)
    assert page.url == address


LIVE = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

def program(**names):
    return tf.train.Checkpoint(**{name: tf.Variable(1.0) for name in names})

path = program(**{f"v{i}": i for i in range(120)}).save(tempfile.mkdtemp() + "/ckpt")
explorer = cv.show(program(**{f"v{i}": i for i in range(1, 120)}), against=path)
explorer
"""
SAID = "print(explorer.step, explorer.comparison.steps[explorer.step - 1].text)"


def test_a_kernel_has_the_words_the_sources_and_the_step(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    sources = (LIVE, SAID, "explorer.step = 300", "explorer.step = None")
    shared.open(lab, "play.ipynb", *sources)
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    explorer.get_by_role("button", name="Step by step").click()
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("binds the root")
    lab.page.keyboard.press("ArrowRight")
    explorer.get_by_role("button", name="Show the source").click()
    expect(explorer.locator(".ckv-play-here")).to_contain_text("popleft")
    expect(explorer.locator(".ckv-play-here")).to_be_in_viewport()
    assert explorer.locator(".ckv-table").evaluate("table => table.offsetHeight") >= 190
    lab.screenshot("play-live")
    sentence = explorer.locator(".ckv-play-sentence").inner_text()
    lab.run_cell(1)
    expect(lab.output(1)).to_have_text(f"2 {sentence}")
    # These words are in another window, and the focus stays where the user has it.
    lab.run_cell(2)
    expect(explorer.locator(".ckv-play-number")).to_contain_text("step 300 of")
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("saved value")
    lab.run_cell(3)
    expect(explorer.locator(".ckv-play")).to_have_count(0)
    assert not explorer.evaluate("view => view.contains(document.activeElement)")


def test_a_saved_notebook_plays_without_its_kernel(lab: JupyterLab, shared: SharedKernel) -> None:
    run_and_save(lab, shared, "saved.ipynb", LIVE)
    lab.reopen_without_kernel("saved.ipynb")
    explorer = lab.output(0).locator(".ckpt-viz")
    explorer.get_by_role("button", name="Step by step").click()
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("binds the root")
    expect(explorer.get_by_role("button", name="Show the source")).to_have_count(0)


def test_too_many_steps_for_a_file_need_a_kernel(opened: Open) -> None:
    edges = {0: {f"a{i}": i for i in range(1, 1600)}}
    made = graph(edges, tuple(range(1, 1600)))
    page = opened(cv.check(made, made))
    expect(page.locator(".ckv-play")).to_contain_text("a kernel has them")
    page.locator(".ckv-play").get_by_role("button", name="Close").click()
    expect(page.locator(".ckv-play")).to_have_count(0)


def test_a_row_says_where_tensorflow_puts_what_belongs_elsewhere(
    opened: Open, tmp_path: Path
) -> None:
    """An item is new in front of a list: each saved item meets the one before its own."""
    import tensorflow as tf

    def program(*names: str) -> Any:
        def layer(name: str, size: int) -> Any:
            module = tf.Module(name=name)
            module.weight = tf.Variable(tf.ones([size]), name=f"{name}_weight")
            return module

        root = tf.train.Checkpoint()
        root.items = [layer(name, 2 + place % 2) for place, name in enumerate(names)]
        return root

    path = program("first", "second").save(str(tmp_path / "ckpt"))
    live = program("new", "other", "first", "second")
    check = cv.check(live, path)
    page = opened(check)
    bound = next(s for s in check.steps if s.action == "bind" and s.local_name == "weight")
    assert check.saved is not None and bound.saved is not None and bound.live is not None
    assert check.saved.name(bound.saved) == check.live.name(bound.live) == "(root).items.0.weight"
    _go(page, bound.number)
    now = page.locator(".ckv-now")
    expect(now.first).to_contain_text("“weight” ✓ bound")
    row = page.locator(".ckv-table-line", has=now).first.get_attribute("id")
    _go(page, bound.number + 1)
    expect(page.locator(f"#{row}")).to_contain_text("in the queue: items.0.weight")
    page.screenshot(path=_SCREENSHOTS / "play-apart.png")

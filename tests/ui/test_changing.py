"""A learner types names into the table of a check, and sees the table and its steps change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.graphs.render.html import to_html
from tests.support import frontend, name_based
from tests.support.programs import ckpt, module, saved, var
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import ASKING, answer_pages, html_pages
from tests.ui.tables import line, selected

AXE = frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js"
_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_FIELD = re.compile("^Name of .* in the program$")

pytestmark = [
    pytest.mark.tf,
    pytest.mark.usefixtures("front_end", "quiet_tensorflow"),
]

CHECK = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

def program():
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.l1 = tf.keras.layers.Dense(5)
        def call(self, x):
            return self.l1(x)
    net = Net()
    net(tf.zeros((1, 1)))
    adam = tf.keras.optimizers.Adam(0.1)
    adam.build(net.trainable_variables)
    return tf.train.Checkpoint(net=net, optimizer=adam, step=tf.Variable(3))

path = program().save(tempfile.mkdtemp() + "/ckpt")
ckpt = program()
explorer = cv.show(ckpt, against=path)
explorer
"""

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens the check of a program, with a kernel that answers its page."""

    def program(head: str, **others: Any) -> Any:
        blocks = [module(w=var([0.0] * 4)) for _ in range(3)]
        net = module(up=var([1.0, 2.0]), down=var([3.0, 4.0]), blocks=blocks, **others)
        setattr(net, head, module(w=var([5.0, 6.0, 7.0]), b=var([8.0])))
        return ckpt(net=net, step=var(3))

    path = saved(tmp_path, program("lm_head", ema=var([8.0] * 5)))
    usual = cv.check(program("head"), path)
    with html_pages(browser, tmp_path) as open_page:

        def open_check(check: cv.RestoreCheck = usual, **options: Any) -> Page:
            shown = show_of(check)
            text = to_html(shown.graph, shown.overlay).replace(
                "explorer.render({ model,", f"{ASKING}explorer.render({{ model: asking(model),"
            )
            page = open_page(text, bypass_csp=True, **options)
            answer_pages(page, lambda question: answer(shown, question))
            page.get_by_role("treegrid").focus()
            return page

        yield open_check


def _field(page: Page | Locator) -> Locator:
    return page.get_by_role("combobox", name=_FIELD)


def _edits(page: Page | Locator) -> Locator:
    return page.locator(".ckv-changing-edits li")


def _name(page: Page, part: str, typed: str) -> None:
    """Type another name of a part: keys alone, from the selected line on."""
    line(page, part).click()
    page.keyboard.press("F2")
    expect(_field(page)).to_be_focused()
    page.keyboard.press("Backspace")  # the name is selected
    page.keyboard.type(typed)
    page.keyboard.press("Enter")


def test_a_name_is_chosen_among_saved_ones_or_has_a_reason(opened: Open) -> None:
    page = opened()
    keys = page.keyboard
    keys.press("e")
    field = page.get_by_role("combobox", name="Name of net.head in the program")
    expect(field).to_be_focused()
    expect(selected(page)).to_contain_text("lm_head")
    names = page.get_by_role("option")
    expect(names).to_have_text(["lm_head", "ema", "up", "down", "blocks", "step", "save_counter"])
    keys.type("h")
    expect(names).to_have_text(["lm_head"])
    keys.type(" d")
    keys.press("Enter")
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("found 'h d' as the new name of net.head, expected letters")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    page.screenshot(path=_SCREENSHOTS / "changing-problem.png")
    keys.press("Control+a")
    keys.press("Backspace")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    expect(field).to_have_value("lm_head")
    expect(names.first).to_have_attribute("aria-selected", "true")
    keys.press("Enter")
    expect(_edits(page)).to_contain_text(["Rename net.head to lm_head"])
    expect(page.locator(".ckv-sentence")).to_have_text("ema is gone.")
    expect(selected(page).locator(".ckv-cell-plain")).to_contain_text("here")
    expect(selected(page)).to_contain_text("lm_head")
    expect(page.get_by_role("treegrid")).to_be_focused()
    results = page.locator(".ckv-changing-results")
    expect(results).to_contain_text("assert_existing_objects_matched() fails → passes")
    expect(results).to_contain_text("values restored 7 → 9")
    # Escape leaves the name; a double click and Enter open the field of another line.
    line(page, "step").locator(".ckv-cell-live .ckv-table-name").dblclick()
    expect(_field(page)).to_have_value("step")
    keys.type("other")
    keys.press("Escape")
    expect(_field(page)).to_have_count(0)
    keys.press("Enter")
    expect(_field(page)).to_have_value("step")
    keys.press("Enter")
    expect(_field(page)).to_have_count(0)
    expect(_edits(page)).to_have_count(1)
    keys.press("u")
    expect(page.locator(".ckv-sentence")).to_contain_text("renamed lm_head to head")
    expect(_edits(page)).to_have_count(0)


def test_a_restore_by_names_plays_and_has_no_program_to_change(
    opened: Open, tmp_path: Path
) -> None:
    path = name_based.write(tmp_path / "names", a=np.ones(1, "float32"))
    page = opened(cv.check(ckpt(a=var()), path))
    expect(page.get_by_role("button", name="Step by step")).to_be_visible()
    expect(page.get_by_role("button", name="What if…")).to_have_count(0)


def test_typed_names_remove_move_and_exchange_parts_and_each_edit_goes(opened: Open) -> None:
    page = opened()
    keys = page.keyboard
    page.get_by_role("button", name="What if…").click()
    expect(_field(page)).to_be_focused()
    keys.press("Escape")
    _name(page, "up", "down")
    expect(_edits(page)).to_contain_text(["Exchange net.up and net.down"])
    _name(page, "step", "net.step")
    _name(page, "head", "")
    expect(_edits(page)).to_contain_text(
        ["Exchange net.up and net.down", "Move step to net.step", "Remove net.head"]
    )
    expect(line(page, "lm_head").locator(".ckv-cell-live")).to_contain_text("not in the program")
    page.get_by_role("button", name="Take back: Move step to net.step").click()
    expect(_edits(page)).to_contain_text(["Exchange net.up and net.down", "Remove net.head"])
    expect(page.get_by_role("treegrid")).to_be_focused()
    expect(line(page, "step").locator(".ckv-cell-plain")).to_contain_text("here")
    page.get_by_role("button", name="Show as code").click()
    expect(page.locator(".ckv-changing pre")).to_contain_text("del ckpt.net.head")
    # What only the checkpoint has comes in by its own name alone.
    _name(page, "ema", "eme")
    expect(page.get_by_role("alert")).to_contain_text("found 'eme', expected 'ema'")
    keys.press("Control+a")
    keys.type("ema")
    keys.press("Enter")
    expect(_edits(page).last).to_contain_text("Insert net.ema, as it was saved")
    # Alike parts in one line have no name of their own.
    keys.press("Escape")
    line(page, "blocks").click()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(selected(page)).to_contain_text("3 alike")
    keys.press("F2")
    expect(page.get_by_role("alert")).to_contain_text("several parts")
    expect(_field(page)).to_have_count(0)


def test_the_call_may_differ_and_what_waits_may_be_built(opened: Open) -> None:
    page = opened()
    page.keyboard.press("e")
    expect(_field(page)).to_be_focused()  # the field comes with what the page loads on request
    page.keyboard.press("Escape")
    page.locator("summary", has_text="Other edits").click()
    build = page.get_by_role("button", name="Build what waits", exact=True)
    build.click()
    expect(_edits(page)).to_contain_text(["Build before the restore: 2 parts that waited"])
    build.click()
    expect(page.get_by_role("alert")).to_contain_text("nothing waits")
    page.get_by_role("button", name="Undo").click()
    line(page, "step").click()
    page.get_by_role("button", name="Insert").click()
    expect(_edits(page)).to_contain_text(["Insert step_2, like step"])
    results = page.locator(".ckv-changing-results")
    page.get_by_label("read() for restore()").check()
    expect(results).to_contain_text("restore() → read()")
    page.get_by_label("expect_partial()").check()
    expect(results).to_contain_text("→ 0")
    page.get_by_label("read() for restore()").uncheck()
    page.get_by_label("saved in another order").check()
    expect(results.get_by_role("button")).to_have_text(re.compile(r"differs, \d+"))
    # The explorer shows the check itself again.
    page.get_by_role("treegrid").press("e")
    expect(page.locator(".ckv-changing")).to_have_count(0)
    expect(page.locator(".ckv-sentence")).to_contain_text("renamed lm_head to head")


@pytest.mark.more
@pytest.mark.parametrize("width", [700, 1100, 1500])
def test_nothing_is_cut_and_axe_finds_nothing(opened: Open, width: int) -> None:
    page = opened(viewport={"width": width, "height": 700})
    page.keyboard.press("e")
    expect(_field(page)).to_be_focused()
    page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    expect(_edits(page)).to_have_count(1)
    page.locator("summary", has_text="Other edits").click()
    page.get_by_role("button", name="Show as code").click()
    _name(page, "step", "a b")
    expect(page.get_by_role("alert")).to_be_visible()
    page.evaluate(AXE.read_text("utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=_SCREENSHOTS / f"changing-{width}-{scheme}.png")
        overflow = "strip => strip.scrollWidth - strip.clientWidth"
        assert page.locator(".ckv-changing").evaluate(overflow) <= 0
        found = page.evaluate("axe.run(document.querySelector('.ckpt-viz'))")["violations"]
        assert [violation["id"] for violation in found] == []


def test_keys_rename_a_part_of_a_live_program_play_and_undo_it(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    """The notebook's keys do not get what someone types, and the program stays as it is."""
    shared.open(lab, "changing.ipynb", CHECK, "print(sorted(vars(ckpt.net)), explorer.step)")
    lab.page.set_viewport_size({"width": 1500, "height": 950})
    lab.run_cell(0)
    explorer, keys = lab.output(0).locator(".ckpt-viz"), lab.page.keyboard
    grid = explorer.get_by_role("treegrid")
    expect(grid).to_be_visible()
    lab.select_cell(0)
    keys.press("Escape")
    keys.press("Alt+Shift+E")
    expect(grid).to_be_focused()
    line(explorer, "net").dblclick()
    line(explorer, "l1").click()
    keys.press("e")
    expect(_field(explorer)).to_have_value("l1")
    keys.type("added")  # "dd" would remove the cell
    keys.press("Enter")
    edits = _edits(explorer)
    expect(edits.first).to_contain_text("Rename net.l1 to added")
    expect(grid).to_be_focused()
    expect(selected(explorer)).to_contain_text("added")
    # The optimizer's list leads to both variables: all asserts pass, by other steps.
    strip = explorer.locator(".ckv-changing")
    expect(strip.locator(".ckv-changing-results")).to_have_text(re.compile(r"^steps \d+ → \d+"))
    lab.screenshot("changing-renamed")
    strip.get_by_role("button", name="Show as code").click()
    expect(strip.locator("pre")).to_have_text("ckpt.net.added = ckpt.net.l1\ndel ckpt.net.l1")
    strip.get_by_role("button", name="Play from the first step that differs").click()
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("net has no 'l1'")
    lab.screenshot("changing-play")
    # While it plays, another edit changes the steps at once.
    line(explorer, "optimizer").click()
    keys.press("Delete")
    expect(edits.nth(1)).to_contain_text("Remove optimizer")
    expect(line(explorer, "optimizer").locator(".ckv-cell-live")).to_contain_text("not in")
    expect(explorer.locator(".ckv-play")).to_be_focused()
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("net has no 'l1'")
    keys.press("Escape")
    expect(explorer.locator(".ckv-play")).to_have_count(0)
    expect(line(explorer, "optimizer").locator(".ckv-cell-plain")).to_contain_text("nowhere")
    keys.press("u")
    keys.press("u")
    expect(edits).to_have_count(0)
    expect(line(explorer, "added")).to_have_count(0)
    lab.run_cell(1)
    expect(lab.output(1)).to_contain_text("'l1'")
    expect(lab.output(1)).to_contain_text("None")  # the explorer's step is that of the check

"""A learner changes the program of a check, and sees the table and its steps change with it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.support import frontend
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.tables import line

AXE = frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js"

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end")]

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


@pytest.fixture
def explorer(lab: JupyterLab, shared: SharedKernel) -> Locator:
    """The explorer of a check that passes."""
    shared.open(lab, "changing.ipynb", CHECK, "print(sorted(vars(ckpt.net)), explorer.step)")
    lab.page.set_viewport_size({"width": 1500, "height": 950})
    lab.run_cell(0)
    return lab.output(0).locator(".ckpt-viz")


def _select(explorer: Locator, name: str) -> None:
    """Select a line; those of the layer and its variables open first."""
    for outer in ("net", "net.dense1", "l1"):
        closed = line(explorer, outer).and_(explorer.locator("[aria-expanded=false]"))
        if name in ("l1", "kernel") and closed.count() == 1:
            closed.dblclick()
    line(explorer, name).click()


def _results(explorer: Locator, row: str) -> list[str]:
    head = explorer.page.get_by_role("rowheader", name=row)
    line = explorer.locator(".ckv-changing-results tr").filter(has=head)
    return [text.strip() for text in line.locator("td").all_inner_texts()]


def test_keys_rename_a_part_and_undo_it(lab: JupyterLab, explorer: Locator) -> None:
    keys = lab.page.keyboard
    explorer.get_by_role("treegrid").press("e")
    strip = explorer.locator(".ckv-changing")
    expect(strip).to_contain_text("Select a part")
    _select(explorer, "l1")
    keys.press("F2")
    box = strip.get_by_label("New name of net.l1")
    expect(box).to_be_focused()
    keys.type("dense1")
    _select(explorer, "step")
    expect(box).to_have_value("dense1")  # another state of the view leaves the text
    box.press("Enter")
    edits = strip.locator(".ckv-changing-edits li")
    expect(edits.first).to_have_text("Rename net.l1 to dense1")
    expect(explorer.get_by_role("treegrid")).to_be_focused()
    expect(explorer.locator(".ckv-table-line[aria-selected=true]")).to_contain_text("dense1")
    # The optimizer's list leads to both variables: all asserts pass, by other steps.
    before, now = _results(explorer, "before"), _results(explorer, "now")
    assert before[:4] == now[:4] and all("passes" in cell for cell in now[:4])
    assert before[4] == now[4] == "10"
    assert int(now[6]) < int(before[6])
    lab.screenshot("changing-renamed")
    strip.get_by_role("button", name="Show as code").click()
    expect(strip.locator("pre")).to_have_text("ckpt.net.dense1 = ckpt.net.l1\ndel ckpt.net.l1")
    strip.get_by_role("button", name="Play from the first step that differs").click()
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("net has no 'l1'")
    expect(explorer.locator(".ckv-play-past")).to_contain_text(
        f"before the change: {before[6]} steps"
    )
    lab.screenshot("changing-play")
    expect(explorer.get_by_role("button", name="Copy code")).to_have_count(0)
    # While it plays, another edit changes the steps at once.
    _select(explorer, "optimizer")
    keys.press("Delete")
    expect(edits.nth(1)).to_have_text("Remove optimizer")
    expect(explorer.locator(".ckv-play-sentence")).to_contain_text("net has no 'l1'")
    keys.press("Escape")
    expect(explorer.locator(".ckv-play")).to_have_count(0)
    expect(explorer.locator(".ckv-check-verdict")).to_contain_text("fail")
    expect(line(explorer, "optimizer").locator(".ckv-cell-plain")).to_contain_text("nowhere")
    keys.press("u")
    expect(edits.nth(1)).to_have_text("Show as code")
    expect(explorer.locator(".ckv-check-verdict")).to_contain_text("pass")
    keys.press("u")
    expect(strip.locator(".ckv-changing-edits")).to_have_count(0)
    expect(line(explorer, "dense1")).to_have_count(0)
    lab.run_cell(1)
    expect(lab.output(1)).to_contain_text("'l1'")
    expect(lab.output(1)).to_contain_text("None")  # the explorer's step is that of the check


def test_parts_move_change_places_come_back_and_say_why_not(
    lab: JupyterLab, explorer: Locator
) -> None:
    keys = lab.page.keyboard
    explorer.get_by_role("button", name="What if…").click()
    strip = explorer.locator(".ckv-changing")
    expect(strip).to_contain_text("Select a part")
    edits = strip.locator(".ckv-changing-edits li")
    _select(explorer, "step")
    keys.press("m")
    expect(strip).to_contain_text("Move step: select what is to hold it.")
    _select(explorer, "net")
    keys.press("Enter")
    expect(edits.first).to_have_text("Move step into net")
    expect(explorer.locator(".ckv-table-line[aria-selected=true]")).to_contain_text("step")
    assert "fails" in _results(explorer, "now")[1]
    # Only the checkpoint has a step at this place: it comes back, beside the one that moved.
    expect(explorer.locator(".ckv-check-words")).to_contain_text("step")
    lab.screenshot("changing-moved")
    keys.press("u")
    expect(edits).to_have_count(0)
    # A name that is taken: the reason, and nothing changes.
    _select(explorer, "step")
    keys.press("F2")
    keys.type("net")
    keys.press("Enter")
    expect(strip.get_by_role("alert")).to_contain_text("has a 'net' already")
    expect(edits).to_have_count(0)
    _select(explorer, "kernel")
    keys.press("Shift+X")
    expect(strip).to_contain_text("select the other part")
    keys.press("Escape")
    expect(strip).not_to_contain_text("select the other part")
    expect(strip).to_be_visible()
    _select(explorer, "l1")
    keys.press("Delete")
    _select(explorer, "optimizer")  # perhaps before the picture without the layer is there
    keys.press("Delete")
    expect(edits.nth(0)).to_have_text("Remove net.l1")
    expect(edits.nth(1)).to_have_text("Remove optimizer")
    keys.press("u")
    keys.press("u")
    expect(edits).to_have_count(0)
    strip.get_by_role("button", name="Build what waits").click()
    expect(strip.get_by_role("alert")).to_contain_text("nothing waits")
    strip.get_by_label("read() for restore()").check()
    warnings = strip.locator("tbody tr:last-child td").nth(5)
    expect(warnings).to_have_text("1")
    expect(explorer.locator(".ckv-check-words")).to_contain_text("assert_consumed() fails")
    strip.get_by_label("expect_partial()").check()
    expect(warnings).to_have_text("0")
    assert "fails" in _results(explorer, "now")[1]
    strip.get_by_label("read() for restore()").uncheck()
    lab.await_idle()  # an answer that comes meanwhile would take back what a click has set
    another_order = strip.get_by_label("saved in another order")
    another_order.click()
    expect(another_order).to_be_checked()
    expect(strip.get_by_role("button", name=re.compile(r"differs, \d+"))).to_be_visible()
    # The explorer shows the check itself again.
    keys.press("e")
    expect(strip).to_have_count(0)
    expect(explorer.locator(".ckv-check-words")).to_contain_text("All asserts pass")


@pytest.mark.more
def test_nothing_is_cut_and_axe_finds_nothing(lab: JupyterLab, explorer: Locator) -> None:
    explorer.get_by_role("treegrid").press("e")
    strip = explorer.locator(".ckv-changing")
    expect(strip).to_contain_text("Select a part")
    _select(explorer, "l1")
    lab.page.keyboard.press("Delete")
    expect(strip.locator("table")).to_be_visible()
    strip.get_by_role("button", name="Show as code").click()
    lab.page.evaluate(AXE.read_text("utf-8"))
    for theme in ("Light", "Dark"):
        lab.show_theme(theme)
        for width in (1500, 1100, 900):
            lab.page.set_viewport_size({"width": width, "height": 950})
            strip.scroll_into_view_if_needed()
            lab.screenshot(f"changing-{width}-{theme.lower()}")
            overflow = "strip => strip.scrollWidth - strip.clientWidth"
            assert strip.evaluate(overflow) <= 0
        found = strip.evaluate("strip => axe.run(strip)")["violations"]
        assert [violation["id"] for violation in found] == []


def test_keys_alone_lead_into_a_failing_check_change_it_and_lead_back(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    failing = CHECK.replace("\nexplorer\n", "") + (
        "\ncv.show(tf.train.Checkpoint(model=ckpt.net, step=ckpt.step), against=path)"
    )
    shared.open(lab, "causes.ipynb", failing)
    lab.page.set_viewport_size({"width": 1500, "height": 950})
    lab.run_cell(0)
    explorer, keys = lab.output(0).locator(".ckpt-viz"), lab.page.keyboard
    grid = explorer.get_by_role("treegrid")
    expect(grid).to_be_visible()
    lab.select_cell(0)
    keys.press("Escape")
    keys.press("Alt+Shift+E")
    expect(grid).to_be_focused()
    keys.press("Home")
    expect(explorer.locator(".ckv-table-line[aria-selected=true]")).to_contain_text("model")
    keys.press("e")
    strip = explorer.locator(".ckv-changing")
    expect(strip.locator("kbd").first).to_be_visible()
    keys.press("F2")
    expect(strip.get_by_label("New name of model")).to_be_focused()
    keys.type("net")
    keys.press("Enter")
    edits = strip.locator(".ckv-changing-edits li")
    expect(edits.first).to_have_text("Rename model to net")
    expect(grid).to_be_focused()
    keys.press("u")
    expect(edits).to_have_count(0)
    keys.press("Alt+Shift+E")
    expect(lab.page.locator(".jp-Notebook :focus")).to_have_count(1)
    expect(grid).not_to_be_focused()

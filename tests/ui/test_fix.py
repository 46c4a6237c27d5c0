"""The Fix button of a check: from the verdict to values that are in the program."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.test_explorer import focused

CHECK = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

def layer(width):
    made = tf.Module()
    made.w, made.b = tf.Variable(tf.random.normal((3, width))), tf.Variable(tf.ones(width))
    return made

def net(**layers):
    made = tf.Module()
    for name, one in layers.items():
        setattr(made, name, one)
    return made

was = net(body=layer(4), out=layer(2))
path = tf.train.Checkpoint(net=was).save(tempfile.mkdtemp() + "/ckpt")
trainer = tf.train.Checkpoint(net=net(inner=net(dense=layer(4)), out=layer(2), new=layer(7)))
explorer = cv.show(trainer, against=path)
explorer
"""
REFRESH = """
explorer.refresh()
print("equal:", bool((trainer.net.inner.dense.w == was.body.w).numpy().all()))
"""
CHANGE = "trainer.net.inner.dense.w.assign_add(trainer.net.inner.dense.w)\nexplorer.refresh()"
NAMELESS = """
cv.show(
    tf.train.Checkpoint(net=net(inner=net(dense=layer(4)), out=layer(2), new=layer(7))),
    against=path,
)
"""
NOWHERE = "cv.show(trainer, against='/nowhere/ckpt')"


@pytest.fixture
def shown(lab: JupyterLab, shared: SharedKernel) -> JupyterLab:
    shared.open(lab, "fix.ipynb", CHECK, REFRESH, NOWHERE, CHANGE, NAMELESS)
    lab.run_cell(0)
    return lab


def _explorer(lab: JupyterLab, cell: int = 0) -> Locator:
    return lab.output(cell).locator(".ckpt-viz")


def _press(explorer: Locator, name: str) -> None:
    explorer.get_by_role("button", name=name, exact=True).click()


def _line(explorer: Locator, name: str) -> Locator:
    named = explorer.page.locator(".ckv-box-name").get_by_text(name, exact=True)
    return explorer.locator(".ckv-line").filter(has=named)


def test_from_the_verdict_to_values_in_the_program(shown: JupyterLab) -> None:
    explorer = _explorer(shown)
    headline = explorer.locator(".ckv-headline")
    expect(headline).to_contain_text("assert_consumed() would fail")
    expect(_line(explorer, "out")).to_contain_text("✓")
    expect(explorer.locator(".ckv-moves")).to_have_count(0)
    # The evidence leads to the fix.
    remedy = explorer.locator(".ckv-remedy")
    expect(remedy).to_contain_text("which puts each value in its new place")
    remedy.scroll_into_view_if_needed()
    shown.screenshot("fix-evidence")
    _press(explorer, "Show the fix")
    sentence = explorer.locator(".ckv-fix h3")
    expect(sentence).to_contain_text("Restores 5 of 7 values; 2 keep their values.")
    # The pairs are drawn, in words and lines.
    pair = _line(explorer, "dense")
    expect(pair).to_contain_text("body")
    expect(pair).to_contain_text("likely")
    expect(pair).to_contain_text("no other part has this structure and these shapes")
    expect(_line(explorer, "new")).to_contain_text("keeps its value")
    expect(explorer.locator(".ckv-moves")).to_have_count(0)
    code = explorer.locator(".ckv-code > pre")
    expect(code).to_contain_text("body=trainer.net.inner.dense")
    expect(code).to_contain_text("status.assert_consumed()")
    shown.screenshot("fix")

    # A dry run of the code, and the way back.
    _press(explorer, "Show the check after it")
    expect(headline).to_contain_text("assert_consumed() would pass")
    expect(explorer.get_by_text("after the fix", exact=True)).to_be_visible()
    expect(explorer.get_by_role("button", name="Fix", exact=True)).to_have_count(0)
    shown.screenshot("fix-after")
    _press(explorer, "← Back to the check")
    expect(headline).to_contain_text("assert_consumed() would fail")
    expect(sentence).to_contain_text("Restores 5 of 7 values")

    # The code in a cell; then the values are where they belong.
    source = "app => app.shell.currentWidget.content.activeCell.model.sharedModel.source"
    text = code.inner_text()
    _press(explorer, "Insert below")
    assert shown.page.evaluate(f"({source})(window.jupyterapp)").strip() == text.strip()
    shown.run_cell(1)
    shown.run_cell(2)
    expect(shown.output(2)).to_contain_text("equal: True")
    # The refresh shows the check of the restore that has happened.
    expect(headline).to_contain_text("assert_consumed() would pass")
    expect(explorer.locator(".ckv-title")).to_contain_text(", fixed")
    expect(explorer.get_by_role("button", name="Fix", exact=True)).to_have_count(0)
    shown.screenshot("fix-applied")

    # Other values: the check of a plain restore again.
    shown.run_cell(4)
    expect(headline).to_contain_text("assert_consumed() would fail")
    expect(explorer.locator(".ckv-title")).not_to_contain_text(", fixed")

    # The fix of a program that has the values already says so.
    shown.run_cell(1)
    _press(explorer, "Fix")
    expect(explorer.locator(".ckv-applied")).to_contain_text("The program has all these values")
    expect(explorer.get_by_role("button", name="Fixed")).to_be_visible()


def test_code_without_a_name_in_the_notebook_is_not_inserted(shown: JupyterLab) -> None:
    shown.run_cell(4)
    explorer = _explorer(shown, 4)
    _press(explorer, "Fix")
    expect(explorer.locator(".ckv-fix h3")).to_be_visible()
    expect(explorer.locator(".ckv-fix").get_by_role("button", name="Insert below")).to_have_count(0)


def test_the_fix_tells_why_two_nodes_belong_together(shown: JupyterLab) -> None:
    explorer = _explorer(shown)
    _press(explorer, "Fix")
    _line(explorer, "dense").locator(".ckv-side-live > .ckv-box").click()
    place = explorer.locator(".ckv-place-of-fix")
    expect(place).to_contain_text("net.body → net.inner.dense.")
    expect(place).to_contain_text("no other part has this structure and these shapes")
    focused(explorer).get_by_role("treegrid").press("ArrowUp")
    expect(place).to_have_count(0)  # the selected layer keeps its values


def test_where_there_is_no_fix_a_sentence_tells_why(shown: JupyterLab) -> None:
    shown.run_cell(2)
    explorer = _explorer(shown, 2)
    _press(explorer, "Fix")
    expect(explorer.locator(".ckv-fix")).to_contain_text(
        "/nowhere/ckpt: a fix needs a checkpoint that can be read"
    )
    expect(explorer.locator(".ckv-code")).to_have_count(0)


def test_without_a_kernel_there_is_no_button(shown: JupyterLab) -> None:
    expect(_explorer(shown).get_by_role("button", name="Fix", exact=True)).to_be_visible()
    shown.save()
    shown.reopen_without_kernel("fix.ipynb")
    explorer = _explorer(shown)
    expect(explorer.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(explorer.get_by_role("button", name="Fix", exact=True)).to_have_count(0)

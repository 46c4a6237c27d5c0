"""Comparisons in a notebook: the verdict, the problems, and how a person gets to them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import choose_view
from tests.ui.test_explorer import TRAIN, box, focused, row

CHECK = """
import tempfile
path = ckpt.save(tempfile.mkdtemp() + "/ckpt")
other = tf.keras.Sequential([tf.keras.layers.Dense(5), tf.keras.layers.Dense(2)])
other.build((None, 3))
target = tf.train.Checkpoint(model=other, step=tf.Variable([1, 2]))
explorer = cv.show(target, against=path)
explorer
"""
DIFF = """
first = ckpt.save(tempfile.mkdtemp() + "/ckpt")
model.layers[0].bias.assign_add([1.0] * 5)
second = ckpt.save(tempfile.mkdtemp() + "/ckpt")
cv.show(first, against=second)
"""

MOVED = """
def saved(**parts):
    return tf.train.Checkpoint(**parts).save(tempfile.mkdtemp() + "/ckpt")
was = saved(old=tf.train.Checkpoint(w=tf.Variable([1.0, 2.0])), step=tf.Variable(1))
now = saved(new=tf.train.Checkpoint(w=tf.Variable([1.0, 2.0])), step=tf.Variable(1))
cv.show(was, against=now)
"""
RENAMED = """
new = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]))
cv.show(tf.train.Checkpoint(new=new, step=tf.Variable(0)), against=was)
"""

SHIFTED = """
path = tf.train.Checkpoint(model).write(tempfile.mkdtemp() + "/ckpt")
shifted = tf.train.Checkpoint(net=model)
cv.show(shifted, against=path)
"""


@pytest.fixture
def explorer(lab: JupyterLab, shared: SharedKernel) -> Locator:
    first = (SharedKernel.AFRESH + TRAIN + CHECK, "explorer.selected", DIFF, MOVED, RENAMED)
    sources = (*first, SHIFTED, "'the last'")
    lab.create_notebook("check.ipynb", *map(code_cell, sources))
    lab.open_notebook("check.ipynb", shared.started(lab))
    lab.run_cell(0)
    return lab.output(0).locator(".ckpt-viz")


def test_problems_are_in_sight_and_one_key_away(lab: JupyterLab, explorer: Locator) -> None:
    verdict = explorer.locator(".ckv-verdict")
    expect(verdict.locator(".ckv-headline")).to_contain_text("restore() would raise ValueError")
    expect(verdict.get_by_role("listitem")).to_have_count(4)

    # Problems are open from the start, with glyph and word, the ghosts crossed out.
    expect(row(explorer, "optimizer")).to_contain_text("not used by program")
    expect(row(explorer, "step")).to_contain_text("shape differs")
    ghost = row(explorer, "optimizer").locator(".ckv-box")
    expect(ghost).to_have_css("border-top-style", "dashed")
    expect(ghost.locator(".ckv-box-name")).to_have_css("text-decoration-line", "line-through")

    # The keys go from one problem to the next, here and in the kernel.
    focused(explorer).get_by_role("treegrid").press("]")
    expect(explorer.locator(".ckv-position")).to_contain_text("1 of ")
    selected = explorer.locator('[role=row][aria-selected="true"]')
    expect(selected).to_have_count(1)
    first = selected.inner_text()
    explorer.get_by_role("treegrid").press("]")
    expect(selected).not_to_have_text(first, use_inner_text=True)
    explorer.get_by_role("treegrid").press("[")
    expect(selected).to_have_text(first, use_inner_text=True)
    lab.run_cell(1)
    expect(lab.output(1)).not_to_be_empty()

    # The details say why, and what to do.
    row(explorer, "step").click()
    details = explorer.locator(".ckv-details")
    expect(details).to_contain_text("scalar ≠ 2")
    expect(details).to_contain_text("Make the variable with the saved shape")
    lab.screenshot("restore-check")

    # What fits can be put away.
    rows = explorer.get_by_role("row")
    before = rows.count()
    explorer.get_by_role("button", name="problems only").click()
    expect(row(explorer, "step")).to_be_visible()
    assert rows.count() != before
    explorer.get_by_role("button", name="problems only").click()

    # The object graph is still there, with the same selection.
    row(explorer, "step").click()
    choose_view(explorer, "Object graph")
    expect(row(explorer, "step")).to_have_attribute("aria-selected", "true")
    dashes = "element => getComputedStyle(element).strokeDasharray"
    shape = box(explorer, "optimizer").locator(".ckv-shape").first
    assert shape.evaluate(dashes) != "none"
    expect(verdict).to_contain_text(re.compile(r"\d of \d"))
    lab.screenshot("restore-check-object-graph")
    choose_view(explorer, "Two sides")

    # The notebook keeps the comparison.
    lab.save()
    lab.reopen_without_kernel("check.ipynb")
    explorer = lab.output(0).locator(".ckpt-viz")
    expect(explorer.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(explorer.locator(".ckv-headline")).to_contain_text("restore() would raise ValueError")


def test_values_that_moved_between_two_checkpoints(lab: JupyterLab, explorer: Locator) -> None:
    expect(explorer.locator(".ckv-headline")).to_be_visible()
    lab.run_cell(2)
    difference = lab.output(2).locator(".ckpt-viz")
    expect(difference.locator(".ckv-headline")).to_contain_text("value")
    expect(difference.get_by_role("treeitem").first).to_contain_text("Values differ")
    focused(difference).get_by_role("treegrid").press("]")
    expect(difference.locator(".ckv-evidence")).to_contain_text("The value differs.")
    expect(difference.get_by_role("treeitem", selected=True)).to_have_count(1)
    lab.screenshot("diff-of-two-checkpoints")


def test_what_was_moved_is_one_row_with_both_names(lab: JupyterLab, explorer: Locator) -> None:
    expect(explorer.locator(".ckv-headline")).to_be_visible()
    lab.run_cell(3)
    moved = lab.output(3).locator(".ckpt-viz")
    expect(row(moved, "new")).to_contain_text("old")
    choose_view(moved, "Object graph")
    row(moved, "new").click()
    expect(row(moved, "old")).to_have_count(0)
    expect(moved.locator(".ckv-details")).to_contain_text(re.compile(r"moved, in a \S*old"))
    expect(moved.get_by_role("status")).to_contain_text("new, object, moved, in a ")
    lab.screenshot("moved")

    # What a check takes for renamed, likewise.
    lab.run_cell(4)
    renamed = lab.output(4).locator(".ckpt-viz")
    expect(row(renamed, "new")).to_contain_text("old")
    expect(row(renamed, "new")).to_contain_text("moved")

"""The button of a check restores in the kernel, all or none, and puts back what was there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.tables import line

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end")]

CHECK = f"""{SharedKernel.AFRESH}
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile, keras, tensorflow as tf, ckpt_viz as cv

def program(*blocks, classes):
    inputs = outputs = keras.Input((8,))
    for name in ("stem", *blocks):
        outputs = keras.layers.Dense(8, name=name)(outputs)
    outputs = keras.layers.Dense(classes, name="head")(outputs)
    return tf.train.Checkpoint(model=keras.Model(inputs, outputs))

saved, ckpt = program("left", "middle", "right", classes=5), program("left", "right", classes=7)
path = saved.save(tempfile.mkdtemp() + "/ckpt")

def set_layers():
    '''The layers whose kernels are those in the file.'''
    pairs = [(one, saved.model.get_layer(one.name)) for one in ckpt.model.layers if one.weights]
    return [one.name for one, other in pairs if one.kernel.shape == other.kernel.shape
            and tf.reduce_all(one.kernel == other.kernel)]

check = cv.check(ckpt, path)
check
"""
_ASK = "print(*set_layers())"


@pytest.fixture
def explorer(lab: JupyterLab, shared: SharedKernel) -> Locator:
    """The explorer of a check: a block is gone, and the head is larger."""
    shared.open(lab, "restoring.ipynb", CHECK, _ASK, "ckpt.added = tf.Variable(1.0)")
    lab.page.set_viewport_size({"width": 1500, "height": 950})
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    line(explorer, "middle").wait_for()
    return explorer


def _expect_restored(lab: JupyterLab, *names: str, cell: int = 1) -> None:
    lab.run_cell(cell)
    expect(lab.output(cell)).to_have_text(" ".join(names))


def test_the_button_restores_what_the_fix_restores_and_undo_puts_it_back(
    lab: JupyterLab, explorer: Locator
) -> None:
    _expect_restored(lab)
    button = explorer.locator(".ckv-restore")
    expect(button).to_have_text("Restore 7 of 9 values")
    button.click()
    sentence = explorer.locator(".ckv-sentence")
    expect(sentence).to_contain_text("Restored 7 of 9 values. 2 keep their own.")
    heads = explorer.get_by_role("columnheader").locator("b")
    expect(heads).to_have_text(["as saved", "restored", "in the program"])
    lab.screenshot("restored")
    _expect_restored(lab, "stem", "left", "right")
    expect(button).to_have_text("Undo")
    explorer.get_by_role("treegrid").press("x")
    expect(button).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(sentence).to_contain_text("Put back the values from before the restore.")
    expect(button).to_have_text("Restore 7 of 9 values")
    _expect_restored(lab)


def test_a_program_that_has_changed_since_the_check_keeps_its_values(
    lab: JupyterLab, explorer: Locator
) -> None:
    lab.run_cell(2)
    explorer.locator(".ckv-restore").click()
    expect(explorer.get_by_role("alert")).to_contain_text("has changed since this check")
    expect(explorer.locator(".ckv-restore")).to_have_text("Restore 7 of 9 values")
    _expect_restored(lab)


@pytest.mark.parametrize("code", ["short", "whole"])
def test_the_code_runs_in_a_cell_below(lab: JupyterLab, explorer: Locator, code: str) -> None:
    explorer.get_by_role("button", name="Code", exact=True).click()
    inserts = explorer.get_by_role("button", name="Insert below")
    expect(inserts).to_have_count(2)
    expect(explorer.locator(".ckv-code-text").first).to_have_text("check.fix().apply()")
    (inserts.first if code == "short" else inserts.last).click()
    expect(lab.page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    lab.run_cell(1)
    _expect_restored(lab, "stem", "left", "right", cell=2)


def test_a_saved_notebook_has_the_table_and_copies_the_code(
    lab: JupyterLab, explorer: Locator
) -> None:
    words = explorer.locator(".ckv-sentence").inner_text()
    lab.save()
    lab.reopen_without_kernel("restoring.ipynb")
    expect(explorer.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(explorer.locator(".ckv-sentence")).to_have_text(words)
    expect(line(explorer, "middle")).to_contain_text("stays")
    expect(explorer.locator(".ckv-restore")).to_have_text("Copy the code")
    expect(explorer.get_by_role("button", name="What if…")).to_have_count(0)

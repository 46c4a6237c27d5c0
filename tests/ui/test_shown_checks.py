"""A check and a fix show themselves as the last line of a cell."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.ui.jupyter import JupyterLab, SharedKernel

_PROGRAM = """
import tempfile, tensorflow as tf, ckpt_viz as cv
def program(name):
    net = tf.Module()
    net.a = tf.Variable([1.0, 2.0])
    setattr(net, name, tf.Variable([[3.0]]))
    return tf.train.Checkpoint(net=net)
path = program("old").save(tempfile.mkdtemp() + "/ckpt")
check = cv.check(program("new"), path)
"""


def test_a_check_is_its_explorer_and_a_fix_is_its_text_and_code(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "shown.ipynb", f"{_PROGRAM}check", "check.fix()")
    lab.run_all()
    panel = lab.page.locator(".jp-NotebookPanel:visible")
    explorer = panel.locator(".jp-Cell").nth(0).locator(".ckpt-viz").first
    expect(explorer).to_contain_text("Restore 3 values")
    fix = panel.locator(".jp-Cell").nth(1).locator(".jp-OutputArea-output")
    expect(fix).to_contain_text("restores 3 values")
    expect(fix).to_contain_text("status.assert_")
    fix.scroll_into_view_if_needed()
    lab.screenshot("a-fix-in-a-cell")
    explorer.scroll_into_view_if_needed()
    lab.screenshot("a-check-in-a-cell")

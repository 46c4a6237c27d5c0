"""A kernel that stops in the middle of a question: the message, and what works afterwards."""

from __future__ import annotations

import os
import signal

import pytest
from playwright.sync_api import Locator, expect

from tests.support.waiting import wait_until
from tests.ui.jupyter import JupyterLab
from tests.ui.live_panel import Live, complaints
from tests.ui.test_explorer import row

pytestmark = pytest.mark.tf

# The value of `step` never arrives, as that of a parameter server that is gone.
_STUCK = """
import threading
import ckpt_viz as cv
open("pid", "w").write(str(os.getpid()))
def stuck(*_, **__):
    open("asked", "w").close()
    threading.Event().wait()
tf.register_tensor_conversion_function(type(net.step), stuck, 0)
cv.show(net)
"""
_WORKS = "import ckpt_viz as cv\ncv.show(net)"
# Far less than a view waits for an answer that may still come.
_SOON_MS = 15_000


@pytest.fixture
def live(lab: JupyterLab) -> Live:
    live = Live(lab, "lost-answers")
    live.start(_STUCK, _WORKS, ran=2)
    return live


def _ask(live: Live, explorer: Locator) -> None:
    """Ask for the value that never arrives, and wait until the kernel is at it."""
    asked = live.files.place / "asked"
    asked.unlink(missing_ok=True)
    row(explorer, "kernel").click()
    row(explorer, "step").click()
    wait_until(asked.exists, "for the kernel to be at the question")
    expect(explorer.locator(".ckv-values")).to_contain_text("reading…")


def test_a_kernel_that_stops_in_the_middle_of_a_question_ends_it_in_a_sentence(live: Live) -> None:
    kernel = int((live.files.place / "pid").read_text())
    output = live.lab.output(1).locator(".ckpt-viz")
    _ask(live, output)  # in a thread of its own, which an interrupt does not reach
    live.show_panel()
    tab = live.open("net")
    said = tab.locator(".ckv-values")
    _ask(live, tab)
    os.kill(kernel, signal.SIGINT)
    expect(said).to_contain_text("The kernel was interrupted before it", timeout=_SOON_MS)
    live.expect_listed("ckpt", "net")
    _ask(live, tab)
    os.kill(kernel, signal.SIGKILL)
    dialog = live.page.get_by_role("dialog")
    expect(dialog).to_contain_text("appears to have died", timeout=_SOON_MS)
    dialog.get_by_role("button", name="Ok").click()
    expect(said).to_contain_text("The kernel ended or was restarted before", timeout=_SOON_MS)
    expect(live.notices).to_contain_text("or the kernel was restarted")
    row(tab, "kernel").click()  # what is drawn is of use still
    expect(tab.locator(".ckv-node-name")).to_contain_text("kernel")
    live.bring()
    expect(live.lab.output(1).get_by_text("saved picture", exact=True)).to_be_visible()
    expect(output.get_by_role("treegrid")).to_be_visible()
    live.lab.await_idle()
    for cell in (0, 2):
        live.lab.run_cell(cell)
    live.expect_listed("ckpt", "net")
    again = live.lab.output(2).locator(".ckpt-viz")
    row(again, "step").click()
    expect(again.locator(".ckv-elements")).to_contain_text("7")
    tab = live.click("net")
    live.notices.get_by_role("button", name="Refresh").click()
    expect(live.notices).to_be_empty()  # else the new graph takes the selection away again
    row(tab, "kernel").click()
    row(tab, "step").click()
    expect(tab.locator(".ckv-elements")).to_contain_text("7")
    assert complaints(live.lab) == []

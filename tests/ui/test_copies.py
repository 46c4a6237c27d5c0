"""A person makes code of an edited copy: of a row, of a search, by mouse and by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.support import frontend
from tests.ui.file_browser import Files
from tests.ui.jupyter import JupyterLab, SharedKernel

AXE = frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js"

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end")]

SHOWN = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

os.chdir(tempfile.mkdtemp())

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = tf.keras.layers.Dense(5, kernel_initializer="ones")
        self.head = tf.keras.layers.Dense(2)
    def call(self, x):
        return self.head(self.l1(x))

def program():
    net = Net()
    net(tf.zeros((1, 1)))
    return tf.train.Checkpoint(net=net, step=tf.Variable(3))

ckpt = program()
adam = tf.keras.optimizers.Adam(0.1)
adam.build(ckpt.net.trainable_variables)
path = tf.train.Checkpoint(net=ckpt.net, step=ckpt.step, optimizer=adam).write("ckpt-1")
explorer = cv.show(path)
explorer
"""

SOURCE = "jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.sharedModel.source)"


@pytest.fixture
def explorer(lab: JupyterLab, shared: SharedKernel) -> Locator:
    """The explorer of a checkpoint that a program has written."""
    shared.open(lab, "copies.ipynb", SHOWN)
    lab.page.set_viewport_size({"width": 1500, "height": 950})
    lab.run_cell(0)
    return lab.output(0).locator(".ckpt-viz")


def _select(explorer: Locator, name: str) -> None:
    named = explorer.page.locator(".ckv-name").get_by_text(name, exact=True)
    explorer.get_by_role("row").filter(has=named).first.click()


def _search(explorer: Locator) -> Locator:
    return explorer.locator("[data-part=search]")


def _code(lab: JupyterLab) -> str:
    """Return the source of the cell below the explorer, once it is there."""
    lab.page.wait_for_function(f"{SOURCE}.length > 1 && {SOURCE}[1] !== ''")
    return str(lab.page.evaluate(f"{SOURCE}[1]"))


def test_a_row_becomes_code_that_runs(lab: JupyterLab, explorer: Locator) -> None:
    _select(explorer, "optimizer")
    copies = explorer.locator(".ckv-details .ckv-copies")
    copies.get_by_role("button", name="Copy without this…").click()
    expect(copies.get_by_role("status")).to_contain_text("in the cell below")
    assert _code(lab) == (
        "slim = cv.graph('ckpt-1').without('optimizer')\n"
        "cv.show('ckpt-1', against=slim)\n"
        "# slim.write('ckpt-1-slim')"
    )
    lab.screenshot("copies-inserted")
    copies.get_by_role("button", name="Close").press("Escape")
    expect(copies.get_by_role("status")).to_have_count(0)
    expect(copies.get_by_role("button", name="Copy without this…")).to_be_focused()
    # The code runs, and TensorFlow restores what its comment writes.
    lab.run_cell(1)
    expect(lab.output(1).locator(".ckpt-viz")).to_be_visible()
    lab.execute("notebook:insert-cell-below")
    run = (
        "ckpt = program(); ckpt.net.l1.kernel.assign_add(tf.ones((1, 5)));"
        "ckpt.read(slim.write('ckpt-1-slim')).assert_consumed();"
        "print(ckpt.net.l1.kernel.numpy(), sorted(os.listdir()))"
    )
    lab.page.evaluate(
        "run => jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(run)",
        run,
    )
    lab.execute("notebook:run-cell")
    expect(lab.output(2)).to_contain_text("[[1. 1. 1. 1. 1.]]")
    expect(lab.output(2)).to_contain_text("ckpt-1-slim.index")


def test_a_search_becomes_code_and_a_new_name_is_asked_for(
    lab: JupyterLab, explorer: Locator
) -> None:
    keys = lab.page.keyboard
    _search(explorer).fill("role:slot|opt")
    line = explorer.locator(".ckv-copies-matches")
    expect(line).to_contain_text("matches")
    lab.screenshot("copies-search")
    line.get_by_role("button", name="Copy without these…").click()
    expect(line.get_by_role("status")).to_contain_text("in the cell below")
    assert _code(lab).startswith("slim = cv.graph('ckpt-1').without('role:slot|opt')\n")
    _search(explorer).fill("")
    expect(line).to_have_count(0)
    # A name that is taken: the reason, and no code.
    _select(explorer, "net")
    copies = explorer.locator(".ckv-details .ckv-copies")
    copies.get_by_role("button", name="Rename…").click()
    box = copies.get_by_role("combobox", name="New name of net")
    expect(box).to_be_focused()
    expect(box).to_have_value("net")
    keys.type("step")
    lab.screenshot("copies-renaming")
    keys.press("Enter")
    expect(copies.get_by_role("alert")).to_contain_text("has a 'step' already")
    copies.get_by_role("button", name="Rename…").click()
    keys.type("model")
    keys.press("Enter")
    expect(copies.get_by_role("status")).to_contain_text("in the cell below")
    assert "renamed = cv.graph('ckpt-1').renamed({'net': 'model'})" in _code(lab)


def test_keys_alone_lead_from_a_cell_to_code_and_back(lab: JupyterLab, explorer: Locator) -> None:
    keys = lab.page.keyboard
    grid = explorer.get_by_role("treegrid")
    expect(grid).to_be_visible()
    lab.select_cell(0)
    keys.press("Escape")
    keys.press("Alt+Shift+E")
    expect(grid).to_be_focused()
    keys.press("Home")
    keys.press("ArrowDown")
    copies = explorer.locator(".ckv-details .ckv-copies")
    expect(copies).to_be_visible()
    keys.press("r")
    expect(copies.get_by_role("combobox")).to_be_focused()
    keys.press("Escape")
    expect(copies.get_by_role("combobox")).to_have_count(0)
    expect(grid).to_be_focused()
    keys.press("l")
    expect(copies.get_by_role("status")).to_contain_text("in the cell below")
    assert "part = cv.graph('ckpt-1').only(" in _code(lab)
    # The new cell has the focus, as with any inserted code: Shift+Enter runs it.
    expect(grid).not_to_be_focused()
    keys.press("Shift+Enter")
    lab.await_idle()
    expect(lab.output(1).locator(".ckpt-viz")).to_be_visible()
    explorer.locator(".ckv-help-button").click()
    expect(explorer.locator(".ckv-help")).to_contain_text("w l r")


def test_a_file_without_a_kernel_has_code_to_copy(lab: JupyterLab) -> None:
    files = Files(lab, "copied-file")
    files.add("adam")
    tab = files.open("ckpt-1.index")
    _select(tab, "optimizer")
    copies = tab.locator(".ckv-details .ckv-copies")
    copies.get_by_role("button", name="Copy without this…").click()
    expect(copies.locator("pre")).to_have_text(
        "import ckpt_viz as cv\n\n"
        "slim = cv.graph('copied-file/ckpt-1').without('optimizer')\n"
        "cv.show('copied-file/ckpt-1', against=slim)\n"
        "# slim.write('ckpt-1-slim')"
    )
    expect(copies.get_by_role("button", name="Copy the code")).to_be_visible()
    lab.screenshot("copies-document")
    assert files.complaints == []


@pytest.mark.more
def test_nothing_is_cut_and_axe_finds_nothing(lab: JupyterLab, explorer: Locator) -> None:
    _search(explorer).fill("kernel")
    line = explorer.locator(".ckv-copies-matches")
    details = explorer.locator(".ckv-details .ckv-copies")
    line.get_by_role("button", name="Copy with these alone…").click()
    expect(line.get_by_role("status")).to_contain_text("in the cell below")
    _search(explorer).press("Enter")
    expect(details).to_be_visible()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("r")
    expect(details.get_by_role("combobox")).to_be_focused()
    lab.page.evaluate(AXE.read_text("utf-8"))
    for theme in ("Light", "Dark"):
        lab.show_theme(theme)
        for width in (1500, 700):
            lab.page.set_viewport_size({"width": width, "height": 950})
            if width < 900:
                explorer.get_by_role("tab", name="Details").click()
            explorer.scroll_into_view_if_needed()
            expect(details).to_be_visible()
            lab.screenshot(f"copies-{width}-{theme.lower()}")
            for part in (line, details):
                assert part.evaluate("part => part.scrollWidth - part.clientWidth") <= 0
                found = part.evaluate("part => axe.run(part)")["violations"]
                assert [violation["id"] for violation in found] == []

"""Search in a notebook: typed, stepped through, filtered, and sent to the kernel."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.test_explorer import SHOW, TRAIN, box, row
from tests.ui.test_renderer import SHOW as SHOW_NODES

ANSWER = "print(repr(explorer.query), explorer.mode, len(explorer.find(explorer.query)))"
SET = "explorer.mode = 'highlight'; explorer.query = 'step'"
PASTED = """WARNING:tensorflow:Value in checkpoint could not be found in the restored object:
(root).model._functional._operations.1.bias"""


def test_what_is_typed_is_found_in_the_browser_and_in_the_kernel(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "search.ipynb", TRAIN, SHOW, ANSWER, SET)
    lab.run_cell(0)
    lab.run_cell(1)
    explorer = lab.output(1).locator(".ckpt-viz")
    keyboard = lab.page.keyboard

    # A key leads into the box; brackets and `n` are letters there.
    explorer.get_by_role("treegrid").press("/")
    search = explorer.get_by_role("combobox", name="Search (/)")
    expect(search).to_be_focused()
    keyboard.type("kernel shape:[*,5]")
    counted, status = explorer.locator(".ckv-matches"), explorer.get_by_role("status")
    expect(counted).to_have_text("3 matches")  # the kernel and its two slot variables
    expect(status).to_contain_text("3 matches")

    # Enter goes to them, in a circle; n and N do outside of the box.
    search.press("Enter")
    expect(counted).to_have_text("1 of 3")
    expect(row(explorer, "_kernel")).to_have_attribute("aria-selected", "true")
    expect(explorer.locator("mark.ckv-match")).not_to_have_count(0)
    expect(explorer.locator(".ckv-found")).not_to_have_count(0)
    expect(status).to_contain_text("1 of 3: _kernel, variable")
    search.press("Shift+Enter")
    expect(counted).to_have_text("3 of 3")
    expect(search).to_be_focused()
    search.press("Escape")
    expect(explorer.get_by_role("treegrid")).to_be_focused()
    expect(search).to_have_value("kernel shape:[*,5]")
    keyboard.press("n")
    expect(counted).to_have_text("1 of 3")
    keyboard.press("Shift+N")
    expect(counted).to_have_text("3 of 3")
    lab.screenshot("search")

    # The filter leaves the matches and what holds them.
    explorer.get_by_role("button", name="filter", exact=True).click()
    expect(box(explorer, "step")).to_have_count(0)
    expect(_rows(explorer)).to_contain_text(["_kernel", "momentum", "velocity"])
    lab.screenshot("search-filter")
    lab.run_cell_until(2, "'kernel shape:[*,5]' filter 3")
    expect(lab.output(2)).to_have_text("'kernel shape:[*,5]' filter 3")

    # The kernel sets both.
    lab.run_cell(3)
    expect(search).to_have_value("step")
    expect(counted).to_have_text("1 match")
    expect(box(explorer, "step").locator(".ckv-found")).to_have_count(1)

    # What is no query is said in words, and a text of TensorFlow finds its node.
    search.fill("kernel role:foo")
    expect(explorer.locator(".ckv-mistake")).to_contain_text("At character 13: expected one of")
    expect(search).to_have_attribute("aria-invalid", "true")
    lab.screenshot("search-mistake")
    search.fill("")
    search.evaluate(
        """(box, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""",
        PASTED,
    )
    expect(counted).to_have_text("1 match")
    search.press("Enter")
    expect(row(explorer, "bias")).to_have_attribute("aria-selected", "true")
    expect(explorer.locator(".ckv-mistake")).to_have_count(0)


def _rows(explorer: Locator) -> Locator:
    return explorer.locator("mark.ckv-match")


# The kernel reads the script for the list from a pipe: it comes when the test writes it.
LATER = """
import os
from pathlib import Path
os.mkfifo("extras.js")
cv.entrances.jupyter.widget._STATIC = Path(".")
explorer
"""


@pytest.mark.parametrize(
    ("keys", "value"), [("ArrowDown Tab", "role:"), ("r o Tab", "role:"), ("r Enter Tab", "r")]
)
def test_keys_count_from_before_the_list_is_there(lab: JupyterLab, keys: str, value: str) -> None:
    directory = Path(mkdtemp(dir=lab.server.root))
    lab.create_notebook(f"{directory.name}/later.ipynb", code_cell(SHOW_NODES + LATER))
    lab.open_notebook(f"{directory.name}/later.ipynb")
    lab.run_cell(0)
    box = lab.output(0).get_by_role("combobox", name="Search (/)")
    box.focus()
    *early, last = keys.split()
    for key in early:
        box.press(key)
    script = (files("ckpt_viz") / "static" / "extras.js").read_bytes()
    # In a thread: the pipe waits for a kernel that reads.
    Thread(target=(directory / "extras.js").write_bytes, args=[script], daemon=True).start()
    expect(lab.output(0).locator("[role=listbox]")).to_have_count(1)
    box.press(last)
    expect(box).to_have_value(value)


def test_the_box_suggests_its_grammar(lab: JupyterLab, shared: SharedKernel) -> None:
    shared.open(lab, "suggest.ipynb", TRAIN + SHOW)
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    box = explorer.get_by_role("combobox", name="Search (/)")
    options = explorer.get_by_role("listbox").get_by_role("option")
    box.focus()
    box.press("ArrowDown")
    expect(options.first).to_contain_text("role:")
    lab.screenshot("suggestions")
    box.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_be_focused()
    lab.page.keyboard.type("ro")
    expect(options).to_have_count(1)
    box.press("Tab")
    expect(box).to_have_value("role:")
    box.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", options.last.get_attribute("id") or "")
    lab.page.keyboard.type("var")
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value("role:variable")
    expect(explorer.locator(".ckv-matches")).to_contain_text("matches")
    # Without an active suggestion, Enter goes to a match as before.
    lab.page.keyboard.type("|s")
    expect(options.first).to_be_visible()
    box.fill("role:slot d")
    options.first.click()
    expect(box).to_have_value("role:slot dtype:")
    expect(box).to_be_focused()

"""The guesses of a fix: a person ticks them in the explorer, or copies the call in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from ckpt_viz.render.html import to_html
from ckpt_viz.render.writing import write_text
from tests.support.payload_fixtures import HOSTILE, overlays
from tests.ui.jupyter import JupyterLab, SharedKernel

CHECK = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

def part(value):
    made = tf.Module()
    made.w = tf.Variable([value])
    return made

def program(name, *values):
    net = tf.Module()
    setattr(net, name, [part(value) for value in values])
    return tf.train.Checkpoint(net=net)

path = program("blocks", 1.0, 2.0, 3.0).save(tempfile.mkdtemp() + "/ckpt")
trainer = program("layers", -1.0, -1.0)
explorer = cv.show(trainer, against=path)
explorer
"""
VALUES = "explorer.refresh()\nprint([float(one.w[0]) for one in trainer.net.layers])"


@pytest.fixture
def shown(lab: JupyterLab, shared: SharedKernel) -> JupyterLab:
    shared.open(lab, "guesses.ipynb", CHECK, VALUES)
    lab.run_cell(0)
    return lab


def _guess(explorer: Locator, name: str) -> Locator:
    return explorer.get_by_role("group", name="Guesses").get_by_role("checkbox", name=name)


def _press(explorer: Locator, name: str) -> None:
    explorer.get_by_role("button", name=name, exact=True).click()


def test_the_code_takes_the_guesses_that_a_person_ticks(shown: JupyterLab) -> None:
    explorer = shown.output(0).locator(".ckpt-viz")
    first = _guess(explorer, "net.blocks.0 → net.layers.0")
    second = _guess(explorer, "net.blocks.1 → net.layers.1")
    expect(first).not_to_be_checked()
    expect(second).not_to_be_checked()
    expect(explorer.locator(".ckv-remedy")).to_contain_text("Tick guesses and run the code")
    second.scroll_into_view_if_needed()
    second.focus()
    shown.page.keyboard.press("Space")
    expect(second).to_be_checked()
    shown.screenshot("guesses-evidence")

    # The fix has this guess, and no other.
    _press(explorer, "Show the fix")
    sentence, code = explorer.locator(".ckv-fix h3"), explorer.locator(".ckv-code > pre")
    expect(sentence).to_contain_text("Restores 2 of 3 values")
    expect(code).to_contain_text("trainer.net.layers[1]")
    expect(second).to_be_checked()
    expect(first).not_to_be_checked()
    shown.screenshot("guesses")

    # A tick asks for the code again, and keeps the focus.
    first.focus()
    shown.page.keyboard.press("Space")
    expect(sentence).to_contain_text("Restores all 3 values")
    expect(code).to_contain_text("blocks=trainer.net.layers)")
    expect(first).to_be_focused()
    _press(explorer, "Take none")
    expect(sentence).to_contain_text("Restores 1 of 3 values")

    # The line of a guess has the same tick.
    tick = explorer.locator(".ckv-lines").get_by_label("net.blocks.1 belongs to net.layers.1")
    expect(tick).not_to_be_checked()
    tick.check()
    expect(sentence).to_contain_text("Restores 2 of 3 values")
    expect(second).to_be_checked()
    expect(first).not_to_be_checked()
    _press(explorer, "Take all")
    expect(sentence).to_contain_text("Restores all 3 values")
    _press(explorer, "Show the check after it")
    expect(explorer.locator(".ckv-headline")).to_contain_text("1 value not used")
    _press(explorer, "← Back to the check")
    expect(sentence).to_contain_text("Restores all 3 values")
    _press(explorer, "Insert below")
    shown.run_cell(1)
    shown.run_cell(2)
    expect(shown.output(2)).to_contain_text("[1.0, 2.0]")
    expect(explorer.locator(".ckv-title")).to_contain_text(", fixed")


@pytest.mark.usefixtures("front_end")
def test_without_a_kernel_the_call_in_python_has_the_ticked_guesses(
    context: BrowserContext, tmp_path: Path
) -> None:
    overlay = overlays()["hostile_check"]
    page = context.new_page()
    write_text(tmp_path / "page.html", to_html(overlay.graph, overlay))
    page.goto((tmp_path / "page.html").as_uri())
    explorer = page.locator(".ckpt-viz")
    boxes = explorer.get_by_role("group", name="Guesses").get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    call = explorer.locator(".ckv-remedy .ckv-code > pre")
    expect(call).to_have_count(0)
    boxes.nth(0).check()
    literal = ascii(HOSTILE)
    assert call.inner_text().startswith("check.fix(guesses=['<script>alert(1)</script>\\n")
    assert call.inner_text() == f"check.fix(guesses=[{literal}])"
    boxes.nth(0).uncheck()
    expect(call).to_have_count(0)

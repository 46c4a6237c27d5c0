"""The explorer in a notebook: what a person sees and does, and what the kernel receives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

import ckpt_viz as cv
from ckpt_viz.graphs.render.html import to_html
from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import html_pages

TRAIN = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import ckpt_viz as cv
model = tf.keras.Sequential([tf.keras.layers.Dense(5)])
optimizer = tf.keras.optimizers.Adam(0.1)
model.build((None, 3)); optimizer.build(model.trainable_variables)
ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(1))
"""
SHOW = "explorer = cv.show(ckpt)\nexplorer"
SELECTED = "print(explorer.selected_node.role.value, explorer.selected_object is ckpt.step)"


def row(explorer: Locator, name: str) -> Locator:
    return explorer.get_by_role("row").filter(has=explorer.page.get_by_text(name, exact=True))


def box(explorer: Locator, node_name: str) -> Locator:
    """Return a node's box in the drawing, by the path that people give."""
    starts_with_name = re.compile(rf"^{re.escape(node_name)} \(")
    title = explorer.page.locator("title").filter(has_text=starts_with_name)
    return explorer.locator(".ckv-node").filter(has=title)


def focused(explorer: Locator) -> Locator:
    explorer.get_by_role("treegrid").focus()
    return explorer


def test_selection_reaches_the_kernel_and_the_graph_outlives_it(lab: JupyterLab) -> None:
    lab.create_notebook(
        "whole-way.ipynb",
        *(code_cell(TRAIN), code_cell(SHOW), code_cell(SELECTED)),
        *(code_cell("explorer.selected = 0"), code_cell("print(explorer.selected_node)")),
    )
    lab.open_notebook("whole-way.ipynb")
    lab.run_cell(0)
    lab.run_cell(1)
    explorer = lab.output(1).locator(".ckpt-viz")

    # Selecting in the drawing selects in the outline, in the details and in the kernel.
    box(explorer, "step").click()
    expect(row(explorer, "step")).to_have_attribute("aria-selected", "true")
    expect(explorer.locator(".ckv-node-name")).to_have_text("step")
    lab.run_cell_until(2, "variable True")
    expect(lab.output(2)).to_have_text("variable True")

    # And the other way round, from the outline and from the kernel.
    row(explorer, "optimizer").click()
    expect(explorer.locator(".ckv-node.ckv-selected title")).to_have_text("optimizer (optimizer)")
    lab.run_cell_until(2, "optimizer False")  # the last to speak decides
    lab.run_cell(3)
    expect(row(explorer, "(root)")).to_have_attribute("aria-selected", "true")
    lab.screenshot("explorer-in-a-notebook")

    # The kernel ends, the notebook stays.
    lab.save()
    lab.shut_down_kernel()
    lab.close()
    lab.open_notebook("whole-way.ipynb")
    lab.shut_down_kernel()
    explorer = lab.output(1).locator(".ckpt-viz")
    expect(explorer.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(lab.page.get_by_text("model not found")).to_have_count(0)
    row(explorer, "optimizer").click()
    expect(row(explorer, "optimizer")).to_have_attribute("aria-expanded", "true")
    lab.page.keyboard.press("ArrowLeft")
    expect(row(explorer, "optimizer")).to_have_attribute("aria-expanded", "false")
    box(explorer, "step").click()
    expect(explorer.locator(".ckv-node-name")).to_have_text("step")
    lab.screenshot("snapshot-without-a-kernel")


@pytest.fixture
def explorer(lab: JupyterLab, shared: SharedKernel) -> Locator:
    shared.open(lab, "explorer.ipynb", TRAIN + SHOW, "explorer.expanded")
    lab.run_cell(0)
    return lab.output(0).locator(".ckpt-viz")


@pytest.fixture
def alone(browser: Browser, tmp_path: Path) -> Iterator[Locator]:
    """The same explorer in a page of its own, without a kernel."""
    program: dict[str, Any] = {}
    exec(TRAIN, program)
    with html_pages(browser, tmp_path) as open_page:
        yield open_page(to_html(cv.graph(program["ckpt"]))).locator(".ckpt-viz")


def test_arrow_keys_open_close_and_move_and_leave_the_notebook_alone(
    lab: JupyterLab, explorer: Locator
) -> None:
    focused(explorer)
    keys = lab.page.keyboard
    keys.press("ArrowDown")
    expect(row(explorer, "(root)")).to_have_attribute("aria-selected", "true")
    row(explorer, "step").click()
    keys.press("ArrowUp")
    selected = explorer.locator('[role=row][aria-selected="true"]')
    expect(selected).not_to_contain_text("step")
    row(explorer, "optimizer").click()
    expect(selected).to_have_attribute("aria-expanded", "true")
    keys.press("ArrowLeft")
    expect(selected).to_have_attribute("aria-expanded", "false")
    keys.press("ArrowRight")
    expect(selected).to_have_attribute("aria-expanded", "true")
    lab.run_cell_until(1, "0,")  # who opens and closes makes a choice
    # In a notebook's command mode these delete, insert and convert cells.
    cells = lab.page.locator(".jp-Notebook .jp-Cell")
    for focus in (explorer.get_by_role("treegrid"), explorer.get_by_role("application")):
        for key in "ddxabym":
            focus.press(key)
        expect(cells).to_have_count(2)
    explorer.get_by_role("button", name="Keys (?)").press("d")
    explorer.get_by_role("button", name="Keys (?)").press("d")
    expect(cells).to_have_count(2)
    # With Ctrl they are the notebook's still.
    expect(lab.page.locator(".jp-mod-dirty")).not_to_have_count(0)
    focused(explorer).get_by_role("treegrid").press("Control+s")
    expect(lab.page.locator(".jp-mod-dirty")).to_have_count(0)


@pytest.mark.tf
def test_slots_are_chips_on_their_variable_and_unfold_as_dashed_nodes(alone: Locator) -> None:
    explorer = alone
    row(explorer, "_kernel").click()  # which brings it into sight
    variable = explorer.locator(".ckv-node.ckv-role-variable", has_text="3×5 float32")
    expect(variable.locator(".ckv-chip-text")).to_have_text(["m", "v"])
    slots = explorer.locator(".ckv-node.ckv-role-slot")
    expect(slots).to_have_count(0)
    variable.locator(".ckv-toggle").click()
    expect(slots).to_have_count(2)
    dashes = "element => getComputedStyle(element).strokeDasharray"
    assert slots.first.locator(".ckv-shape").evaluate(dashes) != "none"
    assert explorer.locator(".ckv-slot-edge").evaluate(dashes) != "none"
    row(explorer, "momentum").first.click()
    expect(explorer.locator(".ckv-details")).to_contain_text("inferred by list index")


def test_words_fit_in_their_boxes_live_and_as_a_snapshot(
    lab: JupyterLab, explorer: Locator
) -> None:
    overflow = """nodes => nodes.map(node => {
        const [shape, text] = [".ckv-shape", ".ckv-box-text"].map(
            selector => node.querySelector(selector).getBoundingClientRect());
        return text.right - shape.right;
    })"""
    expect(explorer.locator(".ckv-node").first).to_be_visible()
    assert max(explorer.locator(".ckv-node").evaluate_all(overflow)) < 0
    lab.save()
    lab.reopen_without_kernel("explorer.ipynb")
    expect(explorer.get_by_text("saved picture", exact=True)).to_be_visible()
    expect(explorer.locator(".ckv-node").first).to_be_visible()
    assert max(explorer.locator(".ckv-node").evaluate_all(overflow)) < 0


@pytest.mark.tf
def test_toggled_box_stays_under_the_pointer(alone: Locator) -> None:
    explorer = alone
    optimizer = box(explorer, "optimizer")
    toggle = optimizer.locator(".ckv-toggle")
    before = toggle.bounding_box()
    toggle.click()
    expect(row(explorer, "optimizer")).to_have_attribute("aria-expanded", "false")
    assert toggle.bounding_box() == pytest.approx(before, abs=0.5)


@pytest.mark.tf
def test_dragging_pans_and_keys_zoom(alone: Locator) -> None:
    explorer = alone
    drawing = explorer.get_by_role("application")
    area = drawing.bounding_box()
    assert area is not None
    x, y, width = root_in_drawing(explorer)
    mouse = explorer.page.mouse
    mouse.move(area["x"] + area["width"] - 30, area["y"] + 20)
    mouse.down()
    mouse.move(area["x"] + area["width"] - 70, area["y"] + 45, steps=4)
    mouse.up()
    assert root_in_drawing(explorer) == pytest.approx((x - 40, y + 25, width), abs=1)
    drawing.press("+")
    assert root_in_drawing(explorer)[2] == pytest.approx(width * 1.25, abs=1)


def test_wheel_pans_only_with_the_focus_and_zooms_with_ctrl(
    lab: JupyterLab, explorer: Locator
) -> None:
    drawing = explorer.get_by_role("application")
    x, y, width = root_in_drawing(explorer)
    drawing.hover()
    lab.page.mouse.wheel(0, 30)  # scrolls the notebook
    lab.await_frames()
    assert root_in_drawing(explorer) == pytest.approx((x, y, width), abs=1)
    focused(explorer)
    drawing.hover()
    lab.page.mouse.wheel(0, 30)
    lab.await_frames()
    assert root_in_drawing(explorer) == pytest.approx((x, y - 30, width), abs=1)
    lab.page.keyboard.down("Control")
    lab.page.mouse.wheel(0, -100)
    lab.page.keyboard.up("Control")
    lab.await_frames()
    assert root_in_drawing(explorer)[2] > width * 1.1


def root_in_drawing(explorer: Locator) -> tuple[float, float, float]:
    """Return x, y and width of the root's box, wherever the page has scrolled to."""
    root, drawing = box(explorer, "(root)"), explorer.get_by_role("application")
    here, there = root.bounding_box(), drawing.bounding_box()
    assert here is not None and there is not None
    return here["x"] - there["x"], here["y"] - there["y"], here["width"]


COLOURS = {
    "Light": {
        "layer": "rgb(31, 31, 31)",
        "variable": "rgb(26, 86, 219)",
        "optimizer": "rgb(179, 22, 27)",
    },
    "Dark": {
        "layer": "rgb(242, 242, 242)",
        "variable": "rgb(138, 180, 248)",
        "optimizer": "rgb(255, 107, 97)",
    },
}


def test_colours_follow_the_theme(lab: JupyterLab, explorer: Locator) -> None:
    colour = "element => getComputedStyle(element).stroke"
    for theme, expected in COLOURS.items():
        lab.show_theme(theme)
        seen = {
            role: explorer.locator(f".ckv-node.ckv-role-{role} > .ckv-shape").first.evaluate(colour)
            for role in expected
        }
        assert seen == expected
        row(explorer, "optimizer").click()
        lab.screenshot(f"theme-{theme.lower()}")


HOSTILE = """
import tensorflow as tf
import ckpt_viz as cv
code = ["<script>window.pwned = 1</script>", "<img src=x onerror='window.pwned = 1'>"]
names = [*code, 'a"b', "a\\nb"]
module = tf.Module()
for name in names:
    inner = tf.Module()
    setattr(inner, name, tf.Variable(1.0, name="x"))
    setattr(module, name, inner)
cv.show(module)
"""


def test_names_that_are_code_show_as_text(lab: JupyterLab, shared: SharedKernel) -> None:
    shared.open(lab, "hostile.ipynb", HOSTILE)
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    for name in ("<script>window.pwned = 1</script>", 'a"b', "a\\nb"):
        expect(row(explorer, name).first).to_be_visible()
    rows = explorer.get_by_role("row")
    for index in range(1, rows.count()):
        rows.nth(index).click()
    assert lab.page.evaluate("window.pwned === undefined")
    expect(explorer.locator("img, script")).to_have_count(0)


LARGE = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import ckpt_viz as cv
model = tf.keras.applications.EfficientNetB0(weights=None)
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
explorer = cv.show(ckpt)
explorer
"""


@pytest.mark.more
@pytest.mark.slow
def test_a_large_model_answers_to_every_key(lab: JupyterLab, shared: SharedKernel) -> None:
    lab.page.set_default_timeout(180_000)
    shared.open(lab, "large.ipynb", LARGE)
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    # Keras 3.15; a few more in earlier versions, which track `_layers` too.
    title = explorer.locator(".ckv-title")
    nodes = re.compile(r"(99|1,00)\d nodes")
    expect(title).to_have_attribute("title", nodes, timeout=120_000)
    lab.page.set_default_timeout(30_000)
    keys = [
        *("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "*"),
        *("ArrowDown", "*", "End", "ArrowUp"),
        *("Home", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight", "PageDown", "PageDown"),
    ]
    treegrid = explorer.get_by_role("treegrid")
    for key in keys:
        treegrid.press(key)
    rows = int(treegrid.get_attribute("aria-rowcount") or 0)
    assert rows > 240 + 84  # all chunks of them are open, and a chunk's operations


NOT_SAVED = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import pathlib, tempfile, tensorflow as tf
import ckpt_viz as cv
module = tf.Module()
module.kept = tf.Variable([1.0, 2.0])
module.parts = {tf.Module(): 1}
module.blocks = type("Blocks", (list,), {})([tf.Variable(1)])
folder = pathlib.Path(tempfile.mkdtemp())
manager = tf.train.CheckpointManager(tf.train.Checkpoint(module=module), str(folder), 3)
manager.save(), manager.save()
explorer = cv.show(module)
explorer
"""
PARTIAL = """
next(folder.glob("ckpt-2.data-*")).write_bytes(b"")
partial = cv.show(folder)
partial.selected = 0
partial
"""


def test_what_will_not_be_saved_or_is_missing_is_marked_and_explained(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "problems.ipynb", NOT_SAVED, PARTIAL)
    lab.run_cell(0)
    live = lab.output(0).locator(".ckpt-viz")
    expect(row(live, "(root)")).to_contain_text("! not saved")
    row(live, "(root)").click()
    expect(live.locator(".ckv-details")).to_contain_text("blocks Blocks, 1 object")
    lab.screenshot("not-saved")
    lab.run_cell(1)
    partial = lab.output(1).locator(".ckpt-viz")
    expect(row(partial, "(root)")).to_contain_text("! problem")
    expect(row(partial, "kept")).to_contain_text("! value missing")
    details = partial.locator(".ckv-details")
    expect(details).to_contain_text("the object graph is missing")
    expect(details).to_contain_text("ckpt-2 is the latest of 2 checkpoints that")
    expect(details).to_contain_text("ckpt-1, saved 20")
    partial.scroll_into_view_if_needed()
    details.scroll_into_view_if_needed()
    lab.screenshot("partial-copy")


NAME_BASED = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile, tensorflow as tf
import ckpt_viz as cv
v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    with v1.variable_scope("dense"):
        kernel, bias = v1.get_variable("kernel", [4, 2]), v1.get_variable("bias", [2])
    v1.train.AdamOptimizer().minimize(tf.reduce_sum(kernel) + tf.reduce_sum(bias))
    session.run(v1.global_variables_initializer())
    prefix = v1.train.Saver().save(session, tempfile.mkdtemp() + "/model.ckpt", global_step=3)
explorer = cv.show(prefix)
explorer
"""


def test_name_based_checkpoint_is_explored_like_any_other(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "name-based.ipynb", NAME_BASED)
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    details = explorer.locator(".ckv-details")
    expect(details).to_contain_text("is a name-based checkpoint: names of variables, no objects")
    row(explorer, "kernel").click()
    expect(details).to_contain_text("trained, in collections trainable_variables")
    box(explorer, "dense.kernel").click()
    focused(explorer).press("ArrowRight")
    row(explorer, "Adam_1").click()
    expect(details).to_contain_text("slot variable v of dense.kernel, inferred by name scope")
    lab.screenshot("name-based")

"""Keys in a notebook: the explorer gets only its own keys, the notebook gets the others."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.test_access import COLOURS, weak_contrasts
from tests.ui.test_explorer import row

SHOW = """
import ckpt_viz as cv
nodes = (
    cv.Node((cv.Child("a", 1), cv.Child("b", 2))),
    cv.Node((cv.Child("c", 3), cv.Child("shared", 2))),
    cv.Node((cv.Child("d", 4),)),
    cv.Node(),
    cv.Node(),
)
explorer = cv.show(cv.ObjectGraph(nodes, "five nodes", cv.Origin.SAVED))
explorer
"""
CELLS = (SHOW, "print('ran')")
# In a notebook's command mode these delete, cut, insert, merge, convert, run and edit cells.
OURS = (
    *("d", "d", "f", "s", "a", "c", "k", "x", "v", "b", "m", "y", "z", "n", "N", "j", "i", "i"),
    *("1", "0", "0", "[", "]", "*", "+", "-", "Space", "Enter", "Escape", "?", "?", "/"),
)
HEARD = """() => {
    const heard = [];
    const { commands } = jupyterapp;
    const added = ["Escape", "Ctrl J"].flatMap(key => {
        const command = `test:${key}`;
        return [
            commands.addCommand(command, { execute: () => { heard.push(key); } }),
            commands.addKeyBinding({ command, keys: [key], selector: ".jp-Notebook" }),
        ];
    });
    return { heard, remove: () => added.forEach(one => one.dispose()) };
}"""


def check_keys(lab: JupyterLab) -> None:
    """Press every key on an explorer, and see what its notebook makes of it."""
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    cells = lab.page.locator(".jp-Notebook .jp-Cell")
    sources = "() => [...document.querySelectorAll('.jp-Cell .cm-content')].map(c => c.innerText)"
    row(explorer, "b").click()
    before = lab.page.evaluate(sources)
    menu = explorer.locator(".ckv-menu > summary:visible").first
    places = [
        *(explorer.get_by_role("treegrid"), explorer.get_by_role("application")),
        *(explorer.get_by_role("button", name="Keys (?)"), menu),
        explorer.get_by_role("separator", name="Width of the outline"),
    ]
    for place in places:
        for key in OURS:
            place.press(key)
            assert not lab.page.locator(".jp-Notebook.jp-mod-editMode").count(), key
        expect(cells).to_have_count(2)
        # The last key goes there.
        expect(explorer.get_by_role("combobox", name="Search")).to_be_focused()
        assert lab.page.evaluate(sources) == before
        assert lab.output(1).inner_text() == ""

    check_meanings(explorer)
    check_left_alone(lab, explorer)


def check_meanings(explorer: Locator) -> None:
    grid = explorer.get_by_role("treegrid")
    keys = explorer.page.keyboard
    if explorer.get_by_role("navigation", name="Above").count():
        explorer.get_by_role("button", name="Show the whole graph").last.click()
    explorer.get_by_role("combobox", name="Search").fill("")
    if row(explorer, "(root)").get_attribute("aria-expanded") == "false":
        row(explorer, "(root)").dblclick()
    row(explorer, "b").click()
    grid.press("f")
    expect(explorer.get_by_role("navigation", name="Above")).to_be_visible()
    explorer.get_by_role("button", name="Show the whole graph").last.click()
    panel = explorer.get_by_role("dialog")
    grid.press("?")
    expect(panel).to_be_visible()
    keys.press("Escape")
    expect(panel).to_be_hidden()
    expect(grid).to_be_focused()


def check_left_alone(lab: JupyterLab, explorer: Locator) -> None:
    """Escape, Shift+Enter and what is pressed with Ctrl are the notebook's."""
    listener = lab.page.evaluate_handle(HEARD)
    heard = "listener => listener.heard"
    grid = explorer.get_by_role("treegrid")
    grid.press("Escape")
    grid.press("Control+j")
    assert listener.evaluate(heard) == ["Escape", "Ctrl J"]
    # While something covers the explorer, Escape closes that.
    menu = explorer.locator(".ckv-menu > summary:visible").first
    for opens in (menu, explorer.locator(".ckv-help-button")):
        opens.click()
        lab.page.keyboard.press("Escape")
    assert listener.evaluate(heard) == ["Escape", "Ctrl J"]
    listener.evaluate("listener => listener.remove()")
    lab.select_cell(0)
    grid.press("Shift+Enter")
    lab.await_idle()
    assert lab.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 1


def test_keys_stay_with_the_explorer_and_the_rest_with_the_notebook(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "keys.ipynb", *CELLS)
    check_keys(lab)


@pytest.mark.more
def test_high_contrast_themes(lab: JupyterLab, shared: SharedKernel) -> None:
    shared.open(lab, "themes.ipynb", SHOW)
    lab.run_cell(0)
    row(lab.output(0).locator(".ckpt-viz"), "b").click()
    for theme in ("Light", "Dark", "Dark High Contrast"):
        lab.show_theme(theme)
        lab.screenshot(f"theme-{theme.lower().replace(' ', '-')}")
        (back,) = lab.page.evaluate(COLOURS, ["back"])
        assert (sum(back) > 600) == (theme == "Light")
        assert weak_contrasts(lab.page) == {}


def test_the_focus_goes_into_the_explorer_of_the_cell_and_back(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    shared.open(lab, "focus.ipynb", *CELLS)
    lab.run_cell(0)
    grid = lab.output(0).get_by_role("treegrid")
    expect(grid).to_be_visible()
    for cell in (0, 1):  # the second cell is below the explorer
        lab.select_cell(cell)
        lab.page.keyboard.press("Escape")
        lab.page.keyboard.press("Alt+Shift+E")
        expect(grid).to_be_focused()
        lab.page.keyboard.press("ArrowDown")
        lab.page.keyboard.press("Alt+Shift+E")
        expect(lab.page.locator(".jp-Notebook :focus")).to_have_count(1)
        expect(grid).not_to_be_focused()

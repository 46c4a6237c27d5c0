"""Checkpoints in JupyterLab are accessible: commands, keys, themes, screen readers."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support import frontend
from tests.ui.file_browser import CHANGED_MS, Files, is_ours
from tests.ui.jupyter import JupyterLab
from tests.ui.test_access import COLOURS, weak_contrasts
from tests.ui.test_explorer import row


@pytest.fixture
def files(lab: JupyterLab, request: pytest.FixtureRequest) -> Files:
    """A directory with two checkpoints."""
    files = Files(lab, re.sub(r"\W+", "-", request.node.name))
    files.write("ckpt-1", "kernel")
    files.write("ckpt-2", "kernel", "bias")
    files.show()
    return files


# --- commands


def _pick(files: Files, name: str) -> None:
    dialog = files.page.locator(".jp-Dialog")
    dialog.get_by_text(name, exact=True).click()
    dialog.locator(".jp-mod-accept").click()


def test_the_palette_opens_a_checkpoint_that_is_picked(files: Files) -> None:
    keys = files.page.keyboard
    keys.press("Control+Shift+C")
    files.page.locator(".lm-CommandPalette-input").fill("open checkpoint")
    keys.press("Enter")
    dialog = files.page.locator(".jp-Dialog")
    dialog.get_by_text(files.name, exact=True).dblclick()
    _pick(files, "ckpt-1.index")
    files.await_tab("ckpt-1.index")


def test_the_launcher_opens_a_checkpoint_of_the_directory_that_is_shown(files: Files) -> None:
    files.page.locator(".jp-LauncherCard", has_text="Checkpoint").click()
    _pick(files, "ckpt-2.index")
    files.await_tab("ckpt-2.index")


def test_a_directory_that_is_picked_opens(files: Files) -> None:
    files.add("state", "run")
    files.page.locator(".jp-LauncherCard", has_text="Checkpoint").click()
    _pick(files, "run")
    files.await_tab("run")
    expect(row(files.tab, "a")).to_be_visible()


def test_nothing_that_is_picked_opens_nothing(files: Files) -> None:
    files.page.locator(".jp-LauncherCard", has_text="Checkpoint").click()
    files.page.locator(".jp-Dialog .jp-mod-reject").click()
    expect(files.page.locator(".jp-Dialog")).to_have_count(0)
    expect(files.title).to_have_text("Launcher")
    assert files.complaints == []


# --- keys


def _expect_refreshed_by(files: Files, key: str) -> None:
    with files.page.expect_request(lambda asked: is_ours(asked) and asked.method == "GET"):
        files.tab.get_by_role("treegrid").press(key)
    files.tab.get_by_role("treegrid").wait_for()


def test_a_key_reads_again_what_is_shown(files: Files) -> None:
    tab = files.open("ckpt-1.index")
    files.write("ckpt-1", "kernel", "bias")
    _expect_refreshed_by(files, "Alt+Shift+R")
    expect(row(tab, "bias")).to_be_visible()


def test_a_key_asks_what_to_compare_with(files: Files) -> None:
    files.open("ckpt-2.index").get_by_role("treegrid").press("Alt+Shift+D")
    _pick(files, "ckpt-1.index")
    files.await_tab("ckpt-1 → ckpt-2")


_SAVE = "([plugin, raw]) => jupyterapp.serviceManager.settings.save(plugin, raw)"


def test_settings_change_the_keys_of_refresh_and_of_the_explorer(files: Files) -> None:
    own = {"command": "ckpt-viz:refresh", "keys": ["Alt Shift Y"], "selector": ".ckpt-viz-tab"}
    for plugin, settings in (
        ("@jupyterlab/shortcuts-extension:shortcuts", {"shortcuts": [own]}),
        ("ckpt-viz:explorer", {"keys": {"j": "ArrowDown", "k": "ArrowUp", "f": ""}}),
    ):
        files.page.evaluate(_SAVE, [plugin, json.dumps(settings)])
    files.lab.reload_page()
    tab = files.open("ckpt-1.index")
    _expect_refreshed_by(files, "Alt+Shift+Y")
    row(tab, "layer").click()
    selected = tab.get_by_role("row", selected=True)
    for key, name in {"j": "kernel", "k": "layer", "f": "layer"}.items():
        tab.get_by_role("treegrid").press(key)
        expect(selected).to_contain_text(name)
    expect(tab.get_by_role("navigation", name="Above")).to_have_count(0)
    tab.get_by_role("combobox", name="Search").press_sequentially("jkf")
    expect(tab.get_by_role("combobox", name="Search")).to_have_value("jkf")


def test_without_a_mouse_one_opens_and_gets_to_the_outline(files: Files) -> None:
    files.item("ckpt-2.data-00000-of-00001").click()
    keys = files.page.keyboard
    keys.press("ArrowDown")
    keys.press("Enter")
    files.await_tab("ckpt-2.index")
    grid = files.tab.get_by_role("treegrid")
    expect(grid).to_be_focused()  # the tab that opens takes the focus
    keys.press("ArrowDown")
    expect(files.tab.get_by_role("row", selected=True)).to_have_count(1)


# --- looks

THEMES = ("Light", "Dark", "Dark High Contrast")


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def _violations(files: Files, axe: str) -> list[str]:
    """Return what axe-core finds in the current tab but in JupyterLab's own buttons."""
    panel = files.tab.locator("xpath=ancestor::*[contains(@class, 'jp-MainAreaWidget')]")
    files.page.evaluate(axe)
    where = "{ include: [panel], exclude: ['jp-button'] }"
    found = panel.evaluate(f"panel => axe.run({where})")["violations"]
    return [
        f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def test_each_theme_has_contrast_and_no_violation(files: Files, axe: str) -> None:
    tab = files.open("ckpt-1.index")
    files.write("ckpt-1", "bias")
    expect(tab.locator(".ckpt-viz-stale")).to_be_visible(timeout=CHANGED_MS)
    row(tab, "kernel").click()
    _expect_good_looks(files, axe, "document")
    files.close()
    files.choose("ckpt-1.index", "ckpt-2.index", menu="Compare Checkpoints")
    files.await_tab("ckpt-2 → ckpt-1")  # which was written again above
    _expect_good_looks(files, axe, "document-comparison")


def _expect_good_looks(files: Files, axe: str, name: str) -> None:
    for theme in THEMES:
        files.lab.show_theme(theme)
        files.lab.screenshot(f"{name}-{theme.lower().replace(' ', '-')}")
        (back,) = files.page.evaluate(COLOURS, ["back"])
        assert (sum(back) > 600) == (theme == "Light"), theme
        assert weak_contrasts(files.page) == {}, theme
        assert _violations(files, axe) == [], theme

"""Two checkpoints compared from JupyterLab's file browser: chosen, picked, dropped."""

from __future__ import annotations

import os
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.file_browser import Files
from tests.ui.jupyter import JupyterLab
from tests.ui.tables import line


@pytest.fixture
def files(lab: JupyterLab, request: pytest.FixtureRequest) -> Files:
    """A directory with an older checkpoint, a newer one, and what is none."""
    files = Files(lab, re.sub(r"\W+", "-", request.node.name))
    files.write("ckpt-new", "kernel", "bias", filled=2)
    files.write("ckpt-old", "kernel", filled=1)
    (files.place / "ckpt-git.index").write_bytes(b"DIRC" + bytes(60))
    for path in files.place.glob("ckpt-old.*"):
        os.utime(path, (10**9, 10**9))
    files.show()
    return files


def _expect_diff(files: Files) -> None:
    files.await_tab("ckpt-old → ckpt-new")
    expect(files.tab.locator(".ckv-check-head")).to_contain_text("layer.bias is new.")


@pytest.mark.parametrize("first", ["ckpt-old.index", "ckpt-new.index"])
def test_of_two_selected_the_older_one_is_the_old_side(files: Files, first: str) -> None:
    (second,) = {"ckpt-old.index", "ckpt-new.index"} - {first}
    files.choose(first, second, menu="Compare Checkpoints")
    _expect_diff(files)
    line(files.tab, "layer").click()
    files.page.keyboard.press("ArrowRight")
    expect(line(files.tab, "bias")).to_contain_text("only in b")
    line(files.tab, "kernel").click()
    values = files.tab.locator(".ckv-values")
    expect(values.locator(".ckv-elements")).to_have_count(2)
    files.lab.screenshot("document-comparison")
    assert files.complaints == []


def test_a_file_that_is_written_after_the_listing_is_the_new_side(files: Files) -> None:
    files.item("ckpt-old.index").wait_for()
    files.write("ckpt-old", "kernel")
    files.choose("ckpt-old.index", "ckpt-new.index", menu="Compare Checkpoints")
    files.await_tab("ckpt-new → ckpt-old")


def test_of_two_that_were_written_at_one_time_the_numbers_tell_the_older_one(files: Files) -> None:
    for number in (10, 9):
        files.write(f"ckpt-{number}", "kernel")
    for path in files.place.glob("ckpt-*"):
        os.utime(path, (10**9, 10**9))
    files.show()
    files.choose("ckpt-10.index", "ckpt-9.index", menu="Compare Checkpoints")
    files.await_tab("ckpt-9 → ckpt-10")


def test_an_open_checkpoint_is_compared_with_one_that_is_picked(files: Files) -> None:
    files.open("ckpt-new.index")
    files.toolbar.get_by_text("Compare with…").click()
    dialog = files.page.locator(".jp-Dialog")
    dialog.get_by_text("ckpt-old.index", exact=True).click()
    files.lab.screenshot("document-picker")
    dialog.locator(".jp-mod-accept").click()
    _expect_diff(files)


def test_an_open_checkpoint_is_compared_with_one_that_is_dropped_on_it(files: Files) -> None:
    files.open("ckpt-new.index")
    _drag(files, "ckpt-old.index", files.tab)
    _expect_diff(files)


def _drag(files: Files, name: str, onto: Locator) -> None:
    start, end = files.item(name).bounding_box(), onto.bounding_box()
    assert start is not None and end is not None
    mouse = files.page.mouse
    mouse.move(start["x"] + 40, start["y"] + start["height"] / 2)
    mouse.down()
    mouse.move(start["x"] + 60, start["y"] + 40, steps=4)
    mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    expect(onto).to_have_class(re.compile("ckpt-viz-drop"))
    files.lab.screenshot("document-drop")
    mouse.up()


def test_a_wrong_second_file_says_why(files: Files) -> None:
    files.choose("ckpt-new.index", "ckpt-git.index", menu="Compare Checkpoints")
    problem = files.tab.get_by_role("alert")
    expect(problem).to_contain_text("ckpt-git.index")
    expect(problem).to_contain_text("the index of a Git repository")


def test_one_that_is_open_is_shown_again(files: Files) -> None:
    for _ in range(2):
        files.choose("ckpt-old.index", "ckpt-new.index", menu="Compare Checkpoints")
        _expect_diff(files)
        files.open("ckpt-new.index")  # the comparison is no longer in front
    expect(files.page.get_by_role("tab", name="ckpt-old → ckpt-new")).to_have_count(1)

"""Checkpoints opened from the tree page of Jupyter Notebook 7."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.ui import test_notebook_7
from tests.ui.file_browser import Files, show_values, state_of
from tests.ui.jupyter import Notebook7
from tests.ui.test_explorer import row

pytest.importorskip("notebook")
lab = test_notebook_7.lab


class Tree(Files):
    """A directory in the tree page, which opens files in pages of their own."""

    def show(self) -> None:
        assert isinstance(self.lab, Notebook7)
        self.lab.open_tree(self.name)
        self.item("run").wait_for()

    def item(self, name: str) -> Locator:
        text = self.page.get_by_text(name, exact=True)
        return self.page.locator(".jp-DirListing-item").filter(has=text)

    @property
    def tab(self) -> Locator:
        return self.page.locator(".ckpt-viz-tab:visible")


@pytest.fixture
def files(lab: Notebook7, request: pytest.FixtureRequest) -> Iterator[Tree]:
    """A directory with two checkpoints and one of its own; nothing is written there."""
    files = Tree(lab, re.sub(r"\W+", "-", request.node.name))
    files.write("ckpt-1", "kernel")
    files.write("ckpt-2", "kernel", "bias")
    files.add("state", "run")
    files.add("keras_weights")
    shutil.copy(files.place / "ckpt-1.index", files.place / "eff-1.index")
    files.show()
    before = state_of(lab.server.root)
    yield files
    assert state_of(lab.server.root) == before


@pytest.mark.more
def test_a_double_click_opens_a_page_which_can_be_loaded_again(files: Tree) -> None:
    with files.page.context.expect_page() as opened:
        files.item("ckpt-1.index").dblclick()
    page = opened.value
    explorer = page.locator(".ckpt-viz-tab")
    row(explorer, "kernel").click()
    show_values(explorer)
    page.keyboard.press("Control+s")
    page.reload()
    expect(row(explorer, "kernel")).to_be_visible()
    page.close()


@pytest.mark.more
def test_a_file_of_keras_an_index_of_any_name_and_a_directory_open_too(files: Tree) -> None:
    for name, shown in (
        ("model.weights.h5", "learning_rate"),
        ("eff-1.index", "(root)"),
        ("run", "a"),
    ):
        with files.page.context.expect_page() as opened:
            if name.endswith(".h5"):
                files.item(name).dblclick()
            else:
                files.choose(name, menu="Open in Checkpoint Explorer")
        expect(row(opened.value.locator(".ckpt-viz-tab"), shown)).to_be_visible()
        opened.value.close()


@pytest.mark.more
def test_two_are_compared_below(files: Tree) -> None:
    files.choose("ckpt-1.index", "ckpt-2.index", menu="Compare Checkpoints")
    expect(files.tab).to_contain_text("only in b")
    files.lab.screenshot("notebook-7-comparison")


@pytest.mark.more
def test_a_history_below_is_as_high_as_an_explorer(files: Tree) -> None:
    files.choose("run", menu="Show Checkpoint History")
    files.tab.locator(".ckpt-viz-timeline").wait_for()
    files.lab.screenshot("notebook-7-history")
    height = files.tab.evaluate("tab => tab.clientHeight")
    assert height >= 380

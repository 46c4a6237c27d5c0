"""The explorer in Jupyter Notebook 7: live, reopened without its kernel, and its keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.ui import processes
from tests.ui.jupyter import Notebook7, SharedKernel, code_cell
from tests.ui.pages import new_page
from tests.ui.test_access import weak_contrasts
from tests.ui.test_explorer import SELECTED, SHOW, TRAIN, box, row
from tests.ui.test_keys import CELLS, check_keys
from tests.ui.test_renderer import expect_live, expect_snapshot, saved_cell
from tests.ui.test_restoring import CHECK

pytest.importorskip("notebook")
pytestmark = pytest.mark.more


@pytest.fixture
def lab(context: BrowserContext, notebook_server: processes.Server) -> Iterator[Notebook7]:
    lab = Notebook7(new_page(context), notebook_server, workspace="")
    yield lab
    lab.shut_down()


def _explorer(lab: Notebook7) -> Locator:
    return lab.output(0).locator(".ckpt-viz")


def test_selection_reaches_the_kernel_and_the_graph_outlives_it(lab: Notebook7) -> None:
    lab.create_notebook("whole-way.ipynb", code_cell(TRAIN + SHOW), code_cell(SELECTED))
    lab.open_notebook("whole-way.ipynb")
    lab.run_cell(0)
    explorer = _explorer(lab)
    expect_live(lab.output(0))
    box(explorer, "step").click()
    expect(explorer.locator(".ckv-node-name")).to_have_text("step")
    lab.run_cell_until(1, "variable True")
    lab.screenshot("notebook-7")
    assert weak_contrasts(lab.page) == {}
    lab.save()
    lab.shut_down_kernel()
    expect_snapshot(lab.output(0))

    lab.open_notebook("whole-way.ipynb")
    expect_snapshot(lab.output(0))
    row(_explorer(lab), "optimizer").click()
    expect(row(_explorer(lab), "optimizer")).to_have_attribute("aria-expanded", "true")
    lab.screenshot("notebook-7-snapshot")


def test_a_notebook_of_long_ago_shows_its_snapshot(lab: Notebook7) -> None:
    lab.create_notebook("old.ipynb", saved_cell())
    lab.open_notebook("old.ipynb")
    expect_snapshot(lab.output(0))


def test_the_code_of_a_check_goes_into_a_cell_below(lab: Notebook7) -> None:
    lab.create_notebook("fix.ipynb", code_cell(CHECK.removeprefix(SharedKernel.AFRESH)))
    lab.open_notebook("fix.ipynb")
    lab.run_cell(0)
    explorer = _explorer(lab)
    explorer.get_by_role("button", name="Code", exact=True).click()
    explorer.get_by_role("button", name="Insert below").first.click()
    cell = lab.page.locator(".jp-Notebook .jp-CodeCell").nth(1).locator(".cm-content")
    expect(cell).to_have_text("check.fix().apply()")
    lab.screenshot("notebook-7-code")


def test_keys_stay_with_the_explorer_and_the_rest_with_the_notebook(lab: Notebook7) -> None:
    lab.create_notebook("keys.ipynb", *map(code_cell, CELLS))
    lab.open_notebook("keys.ipynb")
    check_keys(lab)

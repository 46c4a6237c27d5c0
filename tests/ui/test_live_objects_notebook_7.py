"""Live objects in Jupyter Notebook 7: the side panel, and explorers below the notebook."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui import test_notebook_7
from tests.ui.jupyter import Notebook7
from tests.ui.live_panel import RENAME, SAVE, TRAIN, Live, complaints
from tests.ui.test_explorer import row

pytestmark = pytest.mark.tf

lab = test_notebook_7.lab


@pytest.mark.more
def test_objects_are_listed_shown_and_checked(lab: Notebook7) -> None:
    live = Live(lab, "live-objects")
    live.start(SAVE, TRAIN, RENAME, ran=2)
    live.show_panel()
    live.expect_listed("ckpt", "net")
    tab = live.open("ckpt")
    row(tab, "step").click()
    expect(tab.locator(".ckv-elements")).to_contain_text("7")
    lab.screenshot("notebook-7-live-tab")
    lab.run_cell(2)
    live.notices.get_by_role("button", name="Refresh").click()
    expect(row(tab, "added")).to_be_visible()
    lab.run_cell(3)
    live.check("ckpt", "saved", "ckpt.index")
    expect(live.headline).to_contain_text("fail")
    lab.screenshot("notebook-7-live-check")
    live.press("net", "Insert code")
    assert live.sources[live.active].endswith("cv.show(net)")
    assert complaints(lab) == []

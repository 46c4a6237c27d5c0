"""The tab of a history in JupyterLab, which Jupyter's server reads: no kernel runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.support import history_fixtures
from tests.support.history_fixtures import write_state
from tests.support.tables import write_holes
from tests.ui.file_browser import CHANGED_MS, Files
from tests.ui.jupyter import JupyterLab

_ENDINGS = (".index", ".data-00000-of-00001")


@pytest.fixture
def files(lab: JupyterLab, request: pytest.FixtureRequest) -> Files:
    return Files(lab, request.node.name)


def rows(view: Locator) -> Locator:
    return view.locator(".ckh-body [role=row]")


def point(view: Locator, title: str) -> Locator:
    return view.get_by_role("button", name=f"{title},")


def opened(files: Files, name: str) -> Locator:
    """Return the view of a directory's history in a new tab."""
    files.show()
    files.choose(name, menu="Show Checkpoint History")
    expect(files.title).to_have_text(f"History of {name}")
    view = files.tab.locator(".ckpt-viz-timeline")
    expect(rows(view).first).to_be_visible()
    return view


def test_cancel_keeps_what_was_read_and_read_on_goes_on(files: Files, lab: JupyterLab) -> None:
    directory = files.place / "slow"
    directory.mkdir()
    for number in range(20):
        write_holes(directory / f"ckpt-{number}", {"a": 400, "w": 2 << 30}, number=number)
    view = opened(files, "slow")
    progress = files.tab.get_by_role("progressbar", name="Progress")
    expect(progress).to_be_visible()
    expect(progress).to_have_attribute(
        "aria-valuetext", re.compile(r"20 of 20 checkpoints, .* of .*GB")
    )
    lab.screenshot("history-tab-reading-light")
    files.tab.get_by_role("button", name="Cancel").click()
    expect(progress).to_have_count(0)
    rest = files.tab.get_by_role("status").filter(has_text="of 2 rows were read")
    expect(rest).to_be_visible()
    expect(rows(view)).to_have_count(2)
    expect(rows(view).filter(has_text="w")).to_contain_text("? not read")
    files.tab.get_by_role("button", name="Read on").click()
    expect(progress).to_be_visible()
    # The server reads at most 1 GiB at a time, and the tab says so.
    expect(rest).to_contain_text("one request may read", timeout=60_000, ignore_case=True)
    lab.screenshot("history-tab-rest-light")
    lab.show_theme("Dark")
    expect(lab.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    lab.page.locator("#jupyterlab-splash").wait_for(state="detached")
    files.tab.get_by_role("button", name="Read on").click()
    expect(progress).to_be_visible()
    lab.screenshot("history-tab-reading-dark")
    files.close()
    assert files.complaints == []


def test_any_two_checkpoints_are_compared_without_a_kernel(files: Files) -> None:
    directory = files.place / "run"
    directory.mkdir()
    history_fixtures.write(directory, history_fixtures.training())
    view = opened(files, "run")
    point(view, "ckpt-3").click(modifiers=["Shift"])
    point(view, "ckpt-7").click()
    row = rows(view).filter(has_text="block0.attention.query").filter(has_text="kernel").first
    expect(row).to_contain_text("≥")
    view.get_by_role("button", name="Compute a → b").first.click()
    expect(view.get_by_role("status").filter(has_text="exact")).to_be_visible()
    times = [
        time["block0/attention/query/kernel"].astype(float) for time in history_fixtures.training()
    ]
    share = ((times[7] - times[3]) ** 2).sum() ** 0.5 / (times[3] ** 2).sum() ** 0.5
    expect(row).to_contain_text(f"{100 * share:.0f} %")


def test_what_a_model_checkpoint_of_keras_wrote_is_a_history(files: Files) -> None:
    files.add("keras_run", "run")
    view = opened(files, "run")
    for title in ("m.01-12.58.weights.h5", "m.03-7.38.weights.h5"):
        expect(point(view, title)).to_be_visible()
    expect(rows(view).filter(has_text="kernel").first).to_be_visible()
    files.lab.screenshot("history-tab-of-keras")
    files.close()
    assert files.complaints == []


def test_saved_and_deleted_checkpoints_show_by_themselves(files: Files, lab: JupyterLab) -> None:
    directory, later = files.place / "run", files.place / "later"
    directory.mkdir()
    later.mkdir()
    prefixes = history_fixtures.write(directory, history_fixtures.training())
    for ending in _ENDINGS:
        Path(prefixes[-1] + ending).rename(later / f"ckpt-8{ending}")
    write_state(directory, prefixes[:-1])
    view = opened(files, "run")
    view.get_by_role("button", name="Tree order").click()
    point(view, "ckpt-2").click(modifiers=["Shift"])
    point(view, "ckpt-5").click()
    rows(view).nth(3).click()
    chosen = view.locator("[role=row][aria-selected=true]").inner_text()

    for ending in _ENDINGS:
        (later / f"ckpt-8{ending}").rename(prefixes[-1] + ending)
    write_state(directory, prefixes)
    expect(point(view, "ckpt-8")).to_be_visible(timeout=CHANGED_MS)
    for title in ("ckpt-2", "ckpt-5"):
        expect(point(view, title)).to_have_attribute("aria-pressed", "true")
    assert view.locator("[role=row][aria-selected=true]").inner_text() == chosen
    expect(view.get_by_role("button", name="Tree order")).to_have_attribute("aria-pressed", "true")

    for number in (0, 4):
        for ending in _ENDINGS:
            Path(prefixes[number] + ending).unlink()
    write_state(directory, [one for n, one in enumerate(prefixes) if n not in (0, 4)])
    for title in ("ckpt-0", "ckpt-4"):
        hint = point(view, title).locator(".ckh-said")
        expect(hint).to_contain_text("deleted since it was read", timeout=CHANGED_MS)
    lab.screenshot("history-tab-deleted")
    expect(view.locator(".ckh-point")).to_have_count(9)
    assert view.locator("[role=row][aria-selected=true]").inner_text() == chosen
    view.get_by_role("button", name="Compute a → b").first.click()
    expect(view.get_by_role("status").filter(has_text="exact")).to_be_visible()
    point(view, "ckpt-4").click()
    compute = view.get_by_role("button", name="Compute a → b")
    if compute.count():
        compute.first.click()
        expect(view.get_by_text("ckpt-4 was deleted").first).to_be_visible()
    assert files.complaints == []

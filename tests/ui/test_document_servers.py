"""Checkpoints on other Jupyter servers: remote, guarded, older, without ckpt_viz."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from ckpt_viz.graphs.render.payload import VERSION
from tests.support import frontend
from tests.ui import processes
from tests.ui.file_browser import Files, is_ours, show_values
from tests.ui.jupyter import JupyterLab
from tests.ui.pages import hurry, new_page
from tests.ui.test_explorer import row

_TOKEN = "a-secret"
_DOWN_MS = 8_000
_HURRY = 8


@pytest.fixture
def labextensions(server: processes.Server, tmp_path: Path) -> Path:
    """A directory of extensions with the front end that was built for the server of all tests."""
    place = tmp_path / "labextensions"
    place.mkdir()
    built = frontend.LABEXTENSION.parent / "ckpt_viz" / "labextension"
    (place / "ckpt-viz").symlink_to(built, target_is_directory=True)
    return place


@pytest.mark.more
@pytest.mark.slow
def test_behind_a_token_below_a_base_url_a_lost_server_is_said_and_asked_again_when_it_is_back(
    context: BrowserContext, labextensions: Path, tmp_path: Path
) -> None:
    asked: list[str] = []
    guard: dict[str, Any] = {"base_url": "/user/me", "token": _TOKEN}
    with processes.jupyterlab(tmp_path, labextensions, **guard) as server:
        page = new_page(context)
        page.goto(f"{server.url}/lab?token={_TOKEN}")
        files = Files(JupyterLab(page, server, "guarded"), "guarded")
        hurry(files.page, _HURRY)
        files.write("ckpt-1", "kernel")
        files.write("ckpt-2", "bias")
        tab = files.open("ckpt-1.index")
        files.choose("ckpt-1.index", "ckpt-2.index", menu="Compare Checkpoints")
        files.await_tab("ckpt-1 → ckpt-2")
        _bring(files, "ckpt-1.index")
        row(tab, "kernel").click()
        show_values(tab)
        assert files.complaints == []
    # JupyterLab itself warns of the lost server, at a time of its own.
    files.page.add_locator_handler(
        files.page.get_by_role("dialog", name="Server Connection Error"),
        lambda dialog: dialog.get_by_role("button", name="Close").click(),
    )
    files.page.on("request", lambda one: asked.append(one.url) if is_ours(one) else None)
    values, problem = tab.locator(".ckv-values"), tab.get_by_role("alert")
    values.get_by_role("button", name="Read again").click()
    expect(values).to_contain_text("Jupyter's server does not answer: it has stopped")
    files.toolbar.get_by_role("button").first.click()
    expect(problem).to_contain_text("Jupyter's server does not answer: it has stopped")
    row(tab, "step").click()  # what is drawn is of use still
    row(tab, "kernel").click()
    files.page.wait_for_timeout(_DOWN_MS / _HURRY)
    assert len(asked) <= 2 + _DOWN_MS / 2_000  # two were asked for, the others look for changes
    port = urlsplit(server.url).port or 0
    with processes.jupyterlab(tmp_path, labextensions, port=port, **guard):
        problem.get_by_role("button", name="Try again").click()
        expect(tab.locator(".ckpt-viz-notices")).to_be_empty()
        show_values(tab)
        _bring(files, "ckpt-1 → ckpt-2")
        files.toolbar.get_by_role("button").first.click()
        expect(files.tab.locator(".ckpt-viz-notices")).to_be_empty()
        expect(files.tab.locator(".ckv-sentence")).to_be_visible()
        files.open("ckpt-2.index")
        assert not any(one.startswith("uncaught") for one in files.complaints)
        files.lab.shut_down()


def _bring(files: Files, title: str) -> None:
    tabs = files.page.locator("#jp-main-dock-panel .lm-TabBar-tab")
    tabs.get_by_text(title, exact=True).click()


@pytest.fixture
def files(lab: JupyterLab, request: pytest.FixtureRequest) -> Files:
    files = Files(lab, request.node.name)
    files.write("ckpt-1", "kernel")
    return files


def _tell(files: Files, **changes: object) -> None:
    """Have the server tell something else of every graph."""

    def change(route: Route) -> None:
        if route.request.method != "GET":
            return route.fallback()
        response = route.fetch()
        told = response.json() | changes
        route.fulfill(response=response, body=json.dumps(told))

    files.page.route(lambda url: "/ckpt-viz/api/v1/graph" in url, change)


@pytest.mark.more
def test_without_the_extension_it_is_said_what_to_install_and_where(files: Files) -> None:
    def answered_by_no_extension(route: Route) -> None:
        route.continue_(url=route.request.url.replace("/ckpt-viz/", "/no-extension/"))

    files.page.route(lambda url: "/ckpt-viz/api/" in url, answered_by_no_extension)
    files.show()
    files.item("ckpt-1.index").dblclick()
    problem = files.tab.get_by_role("alert")
    expect(problem).to_contain_text("Jupyter's server has no ckpt-viz")
    expect(problem).to_contain_text("pip install ckpt-viz")
    expect(problem).to_contain_text("in JupyterLab's environment")
    files.lab.screenshot("document-without-server")


@pytest.mark.more
def test_another_version_of_the_server_is_said(files: Files) -> None:
    _tell(files, version="99.1")
    tab = files.open("ckpt-1.index")
    note = tab.get_by_role("note")
    expect(note).to_contain_text(f"This page has ckpt-viz {version('ckpt-viz')}")
    expect(note).to_contain_text("Jupyter's server has 99.1")
    expect(row(tab, "kernel")).to_be_visible()
    files.lab.screenshot("document-other-version")


@pytest.mark.more
def test_another_format_of_graphs_is_an_error_that_names_both(files: Files) -> None:
    _tell(files, version="99.1", format=99)
    files.show()
    files.item("ckpt-1.index").dblclick()
    problem = files.tab.get_by_role("alert")
    expect(problem).to_contain_text("ckpt-viz 99.1, which sends graphs in format 99")
    expect(problem).to_contain_text(f"reads format {VERSION}")

"""Defaults of a page, which explorers follow, and JupyterLab's settings, which set them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ckpt_viz import ObjectGraph, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from tests.support.graphs import graph, keras3_adam
from tests.support.payload_fixtures import overlays
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import choose_view, html_pages
from tests.ui.tables import shown
from tests.ui.test_access import COLOURS, GRAPHIC, VS_CODE, weak_contrasts, wear

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a graph in a page with these defaults, as text or as data."""
    with html_pages(browser, tmp_path) as open_page:

        def open_graph(
            graph: Graph,
            overlay: Overlay | None = None,
            *,
            defaults: str | dict[str, Any] | None = None,
            **options: Any,
        ) -> Page:
            return open_page(_with_defaults(to_html(graph, overlay), defaults), **options)

        yield open_graph


def _with_defaults(page: str, defaults: str | dict[str, Any] | None) -> str:
    if defaults is None:
        return page
    of_objects = {"view": "objects", **defaults} if isinstance(defaults, dict) else defaults
    text = of_objects if isinstance(of_objects, str) else json.dumps(of_objects)
    assert page.count("<html ") == 1
    return page.replace("<html ", f'<html data-ckpt-viz="{html.escape(text)}" ')


def _rows(page: Page) -> list[tuple[int, str]]:
    """Return level and text of every row of the outline."""
    of_row = "row => [Number(row.ariaLevel), row.innerText]"
    rows = page.locator("[role=row][aria-level]").evaluate_all(f"rows => rows.map({of_row})")
    return [(level, text) for level, text in rows]


def _chain(length: int) -> ObjectGraph:
    return graph({i: {f"part {i}": i + 1} for i in range(length)}, (length,))


# --- what holds for explorers that open from then on


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_depth_says_how_many_levels_are_open(opened: Open, depth: int) -> None:
    page = opened(_chain(8), defaults={"depth": depth})
    assert [level for level, _ in _rows(page)] == list(range(1, depth + 2))


def test_what_is_malformed_leaves_the_explorer_as_it_is(opened: Open) -> None:
    usual = {v: _rows(opened(_chain(8), defaults={"view": v})) for v in ("layers", "objects")}
    for defaults in (None, "{", "null", '"depth"', {}, {"depth": -1}):
        view = "layers" if isinstance(defaults, str) else "objects"
        assert _rows(opened(_chain(8), defaults=defaults)) == usual[view]
    overlay = overlays()["check"]
    malformed = opened(overlay.graph, overlay, defaults={"matched": 0, "bookkeeping": "yes"})
    assert _rows(malformed) == _rows(opened(overlay.graph, overlay))


def test_bookkeeping_is_shown_from_the_start(opened: Open) -> None:
    plain = graph({0: {"layer": 1, "_tracked": 3}, 1: {"kernel": 2}}, (2,))
    nodes = list(plain.nodes)
    nodes[3] = nodes[3]._replace(role=Role.BOOKKEEPING)
    own = replace(plain, nodes=tuple(nodes))
    expect(opened(own).get_by_role("row", name="_tracked")).to_have_count(0)
    page = opened(own, defaults={"bookkeeping": True})
    expect(page.get_by_role("row", name="_tracked")).to_be_visible()
    choose_view(page.locator(".ckpt-viz"), "Keras' own objects")
    expect(page.get_by_role("row", name="_tracked")).to_have_count(0)


def test_without_matched_nodes_only_changes_are_shown(opened: Open) -> None:
    overlay = overlays()["check"]
    page = opened(overlay.graph, overlay, defaults={"matched": False})
    everything = opened(overlay.graph, overlay)
    changed = shown(page)
    assert 0 < len(changed) < len(shown(everything))
    choose_view(page.locator(".ckpt-viz"), "Only changes")
    assert shown(page) == shown(everything)


def test_explorers_stay_as_the_user_has_opened_them(opened: Open) -> None:
    page = opened(_chain(8))
    before = [level for level, _ in _rows(page)]
    page.get_by_role("treegrid").press("ArrowDown")
    page.evaluate("document.documentElement.dataset.ckptViz = '{\"depth\": 1}'")
    page.get_by_role("treegrid").press("ArrowDown")
    page.set_viewport_size({"width": 1000, "height": 700})
    assert [level for level, _ in _rows(page)] == before


def test_unused_explorers_follow_settings_that_come_late(opened: Open) -> None:
    page = opened(_chain(8))
    assert len(_rows(page)) > 2
    page.evaluate("document.documentElement.dataset.ckptViz = '{\"depth\": 1}'")
    expect(page.locator(".ckv-row")).to_have_count(2)


# --- colours

CLASSIC = "is => document.documentElement.toggleAttribute('data-ckpt-viz-classic', is)"
ROLES = ["object", "variable", "optimizer", "slot"]
LOOKS: dict[str, dict[str, list[int]]] = {
    "light": {"object": [0, 0, 0], "variable": [0, 0, 255], "optimizer": [255, 0, 0]},
    "dark": {"object": [255, 255, 255], "slot": [255, 165, 0]},
}


@pytest.mark.parametrize("scheme", LOOKS)
def test_classic_colours_come_and_go_at_once_in_open_explorers(opened: Open, scheme: str) -> None:
    page = opened(keras3_adam(), color_scheme=scheme)
    before = page.evaluate(COLOURS, ROLES)
    page.evaluate(CLASSIC, True)
    classic = dict(zip(ROLES, page.evaluate(COLOURS, ROLES), strict=True))
    assert {role: classic[role] for role in LOOKS[scheme]} == LOOKS[scheme]
    red, green, blue = classic["slot"]
    assert red > 220 and 100 < green < 170 and blue == 0
    stroke = "shape => getComputedStyle(shape).stroke"
    shape = page.locator(".ckv-node.ckv-role-variable > .ckv-shape").first
    assert shape.evaluate(stroke) == "rgb({}, {}, {})".format(*classic["variable"])
    assert weak_contrasts(page) == {}
    page.screenshot(path=_SCREENSHOTS / f"classic-{scheme}.png")
    page.evaluate(CLASSIC, False)
    assert page.evaluate(COLOURS, ROLES) == before


@pytest.mark.parametrize("theme", VS_CODE)
def test_classic_colours_can_be_seen_in_every_theme(opened: Open, theme: str) -> None:
    page = opened(keras3_adam())
    page.evaluate(CLASSIC, True)
    wear(page, theme)
    assert weak_contrasts(page) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_classic_colours_give_way_to_those_that_the_system_forces(
    opened: Open, scheme: str
) -> None:
    page = opened(keras3_adam(), color_scheme=scheme, forced_colors="active")
    before = page.evaluate(COLOURS, list(GRAPHIC))
    page.evaluate(CLASSIC, True)
    assert page.evaluate(COLOURS, list(GRAPHIC)) == before


# --- JupyterLab's settings

CHAIN = """
import ckpt_viz as cv
nodes = [cv.Node((cv.Child(f"part {i}", i + 1),)) for i in range(8)] + [cv.Node()]
explorer = cv.show(cv.ObjectGraph(tuple(nodes), "a chain", cv.Origin.SAVED))
explorer
"""


def test_live_explorers_follow_the_settings(lab: JupyterLab, shared: SharedKernel) -> None:
    shared.open(lab, "settings.ipynb", CHAIN, "explorer")
    lab.run_cell(0)
    explorers = [lab.output(i).locator(".ckpt-viz") for i in (0, 1)]
    expect(explorers[0].locator(".ckv-row")).to_have_count(9)
    before = lab.page.evaluate(COLOURS, ROLES)

    lab.execute("settingeditor:open", query="TensorFlow Checkpoints")
    form = lab.page.locator(".jp-SettingsPanel")
    form.locator("select", has_text="TensorFlow classic").select_option("TensorFlow classic")
    form.locator("input[type=number]").fill("2")
    lab.page.wait_for_function("document.documentElement.dataset.ckptViz?.includes('2')")
    lab.screenshot("settings")
    lab.close()
    classic = lab.page.evaluate(COLOURS, ROLES)
    assert classic[ROLES.index("optimizer")] == LOOKS["light"]["optimizer"]
    assert classic != before
    expect(explorers[0].locator(".ckv-row")).to_have_count(3)  # it is unused
    lab.run_cell(1)
    expect(explorers[1].locator(".ckv-row")).to_have_count(3)

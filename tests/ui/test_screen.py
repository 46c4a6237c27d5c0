"""The screen of the explorer, in a page of its own: panes, tabs, focus, slots, exports, copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, expect

from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node, NotSaved, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from tests.support.graphs import keras3_adam, transformer
from tests.support.payload_fixtures import overlays
from tests.ui.cut import settle
from tests.ui.pages import OpenPage, choose_view, open_exports, showing_objects

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = pytest.mark.usefixtures("front_end")


class Explorer:
    """An explorer that fills a page."""

    def __init__(
        self,
        lend: OpenPage,
        path: Path,
        graph: Graph,
        overlay: Overlay | None = None,
        *,
        layers: bool = False,
    ) -> None:
        page = to_html(graph, overlay)
        path.write_text(page if layers else showing_objects(page))
        self.page = lend(permissions=["clipboard-read", "clipboard-write"])
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(path.as_uri())
        self.root = self.page.locator(".ckpt-viz")
        self.outline = self.page.get_by_role("treegrid")
        self.outline.wait_for(state="attached")

    def row(self, name: str) -> Locator:
        named = self.page.locator(".ckv-name", has_text=re.compile(f"^{re.escape(name)}$"))
        return self.outline.get_by_role("row").filter(has=named).first

    def rows(self) -> int:
        return int(self.outline.get_attribute("aria-rowcount") or 0) - 1

    def press(self, *keys: str) -> None:
        self.outline.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def boxes(self) -> Locator:
        return self.page.locator(".ckv-drawing .ckv-node")


@pytest.fixture
def adam(lend: OpenPage, tmp_path: Path) -> Iterator[Explorer]:
    explorer = Explorer(lend, tmp_path / "a.html", keras3_adam())
    yield explorer
    assert explorer.problems == []


def _wide(count: int) -> Graph:
    value = Attribute("VARIABLE_VALUE", "", "x/.ATTRIBUTES/VARIABLE_VALUE", "float32", (2,), 8)
    leaves = [Node(attributes=(value,), role=Role.VARIABLE) for _ in range(count)]
    root = Node(tuple(Child(f"layer_{i}", i + 1) for i in range(count)))
    return Graph((root, *leaves), "wide", Origin.SAVED)


# --- the screen


def test_the_outline_says_role_shape_dtype_and_size(adam: Explorer) -> None:
    adam.page.set_viewport_size({"width": 2300, "height": 800})
    expect(adam.outline.get_by_role("columnheader")).to_have_text(
        ["name", "shape", "dtype", "parameters", "size", "role"]
    )
    cells = adam.row("bias").get_by_role("gridcell")
    expect(cells.nth(1)).to_have_text("8×2")
    expect(cells.nth(2)).to_have_text("float32")
    expect(cells.nth(3)).to_have_text("16")
    expect(cells.nth(5)).to_have_text("variable")
    # Of an object it is the size of all that is below it.
    total = adam.row("(root)").locator(".ckv-cell-size").inner_text()
    assert re.fullmatch(r"\d+(\.\d)? k?B", total)


def test_heads_and_shapes_of_the_outline_are_whole(lend: OpenPage, tmp_path: Path) -> None:
    value = Attribute("v", "", "v", "float32", (3, 3, 16, 32), 4 * 3 * 3 * 16 * 32)
    nodes = (Node((Child("conv", 1),)), Node(attributes=(value,), role=Role.VARIABLE))
    adam = Explorer(lend, tmp_path / "a.html", Graph(nodes, "conv", Origin.SAVED))
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    for width in (833, 1280, 1400, 1700):
        adam.page.set_viewport_size({"width": width, "height": 800})
        settle(adam.root)
        whole = adam.outline.locator(".ckv-outline-head button, .ckv-cell-shape")
        assert whole.count() > 2
        assert whole.locator("visible=true").evaluate_all(cut) == [], width


def test_a_problem_is_beside_its_name_on_one_line(lend: OpenPage, tmp_path: Path) -> None:
    gone = Attribute("v", "", "v", "float32", (3,), 12, error="a.data: no such file")
    names = ("a", "kernel", "learning_rate", "a_name_that_leaves_no_room_for_anything_else" * 2)
    nodes = [Node(attributes=(gone,), role=Role.VARIABLE) for _ in names]
    root = Node(tuple(Child(name, i + 1) for i, name in enumerate(names)))
    graph = Graph((root, *nodes), "partial", Origin.SAVED)
    explorer = Explorer(lend, tmp_path / "a.html", graph)
    for width in (800, 1280, 1900):
        explorer.page.set_viewport_size({"width": width, "height": 600})
        for name in names:
            row = explorer.row(name)
            own, cell, wrong = (
                row.locator(part).bounding_box()
                for part in (".ckv-name", ".ckv-cell-name", ".ckv-error")
            )
            assert own and cell and wrong
            assert wrong["height"] <= 22, (width, name)
            assert own["x"] + own["width"] <= wrong["x"], (width, name)
            assert wrong["x"] + 16 <= cell["x"] + cell["width"], (width, name)
        # A text with enough room is not cut because of its neighbour.
        for name in names[:2]:
            named = explorer.row(name).locator(".ckv-name")
            assert named.evaluate("({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth")


def test_only_what_loses_trained_values_is_an_alarm(lend: OpenPage, tmp_path: Path) -> None:
    note = NotSaved("seed_generator", "SeedGenerator", 1, is_lost=False)
    of_layer = Node((), not_saved=(note,), role=Role.LAYER, type_name="Dropout", own_name="drop")
    quiet = (Node((Child("drop", 1),)), of_layer)
    explorer = Explorer(lend, tmp_path / "quiet.html", Graph(quiet, "quiet", Origin.LIVE))
    said = explorer.row("drop").get_by_text("not tracked", exact=True)
    expect(said).to_have_attribute("title", "not tracked: seed_generator")
    summary = explorer.page.locator(".ckv-summary")
    line = summary.get_by_text("Not tracked in 1 object: no trained value is lost")
    expect(summary.get_by_text("drop (seed_generator)")).not_to_be_visible()
    line.click()
    expect(summary.get_by_text("drop (seed_generator)")).to_be_visible()
    expect(explorer.page.locator(".ckv-error, .ckv-warning")).to_have_count(0)
    explorer.row("drop").click()
    details = explorer.page.locator(".ckv-details")
    expect(details).to_contain_text("Not tracked (1)")
    expect(explorer.page.locator(".ckv-error")).to_have_count(0)
    expect(explorer.page.locator(".ckv-drawing")).not_to_contain_text("!")
    explorer.page.screenshot(path=_SCREENSHOTS / "not-tracked.png")

    lost = of_layer._replace(not_saved=(NotSaved("blocks", "TrackedList", 2), note))
    loud = (quiet[0], lost)
    explorer = Explorer(lend, tmp_path / "loud.html", Graph(loud, "loud", Origin.LIVE))
    expect(explorer.row("drop").locator(".ckv-error")).to_have_text("! not saved")
    expect(explorer.page.locator(".ckv-warning")).to_contain_text("! 1 object has values")
    expect(explorer.page.locator(".ckv-drawing")).to_contain_text("!")
    explorer.row("drop").click()
    expect(explorer.page.locator(".ckv-details .ckv-error")).to_contain_text("! Not saved (1)")
    assert not explorer.problems


def test_what_hangs_from_the_optimizer_alone_is_said_in_the_summary(
    lend: OpenPage, tmp_path: Path
) -> None:
    nodes = list(keras3_adam().nodes)
    nodes[2] = nodes[2]._replace(children=())  # the layer that holds the trained variables
    graph = Graph(tuple(nodes), "net", Origin.SAVED)
    explorer = Explorer(lend, tmp_path / "page.html", graph)
    said = explorer.page.locator(".ckv-details").get_by_text("from the optimizer alone: without it")
    expect(said).to_have_count(1)
    expect(said).to_contain_text("self.blocks = tuple(blocks)")
    explorer.page.screenshot(path=_SCREENSHOTS / "hanging.png")
    assert not explorer.problems


def test_a_short_title_is_whole_wherever_the_search_can_give_way(adam: Explorer) -> None:
    for width in range(720, 1400, 37):
        adam.page.set_viewport_size({"width": width, "height": 600})
        title = adam.page.locator(".ckv-title")
        assert title.evaluate("({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth"), width


def test_what_has_no_value_has_more_room_for_its_name(lend: OpenPage, tmp_path: Path) -> None:
    value = Attribute("v", "", "v", "float32", (3,), 12)
    name = "_trainable_variables_indices_of_it"
    root = Node((Child(name, 1), Child(f"{name}_too", 2)))
    nodes = (root, Node(type_name="Container"), Node(attributes=(value,), role=Role.VARIABLE))
    explorer = Explorer(lend, tmp_path / "a.html", Graph(nodes, "wide", Origin.LIVE))
    for width in (800, 1000, 1280):
        explorer.page.set_viewport_size({"width": width, "height": 600})
        without, with_value = (
            explorer.row(one).locator(".ckv-cell-name").bounding_box()
            for one in (name, f"{name}_too")
        )
        shape = explorer.row(f"{name}_too").locator(".ckv-cell-shape").bounding_box()
        assert without and with_value and shape
        assert with_value["x"] + with_value["width"] <= shape["x"], width
        # In a narrow outline, its last column has the number of parameters of all that is below it.
        assert without["width"] > with_value["width"], width


def test_a_comparisons_outline_says_the_state_first(lend: OpenPage, tmp_path: Path) -> None:
    overlay = overlays()["check"]
    explorer = Explorer(lend, tmp_path / "a.html", overlay.graph, overlay)
    choose_view(explorer.root, "Object graph")
    expect(explorer.outline.get_by_role("columnheader").nth(1)).to_have_text("state")
    # What is below an open row has rows of its own, and does not colour its words.
    here = explorer.page.locator(".ckv-row > .ckv-cell-state", has_text=re.compile("^✓ ?here$"))
    expect(here.first).to_be_visible()
    assert {"ckv-quiet" in name for name in here.evaluate_all("a => a.map(e => e.className)")} == {
        True
    }
    assert explorer.problems == []


def _width(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["width"]


def test_panes_are_resized_by_mouse_and_by_key(adam: Explorer) -> None:
    outline = adam.page.locator(".ckv-pane-outline")
    before = _width(outline)
    handle = adam.page.get_by_role("separator", name="Width of the outline")
    box = handle.bounding_box()
    assert box is not None
    adam.page.mouse.move(box["x"] + 2, box["y"] + 100)
    adam.page.mouse.down()
    adam.page.mouse.move(box["x"] + 102, box["y"] + 100, steps=4)
    adam.page.mouse.up()
    assert _width(outline) == pytest.approx(before + 100, abs=4)
    handle.focus()
    adam.page.keyboard.press("ArrowLeft")
    assert _width(outline) == pytest.approx(before + 100 - 0.02 * 1280, abs=4)
    assert int(handle.get_attribute("aria-valuenow") or 0) > 0
    details = adam.page.locator(".ckv-pane-details")
    before = _width(details)
    adam.page.get_by_role("separator", name="Width of the details").focus()
    adam.page.keyboard.press("ArrowLeft")
    assert _width(details) > before


def test_where_it_is_narrow_panes_are_tabs(adam: Explorer) -> None:
    expect(adam.page.get_by_role("tablist")).to_be_hidden()
    adam.page.set_viewport_size({"width": 719, "height": 700})
    tabs = adam.page.get_by_role("tab")
    expect(tabs).to_have_text(["Outline", "Graph", "Details"])
    expect(adam.page.locator(".ckv-drawing")).to_be_visible()
    expect(adam.outline).to_be_hidden()
    tabs.nth(0).click()
    expect(adam.outline).to_be_visible()
    expect(adam.page.locator(".ckv-drawing")).to_be_hidden()
    adam.row("layer").click()
    tabs.nth(0).focus()
    adam.page.keyboard.press("ArrowRight")
    expect(adam.page.locator(".ckv-drawing")).to_be_visible()
    expect(tabs.nth(1)).to_be_focused()
    adam.page.keyboard.press("ArrowRight")
    expect(adam.page.locator(".ckv-node-name")).to_contain_text("layer")
    adam.page.screenshot(path=_SCREENSHOTS / "narrow-details.png")


def test_the_lower_edge_is_dragged(lend: OpenPage, tmp_path: Path) -> None:
    explorer = Explorer(lend, tmp_path / "a.html", keras3_adam())
    # As in a notebook: a page that is the explorer alone has no lower edge to drag.
    explorer.page.evaluate("document.querySelector('#explorer').id = 'output'")
    explorer.root.evaluate("root => { root.style.height = '400px' }")
    edge = explorer.page.get_by_role("separator", name="Height of the explorer")
    box = edge.bounding_box()
    assert box is not None
    explorer.page.mouse.move(box["x"] + 100, box["y"] + 3)
    explorer.page.mouse.down()
    explorer.page.mouse.move(box["x"] + 100, box["y"] + 103, steps=4)
    explorer.page.mouse.up()
    found = explorer.root.bounding_box()
    assert found is not None
    assert found["height"] == pytest.approx(500, abs=6)
    edge.focus()
    explorer.page.keyboard.press("ArrowUp")
    found = explorer.root.bounding_box()
    assert found is not None
    assert found["height"] == pytest.approx(480, abs=6)


def test_full_screen(adam: Explorer) -> None:
    choose_view(adam.root, "Full screen")
    adam.page.wait_for_function("document.fullscreenElement?.className === 'ckpt-viz'")
    adam.page.get_by_role("button", name="Full screen").click()
    adam.page.wait_for_function("document.fullscreenElement === null")


# --- the graph


def test_a_long_list_has_chunks(lend: OpenPage, tmp_path: Path) -> None:
    explorer = Explorer(lend, tmp_path / "a.html", _wide(250))
    expect(explorer.boxes()).to_have_count(4)
    chunk = explorer.row("layer_100 … layer_199")
    expect(chunk).to_contain_text("100 of 250")
    chunk.dblclick()
    assert explorer.rows() == 104
    explorer.press("ArrowRight", "End")
    expect(explorer.page.get_by_role("row", selected=True)).to_contain_text("layer_200 … layer_249")
    expect(explorer.page.locator(".ckv-details")).to_contain_text("50 of 250")
    expect(explorer.page.locator(".ckv-live")).to_have_text(
        re.compile("layer_200 … layer_249, 50 of 250")
    )
    # What is searched for opens the chunk that it is in.
    explorer.page.get_by_role("combobox", name="Search").fill("layer_242")
    explorer.page.keyboard.press("Enter")
    expect(explorer.page.get_by_role("row", selected=True)).to_contain_text("layer_242")
    assert explorer.problems == []


def test_the_first_match_is_in_sight_while_one_types(lend: OpenPage, tmp_path: Path) -> None:
    explorer = Explorer(lend, tmp_path / "a.html", _wide(95))
    match = explorer.row("layer_90")
    expect(match).not_to_be_attached()
    explorer.page.get_by_role("combobox", name="Search").fill("layer_90")
    expect(match).to_be_in_viewport()
    expect(explorer.boxes().filter(has_text="layer_90")).to_be_in_viewport()
    assert explorer.problems == []


def test_slots_unfold_and_have_dashed_edges(adam: Explorer) -> None:
    adam.row("layer").click()
    adam.press("ArrowRight", "ArrowLeft")
    chips = adam.page.locator(".ckv-chip-text")
    assert chips.count() > 0
    before = adam.rows()
    adam.row("_kernel").click()
    adam.press("ArrowRight")
    assert adam.rows() > before
    edge = adam.page.locator("path.ckv-slot-edge")
    assert edge.get_attribute("d")
    assert edge.evaluate("edge => getComputedStyle(edge).strokeDasharray") != "none"
    adam.page.screenshot(path=_SCREENSHOTS / "slots-unfolded.png")
    adam.press("ArrowLeft")
    assert adam.rows() == before


def test_a_shared_node_has_a_sign_and_leads_to_its_parents(adam: Explorer) -> None:
    adam.row("layer").click()
    adam.press("ArrowRight", "ArrowRight")
    selected = adam.page.locator(".ckv-node.ckv-selected")
    expect(selected.locator(".ckv-shared-text")).to_have_text(re.compile("⇄[1-9]"))
    own = selected.get_attribute("data-node")
    titled = adam.page.locator(".ckv-details h4", has_text="Also reached as")
    titled.locator("xpath=following-sibling::ul[1]").get_by_role("button").first.click()
    expect(selected).not_to_have_attribute("data-node", own or "")


def test_a_subtree_is_shown_alone_under_its_breadcrumbs(adam: Explorer) -> None:
    everything = adam.rows()
    adam.row("layer").click()
    adam.press("f")
    crumbs = adam.page.get_by_role("navigation", name="Above")
    expect(crumbs).to_contain_text("(root)")
    expect(crumbs.locator("[aria-current]")).to_have_text("layer")
    assert adam.rows() < everything
    expect(adam.row("optimizer")).to_have_count(0)
    adam.page.screenshot(path=_SCREENSHOTS / "focus.png")
    crumbs.get_by_role("button", name="(root)").click()
    expect(crumbs).to_have_count(0)
    expect(adam.row("optimizer")).to_be_visible()


def test_layers_show_blocks_that_repeat_in_one_row(lend: OpenPage, tmp_path: Path) -> None:
    explorer = Explorer(lend, tmp_path / "a.html", transformer(12), layers=True)
    group = explorer.row("b0 … b11")
    expect(group).to_contain_text("12 alike")
    expect(explorer.row("model")).to_be_visible()
    expect(explorer.row("head")).to_be_visible()
    explorer.page.screenshot(path=_SCREENSHOTS / "layers.png")
    group.click()
    expect(explorer.page.locator(".ckv-details")).to_contain_text("a group of layers")
    expect(explorer.row("b0")).to_be_visible()
    others = explorer.row("b1 … b11")
    expect(others).to_contain_text("the same")
    others.click()
    explorer.press("ArrowRight")
    expect(explorer.row("b3")).to_be_visible()
    explorer.row("head").click()
    choose_view(explorer.root, "Object graph")
    expect(explorer.row("_layers")).to_be_visible()
    expect(explorer.page.locator("[role=row][aria-selected=true]")).to_contain_text("head")
    assert explorer.problems == []


def test_a_match_without_a_layer_is_shown_among_the_objects(adam: Explorer) -> None:
    choose_view(adam.root, "Graph")
    expect(adam.row("_momentums")).to_have_count(0)
    adam.page.get_by_role("combobox", name="Search").fill("_momentums")
    adam.page.get_by_role("combobox", name="Search").press("Enter")
    expect(adam.row("_momentums")).to_have_attribute("aria-selected", "true")


def test_from_further_away_less_is_said(adam: Explorer) -> None:
    name, kind = (adam.page.locator(f".ckv-box-{part}").first for part in ("name", "text"))
    expect(kind).to_be_visible()
    for _ in range(5):
        adam.press("-")
    expect(kind).to_be_hidden()
    expect(name).to_be_visible()
    for _ in range(5):
        adam.press("-")
    expect(name).to_be_hidden()


def test_the_strip_beside_the_drawing_shows_problems_and_leads_there(
    lend: OpenPage, tmp_path: Path
) -> None:
    explorer = Explorer(lend, tmp_path / "a.html", _wide(90))
    strip = explorer.page.get_by_role("scrollbar")
    sight = strip.locator(".ckv-sight")
    before = float(sight.get_attribute("y") or 0)
    box = strip.bounding_box()
    assert box is not None
    explorer.page.mouse.click(box["x"] + 7, box["y"] + box["height"] - 20)
    assert float(sight.get_attribute("y") or 0) > before + 50
    titles = explorer.boxes().locator("title")
    assert any("layer_8" in title for title in titles.all_text_contents())
    explorer.page.get_by_role("combobox", name="Search").fill("layer_3")
    expect(strip.locator(".ckv-match-ticks")).to_have_attribute("d", re.compile("M0 .*M0 "))
    strip.focus()
    explorer.page.keyboard.press("ArrowUp")
    assert explorer.problems == []


# --- handing over


def test_the_drawing_is_saved_as_svg_and_png(adam: Explorer, tmp_path: Path) -> None:
    menu = adam.page.locator(".ckv-menu:visible")
    for name, kind in (("Drawing, SVG", "svg"), ("Drawing, PNG", "png")):
        open_exports(adam.root)
        with adam.page.expect_download() as download:
            adam.page.get_by_role("button", name=name).click()
        expect(menu.first).not_to_have_attribute("open", "")
        download.value.save_as(tmp_path / f"drawing.{kind}")
    svg = (tmp_path / "drawing.svg").read_text("utf-8")
    tree = ElementTree.fromstring(svg)
    words = "".join(tree.itertext())
    assert "optimizer" in words
    assert "class=" not in svg
    assert "var(" not in svg
    assert (tmp_path / "drawing.png").read_bytes().startswith(b"\x89PNG")
    # It looks the same on its own.
    page = adam.page.context.new_page()
    page.goto((tmp_path / "drawing.svg").as_uri())
    page.screenshot(path=_SCREENSHOTS / "exported-drawing.png")
    strokes = {path.get("stroke") for path in tree.iter("{http://www.w3.org/2000/svg}path")}
    assert len(strokes) >= 4  # objects, variables, the optimizer, edges


def test_names_paths_and_keys_are_copied(adam: Explorer) -> None:
    def clipboard() -> str:
        return str(adam.page.evaluate("navigator.clipboard.readText()"))

    adam.row("bias").click()
    adam.page.get_by_role("button", name="Copy the name").first.click()
    assert clipboard() == "layer.bias"
    adam.page.get_by_role("button", name="Copy the path").click()
    assert clipboard() == "layer/bias"
    adam.press("k")
    expect(adam.page.get_by_text("copied").first).to_be_visible()
    key = clipboard()
    assert key.endswith("/.ATTRIBUTES/VARIABLE_VALUE")
    adam.press("c")
    read = "async () => (await navigator.clipboard.readText()) === 'layer.bias'"
    adam.page.wait_for_function(read)


def test_without_a_kernel_nothing_is_offered_that_needs_one(adam: Explorer) -> None:
    adam.row("bias").click()
    expect(adam.page.locator(".ckv-node-name")).to_contain_text("layer.bias")
    expect(adam.page.get_by_role("button", name="Show values")).to_have_count(0)
    expect(adam.page.get_by_role("button", name="Python expression")).to_have_count(0)
    open_exports(adam.root)
    items = adam.page.locator(".ckv-menu .ckv-menu .ckv-menu-items")
    expect(items.get_by_role("button")).to_have_count(2)
    adam.page.keyboard.press("Escape")
    expect(items).to_be_hidden()

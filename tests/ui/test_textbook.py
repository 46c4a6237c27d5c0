"""The textbook view: what Graphviz draws in a browser, and when it does not."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.graphs.render.writing import write_text
from tests.support.graphs import keras3_adam
from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell
from tests.ui.pages import ANSWERING, OpenPage, choose_view, showing_objects
from tests.ui.test_explorer import TRAIN, row
from tests.ui.test_renderer import saved_cell

ROOT = Path(__file__).parents[2]

SHOW = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import ckpt_viz as cv, ckpt_viz.entrances.jupyter.widget
from tests.support.graphs import graph, keras3_adam
asked = []
def shown(source):
    explorer = cv.show(source)
    explorer.on_msg(lambda widget, content, buffers: asked.append(content["question"]["ask"]))
    return explorer
"""
ADAM = "explorer = shown(keras3_adam())\nexplorer"
WIDE = 'explorer = shown(graph({0: {f"n{i}": i for i in range(1, 90)}} | {\n' + (
    '    i: {f"m{j}": 89 + 3 * i + j for j in range(-2, 1)} for i in range(1, 90)}))\n'
    "explorer.expanded = list(range(90))\nexplorer"
)
# A worker that hears nothing while it works, and one that never answers.
HANG = "onmessage = () => { for (;;); }; postMessage({ type: 'ready' });"
QUIET = "onmessage = () => {}; postMessage({ type: 'ready' });"
ALLOWING = "worker-src blob:"


def show_guide(explorer: Locator) -> None:
    choose_view(explorer, "TensorFlow's guide")


def show_objects(explorer: Locator) -> None:
    choose_view(explorer, "Object graph")


def picture(explorer: Locator) -> Locator:
    """Return the view's SVG once something is drawn in it."""
    explorer.locator(".ckv-textbook .ckv-node").first.wait_for()
    return explorer.locator(".ckv-textbook svg.ckv-drawing")


def opened(lab: JupyterLab, shared: SharedKernel, name: str, *sources: str) -> Locator:
    """Return the explorer that the first of the cells shows, and run the others never."""
    shared.open(lab, f"{name}.ipynb", *sources)
    lab.run_cell(0)
    return lab.output(0).locator(".ckpt-viz")


def names(explorer: Locator) -> list[str]:
    return sorted(picture(explorer).locator(".ckv-textbook-name").all_text_contents())


def no_part_overlaps(explorer: Locator) -> bool:
    """Return whether no two shapes meet, and no text leaves its own."""
    return bool(
        picture(explorer).evaluate(
            """svg => {
                const nodes = [...svg.querySelectorAll(".ckv-node")];
                const boxes = nodes.map(node =>
                    node.querySelector(":scope > .ckv-shape").getBoundingClientRect());
                const apart = boxes.every((a, i) => boxes.slice(i + 1).every(b =>
                    a.right < b.left || b.right < a.left || a.bottom < b.top || b.bottom < a.top));
                const inside = nodes.every((node, i) => {
                    const text = node.querySelector(".ckv-box-text").getBoundingClientRect();
                    return text.left >= boxes[i].left && text.right <= boxes[i].right;
                });
                return apart && inside;
            }"""
        )
    )


def test_a_keras_model_looks_as_in_the_guide(lab: JupyterLab, shared: SharedKernel) -> None:
    explorer = opened(lab, shared, "guide", f"{TRAIN}\nexplorer = cv.show(ckpt)\nexplorer")
    expect(row(explorer, "optimizer")).to_be_visible()
    show_guide(explorer)
    nodes = picture(explorer).locator(".ckv-node")
    assert nodes.locator(".ckv-shape").count() >= 15
    # Slots are nodes, hung from their variable and their optimizer by dashed lines.
    assert picture(explorer).locator(".ckv-node.ckv-role-slot").count() == 4
    assert picture(explorer).locator(".ckv-textbook-slot").count() == 8
    dashes = "line => getComputedStyle(line).strokeDasharray"
    dashed = picture(explorer).locator(".ckv-textbook-slot > .ckv-textbook-line").first
    assert dashed.evaluate(dashes) != "none"
    assert no_part_overlaps(explorer)
    # Top-down: everything is below the root.
    tops = nodes.evaluate_all("nodes => nodes.map(node => node.getBoundingClientRect().top)")
    assert tops[0] == min(tops)
    assert "_kernel" in names(explorer)
    row(explorer, "optimizer").click()
    expect(picture(explorer).locator(".ckv-node.ckv-selected title")).to_contain_text("optimizer")
    lab.screenshot("textbook")
    lab.show_theme("Dark")
    lab.screenshot("textbook-dark")


@pytest.fixture
def adam(lend: OpenPage, front_end: None) -> Locator:
    page = page_with(lend, ALLOWING)
    show_objects(page.locator(".ckpt-viz"))
    return page.locator(".ckpt-viz")


def test_it_has_every_edge_that_is_visible(adam: Locator) -> None:
    show_guide(adam)
    drawn = names(adam)
    assert {"optimizer", "layer", "_kernel", "bias", "_iterations"} <= set(drawn)
    assert drawn.count("momentum") == 2
    # What is folded away is not in it, nor what leads there.
    adam.get_by_role("treegrid").focus()
    row(adam, "optimizer").click()
    adam.page.keyboard.press("ArrowLeft")
    expect(picture(adam).locator(".ckv-node")).to_have_count(7)
    assert sorted(names(adam)) == ["_kernel", "bias", "layer", "momentum", "momentum", "optimizer"]
    show_objects(adam)
    expect(adam.locator(".ckv-textbook")).to_have_count(0)
    expect(adam.get_by_role("application")).to_have_count(1)


def test_selection_is_that_of_the_outline(adam: Locator) -> None:
    show_guide(adam)
    title = adam.page.locator("title").filter(has_text="layer.bias (variable)")
    bias = picture(adam).locator(".ckv-node").filter(has=title)
    bias.click()
    expect(row(adam, "bias")).to_have_attribute("aria-selected", "true")
    expect(bias.locator(".ckv-halo")).to_have_count(1)
    adam.page.keyboard.press("ArrowUp")
    expect(bias.locator(".ckv-halo")).to_have_count(0)
    expect(picture(adam).locator(".ckv-selected title")).to_contain_text("layer.v7")
    # A slot that the outline has folded away unfolds there, and stays where it is here.
    slot = picture(adam).locator(".ckv-role-slot").last
    before = slot.locator(".ckv-shape").bounding_box()
    slot.click()
    expect(adam.get_by_role("row", selected=True)).to_contain_text("slot")
    assert slot.locator(".ckv-shape").bounding_box() == pytest.approx(before, abs=1)


def test_keys_zoom_the_picture_and_dragging_moves_it(adam: Locator) -> None:
    show_guide(adam)
    root = picture(adam).locator(".ckv-node > .ckv-shape").first
    before = root.bounding_box()
    assert before is not None
    picture(adam).press("+")
    zoomed = root.bounding_box()
    assert zoomed is not None
    assert zoomed["width"] == pytest.approx(before["width"] * 1.25, abs=1)
    area = picture(adam).bounding_box()
    assert area is not None
    mouse = adam.page.mouse
    mouse.move(area["x"] + 12, area["y"] + area["height"] - 12)
    mouse.down()
    mouse.move(area["x"] + 52, area["y"] + area["height"] - 37, steps=4)
    mouse.up()
    moved = root.bounding_box()
    assert moved is not None
    assert moved["x"] - zoomed["x"] == pytest.approx(40, abs=1)
    assert moved["y"] - zoomed["y"] == pytest.approx(-25, abs=1)
    picture(adam).press("0")
    assert root.bounding_box() == pytest.approx(before, abs=1)


def test_graphviz_comes_when_it_is_asked_for_and_once(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    explorer = opened(lab, shared, "adam", SHOW + ADAM, "print(asked)")
    row(explorer, "optimizer").click()
    lab.run_cell_until(1, "['extras']")
    for _ in range(2):
        show_guide(explorer)
        picture(explorer)
        show_objects(explorer)
    lab.run_cell_until(1, "['extras', 'graphviz']")


@pytest.fixture
def hanging(lend: OpenPage, front_end: None, request: pytest.FixtureRequest) -> Locator:
    """An explorer whose Graphviz never answers."""
    page = page_with(lend, ALLOWING, {"graphviz.js": request.param})
    return page.locator(".ckpt-viz")


@pytest.mark.parametrize("hanging", [HANG], ids=["busy"], indirect=True)
def test_it_is_cancelled_and_drawn_again(hanging: Locator) -> None:
    explorer = hanging
    show_guide(explorer)
    expect(explorer.get_by_text("Drawing with Graphviz…")).to_be_visible()
    # The page answers while the worker does not.
    row(explorer, "optimizer").click()
    expect(row(explorer, "optimizer")).to_have_attribute("aria-selected", "true")
    explorer.get_by_role("button", name="Cancel").click()
    expect(explorer.get_by_text("Cancelled")).to_be_visible()
    explorer.get_by_role("button", name="Draw again").click()
    expect(explorer.get_by_text("Drawing with Graphviz…")).to_be_visible()
    show_objects(explorer)
    expect(explorer.locator(".ckv-node").first).to_be_visible()


@pytest.mark.parametrize("hanging", [QUIET], ids=["quiet"], indirect=True)
def test_it_is_given_up_after_ten_seconds(hanging: Locator) -> None:
    hanging.page.clock.install()
    show_guide(hanging)
    said = "Graphviz did not finish within 10 s. Close some nodes, or search with the filter on."
    expect(hanging.get_by_text("Drawing with Graphviz…")).to_be_visible()
    hanging.page.clock.fast_forward(10_000)
    expect(hanging.get_by_text(said)).to_be_visible()
    expect(hanging.get_by_role("button", name="Draw again")).to_be_visible()


def test_a_package_without_it_shows_the_reason(lab: JupyterLab) -> None:
    widget = "ckpt_viz.entrances.jupyter.widget"
    nowhere = f'{widget}._STATIC = {widget}.Path("nowhere")\n'
    lab.create_notebook("missing.ipynb", code_cell(SHOW + nowhere + ADAM))
    lab.open_notebook("missing.ipynb")
    lab.run_cell(0)
    explorer = lab.output(0).locator(".ckpt-viz")
    show_guide(explorer)
    expect(explorer.get_by_text("nowhere/extras.js is not built")).to_be_visible()


def test_of_too_many_nodes_it_says_how_many_and_what_to_do(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    explorer = opened(lab, shared, "wide", SHOW + WIDE, "explorer.expanded = [0]", "print(asked)")
    show_guide(explorer)
    said = explorer.get_by_text("357 nodes are visible; this drawing shows at most 300 nodes")
    expect(said).to_contain_text("Close some nodes, or search with the filter on")
    lab.run_cell(2)
    expect(lab.output(2)).to_have_text("['extras']")
    lab.run_cell(1)
    expect(said).to_have_count(0)
    expect(picture(explorer).locator(".ckv-node")).to_have_count(90)


def test_a_snapshot_has_it_from_the_extension_and_from_nowhere_else(lab: JupyterLab) -> None:
    seen: list[str] = []
    lab.listen("request", lambda request: seen.append(request.url))
    lab.reload_page()  # so that nothing is loaded yet
    lab.create_notebook("snapshot-textbook.ipynb", saved_cell())
    lab.open_without_kernel("snapshot-textbook.ipynb")
    explorer = lab.output(0).locator(".ckpt-viz")
    row(explorer, "layer").click()
    assert not [url for url in seen if url.endswith(".source")]
    show_guide(explorer)
    assert "momentum" in names(explorer)
    assert [urlsplit(url).path for url in seen if url.endswith(".source")]
    here = urlsplit(lab.server.url).netloc
    assert {urlsplit(url).netloc for url in seen if url.startswith("http")} == {here}
    lab.screenshot("textbook-snapshot")


PAGE = """<!doctype html><link rel="stylesheet" href="./widget.css">
<div id="explorer"></div><script type="module">
import explorer from "./widget.js";
ANSWERING
const bytes = Uint8Array.from(atob("PAYLOAD"), (character) => character.charCodeAt(0));
const state = { selected: null, expanded: null, query: "", mode: "highlight" };
const traits = { ...state, _payload: new DataView(bytes.buffer) };
const model = { get: (name) => traits[name], set() {}, on() {}, off() {}, save_changes() {} };
const script = async (name) => [new DataView(await (await fetch(name)).arrayBuffer())];
const graphviz = await script("./graphviz.js");
const others = { extras: [{}, await script("./extras.js")] };
const el = document.getElementById("explorer");
explorer.render({ model: answering(model, {}, graphviz, others), el });
</script>"""


def page_with(lend: OpenPage, policy: str, scripts: Mapping[str, str] | None = None) -> Page:
    """Return a page of this policy with an explorer, as a host of anywidget mounts it.

    Some of the package's scripts may be other ones.
    """
    page = lend()
    encoded = base64.b64encode(payload.encode(keras3_adam())).decode()
    page_text = PAGE.replace("PAYLOAD", encoded).replace("ANSWERING", ANSWERING)

    def answer(route: Route) -> None:
        name = urlsplit(route.request.url).path.strip("/")
        if scripts and name in scripts:
            route.fulfill(body=scripts[name], content_type="text/javascript")
        elif name:
            route.fulfill(path=ROOT / "ckpt_viz" / "static" / name)
        else:
            headers = {"content-type": "text/html", "content-security-policy": policy}
            route.fulfill(body=page_text, headers=headers)

    page.route("http://ckpt-viz.test/**", answer)
    page.goto("http://ckpt-viz.test/")
    return page


@pytest.mark.usefixtures("server")  # which builds the front end
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("worker-src 'none'", "Graphviz needs workers from Blobs"),
        ("script-src 'self' 'unsafe-inline' blob:", "Graphviz does not run in this page"),
    ],
)
def test_a_page_that_forbids_it_shows_a_sentence(lend: OpenPage, policy: str, said: str) -> None:
    page = page_with(lend, policy)
    choose_view(page.locator(".ckpt-viz"), "TensorFlow's guide")
    expect(page.locator(".ckv-textbook-said")).to_contain_text(said)


@pytest.mark.usefixtures("server")
def test_a_page_without_jupyter_has_it_if_a_host_can_load_it(
    lend: OpenPage, tmp_path: Path
) -> None:
    page = page_with(lend, ALLOWING)
    choose_view(page.locator(".ckpt-viz"), "TensorFlow's guide")
    expect(page.locator(".ckv-textbook .ckv-node")).to_have_count(11)
    write_text(tmp_path / "alone.html", showing_objects(to_html(keras3_adam())))
    page.goto((tmp_path / "alone.html").as_uri())
    expect(page.get_by_role("treegrid")).to_be_visible()
    page.locator(".ckv-toolbar > .ckv-menu > summary").click()
    expect(page.get_by_role("button", name="Graph", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="TensorFlow's guide")).to_have_count(0)

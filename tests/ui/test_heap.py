"""The browser's memory: opening and closing, showing and closing, leave no objects behind.

In a page of its own, the explorer leaves no objects. JupyterLab makes objects of its own, so there
the nodes and listeners of the page count: an explorer has hundreds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from ckpt_viz.graphs.nodes.nodes import Child, Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.render.html import to_html
from tests.support.waiting import wait_until
from tests.ui import processes
from tests.ui.file_browser import Files
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import hurry, showing_objects

_COUNT = "function() { return this.length; }"

_CYCLES = """async (count) => {
  const treegrid = document.querySelector("[role=treegrid]");
  const press = (key) => treegrid.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let i = 0; i < count; i++) {
    press("ArrowLeft");
    await frame();
    press("ArrowRight");
    await frame();
  }
}"""
# What the page does of itself, with the model that it has.
_MOUNTS = """async (count) => {
  const shown = () => new Promise((resolve) => {
    const look = () => document.querySelector("#other [role=treegrid]") ? resolve()
      : requestAnimationFrame(look);
    look();
  });
  for (let i = 0; i < count; i++) {
    const el = document.createElement("div");
    el.id = "other";
    el.style.height = "300px";
    document.body.append(el);
    const close = window.renderExplorer({ model: window.explorerModel, el });
    await shown();
    close();
    el.remove();
  }
}"""

# Other tests open and close the same views once; these do it many times.
pytestmark = [pytest.mark.slow, pytest.mark.more, pytest.mark.usefixtures("front_end")]


def _wide() -> Graph:
    """Fifteen modules of twenty each: 316 rows when all is open."""
    count, each = 15, 20
    modules = [
        Node(tuple(Child(f"item_{j}", 1 + count + i * each + j) for j in range(each)))
        for i in range(count)
    ]
    root = Node(tuple(Child(f"module_{i}", 1 + i) for i in range(count)))
    return Graph((root, *modules, *[Node()] * (count * each)), "wide", Origin.SAVED)


def _alive(page: Page) -> int:
    """Return how many objects, nodes and listeners of the page are in use after a collection."""
    devtools = page.context.new_cdp_session(page)
    nodes = _nodes(devtools)
    objects = devtools.send("Runtime.evaluate", {"expression": "Object.prototype"})["result"]
    alive = nodes + _number_of(devtools, objects["objectId"])
    devtools.detach()
    return alive


def _nodes(devtools: CDPSession) -> int:
    """Return how many nodes and listeners are in use after a collection."""
    devtools.send("Performance.enable")
    devtools.send("HeapProfiler.collectGarbage")
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    counted = {metric["name"]: int(metric["value"]) for metric in metrics}
    return counted["Nodes"] + counted["JSEventListeners"]


def _number_of(devtools: CDPSession, prototype: str) -> int:
    """Return how many objects have a prototype; what counts them collects before."""
    found = devtools.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]
    asked = {"objectId": found["objectId"], "functionDeclaration": _COUNT}
    counted = devtools.send("Runtime.callFunctionOn", asked)["result"]["value"]
    devtools.send("Runtime.releaseObject", {"objectId": found["objectId"]})
    return int(counted)


def _leaves_nothing(rounds: int, run: Callable[[], object], alive: Callable[[], int]) -> bool:
    """Return whether less is left than one object of each round.

    The browser keeps some objects of its own once. What leaves one in each round does so again.
    """
    for _ in range(3):
        before = alive()
        run()
        if alive() - before < rounds:
            return True
    return False


def test_opening_and_closing_leaves_nothing_behind(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    path = tmp_path / "a.html"
    graph = _wide()
    state = {"expanded": list(range(16)), "selected": 0}
    path.write_text(showing_objects(to_html(graph, state=state)))
    page.goto(path.as_uri())
    page.get_by_role("treegrid").wait_for()
    page.evaluate(_CYCLES, 20)
    assert _leaves_nothing(100, lambda: page.evaluate(_CYCLES, 100), lambda: _alive(page))
    context.close()


def test_showing_and_closing_leaves_nothing_behind(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    html = showing_objects(to_html(_wide()))
    # The page's own script, with a handle to mount once more; its policy knows it by its hash.
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    html = html.replace(
        "explorer.render({",
        "window.renderExplorer = explorer.render; window.explorerModel = model;explorer.render({",
    )
    path = tmp_path / "a.html"
    path.write_text(html)
    page.goto(path.as_uri())
    page.get_by_role("treegrid").wait_for()
    page.evaluate(_MOUNTS, 10)
    assert _leaves_nothing(40, lambda: page.evaluate(_MOUNTS, 40), lambda: _alive(page))
    context.close()


SHOW = """
import ckpt_viz as cv
nodes = (cv.Node(tuple(cv.Child(f"c{i}", i + 1) for i in range(90))), *[cv.Node()] * 90)
explorer = cv.show(cv.ObjectGraph(nodes, "ninety-one", cv.Origin.SAVED))
explorer
"""


def test_a_closed_output_leaves_nothing_behind(lab: JupyterLab, shared: SharedKernel) -> None:
    shared.open(lab, "heap.ipynb", SHOW)
    devtools = lab.page.context.new_cdp_session(lab.page)
    without = _nodes(devtools)
    lab.run_cell(0)
    lab.output(0).get_by_role("treegrid").wait_for()
    more = 60
    lab.page.evaluate(_CYCLES, 20)
    shown = _nodes(devtools)
    cycles: Callable[[], object] = lambda: lab.page.evaluate(_CYCLES, more)  # noqa: E731
    assert _leaves_nothing(more, cycles, lambda: _nodes(devtools))
    lab.execute("notebook:clear-all-cell-outputs")
    lab.page.locator(".ckpt-viz").wait_for(state="detached")
    few = without + (shown - without) // 4  # JupyterLab leaves some of the cell
    wait_until(lambda: _nodes(devtools) < few, "for the nodes of the output to go")
    devtools.detach()


_PANEL = "jupyterapp.shell.currentWidget.content.constructor.prototype"


def test_documents_opened_and_closed_leave_nothing_behind(
    browser: Browser, server: processes.Server
) -> None:
    context = browser.new_context()
    page = context.new_page()
    files = Files(JupyterLab(page, server, "heap"), "heap")
    hurry(page, 10)
    files.write("ckpt-1", *(f"variable_{i}" for i in range(200)))
    devtools = context.new_cdp_session(page)
    files.open("ckpt-1.index")
    panels = devtools.send("Runtime.evaluate", {"expression": _PANEL})["result"]["objectId"]
    files.close()

    def alive() -> int:
        # What counts collects as well, but now and then leaves one.
        devtools.send("HeapProfiler.collectGarbage")
        return _number_of(devtools, panels)

    def open_and_close(times: int) -> int:
        """Return how many nodes are left with no panel: a closed one has a timer for a while."""
        for _ in range(times):
            files.open("ckpt-1.index")
            files.close()
            expect(files.tab).to_have_count(0)
        wait_until(lambda: alive() == 0, "for panels of closed documents to go")
        return _nodes(devtools)

    before = open_and_close(1)
    files.open("ckpt-1.index")
    shown = _nodes(devtools) - before
    files.close()
    left = open_and_close(8) - before
    context.close()
    assert left / 9 < shown / 4  # JupyterLab leaves some of each tab

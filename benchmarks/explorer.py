"""Time of the explorer in a browser: first paint, opening, searching, moving.

Each graph becomes a file, as `Explorer.save_html` writes it. A new Chromium opens it for each run.
Prints medians in milliseconds: from the payload to the first paint, and from a key that opens or
closes a node to the next paint. It also prints the time from typing in the search box to the
matches, and the time between two frames while the drawing is dragged.

With `--table`, it scrolls a table of so many lines instead, and prints the time between frames.

    python -m benchmarks.explorer [--nodes 500 5000 50000] [--check 500] [--measured 50000]
        [--table 50000] [--b7] [--runs 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.check import target
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.live.sources.pictured import ObjectGraph
from tests.ui import processes

Figures = dict[str, list[float]]

_SETTLING = 2000  # ms that a Chromium needs for itself when it starts
_QUERIES = ["ke", "layer_4", "bia", "layer_12"]  # each finds another number of nodes
# A message that an animation frame posts arrives after the browser has painted that frame.
_PAINTED = """
const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => resolve(performance.now());
  port2.postMessage(null);
}));
"""
_PRESS = f"""async (keys) => {{
  {_PAINTED}
  const figures = [];
  for (const key of keys) {{
    const start = performance.now();
    document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", {{ key, bubbles: true, cancelable: true }}));
    figures.push((await painted()) - start);
  }}
  return figures;
}}"""
# The search starts after a pause in typing; the figure includes the pause.
_TYPE = f"""async (queries) => {{
  {_PAINTED}
  const box = document.querySelector(".ckv-search input");
  const count = document.querySelector(".ckv-matches");
  const figures = [];
  for (const query of queries) {{
    const told = new Promise((resolve) => {{
      const observer = new MutationObserver(() => {{ observer.disconnect(); resolve(); }});
      observer.observe(count, {{ childList: true, characterData: true, subtree: true }});
    }});
    const start = performance.now();
    box.value = query;
    box.dispatchEvent(new InputEvent("input", {{ bubbles: true }}));
    await told;
    figures.push((await painted()) - start);
  }}
  return figures;
}}"""
_FRAMES = """async (count) => {
  const times = [];
  await new Promise((resolve) => {
    const next = (now) => {
      times.push(now);
      times.length > count ? resolve() : requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  return times.slice(1).map((time, index) => time - times[index]);
}"""
_SCROLL = """async (count) => {
  const body = document.querySelector(".ckv-table-body");
  const times = [];
  await new Promise((resolve) => {
    const next = (now) => {
      times.push(now);
      body.scrollTop += 97;
      times.length > count ? resolve() : requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  return times.slice(1).map((time, index) => time - times[index]);
}"""
_FIRST_PAINT = """() => performance
  .getEntriesByName("ckpt-viz: payload to first paint").map((entry) => entry.duration)"""


def plain(nodes: int) -> Graph:
    """Return the graph of a checkpoint of about this many nodes."""
    import ckpt_viz as cv

    return cv.graph(target(nodes))


def measured(nodes: int) -> str:
    """Return the page of such a graph, coloured by the norms of its values."""
    graph = plain(nodes)
    assert isinstance(graph, ObjectGraph)
    return to_html(graph, None, graph.measures(), state={"measure": "norm"})


def checked(nodes: int) -> Overlay:
    """Return a check with problems: some layers are renamed, some have a different shape."""
    import tensorflow as tf

    import ckpt_viz as cv

    saved, live = target(nodes), target(nodes)
    layers = nodes // 3
    for i in range(0, layers, max(1, layers // 13)):
        layer = getattr(live.root, f"layer_{i}")
        if i % 2:
            layer.kernel = tf.Variable(tf.zeros([2, 3]))
        else:
            setattr(live.root, f"renamed_{i}", layer)
            delattr(live.root, f"layer_{i}")
    with TemporaryDirectory() as directory:
        return cv.check(live, saved.save(str(Path(directory, "ckpt")))).overlay


def table(lines: int) -> Overlay:
    """Return the diff of two equal graphs of so many variables, whose names fold into no run."""
    import ckpt_viz as cv
    from tests.support.graphs import graph

    names = map("".join, product(ascii_lowercase, repeat=4))
    children = {next(names): 1 + node for node in range(lines)}
    nodes = graph({0: children}, tuple(children.values()))
    return cv.diff(nodes, nodes).overlay


def efficient_net() -> Graph:
    """Return the graph of EfficientNetB7 with Adam, both built."""
    import tensorflow as tf

    import ckpt_viz as cv

    model = tf.keras.applications.EfficientNetB7(weights=None)
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    return cv.graph(tf.train.Checkpoint(model=model, optimizer=optimizer))


@contextmanager
def opened(path: Path) -> Iterator[Page]:
    """Open a file in a Chromium of its own."""
    executable = processes.find_chromium()
    if executable is None:
        raise SystemExit("no Chromium: apt-get install chromium")
    with (
        TemporaryDirectory() as directory,
        processes.chromium(executable, Path(directory)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.connect_over_cdp(address)
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.wait_for_timeout(_SETTLING)
        page.goto(path.as_uri())
        page.wait_for_function(f"({_FIRST_PAINT})().length > 0", timeout=120_000)
        yield page
        browser.close()


def measure(path: Path) -> Figures:
    """Return the times of one new browser, in milliseconds."""
    with opened(path) as page:
        figures = {"first paint": page.evaluate(_FIRST_PAINT)}
        page.get_by_role("treegrid").focus()
        page.evaluate(_PRESS, ["Home", "ArrowDown"])
        figures["open, close"] = page.evaluate(_PRESS, ["ArrowRight", "ArrowLeft"] * 3)
        page.evaluate(_PRESS, ["*", "ArrowDown"])
        rows = page.get_by_role("treegrid").get_attribute("aria-rowcount")
        figures[f"the same with {rows} rows"] = page.evaluate(
            _PRESS, ["ArrowRight", "ArrowLeft"] * 3
        )
        figures["typed to found, with a pause of 80 ms"] = page.evaluate(_TYPE, _QUERIES)
        figures["a frame while dragging"] = _dragging(page)
    return figures


def scrolled(path: Path) -> Figures:
    """Return the times of a table in one new browser, in milliseconds."""
    with opened(path) as page:
        return {
            "first paint": page.evaluate(_FIRST_PAINT),
            "a frame while the table scrolls": page.evaluate(_SCROLL, 120),
        }


def _dragging(page: Page) -> list[float]:
    box: Any = page.locator(".ckv-panes svg").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    frames = page.evaluate_handle(f"() => ({{ done: ({_FRAMES})(60) }})")
    for step in range(60):
        page.mouse.move(x - 4 * step, y - 2 * step)
    page.mouse.up()
    return list(frames.evaluate("async ({ done }) => await done"))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--nodes", type=int, nargs="*", default=[500, 5000, 50000])
    parser.add_argument("--check", type=int, nargs="*", default=[500])
    parser.add_argument("--measured", type=int, nargs="*", default=[])
    parser.add_argument("--table", type=int, nargs="*", default=[])
    parser.add_argument("--b7", action="store_true", help="EfficientNetB7 with Adam, too")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with TemporaryDirectory() as directory:
        pages = {}
        for nodes in asked.nodes:
            pages[f"{nodes} nodes"] = to_html(plain(nodes))
        for nodes in asked.check:
            overlay = checked(nodes)
            problems = sum(problem.severity.value != "info" for problem in overlay.problems)
            name = f"a check of {len(overlay.graph.nodes)} nodes with {problems} problems"
            pages[name] = to_html(overlay.graph, overlay)
        for nodes in asked.measured:
            pages[f"{nodes} nodes coloured by norm"] = measured(nodes)
        if asked.b7:
            pages["EfficientNetB7 with Adam"] = to_html(efficient_net())
        tables = {f"a table of {lines} lines": table(lines) for lines in asked.table}
        pages |= {name: to_html(overlay.graph, overlay) for name, overlay in tables.items()}
        for name, page in pages.items():
            path = Path(directory, "page.html")
            path.write_text(page)
            runs = [(scrolled if name in tables else measure)(path) for _ in range(asked.runs)]
            print(f"{name} ({len(page) / 1e6:.2f} MB of HTML):")
            for what in runs[0]:
                seen = [figure for run in runs for figure in run[what]]
                median, worst = statistics.median(seen), max(seen)
                print(f"  {what}: median {median:.0f} ms, most {worst:.0f} ms")


if __name__ == "__main__":
    main()

"""Time of a layout: Graphviz as a program, Graphviz in the browser, the explorer's own tree.

Each size is one graph as Keras makes it: layers with Adam's two slots for each variable. `dot`,
`@hpcc-js/wasm-graphviz` in a new worker, and the tidy tree with all nodes open lay it out in turn.
The first two get the DOT of the textbook view. Prints medians in milliseconds. A layout that takes
longer than `--seconds` stops, and does not run at larger sizes.

    python -m benchmarks.graphviz [--nodes 50 300 1000 2000 5000] [--runs 3] [--seconds 60]
"""

from __future__ import annotations

import argparse
import base64
import shutil
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

import ckpt_viz as cv
from ckpt_viz.graphs.render import payload
from tests.support import graphs
from tests.support.frontend import LABEXTENSION
from tests.ui import processes

_WORKER = LABEXTENSION.parent / "ckpt_viz" / "static" / "graphviz.js"
_PAGE = """
import { decode } from "./contract";
import { makeGraph } from "./graph";
import { visibleRows } from "./layout/rows";
import { tidyTree } from "./layout/tidy";
import { toDot } from "./textbook/dot";

const NAME = 50, BOX = 90;

window.load = async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const graph = makeGraph(await decode(bytes));
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  const edges = ids.flatMap((id) => {
    const { optimizer, variable } = graph.slot(id) ?? {};
    const slots = optimizer === undefined ? [] : [[optimizer, id, 0], [variable, id, NAME]];
    return [...graph.children(id).map(({ node }) => [id, node, NAME]), ...slots];
  });
  const sizes = { height: 24, boxes: ids.map((id) => [id, BOX]), edges };
  window.loaded = { graph, ids, sizes: JSON.stringify(sizes) };
  return { dot: toDot(sizes), edges: edges.length };
};
window.tidy = () => {
  const { graph, ids } = window.loaded;
  const start = performance.now();
  const rows = visibleRows(graph.treeChildren, new Set(ids));
  tidyTree(rows, { box: () => BOX, label: () => NAME });
  return performance.now() - start;
};
window.graphviz = async ([script, seconds]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const start = performance.now();
  const worker = new Worker(url);
  return await new Promise((resolve) => {
    const end = (time) => { worker.terminate(); resolve(time); };
    setTimeout(() => end(null), seconds * 1000);
    worker.onmessage = ({ data }) => {
      if (data.type === "drawn") end(performance.now() - start);
      if (data.type === "failed") end(data.message);
    };
    worker.postMessage(window.loaded.sizes);
  });
};
"""

# None if the layout was stopped, a text if it failed.
Times = list[float | str | None]


def keras_like(nodes: int) -> cv.ObjectGraph:
    """Return a graph of about this many nodes: layers of two variables, with Adam's slots."""
    optimizer, model, variables, trainable, iterations, momentums, velocities = range(1, 8)
    edges: dict[int, dict[str, int]] = {
        0: {"optimizer": optimizer, "model": model},
        optimizer: {
            "_variables": variables,
            "_trainable_variables": trainable,
            "_iterations": iterations,
            "_momentums": momentums,
            "_velocities": velocities,
        },
        model: {},
        variables: {"0": iterations},
        **{a_list: {} for a_list in (trainable, momentums, velocities)},
    }
    values = [iterations]
    for i in range(max(1, (nodes - 8) // 7)):
        first = 8 + 7 * i
        layer, kernel, bias, *slots = range(first, first + 7)
        edges[model][f"layer_{i}"] = layer
        edges[layer] = {"_kernel": kernel, "bias": bias}
        values += (kernel, bias, *slots)
        for place, variable in enumerate((kernel, bias)):
            edges[trainable][str(2 * i + place)] = variable
            for of, slot in zip((momentums, velocities), slots[2 * place :], strict=False):
                edges[of][str(2 * i + place)] = slot
                edges[variables][str(len(edges[variables]))] = slot
    graph = graphs.graph(edges, tuple(values))
    assert sum(node.role is cv.Role.SLOT for node in graph.nodes) == len(edges[variables]) - 1
    return graph


def program(dot: str, seconds: float) -> float | None:
    """Return the milliseconds that `dot` takes, or None."""
    start = time.perf_counter()
    try:
        subprocess.run(
            ["dot", "-Tjson0"],
            input=dot.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    return (time.perf_counter() - start) * 1000


@contextmanager
def opened() -> Iterator[Page]:
    """Open an empty page with the code to measure."""
    executable = processes.find_chromium()
    if executable is None:
        raise SystemExit("no Chromium: apt-get install chromium")
    esbuild = [
        Path(sysconfig.get_path("scripts"), "node"),
        LABEXTENSION / "node_modules" / "esbuild" / "bin" / "esbuild",
    ]
    bundle = subprocess.run(
        [*esbuild, "--bundle", "--format=iife", "--minify"],
        cwd=LABEXTENSION / "src",
        input=_PAGE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    with (
        TemporaryDirectory() as directory,
        processes.chromium(executable, Path(directory)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.connect_over_cdp(address)
        page = browser.new_context().new_page()
        page.add_script_tag(content=bundle.stdout)
        yield page
        browser.close()


def cell(times: Times, seconds: float) -> str:
    """Return times in the format of the table."""
    numbers = [time for time in times if isinstance(time, int | float)]
    if not times:
        return "not tried"
    if not numbers:
        return times[0] if isinstance(times[0], str) else f"over {seconds:g} s"
    median = statistics.median(numbers)
    return f"{median:,.0f}" if median >= 10 else f"{median:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[50, 300, 1000, 2000, 5000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    if shutil.which("dot") is None:
        raise SystemExit("no dot: apt-get install graphviz")
    script = _WORKER.read_text("utf-8")
    given_up: set[str] = set()
    print("| nodes | edges | dot | wasm-graphviz | tidy tree |\n| --- | --- | --- | --- | --- |")
    with opened() as page:
        for nodes in asked.nodes:
            graph = keras_like(nodes)
            encoded = base64.b64encode(payload.encode(graph)).decode("ascii")
            loaded = page.evaluate("load", encoded)
            ways: dict[str, Callable[[], float | str | None]] = {
                "dot": partial(program, loaded["dot"], asked.seconds),
                "wasm": partial(page.evaluate, "graphviz", [script, asked.seconds]),
                "tidy": partial(page.evaluate, "tidy"),
            }
            cells = []
            for name, way in ways.items():
                times: Times = []
                while name not in given_up and len(times) < asked.runs:
                    times.append(way())
                    if not isinstance(times[-1], int | float):
                        given_up.add(name)
                    elif times[-1] > 5000:
                        break  # once is long enough
                cells.append(cell(times, asked.seconds))
            print(
                f"| {len(graph.nodes):,} | {loaded['edges']:,} | {' | '.join(cells)} |", flush=True
            )


if __name__ == "__main__":
    main()

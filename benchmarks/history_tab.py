"""Time from a click to the first row of a history, in JupyterLab's tab and in a widget's page.

Starts a JupyterLab and a Chromium, and opens the tab of two directories of checkpoints in turn. A
row counts once a frame with it was painted. `all` is the time until the last row has its cells. The
page of a widget has the payload; its time begins when the view is mounted.

Then it cancels the reading of 40 GB of holes, and closes a tab that reads them. It prints how long
the server's processes used the processor afterwards (Linux only).

    python -m benchmarks.history_tab [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

import ckpt_viz as cv
from benchmarks.server_load import processes_of
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle
from tests.support import frontend
from tests.support.tables import write_holes
from tests.ui import processes
from tests.ui.history_pages import history_page

_BUILT = frontend.LABEXTENSION.parent / "ckpt_viz" / "labextension"
_OPEN = """async (path) => {
    const painted = () => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
    const until = async (found) => { while (!found()) await new Promise(requestAnimationFrame); };
    const tab = () => document.querySelector("#jp-main-dock-panel .ckpt-viz-tab");
    const start = performance.now();
    void jupyterapp.commands.execute("ckpt-viz:history", { path });
    await until(() => tab()?.querySelector(".ckh-body [role=row]"));
    const first = await painted() - start;
    await until(() => !tab().querySelector("progress"));
    const all = await painted() - start;
    return [first, all];
}"""
_MOUNT = """async () => {
    document.getElementById("history").replaceChildren();
    const start = performance.now();
    remount();
    while (!document.querySelector(".ckh-body [role=row]"))
        await new Promise(requestAnimationFrame);
    return await new Promise((done) => requestAnimationFrame(() =>
        requestAnimationFrame(() => done(performance.now() - start))));
}"""


def write_run(directory: Path, times: int, variables: int, changing: int) -> None:
    """Write checkpoints of variables of 4 kB, of which the last ones change at each save."""
    directory.mkdir(parents=True)
    rng = np.random.default_rng(1)
    arrays = {f"v{n:04}": np.full(1000, n, np.float32) for n in range(variables)}
    for time_ in range(times):
        for number in range(variables - changing, variables):
            arrays[f"v{number:04}"] = rng.random(1000).astype(np.float32)
        tensors = {
            name: array_tensor("float32", one.shape, partial(np.copy, one))
            for name, one in arrays.items()
        }
        write_bundle(str(directory / f"ckpt-{time_}"), tensors)


def _seconds(page: Page, path: str) -> list[float]:
    found: list[float] = page.evaluate(_OPEN, path)
    page.evaluate("jupyterapp.shell.currentWidget.close()")
    page.locator("#jp-main-dock-panel .ckpt-viz-tab").wait_for(state="detached")
    return found


def _busy(pid: int) -> float:
    """Return the processor seconds that a server's processes have used."""
    ticks = 0
    for one in processes_of(pid)[1:]:
        words = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / 100


def _print_stops(page: Page, pid: int) -> None:
    """Print for how long the processes work after a reading is cancelled, or its tab closed."""
    for what in ("cancel", "close"):
        page.evaluate("jupyterapp.commands.execute('ckpt-viz:history', {path: 'sparse'}) && null")
        page.locator("#jp-main-dock-panel progress").wait_for()
        page.wait_for_timeout(1500)
        if what == "cancel":
            page.get_by_role("button", name="Cancel").click()
        else:
            page.evaluate("jupyterapp.shell.currentWidget.close()")
        start, last, used = time.monotonic(), time.monotonic(), _busy(pid)
        before = used
        while time.monotonic() < start + 3:
            time.sleep(0.05)
            now = _busy(pid)
            if now > used + 0.011:
                last = time.monotonic()
            used = now
        print(
            f"{what}: the processes went on for {last - start:.2f} s, after {before:.1f} s of work"
        )
        page.evaluate("jupyterapp.shell.currentWidget?.close()")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    executable = processes.find_chromium()
    if executable is None:
        sys.exit("no Chromium: apt-get install chromium, or set CKPT_VIZ_CHROMIUM to its path")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        directory = Path(name)
        labextensions = directory / "labextensions"
        labextensions.mkdir()
        (labextensions / "ckpt-viz").symlink_to(_BUILT, target_is_directory=True)
        (directory / "chromium").mkdir()
        with (
            processes.jupyterlab(directory, labextensions) as server,
            processes.chromium(executable, directory / "chromium") as address,
        ):
            write_run(server.root / "small", 9, 12, 12)
            write_run(server.root / "large", 50, 1000, 50)
            (server.root / "sparse").mkdir()
            for number in range(20):
                prefix = server.root / "sparse" / f"ckpt-{number}"
                write_holes(prefix, {"a": 400, "w": 2 << 30}, number=number)
            browser = playwright.chromium.connect_over_cdp(address)
            page = browser.contexts[0].new_page()
            page.goto(f"{server.url}/lab")
            page.wait_for_function("globalThis.jupyterapp?.restored.then(() => true)")
            page.wait_for_timeout(3000)
            _print_stops(page, _listening(int(server.url.rpartition(":")[2])))
            for run in ("small", "large"):
                found = [_seconds(page, run) for _ in range(options.runs)]
                _print(f"tab of {run}", found)
            _print_widget(page, directory, server.root / "large", options.runs)


def _listening(port: int) -> int:
    """Return the process that listens at a port of this machine."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1].endswith(f":{port:04X}") and words[3] == "0A":
            for link in Path("/proc").glob("[0-9]*/fd/*"):
                with suppress(OSError):
                    if link.readlink().name == f"socket:[{words[9]}]":
                        return int(link.parts[2])
    raise SystemExit(f"no process listens at port {port}")


def _print(what: str, found: list[list[float]]) -> None:
    first, *rest = found
    words = ", ".join(
        f"{name} {first[i]:.0f} ms, then {statistics.median(one[i] for one in rest):.0f} ms"
        for i, name in enumerate(("first row", "all"))
    )
    print(f"{what}: {words}")


def _print_widget(page: Page, directory: Path, run: Path, runs: int) -> None:
    history: Any = cv.history(f"{run}/ckpt-*", progress=False)
    path = directory / "widget.html"
    path.write_text(history_page(history, 0, 49, has_kernel=False), "utf-8")
    page.goto(path.as_uri())
    page.get_by_role("grid").wait_for()
    found = [page.evaluate(_MOUNT) for _ in range(runs)]
    print(f"widget of large: {statistics.median(found):.0f} ms")


if __name__ == "__main__":
    main()

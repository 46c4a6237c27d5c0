"""Tables of values and histories in JupyterLab, whose own styles for tables are more specific."""

from __future__ import annotations

from tests.ui.jupyter import JupyterLab, SharedKernel, code_cell

_CELL = """
import tempfile
from functools import partial
from pathlib import Path
import numpy as np
import ckpt_viz as cv
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle

paths = [str(Path(tempfile.mkdtemp()) / f"ckpt-{n}") for n in range(3)]
for n, path in enumerate(paths):
    kernel = np.arange(40, dtype=np.float32) * (n + 1)
    kernel[7] = np.nan if n == 2 else 7
    write_bundle(path, {"kernel": array_tensor("float32", (40,), partial(np.copy, kernel))})
"""
_SOURCES = {
    # The picture that a saved notebook has; while a kernel runs, a cell shows the view.
    ".ckpt-viz-history": "__import__('IPython').display.HTML(cv.history(paths)._repr_html_())",
    ".ckpt-viz-values": "cv.graph(paths[2]).values()",
}


def test_names_are_at_the_left_and_alarms_follow_the_theme(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    cells = (f"{shared.AFRESH}{_CELL}", *_SOURCES.values())
    lab.create_notebook("values.ipynb", *map(code_cell, cells))
    lab.open_notebook("values.ipynb", shared.started(lab))
    for place in range(len(cells)):
        lab.run_cell(place)
    colours: dict[str, set[str]] = {part: set() for part in _SOURCES}
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        lab.execute("apputils:change-theme", theme=theme)
        lab.page.wait_for_function(
            "dark => document.body.dataset.jpThemeLight === String(!dark)",
            arg=theme == "JupyterLab Dark",
        )
        for place, part in enumerate(_SOURCES, 1):
            picture = lab.output(place).locator(part)
            row = picture.locator("tbody tr").first
            named = row.locator("th, td").first
            assert named.evaluate("one => getComputedStyle(one).textAlign") == "left"
            ground = row.evaluate("one => getComputedStyle(one).backgroundColor")
            assert ground == "rgba(0, 0, 0, 0)"
            alarm = picture.locator(".alarm-text, .bad").first
            colours[part].add(alarm.evaluate("one => getComputedStyle(one).color"))
        lab.screenshot(f"values-{theme[11:].lower()}")
    assert {part: len(seen) for part, seen in colours.items()} == dict.fromkeys(_SOURCES, 2)

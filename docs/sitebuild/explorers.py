"""Notebooks as pages: each explorer is its picture, and lives once a reader sees it.

The page holds what a notebook's output holds: picture, payload and the steps of a restore. A script
of the site, `labextension/src/site/`, mounts the view. No kernel runs and nothing else loads.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

import nbformat

from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE
from sitebuild.executed import with_outputs
from tests.support.course import code_cells

Data = dict[str, Any]
_ON_GITHUB = "https://github.com/ckpt-viz/ckpt-viz/blob/main/"


def notebook_of(text: str) -> nbformat.NotebookNode:
    """Return a notebook for MyST-NB: outputs with a graph are HTML that a script can mount.

    Links to our pages on GitHub, which work in each Jupyter, lead to those of the site.
    """
    notebook = with_outputs(text.replace(f"]({_ON_GITHUB}", "](/"))
    holders = {data[MIME_TYPE]["digest"]: data for data in _graphs(notebook) if _holds(data)}
    pages = [(data, _page_of(data, holders)) for data in _graphs(notebook)]
    for data, page in pages:
        if page is not None:
            data.clear()
            data["text/html"] = page
    return notebook


def _graphs(notebook: nbformat.NotebookNode) -> Iterator[Data]:
    for cell in code_cells(notebook):
        for output in cell["outputs"]:
            if MIME_TYPE in output.get("data", {}):
                yield output["data"]


def _holds(data: Data) -> bool:
    return "payload" in data[MIME_TYPE]


def _page_of(data: Data, holders: Mapping[str, Data]) -> str | None:
    """Return an explorer, or None if no output of the notebook holds its graph."""
    shown = data[MIME_TYPE]
    holder = data if _holds(data) else holders.get(shown["digest"])
    if holder is None:
        return None
    graph = holder[MIME_TYPE]
    step = f' data-step="{int(shown["step"])}"' if "step" in shown else ""
    picture = holder.get("text/html") or f"<pre>{html.escape(holder['text/plain'])}</pre>"
    packed = {"payload": graph["payload"], "steps": graph.get("steps")}
    scripts = "".join(
        f'<script type="text/plain" class="{name}">{html.escape(text)}</script>\n'
        for name, text in packed.items()
        if text is not None
    )
    parts = f'<div class="picture">{picture}</div>\n{scripts}'
    return f'<div class="stored-explorer"{step}>\n{parts}</div>'

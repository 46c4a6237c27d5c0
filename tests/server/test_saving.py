"""The extension's work when a notebook is saved, and the cases without it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from jupyter_core.utils import ensure_async

from ckpt_viz.entrances.server import slim_notebooks
from tests.server.test_slim_notebooks import OTHERS, PAYLOAD, SLIDER, explorer, notebook, shown
from tests.test_snapshots import STATE


@pytest.mark.parametrize(
    ("options", "expected"), [({}, ["notebook"]), ({"slim_notebooks": False}, [])]
)
async def test_notebooks_are_slimmed_where_they_are_saved(
    options: dict[str, Any], expected: list[str], jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def slim_notebook(*, model: Any, path: str, contents_manager: Any) -> None:
        seen.append(model["type"])

    monkeypatch.setattr(slim_notebooks, "slim_notebook", slim_notebook)
    manager = jp_serverapp.contents_manager
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    model = {"type": "notebook", "format": "json", "content": notebook}
    await ensure_async(manager.save(model, "a.ipynb"))
    text = {"type": "file", "format": "text", "content": "x"}
    await ensure_async(manager.save(text, "a.txt"))
    assert seen == expected


async def test_saves_of_one_notebook_at_a_time_neither_mix_nor_lose_cells(
    jp_fetch: Any, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(writer: int) -> dict[str, Any]:
        """What one page has: explorers, another widget, and cells that name the writer."""
        name = f"explorer-{writer}"
        outputs = [shown(name, PAYLOAD), OTHERS] * (writer + 1)
        content = notebook(*outputs, state=explorer(name) | SLIDER)
        for cell in content["cells"]:
            cell["source"] = f"writer {writer}"
        return content

    async def save(writer: int) -> None:
        body = json.dumps({"type": "notebook", "format": "json", "content": of(writer)})
        await jp_fetch("api/contents/one.ipynb", method="PUT", body=body)

    await save(0)
    written = []

    async def note(path: str, content: Any, **_: Any) -> None:
        # Not in the file: Jupyter's own writes of one file may mix where they are as close.
        written.append(json.loads(json.dumps(content)))

    monkeypatch.setattr(jp_serverapp.contents_manager, "_save_notebook", note)
    writers = [*range(8)] * 3
    await asyncio.gather(*map(save, writers))
    assert len(written) == len(writers)
    for content in written:
        [source] = {cell["source"] for cell in content["cells"]}
        sent = of(int(source.removeprefix("writer ")))
        assert content["cells"] != sent["cells"]
        assert content == json.loads(json.dumps(slim_notebooks.slimmed(sent)))
        assert len(content["cells"]) == len(sent["cells"])
        assert set(content["metadata"]["widgets"][STATE]["state"]) == set(SLIDER)
    sources = {content["cells"][0]["source"] for content in written}
    assert sources == {f"writer {number}" for number in range(8)}


def test_threads_that_slim_one_notebook_leave_it_as_it_is() -> None:
    sent = notebook(shown("e", PAYLOAD), OTHERS, state=explorer("e") | SLIDER)
    before = json.dumps(sent)
    expected = slim_notebooks.slimmed(sent)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(slim_notebooks.slimmed, [sent] * 200))
    assert all(one == expected for one in found)
    assert json.dumps(sent) == before != json.dumps(expected)

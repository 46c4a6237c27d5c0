"""What the extension does when a notebook is saved, and whether it does."""

from __future__ import annotations

from typing import Any

import pytest
from jupyter_core.utils import ensure_async

from ckpt_viz.server import slim_notebooks


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

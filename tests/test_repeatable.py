"""Random tests have the same inputs in each run of a tier."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st


def _inputs() -> list[tuple[int, str]]:
    tried: list[tuple[int, str]] = []

    @seed(0)
    @settings(max_examples=200, database=None)
    @given(st.integers(), st.text())
    def try_inputs(number: int, text: str) -> None:
        tried.append((number, text))

    try_inputs()
    return tried


def test_a_module_that_was_imported_before_changes_no_random_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _inputs()
    lines = (f"N{number} = {number + 1000003}, 'name {number}'\n" for number in range(500))
    (tmp_path / "module_with_constants.py").write_text("".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("module_with_constants")
    assert _inputs() == before

"""A history as files: CSV, HTML and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support import history_fixtures
from tests.support.name_based import write

WIDE = "\uff1d"  # another sign for "equal"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", f"{WIDE}1", "a;=1", 'a",=1']
TEXTS = ("key", "place", "dtype", "checkpoint", "state", "change_error")


@pytest.fixture
def history(tmp_path: Path) -> Any:
    sources = history_fixtures.write(tmp_path, history_fixtures.training())
    return cv.history(sources, progress=False)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_the_data_frame(history: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = history.to_dataframe()
    found = pandas.read_csv(io.StringIO(history.to_csv()))
    assert list(found.columns) == list(frame.columns) and len(found) == 24 * 9
    for name in frame.columns:
        left, right = frame[name], found[name]
        if name not in TEXTS:
            np.testing.assert_array_equal(left.astype(float), right.astype(float), name)
        else:
            assert ["" if pandas.isna(one) else one for one in left] == [
                "" if pandas.isna(one) else one for one in right
            ], name


def test_no_program_for_tables_takes_a_name_for_a_formula(tmp_path: Path) -> None:
    arrays = {name: np.array([-1.5], np.float32) for name in FORMULAS}
    text = cv.history([write(tmp_path / "ckpt", **arrays)], progress=False).to_csv()
    rows = read(text)
    assert {row["key"].removeprefix("'") for row in rows} == set(FORMULAS)
    for row in rows:
        assert row["key"].lstrip()[0] not in f"=+-@{WIDE}"
        assert float(row["min"]) == -1.5  # a negative number stays one
    # In a table that is split at semicolons or tabs, no quoted text is split.
    fields = re.findall(r'"(?:[^"]|"")*"|[^,\r\n]+', text)
    assert all(one.startswith('"') or re.fullmatch(r"-?[\d.]+(e-?\d+)?", one) for one in fields)


def test_html_is_one_file_without_scripts(history: Any) -> None:
    page = history.to_html()
    assert page.startswith("<!doctype html>") and page.count("<html") == 1
    assert history._repr_html_() in page
    assert "With a running kernel, a notebook shows where each variable changed." in page
    assert not re.search(r"<script|https?://|src=", page)


def test_the_kernel_writes_files(history: Any) -> None:
    view = history.show()
    files = {}
    for kind in ("json", "csv", "html"):
        answer, [data] = view._answer({"ask": "file", "format": kind})
        assert answer["name"] == f"history.{kind}"
        files[kind] = data.decode()
    assert json.loads(files["json"]) == history.to_json()
    assert files["csv"] == history.to_csv()
    assert files["html"] == history.to_html()
    assert view._answer({"ask": "file", "format": "exe"}) == (None, [])


def test_the_kernel_answers_with_the_way_back(history: Any) -> None:
    view = history.show()
    nan = next(one for one in history.to_json()["findings"] if one["kind"] == "nan")
    answer, _ = view._answer({"ask": "restore", "checkpoint": 7})
    assert answer == {"code": nan["restore"]["code"], "is_named": False}
    assert view._answer({"ask": "restore", "checkpoint": 9}) == (None, [])

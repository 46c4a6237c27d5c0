"""The view of a history: its payload, its answers and what a notebook stores of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

import ckpt_viz as cv
from ckpt_viz.answers.timeline import view_payload
from ckpt_viz.answers.timeline.between import cells_between
from tests.support import history_fixtures

TIMES = history_fixtures.training()


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    return history_fixtures.write(tmp_path, history_fixtures.training())


@pytest.fixture
def history(sources: list[str]) -> Any:
    return cv.history(sources, progress=False)


def test_the_fixtures_of_the_typescript_tests_are_current() -> None:
    stale = [
        path.name
        for path, data in history_fixtures.files()
        if not path.exists() or _read(path.read_bytes()) != _read(data)
    ]
    assert stale == [], "run `python -m tests.support.history_fixtures`, then the TypeScript tests"


def _read(data: bytes) -> Any:
    """Return JSON with its numbers to 12 digits: the last ones differ between processors."""
    return json.loads(data, parse_float=lambda number: float(f"{float(number):.12g}"))


def test_changes_between_any_two_checkpoints_are_those_of_numpy(history: Any) -> None:
    times = history_fixtures.training()
    for a, b in ((3, 7), (7, 3), (2, 2)):
        for row, cell in zip(history.rows, cells_between(history, a, b), strict=True):
            before, after = (times[time].get(row.key) for time in (a, b))
            if before is None or after is None:
                expected = "absent" if after is None else "first"
                assert cell.state.value == expected, row.key
                continue
            delta = np.linalg.norm(after.astype(float) - before.astype(float))
            assert cell.l2 == pytest.approx(delta, abs=1e-12), row.key
            norm = np.linalg.norm(before)
            if norm > 0:
                assert cell.relative == pytest.approx(delta / norm), row.key


def test_a_checkpoint_that_is_none_cannot_be_compared(history: Any) -> None:
    with pytest.raises(
        cv.SourceError, match="expected the number of a checkpoint, 0 to 8; found 9"
    ):
        cells_between(history, 0, 9)


def test_a_checkpoint_that_is_damaged_cannot_be_compared(sources: list[str]) -> None:
    Path(f"{sources[4]}.index").write_bytes(b"damaged")
    history = cv.history(sources, progress=False)
    with pytest.raises(cv.SourceError, match="ckpt-4: it could not be opened"):
        cells_between(history, 0, 4)
    answer, _ = history.show()._answer({"ask": "between", "a": 4, "b": 0})
    assert "ckpt-4" in answer["error"]
    lost = cv.history([sources[4], *sources[:3]], progress=False).show()
    assert (lost.a, lost.b) == (1, 3)


def test_a_payload_has_histograms_only_of_few_cells(
    history: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def histograms() -> int:
        return gzip.decompress(view_payload.encode(history)).count(b'"histogram"')

    assert histograms() > 100
    monkeypatch.setattr(view_payload, "MOST_HISTOGRAMS", 10)
    assert histograms() == 0
    row = [row.place for row in history.rows].index("head.bias")
    answer, _ = history.show()._answer({"ask": "row", "row": row})
    assert answer["row"] == history.to_json()["rows"][row]


def test_the_kernel_answers_nothing_else(history: Any) -> None:
    view = history.show()
    for question in (
        {"ask": "row", "row": 10_000},
        {"ask": "row", "row": -1},
        {"ask": "row", "row": "0"},
        {"ask": "between", "a": None, "b": 1},
        {"ask": "files"},
        {"ask": "where", "a": 0, "b": 1},
        None,
    ):
        assert view._answer(question) == (None, [])


def test_the_kernel_answers_where_a_variable_changed(history: Any) -> None:
    row = [row.key for row in history.rows].index("block0/attention/query/kernel")
    answer, _ = history.show()._answer({"ask": "where", "row": row, "a": 3, "b": 7})
    times = [time["block0/attention/query/kernel"].astype(float) for time in (TIMES[3], TIMES[7])]
    sizes = np.abs(times[1] - times[0])
    assert answer["map"]["matrix"] == [16, 12]
    np.testing.assert_array_equal(answer["map"]["cells"], sizes)
    assert answer["map"]["max_abs"] == sizes.max()
    assert tuple(answer["map"]["at"]) == np.unravel_index(sizes.argmax(), sizes.shape)
    answer, _ = history.show()._answer({"ask": "where", "row": row, "a": 3, "b": 70})
    assert answer == {"error": "expected the number of a checkpoint, 0 to 8; found 70"}


def test_the_ends_are_checkpoints_of_the_history(history: Any) -> None:
    view = history.show()
    assert (view.a, view.b) == (0, 8)
    view.a, view.b = 3, 7
    with pytest.raises(traitlets.TraitError, match="b: found checkpoint 9, expected 0 to 8"):
        view.b = 9
    assert history.show() is view


def test_the_json_of_a_view_is_strict(history: Any) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = gzip.decompress(view_payload.encode(history))
    content = json.loads(text, parse_constant=refuse)
    assert content["sentences"][0]["is_alarm"] and "NaN" in content["sentences"][0]["text"]
    assert " ".join(one["text"] for one in content["sentences"]) == content["headline"]


def test_without_a_jupyter_kernel_a_history_is_its_picture(history: Any) -> None:
    assert history._repr_mimebundle_() is None
    assert history._repr_html_().startswith("<")


def test_a_widget_in_an_output_has_the_picture_beside_it(history: Any) -> None:
    bundle = history.show()._repr_mimebundle_()
    assert bundle is not None
    data, _ = bundle
    assert data["text/html"] == history._repr_html_()
    assert data["text/plain"] == history.to_text()
    view = data["application/vnd.jupyter.widget-view+json"]
    own = data["application/vnd.ckpt-viz.history.v1+json"]
    assert view["model_id"] == own["model_id"] == history.show().model_id

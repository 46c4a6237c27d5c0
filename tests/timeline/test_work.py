"""A reading that stops, goes on later, and takes in new checkpoints gives the same history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.answers.timeline.history import History, history_so_far
from ckpt_viz.answers.timeline.sources import checkpoints_of
from ckpt_viz.answers.timeline.work import Work, work_on
from tests.support import history_fixtures
from tests.support.name_based import DATA, write


class _Stop(Exception):
    pass


class _Bar:
    """Counts bytes, and stops the reading after some."""

    def __init__(self, most: int | None = None) -> None:
        self.read = 0
        self._most = most

    def update(self, n: int, /) -> None:
        self.read += n
        if self._most is not None and self.read > self._most:
            raise _Stop


def _read(work: Work, most: int | None = None) -> int:
    """Read until so many bytes are read; return how many were."""
    shown = _Bar(most)
    try:
        for _ in work.read(work.reader(), on_read=shown.update):
            pass
    except _Stop:
        pass
    return shown.read


def _json(work: Work) -> dict[str, Any]:
    return history_so_far(work, work.reader()).to_json()


def _data_bytes(*prefixes: str) -> int:
    return sum(Path(one + DATA).stat().st_size for one in prefixes)


@pytest.mark.parametrize("most", [0, 2_000, 10_000])
def test_a_stopped_reading_goes_on_where_it_stopped(tmp_path: Path, most: int) -> None:
    paths = history_fixtures.write(tmp_path, history_fixtures.training())
    work = work_on(checkpoints_of(paths), unchanged=True)
    first = _read(work, most)
    assert not work.is_complete
    assert 0 < first < _data_bytes(*paths) / 2
    rows = dict(work.rows)
    second = _read(work)
    assert work.is_complete
    assert all(work.rows[number] is row for number, row in rows.items())
    assert second < _data_bytes(*paths)
    assert _json(work) == cv.history(paths, unchanged=True, progress=False).to_json()


def test_an_unfinished_history_has_the_rows_that_were_read(tmp_path: Path) -> None:
    paths = history_fixtures.write(tmp_path, history_fixtures.training())
    work = work_on(checkpoints_of(paths), unchanged=True)
    _read(work, 5_000)
    history: History = history_so_far(work, work.reader())
    whole = cv.history(paths, unchanged=True, progress=False)
    assert not history.is_complete
    assert "Interrupted" in history.headline
    for number, (row, expected) in enumerate(zip(history.rows, whole.rows, strict=True)):
        if number in work.rows:
            assert row.cells == expected.cells
        else:
            assert {cell.state.value for cell in row.cells} <= {"unread", "equal", "absent"}


def test_a_new_checkpoint_is_read_with_what_it_is_compared_with(tmp_path: Path) -> None:
    times = [
        {"w": np.full(5000, 1.5**n, np.float32), "fixed": np.ones(90_000, np.float32)}
        for n in range(9)
    ]
    paths = history_fixtures.write(tmp_path, times)
    before = work_on(checkpoints_of(paths[:8]))
    _read(before)
    known = {one.path: one for one in before.checkpoints}
    opened: list[str] = []
    ordered = checkpoints_of(
        f"{tmp_path}/ckpt-*", known=known, on_opened=lambda one: opened.append(one.checkpoint.path)
    )
    assert len(opened) == 9
    after = work_on(ordered).after(before)
    assert _read(after) == 3 * 5000 * 4  # the first, the last and the new one
    assert _json(after) == cv.history(f"{tmp_path}/ckpt-*", progress=False).to_json()


_VALUES = st.sampled_from([None, 0, 1, 2, 3, "nan", "other shape", "damaged"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(_VALUES, _VALUES), min_size=2, max_size=7), st.data())
def test_later_checkpoints_give_the_history_of_all(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[tuple[Any, Any]],
    data: st.DataObject,
) -> None:
    directory = tmp_path_factory.mktemp("later")
    paths = []
    for number, (one, other) in enumerate(values):
        arrays = {"always": np.arange(7, dtype=np.float32) * number}
        arrays |= {name: _array(v) for name, v in (("a", one), ("b", other)) if v is not None}
        paths.append(write(directory / f"ckpt-{number}", **arrays))
        if "damaged" in (one, other):
            with open(paths[-1] + DATA, "r+b") as file:
                file.write(b"\xff" * 9)
    begin = data.draw(st.integers(1, len(paths) - 1))
    ordered = checkpoints_of(paths)
    graphs = ordered.checkpoints
    earlier = work_on(type(ordered)(graphs[:begin], ordered.order), unchanged=True)
    _read(earlier)
    later = work_on(ordered, unchanged=True).after(earlier)
    assert later.rows
    _read(later)
    whole = cv.history(paths, unchanged=True, progress=False)
    assert json.dumps(_json(later)["rows"]) == json.dumps(whole.to_json()["rows"])


def _array(value: Any) -> Any:
    if value == "other shape":
        return np.ones((2, 3), np.float32)
    if value == "nan":
        return np.array([1, np.nan, 2, 3], np.float32)
    return np.arange(4, dtype=np.float32) + (9 if value == "damaged" else value)


def test_an_earlier_reading_of_other_checkpoints_is_not_used(tmp_path: Path) -> None:
    paths = history_fixtures.write(tmp_path, history_fixtures.training(3, 3))
    earlier = work_on(checkpoints_of(paths[1:]))
    _read(earlier)
    assert work_on(checkpoints_of(paths)).after(earlier).rows == {}

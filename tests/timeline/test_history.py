"""Histories of written checkpoints; NumPy on the whole arrays is the oracle."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.timeline.cells import CellState
from ckpt_viz.answers.timeline.history_json import cell_json
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.answers.timeline.words import change_words
from ckpt_viz.formats.storage import files
from tests.support.amounts import size
from tests.support.counted import counted_reads
from tests.support.name_based import DATA, write

RNG = np.random.default_rng(7)


def series(directory: Path, times: Sequence[dict[str, Any]]) -> list[str]:
    return [write(directory / f"ckpt-{n}", **arrays) for n, arrays in enumerate(times, 1)]


def history(source: object, **options: Any) -> Any:
    return cv.history(source, progress=False, **options)


@pytest.fixture
def walk(tmp_path: Path) -> tuple[list[str], list[Any]]:
    """A kernel of a random walk, a bias that never changes, and a counter."""
    kernels = np.cumsum(RNG.normal(size=(5, 30, 4)), axis=0).astype(np.float32)
    bias = np.ones(4000, np.float32)
    times = [
        {"kernel": k, "bias": bias, "global_step": np.int64(100 * n)} for n, k in enumerate(kernels)
    ]
    return series(tmp_path, [{**t, "global_step": np.array(t["global_step"])} for t in times]), [
        *kernels
    ]


def test_changes_are_those_that_numpy_computes(walk: tuple[list[str], list[Any]]) -> None:
    paths, kernels = walk
    row = history(paths)["kernel"]
    for number, (before, cell) in enumerate(zip(kernels, row.cells[1:], strict=False), 1):
        now = kernels[number].astype(float)
        delta = now - before.astype(float)
        assert cell.l2 == pytest.approx(np.linalg.norm(delta))
        assert cell.relative == pytest.approx(np.linalg.norm(delta) / np.linalg.norm(before))
        assert cell.max_abs == pytest.approx(np.abs(delta).max())
        assert cell.at == np.unravel_index(np.abs(delta).argmax(), delta.shape)
        first = kernels[0].astype(float)
        total = np.linalg.norm(now - first) / np.linalg.norm(first)
        assert cell.since_first == pytest.approx(total)
        assert cell.values.mean == pytest.approx(now.mean())
    assert [cell.state for cell in row.cells] == [CellState.FIRST, *[CellState.CHANGED] * 4]


def test_an_executor_gives_the_same_history(walk: tuple[list[str], list[Any]]) -> None:
    with ProcessPoolExecutor(2) as executor:
        assert history(walk[0], executor=executor).rows == history(walk[0]).rows


@pytest.mark.slow
def test_values_of_equal_checksums_are_read_once_or_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 1,000 variables in many checkpoints, 5 % change: at most 6 % of the bytes are read."""
    times = size(12, 50)
    fixed = {f"v{n:03}": np.full(256, n, np.float32) for n in range(950)}
    paths = []
    for time in range(times):
        moving = {f"w{n:02}": np.full(256, time + n / 64, np.float32) for n in range(50)}
        paths.append(write(tmp_path / f"ckpt-{time}", **fixed, **moving))
    read = counted_reads(monkeypatch, DATA)
    found = history(paths)
    every = times * 1000 * 1024
    assert 0.05 * every <= sum(read) <= 0.06 * every
    assert len(found.rows) == 1000
    assert {cell.state for cell in found["v001"].cells[1:]} == {CellState.EQUAL}
    assert found["w07"].cells[9].relative == pytest.approx(1 / (8 + 7 / 64))
    with_all = history(paths, unchanged=True)
    assert with_all["v949"].cells[10].values.mean == 949
    assert found["v949"].cells[0].state is CellState.UNREAD
    assert "keep their checksum" in str(found)


def test_the_order_is_that_of_the_surest_evidence(tmp_path: Path) -> None:
    steps = {"ckpt-1": 300, "ckpt-2": 100, "ckpt-3": 200}
    for name, step in steps.items():
        write(tmp_path / name, global_step=np.array(step), v=np.ones(3, np.float32))
    found = history(str(tmp_path / "ckpt-*"))
    assert [one.title for one in found.sources] == ["ckpt-2", "ckpt-3", "ckpt-1"]
    assert found.order == "by the step variable"
    write(tmp_path / "ckpt-4", global_step=np.array(300), v=np.ones(3, np.float32))
    found = history(str(tmp_path / "ckpt-*"))  # two have one step
    assert [one.title for one in found.sources] == ["ckpt-1", "ckpt-2", "ckpt-3", "ckpt-4"]
    assert found.order == "by the number in the name"
    assert "backwards" in str(found)


def test_checkpoints_of_one_name_have_the_part_of_their_paths_that_differs(tmp_path: Path) -> None:
    paths = [tmp_path / run / "best" / "ckpt" for run in ("old", "new")]
    for path in paths:
        path.parent.mkdir(parents=True)
        write(path, v=np.ones(3, np.float32))
    titles = [str(path.relative_to(os.path.commonpath(paths))) for path in paths]
    assert [source.title for source in history([*map(str, paths)]).sources] == titles


@pytest.mark.parametrize(
    ("steps", "titles", "order", "goes_back"),
    [
        (  # a callback that keeps the best file, beside one that keeps each epoch
            {"best": 300, "ep-1": 100, "ep-2": 200, "ep-3": 300},
            ["ep-1", "ep-2", "best", "ep-3"],
            "by the step variable",
            False,
        ),
        (
            {"best-9": 100, "ep-1": 100, "ep-2": 200},
            ["best-9", "ep-1", "ep-2"],
            "by the step variable",
            False,
        ),
        (  # a training that began again
            {"ep-1": 100, "ep-2": 200, "ep-3": 100},
            ["ep-1", "ep-2", "ep-3"],
            "by the number in the name",
            True,
        ),
        (
            {"best-4": 5, "ep-1": 5, "ep-2": 5},
            ["ep-1", "ep-2", "best-4"],
            "by the number in the name",
            False,
        ),
        (
            {"best": 100, "ep-1": None, "ep-2": 300},
            ["best", "ep-1", "ep-2"],
            "in the order of the directory: the checkpoints do not show theirs",
            False,
        ),
    ],
)
def test_names_of_several_series_have_the_order_of_their_steps(
    steps: dict[str, int | None],
    titles: list[str],
    order: str,
    goes_back: bool,
    tmp_path: Path,
) -> None:
    for name, step in steps.items():
        counter = {} if step is None else {"global_step": np.array(step)}
        write(tmp_path / name, v=np.ones(3, np.float32), **counter)
    found = history(str(tmp_path))
    assert [source.title for source in found.sources] == titles
    assert found.order == order
    assert ("backwards" in str(found)) is goes_back


def test_a_list_keeps_its_order(walk: tuple[list[str], list[Any]]) -> None:
    found = history(walk[0][::-1])
    assert [one.step for one in found.sources] == [400, 300, 200, 100, 0]


def test_what_is_wrong_with_one_of_many_is_marked_and_the_rest_shown(tmp_path: Path) -> None:
    times = [{"a": np.full(8, n, np.float32), "b": np.full(8, -n, np.float32)} for n in range(6)]
    paths = series(tmp_path, times)
    data = Path(paths[2] + DATA)
    data.write_bytes(bytes([data.read_bytes()[0] ^ 1]) + data.read_bytes()[1:])  # a of ckpt-3
    os.remove(paths[3] + DATA)
    Path(paths[4] + ".index").write_bytes(b"damaged")
    found = history(paths)
    a, b = found["a"], found["b"]
    damaged = CellState.DAMAGED
    assert [c.state is damaged for c in a.cells] == [False, False, True, True, True, False]
    assert [c.state is damaged for c in b.cells] == [False, False, False, True, True, False]
    assert "crc32c" in a.cells[2].error and "no such file" in a.cells[3].error
    assert a.cells[5].l2 == pytest.approx(np.linalg.norm(np.full(8, 4.0)))  # since ckpt-2
    assert found.sources[4].error is not None
    assert "1 checkpoint cannot be opened: ckpt-5" in found.headline


def test_a_damaged_checkpoint_keeps_its_place_also_as_the_first(tmp_path: Path) -> None:
    paths = series(tmp_path, [{"a": np.full(8, n, np.float32)} for n in range(3)])
    Path(paths[0] + ".index").write_bytes(b"damaged")
    found = history(tmp_path)
    assert [source.error is None for source in found.sources] == [False, True, True]


def test_a_structure_that_changes_is_a_mark(tmp_path: Path) -> None:
    first = {"net/kernel": np.ones((3, 4), np.float32), "net/bias": np.ones(4, np.float32)}
    head = {"head/kernel": np.ones((4, 2), np.float32)}
    wider = {"head/kernel": np.ones((4, 5), np.float32)}
    found = history(series(tmp_path, [first, {**first, **head}, {**first, **wider}, first]))
    marks = {mark.at: mark for mark in found.marks}
    assert marks[1].new == ("head.kernel",) and not marks[1].gone
    assert marks[2].reshaped == ("head.kernel",)
    assert marks[3].gone == ("head.kernel",)
    states = [cell.state.value for cell in found["head/kernel"].cells]
    assert states == ["absent", "first", "reshaped", "absent"]
    assert found.diff(0, 1).only_b == ("(root).head", "(root).head.kernel")


def test_another_model_in_the_directory_is_no_part_of_the_same_variables(tmp_path: Path) -> None:
    one = {f"a{n}": np.ones((3, n + 1), np.float32) for n in range(4)}
    other = {f"b{n}": np.ones((7, n + 2), np.float32) for n in range(4)}
    found = history(series(tmp_path, [one, other, one]))
    assert {row.key for row in found.rows} == {*one, *other}
    assert [cell.state.value for cell in found["a1"].cells] == ["unread", "absent", "equal"]


def test_values_that_are_no_numbers_are_compared_by_checksum(tmp_path: Path) -> None:
    times = [
        {"s": [b"a", b"b"], "e": np.ones((0, 3), np.float32)},
        {"s": [b"a", b"c"], "e": np.ones((0, 3), np.float32)},
    ]
    found = history(series(tmp_path, times))
    assert found["s"].cells[1].state in (CellState.CHANGED, CellState.UNREAD)
    assert found["e"].cells[1].state is CellState.EQUAL


def test_more_checkpoints_than_asked_for_are_sampled(tmp_path: Path) -> None:
    series(tmp_path, [{"v": np.full(2, n, np.float32)} for n in range(20)])
    for source in ("ckpt-*", "."):
        found = history(str(tmp_path / source), most=5)
        assert [one.number for one in found.sources] == [1, 6, 11, 15, 20]
        assert found.left_out == 15
        assert "15 checkpoints were skipped. Pass a larger `most` to include them." in str(found)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(("ckpt-12", 12), ("model.ckpt-3-?????-of-00002", 3), ("ckpt", None)),
        *(("ep01.weights.h5", 1), ("ep2.keras", 2), ("7.HDF5", 7), ("4.weights.json", 4)),
        *(("model.weights.h5", None), ("model.h5", None), ("runs/9/ep10.h5", 10)),
    ],
)
def test_the_number_of_a_checkpoint_is_none_of_its_ending(name: str, number: int | None) -> None:
    assert Checkpoint(name, name, None).number == number


def test_a_directory_has_all_its_checkpoints(tmp_path: Path) -> None:
    """However many lie beside those that a `checkpoint` file names, and whatever their names."""
    prefixes = series(tmp_path, [{"v": np.full(2, n, np.float32)} for n in range(2)])
    for number in range(3, 302):
        for ending in (".index", ".data-00000-of-00001"):
            os.link(f"{prefixes[number % 2]}{ending}", tmp_path / f"ckpt-{number}{ending}")
    found = history(str(tmp_path))
    assert [one.number for one in found.sources] == [*range(1, 302)]
    assert found.left_out == 0

    names = "".join(f'all_model_checkpoint_paths: "ckpt-{n}"\n' for n in (300, 301, 302))
    (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "ckpt-301"\n{names}')
    for source in (tmp_path, tmp_path / "checkpoint"):
        found = history(str(source))
        assert [one.number for one in found.sources] == [*range(1, 303)]
        assert [one.title for one in found.sources if one.error] == ["ckpt-302"]

    (tmp_path / "checkpoint").unlink()
    write(tmp_path / "best", v=np.zeros(2, np.float32))
    with pytest.raises(cv.CheckpointNotFoundError, match="expected the prefix of one"):
        cv.graph(str(tmp_path))
    assert len(history(str(tmp_path)).sources) == 302


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ([], cv.SourceError, "empty list"),
        ("nowhere/ckpt-*", cv.CheckpointNotFoundError, "no such directory"),
        ("nowhere", cv.CheckpointNotFoundError, "nowhere"),
        (["nowhere"], cv.CheckpointNotFoundError, "none of 1 checkpoints can be opened"),
    ],
)
def test_errors_name_what_is_missing(source: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        history(source)


def test_a_directory_whose_name_looks_like_a_pattern_is_one(tmp_path: Path) -> None:
    directory = tmp_path / "run[1]"
    directory.mkdir()
    series(directory, [{"v": np.ones(2, np.float32)}, {"v": np.zeros(2, np.float32)}])
    assert len(history(str(directory)).sources) == 2


def test_a_pattern_without_a_match_names_what_there_is(tmp_path: Path) -> None:
    write(tmp_path / "model-1", v=np.ones(2, np.float32))
    with pytest.raises(cv.CheckpointNotFoundError, match="1 checkpoint, model-1 first"):
        history(str(tmp_path / "ckpt-*"))


def test_an_interrupt_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"a": 4, "b": 3 << 20}  # they are read by different tasks
    times = [{name: np.full(size, n, np.float32) for name, size in sizes.items()} for n in range(3)]
    graphs = [cv.graph(path) for path in series(tmp_path, times)]
    original, left = files._LocalFile._read, [4]

    def interrupted(file: Any, offset: int, size: int) -> bytes:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return original(file, offset, size)

    monkeypatch.setattr(files._LocalFile, "_read", interrupted)
    found = history(graphs)
    assert not found.is_complete and "Interrupted" in found.headline
    states = {row.key: row.cells[1].state for row in found.rows}
    assert sorted(states.values()) == [CellState.CHANGED, CellState.UNREAD]


def test_names_are_escaped_and_json_has_no_nan(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[31m"
    arrays = [{evil: np.array([1, np.nan], np.float32)}, {evil: np.array([0, np.inf], np.float32)}]
    found = history(series(tmp_path, arrays))
    html = found._repr_html_()
    assert "<img" not in html and "\x1b" not in html and "\x1b" not in str(found)
    json.dumps(found.to_json(), allow_nan=False)
    assert [one.kind.value for one in found.findings] == ["nan", "inf"]


def test_members_are_compared_with_their_mean_and_each_other(tmp_path: Path) -> None:
    arrays = RNG.normal(size=(4, 50)).astype(np.float32) * 0.1 + 1
    arrays[2] += 3
    paths = [
        write(tmp_path / f"member{n}", **{f"model_{n:03}/dense/kernel": array.reshape(5, 10)})
        for n, array in enumerate(arrays)
    ]
    found = cv.compare(paths, progress=False)
    wide = arrays.astype(float)
    mean = np.linalg.norm(wide.mean(axis=0))
    expected = np.linalg.norm(wide[:, None] - wide[None], axis=2) / mean
    assert found.distances == pytest.approx(expected, abs=1e-9)
    (row,) = found.rows
    apart = np.linalg.norm(wide - wide.mean(axis=0), axis=1)
    assert [cell.l2 for cell in row.cells] == pytest.approx(apart)
    assert row.spread == pytest.approx(np.sqrt((apart**2).mean()) / mean)
    assert [one.kind.value for one in found.findings] == ["outlier"]
    assert found.findings[0].name == "member2"


def test_equal_members_have_no_distance(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"m{n}", v=np.arange(9, dtype=np.float32)) for n in range(3)]
    found = cv.compare(paths, progress=False)
    assert found.distances == ((0.0,) * 3,) * 3
    assert found.findings == () and "0 of 1 variable differ" in found.headline
    with pytest.raises(cv.SourceError, match="at least two"):
        cv.compare(paths[:1])


def test_a_bias_that_grows_from_near_zero_is_no_alarm(tmp_path: Path) -> None:
    direction = RNG.normal(size=20).astype(np.float32)
    sizes = (0.001, 0.01, 0.1, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3, 0.32)
    times = [{"bias": size * direction} for size in sizes]
    (tmp_path / "grows").mkdir()
    kinds = {one.kind.value for one in history(series(tmp_path / "grows", times)).findings}
    assert "reinitialised" not in kinds
    order = RNG.permutation(20)
    times[6:] = [{"bias": one["bias"][order]} for one in times[6:]]
    (anew,) = (
        one
        for one in history(series(tmp_path, times)).findings
        if one.kind.value == "reinitialised"
    )
    assert anew.first == 6


def test_steps_are_told_only_if_they_always_go_on(tmp_path: Path) -> None:
    def said(*steps: int) -> str:
        times = [
            {"global_step": np.array(step), "v": np.full(3, n, np.float32)}
            for n, step in enumerate(steps)
        ]
        directory = tmp_path / str(steps[1])
        directory.mkdir()
        return str(history(series(directory, times)).headline)

    assert said(10, 20, 30).startswith("From ckpt-1 to ckpt-3 (20 steps): ")
    assert said(10, 5, 30).startswith("From ckpt-1 to ckpt-3: ")


def test_a_finding_prints_its_sentence_without_control_characters(tmp_path: Path) -> None:
    times = [{"v\x1b[31m": np.full(2, value, np.float32)} for value in (1, np.nan)]
    (found,) = history(series(tmp_path, times)).findings
    assert str(found).startswith("NaN first in ckpt-2, v") and "\x1b" not in str(found)


def test_two_checkpoints_are_compared_by_value(walk: tuple[list[str], list[Any]]) -> None:
    found = history(walk[0])
    assert found.diff(1, 3).values is None
    changes = {one.key: one for one in found.diff("ckpt-2", "ckpt-4", values=True).values}
    delta = walk[1][3].astype(float) - walk[1][1].astype(float)
    assert changes["kernel"].l2 == pytest.approx(np.linalg.norm(delta))


def test_the_picture_of_members_has_their_distances_and_no_time(tmp_path: Path) -> None:
    values = (1.0, 1.5, 2.0)
    paths = [write(tmp_path / f"m{n}", v=np.full(9, v, np.float32)) for n, v in enumerate(values)]
    html = cv.compare(paths, progress=False)._repr_html_()
    table = html[html.index('<table class="apart">') :]
    assert re.findall(r">(\d+(?: %)?)</i>", table) == [
        *("0", "33 %", "67 %"),
        *("33 %", "0", "33 %"),
        *("67 %", "33 %", "0"),
    ]
    assert "at each save" not in html and "→" not in html and "polyline points" not in html


def test_the_state_of_optimizers_is_below_the_variables(
    walk: tuple[list[str], list[Any]], tmp_path: Path
) -> None:
    times = [
        {
            "dense/kernel": kernel,
            "dense/kernel/Adam": kernel,
            "dense/kernel/Adam_1": kernel,
        }
        for kernel in walk[1]
    ]
    (tmp_path / "slots").mkdir()
    found = history(series(tmp_path / "slots", times))
    html = found._repr_html_()
    shown, _, opened = html.partition("<details>")
    states = [row.place for row in found.rows if row.is_state]
    assert len(states) == 2 and all(f"<div>{one}</div>" in opened for one in states)
    assert shown.count("<tr title=") == 1
    assert "2 tensors of optimizers" in opened


_NOT_FINITE = {
    "to NaN": (np.ones(4), np.full(4, np.nan), math.inf, 4, "4 elements changed to or from NaN"),
    "from NaN": (np.full(4, np.nan), np.ones(4), math.inf, 4, "4 elements changed to or from NaN"),
    "to Inf": (np.ones(4), np.full(4, -np.inf), math.inf, 4, "4 elements changed to or from NaN"),
    "NaN to Inf": (np.full(4, np.nan), np.full(4, np.inf), math.inf, 4, "4 elements changed to"),
    "one of them": (np.ones(4), np.array([1, np.nan, 1, 1]), math.inf, 1, "1 element changed to"),
    "one, and others": (np.ones(4), np.array([1, np.nan, 3, 1]), 1.0, 1, "without 1 element that"),
    "equal NaN": (np.full(4, np.nan), np.full(4, np.nan), 0.0, 0, ""),
}


@pytest.mark.parametrize("case", _NOT_FINITE)
def test_a_change_to_or_from_nan_is_none_of_0_percent(case: str, tmp_path: Path) -> None:
    was, now, share, left_out, words = _NOT_FINITE[case]
    times = [
        {"v": one.astype(np.float32), "w": np.full(3, 1 + n / 4)}
        for n, one in enumerate((was, now))
    ]
    paths = series(tmp_path, times)
    found = history(paths, unchanged=True)
    cell = found["v"].cells[1]
    assert (cell.relative, cell.left_out) == (pytest.approx(share), left_out)
    assert math.isinf(found["v"].total or 0.0) == (left_out > 0)
    assert ("relative" in cell_json(cell)) == math.isfinite(share)
    diff = cv.diff(*paths, values=True, progress=False)
    names = [change.name for change in diff.values or ()]
    assert names == (["v", "w"] if left_out else ["w"])
    assert [row.key for row in found.largest] == (["v", "w"] if left_out else ["w", "v"])
    explorer = cv.show(paths[0], against=paths[1])
    assert len(explorer.find("change>5%")) == (2 if left_out else 1)
    assert words in str(diff)
    assert words in change_words(cell)
    line = next(line for line in str(found).splitlines() if line.startswith("v "))
    shown = "NaN" if np.isnan([was, now]).any() else "Inf"
    assert (shown in line) == (left_out > 0)
    if not np.isfinite(was).all() and np.isfinite(now).all():
        assert words in found.to_html()

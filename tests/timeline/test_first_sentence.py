"""What a history says first, what a change leaves out, and the way back to finite values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.timeline.history_json import history_json
from ckpt_viz.answers.timeline.restoring import restore_code, whole_before
from ckpt_viz.answers.timeline.words import Levels, ordered
from tests.support.name_based import write

RNG = np.random.default_rng(3)
NOISE = RNG.normal(size=(40, 30)).astype(np.float32)


def history(directory: Path, *times: dict[str, Any], **options: Any) -> Any:
    paths = [write(directory / f"ckpt-{n}", **arrays) for n, arrays in enumerate(times)]
    return cv.history(paths, progress=False, **options)


# --- what changed most


def sizes(**factors: float) -> dict[str, Any]:
    return {name: np.float32(factor) * NOISE for name, factor in factors.items()}


def test_what_begins_near_zero_is_not_what_changed_most(tmp_path: Path) -> None:
    found = history(
        tmp_path,
        sizes(embed=1, kernel=1, other=1, beta=0.1, bias=1e-9, zero=0),
        sizes(embed=1.81, kernel=1.4, other=1.1, beta=0.3, bias=0.3, zero=0.2),
    )
    assert found["bias"].total == pytest.approx(3e8, rel=1e-3)
    assert found.headline == (
        "From ckpt-0 to ckpt-1: 6 of 6 variables changed, the median by 60 % of its norm; beta "
        "grew to 3 times its norm; embed changed most of the others, by 81 %; 2 variables began "
        "near zero."
    )
    order = ["beta", "embed", "kernel", "other", "bias", "zero"]
    assert [row.key for row in ordered(found)] == order
    assert [row.key for row in found.largest] == order
    shares = [line.split("  ")[-2].strip() for line in str(found).splitlines()[2:8]]
    assert shares == ["200 %", "81 %", "40 %", "10 %", "from ≈ 0", "from 0"]


def test_a_weight_that_explodes_is_no_weight_that_began_near_zero(tmp_path: Path) -> None:
    found = history(tmp_path, sizes(a=1, b=1, c=0.1), sizes(a=5000, b=1.1, c=0.1))
    assert (
        "a grew to 5,000 times its norm; b changed most of the others, by 10 %." in found.headline
    )


def test_a_small_variable_that_stays_small_is_not_told_as_from_zero(tmp_path: Path) -> None:
    found = history(tmp_path, sizes(a=1, b=1, tiny=1e-6), sizes(a=1.2, b=1.1, tiny=1.5e-6))
    assert "tiny changed most, by 50 %." in found.headline


def test_colours_are_left_for_changes_below_the_norm(tmp_path: Path) -> None:
    times = [sizes(a=1 + n / 10, bias=10 ** (n - 9)) for n in range(5)]
    found = history(tmp_path, *times)
    heat = Levels(found.variables)
    assert (heat.high, heat.is_cut) == (1.0, True)
    assert heat.low == pytest.approx(0.1 / 1.3, rel=1e-3)
    assert [heat.of(cell) for cell in found["bias"].cells[1:]] == [8] * 4
    assert "to 100 % and more of the norm" in str(found)
    assert "to 100 % and more of the norm" in found._repr_html_()


def test_colours_of_changes_above_the_norm_have_no_reversed_scale(tmp_path: Path) -> None:
    text = str(history(tmp_path, sizes(a=1, b=1), sizes(a=4, b=5)))
    assert "▁ to █: 100 % and more of the norm" in text


def test_the_median_counts_variables_that_came_back(tmp_path: Path) -> None:
    times = sizes(a=1, b=1, c=1), sizes(a=2, b=2, c=2), sizes(a=1, b=1, c=3)
    assert "3 of 3 variables changed, the median by 0 %" in history(tmp_path, *times).headline


# --- what a change leaves out


def test_a_change_tells_how_many_elements_it_leaves_out(tmp_path: Path) -> None:
    times = [NOISE + n for n in range(4)]
    times[1][0, :3] = [np.nan, np.inf, -np.inf]
    times[2][0, 0] = np.nan  # and so it is in two checkpoints
    found = history(tmp_path, *({"v": one} for one in times))
    cells = found["v"].cells
    assert [cell.left_out for cell in cells] == [0, 3, 2, 1]
    for cell, was, now in zip(cells[1:], times, times[1:], strict=False):
        is_finite = np.isfinite(was) & np.isfinite(now)
        delta = (now.astype(float) - was)[is_finite]
        assert cell.l2 == pytest.approx(np.linalg.norm(delta))
    data = history_json(found)["rows"][0]["cells"]
    assert [cell.get("left_out", 0) for cell in data] == [0, 3, 2, 1]
    page = found._repr_html_()
    assert "without 1 element that was or is NaN or infinite" in page


# --- the way back


def nan_at(*wrong: int, saves: int = 6) -> list[dict[str, Any]]:
    times = [{"v": NOISE + n, "still": np.ones(9000, np.float32)} for n in range(saves)]
    for time in wrong:
        times[time]["v"][2, 5] = np.nan
    return times


def test_the_last_whole_checkpoint_is_the_last_one_with_finite_values(tmp_path: Path) -> None:
    found = history(tmp_path, *nan_at(1, 4, 5))
    assert [whole_before(found, time) for time in range(6)] == [None, 0, 0, 2, 3, 3]
    (tmp_path / "ckpt-3.index").write_bytes(b"damaged")
    data = bytearray((tmp_path / "ckpt-2.data-00000-of-00001").read_bytes())
    data[-1] ^= 1
    (tmp_path / "ckpt-2.data-00000-of-00001").write_bytes(data)
    found = cv.history([str(tmp_path / f"ckpt-{n}") for n in range(6)], progress=False)
    assert whole_before(found, 4) == 0
    members = cv.compare([str(tmp_path / f"ckpt-{n}") for n in (0, 4)], progress=False)
    assert whole_before(members, 1) is None


def test_findings_of_nan_have_the_code_of_the_way_back(tmp_path: Path) -> None:
    found = history_json(history(tmp_path, *nan_at(4, 5)))["findings"]
    nan = next(one for one in found if one["kind"] == "nan")
    assert nan["restore"]["checkpoint"] == 3
    lines = nan["restore"]["code"].splitlines()
    assert lines[0] == "# ckpt-3: all values that were read are finite."
    assert lines[1] == "# Not read, because they never changed: 1 tensor."
    assert lines[-1] == f"your_saver.restore(your_session, {str(tmp_path / 'ckpt-3')!r})"
    assert all("restore" not in one for one in found if one is not nan)
    (tmp_path / "x").mkdir()
    first = history_json(history(tmp_path / "x", *nan_at(0)))["findings"]
    assert "restore" not in first[0]


def test_a_hostile_name_stays_in_its_string_and_comment(tmp_path: Path) -> None:
    directory = tmp_path / "'); print('x\n#"
    directory.mkdir()
    code = restore_code(history(directory, *nan_at(4)), 3)
    assert code is not None
    taken: list[Any] = []

    class Saver:
        def restore(self, *arguments: Any) -> None:
            taken.append(arguments)

    exec(compile(code, "cell", "exec"), {"your_saver": Saver(), "your_session": None})
    assert taken == [(None, str(directory / "ckpt-3"))]


@pytest.mark.tf
def test_the_code_restores_the_values_of_that_checkpoint(tmp_path: Path) -> None:
    import tensorflow as tf

    variable = tf.Variable(np.arange(6.0).reshape(2, 3))
    program = tf.train.Checkpoint(variable=variable, step=tf.Variable(0))
    manager = tf.train.CheckpointManager(program, str(tmp_path), max_to_keep=None)
    for save in range(4):
        variable.assign_add(tf.ones((2, 3), variable.dtype))
        program.step.assign_add(1)
        if save == 3:
            variable[0, 1].assign(np.nan)
        manager.save()
    found = cv.history(manager, progress=False)
    number = whole_before(found, 3)
    assert number == 2
    code = restore_code(found, number, "manager.checkpoint")
    assert code is not None and "Replace" not in code
    exec(compile(code, "cell", "exec"), {"manager": manager})
    np.testing.assert_array_equal(variable.numpy(), np.arange(6.0).reshape(2, 3) + 3)
    unnamed = restore_code(found, number)
    assert unnamed is not None and "Replace `your_checkpoint`" in unnamed
    with pytest.raises(NameError, match="your_checkpoint"):
        exec(compile(unnamed, "cell", "exec"), {})
    variable.assign(tf.zeros((2, 3), variable.dtype))
    exec(compile(unnamed, "cell", "exec"), {"your_checkpoint": program})
    np.testing.assert_array_equal(variable.numpy(), np.arange(6.0).reshape(2, 3) + 3)
    assert found.manager is not None and found.manager() is manager

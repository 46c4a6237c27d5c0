"""What is a finding, and what only looks like a defect: by written values, without TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.timeline.cells import CellState
from ckpt_viz.answers.timeline.evidence import kept_at
from tests.support.name_based import write

Arrays = dict[str, Any]
RNG = np.random.default_rng(11)
KERNEL = RNG.normal(size=(16, 8))
DRIFT = RNG.normal(size=(9, 16, 8)) * 0.05


def found(
    directory: Path, times: Sequence[Arrays], dtype: str = "float32"
) -> list[tuple[str, int]]:
    paths = [
        write(
            directory / f"ckpt-{n}",
            **{
                name: np.asarray(one, dtype if np.asarray(one).dtype.kind == "f" else None)
                for name, one in arrays.items()
            },
        )
        for n, arrays in enumerate(times)
    ]
    findings = cv.history(paths, progress=False).findings
    return [(one.kind.value, one.first) for one in findings]


def walk(saves: int = 8) -> list[Any]:
    """Return a kernel that a training moves a little at each save."""
    return [KERNEL + DRIFT[:n].sum(axis=0) for n in range(saves)]


def test_the_share_kept_is_that_of_a_line_through_the_elements(tmp_path: Path) -> None:
    was, now = (RNG.normal(size=(30, 20)).astype(np.float32) + 1 for _ in range(2))
    now += 0.4 * was
    paths = [write(tmp_path / f"{n}", v=one) for n, one in enumerate((was, now))]
    kept = kept_at(cv.history(paths, progress=False)["v"], 1)
    assert kept is not None
    slope, _ = np.polyfit(was.ravel(), now.ravel(), 1)
    correlation = np.corrcoef(was.ravel(), now.ravel())[0, 1]
    assert kept.share == pytest.approx(slope, abs=1e-4)
    assert kept.lowest < correlation < kept.highest
    assert kept.highest - kept.lowest < 6 / np.sqrt(600)


@pytest.mark.parametrize("above", ["opt/m", "opt/velocity", "moments/0"])
def test_averages_of_gradients_that_a_program_keeps_itself_are_no_weights(
    above: str, tmp_path: Path
) -> None:
    sizes = [0.0, 0.8, 0.7, 0.9, 0.8, 0.06, 0.05, 0.9]
    moment = [RNG.normal(size=KERNEL.shape) * size for size in sizes]
    times = [
        {"net/w": kernel, f"{above}/w": one} for kernel, one in zip(walk(), moment, strict=True)
    ]
    assert found(tmp_path, times) == []
    # The same values in a variable of its own are a defect.
    times = [{"net/w": one["net/w"], "net/q": one[f"{above}/w"]} for one in times]
    weight = tmp_path / "weight"
    weight.mkdir()
    assert found(weight, times) != []


@pytest.mark.parametrize("size", [1, 3, 16, 300])
def test_what_is_near_zero_may_cross_it(size: int, tmp_path: Path) -> None:
    """A bias, and a small variable that noise turns round, as the attention's keys have one."""
    sign = np.array([0.0, 3e-3, 2e-2, 1e-2, 1e-3, -8e-3, -2e-2, -3e-2])[:, None]
    noise = RNG.normal(size=(8, size)) * 1e-3
    times = [
        {"kernel": kernel, "bias": one, "turned": noise[n].reshape(1, size)}
        for n, (kernel, one) in enumerate(zip(walk(), sign * np.ones(size), strict=True))
    ]
    assert found(tmp_path, times) == []


def test_a_single_weight_that_crosses_zero_does_not_vanish(tmp_path: Path) -> None:
    times = [{"kernel": np.array([[one]])} for one in (-0.9, -0.5, -0.2, -0.01, 0.1, 0.2, 0.25)]
    assert found(tmp_path, times) == []


def test_large_targets_and_late_plateaus_are_no_explosion(tmp_path: Path) -> None:
    growth = 1000 * (1 - 0.6 ** np.arange(8))
    gate = np.array([0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0])
    variance = 5000 - 4999 * 0.99 ** np.arange(8)
    times = [
        {
            "kernel": kernel,
            "line": a + KERNEL[:1],
            "gate": b * np.ones(8),
            "variance": c * np.ones(8),
        }
        for kernel, a, b, c in zip(walk(), growth, gate, variance, strict=True)
    ]
    assert found(tmp_path, times) == []


def test_a_norm_that_grows_at_each_save_explodes_at_last(tmp_path: Path) -> None:
    times = [{"a": 3.0**n * KERNEL, "b": kernel} for n, kernel in enumerate(walk())]
    assert found(tmp_path, times) == [("exploding", 5)]


def test_what_explodes_first_comes_first(tmp_path: Path) -> None:
    """Squares of gradients at save 4, the weights at 5, infinity at 6 and NaN at 7."""
    times: list[Arrays] = []
    for n, kernel in enumerate(walk()):
        values = kernel * (1e4 if n >= 5 else 1)
        values[0, 0] = np.inf if n == 6 else np.nan if n == 7 else values[0, 0]
        square = np.abs(DRIFT[n]) * 1e-3
        times.append({"kernel": values, "kernel/Adam": DRIFT[n]})
        times[-1]["kernel/Adam_1"] = square * (5e10 if n >= 4 else 1)
    kinds = found(tmp_path, times)
    assert kinds == [("exploding_gradients", 4), ("exploding", 5), ("inf", 6), ("nan", 7)]
    history = cv.history([str(tmp_path / f"ckpt-{n}") for n in range(8)], progress=False)
    assert history.headline.startswith(
        "Gradients exploded by ckpt-4: the norm of kernel.Adam_1 went"
    )


def test_gradients_that_come_back_after_a_restart_do_not_explode(tmp_path: Path) -> None:
    sizes = (1e-1, 1e-2, 1e-5, 1e-8, 1e-11, 1e-1, 1e-2, 1e-4)
    times = [
        {"kernel": kernel, "kernel/Adam": DRIFT[0], "kernel/Adam_1": size * np.abs(DRIFT[0])}
        for kernel, size in zip(walk(), sizes, strict=True)
    ]
    assert found(tmp_path, times) == []


def test_new_values_are_those_that_do_not_follow_from_the_former_ones(tmp_path: Path) -> None:
    anew = RNG.normal(size=(16, 8))
    times: list[Arrays] = [{"layer/kernel": one, "layer/bias": one[0]} for one in walk()]
    for n in range(4, 8):
        times[n]["layer/kernel"] = anew + DRIFT[:n].sum(axis=0)
        times[n]["layer/bias"] = np.zeros(8) if n == 4 else DRIFT[n, 0]
    assert found(tmp_path, times) == [("reinitialised", 4)]
    history = cv.history([str(tmp_path / f"ckpt-{n}") for n in range(8)], progress=False)
    assert history.findings[0].names == ("layer.kernel", "layer.bias")


@pytest.mark.parametrize("case", ["back", "queue", "shrunk by half", "first steps"])
def test_values_that_look_new_are_not(case: str, tmp_path: Path) -> None:
    kernels = walk()
    if case == "back":  # the best weights, at the end
        kernels = [(1 + n) * KERNEL[:, ::-1] + 2 * n * KERNEL for n in range(7)]
        kernels.append(kernels[0])
    elif case == "queue":  # it is never the same
        kernels = [RNG.normal(size=(16, 8)) for _ in range(8)]
    elif case == "shrunk by half":
        kernels = [one * (0.3 if n >= 4 else 1) for n, one in enumerate(kernels)]
    elif case == "first steps":
        kernels[0] = RNG.normal(size=(16, 8))
    assert found(tmp_path, [{"kernel": one} for one in kernels]) == []


def test_one_save_without_a_step_is_an_average_and_two_are_stale(tmp_path: Path) -> None:
    counts = [10, 20, 30, 40, 50, 60, 70, 70]
    for name, last, kinds in (("one", 70, []), ("two", 60, [("stale_optimizer", 6)])):
        steps = [min(count, last) for count in counts]
        times = [
            {"kernel": kernel, "optimizer/iterations": np.array(step)}
            for kernel, step in zip(walk(), steps, strict=True)
        ]
        (tmp_path / name).mkdir()
        assert found(tmp_path / name, times) == kinds


def test_a_training_that_goes_back_has_other_slots_at_the_same_step(tmp_path: Path) -> None:
    times = [
        {"kernel": kernel, "kernel/Momentum": DRIFT[n], "optimizer/iterations": np.array(n)}
        for n, kernel in enumerate(walk())
    ]
    times[5]["optimizer/iterations"] = np.array(4)
    assert found(tmp_path, times) == [("stale_optimizer", 5)]


def test_one_of_two_optimizers_may_wait(tmp_path: Path) -> None:
    times = [
        {"kernel": kernel, "a/iterations": np.array(n), "b/iterations": np.array(n // 4)}
        for n, kernel in enumerate(walk())
    ]
    assert found(tmp_path, times) == []


def test_an_optimizer_of_other_variables_may_begin_again(tmp_path: Path) -> None:
    times: list[Arrays] = [
        {"a": kernel, "b": kernel, "optimizer/iterations": np.array(n % 4), "a/Momentum": DRIFT[n]}
        for n, kernel in enumerate(walk())
    ]
    (tmp_path / "same").mkdir()
    assert ("optimizer_reset", 4) in found(tmp_path / "same", times)
    for time in times[4:]:
        time["b/Momentum"] = DRIFT[0]
    assert "optimizer_reset" not in dict(found(tmp_path, times))


def test_what_converges_is_not_frozen_and_what_stops_is(tmp_path: Path) -> None:
    def stopping(pace: float) -> list[Arrays]:
        way = [sum(pace**k for k in range(min(n, 5))) for n in range(8)]
        return [{"kernel": k, "bias": w * KERNEL[0]} for k, w in zip(walk(), way, strict=True)]

    for name, pace, kinds in (("converges", 1e-2, []), ("stops", 1.0, [("frozen", 5)])):
        (tmp_path / name).mkdir()
        assert found(tmp_path / name, stopping(pace)) == kinds
    (tmp_path / "once").mkdir()  # it may go on at the next save
    assert found(tmp_path / "once", stopping(1.0)[:7]) == []


def test_infinity_may_be_meant_but_nan_from_the_beginning_is_not(tmp_path: Path) -> None:
    mask = np.where(np.tri(8) > 0, 0.0, -np.inf)
    times: list[Arrays] = [{"kernel": one, "mask": mask, "best": np.array(1.0)} for one in walk()]
    times[0]["best"] = np.array(np.inf)
    assert dict(found(tmp_path, times)).keys() <= {"frozen"}
    for time in times:
        time["broken"] = np.full(4, np.nan)
    (tmp_path / "broken").mkdir()
    assert found(tmp_path / "broken", times)[0] == ("nan", 0)


def test_quantised_numbers_are_at_their_limits_from_the_beginning(tmp_path: Path) -> None:
    whole = (np.clip(one / np.abs(one).max(), -1, 1) * 127 for one in walk())
    assert found(tmp_path, [{"kernel": np.asarray(one, np.int8)} for one in whole]) == []


def test_a_kernel_that_loses_its_norm_vanishes(tmp_path: Path) -> None:
    times = [{"kernel": one * (0.4 ** max(0, n - 3))} for n, one in enumerate(walk())]
    assert found(tmp_path, times) == [("vanishing", 6)]
    history = cv.history([str(tmp_path / f"ckpt-{n}") for n in range(8)], progress=False)
    assert {cell.state for cell in history["kernel"].cells[1:]} == {CellState.CHANGED}

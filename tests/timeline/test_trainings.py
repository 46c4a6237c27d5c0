"""Defects of real trainings: each is found, at its checkpoint; a sound training has none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.timeline.findings import HistoryFinding, HistoryKind
from tests.support.amounts import amount
from tests.support.programs import keras_3
from tests.support.trainings import (
    DEFECT_INTERVALS,
    HEALTHY,
    HELD_OUT,
    MAY_NOTE,
    PLANTED,
    judged,
    train,
)

KINDS = {**HEALTHY, **HELD_OUT}
pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@cache
def digits() -> tuple[Any, Any]:
    """Return 256 pictures of 8×8 in four classes, the brightest quarter."""
    rng = np.random.default_rng(5)
    pictures = rng.normal(0.0, 0.3, (256, 8, 8, 1)).astype(np.float32)
    classes = rng.integers(0, 4, 256)
    for picture, kind in zip(pictures, classes, strict=True):
        row, column = divmod(int(kind), 2)
        picture[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 1.0
    return pictures, classes


def network(rate: float = 1e-3, *, dtype: str | None = None) -> Any:
    keras = keras_3()
    keras.utils.set_random_seed(3)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3, activation="relu", name="conv"),
            layers.Flatten(),
            layers.Dense(16, activation="relu", name="hidden", dtype=dtype),
            layers.Dense(4, name="head"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss=loss)
    return model


def trained(
    directory: Path,
    model: Any,
    before: Callable[[int, Any], Any] = lambda save, model: None,
    saves: int = 6,
) -> tuple[HistoryFinding, ...]:
    """Train and save by turns, and return the findings; `before` runs before each save's epoch."""
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    manager = tf.train.CheckpointManager(checkpoint, str(directory), max_to_keep=None)
    for save in range(saves):
        before(save, model)
        model.fit(*digits(), batch_size=64, verbose=0)
        manager.save()
    found = cv.history(manager, progress=False)
    assert found.order == "by save_counter" and len(found.sources) == saves
    return found.findings


def kinds(findings: tuple[HistoryFinding, ...]) -> dict[HistoryKind, HistoryFinding]:
    return {finding.kind: finding for finding in reversed(findings)}


def test_a_sound_training_has_no_finding(tmp_path: Path) -> None:
    assert trained(tmp_path, network()) == ()


@pytest.mark.parametrize(
    "kind",
    [
        *("regression", "classifier", "adversarial", "transformer", "stopped", "reduced", "tuned"),
        *("scalars", "residual", "queued"),
    ],
)
def test_a_healthy_training_of_each_kind_has_no_finding(kind: str, tmp_path: Path) -> None:
    """`python -m tests.support.trainings` has more kinds."""
    for seed in range(amount(1, 10)):
        alarms, notes = judged(train(KINDS[kind], seed, tmp_path / str(seed)))
        assert (alarms, {*notes} - MAY_NOTE.get(kind, set())) == ([], set()), seed


def test_a_bias_that_crosses_zero_is_no_finding(tmp_path: Path) -> None:
    for seed in range(amount(4, 24)):
        assert judged(train(HEALTHY["regression"], seed, tmp_path / str(seed))) == ([], []), seed


@pytest.mark.parametrize("defect", ["high_rate", "bad_batch"])
def test_a_blow_up_begins_with_the_gradients(defect: str, tmp_path: Path) -> None:
    source = train(HEALTHY["classifier"], 0, tmp_path, PLANTED[defect][0], DEFECT_INTERVALS)
    history = cv.history(source, progress=False)
    first = history.alarms[0]
    assert (first.kind, first.first) == (HistoryKind.EXPLODING_GRADIENTS, 4)
    assert first.name.endswith(".velocity")
    before, after = history[first.name].cells[3].values, history[first.name].cells[4].values
    assert before is not None and after is not None and before.l2 and after.l2
    assert after.l2 > 1e6 * before.l2 and f"to {after.l2:.3g}" in first.why
    assert history.headline.startswith(first.why)
    rose = "The learning rate rose from 0.01 to 1e+04 before." in first.why
    assert rose is (defect == "high_rate")


def test_a_learning_rate_that_is_too_high_gives_the_first_nan(tmp_path: Path) -> None:
    def higher(save: int, model: Any) -> None:
        if save == 3:
            model.optimizer.learning_rate.assign(1e38)

    found = kinds(trained(tmp_path, network(), higher))
    assert found[HistoryKind.NAN].first in (3, 4)
    assert "model.conv.kernel" in found[HistoryKind.NAN].names


def test_a_frozen_layer_is_found_since_its_first_checkpoint(tmp_path: Path) -> None:
    model = network()
    model.get_layer("conv").trainable = False
    model.compile(optimizer=keras_3().optimizers.Adam(), loss=model.loss)
    found = kinds(trained(tmp_path, model))
    assert found[HistoryKind.FROZEN].names == ("model.conv.kernel",)
    assert found[HistoryKind.FROZEN].first == 0
    assert found[HistoryKind.UNTRAINED].names == ("model.conv.bias",)


def test_a_unit_that_its_relu_never_lets_learn_is_dead(tmp_path: Path) -> None:
    model = network()
    bias = model.get_layer("hidden").bias
    bias.assign(np.where(np.arange(16) % 4 == 1, -100.0, 0.0))
    found = kinds(trained(tmp_path, model))
    assert found[HistoryKind.DEAD].names == ("model.hidden.kernel",)
    assert "(4 of 16)" in found[HistoryKind.DEAD].why


def test_an_optimizer_that_was_not_restored_began_again(tmp_path: Path) -> None:
    def resumed(save: int, model: Any) -> None:
        if save == 4:
            for variable in model.optimizer.variables:
                if "learning_rate" not in variable.path:
                    variable.assign(np.zeros(variable.shape))

    found = kinds(trained(tmp_path, network(), resumed))
    reset = found[HistoryKind.OPTIMIZER_RESET]
    assert reset.first == 4 and reset.names == ("optimizer.iteration",)


def test_an_optimizer_that_does_not_count_is_stale(tmp_path: Path) -> None:
    def by_hand(save: int, model: Any) -> None:
        if save == 0:
            model.optimizer.iterations.assign(7)
            model.optimizer.apply = lambda grads, variables: [
                variable.assign_sub(1e-2 * grad)
                for grad, variable in zip(grads, variables, strict=True)
            ]

    found = kinds(trained(tmp_path, network(), by_hand))
    stale = found[HistoryKind.STALE_OPTIMIZER]
    assert stale.first == 1
    assert "without a step of optimizer.iteration" in stale.why


def test_weights_made_anew_are_reinitialised(tmp_path: Path) -> None:
    def anew(save: int, model: Any) -> None:
        if save == 4:
            head = model.get_layer("head").kernel
            head.assign(np.random.default_rng(1).normal(0, 0.4, head.shape))

    found = kinds(trained(tmp_path, network(), anew))
    assert found[HistoryKind.REINITIALISED].first == 4
    assert found[HistoryKind.REINITIALISED].names == ("model.head.kernel",)


@pytest.mark.parametrize(
    ("factor", "kind"), [(50.0, HistoryKind.EXPLODING), (0.01, HistoryKind.VANISHING)]
)
def test_a_norm_is_compared_with_its_own_history(
    factor: float, kind: HistoryKind, tmp_path: Path
) -> None:
    def scaled(save: int, model: Any) -> None:
        if save == 4:
            kernel = model.get_layer("conv").kernel
            kernel.assign(kernel * factor)

    found = kinds(trained(tmp_path, network(), scaled))
    assert found[kind].first == 4 and found[kind].names == ("model.conv.kernel",)


@pytest.mark.parametrize("defect", ["shrunk", "shrunk_at_its_end", "zeroed"])
@pytest.mark.parametrize("kind", ["raw_regression", "transformer"])
def test_a_kernel_that_shrinks_or_loses_columns_is_named_first(
    defect: str, kind: str, tmp_path: Path
) -> None:
    plant, wanted, _ = PLANTED[defect]
    source = train(KINDS[kind], 0, tmp_path, plant, DEFECT_INTERVALS)
    first = cv.history(source, progress=False).alarms[0]
    assert (first.kind.value in wanted, first.first) == (True, 4)


def test_values_at_the_limit_of_a_small_dtype_are_saturated(tmp_path: Path) -> None:
    def clipped(save: int, model: Any) -> None:
        if save == 2:
            kernel = model.get_layer("hidden").kernel
            kernel.assign(np.clip(np.asarray(kernel, np.float32) * 1e9, -65504, 65504))

    model = network(1e-4, dtype="float16")
    model.get_layer("hidden").trainable = False  # its gradients would be NaN
    model.compile(optimizer=keras_3().optimizers.Adam(), loss=model.loss)
    found = kinds(trained(tmp_path, model, clipped, saves=3))
    assert found[HistoryKind.SATURATED].first == 2
    assert "model.hidden.kernel" in found[HistoryKind.SATURATED].names


def test_slots_are_named_after_their_variables(tmp_path: Path) -> None:
    import tensorflow as tf

    model = network()
    model.optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    table = cv.graph(checkpoint.write(str(tmp_path / "ckpt"))).values(progress=False)
    for part in ("kernel", "bias"):
        for slot in ("momentum", "velocity"):
            row = table[f"model.conv.{part}.{slot}"]
            assert row.shape == tuple(getattr(model.get_layer("conv"), part).shape)
            assert f"model.conv.{part}.{slot} " in str(table)

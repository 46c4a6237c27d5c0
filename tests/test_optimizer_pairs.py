"""One optimizer's checkpoint restored into another: the check, the fix and TensorFlow agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.optimizers import (
    KERAS_2,
    KERAS_3,
    Kind,
    SlotTruth,
    keras_2_slots,
    keras_3_slots,
    mark,
)
from tests.support.programs import ckpt, keras_3

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _scaled() -> Any:
    keras = keras_3()
    return keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.1))


_ADAM = next(kind for kind in KERAS_3 if kind.name == "Adam")
_OF_KERAS_3 = (*KERAS_3, Kind("Adam with a scaled loss", _scaled, _ADAM.lists))


@dataclass(frozen=True)
class _Program:
    """A checkpoint of a model and its optimizer, with the slots that TensorFlow tracks."""

    checkpoint: Any
    slots: Sequence[SlotTruth]

    def values(self) -> list[Any]:
        return [slot.numpy() for _, slot, _ in self.slots]


def _of_keras_3(kind: Kind) -> _Program:
    keras = keras_3()
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((4,)), layers.Dense(3), layers.Dense(2, use_bias=False, name="second")]
    )
    optimizer = kind.make()
    optimizer.build(model.trainable_variables)
    return _tracked(ckpt(model=model, optimizer=optimizer), keras_3_slots(optimizer, kind.lists))


def _of_keras_2(kind: Kind) -> _Program:
    import tf_keras

    layers = tf_keras.layers
    model = tf_keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])
    optimizer = kind.make()
    variables = model.trainable_variables
    optimizer.build(variables)
    slots = keras_2_slots(optimizer, kind.lists, variables)
    return _tracked(ckpt(model=model, optimizer=optimizer), slots)


def _tracked(checkpoint: Any, slots: Sequence[SlotTruth]) -> _Program:
    """Adafactor keeps variables beside its factors that it never tracks."""
    graph = cv.graph(checkpoint)
    tracked = {id(graph.object(node)) for node in range(len(graph.nodes))}
    known = [truth for truth in slots if tracked & {id(truth[1]), id(_value(truth[1]))}]
    mark(checkpoint, known)
    return _Program(checkpoint, known)


def _value(variable: Any) -> Any:
    return getattr(variable, "_value", variable)


def _agree(was: Kind, now: Kind, make: Callable[[Kind], _Program], path: str) -> None:
    live = make(now)
    for _, slot, _ in live.slots:
        slot.assign(np.full(slot.shape, -7, dtype=slot.numpy().dtype))
    before = live.values()
    check = cv.check(live.checkpoint, path)
    fix = check.fix()
    exec(fix.code, {"ckpt": live.checkpoint, "path": path})
    same = [np.array_equal(*pair) for pair in zip(before, live.values(), strict=True)]
    names = [name for name, _, _ in live.slots]
    kept = {name for name, is_same in zip(names, same, strict=True) if is_same}
    restored = {name for name, is_same in zip(names, same, strict=True) if not is_same}
    missing = {check.live.node_id(name) for name in fix.missing}
    slots = (check.live.nodes[node].slot for node in missing)
    left_out = {slot.name for slot in slots if slot is not None}
    case = f"{was} into {now}"
    # A Muon has velocities for some variables only, and others if it excludes a layer.
    assert kept.isdisjoint(restored) or {was.name, now.name} == {"Muon", "Muon with all"}, case
    assert kept == left_out, case


@pytest.mark.parametrize("was", _OF_KERAS_3, ids=str)
def test_what_starts_anew_in_keras_3_is_what_the_fix_leaves_out(was: Kind, tmp_path: Path) -> None:
    path = _of_keras_3(was).checkpoint.save(str(tmp_path / "ckpt"))
    for now in _OF_KERAS_3:
        _agree(was, now, _of_keras_3, path)


@pytest.mark.parametrize("was", KERAS_2, ids=str)
def test_what_starts_anew_in_keras_2_is_what_the_fix_leaves_out(was: Kind, tmp_path: Path) -> None:
    path = _of_keras_2(was).checkpoint.save(str(tmp_path / "ckpt"))
    for now in KERAS_2:
        _agree(was, now, _of_keras_2, path)

"""Random models of Keras 2 in programs of Keras 3, and back; TensorFlow judges each value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.amounts import amount
from tests.support.edited_models import (
    FAMILIES,
    Key,
    Layer,
    Made,
    Program,
    UnbuildableError,
    edited,
    make,
    make_program,
)
from tests.support.programs import keras_2, keras_3

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

PROGRAMS = amount(20, 500)
FAMILIES_OF = (FAMILIES["tf_keras"], FAMILIES["keras 3"])


_OLD = {"momentums": "m", "velocities": "v", "momentum": "m"}
Migration = tuple[Made, Any, dict[Key, int]]


def _key(key: Key) -> Key:
    """Return the role of a variable, with the name that Keras 2 gives to its slot."""
    return tuple(_OLD.get(one, one) for one in key)


def _of(family: Any, program: Program) -> Program:
    is_new = family.name == "keras 3" and program.optimizer == "legacy adam"
    return replace(program, optimizer="adam") if is_new else program


def _migrations(rng: Random, at: Path, *, is_edited: bool) -> Iterator[Migration]:
    """Yield a program, the fix of a checkpoint of the other Keras, and the numbers in that file."""
    for number in range(PROGRAMS * (5 if is_edited else 1)):
        program = make_program(rng, FAMILIES_OF[0])
        if program.form == "subclassed_with_a_list":
            continue  # Keras 3 hides the list from TensorFlow
        target = edited(rng, program) if is_edited else program
        if is_edited and not (_are_named(program.layers) and _are_named(target.layers)):
            continue
        one, other = FAMILIES_OF if rng.random() < 0.6 else FAMILIES_OF[::-1]
        try:
            was, now = make(one, _of(one, program)), make(other, _of(other, target))
        except UnbuildableError:
            continue
        numbers = {key: place for place, key in enumerate(sorted(was.variables), 1)}
        for key, place in numbers.items():
            was.variables[key].assign(np.full(was.variables[key].shape, place))
        for variable in now.variables.values():
            variable.assign(np.full(variable.shape, -1))
        path = str(was.checkpoint.save(str(at / str(number))))
        fix = cv.check(now.checkpoint, path).fix().apply()
        yield now, fix, {_key(key): place for key, place in numbers.items()}


def _are_named(layers: tuple[Layer, ...]) -> bool:
    """Return whether a person has named all layers in words of their own, and renamed none."""
    return all(
        layer.name is not None
        and not layer.name.startswith(("dense", "renamed"))
        and _are_named(layer.inner)
        for layer in layers
    )


def test_models_of_one_keras_become_the_same_models_of_the_other_one(
    seed: int, tmp_path: Path
) -> None:
    keras_3()
    keras_2()
    for now, fix, numbers in _migrations(Random(seed), tmp_path, is_edited=False):
        for key, variable in now.variables.items():
            expected = numbers.get(_key(key), -1)  # a frozen variable has no slot in Keras 3
            np.testing.assert_array_equal(variable, np.full(variable.shape, expected), str(key))
        assert not any("kernel" in key or "bias" in key for key in fix.unused if "model" in key)


def test_layers_with_names_never_get_the_values_of_layers_that_are_still_there(
    seed: int, tmp_path: Path
) -> None:
    keras_3()
    keras_2()
    for now, _, numbers in _migrations(Random(seed), tmp_path, is_edited=True):
        keys = {place: key for key, place in numbers.items()}
        current, former = {key[0] for key in now.variables}, {key[0] for key in numbers}
        for key, variable in now.variables.items():
            found = int(np.asarray(variable).flat[0])
            if found not in (-1, numbers.get(_key(key), -1)):  # as a renamed layer
                assert keys[found][0] not in current and key[0] not in former, (key, keys[found])

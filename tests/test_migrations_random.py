"""Random models of Keras 2 in programs of Keras 3, and back; TensorFlow judges each value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
_LISTED = "/_trainable_variables/"


def _key(key: Key) -> Key:
    """Return the role of a variable, with the name that Keras 2 gives to its slot."""
    return tuple(_OLD.get(one, one) for one in key)


def _of(family: Any, program: Program) -> Program:
    is_new = family.name == "keras 3" and program.optimizer == "legacy adam"
    return replace(program, optimizer="adam") if is_new else program


@dataclass(frozen=True)
class Migration:
    """A program with the values of a checkpoint of the other Keras: numbers, -1 for none."""

    was: Made
    now: Made
    fix: Any
    numbers: dict[Key, int]
    """The number that the file has for each variable."""

    def layers_of_the_values(self) -> Iterator[tuple[str, set[str]]]:
        """Yield each layer of the program, and the layers of the file that its values are from."""
        layers = {number: key[0] for key, number in self.numbers.items()}
        found: dict[str, set[str]] = {}
        for key, variable in self.now.variables.items():
            number = int(np.asarray(variable).flat[0])
            found.setdefault(key[0], set()).update({layers[number]} if number >= 0 else ())
        yield from found.items()

    def fits(self, layer: str) -> bool:
        """Return whether a layer has the shapes that it has in the file."""
        was, now = (
            {_key(key): tuple(one.shape) for key, one in made.variables.items() if key[0] == layer}
            for made in (self.was, self.now)
        )
        return all(was[key] == shape for key, shape in now.items() if key in was)

    def told_by_order_alone(self) -> set[Key]:
        """Return the layers' variables that the file has only in a list of the optimizer."""
        keys = {number: key for key, number in self.numbers.items()}
        names = [name for name in (*self.fix.pairs, *self.fix.unused) if _LISTED in name]
        return {keys[int(self.fix.check.saved.read(name).flat[0])][:2] for name in names}


def _migrations(rng: Random, at: Path, *, is_edited: bool) -> Iterator[Migration]:
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
        yield Migration(was, now, fix, {_key(key): place for key, place in numbers.items()})


def _are_named(layers: tuple[Layer, ...]) -> bool:
    """Return whether a person has named all layers in words of their own."""
    return all(
        layer.name is not None and not layer.name.startswith("dense") and _are_named(layer.inner)
        for layer in layers
    )


def test_models_of_one_keras_become_the_same_models_of_the_other_one(
    seed: int, tmp_path: Path
) -> None:
    keras_3()
    keras_2()
    for made in _migrations(Random(seed), tmp_path, is_edited=False):
        unsure = made.told_by_order_alone()
        for key, variable in made.now.variables.items():
            expected = made.numbers.get(_key(key), -1)  # a frozen variable has no slot in Keras 3
            if key[:2] in unsure and int(np.asarray(variable).flat[0]) == -1:
                continue
            np.testing.assert_array_equal(variable, np.full(variable.shape, expected), str(key))
        # Keras 3 has no slot variables of frozen layers.
        unused = [k for k in made.fix.unused if "model" in k and ".OPTIMIZER_SLOT" not in k]
        assert not any("kernel" in key or "bias" in key for key in unused)


def test_layers_with_names_keep_their_values_if_these_fit(seed: int, tmp_path: Path) -> None:
    keras_3()
    keras_2()
    for made in _migrations(Random(seed), tmp_path, is_edited=True):
        both = {key[0] for key in made.numbers} & {key[0] for key in made.now.variables}
        for layer, found in made.layers_of_the_values():
            assert len(found) <= 1, (layer, found)  # never a kernel of one with the bias of another
            if layer not in found:  # renamed, or two layers have changed places
                for one in {layer, *found} & both:
                    assert not found or not made.fits(one), (layer, found)

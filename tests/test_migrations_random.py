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
from tests.programs.keras_making import Key, Made, make
from tests.programs.keras_programs import OLD_CHECKED, Edited, Layer, Program, becomes, draw_edited
from tests.programs.law import Law, UnfitError
from tests.support.amounts import amount
from tests.support.programs import keras_2, keras_3

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

PROGRAMS = amount(20, 500)

_OLD = {"momentums": "m", "velocities": "v", "momentum": "m"}
_LISTED = "/_trainable_variables/"


def _key(key: Key) -> Key:
    """Return the role of a variable, with the name that Keras 2 gives to its slot."""
    return tuple(_OLD.get(one, one) for one in key)


def _of(library: str, program: Program) -> Program:
    """Return the program in a library; Keras 3 has no legacy optimizers."""
    is_legacy = library == "keras" and program.optimizer == "legacy adam"
    optimizer = "adam" if is_legacy else program.optimizer
    return replace(program, library=library, optimizer=optimizer)


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


def _drawn(rng: Random) -> Edited:
    return draw_edited(rng, OLD_CHECKED, rng.choice(("tf_keras",) * 3 + ("keras",) * 2))


def _migration(example: Edited, at: Path) -> Migration:
    """Fix the restore of a program of one Keras into one of the other."""
    if example.was.form == "subclassed_with_a_list":
        raise UnfitError("Keras 3 hides the list from TensorFlow")
    library, other = example.was.library, {"tf_keras": "keras", "keras": "tf_keras"}
    was = make(_of(library, example.was))
    now = make(_of(other[library], example.now))
    numbers = {key: place for place, key in enumerate(sorted(was.variables), 1)}
    for key, place in numbers.items():
        was.variables[key].assign(np.full(was.variables[key].shape, place))
    for variable in now.variables.values():
        variable.assign(np.full(variable.shape, -1))
    path = str(was.checkpoint.save(str(at / "ckpt")))
    fix = cv.check(now.checkpoint, path).fix().apply()
    return Migration(was, now, fix, {_key(key): place for key, place in numbers.items()})


def _are_named(layers: tuple[Layer, ...]) -> bool:
    """Return whether a person has named all layers in words of their own."""
    return all(
        layer.name is not None and not layer.name.startswith("dense") and _are_named(layer.inner)
        for layer in layers
    )


def _judge_same(example: Edited, at: Path) -> None:
    made = _migration(replace(example, edits=()), at)
    unsure = made.told_by_order_alone()
    for key, variable in made.now.variables.items():
        expected = made.numbers.get(_key(key), -1)  # a frozen variable has no slot in Keras 3
        if key[:2] in unsure and int(np.asarray(variable).flat[0]) == -1:
            continue
        np.testing.assert_array_equal(variable, np.full(variable.shape, expected), str(key))
    # Keras 3 has no slot variables of frozen layers.
    unused = [k for k in made.fix.unused if "model" in k and ".OPTIMIZER_SLOT" not in k]
    assert not any("kernel" in key or "bias" in key for key in unused)


def _judge_named(example: Edited, at: Path) -> None:
    if not (_are_named(example.was.layers) and _are_named(example.now.layers)):
        raise UnfitError("Keras names a layer")
    made = _migration(example, at)
    both = {key[0] for key in made.numbers} & {key[0] for key in made.now.variables}
    for layer, found in made.layers_of_the_values():
        assert len(found) <= 1, (layer, found)  # never a kernel of one with the bias of another
        if layer not in found:  # renamed, or two layers have changed places
            for one in {layer, *found} & both:
                assert not found or not made.fits(one), (layer, found)


def test_models_of_one_keras_become_the_same_models_of_the_other_one(seed: int) -> None:
    keras_3()
    keras_2()
    claim = "A model of one Keras becomes the same model of the other one"
    Law(claim, _drawn, _judge_same).hold(seed, PROGRAMS)


def test_layers_with_names_keep_their_values_if_these_fit(seed: int) -> None:
    keras_3()
    keras_2()
    claim = "Layers with names keep their values if these fit, in the other Keras"
    Law(claim, _drawn, _judge_named, becomes).hold(seed, PROGRAMS)

"""Random small Keras models and random edits, each a pair for `load_weights`.

`python -m tests.support.keras_random_pairs --pairs 2000` tries as many as you like.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.support import keras_models
from tests.support.keras_loading import assert_as_keras

_KINDS = ("Dense",) * 5 + ("BatchNormalization", "LayerNormalization", "Dropout", "Own", "GRU")
_GROUPS = ("model", "list", "dict", "again")
_ATTRIBUTES = ("a", "body", "head", "_hidden", "zz", "blocks", "out", "vars")
_OPTIMIZERS = (None, None, None, "compiled", "Adam", "SGD", "RMSprop")
_POLICIES = ("float32",) * 8 + ("mixed_float16", "float64", "bfloat16")  # the last: Keras 3


@dataclass(frozen=True)
class Part:
    """A layer, or a group of parts; `again` is the layer before it a second time."""

    kind: str
    units: int = 4
    has_option: bool = True
    name: str | None = None
    attribute: str = "a"
    policy: str = "float32"
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class ModelPlan:
    """A model of parts in a row: "sequential", "functional" or "subclassed"."""

    style: str
    parts: tuple[Part, ...]
    optimizer: str | None = None
    is_frozen: bool = False


def random_plan(rng: Random) -> ModelPlan:
    style = rng.choice(("sequential", "functional", "subclassed", "subclassed", "subclassed"))
    parts = tuple(_part(rng, 0) for _ in range(rng.choice((1, 2, 2, 3, 4))))
    return ModelPlan(style, parts, rng.choice(_OPTIMIZERS), rng.random() < 0.1)


def _part(rng: Random, depth: int) -> Part:
    part = Part(
        kind=rng.choice(_KINDS),
        units=rng.choice((4, 4, 4, 3)),
        has_option=rng.random() < 0.8,
        name=rng.choice((None, None, None, "x", "y", "z")),
        attribute=rng.choice(_ATTRIBUTES),
        policy=rng.choice(_POLICIES),
    )
    if depth < 3 and rng.random() < 0.35:
        inner = tuple(_part(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 2, 3))))
        return replace(part, kind=rng.choice(_GROUPS), parts=inner)
    return part


def edited(rng: Random, plan: ModelPlan) -> ModelPlan:
    """Return a plan after some edits, as people change their programs."""
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        plan = _edited_once(rng, plan)
    return plan


def _edited_once(rng: Random, plan: ModelPlan) -> ModelPlan:
    what = rng.random()
    if what < 0.1:
        return replace(plan, style=rng.choice(("sequential", "functional", "subclassed")))
    if what < 0.2:
        return replace(plan, optimizer=rng.choice(_OPTIMIZERS))
    if what < 0.25:
        return replace(plan, is_frozen=not plan.is_frozen)
    return replace(plan, parts=_edited_parts(rng, plan.parts, 0))


def _edited_parts(rng: Random, parts: tuple[Part, ...], depth: int) -> tuple[Part, ...]:
    if not parts or rng.random() < 0.2:
        place = rng.randint(0, len(parts))
        return (*parts[:place], _part(rng, depth), *parts[place:])
    place = rng.randrange(len(parts))
    before, part, after = parts[:place], parts[place], parts[place + 1 :]
    if part.parts and rng.random() < 0.5:
        inner = _edited_parts(rng, part.parts, depth + 1)
        return (*before, replace(part, parts=inner), *after)
    edit = rng.choice(("remove", "units", "option", "name", "attribute", "swap", "group", "flat"))
    if edit == "remove":
        return before + after
    if edit == "swap":
        return (*after, part, *before)
    if edit == "group":
        return (*before, Part(rng.choice(_GROUPS[:3]), parts=(part,)), *after)
    if edit == "flat":
        return (*before, *(part.parts or (_part(rng, depth),)), *after)
    return (*before, _with(rng, part, edit), *after)


def _with(rng: Random, part: Part, edit: str) -> Part:
    if edit == "units":
        return replace(part, units=rng.choice((3, 4, 5)), policy=rng.choice(_POLICIES))
    if edit == "option":
        return replace(part, has_option=not part.has_option)
    if edit == "name":
        return replace(part, name=rng.choice(("x", "y", "z", None)))
    return replace(part, attribute=rng.choice(_ATTRIBUTES))


# --- making


class _Builder:
    def __init__(self, keras: Any, rng: Random) -> None:
        self.keras = keras
        self.rng = rng
        self.last: Any = None

    def model(self, plan: ModelPlan) -> Any:
        if plan.style == "subclassed":
            model = keras_models.subclassed(self.keras, **self._attributes(plan.parts))
        else:
            layers = self._flat(plan.parts)
            model = self._in_a_row(layers, plan.style == "functional")
        if plan.is_frozen and model.layers:
            model.layers[0].trainable = False
        return self._with_optimizer(model, plan.optimizer)

    def _in_a_row(self, layers: list[Any], is_functional: bool) -> Any:
        if not is_functional:
            return keras_models.sequential(self.keras, *layers)
        inputs = x = self.keras.Input((4,))
        for layer in layers or [self.keras.layers.Dense(2)]:
            x = layer(x)
        return self.keras.Model(inputs, x)

    def _attributes(self, parts: tuple[Part, ...]) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        for part in parts:
            name = part.attribute
            while name in attributes:
                name += "2"
            attributes[name] = self._made(part)
        return attributes

    def _flat(self, parts: tuple[Part, ...]) -> list[Any]:
        layers: list[Any] = []
        for part in parts:
            if part.kind in ("list", "dict"):
                layers += self._flat(part.parts)
            else:
                layer = self._made(part)
                if not any(layer is other for other in layers):
                    layers.append(layer)
        names: set[str] = set()
        for layer in layers:  # Sequential and functional models refuse equal names
            while layer.name in names:
                layer.name += "_"
            names.add(layer.name)
        return layers

    def _made(self, part: Part) -> Any:
        if part.kind == "list":
            return [self._made(inner) for inner in part.parts]
        if part.kind == "dict":
            return {f"k{place}": self._made(inner) for place, inner in enumerate(part.parts)}
        if part.kind == "model":
            inner = self._flat(part.parts) or [self.keras.layers.Dense(4)]
            return self.keras.Sequential(inner)
        if part.kind == "again" and self.last is not None:
            return self.last
        self.last = self._layer(part)
        return self.last

    def _layer(self, part: Part) -> Any:
        layers = self.keras.layers
        has_policy = part.policy != "bfloat16" or self.keras.__name__ == "keras"
        common: dict[str, Any] = {"name": part.name, "dtype": part.policy if has_policy else None}
        if part.kind == "Dropout":
            return layers.Dropout(0.5, **common)
        if part.kind == "BatchNormalization":
            return layers.BatchNormalization(scale=part.has_option, **common)
        if part.kind == "LayerNormalization":
            return layers.LayerNormalization(center=part.has_option, **common)
        if part.kind == "GRU":
            return _recurrent(self.keras, part, common)
        if part.kind == "Own":
            return _own(self.keras, self.rng)(part.units, use_bias=part.has_option, **common)
        return layers.Dense(part.units, use_bias=part.has_option, **common)

    def _with_optimizer(self, model: Any, optimizer: str | None) -> Any:
        if optimizer is None:
            return model
        name = "Adam" if optimizer == "compiled" else optimizer
        model.compile(getattr(self.keras.optimizers, name)(0.1), "mse")
        if optimizer != "compiled":
            model.optimizer.build(model.trainable_variables)
        return model


def _recurrent(keras: Any, part: Part, common: dict[str, Any]) -> Any:
    row = keras.Sequential(name=part.name)
    row.add(keras.layers.Reshape((1, -1)))
    row.add(keras.layers.GRU(part.units, use_bias=part.has_option, dtype=common["dtype"]))
    return row


def _own(keras: Any, rng: Random) -> Any:
    way = rng.choice(("all", "first", "fails", "nothing"))

    class Own(keras.layers.Dense):  # type: ignore[misc]
        def load_own_variables(self, store: Any) -> None:
            if way == "all":
                super().load_own_variables(store)
            elif way == "first":
                kernel: Any = getattr(self, "_kernel", self.kernel)
                kernel.assign(store["0"])
            elif way == "fails":
                raise OSError("no")

    return Own


def try_pair(seed: int, directory: Path, library: str = "keras") -> bool:
    """Compare the dry run of a random pair with Keras; False if Keras makes no such models."""
    rng = Random(seed)
    plan = random_plan(rng)
    keras = keras_models.library(library)
    try:
        saved = _Builder(keras, rng).model(plan)
        live = _Builder(keras, rng).model(edited(rng, plan))
        saved.save_weights(directory / "trial.weights.h5")
    except Exception:  # shapes that do not fit, dtypes that a layer lacks
        return False
    options = {"skip_mismatch": True} if rng.random() < 0.25 else {}
    assert_as_keras(saved, live, directory, **options)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--library", default="keras")
    arguments = parser.parse_args()
    tried = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(arguments.start, arguments.start + arguments.pairs):
            try:
                tried += try_pair(seed, Path(directory), arguments.library)
            except Exception as error:
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:1500]}")
    print(f"{tried} pairs of {arguments.pairs}")


if __name__ == "__main__":
    main()

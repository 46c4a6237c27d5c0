"""The law of wrong values: if every assert passes, the check warns if and only if one is wrong.

Programs of one shape are rewired: the same local names lead to other variables, shared or no longer
shared. Every variable has a unique name and value, so that a real restore shows which value is
where.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz import Severity
from tests.support.amounts import amount
from tests.support.programs import ckpt, keras_3
from tests.support.told import told

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

EXAMPLES = amount(60, 600)
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


class Wiring(NamedTuple):
    """Which variable is in which place: an index for each attribute and each list item."""

    attributes: tuple[int, ...]
    items: tuple[int, ...]
    mapped: tuple[int, ...]


def _wirings() -> st.SearchStrategy[tuple[Wiring, Wiring]]:
    def pair(sizes: tuple[int, int, int]) -> st.SearchStrategy[tuple[Wiring, Wiring]]:
        index = st.integers(0, len(NAMES) - 1)
        places = [st.tuples(*[index] * size) for size in sizes]
        wiring = st.builds(Wiring, *places)
        count = sum(sizes)
        # Mostly each variable once: a permutation, or all but one as they were.
        unique = st.permutations(range(len(NAMES))).map(lambda order: _dealt(order[:count], sizes))
        changed = st.tuples(unique, st.integers(0, count - 1), index).map(lambda t: _changed(*t))
        return st.one_of(
            st.tuples(unique, unique), st.tuples(unique, changed), st.tuples(wiring, wiring)
        )

    return st.tuples(st.integers(1, 2), st.integers(0, 2), st.integers(0, 2)).flatmap(pair)


def _dealt(order: Any, sizes: tuple[int, int, int]) -> Wiring:
    a, b, _ = sizes
    order = tuple(order)
    return Wiring(order[:a], order[a : a + b], order[a + b :])


def _changed(wiring: Wiring, place: int, index: int) -> Wiring:
    flat = [*wiring.attributes, *wiring.items, *wiring.mapped]
    flat[place] = index
    return _dealt(flat, (len(wiring.attributes), len(wiring.items), len(wiring.mapped)))


class Program(NamedTuple):
    """What a wiring makes: the checkpoint, and the variables by name and by place."""

    checkpoint: Any
    by_name: dict[str, Any]
    by_place: dict[str, Any]


def _program(wiring: Wiring, sign: int) -> Program:
    import tensorflow as tf

    made: dict[str, Any] = {}

    def variable(index: int) -> Any:
        name = NAMES[index]
        if name not in made:
            made[name] = tf.Variable([float(sign * (index + 1))], name=name)
        return made[name]

    model = tf.Module()
    places: dict[str, Any] = {}
    for place, index in enumerate(wiring.attributes):
        setattr(model, f"a{place}", variable(index))
        places[f"a{place}"] = variable(index)
    items = [variable(index) for index in wiring.items]
    mapped = {f"k{place}": variable(index) for place, index in enumerate(wiring.mapped)}
    model.items, model.mapped = list(items), dict(mapped)
    places |= {f"items.{place}": item for place, item in enumerate(items)} | mapped
    return Program(tf.train.Checkpoint(model=model), made, places)


def _is_wrong(source: Program, target: Program) -> bool:
    """Return whether a value is lost, or is not where its name or its place says."""

    def value(variable: Any) -> float:
        return float(variable.numpy()[0])

    by_name = any(
        value(variable) != value(source.by_name[name])
        for name, variable in target.by_name.items()
        if name in source.by_name
    )
    by_place = any(
        value(variable) != value(source.by_place[place])
        for place, variable in target.by_place.items()
    )
    there = set(map(value, target.by_name.values()))
    is_lost = any(value(variable) not in there for variable in source.by_name.values())
    return by_name or by_place or is_lost


@settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(_wirings())
def test_check_warns_if_and_only_if_a_value_is_wrong(wirings: tuple[Wiring, Wiring]) -> None:
    source, target = _program(wirings[0], 1), _program(wirings[1], -1)
    with tempfile.TemporaryDirectory() as directory:
        path = source.checkpoint.save(str(Path(directory) / "ckpt"))
        check = cv.check(target.checkpoint, path)
        warned = [f for f in told(check) if f.severity is Severity.WARNING]
        status = target.checkpoint.restore(path)
        try:
            status.assert_consumed()
        except AssertionError:
            assert not check.consumed
            status.expect_partial()
            return
    assert check.consumed
    assert bool(warned) == _is_wrong(source, target), (wirings, warned)


def test_a_number_that_leads_a_value_astray_makes_no_shared_object(tmp_path: Path) -> None:
    """The optimizer's first variable was that of the head; it is that of the body now."""
    import keras
    import tensorflow as tf

    if keras.__version__.startswith("2."):
        pytest.skip("the optimizers of Keras 2 do not track the variables that they train")

    def program(units: int, *, is_frozen: bool) -> Any:
        body = keras.layers.Dense(8, name="body")
        body.trainable = not is_frozen
        head = keras.layers.Dense(units, name="head")
        model = keras.Sequential([keras.Input((4,)), body, head])
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return tf.train.Checkpoint(model=model, optimizer=optimizer)

    path = program(10, is_frozen=True).save(str(tmp_path / "c"))
    live = program(5, is_frozen=False)
    check = cv.check(live, path)
    assert "Two saved objects share" not in f"{check}{check.details}"
    with pytest.raises(ValueError, match="incompatible"):
        live.restore(path)


@pytest.mark.parametrize("now", ["GlobalAveragePooling1D", "Bidirectional"])
def test_a_layer_in_place_of_a_recurrent_one_is_like_no_other(now: str, tmp_path: Path) -> None:
    """The optimizer's numbers of its variables lead to those of other layers."""
    keras = keras_3()
    layers = keras.layers

    def program(kind: str) -> Any:
        lstm = layers.LSTM(6) if kind != "GlobalAveragePooling1D" else None
        wrapped = layers.Bidirectional(lstm) if kind == "Bidirectional" else lstm
        layer = wrapped or layers.GlobalAveragePooling1D()
        model = keras.Sequential(
            [keras.Input((5,)), layers.Embedding(9, 8), layer, layers.Dense(3)]
        )
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    path = program("LSTM").save(str(tmp_path / "c"))
    live = program(now)
    check = cv.check(live, path)
    said = f"{check}{check.details}"
    assert "Two saved objects share" not in said and "the program 0" not in said
    with pytest.raises(ValueError, match="incompatible"):
        live.restore(path)

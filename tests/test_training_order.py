"""Whose slots an optimizer has, in files that tell no order: the real optimizer is the oracle."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.files.keras_files.training_order import (
    ModelPart,
    SearchSteps,
    Trained,
    in_training_order,
)
from tests.support.amounts import amount

Build = Callable[[Any, random.Random], Any]


_NODES = count()


def _variables(*shapes: tuple[int, ...]) -> ModelPart:
    return ModelPart(tuple(Trained(next(_NODES), "", shape) for shape in shapes))


def _list_of(*queues: list[ModelPart]) -> ModelPart:
    stored = tuple(part for queue in queues for part in queue)
    return ModelPart((), tuple(map(tuple, queues)), stored)


def _order(
    model: ModelPart, *shapes: tuple[int, ...], skips: bool = False
) -> list[Trained | None] | None:
    return in_training_order(model, shapes, SearchSteps(), skips=skips)


def test_shapes_settle_the_order_of_classes() -> None:
    first, second, dense = _variables((3, 4), (4,)), _variables((4, 8), (8,)), _variables((8, 2))
    model = _list_of([first, second], [dense])
    shapes = ((3, 4), (4,), (4, 8), (8,), (8, 2))
    assert _order(model, *shapes) == [*first.own, *second.own, *dense.own]
    between = ((3, 4), (4,), (8, 2), (4, 8), (8,))
    assert _order(model, *between) == [*first.own, *dense.own, *second.own]
    assert _order(model, (8, 2), (9, 9)) is None


def test_equal_parts_of_two_classes_stay_open_and_all_others_do_not() -> None:
    one, other, last = _variables((4,), (4,)), _variables((4,), (4,)), _variables((2, 2))
    model = _list_of([one], [other], [last])
    assert _order(model, (4,), (4,), (4,), (4,), (2, 2)) == [None] * 4 + [*last.own]
    assert _order(model, (4,), (4,), (2, 2), (4,), (4,))[2] == last.own[0]  # type: ignore[index]


def test_parts_of_parts_keep_together() -> None:
    inner = _list_of([_variables((4,)), _variables((3, 3))])
    outer = _variables((4,))
    model = _list_of([inner], [outer])
    order = _order(model, (4,), (3, 3), (4,))
    assert order is not None
    assert [variable.node for variable in order if variable] == [
        variable.node for variable in (*inner.variables(), *outer.own)
    ]


def test_frozen_parts_are_skipped() -> None:
    frozen, head = _variables((3, 3), (3,)), _variables((3, 2), (2,))
    model = _list_of([frozen], [head])
    assert _order(model, (3, 2), (2,)) is None
    assert _order(model, (3, 2), (2,), skips=True) == [*head.own]


def test_search_ends_in_a_hostile_file() -> None:
    parts = [[_variables((4,)) for _ in range(3)] for _ in range(60)]
    steps = SearchSteps()
    assert in_training_order(_list_of(*parts), [(4,)] * 180, steps) is None
    assert in_training_order(_list_of(*parts), [(4,)] * 180, steps) is None  # of the same steps
    deep = _variables((4,))
    for _ in range(5_000):
        deep = ModelPart((), ((deep,),), (deep,))
    assert _order(deep, (4,)) is None


# --- against the real optimizer


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


def _optimizers(keras: Any) -> list[Callable[[], Any]]:
    of = keras.optimizers
    return [
        of.Adam,
        lambda: of.SGD(momentum=0.9),
        lambda: of.RMSprop(momentum=0.9, centered=True),
        of.Adagrad,
        of.Nadam,
        of.Ftrl,
        lambda: of.Adam(amsgrad=True),
        lambda: of.AdamW(use_ema=True),
        of.Lion,
    ]


def _compiled(model: Any, optimizer: Any) -> int:
    """Give each variable the number of its place, and so each state of it; return their number."""
    model.compile(optimizer, "mse")
    variables = model.trainable_variables
    optimizer.build(variables)
    for number, variable in enumerate(variables):
        variable.assign(np.full(variable.shape, number + 1.0))
    states = 0
    for name, kept in vars(optimizer).items():
        if name in ("_variables", "_trainable_variables") or not isinstance(kept, list):
            continue
        if [getattr(state, "shape", None) for state in kept] != [each.shape for each in variables]:
            continue
        for number, state in enumerate(kept):
            state.assign(np.full(state.shape, number + 1.0))
            states += 1
    return states


def _slots(path: Path) -> tuple[int, int]:
    """Return how many slots of a file are at their variable, and how many at another one."""
    graph = cv.graph(path)

    def number(node: Any) -> float:
        return float(np.ravel(graph.read(node.attributes[0].checkpoint_key))[0])

    slots = [node for node in graph.nodes if node.slot is not None]
    right = [number(node) == number(graph.nodes[node.slot.variable]) for node in slots if node.slot]
    return sum(right), len(right) - sum(right)


def _cnn(keras: Any, random: random.Random) -> Any:
    layers = keras.layers
    x = inputs = keras.Input((8, 8, 4))
    for number in range(random.choice([4, 10, 40])):
        width = random.choice([4, 8])
        of_kind: list[Callable[[], Any]] = [
            partial(layers.Conv2D, width, 3, padding="same"),
            layers.BatchNormalization,
            layers.ReLU,
            layers.LayerNormalization,
            partial(layers.Dense, width),
            partial(layers.DepthwiseConv2D, 3, padding="same"),
            partial(layers.MaxPooling2D, 1),
            partial(layers.Dropout, 0.1, name=f"a_long_name_of_a_layer_{number}"),
        ]
        y = random.choice(of_kind)()(x)
        x = layers.Add()([x, y]) if x.shape == y.shape and random.random() < 0.3 else y
    return keras.Model(inputs, layers.Dense(3)(layers.Flatten()(x)))


def _sequence(keras: Any, random: random.Random) -> Any:
    layers = keras.layers
    inputs = keras.Input((6,))
    x = layers.Embedding(8, 8)(inputs)
    for _ in range(random.choice([2, 5])):
        attended = layers.MultiHeadAttention(2, 4)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, attended]))
        both = layers.Bidirectional(layers.LSTM(4, return_sequences=True))
        x = random.choice([both, layers.GRU(8, return_sequences=True), layers.Dense(8)])(x)
    return keras.Model(inputs, layers.Dense(2)(x))


def _nested(keras: Any, random: random.Random) -> Any:
    layers = keras.layers
    inputs = keras.Input((8, 8, 4))
    inner = keras.Sequential(
        [layers.Conv2D(8, 3), layers.MaxPooling2D(), layers.Conv2D(4, 1), layers.Dense(4)]
    )
    frozen = keras.Sequential([layers.Conv2D(6, 1), layers.Dense(5)])
    frozen.trainable = False
    x = layers.Dense(3)(layers.Flatten()(frozen(inner(layers.Dense(4)(inputs)))))
    return keras.Model(inputs, x)


def _subclassed(keras: Any, random: random.Random) -> Any:
    names = random.sample(["zeta", "alpha", "head", "body", "mid", "q1"], 4)
    widths = [random.choice([4, 8]) for _ in names]

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, width in zip(names, widths, strict=True):
                setattr(self, name, keras.layers.Dense(width))
            self.blocks = [keras.layers.Dense(6), keras.layers.LayerNormalization()]

        def call(self, x: Any) -> Any:
            for name in names:
                x = getattr(self, name)(x)
            for block in self.blocks:
                x = block(x)
            return x

    model = Net()
    model(np.ones((2, 5), "float32"))
    return model


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_slots_of_an_ordinary_cnn_are_recognised(keras: Any, tmp_path: Path) -> None:
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            *(layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D()),
            *(layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D()),
            *(layers.Flatten(), layers.Dropout(0.5), layers.Dense(10, activation="softmax")),
        ]
    )
    assert _compiled(model, keras.optimizers.Adam()) == 12
    model.save_weights(tmp_path / "x.weights.h5")
    assert _slots(tmp_path / "x.weights.h5") == (12, 0)
    graph = cv.graph(tmp_path / "x.weights.h5")
    holder = graph.nodes[graph.node_id("layers")]
    names = [child.local_name for child in holder.children]
    assert names[:3] == ["conv2d", "max_pooling2d", "conv2d_1"]
    assert names[-1] == "dense"


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("form", [".weights.h5", ".keras"])
@pytest.mark.parametrize("build", [_cnn, _sequence, _nested, _subclassed])
def test_no_slot_is_at_a_different_variable_than_in_the_optimizer(
    keras: Any, build: Build, form: str, seed: int, tmp_path: Path
) -> None:
    for number in range(amount(5, 100)):
        source = random.Random(seed + number)
        model = build(keras, source)
        states = _compiled(model, source.choice(_optimizers(keras))())
        path = tmp_path / f"{number}{form}"
        (model.save if form == ".keras" else model.save_weights)(path)
        right, wrong = _slots(path)
        assert wrong == 0
        if build in (_cnn, _sequence):
            assert right == states


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_states_that_shapes_and_order_do_not_settle_are_named(keras: Any, tmp_path: Path) -> None:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.second, self.first = keras.layers.Dense(4), keras.layers.Dense(4)
            self.head = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.head(self.first(self.second(x)))

    model = Net()
    model(np.ones((2, 4), "float32"))
    _compiled(model, keras.optimizers.Adam())
    model.save_weights(tmp_path / "x.weights.h5")
    assert _slots(tmp_path / "x.weights.h5") == (4, 0)  # of the head
    said = str(cv.graph(tmp_path / "x.weights.h5"))
    assert "the file does not tell the owners of 8 states of the optimizer (" in said


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("form", [".weights.h5", ".keras"])
@pytest.mark.parametrize("is_given", [True, False])
def test_both_copies_of_a_state_in_mixed_precision_have_their_owner(
    keras: Any, form: str, is_given: bool, tmp_path: Path
) -> None:
    layers, precision = keras.layers, keras.mixed_precision
    set_policy = getattr(precision, "set_global_policy", None) or precision.set_dtype_policy
    set_policy("mixed_float16")
    try:
        model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(2)])
        if is_given:
            holder = keras.optimizers if keras.__name__ == "keras" else precision
            model.compile(holder.LossScaleOptimizer(keras.optimizers.Adam()), "mse")
        else:
            model.compile(keras.optimizers.Adam(), "mse")
    finally:
        set_policy("float32")
    model.optimizer.build(model.trainable_variables)
    (model.save if form == ".keras" else model.save_weights)(tmp_path / f"x{form}")
    graph = cv.graph(tmp_path / f"x{form}")
    slots = [node.slot for node in graph.nodes if node.slot is not None]
    per_optimizer = {number: sum(s.optimizer == number for s in slots) for number in range(99)}
    assert sorted(filter(None, per_optimizer.values())) == [8, 8]
    outer = graph.nodes[graph.node_id("optimizer")]
    shaped = [child for child in outer.children if _shape(graph, child.node_id)]
    assert all(graph.nodes[child.node_id].slot is not None for child in shaped)
    if keras.__name__ == "keras":
        names = [child.local_name for child in outer.children][:6]
        assert names[2:] == ["step_counter", "dynamic_scale", "iteration_1", "learning_rate_1"]


def _shape(graph: cv.ObjectGraph, node: int) -> tuple[int, ...]:
    attributes = graph.nodes[node].attributes
    return (attributes[0].shape or ()) if attributes else ()

"""What a training does to the variables of a graph, by what its nodes say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ckpt_viz import ObjectGraph, Role
from ckpt_viz.graphs.layers.training import Training
from tests.support.graphs import graph
from tests.support.payload_fixtures import graphs

FROZEN: dict[str, Any] = {"role": Role.LAYER, "is_frozen": True}
LAYER: dict[str, Any] = {"role": Role.LAYER}
TRAINABLE: dict[str, Any] = {"trainable": True}
ADAM = {
    1: {"_variables": 3, "_trainable_variables": 4, "_iterations": 5},
    3: {"0": 5},
}


def stating(of: ObjectGraph, statements: dict[int, dict[str, Any]]) -> ObjectGraph:
    nodes = enumerate(of.nodes)
    return replace(of, nodes=tuple(node._replace(**statements.get(i, {})) for i, node in nodes))


def trainings(of: ObjectGraph) -> dict[int, str]:
    return {i: training.value for i, training in enumerate(of.trainings) if training is not None}


def test_a_way_around_the_frozen_layer_trains_a_shared_variable() -> None:
    edges = {0: {"frozen": 1, "free": 2}, 1: {"shared": 3, "own": 4}, 2: {"shared": 3}}
    shown = stating(graph(edges, (3, 4)), {1: FROZEN, 2: LAYER, 3: TRAINABLE, 4: TRAINABLE})
    assert trainings(shown) == {1: "frozen", 3: "trained", 4: "frozen"}


def test_an_optimizer_is_no_way_around_a_frozen_layer() -> None:
    edges = {0: {"optimizer": 1, "model": 2}, **ADAM, 4: {"0": 6}, 2: {"kernel": 6}}
    shown = stating(graph(edges, (5, 6)), {2: FROZEN, 6: TRAINABLE})
    assert shown.nodes[1].role is Role.OPTIMIZER
    assert trainings(shown) == {2: "frozen", 6: "frozen"}


def test_integers_are_never_trained() -> None:
    counter = graph({0: {"step": 1}}, (1,))
    step = counter.nodes[1]
    whole = step._replace(attributes=tuple(a._replace(dtype="int64") for a in step.attributes))
    shown = stating(replace(counter, nodes=(counter.nodes[0], whole)), {1: TRAINABLE})
    assert trainings(shown) == {1: "never"}


def test_a_file_that_records_nothing_says_nothing_of_training() -> None:
    assert set(graphs()["keras3_adam"].trainings) == {None}


def left_out(held: dict[str, int], *, built_second: bool = True) -> set[int]:
    """Return what the graph of two models and two optimizers leaves out."""
    edges = {
        **{0: {"optimizer": 1, "model": 2, "other": 7, "second": 10}, **ADAM, 4: held},
        **{2: {"kernel": 6, "bias": 9}, 7: {"kernel": 8}},
        **{10: {"_variables": 11, "_trainable_variables": 12, "_iterations": 13}, 11: {"0": 13}},
        12: {"0": 8} if built_second else {},
    }
    shown = stating(
        graph(edges, (5, 6, 8, 9, 13)),
        {2: LAYER, 7: LAYER, **dict.fromkeys((6, 8, 9), TRAINABLE)},
    )
    return {i for i, training in enumerate(shown.trainings) if training is Training.LEFT_OUT}


def test_a_variable_is_left_out_where_an_optimizer_has_its_neighbours() -> None:
    assert left_out({"0": 6}) == {9}
    assert left_out({"0": 6, "1": 9}) == set()


def test_nothing_is_left_out_while_an_optimizer_is_not_built() -> None:
    assert left_out({"0": 6}, built_second=False) == set()


def test_a_model_that_no_optimizer_trains_is_not_left_out() -> None:
    assert left_out({"0": 8}) == set()

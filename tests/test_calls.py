"""Which layers call which, in live models of Keras 3 and of Keras 2."""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.layers.calls import Call, in_call_order
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.objects.keras_calls import calls_among

both = pytest.mark.parametrize("keras", ["keras", "tf_keras"])


@pytest.mark.tf
@both
def test_a_functional_model_has_its_residual_edges(keras: str) -> None:
    model = _residual(_keras(keras))
    calls = {("tokens", "first"), ("first", "second"), ("first", "add"), ("second", "add")}
    assert _calls(cv.graph(model)) == calls | {("add", "head")}


@pytest.mark.tf
@both
def test_calls_are_those_that_keras_names(keras: str) -> None:
    model = _keras(keras).applications.MobileNetV2((32, 32, 3), weights=None)
    inside = {
        (getattr(parent, "operation", None) or parent.layer, layer)
        for layer in model.layers
        for node in layer._inbound_nodes
        for parent in node.parent_nodes
    }
    assert _calls(cv.graph(model)) == {(one.name, other.name) for one, other in inside}
    assert len(inside) > len(model.layers)  # ten blocks are residual


@pytest.mark.tf
@both
def test_a_layer_follows_what_it_is_called_on(keras: str) -> None:
    graph = cv.graph(_residual(_keras(keras)))
    names = [graph.layers.names[row] for row in graph.layers.preorder() if row < len(graph.nodes)]
    shown = [name for name in names if name in ("tokens", "first", "second", "add", "head")]
    assert shown == ["tokens", "first", "second", "add", "head"]


@pytest.mark.tf
@both
def test_a_model_called_twice_has_the_calls_of_its_own_graph(keras: str) -> None:
    k = _keras(keras)
    inner = _residual(k)
    there = k.Input((4,), name="there")
    other = k.Input((4,), name="other")
    outer = k.Model([there, other], k.layers.Add(name="both")([inner(there), inner(other)]))
    inside = _calls(cv.graph(inner))
    outside = {("there", "inner"), ("other", "inner"), ("inner", "both")}
    assert _calls(cv.graph(outer)) == inside | outside
    assert _calls(cv.graph(inner)) == inside


@pytest.mark.tf
@both
def test_a_shared_layer_has_no_edge_to_itself(keras: str) -> None:
    k = _keras(keras)
    tokens = k.Input((4,), name="tokens")
    shared, relu = k.layers.Dense(4, name="shared"), k.layers.ReLU(name="relu")
    model = k.Model(tokens, k.layers.Dense(1, name="head")(shared(relu(shared(shared(tokens))))))
    graph = cv.graph(model)
    circle = {("shared", "relu"), ("relu", "shared")}
    assert _calls(graph) == {("tokens", "shared"), ("shared", "head")} | circle
    names = [graph.layers.names[row] for row in graph.layers.preorder() if row < len(graph.nodes)]
    order = [name for name in names if name in ("tokens", "shared", "relu", "head")]
    assert sorted(order) == ["head", "relu", "shared", "tokens"]
    assert order[0] == "tokens"


@pytest.mark.tf
@both
def test_a_sequential_model_calls_its_layers_one_after_the_other(keras: str) -> None:
    k = _keras(keras)
    layers = [k.layers.Dense(4, name="a"), k.layers.ReLU(name="b"), k.layers.Dense(4, name="c")]
    model = k.Sequential(layers)
    model.build((None, 4))
    assert _calls(cv.graph(model)) >= {("a", "b"), ("b", "c")}
    assert len(_calls(cv.graph(model))) <= 3  # an input may come first


@pytest.mark.tf
def test_operations_without_a_node_are_crossed() -> None:
    k = _keras("keras")
    tokens = k.Input((4,), name="tokens")
    first = k.layers.Dense(4, name="first")(tokens)
    second = k.layers.Dense(4, name="second")(first)
    model = k.Model(tokens, k.layers.Dense(1, name="head")(first + 2 * second))
    calls = {("tokens", "first"), ("first", "second")}
    assert _calls(cv.graph(model)) == calls | {("first", "head"), ("second", "head")}


@pytest.mark.tf
@pytest.mark.parametrize("is_first", [True, False])
def test_sums_of_all_blocks_before_are_edges_from_the_last_two(is_first: bool) -> None:
    k = _keras("keras")
    x = tokens = k.Input((1,), name="tokens")
    for i in range(50):
        y = k.layers.Dense(1, name=f"block{i}")(x)
        x = x + y if is_first else y + x
    model = k.Model(tokens, k.layers.Dense(1, name="head")(x))
    calls = _calls(cv.graph(model))
    assert {source for source, target in calls if target == "block0"} == {"tokens"}
    assert {source for source, target in calls if target == "block1"} == {"tokens", "block0"}
    assert {source for source, target in calls if target == "block9"} == {"block7", "block8"}
    assert {source for source, target in calls if target == "head"} == {"block48", "block49"}


@pytest.mark.tf
def test_a_sum_that_no_layer_takes_before_comes_from_all_that_it_adds() -> None:
    k = _keras("keras")
    tokens = k.Input((1,), name="tokens")
    parts = [k.layers.Dense(1, name=f"part{i}")(tokens) for i in range(70)]
    model = k.Model(tokens, k.layers.Dense(1, name="head")(sum(parts[1:], parts[0])))
    calls = _calls(cv.graph(model))
    assert {source for source, target in calls if target == "head"} == {
        f"part{i}" for i in range(70)
    }


@pytest.mark.tf
def test_files_have_no_calls_and_comparisons_those_of_the_program(tmp_path: Path) -> None:
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(model=_residual(_keras("keras")))
    prefix = checkpoint.write(str(tmp_path / "ckpt"))
    assert cv.graph(prefix).calls == ()
    live = cv.graph(checkpoint)
    assert cv.check(checkpoint, prefix).overlay.graph.calls == live.calls != ()
    assert live.to_json()["calls"][0].keys() == {"producer", "consumer"}


class _Hostile:
    """An object that raises for everything that a look could run."""

    def __getattr__(self, name: str) -> Any:
        raise SystemError(name)

    def __iter__(self) -> Any:
        raise SystemError("iterated")

    def __int__(self) -> int:
        raise SystemError("converted")

    def __hash__(self) -> int:
        raise SystemError("hashed")


def _record(operation: object, taken: object, made: object) -> SimpleNamespace:
    arguments = SimpleNamespace(keras_tensors=taken)
    return SimpleNamespace(operation=operation, arguments=arguments, outputs=made)


@pytest.mark.parametrize(
    "records",
    [
        _Hostile(),
        7,
        {0: _Hostile()},
        {_Hostile: []},
        {0: [_Hostile()]},
        {0: [_record(None, _Hostile(), _Hostile())]},
        {0: [SimpleNamespace(layer=None, flat_input_ids=[_Hostile()], flat_output_ids=[])]},
    ],
    ids=["hostile", "number", "value", "key", "list", "record", "legacy record"],
)
def test_garbage_has_no_calls_and_hides_none(records: object) -> None:
    a, b, tensor = SimpleNamespace(), SimpleNamespace(), object()
    model = SimpleNamespace(
        _nodes_by_depth=defaultdict(
            list, {1: [_record(a, [], [tensor])], 0: [_record(b, [tensor], [])]}
        )
    )
    objects = [a, SimpleNamespace(_nodes_by_depth=records), b, model, _Hostile()]
    ids = {id(obj): place for place, obj in enumerate(objects)}
    assert calls_among(objects, ids) == (Call(0, 2),)


def test_records_in_a_circle_give_only_true_calls() -> None:
    a, b = SimpleNamespace(), SimpleNamespace()
    one, two = object(), object()
    circle = {1: [_record(a, [two], [one])], 0: [_record(b, [one], [two])]}
    model = SimpleNamespace(_nodes_by_depth=circle)
    assert calls_among([a, b, model], {id(a): 0, id(b): 1}) == (Call(0, 1),)


def test_a_circle_of_calls_keeps_its_first_row_first() -> None:
    circle = {1: [2], 2: [3], 3: [1]}
    assert in_call_order([3, 9, 1, 2], circle) == [3, 9, 1, 2]
    assert in_call_order([2, 1, 3], circle) == [2, 3, 1]


def test_a_thousand_rows_in_the_wrong_order_are_sorted() -> None:
    rows = list(range(1000))
    assert in_call_order(rows, {i + 1: [i] for i in range(999)}) == rows[::-1]


def _keras(name: str) -> Any:
    importlib.import_module("tensorflow")  # which Keras' parts look for
    return importlib.import_module(name) if name == "keras" else pytest.importorskip(name)


def _residual(k: Any) -> Any:
    tokens = k.Input((4,), name="tokens")
    first = k.layers.Dense(4, name="first")(tokens)
    second = k.layers.Dense(4, name="second")(first)
    total = k.layers.Add(name="add")([first, second])
    return k.Model(tokens, k.layers.Dense(4, name="head")(total), name="inner")


def _calls(graph: Graph) -> set[tuple[str | None, str | None]]:
    """Return the calls by the names of the layers."""
    names = [node.own_name for node in graph.nodes]
    return {(names[call.producer], names[call.consumer]) for call in graph.calls}

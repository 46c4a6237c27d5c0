"""What the configurations in a SavedModel say of layers, and what hostile ones cannot do."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.files.keras_files.facts import with_facts
from ckpt_viz.formats.arrays.protos import KerasMetadata
from ckpt_viz.formats.bundles.saved_model import KERAS_METADATA
from ckpt_viz.graphs.nodes.nodes import Child, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from tests.support.counted import steps_of
from tests.test_layer_facts import elements, two_inputs

HTML = "<img src=x onerror=alert(1)>"


def names_of_calls(graph: Graph) -> set[tuple[str | None, str | None]]:
    nodes = graph.nodes
    return {(nodes[c.producer].own_name, nodes[c.consumer].own_name) for c in graph.calls}


def layers(graph: Graph) -> dict[str, Node]:
    return {node.own_name: node for node in graph.nodes if node.own_name is not None}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """Return a model of Keras 2, and where it is saved."""
    model = two_inputs("tf_keras")
    path = str(tmp_path_factory.mktemp("facts") / "model")
    model.save(path, save_format="tf")
    return model, path


@pytest.mark.tf
def test_a_file_says_of_layers_what_the_live_model_does(saved: tuple[Any, str]) -> None:
    live, file = map(cv.graph, saved)
    assert names_of_calls(file) >= {("join", "drop"), ("drop", "topic"), ("last", "join")}
    inputs = {name for name in layers(file) if layers(file)[name].type_name == "InputLayer"}
    assert names_of_calls(file) == {
        call for call in names_of_calls(live) if call[0] in layers(file) or call[0] in inputs
    }
    checked = 0
    for name, node in layers(live).items():
        if name not in layers(file) or node.facts is None:
            continue
        known = layers(file)[name].facts
        assert known is not None and known.stated == node.facts.stated, name
        assert known.gets in (None, node.facts.gets), name
        assert known.gives in (None, node.facts.gives), name
        checked += known.gives is not None
    assert checked >= 8


@pytest.mark.tf
def test_a_file_says_of_trainings_what_the_live_model_does(saved: tuple[Any, str]) -> None:
    live, file = map(cv.graph, saved)
    assert elements(file) == elements(live)
    assert {name for name, node in layers(file).items() if node.is_frozen} == {
        name for name, node in layers(live).items() if node.is_frozen and name in layers(file)
    }


@pytest.mark.tf
def test_a_sequential_model_in_a_file_calls_its_layers_in_a_row(tmp_path: Path) -> None:
    k: Any = importlib.import_module("tf_keras")
    parts = [k.Input((4,)), k.layers.Dense(3, name="a"), k.layers.ReLU(name="b"), k.layers.Dense(2)]
    k.Sequential([*parts[:-1], k.layers.Dense(2, name="c")]).save(tmp_path / "m", save_format="tf")
    graph = cv.graph(tmp_path / "m")
    assert names_of_calls(graph) == {("a", "b"), ("b", "c")}
    given = layers(graph)["a"].facts
    assert given is not None and (given.gets, given.gives) == (((4,),), ((3,),))


# --- configurations without files

Words = dict[str, Any]


def model_of(entries: list[Words], *more: Words) -> tuple[tuple[Node, ...], Mapping[int, Words]]:
    """Return a model and the layers in it as nodes, and what Keras wrote of them."""
    described = [{"config": {"layers": entries}}, *entries, *more]
    configs = [entry.get("config") for entry in (*entries, *more)]
    names = [config.get("name") if isinstance(config, dict) else None for config in configs]
    children = tuple(Child(f"layer-{i}", i + 1) for i in range(len(names)))
    nodes = [Node(role=Role.LAYER, own_name=name) for name in names]
    return (Node(children, role=Role.LAYER), *nodes), dict(enumerate(described))


def layer(name: Any, inbound: Any, **config: Any) -> Words:
    return {"name": name, "config": {"name": name, **config}, "inbound_nodes": inbound}


def calls(entries: list[Words], *more: Words) -> set[tuple[str | None, str | None]]:
    nodes, found = with_facts(*model_of(entries, *more))
    return {(nodes[call.producer].own_name, nodes[call.consumer].own_name) for call in found}


@pytest.mark.tf
@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
def test_calls_in_a_configuration_are_those_of_the_live_model(keras: str) -> None:
    model = importlib.import_module(keras).applications.MobileNetV2((32, 32, 3), weights=None)
    config = json.loads(json.dumps(model.get_config()))
    assert calls(config["layers"]) == names_of_calls(cv.graph(model))
    assert len(config["layers"]) > 100


def test_arguments_by_name_are_calls_too() -> None:
    attention = layer("attention", [["q", 0, 0, {"value": ["v", 0, 0], "key": ["v", 0, 0]}]])
    assert calls([layer("q", []), layer("v", []), attention]) == {
        ("q", "attention"),
        ("v", "attention"),
    }


def test_circles_in_a_configuration_are_calls_and_no_end() -> None:
    entries = [layer("a", [["b", 0, 0]]), layer("b", [["a", 0, 0]]), layer("c", [["c", 0, 0]])]
    assert calls(entries) == {("a", "b"), ("b", "a")}


def test_layers_of_one_name_have_no_calls() -> None:
    entries = [layer("in", []), layer("in", []), layer("a", []), layer("b", [["in", 0, 0]])]
    assert calls([*entries, layer("c", [["a", 0, 0]])]) == {("a", "c")}


def test_shapes_of_results_come_from_the_layer_that_takes_them() -> None:
    entries = [
        layer("a", [["in", 0, 0, {}]]),
        layer("state", [["a", 0, 0, {}]], return_state=True),
        {**layer("twice", [[["state", 0, 0, {}]]]), "build_input_shape": [None, 7]},
        {**layer("b", [["state", 0, 1, {}]]), "build_input_shape": [None, 5]},
    ]
    entries[1]["build_input_shape"] = {"class_name": "TensorShape", "items": [None, None, 3]}
    nodes, _ = with_facts(*model_of([layer("in", []), *entries]))
    facts = {node.own_name: node.facts for node in nodes}
    a, state = facts["a"], facts["state"]
    assert a is not None and a.gives == ((None, 3),)
    assert state is not None and (state.gets, state.gives) == (((None, 3),), None)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"config": None},
        {"config": []},
        {"config": {"layers": {"a": 1}}},
        {"config": {"layers": [None, 1, {}, {"config": 3, "inbound_nodes": 7}, {"name": []}]}},
        {"config": {"layers": [{"name": {}, "inbound_nodes": [[{"a": [[]]}], None]}]}},
        {"build_input_shape": {"class_name": {"a": 1}, "items": {"b": [1 << 80, "x", [[[]]]]}}},
        {"build_input_shape": [[None] * 10_000] * 100},
        {"class_name": "InputLayer", "config": {"batch_input_shape": [True, "a"]}},
        {"config": {"dtype": {"config": {"name": HTML * 100}}, "units": [HTML] * 3}},
        {"config": {"deep": json.loads("[" * 400 + "]" * 400)}},
        {"trainable": "False", "config": {"trainable": [False], "output_layers": "x"}},
    ],
    ids=str,
)
def test_hostile_words_give_short_facts_or_none(words: Words) -> None:
    nodes, found = with_facts(*model_of([], words))
    assert found == ()
    for node in nodes:
        stated = () if node.facts is None else node.facts.stated
        assert all(len(fact.name) <= 60 and len(fact.value) <= 60 for fact in stated)
        assert node.facts is None or len(node.facts.gets or ()) <= 64
        assert not node.is_frozen


@pytest.mark.tf
@pytest.mark.parametrize(
    "change",
    [
        lambda words: {**words, "config": {**words["config"], "units": HTML * 40_000}},
        lambda words: {**words, "config": {**words["config"], HTML: 1}},
        lambda words: {**words, "config": {str(i): i for i in range(100_000)}},
        lambda words: {**words, "inbound_nodes": [[words["config"]] * 1000] * 2},
    ],
    ids=["a megabyte", "html", "many", "deep"],
)
def test_a_hostile_configuration_in_a_file_is_read_at_once(
    saved: tuple[Any, str], tmp_path: Path, change: Callable[[Words], Words]
) -> None:
    import shutil

    path = tmp_path / "model"
    shutil.copytree(saved[1], path)
    metadata: Any = KerasMetadata.FromString((path / KERAS_METADATA).read_bytes())
    for node in metadata.nodes:
        words = json.loads(node.metadata)
        if words.get("class_name") == "Dense":
            node.metadata = json.dumps(change(words))
    (path / KERAS_METADATA).write_bytes(metadata.SerializeToString())
    # The work grows with the bytes that it adds.
    sound = steps_of(lambda: cv.graph(saved[1]))
    added = (path / KERAS_METADATA).stat().st_size
    assert steps_of(lambda: cv.graph(path)) < 2 * sound + 3 * added
    graph = cv.graph(path)
    stated = [fact for node in graph.nodes if node.facts for fact in node.facts.stated]
    assert stated and all(len(fact.name) <= 60 and len(fact.value) <= 60 for fact in stated)
    assert len(graph.nodes) > 10 and graph.calls

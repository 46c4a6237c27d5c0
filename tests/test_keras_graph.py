"""The graph of a model as Keras saves it is the file that `save_weights` writes."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import VALUE_ROLES, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.keras.keras_graph import read_as_keras_saves
from tests.support import keras_models
from tests.support.keras_files import dtype_of, read_file, saved_in_order

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _paths(graph: Graph) -> dict[int, str]:
    """Return the path of each node that is no value, by its children's names."""
    paths = {0: ""}
    for node_id, node in enumerate(graph.nodes):
        for name, child in node.children:
            paths[child] = f"{paths[node_id]}/{name}".removeprefix("/")
    return {i: path for i, path in paths.items() if graph.nodes[i].role not in VALUE_ROLES}


def _has_a_node(group: str, groups: Iterable[str]) -> bool:
    is_of_variables = group.rpartition("/")[2] == "vars"
    return not is_of_variables or any(
        other.startswith(f"{group}/") and other != f"{group}/vars" for other in groups
    )


@pytest.mark.parametrize(("library", "name"), keras_models.in_turns(keras_models.models()))
def test_the_graph_is_the_file_that_keras_writes(library: str, name: str, tmp_path: Path) -> None:
    model = keras_models.made(library, name)
    graph = read_as_keras_saves(model)
    path = tmp_path / "x.weights.h5"
    order = saved_in_order(model, path)
    values, groups = read_file(path)
    attributes = {a.checkpoint_key: a for node in graph.nodes for a in node.attributes}
    assert sorted(attributes) == sorted(values)
    for key, value in values.items():
        attribute = attributes[key]
        assert (attribute.dtype, attribute.shape) == (dtype_of(value), value.shape), key
        assert np.array_equal(graph.read(key), value), key
    paths = _paths(graph)
    assert set(paths.values()) == {group for group in groups if _has_a_node(group, groups)}
    _assert_names_and_order(graph, paths, groups, order)
    _assert_expressions_lead_to_the_objects(graph, model)


def _assert_names_and_order(
    graph: Graph, paths: dict[int, str], groups: dict[str, dict[str, Any]], order: list[str]
) -> None:
    for node_id, group in paths.items():
        node = graph.nodes[node_id]
        below = [paths[child.node_id] for child in node.children if child.node_id in paths]
        assert below == sorted(below, key=lambda below: _first(below, order))
        is_value = [child.node_id not in paths for child in node.children]
        assert is_value == sorted(is_value, reverse=True)
        name = groups.get(f"{group}/vars".removeprefix("/"), {}).get("name")
        if name is not None and node.role is Role.LAYER:
            assert node.own_name == name


def _first(group: str, order: list[str]) -> int:
    """Return when a group or the first group below it was made."""
    return next(i for i, path in enumerate(order) if f"{path}/".startswith(f"{group}/"))


def _assert_expressions_lead_to_the_objects(graph: Graph, model: Any) -> None:
    for node_id, node in enumerate(graph.nodes):
        target = graph.object(node_id)
        if target is not None and node.role is not Role.CONTAINER:
            assert eval(graph.accessor(node_id, "model"), {"model": model}) is target


def test_reading_leaves_no_trace_in_names_and_values() -> None:
    """Keras itself counts its names on when it saves."""
    model = keras_models.made("keras", "trained_adam")
    before = [variable.numpy() for variable in model.variables]
    names = _new_names()
    read_as_keras_saves(model)
    assert _new_names() == [f"{name}_1" for name in names] == ["layer_1", "mean_1"]
    assert all(map(np.array_equal, before, [variable.numpy() for variable in model.variables]))


def _new_names() -> list[str]:
    keras = __import__("keras")
    return [keras.layers.Layer().name, keras.src.utils.naming.auto_name("mean")]


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_optimizer_state_is_slots_of_the_variables(library: str) -> None:
    graph = read_as_keras_saves(keras_models.made(library, "trained_adam"))
    names = {"momentum", "velocity"} if library == "keras" else {"m", "v"}
    slots: dict[int, set[str]] = {}
    for node in graph.nodes:
        if node.slot is not None:
            slots.setdefault(node.slot.variable, set()).add(node.slot.name)
            assert node.attributes[0].shape == graph.nodes[node.slot.variable].attributes[0].shape
    assert list(slots.values()) == [names] * 4


def test_frozen_layers_and_facts_are_those_of_other_live_graphs() -> None:
    graph = read_as_keras_saves(keras_models.made("keras", "frozen_layer"))
    dense = graph.node_id("layers/dense")
    assert graph.nodes[dense].is_frozen
    facts = graph.nodes[dense].facts
    assert facts is not None and ("units", "3") in facts.stated
    assert graph.nodes[graph.node_id("layers/dense/kernel")].trainable is False


@pytest.mark.parametrize("library", ("keras", "tf_keras"))
def test_a_layer_has_the_name_of_the_attribute_that_holds_it(library: str) -> None:
    """Keras writes `layers/dense` for it, and names it with a number that depends on the past."""
    keras = pytest.importorskip(library)

    class Net(keras.Model):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.out = keras.layers.Dense(2), keras.layers.Dense(2)
            self.told = keras.layers.Dense(2, name="given")

        def call(self, x: Any) -> Any:
            return self.told(self.out(self.body(x)))

    model = Net()
    model(np.zeros((1, 2)))
    graph = read_as_keras_saves(model)
    layers = (i for i, node in enumerate(graph.nodes) if i and node.role is Role.LAYER)
    given = "given" if library == "keras" else "told"  # Keras 2 writes the attribute
    assert {graph.names.place(i) for i in layers} == {"body", "out", given}


def test_the_graph_is_an_object_graph_like_others() -> None:
    model = keras_models.made("keras", "one_dense")
    graph = cv.graph(model, as_saved_by="keras")
    assert "kernel" in str(graph) and graph.source is model
    assert graph.find("kernel") == (graph.node_id("layers/dense/kernel"),)
    assert np.array_equal(graph.read("layers.dense.kernel"), model.layers[0].kernel.numpy())
    with pytest.raises(SourceError, match="expected 'keras'"):
        cv.graph(model, as_saved_by="tensorflow")


def test_own_code_that_fails_is_an_error_of_its_node() -> None:
    keras = keras_models.library("keras")

    class Broken(keras.layers.Dense):  # type: ignore[misc, name-defined]
        def save_own_variables(self, store: Any) -> None:
            store["0"] = self.kernel
            raise OSError("no space")

    model = keras_models.sequential(keras, Broken(3), keras.layers.Dense(2))
    graph = read_as_keras_saves(model)
    assert graph.nodes[graph.node_id("layers/broken")].error == "OSError: no space"
    assert graph.node_id("layers/dense/kernel")


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_what_keras_does_not_save_is_refused(library: str) -> None:
    keras = keras_models.library(library)
    with pytest.raises(SourceError, match="expected a Keras model"):
        read_as_keras_saves(keras.layers.Dense(2))
    if library == "keras":
        with pytest.raises(SourceError, match="is not built"):
            read_as_keras_saves(keras.Sequential([keras.layers.Dense(2)]))


def test_a_graph_keeps_no_layer_alive() -> None:
    keras = keras_models.library("keras")
    model = keras.Model()
    model.blocks = [keras.layers.Dense(3)]
    model.built = True
    graph = read_as_keras_saves(model)
    layer = weakref.ref(model.blocks[0])
    node_id = graph.node_id("blocks/dense")
    assert graph.object(node_id) is layer()
    model._tracker.unlock()
    model.blocks.clear()
    gc.collect()
    assert layer() is graph.object(node_id) is None

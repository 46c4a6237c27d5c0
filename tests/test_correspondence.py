"""What belongs together in a saved and a live graph: laws on random programs and known edits."""

from __future__ import annotations

import copy
from dataclasses import replace
from random import Random

import pytest

import ckpt_viz as cv
from ckpt_viz.correspondence.correspond import correspond
from ckpt_viz.mapping.pairs import Certainty
from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.nodes import Attribute, Child, Node, Role
from tests.support.amounts import amount
from tests.support.edited_models import FAMILIES, Layer, Program, make
from tests.support.programs import keras_3
from tests.support.refactorings import REFACTORINGS, Maker, Refactoring, graph_of

PROGRAMS = amount(40, 1000)


def graph_with(origin: Origin, **layers: str) -> Graph:
    """Return the graph of a program: each attribute is a layer with a kernel of one shape."""
    nodes = [Node(children=tuple(Child(name, 2 * i + 1) for i, name in enumerate(layers)))]
    for attribute, layer in layers.items():
        key = f"{attribute}/kernel/.ATTRIBUTES/VARIABLE_VALUE"
        value = Attribute("VARIABLE_VALUE", f"{layer}/kernel", key, "float32", (3, 3))
        nodes.append(Node(children=(Child("kernel", len(nodes) + 1),)))
        nodes.append(Node(attributes=(value,), role=Role.VARIABLE))
    return Graph(tuple(nodes), origin.value, origin)


def paired_layers(saved: Graph, live: Graph) -> dict[str, tuple[str, Certainty]]:
    """Return the live layer of each saved layer, by the attributes of the roots."""
    by_node = correspond(saved, live).by_node
    names = {child.node_id + 1: child.local_name for child in live.nodes[0].children}
    return {
        child.local_name: (names[pair.obj], pair.certainty)
        for child in saved.nodes[0].children
        if (pair := by_node.get(child.node_id + 1)) is not None
    }


@pytest.mark.parametrize("refactoring", REFACTORINGS, ids=lambda one: one.__name__)
def test_each_node_has_one_counterpart(refactoring: Refactoring, seed: int) -> None:
    for number in range(PROGRAMS):
        maker = Maker(Random(seed + number))
        was = maker.model()
        now = copy.deepcopy(was)
        refactoring(maker, now)
        saved, live = graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]
        result = correspond(saved, live)
        objects = [pair.obj for pair in result.by_node.values()]
        assert len(objects) == len(set(objects)), (seed + number, refactoring)
        assert sorted([*result.by_node, *result.left_saved]) == [*range(len(saved.nodes))]
        assert sorted([*objects, *result.left_live]) == [*range(len(live.nodes))]


def test_an_unchanged_program_keeps_the_places_of_a_plain_restore(seed: int) -> None:
    """The classes of live objects make both graphs unequal: the search runs."""
    for number in range(PROGRAMS):
        saved, _ = graph_of(Maker(Random(seed + number)).model(), Origin.SAVED)
        live = replace(saved, nodes=tuple(n._replace(type_name="Layer") for n in saved.nodes))
        pairs = correspond(saved, live).by_node
        assert {node: pair.obj for node, pair in pairs.items()} == {n: n for n in pairs}
        assert pairs.keys() == {*range(len(saved.nodes))}, seed + number
        assert Certainty.GUESS not in {pair.certainty for pair in pairs.values()}


@pytest.mark.parametrize("refactoring", REFACTORINGS, ids=lambda one: one.__name__)
def test_a_pair_of_other_values_is_at_most_likely(refactoring: Refactoring, seed: int) -> None:
    for number in range(PROGRAMS):
        maker = Maker(Random(seed + number))
        was = maker.model()
        now = copy.deepcopy(was)
        refactoring(maker, now)
        (saved, values), (live, others) = graph_of(was, Origin.SAVED), graph_of(now, Origin.LIVE)
        pairs = correspond(saved, live).by_node
        wrong = [
            pairs[node]
            for node, value in values.items()
            if node in pairs and others.get(pairs[node].obj) != value and value in others.values()
        ]
        assert all(pair.certainty is not Certainty.CERTAIN for pair in wrong), seed + number


def test_a_removed_layer_and_an_added_layer_are_not_exchanged() -> None:
    saved = graph_with(Origin.SAVED, stem="stem", body="body", tail="tail")
    live = graph_with(Origin.LIVE, stem="stem", tail="tail", head="head")
    layers = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in layers.items() if name != "body"} == {
        "stem": "stem",
        "tail": "tail",
    }
    assert layers.get("body", ("", Certainty.GUESS))[1] is Certainty.GUESS


def test_the_name_of_a_layer_wins_over_its_attribute() -> None:
    saved = graph_with(Origin.SAVED, a="cats", b="dogs")
    live = graph_with(Origin.LIVE, a="dogs", b="cats")
    pairs = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in pairs.items()} == {"a": "b", "b": "a"}


def test_keys_of_a_dict_are_names() -> None:
    saved = graph_with(Origin.SAVED, **{"3": "dense", "4": "dense_1", "5": "dense_2"})
    live = graph_with(Origin.LIVE, **{"4": "dense", "3": "dense_1", "5": "dense_2"})
    pairs = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in pairs.items()} == {"3": "3", "4": "4", "5": "5"}


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("optimizer", ["adam", "momentum"])
def test_variables_that_only_an_optimizer_tracks_are_paired(optimizer: str) -> None:
    """Keras 3 tracks no list of layers of a subclassed model; the optimizer lists the variables."""
    keras_3()
    layers = tuple(Layer(name, "dense", f"{name}_net") for name in ("stem", "body", "tail"))
    program = Program("subclassed_with_a_list", layers, optimizer)
    was = make(FAMILIES["keras 3"], program)
    now = make(FAMILIES["keras 3"], replace(program, layers=(*layers[1:], layers[0])))
    saved, live = cv.graph(was.checkpoint), cv.graph(now.checkpoint)
    pairs = correspond(saved, live).by_node
    places = {id(live.object(pair.obj)): saved.object(node) for node, pair in pairs.items()}
    for key, variable in now.variables.items():
        assert places[id(variable)] is was.variables[key], key

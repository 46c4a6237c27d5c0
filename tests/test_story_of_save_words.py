"""What the story of a save says: its sentences, its places in TensorFlow, and its limits."""

from __future__ import annotations

import importlib.util
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, NotSaved, ObjectGraph, Origin, Role
from ckpt_viz.ground.text import printable, readable
from ckpt_viz.matching.story import manager, save, saver
from ckpt_viz.matching.story.manager import ManagedCheckpoint, ManagerState, story_of_manager
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save import SaveStory
from ckpt_viz.matching.story.save_order import SaveCall
from ckpt_viz.matching.story.step import Story
from tests.support.counted import DOUBLED, steps_of
from tests.support.graphs import keras3_adam, transformer
from tests.support.payload_fixtures import graphs
from tests.support.plain_english import BANNED_IN_MESSAGES, faults_in, obscure_phrases_in

DATA = Path(__file__).parent / "data"
FILES = [
    *sorted(str(path.relative_to(DATA)) for path in DATA.rglob("*.index")),
    *("seeds/saved_model", "seeds/name_based_v1"),
]
ALL_PLACES = sorted(
    {
        *(place for module in (save, saver, manager) for place in module.PLACES.values()),
        *(value for value in vars(save).values() if isinstance(value, TensorFlowPlace)),
    },
    key=lambda place: (place.module, place.function, place.mark),
)


def _names(graph: ObjectGraph) -> Iterator[str]:
    """Yield the names and keys in a graph, which count as one word each."""
    for node_id, node in enumerate(graph.nodes):
        yield graph.names.place_or_state(node_id)
        yield graph.name(node_id).removeprefix("(root).")
        yield from (repr(readable(child.local_name)) for child in node.children)
        yield from (attribute.checkpoint_key for attribute in node.attributes)
        yield from (f"{readable(note.name)!r} ({note.type_name})" for note in node.not_saved)
        yield repr(node.registered_saver)


def _assert_plain(story: Story, names: list[str]) -> None:
    """Assert that all sentences are short and clear, and that no name moves the cursor."""
    quoted = [name for name in dict.fromkeys(names) if len(name.split()) > 1 or ". " in name]
    for step in story:
        for text in (step.text, step.reason):
            assert not list(faults_in(text, quoted)), step
            assert not list(obscure_phrases_in(text, BANNED_IN_MESSAGES)), step
        assert step.text.endswith(".")
    text = str(story)
    assert all(printable(line) == line for line in text.split("\n"))
    assert not list(faults_in(story.end))
    json.dumps(story.to_json())


@pytest.mark.parametrize("name", graphs())
def test_story_of_each_picture(name: str) -> None:
    graph = graphs()[name]
    _assert_plain(graph.steps, list(_names(graph)))


def _prefix(file: str) -> Path:
    path = DATA / file.removesuffix(".index")
    return next(path.glob("*")) if file.endswith("_v1") else path


@pytest.mark.parametrize("file", FILES)
def test_story_of_each_file(file: str) -> None:
    graph = cv.graph(_prefix(file))
    _assert_plain(graph.steps, list(_names(graph)))
    is_by_name = graph.is_name_based
    assert graph.steps.title.startswith("tf.compat.v1.train.Saver" if is_by_name else "tf.")


def test_story_of_a_saved_model_ends_with_its_graph_of_functions() -> None:
    story = cv.graph(DATA / "seeds" / "saved_model").steps
    assert story.title.startswith("tf.saved_model.save of ")
    assert [step.action for step in story][-2:] == ["merge", "export"]
    assert "count" not in [step.action for step in story]


@pytest.mark.parametrize("place", ALL_PLACES, ids=str)
def test_place_is_in_the_installed_tensorflow(place: TensorFlowPlace) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    assert place.file is not None and place.line is not None and place.source is not None
    line = Path(place.file).read_text().splitlines()[place.line - 1]
    first = place.source.splitlines()[0]
    assert place.mark in line and (not place.mark or line != first)


def test_the_first_way_from_the_root_gives_the_key() -> None:
    edges = {0: {"list": 1, "model": 2}, 1: {"0": 3}, 2: {"dense": 4}, 3: {}, 4: {"kernel": 3}}
    nodes = [Node(children=tuple(Child(*edge) for edge in of.items())) for of in edges.values()]
    nodes[1] = nodes[1]._replace(role=Role.OPTIMIZER)
    nodes[3] = Node(attributes=(_value("list/0"),), role=Role.VARIABLE)
    story = ObjectGraph(tuple(nodes), "x", Origin.SAVED).steps
    (key,) = (step for step in story if step.action == "key")
    shown = "list/0/.ATTRIBUTES/VARIABLE_VALUE"
    assert key.text == f"The value of model.dense.kernel gets the key {shown}."
    assert key.reason == (
        "The first way from the root gives the key: list.0 came before model.dense.kernel."
    )
    first, again = (step for step in story if step.saved == 3 and step.action != "key")
    assert (first.holder, first.local_name, again.holder) == (1, "0", 4)
    assert first.reason.startswith("A breadth-first walk comes to list.0 before")


def test_the_phases_come_in_the_order_of_tensorflow() -> None:
    order = ("find", "meet", "name", "number", "edges", "key", "mark", "graph", "write", "merge")
    assert tuple(dict.fromkeys(step.action for step in keras3_adam().steps)) == order


def test_alike_blocks_are_one_run() -> None:
    few, many = (str(transformer(blocks).steps) for blocks in (24, 48))
    assert len(few.splitlines()) == len(many.splitlines())
    assert "the same 23 times more, 46 steps" in few


def test_what_is_left_out_is_a_step_of_its_holder() -> None:
    notes = (NotSaved("blocks", "list", 3), NotSaved("seeds", "set", 1, is_lost=False))
    holder = Node(not_saved=notes)
    live = ObjectGraph((Node(children=(Child("net", 1),)), holder), "x", Origin.LIVE)
    left = [step for step in live.steps if step.action == "leave"]
    assert [(step.live, step.local_name, step.is_problem) for step in left] == [
        (1, "blocks", True),
        (1, "seeds", False),
    ]
    assert "'blocks' (list) of net" in left[0].text and "3 objects" in left[0].text
    assert live.steps.end.endswith("It lacks the trained values of 1 attribute.")


def test_a_way_to_an_object_that_raises_is_the_end() -> None:
    root = Node(children=(Child("a", 1), Child("b", 2)))
    nodes = (root, Node(error="ValueError: no"), Node())
    story = ObjectGraph(nodes, "x", Origin.LIVE).steps
    assert [step.action for step in story] == ["find", "find", "find", "fail"]
    assert story[-1].is_problem and story[-1].reason == "ValueError: no"
    assert story.end == "The error ends the save: there is no checkpoint."
    saved = ObjectGraph(nodes, "x", Origin.SAVED).steps
    assert "fail" not in [step.action for step in saved]


def test_a_file_whose_objects_are_out_of_reach_says_so() -> None:
    lost = ObjectGraph((Node(), Node(children=(Child("itself", 1),))), "x", Origin.SAVED)
    assert lost.steps.end.endswith("No walk from the root reaches 1 object of this file.")


def _value(key: str) -> Attribute:
    return Attribute("VARIABLE_VALUE", "", f"{key}/.ATTRIBUTES/VARIABLE_VALUE", "float32", (), 4)


def _wide(blocks: int) -> ObjectGraph:
    names = ("kernel", "bias", "gamma", "beta")
    root = Node(children=tuple(Child(f"block_{i}", 1 + i) for i in range(blocks)))
    holders = [
        Node(children=tuple(Child(name, 1 + blocks + 4 * i + n) for n, name in enumerate(names)))
        for i in range(blocks)
    ]
    leaves = [
        Node(attributes=(_value(f"block_{i}/{name}"),), role=Role.VARIABLE)
        for i in range(blocks)
        for name in names
    ]
    return ObjectGraph((root, *holders, *leaves), "wide", Origin.SAVED)


@pytest.mark.slow
def test_the_story_of_many_objects_begins_at_once() -> None:
    small, large = (
        steps_of(lambda: SaveStory(wide, SaveCall.WRITE)[0])  # noqa: B023
        for wide in (_wide(1_000), _wide(2_000))
    )
    assert large < DOUBLED * small
    wide = _wide(10_000)
    assert SaveStory(wide, SaveCall.WRITE)[0].action == "find"
    assert len(wide.nodes) > 50_000
    assert "the same 9,999 times more, 39,996 steps" in str(wide.steps)


@pytest.mark.slow
def test_the_story_of_a_deep_chain_and_of_a_cycle_ends() -> None:
    size = 100_000
    nodes = [Node(children=(Child("next", i + 1), Child("top", 0))) for i in range(size)]
    deep = ObjectGraph((*nodes, Node(attributes=(_value("deep"),))), "deep", Origin.SAVED)
    assert len(deep.steps) == 1 + 2 * size + 3 + 1 + 4
    assert "leads to the root, too" in str(deep.steps)


def test_a_story_as_data_keeps_the_id_of_the_root() -> None:
    first, second = keras3_adam().steps.to_json()[:2]
    assert (first["saved"], second["holder"], "live" in first) == (0, 0, False)


def test_graphs_with_stories_are_pickled() -> None:
    adam = keras3_adam()
    assert len(adam.steps) == len(pickle.loads(pickle.dumps(adam)).steps)


TWO = (ManagedCheckpoint("d/ckpt-1", 1.0), ManagedCheckpoint("d/ckpt-2", 2.0))
OLD = (ManagedCheckpoint("/d/a b-1", 1e5),)
MANAGERS = [
    ManagerState("d", "d/ckpt", 3, TWO, 0.0, 1),
    ManagerState("/d", "/d/a b", None, OLD, 0.0, 1, 2.0, has_init_fn=True),
    ManagerState("d", "d/ckpt", 1, (), 0.0),
    ManagerState("d", "d/ckpt", 2, (), 0.0, None, None, 10, 20, 20),
    ManagerState("d", "d/ckpt", 2, (), 0.0, None, None, 10, 20, 25),
    ManagerState("d", "d/ckpt", 2, (), 0.0, None, None, 10, 20, 30),
    ManagerState("d", "d/ckpt", 2, (), 0.0, None, None, 10, None, 30),
]


@pytest.mark.parametrize("number", range(len(MANAGERS)))
def test_sentences_about_managers_are_plain(number: int) -> None:
    adam, state = keras3_adam(), MANAGERS[number]
    _assert_plain(story_of_manager(adam, state), [*_names(adam), "a b-1", "a b-N"])

import json
import re
from dataclasses import replace
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz import (
    Attribute,
    Child,
    Format,
    Kept,
    Node,
    NotSaved,
    ObjectGraph,
    Origin,
    Provenance,
    Role,
    Slice,
    Slot,
    SlotRule,
    SlotVariable,
)
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.nodes.nodes import Fact, LayerFacts
from tests.support.graphs import graph, keras3_adam, named
from tests.support.payload_fixtures import graphs
from tests.support.saved_graphs import write_graph

DOCS = Path(__file__).parents[1] / "docs" / "graph_json.md"

# A node with everything that a node can have.
FULL = Node(
    children=(Child("a", 1), Child("b", 1), Child("self", 0)),
    attributes=(
        Attribute("VARIABLE_VALUE", "v", "v/.ATTRIBUTES/VARIABLE_VALUE", "float32", (2, 3), 24),
        Attribute("sliced", "", "s", "int8", (), 1, (Slice((0,), (1,), "s/part_0"),), "a gap"),
        Attribute("unknown", "", "u"),
    ),
    slot_variables=(SlotVariable("m", 0, 1),),
    registered_saver="MySaver",
    role=Role.OPTIMIZER,
    slot=Slot("m", 0, None, SlotRule.SCOPE),
    type_name="Adam",
    config='{"rate": 1}',
    trainable=False,
    collections=("variables", "moving"),
    not_saved=(NotSaved("layers", "dict", 3), NotSaved("seed", "SeedGenerator", 1, False)),
    error="could not be walked",
    own_name="adam",
    held_as="optimizer",
    is_frozen=True,
    facts=LayerFacts((Fact("rate", "1"),), ((3, None),), ((),)),
    waits=False,
)
KEPT = (
    Kept("d/ckpt-1", datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc), False),
    Kept("d/ckpt-2", None, True),
)
FULL_GRAPH = ObjectGraph(
    (FULL, Node()),
    "full",
    Origin.SAVED,
    Provenance("d", "d/ckpt-2", Format.OBJECT_BASED, "d is a directory", KEPT),
)


def _read(found: dict[str, Any]) -> ObjectGraph:
    """Return the graph that JSON tells of, by what docs/graph_json.md says and nothing else."""
    nodes = tuple(_node(node) for node in found["nodes"])
    provenance = found["provenance"]
    return ObjectGraph(
        nodes,
        found["title"],
        Origin(found["origin"]),
        None if provenance is None else _provenance(provenance),
        tuple(Call(**call) for call in found["calls"]),
    )


def _node(found: dict[str, Any]) -> Node:
    slot = found.get("slot")
    return Node(
        tuple(Child(c["local_name"], c["node_id"]) for c in found.get("children", ())),
        tuple(map(_attribute, found.get("attributes", ()))),
        tuple(SlotVariable(**one) for one in found.get("slot_variables", ())),
        found.get("registered_saver"),
        Role(found["role"]),
        None if slot is None else Slot(**{**slot, "rule": SlotRule(slot["rule"])}),
        found.get("type_name"),
        found.get("config"),
        found.get("trainable"),
        tuple(found.get("collections", ())),
        tuple(NotSaved(**one) for one in found.get("not_saved", ())),
        found.get("error"),
        found.get("own_name"),
        found.get("is_frozen", False),
        _facts(found),
        found.get("held_as"),
        found.get("waits"),
    )


def _facts(found: dict[str, Any]) -> LayerFacts | None:
    if not {"facts", "gets", "gives"} & found.keys():
        return None
    return LayerFacts(
        tuple(Fact(**fact) for fact in found.get("facts", ())),
        _shapes(found.get("gets")),
        _shapes(found.get("gives")),
    )


def _shapes(found: list[list[int | None]] | None) -> tuple[tuple[int | None, ...], ...] | None:
    return None if found is None else tuple(map(tuple, found))


def _attribute(found: dict[str, Any]) -> Attribute:
    shape = found["shape"]
    slices = tuple(
        Slice(tuple(one["start"]), tuple(one["shape"]), one["variable"])
        for one in found.get("slices", ())
    )
    known = {"shape": None if shape is None else tuple(shape), "slices": slices}
    return Attribute(**{**found, **known})


def _provenance(found: dict[str, Any]) -> Provenance:
    kept = tuple(
        Kept(
            one["prefix"],
            None if one["saved_at"] is None else datetime.fromisoformat(one["saved_at"]),
            one["exists"],
        )
        for one in found["kept"]
    )
    return Provenance(**{**found, "format": Format(found["format"]), "kept": kept})


@pytest.mark.parametrize("name", ["full", *graphs()])
def test_json_has_everything_that_the_graph_has(name: str) -> None:
    whole = {"full": FULL_GRAPH, **graphs()}[name]
    read = _read(json.loads(json.dumps(whole.to_json())))
    assert read == whole
    assert read.provenance == whole.provenance


def test_the_full_node_has_every_field() -> None:
    empty = Node()._asdict()
    assert [name for name, value in FULL._asdict().items() if value == empty[name]] == []


@pytest.mark.parametrize("name", graphs())
def test_parents_and_labels_make_the_paths_of_the_outline(name: str) -> None:
    whole = graphs()[name]
    nodes = whole.to_json()["nodes"]
    for node in nodes:
        path, at = [], node
        while at["parent"] is not None:
            path.append(at["label"])
            at = nodes[at["parent"]]
        assert tuple(reversed(path)) == whole.path(node["id"])
        assert node["name"] == whole.name(node["id"])


def test_json_is_plain_data() -> None:
    found = FULL_GRAPH.to_json()
    assert found["version"] == 1
    assert found == json.loads(json.dumps(found))
    assert not any(isinstance(value, Enum) for value in _values(found))


def test_what_is_not_there_has_no_key() -> None:
    root = graph({0: {}}).to_json()["nodes"][0]
    assert root == {"id": 0, "name": "(root)", "parent": None, "label": "", "role": "object"}


def test_names_are_what_they_are() -> None:
    hostile = named(keras3_adam(), "\u202e</script>\x00\ud800")
    found = json.loads(json.dumps(hostile.to_json()))
    assert found["nodes"][0]["children"][0]["local_name"] == "\u202e</script>\x00\ud8000"


def test_size_grows_with_the_graph_however_deep_it_is() -> None:
    def size(depth: int) -> int:
        chain = graph({i: {"a_local_name": i + 1} for i in range(depth)})
        return len(json.dumps(chain.to_json()))

    assert size(20_000) < 11 * size(2_000)


def test_what_a_file_has_is_what_its_graph_has(tmp_path: Path) -> None:
    read = cv.graph(write_graph(tmp_path / "ckpt-1", keras3_adam()))
    assert _read(read.to_json()).nodes == read.nodes


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", DOCS.read_text()))
    assert set(_keys(FULL_GRAPH.to_json())) - documented == set()


def test_the_example_of_the_docs_is_what_comes_out() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    documented = graph({0: {"model": 1}, 1: {"kernel": 2}}, (2,), title="ckpts/ckpt-3")
    assert json.loads(example) == documented.to_json()


def _keys(found: Any) -> list[str]:
    inner = [key for value in _inside(found) for key in _keys(value)]
    return [*found, *inner] if isinstance(found, dict) else inner


def _values(found: Any) -> list[Any]:
    return [found, *(value for inner in _inside(found) for value in _values(inner))]


def _inside(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return list(found.values())
    return found if isinstance(found, list) else []


def test_example_graph_keeps_its_provenance_apart() -> None:
    assert replace(FULL_GRAPH, provenance=None).to_json()["provenance"] is None

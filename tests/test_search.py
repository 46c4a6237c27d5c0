"""Search: the table of queries for both languages, and Python's own parts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.errors import QueryError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.search.evaluate import find
from ckpt_viz.graphs.search.glob import Glob
from ckpt_viz.graphs.search.pasted import named
from tests.support import payload_fixtures
from tests.support.graphs import graph, keras3_adam

# Also read by labextension/src/search/search.test.ts.
TABLE = json.loads((Path(__file__).parent / "data" / "search.json").read_text("utf-8"))


@cache
def _fixtures() -> dict[str, tuple[Graph, Overlay | None]]:
    alone = {name: (graph, None) for name, graph in payload_fixtures.graphs().items()}
    return alone | {name: (o.graph, o) for name, o in payload_fixtures.overlays().items()}


def _answer(case: dict[str, Any]) -> dict[str, Any]:
    shown, overlay = _fixtures()[case["graph"]]
    measured = payload_fixtures.measures().get(case["graph"])
    measure = None if measured is None else lambda: measured
    try:
        return {"ids": list(find(shown, case["query"], overlay, measure))}
    except QueryError as error:
        return {"mistake": {"place": error.place, "expected": error.expected}}


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=f"{i}: {c['query'][:40]!r}") for i, c in enumerate(TABLE)]
)
def test_query_finds_what_the_table_says(case: dict[str, Any]) -> None:
    assert _answer(case) == {key: case[key] for key in case if key in ("ids", "mistake")}


def test_explorer_finds_ids_and_says_where_a_query_is_none() -> None:
    explorer = cv.show(keras3_adam())
    assert explorer.find("layer role:variable") == (7, 8)
    assert explorer.find("") == ()
    with pytest.raises(cv.CkptVizError) as raised:
        explorer.find("kernel role:foo")
    assert isinstance(raised.value, QueryError)
    assert raised.value.place == 12
    assert str(raised.value) == (
        "query 'kernel role:foo', at character 13: expected one of object, layer, container, "
        "variable, slot, optimizer, value, bookkeeping, or the beginning of one"
    )


def test_search_of_a_comparison_knows_its_states() -> None:
    old, new = graph({0: {"a": 1, "b": 2}}, (1, 2)), graph({0: {"a": 1, "c": 2}}, (1, 2))
    explorer = cv.show(old, against=new)
    named = {explorer.graph.name(i) for i in explorer.find("is:unmatched|moved")}
    assert named == {"(root).c"}
    assert explorer.find("is:moved b") == explorer.find("c")


@pytest.mark.slow
def test_a_chain_of_100_000_nodes_takes_no_recursion_and_no_paths() -> None:
    chain = graph({i: {f"edge {i + 1}": i + 1} for i in range(100_000)})
    assert find(chain, r"path:**/edge*9999/** /edge \d+$/ -x") == tuple(range(10_000, 100_001))
    assert find(chain, '"edge 50000/edge" "edge 4/"') == (50_001,)
    assert find(chain, "name:(root).**.edge*100000") == (100_000,)
    assert find(chain, "(root).edge 1.edge 2") == (2,)


@pytest.mark.parametrize("glob", ["*a" * 400 + "*b", "**a" * 300 + "b", "**/" * 300 + "b"])
def test_no_glob_makes_a_search_slow(glob: str) -> None:
    names = {"a" * 20_000: 1} | {f"{'a' * 999}{sign}": i + 2 for i, sign in enumerate("abc")}
    fitting = () if glob.endswith("/b") else (3,)
    for field in ("name", "path"):
        assert find(graph({0: names}), f"{field}:{glob}") == fitting


def test_globs_agree_with_their_definition(seed: int) -> None:
    random = Random(seed)
    for _ in range(2_000):
        pattern = "".join(random.choices("ab/*", (2, 1, 2, 3), k=random.randrange(1, 8)))
        text = "".join(random.choices("ab/", k=random.randrange(8)))
        assert Glob(pattern, "/").fits(text) is _fits(pattern, text), (seed, pattern, text)


def _fits(glob: str, text: str) -> bool:
    """Return what docs/search.md says of a glob, the slow way."""
    if glob == "":
        return text == ""
    rests = [text[i:] for i in range(len(text) + 1)]
    if glob.startswith("**/") and not glob.startswith("***"):
        after_slash = [rest[1:] for rest in rests if rest.startswith("/")]
        return any(_fits(glob[3:], rest) for rest in (text, *after_slash))
    stars = len(glob) - len(glob.lstrip("*"))
    if stars > 1:
        return any(_fits(glob[stars:], rest) for rest in rests)
    if stars == 1:
        return any(_fits(glob[1:], r) for r in rests if "/" not in text[: len(text) - len(r)])
    return text.startswith(glob[0]) and _fits(glob[1:], text[1:])


def test_a_regular_expression_is_sought_in_1_000_characters() -> None:
    shown = graph({0: {"x" * 990 + "start": 1}, 1: {"y" * 20: 2, "y" * 996: 3, "y" * 2_000: 4}})
    assert find(shown, "/start/") == (1,)
    assert find(shown, "/start.y+$/") == (2,)  # the path of the others is cut behind it
    assert find(shown, "/^x+start.y/") == ()  # nor does a path begin where it is cut
    assert find(shown, "/^y/") == (2, 3, 4)  # a local name begins here
    assert find(shown, "/start.y{994}/") == ()
    assert find(shown, "/y{1000}/") == (4,)
    assert find(shown, "/y{1001}/") == ()
    assert find(shown, f"path:**start/{'y' * 900}*") == (3, 4)  # globs see it all


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("shape (3, 2) and shape=(7,)", {(3, 2), (7,)}),
        ("shape 3×2, the program's shape 7", {(3, 2), (7,)}),
        ("shape () or shape scalar", {()}),
        ("shape 3×? or shape ?×2, of scalars", set()),
    ],
)
def test_a_pasted_text_has_shapes_as_tensorflow_and_ckpt_viz_spell_them(
    text: str, shapes: set[tuple[int, ...]]
) -> None:
    assert named(text).shapes == shapes


def test_the_shape_in_a_pasted_text_tells_variables_of_one_full_name_apart() -> None:
    plain = graph({0: {"a": 1, "b": 2}}, (1, 2))  # of the shapes 1×2 and 2×2
    nodes = [
        node._replace(attributes=tuple(a._replace(full_name="kernel") for a in node.attributes))
        for node in plain.nodes
    ]
    shown = replace(plain, nodes=tuple(nodes))
    assert find(shown, "Variable 'kernel' cannot be read.") == (1, 2)
    for shape in ("(2, 2)", "2×2"):
        assert find(shown, f"Variable 'kernel': The saved value has shape {shape}.") == (2,)


@pytest.mark.tf
def test_texts_of_tensorflow_find_their_nodes(tmp_path: Path) -> None:
    import tensorflow as tf

    def model(units: int) -> Any:
        layers = [tf.keras.layers.Dense(3, name="one"), tf.keras.layers.Dense(units, name="two")]
        built = tf.keras.Sequential(layers, name="net")
        built.build((None, 2))
        return built

    saved = model(4)
    step = tf.Variable([1, 2], name="step")
    prefix = tf.train.Checkpoint(model=saved, step=step).write(str(tmp_path / "ckpt"))

    # A shape that differs, by its full name: the variable of the program.
    other = model(5)
    live = cv.graph(tf.train.Checkpoint(model=other))
    with pytest.raises(ValueError, match="incompatible tensor") as raised:
        tf.train.Checkpoint(model=other).read(prefix)
    assert _objects(live, str(raised.value)) in ([other.layers[1].kernel], [other.layers[1].bias])

    # What is saved and not used, by name and key: in the file, and in a check of it.
    short = tf.train.Checkpoint(model=model(4))
    with pytest.raises(AssertionError, match="Unresolved object") as unresolved:
        short.read(prefix).assert_consumed()
    (found,) = _ids(cv.graph(prefix), str(unresolved.value))
    assert cv.graph(prefix).name(found) == "(root).step"
    checked = cv.show(cv.check(short, prefix, method="read"))
    (ghost,) = checked.find(str(unresolved.value))
    assert checked.graph.name(ghost) == "(root).step"

    # What is not saved, by the repr of the variable.
    more = tf.train.Checkpoint(model=saved, step=step, extra=tf.Variable([3.0], name="extra"))
    with pytest.raises(AssertionError, match="not bound to checkpointed") as unbound:
        more.read(prefix).assert_existing_objects_matched()
    assert _objects(cv.graph(more), str(unbound.value)) == [more.extra]


def _ids(shown: Graph, query: str) -> tuple[int, ...]:
    found = find(shown, query)
    assert isinstance(found, tuple)
    return found


def _objects(shown: Graph, query: str) -> list[object]:
    return [shown.object(node_id) for node_id in _ids(shown, query)]

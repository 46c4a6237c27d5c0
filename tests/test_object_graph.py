from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import Role
from tests.support.graphs import graph
from tests.support.saved_graphs import write_graph

# root ─┬─ a ─┐
#       └─ b ─┴─> v     one variable under two local names
SHARED = {0: {"a": 1, "b": 2}, 1: {"v": 3}, 2: {"w": 3}}


def test_shared_variable_is_one_node_with_two_names() -> None:
    shared = graph(SHARED, variables=(3,))
    assert shared.path(3) == ("a", "v")
    assert shared.name(3) == "(root).a.v"
    assert shared.aliases(3) == (("b", "w"),)


def test_root_reached_from_below_keeps_the_empty_path() -> None:
    circle = graph({0: {"self": 0, "child": 1}, 1: {"parent": 0}})
    assert circle.path(0) == ()
    assert circle.name(0) == "(root)"
    assert circle.aliases(0) == (("self",), ("child", "parent"))


def test_every_way_up_ends_at_the_root_or_at_once() -> None:
    # The variable 1 is below its own slot 2, which an edge of the root and one of its own reach.
    circle = graph({0: {"slot": 2}, 1: {"m": 2}, 2: {"of": 1}}, (1, 2), {0: (("m", 1, 2),)})
    assert list(circle.way_up(1)) == [(2, "of", 1), (0, "slot", 2)]
    island = graph({0: {"to": 3}, 1: {"to": 2}, 2: {"to": 1}, 3: {"self": 3}}, (1, 2, 3))
    assert list(island.way_up(1)) == []
    assert list(island.way_up(3)) == [(0, "to", 3)]
    assert list(island.way_up(0)) == []


def test_slot_variable_is_named_as_tensorflow_prints_it() -> None:
    declared = graph(
        {0: {"model": 1, "opt": 2}, 1: {"kernel": 3}}, variables=(3, 4), slots={2: (("m", 3, 4),)}
    )
    assert declared.name(4) == "(root).opt's state 'm' for (root).model.kernel"
    assert declared.path(4) == ("model", "kernel", "m")


def test_shortest_path_wins_as_in_tensorflow() -> None:
    assert graph({0: {"long": 1, "short": 2}, 1: {"x": 2}}).name(2) == "(root).short"


def test_node_without_a_path_is_named_unreachable() -> None:
    lost = graph({0: {"a": 1}, 2: {"b": 3}})
    assert lost.name(3) == "(unreachable node 3)"


@pytest.mark.slow
def test_chain_of_100_000_nodes_has_names() -> None:
    depth = 100_000
    chain = graph({i: {"x": i + 1} for i in range(depth)})
    assert len(chain.path(depth)) == depth


# net ─┬─ l1 ── kernel
#      └─ layers ── 0 ── kernel (the same l1, by its index)
NET = {0: {"net": 1}, 1: {"l1": 2, "layers": 3}, 2: {"kernel": 4}, 3: {"0": 2, "1": 5}, 5: {"b": 6}}


@pytest.mark.parametrize(
    "name",
    [
        "(root).net.l1.kernel",
        "(root).net.layers.0.kernel",
        "net.l1.kernel",
        "net/l1/kernel",
        "net/layers/0/kernel",
        "v4",
        "v4:0",
    ],
)
def test_a_value_is_read_by_any_of_its_names(name: str, tmp_path: Path) -> None:
    read = cv.graph(write_graph(tmp_path / "ckpt-1", graph(NET, variables=(4, 6))))
    assert read.node_id(name) == 4
    assert np.array_equal(read.read(name), read.read("v4/.ATTRIBUTES/VARIABLE_VALUE"))


def test_a_layer_is_found_by_its_own_name() -> None:
    named = graph(NET, variables=(4, 6))
    nodes = list(named.nodes)
    nodes[5] = nodes[5]._replace(role=Role.LAYER, own_name="head")
    assert replace(named, nodes=tuple(nodes)).node_id("head") == 5


def test_a_name_of_no_node_is_answered_with_close_ones() -> None:
    with pytest.raises(cv.NoSuchNodeError, match=r"did you mean \(root\)\.net\.l1") as caught:
        graph(NET, variables=(4, 6)).node_id("(root).net.l2")
    assert isinstance(caught.value, KeyError)


def test_a_name_of_several_nodes_is_answered_with_all_of_them() -> None:
    shown = graph({0: {"a": 1, "b": 2}, 1: {"v": 3}, 2: {"v": 4}}, variables=(3, 4))
    nodes = [
        node._replace(attributes=tuple(a._replace(full_name="v") for a in node.attributes))
        for node in shown.nodes
    ]
    with pytest.raises(cv.NoSuchNodeError, match=r"2 nodes have it: a\.v, b\.v"):
        replace(shown, nodes=tuple(nodes)).node_id("v")


def test_find_answers_a_query_as_the_search_box_does() -> None:
    assert graph(NET, variables=(4, 6)).find("l1 role:variable") == (4,)
    with pytest.raises(cv.QueryError):
        graph(NET).find("role:nothing")


def test_names_with_dots_and_circles_are_found_in_linear_time() -> None:
    circle = graph({0: {"a": 0, "a.a": 1}, 1: {"a": 0, "": 1}})
    assert circle.node_id("(root)" + ".a" * 10_000 + ".a.a.") == 1

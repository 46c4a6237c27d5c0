from tests.support.graphs import graph

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


def test_chain_of_100_000_nodes_has_names() -> None:
    depth = 100_000
    chain = graph({i: {"x": i + 1} for i in range(depth)})
    assert len(chain.path(depth)) == depth

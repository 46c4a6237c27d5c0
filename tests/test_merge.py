import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz import Child, Node, ObjectGraph, Origin, Role, SlotRule
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.merge import Merged, merge
from tests.support.any_nodes import any_nodes
from tests.support.graphs import graph, keras3_adam


@st.composite
def any_merged(draw: st.DrawFn) -> tuple[ObjectGraph, ObjectGraph, Merged]:
    """Merged graphs with random pairs; a partner may be shared, or may not exist."""
    base = ObjectGraph(draw(any_nodes()), "base", Origin.LIVE)
    other = ObjectGraph(draw(any_nodes()), "other", Origin.SAVED)
    ours = st.integers(0, len(other.nodes) - 1)
    theirs = st.integers(0, len(base.nodes) + 2)
    pairs = draw(st.dictionaries(ours, theirs)) | {ROOT: ROOT}
    return base, other, merge(base, other, pairs)


def _children(merged: Merged, node_id: int) -> list[tuple[str, int]]:
    return [(c.local_name, c.node_id) for c in merged.graph.nodes[node_id].children]


@pytest.mark.slow
@settings(deadline=None)  # a slow machine is no defect
@given(any_merged())
def test_base_keeps_its_ids_names_and_tree(of: tuple[ObjectGraph, ObjectGraph, Merged]) -> None:
    base, _, merged = of
    for node_id, node in enumerate(base.nodes):
        found = merged.graph.nodes[node_id]
        own = [child for child in found.children if child.node_id < len(base.nodes)]
        assert tuple(own) == node.children
        assert (found.role, found.slot, found.attributes) == (node.role, node.slot, node.attributes)
        assert merged.graph.name(node_id) == base.name(node_id)
        assert merged.graph.path(node_id) == base.path(node_id)


@settings(deadline=None)  # a slow machine is no defect
@given(any_merged())
def test_every_other_node_has_its_place(of: tuple[ObjectGraph, ObjectGraph, Merged]) -> None:
    base, other, merged = of
    assert set(merged.of_other) == set(range(len(other.nodes)))
    ghosts = [i for i in range(len(other.nodes)) if merged.of_other[i] >= len(base.nodes)]
    assert [merged.of_other[i] for i in ghosts] == list(
        range(len(base.nodes), len(merged.graph.nodes))
    )
    for ghost in ghosts:
        assert merged.graph.nodes[merged.of_other[ghost]].role is other.nodes[ghost].role


@settings(deadline=None)  # a slow machine is no defect
@given(any_merged())
def test_no_edge_leads_from_a_ghost_to_the_base(
    of: tuple[ObjectGraph, ObjectGraph, Merged],
) -> None:
    base, _, merged = of
    for node in merged.graph.nodes[len(base.nodes) :]:
        targets = [c.node_id for c in node.children] + [
            s.slot_variable for s in node.slot_variables
        ]
        assert all(len(base.nodes) <= target < len(merged.graph.nodes) for target in targets)


@pytest.mark.slow
@settings(deadline=None)  # a slow machine is no defect
@given(any_merged())
def test_every_edge_to_a_ghost_is_an_edge(of: tuple[ObjectGraph, ObjectGraph, Merged]) -> None:
    base, other, merged = of
    for node_id, node in enumerate(other.nodes):
        edges = _children(merged, merged.of_other[node_id])
        for child in node.children:
            target = merged.of_other[child.node_id]
            assert target < len(base.nodes) or (child.local_name, target) in edges


def test_paired_with_itself_a_graph_stays_as_it_is() -> None:
    adam = keras3_adam()
    merged = merge(adam, adam, {i: i for i in range(len(adam.nodes))})
    assert merged.graph.nodes == adam.nodes


def test_ghosts_hang_where_they_would_be() -> None:
    base = graph({0: {"a": 1}, 1: {"v": 2}}, variables=(2,))
    other = graph({0: {"a": 1, "b": 3}, 1: {"v": 2, "w": 4}, 3: {"a": 1, "x": 5}}, variables=(2, 4))
    merged = merge(base, other, {0: 0, 1: 1, 2: 2})
    assert merged.of_other == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
    assert _children(merged, 0) == [("a", 1), ("b", 3)]
    assert _children(merged, 1) == [("v", 2), ("w", 4)]
    assert _children(merged, 3) == [("x", 5)]
    assert merged.graph.title == "test → test"


def test_numbers_of_items_without_values_do_not_lead_ghosts_into_another_block() -> None:
    """Of two blocks of kernel, add, kernel, add the program lacks the first."""
    saved = graph(
        {0: {str(i): 1 + i for i in range(8)}, **{1 + i: {"kernel": 9 + i} for i in (0, 2, 4, 6)}},
        variables=(9, 11, 13, 15),
    )
    program = graph(
        {0: {str(i): 1 + i for i in range(4)}, **{1 + i: {"kernel": 5 + i} for i in (0, 2)}},
        variables=(5, 7),
    )
    by_values = {5: 1, 13: 5, 7: 3, 15: 7}
    by_numbers = {2: 2, 4: 4}
    merged = merge(program, saved, {0: 0} | by_values | by_numbers)
    ghosts = [merged.of_other[node] for node in (1, 3)]
    below = [child.node_id for child in merged.graph.nodes[0].children]
    assert below[:2] == ghosts
    assert [node for node in below if node < len(program.nodes)] == [1, 2, 3, 4]


def test_ghost_may_have_the_local_name_of_another_child() -> None:
    base = graph({0: {"a": 1}}, variables=(1,))
    other = graph({0: {"a": 1}})
    merged = merge(base, other, {0: 0})
    assert _children(merged, 0) == [("a", 1), ("a", 2)]


def test_two_nodes_of_one_object_give_it_their_ghosts_once() -> None:
    base = graph({0: {"a": 1}})
    other = graph({0: {"a": 1, "b": 2}, 1: {"v": 3}, 2: {"v": 3}}, variables=(3,))
    merged = merge(base, other, {0: 0, 1: 1, 2: 1})
    assert _children(merged, 1) == [("v", 2)]


def test_declared_slots_hang_from_variables_of_the_base() -> None:
    base = graph({0: {"optimizer": 1, "v": 2}}, variables=(2,))
    other = graph(
        {0: {"v": 1, "optimizer": 2}}, variables=(1, 3), slots={2: (("m", 1, 3),)}, title="other"
    )
    merged = merge(base, other, {0: 0, 1: 2, 2: 1})
    (ghost,) = merged.graph.nodes[3:]
    assert ghost.slot == cv.Slot("m", variable=2, optimizer=1, rule=SlotRule.DECLARED)
    assert merged.graph.path(3) == ("v", "m")
    assert merged.graph.name(3) == "(root).optimizer's state 'm' for (root).v"


def test_inferred_slots_hang_from_variables_of_the_base() -> None:
    adam = keras3_adam()
    base = graph({0: {"layer": 1}, 1: {"_kernel": 2, "bias": 3}}, variables=(2, 3))
    merged = merge(base, adam, {0: 0, 2: 1, 7: 2, 8: 3})
    momentum = merged.of_other[9]
    slot = merged.graph.nodes[momentum].slot
    assert slot is not None and (slot.variable, slot.optimizer) == (2, merged.of_other[1])
    assert merged.graph.path(momentum) == ("layer", "_kernel", "momentum")


def test_circles_of_ghosts_stay_out_of_reach() -> None:
    lost = Node((Child("again", 1),))
    other = ObjectGraph((Node(), lost), "other", Origin.SAVED)
    merged = merge(graph({}), other, {0: 0})
    assert merged.graph.tree.labels[1] == "(unreachable node 1)"


@pytest.mark.tf
def test_objects_of_the_base_can_be_got_hold_of() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.v = tf.Variable(1.0)
    merged = merge(cv.graph(module), graph({0: {"v": 1, "w": 2}}, variables=(1, 2)), {0: 0, 1: 1})
    assert merged.graph.object(1) is module.v
    assert merged.graph.accessor(1, "module") == "module.v"
    assert merged.graph.object(2) is None
    with pytest.raises(cv.SourceError, match=r"\(root\)\.w has no live object"):
        merged.graph.accessor(2, "module")


@pytest.mark.slow
def test_deep_chains_are_merged() -> None:
    deep = {i: {"next": i + 1} for i in range(100_000)}
    merged = merge(graph({}), graph(deep), {0: 0})
    assert len(merged.graph.path(100_000)) == 100_000
    assert merged.graph.nodes[100_000].role is Role.OBJECT

from hypothesis import given, settings

from ckpt_viz import Node, Role
from ckpt_viz.graphs.nodes.tree import NOWHERE, spanning_tree
from tests.support.any_nodes import any_nodes
from tests.support.graphs import graph, keras3_adam


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_every_node_has_exactly_one_place(nodes: tuple[Node, ...]) -> None:
    tree = spanning_tree(nodes)
    assert sorted(tree.preorder()) == list(range(len(nodes)))
    assert tree.parents[0] == NOWHERE
    for node_id, children in enumerate(tree.children):
        assert all(tree.parents[child] == node_id for child in children)


@settings(deadline=None)  # a slow machine is no defect
@given(any_nodes())
def test_nothing_but_bookkeeping_is_below_bookkeeping(nodes: tuple[Node, ...]) -> None:
    tree = spanning_tree(nodes)
    for node_id, parent in enumerate(tree.parents):
        if parent != NOWHERE and nodes[parent].role is Role.BOOKKEEPING:
            assert nodes[node_id].role is Role.BOOKKEEPING


def test_layers_kernel_is_below_its_layer_not_in_the_optimizers_list() -> None:
    adam = keras3_adam()
    tree = spanning_tree(adam.nodes)
    assert adam.name(7) == "(root).layer._kernel"
    assert (tree.parents[7], tree.labels[7]) == (2, "_kernel")


def test_a_longer_path_is_more_natural_than_a_private_name() -> None:
    edges = {0: {"_held": 3, "model": 1}, 1: {"block": 2}, 2: {"kernel": 3}, 3: {"_part": 4}}
    tree = spanning_tree(graph(edges, variables=(4,)).nodes)
    assert (tree.parents[3], tree.labels[3]) == (2, "kernel")
    assert (tree.parents[4], tree.labels[4]) == (3, "_part")  # the only path


def test_slots_are_below_their_variable() -> None:
    tree = spanning_tree(keras3_adam().nodes)
    assert (tree.parents[9], tree.labels[9]) == (7, "momentum")
    assert tree.children[7] == (9,)


def test_children_keep_the_order_of_the_edges() -> None:
    tree = spanning_tree(graph({0: {"z": 3, "a": 1, "m": 2}}).nodes)
    assert tree.children[0] == (3, 1, 2)


def test_kernel_in_a_saved_model_is_below_its_layer_not_in_the_list_of_keras_2() -> None:
    edges = {0: {"block": 1, "variables": 2, "keras_api": 3}, 1: {"layer": 4}, 4: {"kernel": 5}}
    exported = graph(edges | {2: {"0": 5}, 3: {"metrics": 6}, 6: {"0": 7}}, variables=(5, 7))
    tree = spanning_tree(exported.nodes)
    assert (tree.parents[5], tree.labels[5]) == (4, "kernel")
    assert tree.parents[7] == 6  # a metric is nowhere else


def test_list_called_variables_is_a_persons_without_the_marks_of_keras_2() -> None:
    edges = {0: {"block": 1, "variables": 2}, 1: {"layer": 3}, 3: {"w": 4}, 2: {"0": 4}}
    tree = spanning_tree(graph(edges, variables=(4,)).nodes)
    assert (tree.parents[4], tree.labels[4]) == (2, "0")

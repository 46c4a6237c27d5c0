"""The live graph is the graph of the checkpoint that `write` would make now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, Role, SourceError
from tests import live_objects

pytestmark = pytest.mark.tf

# Only a Python type tells these; a file says "object" (docs/object_graph.md).
TOLD_BY_TYPE = {Role.LAYER, Role.CONTAINER, Role.OPTIMIZER}


def _write(source: Any, prefix: Path) -> str:
    import tensorflow as tf

    assert isinstance(source, tf.train.Checkpoint)
    return str(source.write(str(prefix)))


@pytest.mark.parametrize("make", live_objects.KINDS, ids=lambda make: make.__name__)
def test_live_graph_equals_the_graph_of_what_write_saves(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    source = make()
    live = cv.graph(source)
    saved = cv.graph(_write(source, tmp_path / "ckpt"))
    assert len(live.nodes) == len(saved.nodes)
    for ours, theirs in zip(live.nodes, saved.nodes, strict=True):
        assert ours.children == theirs.children
        assert ours.slot_variables == theirs.slot_variables
        assert ours.slot == theirs.slot
        assert ours.attributes == _where_alive_knows(ours, theirs)
        assert ours.role == theirs.role or (
            ours.role in TOLD_BY_TYPE and theirs.role in (Role.OBJECT, Role.BOOKKEEPING)
        )
    assert [live.name(i) for i in range(len(live.nodes))] == [
        saved.name(i) for i in range(len(saved.nodes))
    ]


def test_bare_module_is_walked_as_the_root_of_a_checkpoint() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.kernel = tf.Variable(1.0)
    bare, root = cv.graph(module), cv.graph(tf.train.Checkpoint(module))
    # tf.train.Checkpoint adds an edge of its own, from the root to itself.
    assert root.nodes[0].children == (*bare.nodes[0].children, Child("root", 0))
    assert bare.nodes[1:] == root.nodes[1:]


def _where_alive_knows(ours: Node, theirs: Node) -> tuple[Attribute, ...]:
    """Return the saved attributes without what only the object's own code could have told."""
    known = dict(zip((a.name for a in ours.attributes), ours.attributes, strict=True))
    return tuple(
        replace(
            attribute,
            dtype=attribute.dtype if known[attribute.name].dtype else None,
            shape=attribute.shape if known[attribute.name].shape is not None else None,
            nbytes=attribute.nbytes if known[attribute.name].nbytes is not None else None,
        )
        for attribute in theirs.attributes
    )


def test_names_equal_those_in_tensorflows_own_warnings(tmp_path: Path) -> None:
    from tensorflow.python.checkpoint.checkpoint import (
        ObjectGraphProtoPrettyPrinter,
        object_metadata,
    )

    for make in live_objects.KINDS:
        prefix = _write(make(), tmp_path / make.__name__)
        proto = object_metadata(prefix)
        graph = cv.graph(prefix)
        assert dict(ObjectGraphProtoPrettyPrinter(proto).node_names) == {
            i: graph.name(i) for i in range(len(graph.nodes))
        }


def test_every_slot_of_keras_3_adam_is_found() -> None:
    import keras

    if keras.__version__.startswith("2."):
        pytest.skip("TensorFlow 2.15 has Keras 2")
    graph = cv.graph(live_objects.guide_loop())
    slots = {
        (graph.name(node.slot.variable), node.slot.name)
        for node in graph.nodes
        if node.slot is not None
    }
    assert slots == {
        (f"(root).net.l1.{variable}", slot)
        for variable in ("_kernel", "bias")
        for slot in ("momentum", "velocity")
    }


def test_types_give_roles_that_a_file_cannot() -> None:
    graph = cv.graph(live_objects.guide_loop())
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    assert by_name["(root).net.l1"].role is Role.LAYER
    assert by_name["(root).net.l1"].type_name == "Dense"
    assert by_name["(root).optimizer._momentums"].role is Role.CONTAINER
    assert by_name["(root).iterator"].role is Role.VALUE


def test_walk_leaves_no_trace_in_the_checkpoint() -> None:
    source = live_objects.guide_loop()
    assert source._save_counter is None
    before = [v.numpy() for v in source.net.variables]
    cv.graph(source)
    assert source._save_counter is None
    assert all((v.numpy() == b).all() for v, b in zip(source.net.variables, before, strict=True))


def test_poisoned_list_is_a_marked_node_and_the_rest_is_there() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.list = [tf.Variable(1), tf.Variable(2)]
    module.other = tf.Variable(3)
    module.list.reverse()
    del module.list[0]
    graph = cv.graph(tf.train.Checkpoint(module=module))
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    error = by_name["(root).module.list"].error
    assert error is not None and error.startswith(
        "ValueError: Unable to save the object ListWrapper"
    )
    assert by_name["(root).module.other"].role is Role.VARIABLE


def test_object_that_cannot_be_described_is_a_marked_node_too() -> None:
    import tensorflow as tf

    class Odd(tf.Module):  # type: ignore[misc]
        _should_act_as_resource_variable = True

        @property
        def dtype(self) -> None:
            raise RuntimeError("no dtype today")

    module = tf.Module()
    module.odd, module.other = Odd(), tf.Variable(3)
    graph = cv.graph(module)
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    assert by_name["(root).odd"].error == "RuntimeError: no dtype today"
    assert by_name["(root).other"].role is Role.VARIABLE


def test_objects_of_nodes_are_the_programs_own_and_are_not_kept_alive() -> None:
    source = live_objects.guide_loop()
    graph = cv.graph(source)
    layer = next(i for i, n in enumerate(graph.nodes) if n.type_name == "Dense")
    assert graph.object(layer) is source.net.l1
    assert graph.object(0) is source


def test_object_that_is_not_trackable_is_named() -> None:
    with pytest.raises(
        SourceError, match="found an int, expected a checkpoint's path or a trackable"
    ):
        cv.graph(3)

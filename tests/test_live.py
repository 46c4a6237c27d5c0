"""The live graph is the graph of the checkpoint that `write` would make now."""

from __future__ import annotations

import gc
import weakref
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz import Child, NotSaved, Role, SourceError
from tests.support import live_objects
from tests.support.laws import assert_same_graph, state_of

pytestmark = pytest.mark.tf


def _write(source: Any, prefix: Path) -> str:
    """Save an object as TensorFlow saves it; one that is no checkpoint, as the root itself."""
    import tensorflow as tf
    from tensorflow.python.checkpoint.checkpoint import TrackableSaver, _LoadStatus
    from tensorflow.python.checkpoint.graph_view import ObjectGraphView

    if isinstance(source, tf.train.CheckpointManager):
        source = source.checkpoint
    if isinstance(source, (tf.train.Checkpoint, tf.compat.v1.train.Checkpoint)):
        return str(source.write(str(prefix)))
    view = source._object_graph_view if isinstance(source, _LoadStatus) else ObjectGraphView(source)
    saved = TrackableSaver(view).save(str(prefix))
    return str(saved.numpy().decode() if hasattr(saved, "numpy") else saved)


kinds = pytest.mark.parametrize("make", live_objects.KINDS, ids=lambda make: make.__name__)


@kinds
def test_live_graph_equals_the_graph_of_what_write_saves(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    source = make()
    live = cv.graph(source)
    assert_same_graph(live, cv.graph(_write(source, tmp_path / "ckpt")))


@kinds
def test_walk_leaves_every_object_as_it_was(make: Callable[[], Any]) -> None:
    source = make()
    before = state_of(source)
    graph = cv.graph(source)
    str(graph)
    assert state_of(source) == before


@kinds
def test_accessor_of_every_node_evaluates_to_that_very_object(make: Callable[[], Any]) -> None:
    source = make()
    graph = cv.graph(source)
    before = state_of(source)
    for node_id in range(len(graph.nodes)):
        accessor = graph.accessor(node_id, "it")
        assert eval(accessor, {"it": source}) is graph.object(node_id), accessor
    assert state_of(source) == before


def test_plain_containers_in_a_dict_are_those_of_its_checkpoint(tmp_path: Path) -> None:
    import tensorflow as tf

    def source() -> dict[str, Any]:
        return {"items": [v, (w, {"again": v})], "table": {"w": w}}

    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    own = source()
    path = tf.train.Checkpoint(**source()).write(str(tmp_path / "ckpt"))
    graph = cv.graph(own)
    assert_same_graph(graph, cv.graph(path))
    for node_id in range(len(graph.nodes)):
        assert eval(graph.accessor(node_id, "own")) is graph.object(node_id)
    before = cv.snapshot(own)
    v.assign([0.0, 0.0])
    assert len(cv.diff(before, own, values=True).value) == 1
    assert cv.check(own, path).fix().apply()
    assert v.numpy().tolist() == [1.0, 2.0]
    assert [type(item) for item in (own["items"], own["items"][1], own["table"])] == [
        list,
        tuple,
        dict,
    ]
    with pytest.raises(SourceError, match=r"item 'items\.1\.0': found an int, expected a variable"):
        cv.graph({"items": [v, (3,)]})


def test_bare_module_is_walked_as_the_root_of_a_checkpoint() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.kernel = tf.Variable(1.0)
    bare, root = cv.graph(module), cv.graph(tf.train.Checkpoint(module))
    # tf.train.Checkpoint adds an edge of its own, from the root to itself.
    assert root.nodes[0].children == (*bare.nodes[0].children, Child("root", 0))
    assert bare.nodes[1:] == root.nodes[1:]


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


def _changed_list() -> Any:
    import tensorflow as tf

    module = tf.Module()
    module.poisoned = [tf.Variable(1), tf.Variable(2)]
    del module.poisoned[0]
    return module


def _list_changed_from_outside() -> Any:
    import tensorflow as tf

    module, items = tf.Module(), [tf.Variable(1)]
    module.poisoned = items
    items.append(3)
    return module


def _dict_with_a_key_that_is_no_string() -> Any:
    import tensorflow as tf

    module = tf.Module()
    module.poisoned = {1: tf.Variable(1)}
    return module


def _dict_that_lost_an_item() -> Any:
    import tensorflow as tf

    module = tf.Module()
    module.poisoned = {"a": tf.Variable(1)}
    module.poisoned.pop("a")
    return module


def _namedtuple_with_a_constructor_of_its_own() -> Any:
    import tensorflow as tf

    class Odd(namedtuple("Odd", ["x"])):
        def __new__(cls, y: Any) -> Any:
            return super().__new__(cls, y)

    module = tf.Module()
    module.poisoned = Odd(tf.Variable(1))
    return module


def _object_whose_children_raise() -> Any:
    import tensorflow as tf

    class Broken(tf.Module):  # type: ignore[misc]
        def _trackable_children(self, *args: Any, **kwargs: Any) -> Any:
            raise ValueError("Unable to save: out of order today")

    module = tf.Module()
    module.poisoned = Broken()
    return module


@pytest.mark.parametrize(
    "make",
    [
        _changed_list,
        _list_changed_from_outside,
        _dict_with_a_key_that_is_no_string,
        _dict_that_lost_an_item,
        _namedtuple_with_a_constructor_of_its_own,
        _object_whose_children_raise,
    ],
)
def test_what_tensorflow_refuses_to_save_is_a_marked_node_and_the_rest_is_there(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    import tensorflow as tf

    module = make()
    module.other = tf.Variable(3)
    source = tf.train.Checkpoint(module=module)
    graph = cv.graph(source)
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    assert by_name["(root).module.other"].role is Role.VARIABLE
    with pytest.raises(ValueError, match="Unable to save") as refusal:
        source.write(str(tmp_path / "ckpt"))
    assert by_name["(root).module.poisoned"].error == f"ValueError: {refusal.value}"


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
    import tensorflow as tf

    source = live_objects.guide_loop()
    graph = cv.graph(source)
    layer = next(i for i, n in enumerate(graph.nodes) if n.type_name == "Dense")
    assert graph.object(layer) is source.net.l1
    assert graph.object(0) is source

    module = tf.Module()
    module.part = tf.Module()
    graph = cv.graph(module)
    assert graph.object(1) is module.part
    del module.part
    gc.collect()
    assert graph.object(1) is None


def test_object_that_is_not_trackable_is_named() -> None:
    with pytest.raises(
        SourceError, match="found an int, expected a checkpoint's path or a trackable"
    ):
        cv.graph(3)


def test_looking_at_a_keras_2_optimizer_does_not_freeze_its_children() -> None:
    source = live_objects.keras2_optimizer_before_and_after_its_first_look()
    graph = cv.graph(source)
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    assert len(by_name["(root).optimizer._momentums"].children) == 1
    assert "_coalesced_children" not in vars(source.optimizer)


def test_list_changed_back_after_a_look_can_still_be_saved(tmp_path: Path) -> None:
    import tensorflow as tf

    module = tf.Module()
    items, table = [tf.Variable(1)], {"a": tf.Variable(2)}
    module.items, module.table = items, table
    items.append("behind TensorFlow's back")
    table["b"] = "so, too"
    assert sum(node.error is not None for node in cv.graph(module).nodes) == 2
    items.pop()
    del table["b"]
    tf.train.Checkpoint(module).write(str(tmp_path / "ckpt"))


def test_trackables_that_tensorflow_does_not_follow_are_listed_as_not_saved() -> None:
    root = cv.graph(live_objects.untracked_attributes()).nodes[0]
    assert root.not_saved == (
        NotSaved("by_default", "defaultdict", 1, variables=1),
        NotSaved("queue", "deque", 2, variables=2),
        NotSaved("unique", "set", 1, variables=1),
        NotSaved("special", "SpecialList", 1, variables=1),
    )


def test_lists_of_keras_3_layers_and_seeds_are_not_saved() -> None:
    import keras

    if keras.__version__.startswith("2."):
        pytest.skip("Keras 2 tracks lists of layers")
    graph = cv.graph(live_objects.keras3_model_with_lists_and_seeds())
    told = {graph.name(i): [n.name for n in node.not_saved] for i, node in enumerate(graph.nodes)}
    assert told["(root).model"][0] == "blocks"
    assert told["(root).model.pair.1"] == ["seed_generator"]
    # An object that is a node is saved, even if other attributes hold it as well.
    assert {name for name, attributes in told.items() if attributes} == {
        "(root).model",
        "(root).model.pair.1",
        "(root).model.out.cell",
    }


def test_values_of_plain_objects_in_followed_containers_are_not_saved() -> None:
    import tensorflow as tf

    class Block:
        def __init__(self) -> None:
            self.w = tf.Variable(1.0)

    blocks = [Block(), tf.Variable(2.0), [Block()]]
    graph = cv.graph(tf.train.Checkpoint(blocks=blocks, by_name={"a": Block()}, second=blocks))
    assert [node.not_saved for node in graph.nodes if node.not_saved] == [
        (
            NotSaved("blocks", "ListWrapper", 2, variables=2),
            NotSaved("by_name", "_DictWrapper", 1, variables=1),
        )
    ]


def test_no_property_runs_in_search_of_what_is_not_saved() -> None:
    import tensorflow as tf

    class Trap(tf.Module):  # type: ignore[misc]
        @property
        def weights(self) -> list[Any]:
            raise AssertionError("ran")

    class List(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError("iterated")

    trap = Trap()
    trap.hidden = List([tf.Variable(1)])
    assert cv.graph(trap).nodes[0].not_saved == (NotSaved("hidden", "List", 1, variables=1),)


def test_value_of_a_live_variable_is_read_by_name_or_key_as_a_copy() -> None:
    import tensorflow as tf

    source = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), text=tf.Variable(["a", "b"]))
    graph = cv.graph(source)
    value = graph.read("(root).v")
    source.v.assign([3.0, 4.0])
    assert value.tolist() == [1.0, 2.0]
    assert graph.read("v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [3.0, 4.0]
    assert graph.read("(root).text").tolist() == [b"a", b"b"]


def test_a_part_without_a_name_has_its_own_values(tmp_path: Path) -> None:
    import tensorflow as tf

    part = tf.train.Checkpoint(w=tf.Variable(2.0))
    source = tf.train.Checkpoint(w=tf.Variable(1.0), **{"": part})
    prefix, live = source.write(str(tmp_path / "ckpt")), cv.graph(source)
    saved = {name: tf.train.load_variable(prefix, name).tolist() for name in _keys(live)}
    assert {name: live.read(name).tolist() for name in _keys(live)} == saved
    snapshot = cv.snapshot(source)
    source.w.assign(3.0)
    snapshot.restore()
    assert (source.w.numpy(), part.w.numpy()) == (1.0, 2.0)
    assert sorted(saved.values()) == [1.0, 2.0]


def _keys(graph: cv.ObjectGraph) -> list[str]:
    return [one.checkpoint_key for node in graph.nodes for one in node.attributes]


def test_reading_a_value_is_seen_by_no_tape_and_not_remembered() -> None:
    import tensorflow as tf

    source = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    with tf.GradientTape() as tape:
        cv.graph(source).read("(root).v")
    assert tape.watched_variables() == ()
    assert getattr(source.v, "_variable_read", False) is False  # which 2.15 does not remember


def test_keyword_hides_a_child_of_its_root(tmp_path: Path) -> None:
    import tensorflow as tf

    root = tf.Module()
    source = tf.train.Checkpoint(root, step=tf.Module())
    root.step = tf.Variable(1)
    hidden = cv.graph(source).nodes[0]
    with pytest.raises(KeyError):
        source.write(str(tmp_path / "ckpt"))
    assert hidden.error is not None and hidden.error.startswith(
        "KeyError: the checkpoint's keyword"
    )
    assert hidden.not_saved == (NotSaved("step", type(root.step).__name__, 1, variables=1),)
    root.other = tf.Module()
    root.other.held = root.step
    graph, saved = cv.graph(source), cv.graph(source.write(str(tmp_path / "ckpt")))
    assert [node.children for node in graph.nodes] == [node.children for node in saved.nodes]
    assert graph.nodes[0].error is None


def test_source_whose_root_is_gone_is_an_error(tmp_path: Path) -> None:
    import tensorflow as tf

    root = tf.Module()
    source = tf.train.Checkpoint(weakref.ref(root))
    path = source.write(str(tmp_path / "ckpt"))
    del root
    gc.collect()
    with pytest.raises(AssertionError):
        source.restore(path)
    for look in (cv.graph, lambda gone: cv.check(gone, path)):
        with pytest.raises(cv.SourceError, match="is gone"):
            look(source)


def test_what_has_no_value_to_read_says_why() -> None:
    graph = cv.graph(live_objects.values_that_are_no_variables())
    with pytest.raises(cv.UnsupportedError, match="only code of MutableHashTable itself knows"):
        graph.read("(root).table")
    with pytest.raises(cv.NoSuchTensorError, match=r"no tensor 'tabel'"):
        graph.read("tabel")
    with pytest.raises(cv.NoSuchTensorError, match="found no value"):
        graph.read("(root)")


def test_the_counter_of_a_checkpoint_with_a_root_has_an_accessor() -> None:
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(tf.Module())
    counter = checkpoint.save_counter
    graph = cv.graph(checkpoint)
    assert graph.accessor(graph.node_id("save_counter"), "it") == "it.save_counter"
    assert graph.object(graph.node_id("save_counter")) is counter


def test_object_that_is_gone_has_no_accessor() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.part = tf.Module()
    graph = cv.graph(module)
    del module.part
    with pytest.raises(SourceError, match=r"\(root\)\.part: the program has dropped this object"):
        graph.accessor(1)


def test_variables_of_a_tensorflow_1_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf.Graph().as_default() as tf_graph, tf1.Session() as session:
        module = tf.Module()
        module.reference = tf1.get_variable("ref", [2], use_resource=False)
        module.resource = tf1.get_variable("res", [3], use_resource=True)
        optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
        loss = tf.reduce_sum(module.reference) + tf.reduce_sum(module.resource)
        optimizer.minimize(loss)
        session.run(tf1.global_variables_initializer())
        source = tf1.train.Checkpoint(module=module, optimizer=optimizer)
        operations = len(tf_graph.get_operations())
        live = cv.graph(source)
        assert len(tf_graph.get_operations()) == operations
        for node_id in range(len(live.nodes)):
            assert eval(live.accessor(node_id, "it"), {"it": source}) is live.object(node_id)
        with pytest.raises(cv.UnsupportedError, match="only in a session"):
            live.read("(root).module.resource")
        prefix = source.write(str(tmp_path / "ckpt"), session=session)
    assert_same_graph(live, cv.graph(prefix))


def test_path_goes_as_a_person_would_and_the_others_are_aliases() -> None:
    import keras
    import tensorflow as tf

    if keras.__version__.startswith("2."):
        pytest.skip("TensorFlow 2.15 has Keras 2")
    graph = cv.graph(live_objects.guide_loop())
    kernel = next(i for i, n in enumerate(graph.nodes) if graph.path(i) == ("net", "l1", "_kernel"))
    # TensorFlow saves it by a path of the same length, or a shorter one, through the optimizer.
    assert ("optimizer", "_trainable_variables", "0") in graph.aliases(kernel)
    assert graph.nodes[kernel].attributes[0].checkpoint_key.startswith("net/l1/_kernel/")
    model = live_objects.keras3_functional_model_alone()
    model.optimizer.build(model.trainable_variables)
    deeper = cv.graph(tf.train.Checkpoint(model=model, optimizer=model.optimizer))
    weights = [i for i in range(len(deeper.nodes)) if deeper.path(i)[-1:] == ("_kernel",)]
    for weight in weights:
        assert deeper.path(weight)[:2] == ("model", "_operations")
        (attribute,) = deeper.nodes[weight].attributes
        assert attribute.checkpoint_key.startswith("optimizer/_trainable_variables/")
        assert deeper.name(weight).startswith("(root).optimizer._trainable_variables.")
        assert any(alias[0] == "optimizer" for alias in deeper.aliases(weight))
    assert len(weights) == 2


def test_every_edge_is_on_a_path_or_an_alias() -> None:
    for make in live_objects.KINDS:
        graph = cv.graph(make())
        for node_id in range(1, len(graph.nodes)):
            others = set(graph.aliases(node_id))
            own = graph.path(node_id)
            for parent, local_name in graph.edges_to[node_id]:
                assert (*graph.path(parent), local_name) in others | {own}

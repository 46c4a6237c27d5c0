"""Checkpoints written by a mapping: TensorFlow restores them, and reads what it would write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.errors import CkptVizError, UnsupportedError
from ckpt_viz.graphs.nodes.nodes import Role, has_value
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.live.writing.rewrite import write_mapped
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, map_values
from tests.support.live_objects import distributed_variables
from tests.support.programs import ckpt, module, saved, saved_model, var
from tests.support.registered_stack import stack_class

pytestmark = pytest.mark.tf
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
COUNTER = "save_counter/.ATTRIBUTES/VARIABLE_VALUE"


def pairs_of(mapping: ValueMapping) -> list[tuple[int, int]]:
    """Return the pairs of values, and those of the parts that hold them."""
    parts = [one for one in mapping.parts.values() if not has_value(mapping.saved.nodes[one.node])]
    return [(one.node, one.obj) for one in (*mapping.pairs, *parts)]


def rewritten(at: Path, path: str, live: Any) -> str:
    """Write a new checkpoint for a program, or for the graph of one, and return its prefix."""
    graphs = cv.graph(path), live if isinstance(live, Graph) else cv.graph(live)
    prefix = str(at / "rewritten")
    write_mapped(*graphs, pairs_of(map_values(*graphs)), prefix)
    return prefix


def identical(graph: Graph, other: Graph) -> list[tuple[int, int]]:
    """Return the nodes of two equal graphs in pairs."""
    assert len(graph.nodes) == len(other.nodes)
    return [(node, node) for node in range(len(graph.nodes))]


def tensors(prefix: str) -> dict[str, tuple[Any, ...]]:
    """Return the tensors that TensorFlow reads as arrays, but the object graph, as bytes."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(prefix)
    found = {}
    for key, dtype in reader.get_variable_to_dtype_map().items():
        if key != GRAPH and dtype != tf.variant:
            value = reader.get_tensor(key)
            is_text = dtype == tf.string
            data = np.asarray(value, object).tolist() if is_text else value.tobytes()
            found[key] = dtype, np.shape(value), data
    return found


def proto(prefix: str) -> Any:
    """Return TensorFlow's object graph of a checkpoint."""
    import tensorflow as tf
    from tensorflow.core.protobuf import trackable_object_graph_pb2 as pb2

    data = tf.train.load_checkpoint(prefix).get_tensor(GRAPH)
    return pb2.TrackableObjectGraph.FromString(data)


# --- the same program


def variables_of(program: Any) -> list[Any]:
    """Return all variables of a program, the slots of its optimizers included."""
    graph = cv.graph(program)
    is_variable = {Role.VARIABLE, Role.SLOT}
    return [graph.object(i) for i, node in enumerate(graph.nodes) if node.role in is_variable]


def values_of(program: Any) -> list[Any]:
    return [variable.numpy().tolist() for variable in variables_of(program)]


def keras_3() -> Any:
    import keras

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
    return ckpt(model=model, optimizer=optimizer)


def tf_keras(kind: str, steps: int = 1) -> Any:
    import tensorflow as tf
    import tf_keras

    model = tf_keras.Sequential(
        [tf_keras.layers.Dense(3, input_shape=(4,)), tf_keras.layers.Dense(2)]
    )
    of_kind = {"new": tf_keras.optimizers.Adam, "legacy": tf_keras.optimizers.legacy.Adam}
    of_kind["v1"] = tf.compat.v1.train.AdamOptimizer
    optimizer = of_kind[kind](0.1)
    train(model, optimizer, steps)
    return ckpt(model=model, optimizer=optimizer)


def train(model: Any, optimizer: Any, steps: int) -> None:
    import tensorflow as tf

    for _ in range(steps):
        variables = model.trainable_variables
        grads = [tf.ones_like(variable) for variable in variables]
        optimizer.apply_gradients(zip(grads, variables, strict=True))


def with_values() -> Any:
    """Return a program with all kinds of values that are not float variables."""
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "bc"]), tf.constant([1, 2], tf.int64))
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, 0, -2)
    dense.insert(tf.constant([3], tf.int64), tf.constant([0.5]))
    return ckpt(
        net=module(
            table=table,
            dense=dense,
            text=var(["x", "", "long" * 99]),
            half=var([1.5], dtype=tf.float16),
            brain=var([1.5], dtype=tf.bfloat16),
            flag=var([True, False]),
            empty=var(tf.zeros([0, 3])),
        ),
        items=[var(1.0), {"a/b.c": var(2.0)}],
        iterator=started_iterator(),
    )


def started_iterator() -> Any:
    import tensorflow as tf

    iterator = iter(tf.data.Dataset.range(9).shuffle(4, seed=1))
    next(iterator)
    return iterator


def cyclic() -> Any:
    first, second = module(w=var(1.0)), module(w=var(2.0))
    first.other, second.other = second, first
    return ckpt(first=first, again=first, both=[second, second.w])


PROGRAMS: dict[str, Callable[[], Any]] = {
    "Keras 3 with Adam": keras_3,
    "tf_keras with Adam": lambda: tf_keras("new"),
    "tf_keras with legacy Adam": lambda: tf_keras("legacy"),
    "tf_keras with Adam of TensorFlow 1": lambda: tf_keras("v1"),
    "tables, strings, an iterator": with_values,
    "cycles and shared nodes": cyclic,
    "variables of strategies, in slices": distributed_variables,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_gets_what_tensorflow_writes(tmp_path: Path, name: str) -> None:
    import tensorflow as tf

    program = PROGRAMS[name]()
    path = program.save(str(tmp_path / "ckpt"))
    graphs = cv.graph(path), cv.graph(program)
    prefix = str(tmp_path / "new")
    write_mapped(*graphs, identical(*graphs), prefix)
    assert tensors(prefix) == tensors(path)
    ours, theirs = proto(prefix), proto(path)
    for node in (*ours.nodes, *theirs.nodes):
        node.slot_variables.sort(key=lambda slot: slot.slot_variable_node_id)
    assert ours == theirs
    expected = values_of(program)
    for variable in variables_of(program):
        variable.assign(tf.zeros_like(variable))
    status = program.restore(prefix)
    assert values_of(program) == expected
    status.assert_existing_objects_matched()
    status.assert_consumed()
    assert sorted(os.listdir(tmp_path)) == [
        *("checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index"),
        *("new.data-00000-of-00001", "new.index"),
    ]


def test_tables_and_iterators_go_on_where_they_were(tmp_path: Path) -> None:
    old, new = with_values(), with_values()
    old.net.table.insert("new", 7)
    next(old.iterator)
    graph, prefix = cv.graph(old.save(str(tmp_path / "ckpt"))), str(tmp_path / "new")
    later = [one.numpy() for one in old.iterator]
    assert new.save_counter.numpy() == 0
    write_mapped(graph, cv.graph(new), identical(graph, cv.graph(new)), prefix)
    new.restore(prefix).assert_existing_objects_matched()
    assert new.net.table.lookup("new").numpy() == 7
    assert new.net.dense.lookup(3).numpy() == 0.5
    assert [one.numpy() for one in new.iterator] == later


def test_python_state_travels(tmp_path: Path) -> None:
    import tensorflow as tf

    class State(tf.train.experimental.PythonState):  # type: ignore[misc]
        text = "new"

        def serialize(self) -> str:
            return self.text

        def deserialize(self, value: str) -> None:
            self.text = value

    old, new = ckpt(state=State()), ckpt(renamed=State())
    old.state.text = "old"
    graphs = cv.graph(old.save(str(tmp_path / "ckpt"))), cv.graph(new)
    pair = graphs[0].node_id("state"), graphs[1].node_id("renamed")
    write_mapped(*graphs, [pair], str(tmp_path / "new"))
    new.restore(str(tmp_path / "new")).assert_existing_objects_matched()
    assert new.renamed.text in ("old", b"old")


FILES = Path(__file__).parent / "data" / "old_versions"


@pytest.mark.parametrize("name", ["tf2.15/legacy_amsgrad", "tf2.15/adam", "keras3.3/adamw_all"])
def test_a_file_of_an_older_version_is_written_again_as_it_was(tmp_path: Path, name: str) -> None:
    path, prefix = str(FILES / name), str(tmp_path / "new")
    graph = cv.graph(path)
    write_mapped(graph, graph, identical(graph, graph), prefix)
    assert tensors(prefix) == tensors(path)
    assert proto(prefix) == proto(path)


# --- a program that has changed since


def network(*, is_new: bool, start: float = 0.0) -> Any:
    """Return a program with a trained tf_keras model; the new one is wrapped and renamed."""
    import tensorflow as tf
    import tf_keras

    dense = [tf_keras.layers.Dense(3, name="a"), tf_keras.layers.Dense(5, name="b")]
    for layer, width in zip(dense, (4, 3), strict=True):
        layer.build((None, width))
    variables = [variable for layer in dense for variable in layer.variables]
    optimizer = tf_keras.optimizers.legacy.Adam(0.1)
    optimizer.apply_gradients((tf.ones_like(one), one) for one in variables)
    if is_new:
        return ckpt(trainer=module(net=module(first=dense[0], second=dense[1]), adam=optimizer))
    return ckpt(net=module(conv=dense[0], head=dense[1]), optimizer=optimizer)


def trained(program: Any) -> list[Any]:
    """Return the values without the save counter, in an order that no name decides."""
    values = [one.numpy() for one in variables_of(program) if "save_counter" not in one.name]
    return sorted((value.shape, value.tobytes()) for value in values)


@pytest.mark.parametrize("is_file", [False, True], ids=["program", "file"])
def test_a_renamed_and_wrapped_model_restores_every_value(tmp_path: Path, is_file: bool) -> None:
    old, new = network(is_new=False), network(is_new=True)
    for number, variable in enumerate(variables_of(old)):
        variable.assign_add(np.full(variable.shape, number, variable.dtype.as_numpy_dtype))
    path = old.save(str(tmp_path / "old"))
    live: Any = new
    if is_file:
        live = cv.graph(new.write(str(tmp_path / "live")))
    prefix = rewritten(tmp_path, path, live)
    assert trained(new) != trained(old)
    restore = new.read if is_file else new.restore  # `write` makes no save counter
    restore(prefix).assert_existing_objects_matched().assert_consumed()
    assert trained(new) == trained(old)
    wanted = new.write(str(tmp_path / "wanted"))
    assert tensors(wanted).items() <= tensors(prefix).items()


@pytest.mark.parametrize("kind", ["legacy", "v1"])
def test_slots_wait_for_the_optimizer_to_make_them(tmp_path: Path, kind: str) -> None:
    old, new = tf_keras(kind, steps=2), tf_keras(kind, steps=0)
    wrapped = ckpt(trainer=module(model=new.model, optimizer=new.optimizer))
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), wrapped)
    status = wrapped.restore(prefix)
    for program in (old, new):
        train(program.model, program.optimizer, 1)
    status.assert_existing_objects_matched().assert_consumed()
    assert trained(wrapped) == trained(old)
    for name in old.optimizer.get_slot_names():
        for one, other in zip(
            old.model.trainable_variables, new.model.trainable_variables, strict=True
        ):
            slots = old.optimizer.get_slot(one, name), new.optimizer.get_slot(other, name)
            np.testing.assert_array_equal(*[slot.numpy() for slot in slots])


def test_slots_stay_behind_if_the_optimizer_makes_others(tmp_path: Path) -> None:
    import tf_keras as keras

    old = tf_keras("legacy")
    model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,)), keras.layers.Dense(2)])
    new = ckpt(model=model, optimizer=keras.optimizers.Adam(0.1))
    graphs = cv.graph(old.save(str(tmp_path / "ckpt"))), cv.graph(new)
    pairs = [
        *((one.node, one.obj) for one in map_values(*graphs).pairs),
        (graphs[0].node_id("optimizer"), graphs[1].node_id("optimizer")),
    ]
    prefix = str(tmp_path / "new")
    write_mapped(*graphs, pairs, prefix)
    assert not any("OPTIMIZER_SLOT" in key for key in tensors(prefix))
    assert new.read(prefix)


def test_a_variable_without_a_counterpart_keeps_its_value(tmp_path: Path) -> None:
    old = ckpt(net=module(w=var(1.0)))
    new = ckpt(net=module(v=var(2.0), w=var(3.0)))
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), new)
    names = [a.full_name for node in proto(prefix).nodes for a in node.attributes]
    assert names == ["Variable", "save_counter"]
    status = new.restore(prefix)
    with pytest.raises(AssertionError, match=r"Found 1 Python objects.*numpy=2.0"):
        status.assert_existing_objects_matched()
    assert (new.net.v.numpy(), new.net.w.numpy()) == (2.0, 1.0)


@pytest.mark.parametrize("kind", ["legacy", "v1"])
def test_of_several_optimizers_each_gets_its_own_slots(tmp_path: Path, kind: str) -> None:
    def gan(*steps: int) -> Any:
        one, other = (tf_keras(kind, steps=count) for count in steps)
        nets = [one.model, other.model]
        return ckpt(nets=nets, of_generator=one.optimizer, of_other=other.optimizer)

    old, new = gan(1, 2), gan(0, 0)
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), new)
    new.restore(prefix)
    train(new.nets[0], new.of_generator, 1)
    train(new.nets[1], new.of_other, 1)
    train(old.nets[0], old.of_generator, 1)
    train(old.nets[1], old.of_other, 1)
    assert trained(new) == trained(old)


def test_an_optimizer_may_be_the_root(tmp_path: Path) -> None:
    old = tf_keras("legacy")
    graphs = cv.graph(old.save(str(tmp_path / "ckpt"))), cv.graph(tf_keras("legacy", 0).optimizer)
    write_mapped(*graphs, [(graphs[0].node_id("optimizer"), 0)], str(tmp_path / "new"))
    names = ("iter", "beta_1", "beta_2", "decay", "learning_rate")
    assert tensors(str(tmp_path / "new")).keys() == {
        f"{name}/.ATTRIBUTES/VARIABLE_VALUE" for name in names
    }


def test_a_root_on_another_level_restores(tmp_path: Path) -> None:
    import tensorflow as tf

    net = module(w=var(2.0), parts=[var(3.0)])
    old, new = ckpt(net=module(w=var(1.0), parts=[var(4.0)])), tf.train.Checkpoint(net)
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), new)
    new.restore(prefix).assert_existing_objects_matched().assert_consumed()
    assert (net.w.numpy(), net.parts[0].numpy()) == (1.0, 4.0)
    assert tensors(prefix) == tensors(new.save(str(tmp_path / "again"))) | {
        COUNTER: (tf.int64, (), np.int64(1).tobytes())
    }


def test_a_class_that_serializes_itself_restores(tmp_path: Path) -> None:
    import tensorflow as tf
    from tensorflow.python.trackable.base import Trackable

    class Own(Trackable):  # type: ignore[misc]
        values = ("new", 2.0)

        def _serialize_to_tensors(self) -> Any:
            text, number = self.values
            return {"text": tf.constant(text), "-number": tf.constant(number)}

        def _restore_from_tensors(self, restored: Any) -> Any:
            self.values = restored["text"].numpy(), restored["-number"].numpy()
            return tf.no_op()

    old, new = ckpt(own=Own()), ckpt(**{"a/b.c": Own()})
    old.own.values = ("old", 1.0)
    graphs = cv.graph(old.save(str(tmp_path / "ckpt"))), cv.graph(new)
    write_mapped(*graphs, [(1, 1)], str(tmp_path / "new"))
    again = new.save(str(tmp_path / "again"))
    new.restore(str(tmp_path / "new")).assert_existing_objects_matched().assert_consumed()
    assert getattr(new, "a/b.c").values == (b"old", 1.0)
    assert tensors(again).keys() == tensors(str(tmp_path / "new")).keys()


@pytest.mark.parametrize("kind", ["legacy", "v1"])
def test_slots_without_a_counterpart_keep_their_values(tmp_path: Path, kind: str) -> None:
    old, new = tf_keras(kind, steps=0), tf_keras(kind, steps=1)
    slot = new.optimizer.get_slot(new.model.trainable_variables[0], "m")
    before = slot.numpy().tolist()
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), new)
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        new.restore(prefix).assert_existing_objects_matched()
    assert slot.numpy().tolist() == before
    weights = zip(old.model.get_weights(), new.model.get_weights(), strict=True)
    assert all(np.array_equal(*pair) for pair in weights)
    fresh = tf_keras(kind, steps=0)
    fresh.restore(prefix)
    train(fresh.model, fresh.optimizer, 1)  # it makes the slots itself


# --- the save counter


def test_the_save_counter_travels(tmp_path: Path) -> None:
    old, new = ckpt(w=var(1.0)), ckpt(v=var(2.0))
    for _ in range(3):
        path = old.save(str(tmp_path / "ckpt"))
    new.restore(rewritten(tmp_path, path, new)).assert_existing_objects_matched()
    assert (new.save_counter.numpy(), new.v.numpy()) == (3, 1.0)


def test_the_save_counter_of_a_program_remains_if_the_file_has_none(tmp_path: Path) -> None:
    old, new = ckpt(w=var(1.0)), ckpt(v=var(2.0))
    path = old.write(str(tmp_path / "ckpt"))
    for number in (0, 5):
        if number:
            new.save_counter.assign(number)
        place = tmp_path / str(number)
        place.mkdir()
        new.restore(rewritten(place, path, new)).assert_existing_objects_matched()
        assert new.save_counter.numpy() == number


def test_a_module_has_no_save_counter(tmp_path: Path) -> None:
    old, new = ckpt(w=var(1.0)), module(v=var(2.0))
    prefix = rewritten(tmp_path, old.save(str(tmp_path / "ckpt")), new)
    assert tensors(prefix).keys() == {"v/.ATTRIBUTES/VARIABLE_VALUE"}
    ckpt(new).read(prefix).assert_existing_objects_matched().assert_consumed()
    assert new.v.numpy() == 1.0


# --- other kinds of files and programs


def test_the_values_of_a_saved_model_become_a_checkpoint(tmp_path: Path) -> None:
    path = saved_model(tmp_path, net=module(w=var([1.0, 2.0])), b=var(3.0))
    new = ckpt(model=module(renamed=module(w=var([0.0, 0.0])), b=var(0.0)))
    new.restore(rewritten(tmp_path, path, new)).assert_existing_objects_matched()
    assert (new.model.renamed.w.numpy().tolist(), new.model.b.numpy()) == ([1.0, 2.0], 3.0)


@pytest.mark.parametrize("is_v1", [False, True], ids=["V2", "V1"])
def test_a_name_based_file_becomes_an_object_based_one(tmp_path: Path, is_v1: bool) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        dense = v1.get_variable("dense/kernel", initializer=tf.constant([[1.0, 2.0]]))
        text = v1.get_variable("text", initializer=tf.constant(["a", "bc"]))
        session.run(v1.global_variables_initializer())
        version = v1.train.SaverDef.V1 if is_v1 else v1.train.SaverDef.V2
        saver = v1.train.Saver([dense, text], write_version=version)
        path = saver.save(session, str(tmp_path / "saver"))
    new = ckpt(net=module(kernel=var([[0.0, 0.0]]), words=var(["", ""])))
    graphs = cv.graph(path), cv.graph(new)
    names = {"dense/kernel": "net.kernel", "text": "net.words"}
    pairs = [(graphs[0].node_id(one), graphs[1].node_id(to)) for one, to in names.items()]
    write_mapped(*graphs, pairs, str(tmp_path / "new"))
    new.restore(str(tmp_path / "new")).assert_existing_objects_matched()
    assert new.net.kernel.numpy().tolist() == [[1.0, 2.0]]
    assert new.net.words.numpy().tolist() == [b"a", b"bc"]
    with pytest.raises(UnsupportedError, match="restores it by names"):
        write_mapped(graphs[0], graphs[0], [], str(tmp_path / "other"))


def test_a_registered_saver_finds_its_tensors(tmp_path: Path) -> None:
    import tensorflow as tf

    stack = stack_class()
    old, new = ckpt(a=module(stack=stack(1.0, 2.0)), w=var(5.0)), ckpt(b=stack())
    graphs = cv.graph(old.save(str(tmp_path / "ckpt"))), cv.graph(new)
    pair = graphs[0].node_id("a.stack"), graphs[1].node_id("b")
    write_mapped(*graphs, [pair], str(tmp_path / "new"))
    new.restore(str(tmp_path / "new")).assert_existing_objects_matched()
    assert new.b.parts == [1.0, 2.0]
    assert tf.train.load_checkpoint(str(tmp_path / "new")).has_tensor("b_stack")


# --- refusals


def test_values_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    old, new = ckpt(a=var([1.0]), b=var(1)), ckpt(a=var([1.0, 2.0]), b=var(1))
    graphs = cv.graph(saved(tmp_path / "old", a=old.a, b=old.b)), cv.graph(new)
    place = {name: [graph.node_id(name) for graph in graphs] for name in ("a", "b")}

    def said(*pairs: tuple[int, int]) -> str:
        with pytest.raises(UnsupportedError) as caught:
            write_mapped(*graphs, pairs, str(tmp_path / "new"))
        return str(caught.value)

    assert said((place["a"][0], place["a"][1])) == (
        "a: cannot take the value of a: "
        "found VARIABLE_VALUE of float32 1, expected VARIABLE_VALUE of float32 2"
    )
    assert "expected no value" in said((place["b"][0], 0))
    assert "have the key 'b/.ATTRIBUTES/VARIABLE_VALUE'" in said(
        (place["b"][0], place["b"][1]), (place["b"][0], place["b"][1])
    )
    assert os.listdir(tmp_path) == ["old"]


def test_a_file_that_lacks_bytes_leaves_nothing(tmp_path: Path) -> None:
    program = ckpt(w=var([1.0, 2.0]))
    path = program.save(str(tmp_path / "ckpt"))
    graph = cv.graph(path)
    os.truncate(f"{path}.data-00000-of-00001", 3)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(CkptVizError, match="the copy is probably partial"):
        write_mapped(graph, cv.graph(program), identical(graph, graph), str(tmp_path / "new"))
    assert sorted(os.listdir(tmp_path)) == before

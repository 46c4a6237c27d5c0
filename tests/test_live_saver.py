"""A live Saver gives the nodes of the file that it would write, and touches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz import Node, Role
from ckpt_viz.errors import SourceError
from ckpt_viz.files.saved.name_based import read_name_based
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.formats.bundles.meta_graph import open_meta_graph
from ckpt_viz.graphs.nodes.nodes import Slice
from ckpt_viz.live.sessions.saver import read_saver
from tests.test_name_based import OPTIMIZERS, dense, graph_mode, minimize, named, roles, save, slots

pytestmark = pytest.mark.tf


@contextmanager
def nothing_changes(graph: Any) -> Iterator[None]:
    """Fail if an operation, a collection or an entry of one is new."""

    def state() -> tuple[Any, ...]:
        keys = graph.get_all_collection_keys()
        collections = {str(key): list(map(id, graph.get_collection(key))) for key in keys}
        return graph.version, graph.as_graph_def(), collections

    before = state()
    yield
    assert state() == before


def read_untouched(saver: Any, graph: Any) -> tuple[Node, ...]:
    attributes = dict(vars(saver))
    with nothing_changes(graph):
        nodes, _ = read_saver(saver)
    assert vars(saver) == attributes
    return nodes


def without_types(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(node._replace(type_name=None) for node in nodes)


def saved_nodes(prefix: str) -> tuple[Node, ...]:
    return read_name_based(open_bundle(prefix), open_meta_graph(f"{prefix}.meta"))


SAVERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "of all": lambda train, variables: train.Saver(),
    "of a list": lambda train, variables: train.Saver(variables),
    "of parts": lambda train, variables: train.Saver([*variables[0], variables[1]]),
    "of a dict": lambda train, variables: train.Saver(
        {"dense/kernel": variables[0], "dense/bias": variables[1]}
    ),
    "of a dict with parts": lambda train, variables: train.Saver(
        {"dense/kernel": list(variables[0])}
    ),
    "in shards": lambda train, variables: train.Saver(sharded=True),
    "with reshape": lambda train, variables: train.Saver(reshape=True),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("make", SAVERS.values(), ids=SAVERS.keys())
def test_saver_gives_what_it_would_save(
    tmp_path: Path, make: Callable[[Any, Any], Any], use_resource: bool
) -> None:
    with graph_mode() as v1:
        variables = dense(v1, use_resource, parts=2)
        v1.add_to_collection("mine", variables[1])
        minimize(v1, v1.train.AdamOptimizer(), variables)
        saver = make(v1.train, variables)
        nodes = read_untouched(saver, v1.get_default_graph())
        prefix, _ = save(v1, tmp_path / "ckpt", saver)
    assert without_types(nodes) == saved_nodes(prefix)
    kind = "ResourceVariable" if use_resource else "RefVariable"
    assert named(nodes, "dense/kernel").type_name == kind


@pytest.mark.parametrize("sharded", [False, True])
def test_v1_format_is_the_same_graph(sharded: bool) -> None:
    with graph_mode() as v1:
        minimize(v1, v1.train.AdamOptimizer(), dense(v1, parts=2))
        current = read_saver(v1.train.Saver())
        old = v1.train.Saver(write_version=v1.train.SaverDef.V1, sharded=sharded)
        assert read_saver(old) == current


def test_saver_that_is_not_built_yet_gives_what_it_would_take_now(tmp_path: Path) -> None:
    with graph_mode() as v1:
        variables = dense(v1, parts=2)
        saver = v1.train.Saver(defer_build=True)
        before = read_untouched(saver, v1.get_default_graph())
        assert set(roles(before)) == {"dense/kernel", "dense/bias"}
        minimize(v1, v1.train.MomentumOptimizer(0.1, 0.9), variables)
        nodes = read_untouched(saver, v1.get_default_graph())
        saver.build()
        assert read_untouched(saver, v1.get_default_graph()) == nodes
        prefix, _ = save(v1, tmp_path / "ckpt", saver)
    assert without_types(nodes) == saved_nodes(prefix)
    assert len(slots(nodes)) == 2


def test_what_was_added_after_the_saver_was_built_is_not_saved() -> None:
    with graph_mode() as v1:
        given = dense(v1)
        saver = v1.train.Saver(given)
        late = v1.get_variable("late", ())
        given.append(late)
        assert set(roles(read_saver(saver)[0])) == {"dense/kernel", "dense/bias"}


def test_renamed_variables_keep_what_the_program_knows_of_them() -> None:
    with graph_mode() as v1:
        kernel, bias = dense(v1)
        nodes, objects = read_saver(v1.train.Saver({"a/v2": bias, "a": kernel}))
    assert [child.local_name for child in nodes[1].children] == ["v2"]
    assert objects == (None, kernel, bias)
    assert nodes[2].trainable is True
    assert nodes[2].collections == ("trainable_variables", "variables")


def test_saver_of_a_meta_graph_is_read_from_its_operations(tmp_path: Path) -> None:
    with graph_mode() as v1:
        minimize(v1, v1.train.AdamOptimizer(), dense(v1, parts=2))
        prefix, _ = save(v1, tmp_path / "ckpt")
    with graph_mode() as v1:
        saver = v1.train.import_meta_graph(f"{prefix}.meta")
        nodes = read_untouched(saver, v1.get_default_graph())
    assert without_types(nodes) == saved_nodes(prefix)
    with pytest.raises(SourceError, match=r"'save/.*in the default graph, expected the Saver's; c"):
        read_saver(saver)


def test_built_saver_is_read_outside_its_graph_too() -> None:
    with graph_mode() as v1:
        saver = v1.train.Saver(dense(v1))
        inside = read_saver(saver)
    assert read_saver(saver) == inside


def test_table_is_saved_as_its_keys_and_values(tmp_path: Path) -> None:
    import tensorflow as tf

    with graph_mode() as v1:
        v1.get_variable("w", ())
        tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0, name="words")
        deferred = v1.train.Saver(defer_build=True)
        nodes = read_untouched(deferred, v1.get_default_graph())
        saver = v1.train.Saver()
        assert [list(roles(n)) for n in (nodes, read_saver(saver)[0])] == [
            ["w", "words-keys", "words-values"]
        ] * 2
        prefix, _ = save(v1, tmp_path / "ckpt", saver)
    saved = read_name_based(open_bundle(prefix))
    assert [node.children for node in saved] == [node.children for node in nodes]
    dtypes = [n.attributes[0].dtype for n in saved[1:]]
    assert [n.attributes[0].dtype for n in nodes[1:]] == dtypes


@pytest.mark.parametrize("defer_build", [False, True])
def test_distributed_variable_is_one_value(tmp_path: Path, defer_build: bool) -> None:
    import tensorflow as tf

    with graph_mode() as v1:
        with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
            v1.get_variable("w", (2,))
        saver = v1.train.Saver(defer_build=defer_build)
        nodes = read_untouched(saver, v1.get_default_graph())
        saver.build()
        prefix, _ = save(v1, tmp_path / "ckpt", saver)
    assert without_types(nodes) == saved_nodes(prefix)
    assert nodes[1].type_name == "MirroredVariable"


def test_saver_of_nothing_is_a_root_alone() -> None:
    with graph_mode() as v1:
        assert read_saver(v1.train.Saver(allow_empty=True)) == ((Node(),), (None,))


def test_eager_saver_gives_what_it_would_save(tmp_path: Path) -> None:
    import tensorflow as tf

    v = tf.Variable(tf.zeros((2, 3)), name="a/v")
    w = tf.Variable(1, name="w", dtype=tf.int64, trainable=False)
    for given in ([v, w], {"x/y": v, "x": w}):
        saver = tf.compat.v1.train.Saver(given)
        nodes, objects = read_saver(saver)
        prefix = saver.save(None, str(tmp_path / "eager"), write_meta_graph=False)
        assert [node._replace(type_name=None, trainable=None) for node in nodes] == list(
            read_name_based(open_bundle(prefix))
        )
        assert read_saver(saver) == (nodes, objects)  # after it has saved, as before
        assert {n.trainable for n in nodes if n.attributes} == {True, False}
        assert [obj is v or obj is w for obj in objects if obj is not None] == [True, True]


def test_eager_saver_that_cannot_save_says_why() -> None:
    import tensorflow as tf

    twice = [tf.Variable(1.0, name="v"), tf.Variable(2.0, name="v")]
    with pytest.raises(SourceError, match=r"this Saver cannot save: .*same shared_name 'v'"):
        read_saver(tf.compat.v1.train.Saver(twice))


def test_object_with_code_of_its_own_is_a_node_with_a_note() -> None:
    import tensorflow as tf

    class Mine(tf.Module):  # type: ignore[misc]
        def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
            raise AssertionError("the walk must not run this")

    v = tf.Variable(1.0, name="v")
    nodes, _ = read_saver(tf.compat.v1.train.Saver([Mine(name="mine"), v]))
    assert roles(nodes) == {"mine": Role.VARIABLE, "v": Role.VARIABLE}
    assert nodes[1].attributes[0].error == (
        "only code of Mine itself knows what it saves; expected a variable"
    )
    assert nodes[2].attributes[0].error is None


def test_partitions_of_a_saver_that_is_not_built_have_their_variables_names() -> None:
    with graph_mode() as v1:
        variables = dense(v1, parts=2)
        nodes, objects = read_saver(v1.train.Saver(defer_build=True))
    kernel = named(nodes, "dense/kernel")
    assert kernel.attributes[0].slices == (
        Slice((0, 0), (3, 3), "dense/kernel/part_0"),
        Slice((3, 0), (2, 3), "dense/kernel/part_1"),
    )
    assert objects[nodes.index(kernel)] == list(variables[0])


def test_one_part_alone_is_no_partition(tmp_path: Path) -> None:
    with graph_mode() as v1:
        saver = v1.train.Saver([dense(v1, parts=1)[0]])
        prefix, _ = save(v1, tmp_path / "ckpt", saver)
    nodes, _ = read_saver(saver)  # outside its graph
    assert without_types(nodes) == saved_nodes(prefix)
    assert named(nodes, "dense/kernel").attributes[0].slices == ()


@pytest.mark.parametrize("seed", range(20))
def test_no_slot_is_claimed_that_get_slot_does_not_know(seed: int) -> None:
    """Names that repeat each other, optimizers in scopes, one after another on one variable."""
    choose = Random(seed)
    with graph_mode() as v1:
        names = {
            "/".join(choose.choices(("a", "b", "train"), k=choose.randint(1, 3))) for _ in range(5)
        }
        variables = [v1.get_variable(name, (2,)) for name in sorted(names)]
        expected: dict[tuple[str, str], str] = {}
        for make in choose.sample(list(OPTIMIZERS.values()), 2):
            some = choose.sample(variables, choose.randint(1, len(variables)))
            optimizer = make(v1.train)
            minimize(v1, optimizer, some, choose.choice(("", "", "a", "train", "a/b")))
            expected |= {
                (variable.op.name, slot): optimizer.get_slot(variable, slot).op.name
                for variable in some
                for slot in optimizer.get_slot_names()
            }
        nodes, _ = read_saver(v1.train.Saver())
    assert slots(nodes).items() <= expected.items()


@pytest.mark.tf
def test_saver_as_a_source_is_the_graph_of_the_file_that_it_writes(tmp_path: Path) -> None:
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session() as session:
        partitioner = tf1.fixed_size_partitioner(2)
        tf1.get_variable("w", [4, 2], partitioner=partitioner)
        v = tf1.get_variable("scope/v", [3])
        tf1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v))
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver()
        live = cv.graph(saver)
        for node_id, node in enumerate(live.nodes):
            if node.attributes:
                found = eval(live.accessor(node_id, "it"), {"it": saver})
                expected = live.object(node_id)
                parts = expected if isinstance(expected, list) else [expected]
                found_parts = found if isinstance(expected, list) else [found]
                assert all(a is b for a, b in zip(found_parts, parts, strict=True))
            else:
                with pytest.raises(cv.SourceError, match="a name scope"):
                    live.accessor(node_id)
        with pytest.raises(cv.UnsupportedError, match="only in a session"):
            live.read("scope/v")
        saved = cv.graph(saver.save(session, str(tmp_path / "ckpt")))
    assert [n.children for n in live.nodes] == [n.children for n in saved.nodes]
    assert [n.attributes for n in live.nodes] == [n.attributes for n in saved.nodes]
    assert [(n.slot, n.role) for n in live.nodes] == [(n.slot, n.role) for n in saved.nodes]

"""A snapshot in a session puts back what a Saver would, and leaves the graph as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.errors import NoSuchTensorError, ReadLimitError, SourceError
from tests.support.tensorflow_later import tf, v1

pytestmark = pytest.mark.tf


@pytest.fixture
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def variables(*, use_resource: bool) -> list[Any]:
    """Return variables of several kinds, and two that share an initial value."""
    shared = tf.constant([1.0, 2.0])
    unknown_shape = {"shape": tf.TensorShape(None)} if use_resource else {}

    def make(name: str, value: Any, **options: Any) -> Any:
        return v1.Variable(value, name=name, use_resource=use_resource, **options)

    return [
        make("a", shared),
        make("b", shared),
        make("word", ["x", "y"]),
        make("flag", True),
        make("half", tf.cast([1.5], tf.bfloat16)),
        make("free", [1.0], validate_shape=False, **unknown_shape),
        make("local", 3, collections=[v1.GraphKeys.LOCAL_VARIABLES]),
        v1.get_variable(
            "parts",
            [4, 2],
            partitioner=v1.fixed_size_partitioner(2),
            initializer=v1.random_normal_initializer(),
            use_resource=use_resource,
        ),
    ]


def changes(made: list[Any]) -> list[Any]:
    a, b, word, flag, half, free, local, parts = made
    return [
        v1.assign(a, [7.0, 8.0]), v1.assign(b, [5.0, 6.0]), v1.assign(word, ["p", "q"]),
        v1.assign(flag, False), v1.assign(half, tf.cast([9.0], tf.bfloat16)),
        v1.assign(free, [4.0] * 3, validate_shape=False), v1.assign(local, 9),
        *(v1.assign(part, part * 2.0 + 1.0) for part in parts),
    ]  # fmt: skip


def initialized(session: Any) -> None:
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])


def values(session: Any, made: list[Any]) -> list[Any]:
    flat = [part for one in made for part in (one if one is made[-1] else [one])]
    return [np.asarray(value).tolist() for value in session.run(flat)]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("source", ["graph", "none", "list", "dict"])
def test_variables_have_their_values_back_and_no_operation_is_added(
    graph: Any, use_resource: bool, source: str
) -> None:
    made = variables(use_resource=use_resource)
    change = changes(made)
    with v1.Session() as session:
        initialized(session)
        graph.finalize()
        live = {
            "graph": graph,
            "none": None,
            "list": made,
            "dict": {one.name: one for one in made},
        }[source]
        operations = graph.get_operations()
        saved = values(session, made)
        before = cv.snapshot(live, session)
        for _ in range(2):
            session.run(change)
            assert not any(a == b for a, b in zip(values(session, made), saved, strict=True))
            assert before.restore().is_complete
            assert values(session, made) == saved
        assert graph.get_operations() == operations
        assert before.take().nbytes == cv.snapshot(live, session).nbytes


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_snapshot_has_the_values_of_a_savers_file(
    graph: Any, use_resource: bool, tmp_path: Path
) -> None:
    made = variables(use_resource=use_resource)
    made = [*made[:5], *made[-1]]  # the partitions of one variable
    saver = v1.train.Saver(made)
    with v1.Session() as session:
        initialized(session)
        before = cv.snapshot(saver, session)
        path = saver.save(session, str(tmp_path / "c"))
        found, reader = cv.graph(before), tf.train.load_checkpoint(path)
        assert {a.checkpoint_key for n in found.nodes for a in n.attributes} == set(
            reader.get_variable_to_shape_map()
        )
        for name in reader.get_variable_to_shape_map():
            np.testing.assert_array_equal(found.read(name), reader.get_tensor(name))
        assert cv.diff(before, path, values=True).is_empty
        with pytest.raises(NoSuchTensorError):
            found.read("wor")  # the beginning of a name
        session.run(made[0].assign([0.0, 0.0]))
        assert not cv.diff(before, saver.save(session, str(tmp_path / "d")), values=True).is_empty


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_saver_restores_the_file_that_a_snapshot_writes(
    graph: Any, use_resource: bool, tmp_path: Path
) -> None:
    made = variables(use_resource=use_resource)
    change, saver = changes(made), v1.train.Saver([*made[:-1], *made[-1]])
    with v1.Session() as session:
        initialized(session)
        saved = values(session, made)
        before = cv.snapshot(saver, session)
        session.run(change)
        with pytest.raises(SourceError, match=r"check the path that write\(prefix\) returns"):
            cv.check(saver, before)
        path = before.write(tmp_path / "before")
        saver.restore(session, path)
        assert values(session, made) == saved
        assert cv.check(saver, path).consumed


def test_a_monitored_session_runs_no_hook(graph: Any) -> None:
    class Hook(v1.train.SessionRunHook):  # type: ignore[misc]
        runs = 0

        def before_run(self, context: Any) -> None:
            Hook.runs += 1

    variable = v1.Variable([1.0, 2.0], name="a")
    change = variable.assign_add([1.0, 1.0])
    with v1.train.MonitoredSession(hooks=[Hook()]) as session:  # finalizes the graph
        before = cv.snapshot([variable], session)
        session.run(change)
        before.restore()
        assert Hook.runs == 1
        assert session.run(variable).tolist() == [1.0, 2.0]


def test_a_value_that_no_initializer_takes_needs_operations_once(graph: Any) -> None:
    """The initial value has one element, and the variable has grown."""
    variable = v1.Variable([1.0], validate_shape=False, use_resource=False)
    grow, empty = (v1.assign(variable, x, validate_shape=False) for x in ([5.0] * 3, [0.0]))
    with v1.Session() as session:
        session.run(variable.initializer)
        session.run(grow)
        before = cv.snapshot([variable], session)
        first = len(graph.get_operations())
        for _ in range(3):
            session.run(empty)
            assert before.take() is before
            session.run(grow)
            before.take()
            session.run(empty)
            assert before.restore().is_complete
            assert session.run(variable).tolist() == [5.0] * 3
        assert len(graph.get_operations()) == first


def test_a_finalized_graph_without_these_operations_names_the_variable(graph: Any) -> None:
    variable = v1.Variable([1.0], validate_shape=False, use_resource=False, name="free")
    grow = v1.assign(variable, [5.0] * 3, validate_shape=False)
    with v1.Session() as session:
        session.run(variable.initializer)
        session.run(grow)
        graph.finalize()
        (left,) = cv.snapshot([variable], session).left
        assert left.name == "free"
        assert "take a first snapshot before that" in left.why


def test_a_checkpoint_with_a_table_needs_operations_once(graph: Any) -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    fill = table.insert(tf.constant(["a"]), tf.constant([1], tf.int64))
    more = table.insert(tf.constant(["b", "a"]), tf.constant([2, 3], tf.int64))
    look = table.lookup(tf.constant(["a", "b"]))
    variable = v1.Variable(1.0)
    change = variable.assign(2.0)
    checkpoint = tf.train.Checkpoint(t=table, v=variable)
    with v1.Session() as session:
        initialized(session)
        session.run(fill)
        before = cv.snapshot(checkpoint, session)
        graph.finalize()
        for _ in range(2):
            session.run([more, change])
            assert before.restore().is_complete
            assert session.run(look).tolist() == [1, -1]
            assert session.run(variable) == 1.0
            before = cv.snapshot(checkpoint, session)


def test_variables_without_a_value_are_named(graph: Any) -> None:
    first, _ = v1.Variable(1.0, name="first"), v1.Variable(1.0, name="second")
    with v1.Session() as session:
        session.run(first.initializer)
        with pytest.raises(SourceError, match="1 variable without a value in this session: second"):
            cv.snapshot(None, session)


def test_a_variable_made_later_is_named(graph: Any) -> None:
    v1.Variable(1.0, name="first")
    with v1.Session() as session:
        initialized(session)
        before = cv.snapshot(graph, session)
        v1.Variable(1.0, name="second")
        assert [one.name for one in before.restore().left] == ["second"]


def test_a_block_is_rolled_back(graph: Any) -> None:
    variable = v1.Variable(1.0)
    change = variable.assign(2.0)
    with v1.Session() as session:
        initialized(session)
        with pytest.raises(KeyboardInterrupt), cv.snapshot(None, session):
            session.run(change)
            raise KeyboardInterrupt
        assert session.run(variable) == 1.0


def test_a_check_of_values_by_name_is_refused(graph: Any, tmp_path: Path) -> None:
    variable = v1.Variable(1.0)
    with v1.Session() as session:
        initialized(session)
        before = cv.snapshot([variable], session)
        assert repr(before) == "<Snapshot of 1 variable: 1 value, 4 bytes>"
        for live in (tf.train.Checkpoint(v=variable), v1.train.Saver([variable])):
            with pytest.raises(SourceError, match="values by name, which no file has"):
                cv.check(live, before)
            assert not cv.diff(live, before).is_empty or isinstance(live, v1.train.Saver)


def test_the_limit_holds_before_anything_is_read(graph: Any) -> None:
    v1.Variable(np.zeros(100))
    with v1.Session() as session, pytest.raises(ReadLimitError, match="800 bytes"):
        cv.snapshot(None, session, limit=799)  # not even initialized


def test_variables_of_another_graph_or_of_eager_execution_are_refused(graph: Any) -> None:
    with tf.Graph().as_default():
        other = v1.Variable(1.0)
    with v1.Session() as session:
        with pytest.raises(SourceError, match="of another graph"):
            cv.snapshot([other], session)
        with pytest.raises(SourceError, match=r"expected a tf.compat.v1.Session"):
            cv.snapshot(None, graph)


def test_an_eager_variable_is_refused() -> None:
    variable = tf.Variable(1.0)
    refused = pytest.raises(SourceError, match="of eager execution")
    with tf.Graph().as_default(), v1.Session() as session, refused:
        cv.snapshot([variable], session)

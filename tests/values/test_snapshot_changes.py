"""A snapshot finds its places again in a program that has changed, and rolls back blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.errors import SourceError
from tests.support.tensorflow_later import tf

pytestmark = pytest.mark.tf


def test_an_optimizer_built_later_is_named() -> None:
    k = pytest.importorskip("keras")
    model = k.Sequential([k.Input((2,)), k.layers.Dense(1)])
    optimizer = k.optimizers.Adam()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    kernel = model.layers[0].kernel.numpy()
    before = cv.snapshot(checkpoint)
    model.compile(optimizer, "mse")
    model.fit(np.ones((2, 2)), np.ones(2), verbose=0)
    restored = before.restore()
    assert model.layers[0].kernel.numpy().tolist() == kernel.tolist()
    assert optimizer.iterations.numpy() == 0
    optimizer_left = [one for one in restored.left if "optimizer" in one.name]
    assert len(optimizer_left) == 4  # a momentum and a velocity for kernel and bias
    assert {one.why for one in restored.left} == {
        "it was made after the snapshot; it keeps its value"
    }


def test_a_variable_in_the_place_of_another_takes_its_value_as_in_a_read(tmp_path: Path) -> None:
    module = tf.Module()
    module.a, module.b, old = tf.Variable([1.0, 2.0]), tf.Variable(3.0), tf.Variable(0.0)
    module.c = old
    before = cv.snapshot(module)
    path = tf.train.Checkpoint(root=module).write(str(tmp_path / "c"))
    first = module.a
    first.assign([8.0, 8.0])
    module.a, module.c = tf.Variable([9.0, 9.0]), tf.Variable([0.0] * 3)
    old.assign(5.0)
    module.b.assign(4.0)
    restored = before.restore()
    assert restored.replaced == ("(root).a",)
    assert [one.name for one in restored.left] == ["(root).c"]
    assert "found float32 3, expected float32 scalar" in restored.left[0].why
    assert module.a.numpy().tolist() == first.numpy().tolist() == [1.0, 2.0]
    assert (module.b.numpy(), old.numpy()) == (3.0, 0.0)
    del module.c
    tf.train.Checkpoint(root=module).read(path)
    assert module.a.numpy().tolist() == [1.0, 2.0]


def test_exchanged_variables_have_the_values_of_their_places_as_in_a_read() -> None:
    module = tf.Module()
    module.a, module.b = tf.Variable(1.0), tf.Variable(2.0)
    before = cv.snapshot(module)
    module.a, module.b = module.b, module.a
    before.restore()
    assert (module.a.numpy(), module.b.numpy()) == (1.0, 2.0)


def test_a_moved_variable_has_its_value_back() -> None:
    module = tf.Module()
    module.a = tf.Variable(1.0)
    before = cv.snapshot(module)
    module.z = module.a
    del module.a
    module.z.assign(7.0)
    assert before.restore().is_complete
    assert module.z.numpy() == 1.0


def test_a_dropped_object_is_named_and_not_kept_alive() -> None:
    module = tf.Module()
    module.a, module.b = tf.Variable(1.0), tf.Variable(2.0)
    before = cv.snapshot(module)
    del module.a
    module.b.assign(9.0)
    restored = before.restore()
    assert [str(one) for one in restored.left] == [
        "(root).a: the program has dropped it, and nothing is in its place"
    ]
    assert module.b.numpy() == 2.0


def test_new_edges_do_not_hide_old_places() -> None:
    inner, module = tf.Module(), tf.Module()
    inner.v = tf.Variable(1.0)
    module.deep = [inner]
    before = cv.snapshot(module)
    module.a = inner  # a shorter path: TensorFlow would save it under another key
    inner.v.assign(5.0)
    assert before.restore().is_complete
    assert inner.v.numpy() == 1.0


def test_an_object_that_refuses_its_value_does_not_stop_the_others() -> None:
    class Stubborn(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
        """An object that saves, but refuses to restore."""

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"x": tf.constant(1.0)}

        def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
            raise RuntimeError("no")

    module = tf.Module()
    module.a, module.v = Stubborn(), tf.Variable(1.0)
    before = cv.snapshot(module)
    module.v.assign(2.0)
    restored = before.restore()
    assert [str(x) for x in restored.left] == [
        "(root).a: it did not take its value: RuntimeError: no"
    ]
    assert module.v.numpy() == 1.0


def test_an_iterator_that_cannot_be_saved_is_named_at_once() -> None:
    data = tf.data.Dataset.from_generator(lambda: iter(range(5)), tf.int64)
    checkpoint = tf.train.Checkpoint(it=iter(data.map(python_function)), v=tf.Variable(1))
    before = cv.snapshot(checkpoint)
    assert [one.name for one in before.left] == ["(root).it"]
    assert "without 1 object" in repr(before)
    assert [one.name for one in before.restore().left] == ["(root).it"]


def python_function(x: Any) -> Any:
    return tf.py_function(lambda y: y, [x], tf.int64)


def test_the_last_snapshot_keeps_no_object_alive() -> None:
    import gc
    import weakref

    module = tf.Module()
    module.a = tf.Variable(1.0)
    gone = weakref.ref(module.a)
    before = cv.snapshot(module)
    del module.a
    gc.collect()
    assert gone() is None
    assert before.graph.read("a/.ATTRIBUTES/VARIABLE_VALUE") == 1.0


def test_an_uninitialized_variable_is_as_in_a_file() -> None:
    from tensorflow.python.ops.resource_variable_ops import UninitializedVariable

    variable = UninitializedVariable(dtype=tf.float32, shape=[2])
    before = cv.snapshot([variable])
    assert before.nbytes == 0
    assert before.restore().is_complete
    variable.assign([1.0, 2.0])
    assert [one.why for one in before.restore().left] == [
        "it had no value in the snapshot; it keeps its value"
    ]


def test_a_snapshot_leaves_no_trace_in_the_objects() -> None:
    module = tf.Module()
    module.list = [tf.Variable(1.0)]
    variable = module.list[0]
    attributes = {**vars(module)}, {**vars(variable)}
    with tf.GradientTape() as tape:
        before = cv.snapshot(module)
        before.restore()
    assert tape.watched_variables() == ()
    assert (vars(module), vars(variable)) == attributes


def test_a_snapshot_inside_a_function_is_refused() -> None:
    variable = tf.Variable(1.0)

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def step() -> None:
        cv.snapshot([variable])

    with pytest.raises(SourceError, match="outside of"):
        step()


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(SourceError, match="found an object"):
        cv.snapshot(object())
    with pytest.raises(SourceError, match="item '1': found a ndarray"):
        cv.snapshot([tf.Variable(1.0), np.ones(3)])
    for saved in ("ckpts/ckpt-3", Path("ckpts/ckpt-3"), cv.snapshot(tf.Module()).graph):
        with pytest.raises(SourceError, match="expected live objects"):
            cv.snapshot(saved)


def test_a_manager_means_its_checkpoint(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    before = cv.snapshot(tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1))
    checkpoint.v.assign(2.0)
    assert before.restore().is_complete
    assert checkpoint.v.numpy() == 1.0
    assert cv.snapshot(cv.graph(checkpoint)).restore().is_complete


# --- blocks


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_block_that_raises_is_rolled_back(error: type[BaseException]) -> None:
    variable = tf.Variable(1.0)
    with pytest.raises(error), cv.snapshot([variable]):
        variable.assign(2.0)
        raise error
    assert variable.numpy() == 1.0


def test_a_block_that_succeeds_keeps_its_values_and_may_restore_inside() -> None:
    variable = tf.Variable(1.0)
    with cv.snapshot([variable]) as before:
        for _ in range(3):
            variable.assign(2.0)
            before.restore()
            assert variable.numpy() == 1.0
        variable.assign(3.0)
    assert variable.numpy() == 3.0


def test_a_rollback_warns_of_what_it_leaves() -> None:
    module = tf.Module()
    with (
        pytest.warns(RuntimeWarning, match="later: it was made after"),
        pytest.raises(KeyError),
        cv.snapshot(module),
    ):
        module.later = tf.Variable(1.0)
        raise KeyError


def test_an_interrupt_in_a_restore_leaves_no_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from ckpt_viz.live.state import eager_values, holding

    variables = [tf.Variable(float(n)) for n in range(4)]
    before = cv.snapshot(variables)
    for variable in variables:
        variable.assign(9.0)
    put, calls = holding.put, list[Any]()

    def interrupted(obj: Any, state: Any) -> None:
        calls.append(obj)
        if len(calls) == 3:
            raise KeyboardInterrupt
        put(obj, state)

    monkeypatch.setattr(eager_values, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        before.restore()
    assert [v.numpy() for v in variables] == [0.0, 1.0, 2.0, 3.0]

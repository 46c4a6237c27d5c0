"""A snapshot puts back what `Checkpoint.read` would read from a file of the same moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.errors import ReadLimitError, SourceError
from ckpt_viz.files.values.memory import Budget
from ckpt_viz.live.objects.live_source import walked
from ckpt_viz.live.state.rollback import hold, put_each
from tests.support.tensorflow_later import tf

pytestmark = pytest.mark.tf


Change = Callable[[], object]


def module() -> tuple[Any, Change]:
    class Table(tf.Module):  # type: ignore[misc]
        """A module with a plain list, which TensorFlow wraps."""

        def __init__(self) -> None:
            super().__init__()
            self.weights = [tf.Variable([1.0, 2.0]), tf.Variable(3)]

    made = Table()
    return tf.train.Checkpoint(m=made), lambda: [v.assign(v * 5) for v in made.weights]


def dtypes() -> tuple[Any, Change]:
    values = {
        "bfloat16": tf.Variable([1.5, -2.0], dtype=tf.bfloat16),
        "half": tf.Variable([1.5], dtype=tf.float16),
        "bool": tf.Variable([True, False]),
        "int8": tf.Variable([[1, -1]], dtype=tf.int8),
        "uint64": tf.Variable(2**64 - 1, dtype=tf.uint64),
        "complex": tf.Variable([1 + 2j], dtype=tf.complex64),
        "float8": tf.Variable(tf.cast([0.5, 1.0], tf.dtypes.experimental.float8_e4m3fn)),
        "string": tf.Variable(["a", "ü\x00b"]),
        "word": tf.Variable("one"),
        "none": tf.Variable(tf.zeros([0, 3], tf.string)),
        "empty": tf.Variable(np.zeros((0, 2))),
    }

    def change() -> None:
        for variable in values.values():
            zero = "" if variable.dtype == tf.string else 0
            variable.assign(np.full(variable.shape, zero, variable.dtype.as_numpy_dtype))

    return tf.train.Checkpoint(**values), change


def unknown_shape() -> tuple[Any, Change]:
    variable = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    rows = tf.Variable([[1], [2]], shape=[None, 1])
    return (
        tf.train.Checkpoint(v=variable, rows=rows),
        lambda: (variable.assign([[3.0]]), rows.assign([[7]])),
    )


def tables() -> tuple[Any, Change]:
    lookup = tf.lookup.experimental
    words = lookup.MutableHashTable(tf.string, tf.float32, 0.0)
    words.insert(tf.constant(["a", "b"]), tf.constant([1.0, 2.0]))
    pairs = lookup.DenseHashTable(tf.int64, tf.int64, -1, -1, -2, initial_num_buckets=16)
    pairs.insert(*int64([3], [9]))
    return (
        tf.train.Checkpoint(words=words, pairs=pairs),
        lambda: (
            words.insert(tf.constant(["c", "a"]), tf.constant([5.0, 6.0])),
            words.remove(tf.constant(["b"])),
            pairs.insert(*int64([4], [1])),
        ),
    )


def generators() -> tuple[Any, Change]:
    generator = tf.random.Generator.from_seed(3)
    generator.normal([2])
    return tf.train.Checkpoint(g=generator), lambda: generator.normal([5])


def iterators() -> tuple[Any, Change]:
    data = tf.data.Dataset.range(100).shuffle(10, seed=1).batch(3).map(lambda x: x + 1)
    iterator = iter(data)
    next(iterator)
    return tf.train.Checkpoint(it=iterator), lambda: (next(iterator), next(iterator))


def new_words() -> Any:
    class Words(tf.train.experimental.PythonState):  # type: ignore[misc]
        """Python state: a list of words."""

        def __init__(self) -> None:
            self.words = ["a"]

        def serialize(self) -> str:
            return " ".join(self.words)

        def deserialize(self, text: bytes) -> None:
            self.words = text.decode().split()

    return Words()


def python_state() -> tuple[Any, Change]:
    words = new_words()
    return tf.train.Checkpoint(w=words), lambda: words.words.append("b")


def own_code() -> tuple[Any, Change]:
    class Scaled(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
        """An object with code of its own: it saves half of its number."""

        def __init__(self, number: float) -> None:
            self.number = tf.constant(number)

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"half": self.number / 2}

        def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
            self.number = tensors["half"] * 2

    scaled = Scaled(7.0)
    return tf.train.Checkpoint(s=scaled), lambda: setattr(scaled, "number", tf.constant(1.0))


def counters() -> tuple[Any, Change]:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.save_counter.assign(4)
    return checkpoint, lambda: (checkpoint.save_counter.assign_add(1), checkpoint.v.assign(0.0))


def keras_3() -> tuple[Any, Change]:
    k = keras()
    model = k.Sequential([k.Input((3,)), k.layers.Dense(4), k.layers.Dropout(0.5, seed=2)])
    model.add(k.layers.BatchNormalization())
    optimizer = k.optimizers.Adam()
    return trained(k, model, optimizer)


def keras_2() -> tuple[Any, Change]:
    k = pytest.importorskip("tf_keras")
    model = k.Sequential([k.layers.Dense(4, input_shape=(3,)), k.layers.BatchNormalization()])
    return trained(k, model, k.optimizers.Adam())


def keras_2_legacy() -> tuple[Any, Change]:
    k = pytest.importorskip("tf_keras")
    model = k.Sequential([k.layers.Dense(4, input_shape=(3,))])
    return trained(k, model, k.optimizers.legacy.Adam())


def mixed_precision() -> tuple[Any, Change]:
    k = pytest.importorskip("tf_keras")
    model = k.Sequential([k.layers.Dense(4, input_shape=(3,), dtype="mixed_float16")])
    return trained(k, model, k.optimizers.SGD(momentum=0.9))


def shared() -> tuple[Any, Change]:
    k = keras()
    layer = k.layers.Dense(3)
    x = k.Input((3,))
    models = k.Model(x, layer(x)), k.Model(x, k.layers.Dense(1)(layer(x)))
    return tf.train.Checkpoint(a=models[0], b=models[1]), lambda: [
        v.assign(v + 1) for model in models for v in model.variables
    ]


def mirrored() -> tuple[Any, Change]:
    scope = strategy()
    with scope.scope():
        variable = tf.Variable([1.0, 2.0])
        total = tf.Variable(
            4.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    with scope.scope():
        total.assign(8.0)
    return tf.train.Checkpoint(v=variable, t=total), lambda: (
        variable.assign([5.0, 6.0]),
        total.assign(2.0),
    )


def keras_in_strategy() -> tuple[Any, Change]:
    k = keras()
    with strategy().scope():
        model = k.Sequential([k.Input((3,)), k.layers.Dense(4)])
    return tf.train.Checkpoint(m=model), lambda: [v.assign(v + 1) for v in model.variables]


def sharded() -> tuple[Any, Change]:
    from tensorflow.python.distribute.sharded_variable import ShardedVariable

    whole = ShardedVariable([tf.Variable([[1.0], [2.0]]), tf.Variable([[3.0]])], name="s")
    return tf.train.Checkpoint(s=whole), lambda: [v.assign(v * 9) for v in whole.variables]


def int64(*values: list[int]) -> list[Any]:
    return [tf.constant(value, tf.int64) for value in values]


def keras() -> Any:
    return pytest.importorskip("keras")


def strategy() -> Any:
    devices = tf.config.list_logical_devices("CPU")
    return tf.distribute.MirroredStrategy([device.name for device in devices])


def trained(k: Any, model: Any, optimizer: Any) -> tuple[Any, Change]:
    model.compile(optimizer, "mse")
    data = np.ones((4, 3), np.float32), np.zeros((4, 4), np.float32)
    model.fit(*data, verbose=0)
    return (
        tf.train.Checkpoint(model=model, optimizer=optimizer),
        lambda: model.fit(*data, epochs=2, verbose=0),
    )


MAKERS = [
    module, dtypes, unknown_shape, tables, generators, python_state, own_code, counters,
    keras_3, keras_2, keras_2_legacy, mixed_precision, shared, mirrored, keras_in_strategy, sharded,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_restore_gives_what_reading_a_file_gives(make: Any, tmp_path: Path) -> None:
    checkpoint, change = make()
    before = cv.snapshot(checkpoint)
    checkpoint.write(str(tmp_path / "before"))
    change()
    checkpoint.write(str(tmp_path / "changed"))
    checkpoint.read(str(tmp_path / "before")).expect_partial()
    checkpoint.write(str(tmp_path / "read"))
    checkpoint.read(str(tmp_path / "changed")).expect_partial()
    change()
    restored = before.restore()
    checkpoint.write(str(tmp_path / "restored"))
    assert restored.is_complete, restored
    read, done = (tensors(tmp_path / name) for name in ("read", "restored"))
    assert done == read
    assert read != tensors(tmp_path / "changed")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_rollback_brings_every_kind_of_state_back(make: Any, tmp_path: Path) -> None:
    checkpoint, change = make()
    objects = walked(checkpoint).objects
    checkpoint.write(str(tmp_path / "before"))
    held = hold([(lambda: "", obj) for obj in objects], Budget("", None))
    change()
    assert put_each([one.put_back for one in held]) == ({}, None)
    checkpoint.write(str(tmp_path / "after"))
    assert tensors(tmp_path / "after") == tensors(tmp_path / "before")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_snapshot_writes_the_file_that_tensorflow_writes(make: Any, tmp_path: Path) -> None:
    checkpoint, change = make()
    before = cv.snapshot(checkpoint)
    checkpoint.write(str(tmp_path / "by_tensorflow"))
    change()
    path = before.write(tmp_path / "written")
    assert path == str(tmp_path / "written")
    assert tensors(tmp_path / "written") == tensors(tmp_path / "by_tensorflow")
    status = checkpoint.read(path)
    status.assert_existing_objects_matched()
    status.assert_consumed()


@pytest.mark.parametrize("make", [*MAKERS, iterators], ids=lambda make: make.__name__)
def test_a_snapshot_is_a_source_like_the_file(make: Any, tmp_path: Path) -> None:
    checkpoint, change = make()
    before = cv.snapshot(checkpoint)
    path = checkpoint.write(str(tmp_path / "c"))
    found = cv.diff(before, path, values=True)
    assert found.is_empty
    assert all(change.error is not None for change in found.values or ())  # none that differs
    assert make is iterators or (found.not_compared, found.values) == ((), ())
    assert cv.check(before, path).findings == cv.check(path, before).findings == ()
    held, saved = cv.graph(before), cv.graph(path)
    keys = {a.checkpoint_key for n in saved.nodes for a in n.attributes}
    assert keys == {a.checkpoint_key for n in held.nodes for a in n.attributes}
    for key in [tensor for one in keys for tensor in saved.tensor_keys(one)]:
        if "ITERATOR" not in key:
            np.testing.assert_array_equal(held.read(key), saved.read(key))
    change()
    checked = cv.check(checkpoint, before)
    as_file = cv.check(checkpoint, path, method="read")
    assert checked.bound == as_file.bound
    of_both = [[line.plain for line in c.overlay.table.lines] for c in (checked, as_file)]
    assert of_both[0] == of_both[1]


def tensors(path: Path) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(str(path))
    found: dict[str, Any] = {}
    for key in reader.get_variable_to_shape_map():
        if key == "_CHECKPOINTABLE_OBJECT_GRAPH":
            continue
        if "ITERATOR" not in key:
            value = reader.get_tensor(key)
            found[key] = value if isinstance(value, bytes) else (value.dtype, value.tolist())
            if key.endswith("-keys") or key.endswith("-values"):
                found[key] = sorted(map(repr, value.tolist()))
    return found


def test_an_iterator_continues_where_reading_a_file_lets_it(tmp_path: Path) -> None:
    """Its bytes differ from run to run, since threads fill buffers; its elements do not."""
    checkpoint, change = iterators()
    before, path = cv.snapshot(checkpoint), checkpoint.write(str(tmp_path / "c"))
    change()
    found = []
    for restore in (before.restore, lambda: checkpoint.read(path), before.restore):
        restore()
        found.append([next(checkpoint.it).numpy().tolist() for _ in range(5)])
    assert found[0] == found[1] == found[2]


# --- values in memory


def test_later_changes_reach_neither_the_copy_nor_what_was_put_back() -> None:
    variable = tf.Variable(np.ones((300, 300), np.float32))
    before = cv.snapshot([variable])

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]  # XLA updates buffers in place
    def grow() -> None:
        variable.assign_add(tf.ones_like(variable))

    for _ in range(3):
        grow()
        variable[0, 0].assign(9.0)
        variable.scatter_nd_update([[1, 1]], [7.0])
        key = "0/.ATTRIBUTES/VARIABLE_VALUE"
        assert before.graph.read(key).max() == before.graph.read(key).min() == 1
        before.graph.read(key)[:] = 5  # a copy, too
        assert before.restore().is_complete
        assert variable.numpy().max() == variable.numpy().min() == 1


def test_take_replaces_the_held_values() -> None:
    variable = tf.Variable([1.0])
    before = cv.snapshot({"v": variable})
    variable.assign([2.0])
    assert before.take() is before
    variable.assign([3.0])
    before.restore()
    assert variable.numpy().tolist() == [2.0]


def test_bytes_are_counted_and_shown() -> None:
    checkpoint = tf.train.Checkpoint(a=tf.Variable(tf.zeros([10, 5])), s=tf.Variable(["ab", "c"]))
    before = cv.snapshot(checkpoint)
    assert before.nbytes == 10 * 5 * 4 + 3
    assert repr(before) == "<Snapshot of Checkpoint: 2 values, 203 bytes>"


def test_a_snapshot_above_the_limit_is_refused_before_anything_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = tf.Module()
    module.v = tf.Variable(np.zeros(1000))
    module.any = tf.Variable(np.zeros(1000), shape=tf.TensorShape(None))
    assert cv.snapshot(module, limit=16_000).nbytes == 16_000
    from ckpt_viz.live.tensorflow_names import tensorflow_state

    monkeypatch.setattr(tensorflow_state, "read_plain", lambda variable: pytest.fail("copied"))
    with pytest.raises(ReadLimitError, match="16,000 bytes or more, expected at most 15,999") as it:
        cv.snapshot(module, limit=15_999)
    assert (it.value.needs, it.value.limit) == (16_000, 15_999)


def test_what_has_no_size_beforehand_is_counted_as_it_is_copied() -> None:
    with pytest.raises(ReadLimitError, match="the limit"):
        cv.snapshot([tf.Variable(["a" * 1000])], limit=999)


def test_the_default_limit_is_half_of_the_available_memory() -> None:
    from ckpt_viz.files.values.memory import Budget, available_bytes

    half = available_bytes() // 2
    assert 1 << 24 < half < 1 << 44
    Budget("x", None).expect(half // 2)
    with pytest.raises(ReadLimitError, match="half of the available memory"):
        Budget("x", None).expect(half * 2)


def test_a_failed_take_keeps_the_values() -> None:
    variable = tf.Variable(["a"])
    before = cv.snapshot([variable], limit=3)
    variable.assign(["abcd"])
    with pytest.raises(ReadLimitError):
        before.take()
    before.restore()
    assert variable.numpy().tolist() == [b"a"]


# --- as a source


def test_a_check_names_what_a_changed_program_loses() -> None:
    module, changed = tf.Module(), tf.Module()
    module.a, module.b = tf.Variable(1.0), tf.Variable([2.0])
    before = cv.snapshot(module)
    changed.a, changed.c = tf.Variable(0.0), tf.Variable(0.0)
    check = cv.check(changed, before)
    assert check.method == "read"
    assert check.bound["(root).a"] == "(root).a"
    assert check.unresolved == ("(root).b",)
    assert check.unmatched == ("(root).c",)
    assert "damaged" not in str(check)
    assert cv.check(before, before).consumed  # a program like the one of the snapshot


def test_a_snapshot_is_shown_and_compared_like_a_file() -> None:
    from ckpt_viz.api import check_or_diff
    from ckpt_viz.entrances.jupyter.shown import show_of

    variable = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=variable)
    before = cv.snapshot(checkpoint)
    variable.assign([1.0, 3.0])
    assert isinstance(check_or_diff(checkpoint, before), cv.RestoreCheck)
    assert isinstance(check_or_diff(before, checkpoint), cv.RestoreCheck)
    assert isinstance(check_or_diff(before, cv.snapshot(checkpoint)), cv.GraphDiff)
    assert not cv.diff(before, checkpoint, values=True).is_empty
    assert cv.diff(before, before, values=True).is_empty
    assert "snapshot of Checkpoint" in str(cv.graph(before))
    for source in (before, cv.graph(before)):
        assert show_of(source).again().graph.nodes == show_of(source).graph.nodes
    assert show_of(checkpoint, before).again().overlay is not None


def test_a_snapshot_remembers_the_graph_of_its_moment() -> None:
    module = tf.Module()
    module.a = tf.Variable(1.0)
    before = cv.snapshot(module)
    module.b = tf.Variable(2.0)
    graph = before.graph
    assert [child.local_name for child in graph.nodes[0].children] == ["a"]
    assert graph.object(1) is None
    with pytest.raises(SourceError, match="holds values and no objects"):
        graph.accessor(1)

"""The fix where values are no variables: tables, iterators, Python state, users' own classes.

They cannot be assigned: only a restore by TensorFlow gives them their values.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import ckpt, keras_2, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


class Kind(NamedTuple):
    """How an object of a kind is made from a number, and what its value is."""

    make: Callable[[int], Any]
    value: Callable[[Any], Any]


def _table(number: int) -> Any:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, -1.0)
    table.insert(tf.constant(["a", "b"]), tf.constant([number, number + 1], tf.float32))
    return table


def _dense_table(number: int) -> Any:
    import tensorflow as tf

    table = tf.lookup.experimental.DenseHashTable(
        *(tf.int64, tf.float32, -1.0, 0, -1), initial_num_buckets=8
    )
    table.insert(tf.constant([5, 6], tf.int64), tf.constant([number, number + 1], tf.float32))
    return table


def _iterator(number: int) -> Any:
    import tensorflow as tf

    iterator = iter(tf.data.Dataset.range(1000))
    for _ in range(number):
        next(iterator)
    return iterator


def _python_state(number: int) -> Any:
    import tensorflow as tf

    class Count(tf.train.experimental.PythonState):  # type: ignore[misc]
        def serialize(self) -> str:
            return str(self.number)

        def deserialize(self, text: Any) -> None:
            self.number = int(text)

    state = Count()
    state.number = number
    return state


def _own_class(number: int, **parts: Any) -> Any:
    import tensorflow as tf

    class Own(tf.__internal__.tracking.AutoTrackable):  # type: ignore[misc]
        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"number": tf.constant(self.number), "twice": tf.constant(2 * self.number)}

        def _restore_from_tensors(self, restored: Any) -> Any:
            self.number = int(restored["number"])
            return tf.no_op()

    own = Own()
    own.number = number
    for name, part in parts.items():
        setattr(own, name, part)
    return own


def _generator(number: int) -> Any:
    import tensorflow as tf

    return tf.random.Generator.from_seed(number)


def _exported(table: Any) -> list[str]:
    return sorted(str(row) for row in zip(*map(np.array, table.export()), strict=True))


KINDS = {
    "table": Kind(_table, _exported),
    "dense table": Kind(_dense_table, _exported),
    "iterator": Kind(_iterator, lambda iterator: int(next(iterator))),
    "Python state": Kind(_python_state, lambda state: state.number),
    "own class": Kind(_own_class, lambda own: own.number),
    "own class with a variable": Kind(
        lambda number: _own_class(number, inner=var([float(number)] * 3)),
        lambda own: (own.number, *own.inner.numpy().tolist()),
    ),
    "generator": Kind(_generator, lambda generator: generator.state.numpy().tolist()),
}
Parts = tuple[Any, Any, Any]  # the object, and two variables
Make = Callable[[Parts], Any]


class Edit(NamedTuple):
    """How a program was made, and how it is made now."""

    saved: Make
    live: Make


def _list(o: Any, w: Any, b: Any) -> list[Any]:
    return [module(w=w), module(a=o), module(b=b)]


EDITS: dict[str, Edit] = {
    "variable renamed": Edit(
        lambda p: ckpt(net=module(a=p[0], w=p[1], b=p[2])),
        lambda p: ckpt(net=module(a=p[0], kernel=p[1], b=p[2])),
    ),
    "holder renamed": Edit(
        lambda p: ckpt(net=module(a=p[0], w=p[1], b=p[2])),
        lambda p: ckpt(model=module(a=p[0], w=p[1], b=p[2])),
    ),
    "variable no longer shared": Edit(
        lambda p: ckpt(x=module(a=p[0], w=p[1]), y=module(w=p[1])),
        lambda p: ckpt(x=module(a=p[0], w=p[1]), y=module(w=p[2])),
    ),
    "list to dictionary": Edit(
        lambda p: ckpt(l=_list(*p)),
        lambda p: ckpt(l=dict(zip("xyz", _list(*p), strict=True))),
    ),
}


def _parts(kind: Kind, number: int) -> Parts:
    return kind.make(number), var([float(number)] * 2), var([float(number + 1)] * 2)


@pytest.mark.parametrize(("kind", "edit"), [*product(KINDS, EDITS)])
def test_code_apply_and_write_restore_what_cannot_be_assigned(
    kind: str, edit: str, tmp_path: Path
) -> None:
    of_kind, of_edit = KINDS[kind], EDITS[edit]
    saved = _parts(of_kind, 7)
    path = of_edit.saved(saved).write(str(tmp_path / "saved"))
    expected = of_kind.value(saved[0])

    def by_code(live: Any, fix: Any) -> None:
        exec(fix.code, {"ckpt": live, "path": path})

    def by_file(live: Any, fix: Any) -> None:
        live.read(fix.write(tmp_path / "fixed")).expect_partial()

    for restore in (by_code, lambda live, fix: fix.apply(), by_file):
        parts = _parts(of_kind, 30)
        live = of_edit.live(parts)
        fix = cv.check(live, path, method="read").fix()
        missing = set(fix.missing)
        restore(live, fix)
        assert of_kind.value(parts[0]) == expected
        for variable, first in zip(parts[1:], (7.0, 8.0), strict=True):
            is_left = any(cv.graph(live).object(n) is variable for n in _named(live, missing))
            # The second of what was one variable has the value of the first.
            allowed = (first, 7.0) if edit == "variable no longer shared" else (first,)
            assert is_left or variable.numpy()[0] in allowed


def _named(live: Any, names: set[str]) -> list[int]:
    graph = cv.graph(live)
    return [graph.node_id(name) for name in names]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "generator"])
def test_an_object_that_is_no_longer_shared_gives_its_value_twice(
    kind: str, tmp_path: Path
) -> None:
    of_kind = KINDS[kind]
    saved = of_kind.make(7)
    path = ckpt(x=module(a=saved), y=module(a=saved)).write(str(tmp_path / "saved"))
    expected = of_kind.value(saved)
    for restore in ("code", "apply"):
        first, second = of_kind.make(30), of_kind.make(40)
        live = ckpt(x=module(a=first), y=module(a=second))
        fix = cv.check(live, path, method="read").fix()
        exec(fix.code, {"ckpt": live, "path": path}) if restore == "code" else fix.apply()
        assert of_kind.value(first) == expected
        left = "(root).y.a" in fix.missing
        assert left or of_kind.value(second) == expected
        # Each child of an object can have a value from one place alone.
        assert left == (kind == "own class with a variable")


def test_a_lookup_layer_comes_along_to_another_generation_of_optimizers(tmp_path: Path) -> None:
    import tensorflow as tf

    keras = keras_2()

    def program(optimizer: Any, words: str, fill: float) -> Any:
        lookup = keras.layers.StringLookup()
        lookup.adapt(tf.constant(list(words)))  # fills a table, which counts tokens
        lookup.token_counts.insert(tf.constant(list(words)), tf.constant([1, 2, 3], tf.int64))
        words_in = keras.Input((), dtype=tf.string)
        hidden = keras.layers.Embedding(8, 4)(lookup(words_in))
        model = keras.Model(words_in, keras.layers.Dense(2)(hidden))
        model.compile(optimizer, "mse")
        model.train_on_batch(tf.constant(["a", "b"]), tf.zeros((2, 2)))
        for variable in model.trainable_variables:
            variable.assign(tf.fill(variable.shape, fill))
        return ckpt(model=model, optimizer=optimizer)

    saved = program(keras.optimizers.legacy.Adam(), "xyz", 5.0)
    path = saved.write(str(tmp_path / "saved"))
    counts = _exported(saved.model.layers[1].token_counts)
    for restore in ("code", "apply"):
        live = program(keras.optimizers.Adam(), "abc", 0.0)
        fix = cv.check(live, path, method="read").fix()
        exec(fix.code, {"ckpt": live, "path": path}) if restore == "code" else fix.apply()
        assert _exported(live.model.layers[1].token_counts) == counts
        assert all((v.numpy() == 5.0).all() for v in live.model.trainable_variables)
        assert fix.missing == ()
        m = saved.optimizer.get_slot(saved.model.layers[2].embeddings, "m")
        assert any(
            (v.numpy() == m.numpy()).all() for v in live.optimizer.variables if m.shape == v.shape
        )


def test_code_that_no_longer_fits_the_program_changes_nothing(tmp_path: Path) -> None:
    import tensorflow as tf

    def program(fill: float, width: int = 2, dtype: Any = tf.float32) -> Any:
        first, last = var([fill] * 2), tf.Variable(tf.fill((width,), tf.cast(fill, dtype)))
        return ckpt(x=module(w=first, table=_table(int(fill))), y=module(w=first), z=last)

    saved = program(7.0)
    path = saved.write(str(tmp_path / "saved"))
    live = program(30.0)
    live.y.w = var([31.0, 31.0])
    fix = cv.check(live, path, method="read").fix()
    for other in (program(30.0, width=3), program(30.0, dtype=tf.float64)):
        before = _exported(other.x.table)
        with pytest.raises(AssertionError):
            exec(fix.code, {"ckpt": other, "path": path})
        assert other.x.w.numpy().tolist() == [30.0, 30.0]
        assert _exported(other.x.table) == before


def test_a_value_that_its_object_refuses_is_named_and_the_rest_is_restored(tmp_path: Path) -> None:
    """A dense table cannot take a table of another kind; TensorFlow itself would crash."""
    path = ckpt(x=module(w=var([7.0, 7.0])), table=_table(7)).write(str(tmp_path / "saved"))
    live = ckpt(net=module(w=var([0.0, 0.0])), table=_dense_table(30))
    before = _exported(live.table)
    fix = cv.check(live, path, method="read").fix()
    exec(fix.code, {"ckpt": live, "path": path})
    assert live.net.w.numpy().tolist() == [7.0, 7.0]
    assert _exported(live.table) == before
    assert fix.missing == ("(root).table",)
    assert "table" in fix.code.partition("# ")[2]
    fix.apply()
    assert _exported(live.table) == before


@pytest.mark.parametrize("name", ["net", "model"])
def test_a_variable_of_any_shape_takes_any_shape(name: str, tmp_path: Path) -> None:
    """`restore` puts a value of any shape there, and so does the fix, also in a renamed part."""
    import tensorflow as tf

    was, now = (
        module(
            rows=tf.Variable(tf.fill([rows, 2], float(rows)), shape=tf.TensorShape(None)),
            more=tf.Variable(tf.fill([rows, 3], float(rows)), shape=[None, 3]),
        )
        for rows in (1, 4)
    )
    path = tf.train.Checkpoint(net=was).save(str(tmp_path / "ckpt"))
    fix = cv.check(tf.train.Checkpoint(**{name: now}), path).fix()
    assert fix.table.fixed == 3  # with the counter of saves
    fix.apply()
    np.testing.assert_array_equal(now.rows, was.rows)
    np.testing.assert_array_equal(now.more, was.more)

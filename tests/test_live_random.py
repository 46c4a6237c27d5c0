"""The law of test_live for random object graphs."""

from __future__ import annotations

import tempfile
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from tests.support.amounts import amount
from tests.support.laws import assert_same_graph, state_of

pytestmark = pytest.mark.tf


def _is_free(name: str) -> bool:
    """Return whether a program may set this name: `root` is a checkpoint's, `name` a module's."""
    import tensorflow as tf

    return name != "root" and not hasattr(tf.Module, name)


NAMES = (
    st.sampled_from(["a", "b", "_private", "0", "a.b", "a/b", ".ATTRIBUTES", "ü", "class", "x y"])
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
).filter(_is_free)
Draw = Callable[..., Any]
Pair = namedtuple("Pair", ["left", "right"])


def any_checkpoint(draw: Draw) -> Any:
    """Make a pool of objects that hold one another in any way, and a checkpoint of some."""
    import tensorflow as tf

    pool: list[Any] = [tf.Variable([1.0, 2.0])]
    for _ in range(draw(st.integers(0, 12))):
        pool.append(draw(st.sampled_from(MAKERS))(draw, pool))
    holders = [obj for obj in pool if type(obj) is tf.Module]
    for _ in range(draw(st.integers(0, 8)) if holders else 0):
        holder, name = draw(st.sampled_from(holders)), draw(NAMES)
        setattr(holder, name, draw(st.sampled_from(pool)))  # cycles, too
    attached = draw(st.dictionaries(NAMES, st.sampled_from(pool), max_size=3))
    if holders and draw(st.booleans()):
        keywords = {f"k{i}": obj for i, obj in enumerate(attached.values())}
        return tf.train.Checkpoint(draw(st.sampled_from(holders)), **keywords)
    checkpoint = tf.train.Checkpoint(**attached)
    if draw(st.booleans()):
        assert checkpoint.save_counter is not None
    return checkpoint


def _variable(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    dtype = draw(st.sampled_from(["float32", "int64", "bool", "complex64", "bfloat16"]))
    shape = draw(st.lists(st.integers(0, 3), max_size=2))
    return tf.Variable(tf.zeros(shape, dtype), name=draw(st.sampled_from(["v", "w", "w_1"])))


def _module(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    return tf.Module()


def _container(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    some = draw(st.lists(st.sampled_from([*pool, 3, None]), max_size=3))
    make = draw(st.sampled_from([list, tuple, dict, OrderedDict, Pair]))
    holder = tf.Module()
    if make is Pair:
        holder.contents = Pair(*(*some, None, None)[:2])
    elif make in (list, tuple):
        holder.contents = make(some)
    else:
        holder.contents = make((draw(NAMES), item) for item in some)
    holder.ignored = defaultdict(list, {"a": some})
    return holder


def _serializes_itself(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    names = draw(st.sampled_from([("x",), ("x", "y/z")]))

    class Custom(tf.Module):  # type: ignore[misc]
        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {name: tf.constant(1) for name in names}

    return Custom()


def _optimizer_with_declared_slots(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf
    import tf_keras

    makers: list[Callable[[], Any]] = [
        lambda: tf.compat.v1.train.MomentumOptimizer(0.0, 0.9),
        lambda: tf.compat.v1.train.AdamOptimizer(0.0),
        lambda: tf_keras.optimizers.legacy.Adam(0.0),
    ]
    optimizer, chosen = draw(st.sampled_from(makers))(), _some_floats(draw, pool)
    if chosen:
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in chosen])
    return optimizer


def _optimizer_with_lists(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf
    import tf_keras

    makers: list[Callable[[], Any]] = [
        lambda: tf.keras.optimizers.SGD(momentum=0.9),
        lambda: tf.keras.optimizers.Adam(use_ema=True, ema_momentum=0.9),
        lambda: tf_keras.optimizers.Adam(),
    ]
    optimizer, chosen = draw(st.sampled_from(makers))(), _some_floats(draw, pool)
    if chosen:
        optimizer.build(chosen)
    return optimizer


def _some_floats(draw: Draw, pool: list[Any]) -> list[Any]:
    import tensorflow as tf

    floats = [v for v in pool if isinstance(v, tf.Variable) and v.dtype == tf.float32]
    chosen: list[Any] = draw(st.lists(st.sampled_from(floats), max_size=2, unique_by=id))
    return chosen


def _layer(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf
    import tf_keras

    layers = draw(st.sampled_from([tf.keras.layers, tf_keras.layers]))
    makers = [layers.BatchNormalization, lambda: layers.Dense(2), lambda: layers.Dropout(0.5)]
    layer = draw(st.sampled_from(makers))()
    # Keras 3 does not track lists, Keras 2 does; a built layer takes no more.
    if not layer.built and draw(st.booleans()):
        layer.held = draw(st.lists(st.sampled_from(pool), max_size=2))
    if draw(st.booleans()):
        layer.build((None, 3))
    return layer


def _value(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    makers: list[Callable[[], Any]] = [
        lambda: tf.random.Generator.from_seed(1),
        lambda: tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1),
        lambda: tf.function(lambda: 1),
        lambda: iter(tf.data.Dataset.range(3)),
    ]
    return draw(st.sampled_from(makers))()


MAKERS = [
    *(_variable, _module, _module, _container, _container),
    *(_serializes_itself, _optimizer_with_declared_slots, _optimizer_with_lists, _layer, _value),
]


@settings(
    max_examples=amount(20, 150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_live_graph_is_the_saved_one_and_nothing_is_touched(data: st.DataObject) -> None:
    checkpoint = any_checkpoint(data.draw)
    before = state_of(checkpoint)
    live = cv.graph(checkpoint)
    for node_id in range(len(live.nodes)):
        accessor = live.accessor(node_id, "it")
        assert eval(accessor, {"it": checkpoint}) is live.object(node_id), accessor
    assert state_of(checkpoint) == before
    with tempfile.TemporaryDirectory() as directory:
        prefix = checkpoint.write(str(Path(directory) / "ckpt"))
        assert_same_graph(live, cv.graph(prefix))

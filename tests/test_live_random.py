"""The law of test_live over object graphs that nobody thought of."""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from tests.laws import assert_same_graph, state_of

pytestmark = pytest.mark.tf

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "kernel",
        "_private",
        "0",
        "layer-1",
        "a.b",
        "a/b",
        ".ATTRIBUTES",
        "ü",
        "class",
        "x y",
    ]
) | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
Draw = Callable[..., Any]
KINDS = ["variable", "module", "list", "dict", "tuple", "named", "ordered", "custom", "slots"]
Pair = namedtuple("Pair", ["left", "right"])


def _checkpoint(draw: Draw) -> Any:
    """Make a pool of objects that hold one another in any way, and a checkpoint of some."""
    import tensorflow as tf

    pool: list[Any] = [tf.Variable([1.0, 2.0])]
    for _ in range(draw(st.integers(0, 12))):
        pool.append(_new_object(draw, pool))
    modules = [
        obj for obj in pool if isinstance(obj, tf.Module) and not isinstance(obj, tf.Variable)
    ]
    for _ in range(draw(st.integers(0, 8)) if modules else 0):
        module, name = draw(st.sampled_from(modules)), draw(NAMES)
        setattr(module, name, draw(st.sampled_from(pool)))  # cycles, too
    attached = draw(st.dictionaries(NAMES, st.sampled_from(pool), max_size=3))
    attached = {name: obj for name, obj in attached.items() if not hasattr(tf.Module, name)}
    trackable = [obj for obj in pool if isinstance(obj, tf.Module)]
    if trackable and draw(st.booleans()):
        root = draw(st.sampled_from(trackable))
        return tf.train.Checkpoint(
            root, **{f"k{i}": obj for i, obj in enumerate(attached.values())}
        )
    checkpoint = tf.train.Checkpoint(**attached)
    if draw(st.booleans()):
        assert checkpoint.save_counter is not None
    return checkpoint


def _new_object(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf

    kind = draw(
        st.sampled_from(
            ["variable", "module", "list", "dict", "tuple", "named", "ordered", "custom", "slots"]
        )
    )
    some = draw(st.lists(st.sampled_from([*pool, 3, None]), max_size=3))
    holder = tf.Module()
    if kind == "variable":
        dtype = draw(st.sampled_from(["float32", "int64", "bool", "complex64", "bfloat16"]))
        shape = draw(st.lists(st.integers(0, 3), max_size=2))
        return tf.Variable(tf.zeros(shape, dtype), name=draw(st.sampled_from(["v", "w", "w_1"])))
    if kind == "module":
        return holder
    if kind == "custom":
        return _serializes_itself(draw(st.sampled_from([("x",), ("x", "y/z")])))
    if kind == "slots":
        return _optimizer_with_slots(draw, pool)
    containers: dict[str, Any] = {
        "list": list(some),
        "dict": {draw(NAMES): item for item in some},
        "tuple": tuple(some),
        "named": Pair(*(*some, None, None)[:2]),
        "ordered": OrderedDict((draw(NAMES), item) for item in some),
    }
    holder.contents = containers[kind]
    holder.ignored = defaultdict(list, {"a": some})
    return holder


def _serializes_itself(names: tuple[str, ...]) -> Any:
    import tensorflow as tf

    class Custom(tf.Module):  # type: ignore[misc]
        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {name: tf.constant(1) for name in names}

    return Custom()


def _optimizer_with_slots(draw: Draw, pool: list[Any]) -> Any:
    import tensorflow as tf
    import tf_keras

    optimizer = draw(
        st.sampled_from(
            [
                lambda: tf.compat.v1.train.MomentumOptimizer(0.0, 0.9),
                lambda: tf.compat.v1.train.AdamOptimizer(0.0),
                lambda: tf_keras.optimizers.legacy.Adam(0.0),
            ]
        )
    )()
    floats = [v for v in pool if isinstance(v, tf.Variable) and v.dtype == tf.float32]
    chosen = draw(st.lists(st.sampled_from(floats), max_size=2, unique_by=id))
    if chosen:
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in chosen])
    holder = tf.Module()
    holder.optimizer = optimizer
    return holder


@settings(
    max_examples=int(os.environ.get("CKPT_VIZ_EXAMPLES", "150")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_live_graph_is_the_saved_one_and_nothing_is_touched(data: st.DataObject) -> None:
    checkpoint = _checkpoint(data.draw)
    before = state_of(checkpoint)
    live = cv.graph(checkpoint)
    for node_id in range(len(live.nodes)):
        accessor = live.accessor(node_id, "it")
        assert eval(accessor, {"it": checkpoint}) is live.object(node_id), accessor
    assert state_of(checkpoint) == before
    with tempfile.TemporaryDirectory() as directory:
        prefix = checkpoint.write(str(Path(directory) / "ckpt"))
        assert_same_graph(live, cv.graph(prefix))

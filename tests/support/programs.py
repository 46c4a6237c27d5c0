"""Small programs and their checkpoints, for tests of what a restore does with them.

Functions import TensorFlow, so that collecting the tests does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

COUNTER = "save_counter/.ATTRIBUTES/VARIABLE_VALUE"  # the key of the counter of saves


def var(value: Any = 1.0, **options: Any) -> Any:
    import tensorflow as tf

    return tf.Variable(value, **options)


def ckpt(*root: Any, **children: Any) -> Any:
    import tensorflow as tf

    return tf.train.Checkpoint(*root, **children)


def module(**children: Any) -> Any:
    import tensorflow as tf

    return with_children(tf.Module(), **children)


def with_children(parent: Any, **children: Any) -> Any:
    for name, child in children.items():
        setattr(parent, name, child)
    return parent


def saved(at: Path, *root: Any, **children: Any) -> str:
    """Save a `tf.train.Checkpoint` of these children and return the path."""
    return str(ckpt(*root, **children).save(str(at / "ckpt")))


def object_graph_in(path: str) -> Any:
    """Return the object graph in a file, without the names that TensorFlow counts variables by."""
    import tensorflow as tf
    from tensorflow.core.protobuf import trackable_object_graph_pb2

    stored = tf.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(stored)
    for node in graph.nodes:
        for attribute in node.attributes:
            attribute.full_name = ""
    return graph


def written(at: Path, *root: Any, **children: Any) -> str:
    """Write it, without a save counter."""
    return str(ckpt(*root, **children).write(str(at / "written")))


def is_checkpoint(target: Any) -> bool:
    """Return whether the target is a checkpoint, v2 or v1, or the manager of one."""
    import tensorflow as tf

    manager, v1 = tf.train.CheckpointManager, tf.compat.v1.train
    return isinstance(target, (tf.train.Checkpoint, v1.Checkpoint, manager))


def checkpoint_of(target: Any) -> Any:
    """Return the checkpoint, v2 or v1, or Saver that a program restores by for the target."""
    import tensorflow as tf

    if isinstance(target, tf.train.CheckpointManager):
        return target.checkpoint
    restores = is_checkpoint(target) or isinstance(target, tf.compat.v1.train.Saver)
    return target if restores else tf.train.Checkpoint(root=target)


def save_any(at: Path, source: Any) -> str:
    """Save what `check` takes for a live side, in the way that its default method restores."""
    if is_checkpoint(source):
        return str(checkpoint_of(source).save(str(at / "ckpt")))
    return str(checkpoint_of(source).write(str(at / "written")))


def saved_model(at: Path, **children: Any) -> str:
    """Save a SavedModel of a module with these children and return its directory."""
    import tensorflow as tf

    tf.saved_model.save(module(**children), str(at / "model"))
    return str(at / "model")


def rewritten(at: Path, path: str, change: Callable[[Any, dict[str, Any]], None]) -> str:
    """Write a checkpoint again, with changes of its object graph and its tensors."""
    import tensorflow as tf
    from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

    key = "_CHECKPOINTABLE_OBJECT_GRAPH"
    reader = tf.train.load_checkpoint(path)
    values = {name: reader.get_tensor(name) for name in sorted(reader.get_variable_to_shape_map())}
    graph = TrackableObjectGraph.FromString(values.pop(key))
    change(graph, values)
    # The object graph first, to be readable where the file is cut.
    return save_by_name(at / "rewritten", {key: graph.SerializeToString(), **values})


def tensors(at: Path, **values: Any) -> str:
    """Write a name-based checkpoint and return its prefix."""
    return save_by_name(at / "model.ckpt", values)


def save_by_name(prefix: Path, values: Mapping[str, Any]) -> str:
    """Write these tensors under these names: a name-based checkpoint."""
    import tensorflow as tf

    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=[tf.convert_to_tensor(value) for value in values.values()],
    )
    return str(prefix)


def keras_3() -> Any:
    import keras

    if keras.__version__.startswith("2."):
        pytest.skip("this TensorFlow comes with Keras 2")
    return keras


def keras_2() -> Any:
    return pytest.importorskip("tf_keras")


def made_within(
    context: Callable[[], AbstractContextManager[Any]], make: Callable[[], Any]
) -> Callable[[], Any]:
    """Return a function that makes something in a context: a scope, a graph."""

    def made() -> Any:
        with context():
            return make()

    return made


# --- optimizers, each of another generation


def legacy_adam(*variables: Any, **how: Any) -> Any:
    return stepped(keras_2().optimizers.legacy.Adam(**how), variables)


def keras_2_adam(*variables: Any, **how: Any) -> Any:
    return stepped(keras_2().optimizers.Adam(**how), variables)


def keras_3_adam(*variables: Any, **how: Any) -> Any:
    optimizer = keras_3().optimizers.Adam(**how)
    if variables:
        optimizer.build(list(variables))
    return optimizer


def v1_adam(*variables: Any) -> Any:
    import tensorflow as tf

    return stepped(tf.compat.v1.train.AdamOptimizer(), variables)


def stepped(optimizer: Any, variables: Sequence[Any]) -> Any:
    """Return an optimizer that has its slot variables, by a step that changes nothing."""
    import tensorflow as tf

    if variables:
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in variables])
    return optimizer


def with_adam(make: Callable[..., Any]) -> Any:
    """Return a checkpoint of a model of one variable and the optimizer that is made for it."""
    model = module(a=var([1.0, 2.0]))
    return ckpt(model=model, optimizer=make(model.a))


# --- models


def keras_3_sequential(*units: int, width: int = 3) -> Any:
    keras = keras_3()
    dense = [keras.layers.Dense(number) for number in units]
    return keras.Sequential([keras.Input((width,)), *dense])


def keras_2_sequential(*units: int, width: int = 3) -> Any:
    keras = keras_2()
    dense = [keras.layers.Dense(number) for number in units]
    return keras.Sequential([keras.Input((width,)), *dense])


@cache
def net_without_build() -> Callable[[], Any]:
    """Return the class of Keras 3 models that make their variables when they are first called."""
    keras = keras_3()
    base: Any = keras.Model

    class Net(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = keras.layers.Dense(4)
            self.second = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.second(self.first(x))

    return Net


@cache
def net_with_build() -> Callable[[], Any]:
    """Return the class of the same models, with a `build` that makes their variables."""
    base: Any = net_without_build()

    class Net(base):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            self.first.build(shape)
            self.second.build((*shape[:-1], 4))
            self.built = True

    return Net


def called(model: Any, width: int = 3) -> Any:
    """Return a model that has been called on data."""
    import tensorflow as tf

    model(tf.ones([2, width]))
    return model


def differently(root: Any) -> Any:
    """Return the object with its variables changed, each by another number.

    So a test can see the restore, and where each value went.
    """
    import tensorflow as tf

    import ckpt_viz as cv

    graph = cv.graph(root)
    for node_id in range(len(graph.nodes)):
        obj: Any = graph.object(node_id)
        if (
            graph.nodes[node_id].attributes
            and tf.as_dtype(getattr(obj, "dtype", "int32")).is_floating
        ):
            obj.assign_add(tf.cast(tf.ones(obj.shape) * (node_id + 1), obj.dtype))
    return root

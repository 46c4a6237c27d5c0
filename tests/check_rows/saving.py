"""Checkpoints that rows are made of, as TensorFlow writes them and changed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.check_rows.objects import ckpt, module, registered, training, var


def saved(at: Path, *root: Any, **children: Any) -> str:
    """Save a `tf.train.Checkpoint` of these children and return the path."""
    return str(ckpt(*root, **children).save(str(at / "ckpt")))


def written(at: Path, *root: Any, **children: Any) -> str:
    """Write it, without a save counter."""
    return str(ckpt(*root, **children).write(str(at / "written")))


def tensors(at: Path, **values: Any) -> str:
    """Write a name-based checkpoint."""
    return save_tensors(at / "model.ckpt", values)


def save_tensors(prefix: Path, values: Mapping[str, Any]) -> str:
    import tensorflow as tf

    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=list(values),
        shape_and_slices=[""] * len(values),
        tensors=[tf.convert_to_tensor(value) for value in values.values()],
    )
    return str(prefix)


def rewritten(at: Path, path: str, change: Callable[[Any, dict[str, Any]], None]) -> str:
    """Write a checkpoint anew, after a change of its object graph and its tensors."""
    import tensorflow as tf
    from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

    key = "_CHECKPOINTABLE_OBJECT_GRAPH"
    reader = tf.train.load_checkpoint(path)
    values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    graph = TrackableObjectGraph.FromString(values.pop(key))
    change(graph, values)
    return save_tensors(at / "rewritten", {**values, key: graph.SerializeToString()})


def value_key(path: str) -> str:
    return f"{path}/.ATTRIBUTES/VARIABLE_VALUE"


def saved_model(at: Path, **children: Any) -> str:
    import tensorflow as tf

    tf.saved_model.save(module(**children), str(at / "model"))
    return str(at / "model")


def drop(values: dict[str, Any], *names: str) -> None:
    for name in names:
        del values[name]


def saved_by_another_saver(at: Path) -> str:
    def rename(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            if node.registered_saver.name:
                node.registered_saver.name = "elsewhere.Saver"

    return rewritten(at, saved(at, m=registered("Strict")(), v=var()), rename)


def saved_training(at: Path, optimizer: Any, **options: Any) -> str:
    return str(training(optimizer, **options).save(str(at / "ckpt")))


def tensors_of_version_1(at: Path, **values: Any) -> str:
    import tensorflow as tf

    path = str(at / "model.ckpt")
    data = [tf.convert_to_tensor(value) for value in values.values()]
    tf.raw_ops.Save(filename=path, tensor_names=list(values), data=data)
    return path


def in_two_shards(at: Path) -> tuple[str, Path, Path]:
    """Write a checkpoint with the object graph in one shard and the tensors in another.

    Returns its prefix and both shards, that of the tensors last.
    """
    import tensorflow as tf

    key = "_CHECKPOINTABLE_OBJECT_GRAPH"
    reader = tf.train.load_checkpoint(saved(at, v=var([1.0, 2.0, 3.0])))
    others = {n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map() if n != key}
    parts = [
        save_tensors(at / "first", {key: reader.get_tensor(key)}),
        save_tensors(at / "second", others),
    ]
    prefix = str(at / "merged")
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
    shards = sorted(at.glob("merged.data-*"))
    graph_first = b"VARIABLE_VALUE" in shards[0].read_bytes()
    return (prefix, *(shards if graph_first else reversed(shards)))

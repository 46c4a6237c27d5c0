"""Checkpoints for the rows, as TensorFlow writes them, with later changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.check_rows.objects import registered, training
from tests.support.programs import rewritten, save_by_name, saved, var


def value_key(path: str) -> str:
    return f"{path}/.ATTRIBUTES/VARIABLE_VALUE"


def drop(values: dict[str, Any], *names: str) -> None:
    for name in names:
        del values[name]


def saved_by_another_saver(at: Path) -> str:
    """Save an object with a registered saver that this process does not know."""

    def rename(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            if node.registered_saver.name:
                node.registered_saver.name = "elsewhere.Saver"

    return rewritten(at, saved(at, m=registered("Strict")(), v=var()), rename)


def saved_by_unknown_saver(at: Path) -> str:
    """Do so in a TensorFlow that continues without the saver."""
    from tensorflow.python.saved_model import registration

    try:
        registration.get_strict_predicate_restore("elsewhere.Saver")
    except LookupError:
        pytest.skip("this TensorFlow raises LookupError for a saver that it does not know")
    return saved_by_another_saver(at)


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
        save_by_name(at / "first", {key: reader.get_tensor(key)}),
        save_by_name(at / "second", others),
    ]
    prefix = str(at / "merged")
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=prefix)
    shards = sorted(at.glob("merged.data-*"))
    graph_first = b"VARIABLE_VALUE" in shards[0].read_bytes()
    return (prefix, *(shards if graph_first else reversed(shards)))

"""Snapshots of objects that other code saves: registered savers, replicas, slots of shards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.tensorflow_later import tf

pytestmark = pytest.mark.tf


def test_registered_savers_keep_their_files_as_long_as_the_snapshot(tmp_path: Path) -> None:
    from tensorflow.python.saved_model import registration
    from tensorflow.python.saved_model.registration import registration as registry

    class Noted(tf.Module):  # type: ignore[misc]
        text = "first"

    def save(trackables: dict[str, Noted], file_prefix: Any) -> list[Any]:
        shard = tf.strings.join([file_prefix, "-part"])
        names = sorted(trackables)
        texts = [tf.constant(trackables[name].text) for name in names]
        tf.raw_ops.SaveV2(
            prefix=shard, tensor_names=names, shape_and_slices=[""] * len(names), tensors=texts
        )
        return [shard]

    def restore(trackables: dict[str, Noted], merged_prefix: Any) -> None:
        reader = tf.train.load_checkpoint(merged_prefix.numpy().decode())
        for name, noted in trackables.items():
            noted.text = reader.get_tensor(name).decode()

    registration.register_checkpoint_saver(
        package="ckpt_viz_snapshots",
        name="noted",
        predicate=lambda obj: isinstance(obj, Noted),
        save_fn=save,
        restore_fn=restore,
    )
    try:
        module = tf.Module()
        module.one, module.two, module.v = Noted(), Noted(), tf.Variable(1.0)
        before = cv.snapshot(module)
        module.one.text, module.two.text = "x", "y"
        module.v.assign(2.0)
        assert before.restore().is_complete
        assert (module.one.text, module.two.text, module.v.numpy()) == ("first", "first", 1.0)
        assert before.nbytes > 4
        module.two = tf.Module()
        assert [one.name for one in before.restore().left] == ["(root).two"]
    finally:
        name = "ckpt_viz_snapshots.noted"
        del registry._saver_registry._registered_map[name]
        del registry._saver_registry._registered_predicates[name]
        registry._saver_registry._registered_names.remove(name)


TWO_REPLICAS = """
import tensorflow as tf
import ckpt_viz as cv

cpu = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [cpu] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    mirrored = tf.Variable([1.0, 2.0])
    total = tf.Variable(
        4.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def change():
    def on_replica():
        context = tf.distribute.get_replica_context()
        total.assign_add(1.0 + tf.cast(context.replica_id_in_sync_group, tf.float32))

    strategy.run(on_replica)
    mirrored.assign([7.0, 7.0])


def values():
    parts = (*strategy.experimental_local_results(mirrored), *total.values)
    return [part.numpy().tolist() for part in parts]


change()
mirrored.assign([1.0, 2.0])
checkpoint = tf.train.Checkpoint(m=mirrored, t=total)
before, path = cv.snapshot(checkpoint), checkpoint.write(PATH)
change()
assert before.restore().is_complete
restored = values()
change()
checkpoint.read(path)
assert restored == values() == [[1.0, 2.0], [1.0, 2.0], 5.5, 5.5], restored
"""


def test_two_replicas_have_what_a_read_gives_them(tmp_path: Path) -> None:
    code = TWO_REPLICAS.replace("PATH", repr(str(tmp_path / "c")))
    script = tmp_path / "two_replicas.py"
    script.write_text(code)
    subprocess.run([sys.executable, str(script)], check=True)


def test_slots_of_sharded_variables_come_back_as_in_a_read(tmp_path: Path) -> None:
    """TensorFlow 2.21 saves only the first shard of such a slot."""
    k = pytest.importorskip("tf_keras")
    from tensorflow.python.distribute.sharded_variable import ShardedVariable

    shards = [tf.Variable([[1.0], [2.0]]), tf.Variable([[3.0]])]
    optimizer = k.optimizers.legacy.SGD(0.1, momentum=0.9)
    optimizer.apply_gradients([(tf.ones_like(shard), shard) for shard in shards])
    slots = [optimizer.get_slot(shard, "momentum") for shard in shards]
    checkpoint = tf.train.Checkpoint(w=ShardedVariable(shards), o=optimizer)
    before, path = cv.snapshot(checkpoint), checkpoint.write(str(tmp_path / "c"))
    found = []
    for restore in (before.restore, lambda: checkpoint.read(path)):
        for one in (*shards, *slots):
            one.assign(tf.zeros_like(one))
        restore()
        found.append([one.numpy().tolist() for one in (*shards, *slots)])
    assert found[0] == found[1]
    assert found[0][2] == [[np.float32(-0.1)], [np.float32(-0.1)]]

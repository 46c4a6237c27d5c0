"""Variables of distribution strategies, against plain ones."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from tests.check_rows.objects import (
    applied,
    central,
    devices,
    dtensor,
    mirrored,
    on_read,
    sharded,
    v1_momentum,
)
from tests.check_rows.saving import value_key
from tests.check_rows.table import Pair, Topic
from tests.support import live_objects
from tests.support.programs import ckpt, keras_2, legacy_adam, saved, var

row = Topic()


@row()
def plain_saved_and_mirrored_live(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=mirrored(0.0)))


@row()
def mirrored_saved_and_plain_live(at: Path) -> Pair:
    return Pair(saved(at, v=mirrored()), lambda: ckpt(v=var(0.0)))


@row()
def mirrored_saved_and_mirrored_live(at: Path) -> Pair:
    return Pair(saved(at, v=mirrored()), lambda: ckpt(v=mirrored(0.0)))


@row(raises="ValueError", says=["(3,)", "(2,)", "Variable:0"])
def mirrored_variable_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=mirrored([0.0] * 3)))


@row(raises="InvalidArgumentError", says=["float", "int32", value_key("v")])
def mirrored_variable_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, v=var(1)), lambda: ckpt(v=mirrored(0.0)))


@row(raises="ValueError", says=["(3,)", "(2,)"])
def mirrored_saved_and_plain_live_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=mirrored([1.0, 2.0])), lambda: ckpt(v=var([0.0] * 3)))


@row("existing")
def mirrored_variable_that_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), w=mirrored()))


@row()
def plain_saved_and_summed_on_read(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=on_read(0.0)))


@row()
def summed_on_read_saved_and_plain_live(at: Path) -> Pair:
    return Pair(saved(at, v=on_read()), lambda: ckpt(v=var(0.0)))


@row(raises="ValueError")
def summed_on_read_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=on_read([0.0] * 3)))


@row()
def plain_saved_and_read_from_one_replica(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=on_read([0.0, 0.0], "NONE")))


@row(raises="InvalidArgumentError", says=["float", "int32", value_key("v")])
def read_from_one_replica_and_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, v=var([1, 2])), lambda: ckpt(v=on_read([0.0, 0.0], "NONE")))


@row(raises="TypeError", says=["string"])
def strings_that_are_summed_on_read(at: Path) -> Pair:
    return Pair(saved(at, v=var(["a"])), lambda: ckpt(v=on_read(["b"])))


@row(raises="TypeError", says=["bool"])
def truths_that_are_summed_on_read(at: Path) -> Pair:
    return Pair(saved(at, v=var([True])), lambda: ckpt(v=on_read([False])))


def _on_one_device() -> AbstractContextManager[Any]:
    import tensorflow as tf

    return cast(AbstractContextManager[Any], tf.distribute.OneDeviceStrategy("CPU:0").scope())


@row(within=_on_one_device)
def moving_statistics_in_the_scope_of_another_strategy(at: Path) -> Pair:
    import tensorflow as tf

    def model() -> Any:
        with tf.distribute.MirroredStrategy(devices()).scope():
            layer = keras_2().layers.BatchNormalization()
            layer.build((None, 3))
            return ckpt(layer=layer)

    made = [model() for _ in range(4)]  # in the row's own scope they cannot be
    return Pair(made.pop().save(str(at / "ckpt")), made.pop)


@row()
def sharded_saved_and_plain_live(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=var([[0.0] * 2] * 5)))


@row()
def plain_saved_and_sharded_live(at: Path) -> Pair:
    return Pair(saved(at, v=var([[0.0] * 2] * 5)), lambda: ckpt(v=sharded(2, 3)))


@row()
def sharded_otherwise(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=sharded(1, 2, 2)))


@row(raises="InvalidArgumentError", says=["[8,2]", "[6,2]", value_key("v")])
def sharded_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(3, 3)), lambda: ckpt(v=sharded(4, 4)))


@row(raises="InvalidArgumentError", says=["[6,3]", "[6,2]"])
def sharded_of_other_columns(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(3, 3)), lambda: ckpt(v=sharded(3, 3, columns=3)))


@row(raises="ValueError", says=["(5, 2)", "(6, 2)"])
def sharded_saved_and_plain_live_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=var([[0.0] * 2] * 6)))


@row(raises="InvalidArgumentError", says=["[5,2]", "[6,2]"])
def plain_saved_and_sharded_live_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([[0.0] * 2] * 6)), lambda: ckpt(v=sharded(2, 3)))


@row(raises="InvalidArgumentError")
def scalar_saved_and_sharded_live(at: Path) -> Pair:
    return Pair(saved(at, v=var(0.0)), lambda: ckpt(v=sharded(2, 3)))


@row("existing")
def sharded_that_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, w=var()), lambda: ckpt(v=sharded(2, 3), w=var()))


@row()
def sharded_beside_an_optimizer_of_tensorflow_1_with_slots_of_another(at: Path) -> Pair:
    def training() -> Any:
        plain = var()
        optimizer = applied(v1_momentum(), plain)
        return ckpt(v=sharded(2, 3), w=plain, optimizer=optimizer)

    return Pair(training().save(str(at / "ckpt")), training)


def _sharded_training(value: float) -> Any:
    """Return a checkpoint of a sharded variable whose shards have slots."""
    variable = sharded(2, 3)
    optimizer = legacy_adam(*variable.variables)
    for shard in variable.variables:
        optimizer.get_slot(shard, "m").assign(shard * 0 + value)
    return ckpt(v=variable, optimizer=optimizer)


def sharded_and_the_slots_of_its_shards(at: Path) -> Pair:
    """No row: TensorFlow restores them by way of a variable that it forgets at once."""
    path = _sharded_training(1.0).save(str(at / "ckpt"))
    return Pair(path, lambda: _sharded_training(0.0))


@row()
def centrally_stored(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=central(0.0)))


@row(raises="ValueError")
def centrally_stored_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=central([0.0] * 3)))


@row()
def plain_saved_and_dtensor_live(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=dtensor(0.0)))


@row(raises="InvalidArgumentError", says=["float", "bfloat16"])
def dtensor_saved_as_bfloat16(at: Path) -> Pair:
    return Pair(saved(at, v=dtensor(as_bf16=True)), lambda: ckpt(v=var(0.0)))


@row()
def distributed_of_every_kind(at: Path) -> Pair:
    path = live_objects.distributed_variables().save(str(at / "ckpt"))
    return Pair(path, live_objects.distributed_variables)

"""Variables of distribution strategies, against plain ones."""

from __future__ import annotations

from pathlib import Path

from tests import live_objects
from tests.check_rows.objects import central, dtensor, mirrored, on_read, sharded
from tests.check_rows.saving import value_key
from tests.check_rows.table import Pair, Topic
from tests.programs import ckpt, saved, var

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


@row(raises="ValueError", told=["(3,)", "(2,)", "Variable:0"])
def mirrored_variable_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=mirrored([0.0] * 3)))


@row(raises="InvalidArgumentError", told=["float", "int32", value_key("v")])
def mirrored_variable_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, v=var(1)), lambda: ckpt(v=mirrored(0.0)))


@row(raises="ValueError", told=["(3,)", "(2,)"])
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
def sharded_saved_and_plain_live(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=var([[0.0] * 2] * 5)))


@row()
def plain_saved_and_sharded_live(at: Path) -> Pair:
    return Pair(saved(at, v=var([[0.0] * 2] * 5)), lambda: ckpt(v=sharded(2, 3)))


@row()
def sharded_otherwise(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=sharded(1, 2, 2)))


@row(raises="InvalidArgumentError", told=["[8,2]", "[6,2]", value_key("v")])
def sharded_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(3, 3)), lambda: ckpt(v=sharded(4, 4)))


@row(raises="InvalidArgumentError", told=["[6,3]", "[6,2]"])
def sharded_of_other_columns(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(3, 3)), lambda: ckpt(v=sharded(3, 3, columns=3)))


@row(raises="ValueError", told=["(5, 2)", "(6, 2)"])
def sharded_saved_and_plain_live_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=sharded(2, 3)), lambda: ckpt(v=var([[0.0] * 2] * 6)))


@row(raises="InvalidArgumentError", told=["[5,2]", "[6,2]"])
def plain_saved_and_sharded_live_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([[0.0] * 2] * 6)), lambda: ckpt(v=sharded(2, 3)))


@row(raises="InvalidArgumentError")
def scalar_saved_and_sharded_live(at: Path) -> Pair:
    return Pair(saved(at, v=var(0.0)), lambda: ckpt(v=sharded(2, 3)))


@row("existing")
def sharded_that_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, w=var()), lambda: ckpt(v=sharded(2, 3), w=var()))


@row()
def centrally_stored(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=central(0.0)))


@row(raises="ValueError")
def centrally_stored_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=central([0.0] * 3)))


@row()
def plain_saved_and_dtensor_live(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=dtensor(0.0)))


@row(raises="InvalidArgumentError", told=["float", "bfloat16"])
def dtensor_saved_as_bfloat16(at: Path) -> Pair:
    return Pair(saved(at, v=dtensor(as_bf16=True)), lambda: ckpt(v=var(0.0)))


@row()
def distributed_of_every_kind(at: Path) -> Pair:
    path = live_objects.distributed_variables().save(str(at / "ckpt"))
    return Pair(path, live_objects.distributed_variables)

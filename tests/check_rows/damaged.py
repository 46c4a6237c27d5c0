"""Checkpoints of which bytes have changed on the disk, checked with `verify=True`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.check_rows.contexts import graph
from tests.check_rows.objects import filled_table, named_v, state_of_python, training, v1_momentum
from tests.check_rows.saving import (
    in_two_shards,
    saved_training,
    tensors_of_version_1,
    value_key,
)
from tests.check_rows.table import Pair, Topic
from tests.support.damage import flipped, flipped_first, overwritten
from tests.support.programs import ckpt, legacy_adam, module, saved, tensors, var

row = Topic()
V = value_key("v")


def _tested(path: str, make: Any, method: str | None = None) -> Pair:
    return Pair(path, make, method, verify=True)


def _numbers(at: Path) -> str:
    return flipped(saved(at, v=var([1.0, 2.0, 3.0])), V, 5)


@row()
def whole(at: Path) -> Pair:
    return _tested(saved(at, v=var(), w=var(["a"])), lambda: ckpt(v=var(), w=var(["b"])))


@row(raises="DataLossError")
def byte_of_a_number(at: Path) -> Pair:
    return _tested(_numbers(at), lambda: ckpt(v=var([0.0] * 3)))


@row(raises="DataLossError")
def byte_of_a_number_read(at: Path) -> Pair:
    return _tested(_numbers(at), lambda: ckpt(v=var([0.0] * 3)), "read")


@row(raises="DataLossError")
def damage_counts_before_the_shape(at: Path) -> Pair:
    return _tested(_numbers(at), lambda: ckpt(v=var([0.0] * 2)))


@row(raises="InvalidArgumentError")
def dtype_counts_before_the_damage(at: Path) -> Pair:
    return _tested(_numbers(at), lambda: ckpt(v=var([0] * 3)))


@row("existing nontrivial")
def damaged_value_that_no_variable_reads(at: Path) -> Pair:
    return _tested(_numbers(at), lambda: ckpt(w=var()), "read")


@row("consumed nontrivial")
def damaged_value_that_waits(at: Path) -> Pair:
    path = flipped(saved(at, m=module(v=var())), value_key("m/v"), 0)
    return _tested(path, lambda: ckpt(), "read")


@row(raises="DataLossError")
def only_the_counter_is_damaged(at: Path) -> Pair:
    path = flipped(saved(at, v=var()), value_key("save_counter"), 0)
    return _tested(path, lambda: ckpt(v=var()))


@row("existing")
def counter_that_a_read_leaves_out_is_damaged(at: Path) -> Pair:
    path = flipped(saved(at, v=var()), value_key("save_counter"), 0)
    return _tested(path, lambda: ckpt(v=var(), w=var()), "read")


@row(raises="DataLossError")
def several_values_are_damaged(at: Path) -> Pair:
    path = saved(at, a=var(), b=var(), c=var())
    for name in "ab":
        flipped(path, value_key(name), 0)
    return _tested(path, lambda: ckpt(a=var(), b=var(), c=var()))


def _strings(at: Path) -> str:
    return saved(at, v=var(["abc", "de", "x" * 200]))


def _live_strings() -> Any:
    return ckpt(v=var(["", "", ""]))


@row(raises="DataLossError")
def byte_of_a_string(at: Path) -> Pair:
    return _tested(flipped(_strings(at), V, 100), _live_strings)


@row(raises="DataLossError")
def length_of_a_string(at: Path) -> Pair:
    return _tested(flipped(_strings(at), V, 0), _live_strings)


@row(raises="DataLossError")
def length_of_a_string_with_a_byte_more(at: Path) -> Pair:
    return _tested(flipped(_strings(at), V, 1, 0x80), _live_strings)


@row(raises="DataLossError")
def checksum_of_the_lengths(at: Path) -> Pair:
    return _tested(flipped(_strings(at), V, 5), _live_strings)


@row(raises="OutOfRangeError")
def length_that_does_not_end(at: Path) -> Pair:
    return _tested(overwritten(_strings(at), V, 0, b"\xff" * 20), _live_strings)


@row(raises="DataLossError")
def table(at: Path) -> Pair:
    path = flipped_first(saved(at, t=filled_table(2)), "t/.ATTRIBUTES/table-values")
    return _tested(path, lambda: ckpt(t=filled_table(2)))


def _iterator() -> Any:
    import tensorflow as tf

    return ckpt(i=iter(tf.data.Dataset.range(10)))


@row(raises="DataLossError")
def iterator(at: Path) -> Pair:
    path = str(_iterator().save(str(at / "ckpt")))
    return _tested(flipped(path, "i/.ATTRIBUTES/ITERATOR_STATE", -1), _iterator)


@row(raises="InternalError")
def type_name_of_an_iterators_state(at: Path) -> Pair:
    path = str(_iterator().save(str(at / "ckpt")))
    return _tested(flipped(path, "i/.ATTRIBUTES/ITERATOR_STATE", 5), _iterator)


@row()
def iterator_that_is_whole(at: Path) -> Pair:
    return _tested(str(_iterator().save(str(at / "ckpt"))), _iterator)


@row(raises="OpError")
def python_state_of_an_object(at: Path) -> Pair:
    path = saved(at, p=state_of_python())
    return _tested(flipped(path, "p/.ATTRIBUTES/py_state", -1), lambda: ckpt(p=state_of_python()))


def _slot(path: str) -> str:
    return flipped_first(path, ".OPTIMIZER_SLOT")


@row(raises="DataLossError")
def slot_variable(at: Path) -> Pair:
    path = _slot(saved_training(at, legacy_adam()))
    return _tested(path, lambda: training(legacy_adam()))


@row(raises="DataLossError")
def slot_variable_that_the_restore_makes(at: Path) -> Pair:
    path = _slot(saved_training(at, legacy_adam()))
    return _tested(path, lambda: training(legacy_adam(), steps=False))


@row(raises="DataLossError")
def slot_variable_of_version_1(at: Path) -> Pair:
    path = _slot(saved_training(at, v1_momentum()))
    return _tested(path, lambda: training(v1_momentum(), steps=False))


@row(raises="DataLossError")
def by_name(at: Path) -> Pair:
    path = flipped(tensors(at, v=[1.0, 2.0]), "v", 0)
    return _tested(path, lambda: ckpt(x=named_v([0.0] * 2)))


@row(raises="DataLossError")
def by_name_damage_counts_before_the_shape(at: Path) -> Pair:
    path = flipped(tensors(at, v=[1.0, 2.0]), "v", 0)
    return _tested(path, lambda: ckpt(x=named_v([0.0] * 3)))


@row()
def by_name_another_is_damaged(at: Path) -> Pair:
    path = flipped(tensors(at, u=[1.0], v=[1.0, 2.0]), "u", 0)
    return _tested(path, lambda: ckpt(x=named_v([0.0] * 2)))


@row(raises="DataLossError")
def by_name_in_slices(at: Path) -> Pair:
    path = _in_slices(at)
    return _tested(flipped(path, "v", 3, part=1), lambda: ckpt(x=named_v([[0.0, 0.0]] * 6)))


@row()
def by_name_in_whole_slices(at: Path) -> Pair:
    return _tested(_in_slices(at), lambda: ckpt(x=named_v([[0.0, 0.0]] * 6)))


def _in_slices(at: Path) -> str:
    import tensorflow as tf

    path = str(at / "model.ckpt")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=["v"] * 3,
        shape_and_slices=[f"6 2 {first},2:0,2" for first in (0, 2, 4)],
        tensors=[tf.ones([2, 2])] * 3,
    )
    return path


@row(raises="InvalidArgumentError")
def of_version_1(at: Path) -> Pair:
    path = tensors_of_version_1(at, u=[1.0] * 200_000, v=[1.0] * 200_000)
    data = bytearray(Path(path).read_bytes())
    data[1_200_000] ^= 1
    Path(path).write_bytes(bytes(data))
    return _tested(path, lambda: ckpt(x=named_v([0.0] * 200_000)))


@row()
def of_version_1_another_is_damaged(at: Path) -> Pair:
    path = tensors_of_version_1(at, u=[1.0] * 200_000, v=[1.0] * 200_000)
    data = bytearray(Path(path).read_bytes())
    data[500_000] ^= 1
    Path(path).write_bytes(bytes(data))
    return _tested(path, lambda: ckpt(x=named_v([0.0] * 200_000)))


@row(raises="NotFoundError")
def shard_is_gone(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return _tested(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row(raises="OutOfRangeError")
def shard_is_short(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.write_bytes(data.read_bytes()[:10])
    return _tested(prefix, lambda: ckpt(v=var([0.0] * 3)))


@row(within=graph)
def in_a_graph_the_session_finds_it(at: Path) -> Pair:
    def live() -> Any:
        import tensorflow as tf

        return ckpt(v=tf.Variable([0.0] * 3))

    return _tested(_numbers(at), live)

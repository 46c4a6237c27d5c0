"""Name-based checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.check_rows.contexts import graph, skipping_slots
from tests.check_rows.objects import (
    NotTracked,
    answering_with_errors,
    counted,
    holding_a_poisoned_list,
    iterator,
    mirrored,
    mutable_table,
    named_v,
    registered,
    serializing,
    sharded,
    special,
    state_of_python,
    tracking_its_slot,
    v1_ckpt,
    with_saveables,
)
from tests.check_rows.saving import tensors_of_version_1
from tests.check_rows.table import ALL, Pair, Topic
from tests.support.programs import ckpt, keras_2, keras_3, module, saved, tensors, var

row = Topic()


@row()
def named(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=var(0.0, name="v")))


@row()
def named_read(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=var(0.0, name="v")), "read")


@row()
def named_of_the_saver(at: Path) -> Pair:
    import tensorflow as tf

    saver = tf.compat.v1.train.Saver([var(1.0, name="v"), var([2], name="scope/w")])
    path = saver.save(None, str(at / "model.ckpt"), global_step=3)
    return Pair(path, lambda: ckpt(x=var(0.0, name="v"), y=module(z=var([0], name="scope/w"))))


@row()
def named_in_a_file_of_version_1(at: Path) -> Pair:
    return Pair(
        tensors_of_version_1(at, v=1.0, w=[2]), lambda: ckpt(x=named_v(), y=var([0], name="w"))
    )


@row(ALL)
def named_in_a_file_of_version_1_that_has_less(at: Path) -> Pair:
    return Pair(tensors_of_version_1(at, w=[2]), lambda: ckpt(x=named_v()))


@row(raises="InvalidArgumentError")
def named_in_a_file_of_version_1_of_another_dtype(at: Path) -> Pair:
    return Pair(tensors_of_version_1(at, v=1), lambda: ckpt(x=named_v()))


@row()
def named_file_has_more(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0, extra=[1, 2]), lambda: ckpt(x=named_v()))


@row(ALL)
def named_file_has_less(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), y=var(0.0, name="w")))


@row()
def named_alike(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), y=named_v(), z=module(x=named_v())))


@row(ALL)
def named_without_a_name(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=var()))


@row(ALL)
def named_and_the_root_another_object(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(module(x=named_v())))


@row()
def named_and_the_root_another_object_read(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(module(x=named_v())), "read")


@row()
def named_trackable_alone(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: module(x=named_v()))


@row()
def named_with_attached_keywords(at: Path) -> Pair:
    path = tensors(at, v=1.0, w=2.0)
    return Pair(path, lambda: ckpt(module(x=named_v()), y=var(0.0, name="w")), "read")


@row()
def named_and_the_counter_in_the_file(at: Path) -> Pair:
    import numpy as np

    return Pair(tensors(at, v=1.0, save_counter=np.int64(3)), lambda: ckpt(x=named_v()))


@row(raises="InvalidArgumentError", says=["int64", "float"])
def named_and_the_counter_in_the_file_a_float(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0, save_counter=3.0), lambda: ckpt(x=named_v()))


@row(raises="ValueError", says=["(2,)"])
def named_and_the_counter_in_the_file_a_vector(at: Path) -> Pair:
    import numpy as np

    path = tensors(at, v=1.0, save_counter=np.array([3, 4], np.int64))
    return Pair(path, lambda: ckpt(x=named_v()))


@row()
def named_and_the_counter_there_before(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: counted(ckpt(x=named_v())))


@row(ALL)
def named_and_the_counter_there_before_a_read(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: counted(ckpt(x=named_v())), "read")


@row()
def named_and_the_counter_of_another_root_there_before(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: counted(ckpt(module(x=named_v()))))


@row()
def named_for_tensorflow_1(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: v1_ckpt(x=named_v()))


@row()
def named_for_tensorflow_1_in_a_file_of_version_1(at: Path) -> Pair:
    return Pair(tensors_of_version_1(at, v=1.0), lambda: v1_ckpt(x=named_v()))


@row(raises="InvalidArgumentError", says=["Expected int32 got float"])
def named_of_another_dtype(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(1)))


@row(raises="ValueError", says=["(2,)", "()", "name v"])
def named_of_another_shape(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0, 2.0]), lambda: ckpt(x=named_v()))


@row(raises="ValueError", says=["(2,)"])
def named_of_another_shape_and_dtype(at: Path) -> Pair:
    return Pair(tensors(at, v=[1, 2]), lambda: ckpt(x=named_v()))


@row(raises="ValueError", says=["(2,)"])
def named_first_error_by_breadth(at: Path) -> Pair:
    path = tensors(at, v=[1.0, 2.0], w=1)
    return Pair(path, lambda: ckpt(a=module(y=var(0.0, name="w")), b=named_v()))


@row()
def named_of_any_shape(at: Path) -> Pair:
    import tensorflow as tf

    path = tensors(at, v=[1.0, 2.0])
    return Pair(path, lambda: ckpt(x=var(0.0, name="v", shape=tf.TensorShape(None))))


@row(ALL)
def named_and_python_state(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), state=state_of_python()))


@row(ALL)
def named_and_a_table(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), t=mutable_table()))


@row(ALL)
def named_and_an_iterator(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), t=iterator()))


@row(ALL)
def named_and_an_object_that_serializes_itself(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), m=serializing(a=1.0)))


@row(ALL)
def named_and_an_object_with_saveables_that_need_a_name(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), m=with_saveables(A=1.0)))


@row()
def named_and_an_object_whose_saveables_are_variables(at: Path) -> Pair:
    def live() -> Any:
        inner = var(0.0, name="inner")
        return ckpt(
            x=named_v(), m=special(_gather_saveables_for_checkpoint=lambda self: {"I": inner})()
        )

    return Pair(tensors(at, v=1.0, inner=2.0), live)


@row()
def named_and_an_object_with_a_registered_saver(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), m=registered("Strict")()))


@row()
def named_and_empty_containers(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=named_v(), y=[], z={"a": []}))


@row()
def named_and_an_object_that_answers_with_errors(at: Path) -> Pair:
    def live() -> Any:
        target = ckpt(m=answering_with_errors()(a=named_v()))
        object.__setattr__(target.m, "ready", True)
        return target

    return Pair(tensors(at, v=1.0), live)


def _with_named_slot() -> Any:
    """Return a variable and what holds its slot; an optimizer's slots get ever new names."""
    import tensorflow as tf

    variable, slot = named_v(), var(0.0, name="v/Slot")
    kept = NotTracked({id(variable): slot})
    holder = special(
        get_slot_names=lambda self: ["slot"],
        get_slot=lambda self, variable, name: kept.held.get(id(variable)),
    )()
    assert isinstance(slot, tf.Variable)
    return ckpt(x=variable, optimizer=holder)


@row()
def named_and_slots(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0, **{"v/Slot": 2.0}), _with_named_slot)


@row(ALL)
def named_and_slots_that_the_file_lacks(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), _with_named_slot)


@row(ALL)
def named_and_slots_skipped(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), _with_named_slot, options=skipping_slots())


@row(raises="NotImplementedError")
def named_and_a_slot_that_is_tracked_elsewhere(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0]), tracking_its_slot)


@row(ALL)
def named_and_a_keras_3_model(at: Path) -> Pair:
    keras = keras_3()

    def live() -> Any:
        layer = keras.layers.Dense(2)
        layer.build((None, 3))
        return ckpt(layer=layer)

    return Pair(tensors(at, kernel=[[1.0, 2.0]] * 3), live)


@row(ALL)
def named_and_a_keras_3_model_whose_names_are_there(at: Path) -> Pair:
    keras = keras_3()

    def live() -> Any:
        layer = keras.layers.Dense(2, name="named")
        layer.build((None, 3))
        return ckpt(layer=layer)

    values = {"named/kernel": [[1.0, 2.0]] * 3, "named/bias": [1.0, 2.0]}
    return Pair(tensors(at, **values), live)


@row()
def named_and_keras_3_variables_that_all_go_by_the_name_of_their_attribute(at: Path) -> Pair:
    keras = keras_3()
    path = tensors(at, VARIABLE_VALUE=[1.0, 2.0])
    return Pair(path, lambda: ckpt(a=keras.Variable([0.0, 0.0]), b=keras.Variable([0.0, 0.0])))


@row()
def named_and_a_keras_2_model(at: Path) -> Pair:
    keras = keras_2()

    def live() -> Any:
        layer = keras.layers.Dense(2, name="dense")
        layer.build((None, 3))
        return ckpt(layer=layer)

    path = tensors(at, kernel=[[1.0, 2.0]] * 3, bias=[1.0, 2.0])
    return Pair(path, live)


@row()
def named_and_mirrored(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=mirrored(0.0, name="v")))


@row(raises="ValueError")
def named_and_mirrored_of_another_shape(at: Path) -> Pair:
    return Pair(tensors(at, v=[1.0, 2.0]), lambda: ckpt(x=mirrored(0.0, name="v")))


@row(ALL)
def named_and_mirrored_by_another_name(at: Path) -> Pair:
    return Pair(tensors(at, w=1.0), lambda: ckpt(x=mirrored(0.0, name="v")))


@row(ALL)
def named_and_sharded(at: Path) -> Pair:
    return Pair(tensors(at, v=[[1.0, 2.0]] * 5), lambda: ckpt(x=sharded(2, 3)))


def _partitioned_file(at: Path, version: int = 2) -> str:
    """Save a variable of the shape (6, 2) in two parts, as TensorFlow 1 does."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable(
            "sharded", (6, 2), partitioner=v1.fixed_size_partitioner(2), use_resource=True
        )
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(write_version=version)
        return str(saver.save(session, str(at / "model.ckpt"), write_meta_graph=False))


_TOLD = "shape (6, 2) when attempting to restore variable with shape {} and name sharded."


@row(raises="ValueError", says=[_TOLD.format("(3, 2)")])
def parts_of_the_file_into_as_many_shards(at: Path) -> Pair:
    return Pair(_partitioned_file(at), lambda: ckpt(x=sharded(3, 3)))


@row(raises="ValueError", says=[_TOLD.format("(1, 2)")])
def parts_of_the_file_into_shards_of_different_sizes(at: Path) -> Pair:
    return Pair(_partitioned_file(at), lambda: ckpt(x=sharded(2, 3, 1)))


@row(raises="ValueError", says=[_TOLD.format("(3, 2)")])
def parts_of_a_file_of_version_1_into_shards(at: Path) -> Pair:
    return Pair(_partitioned_file(at, 1), lambda: ckpt(x=sharded(3, 3)))


@row()
def parts_of_the_file_into_one_shard(at: Path) -> Pair:
    return Pair(_partitioned_file(at), lambda: ckpt(x=sharded(6)))


@row(raises="ValueError", says=[_TOLD.format("(4, 2)")])
def parts_of_the_file_into_a_variable_of_another_shape(at: Path) -> Pair:
    return Pair(_partitioned_file(at), lambda: ckpt(x=var([[0.0, 0.0]] * 4, name="sharded")))


@row(raises="ValueError", says=["shape (2, 1)", "variable with shape (None, 3) and name v."])
def named_and_of_a_shape_that_is_partly_known(at: Path) -> Pair:
    import tensorflow as tf

    def live() -> Any:
        return ckpt(x=tf.Variable([[0.0] * 3], shape=[None, 3], name="v"))

    return Pair(tensors(at, v=[[1.0], [2.0]]), live)


def _parts(v1: Any) -> list[Any]:
    """Return a variable of 5 elements in two parts."""
    cut = v1.fixed_size_partitioner(2)
    return list(v1.get_variable("v", (5,), partitioner=cut, use_resource=True))


@row(ALL, within=graph)
def named_and_parts_of_a_tensor(at: Path) -> Pair:
    import tensorflow as tf

    path = tensors(at, v=[1.0, 2.0, 3.0, 4.0, 5.0])

    def live() -> Any:
        with tf.compat.v1.variable_scope("", reuse=tf.compat.v1.AUTO_REUSE):
            return ckpt(x=_parts(tf.compat.v1))

    return Pair(path, live)


@row()
def named_and_a_whole_that_was_saved_in_parts(at: Path) -> Pair:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        parts = _parts(v1)
        session.run([part.initializer for part in parts])
        path = v1.train.Saver(parts).save(session, str(at / "model.ckpt"))
    return Pair(path, lambda: ckpt(x=named_v([0.0] * 5)))


@row(raises="ValueError")
def named_and_a_poisoned_list(at: Path) -> Pair:
    return Pair(
        tensors(at, v=1.0), lambda: ckpt(x=named_v(), y=holding_a_poisoned_list([var(), var()]))
    )


@row(raises="NotFoundError")
def named_and_its_data_gone(at: Path) -> Pair:
    path = tensors(at, v=1.0)
    os.remove(f"{path}.data-00000-of-00001")
    return Pair(path, lambda: ckpt(x=named_v()))


@row(ALL)
def object_based_but_called_by_the_index(at: Path) -> Pair:
    return Pair(saved(at, v=var(name="v")) + ".index", lambda: ckpt(v=named_v()))


@row()
def index_called_where_nothing_has_a_value(at: Path) -> Pair:
    return Pair(saved(at, v=var()) + ".index", lambda: ckpt(v=module()))


@row()
def shards_of_version_1_by_a_pattern(at: Path) -> Pair:
    import tensorflow as tf

    for number, name in enumerate("vw"):
        tf.raw_ops.Save(
            filename=f"{at}/m-{number:05}-of-00002", tensor_names=[name], data=[tf.constant(1.0)]
        )
    return Pair(f"{at}/m-?????-of-00002", lambda: ckpt(x=named_v(), y=var(0.0, name="w")))

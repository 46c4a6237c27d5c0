"""TensorFlow 1's graphs: a restore adds operations that a session runs later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.check_rows.contexts import graph
from tests.check_rows.objects import (
    holding_a_poisoned_list,
    registered,
    state_of_python,
    v1_ckpt,
    v1_momentum,
)
from tests.check_rows.saving import (
    drop,
    in_two_shards,
    saved_training,
    tensors_of_version_1,
    value_key,
)
from tests.check_rows.table import ALL, Pair, Topic
from tests.support.programs import (
    ckpt,
    keras_2,
    module,
    rewritten,
    saved,
    tensors,
    v1_adam,
    var,
    written,
)

row = Topic()


def _variable_in_a_graph(value: Any = 0.0, use_resource: bool = True) -> Any:
    import tensorflow as tf

    return tf.compat.v1.Variable(value, use_resource=use_resource, name="v")


@row(within=graph)
def in_a_graph(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=_variable_in_a_graph()))


@row(within=graph)
def in_a_graph_for_tensorflow_1(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: v1_ckpt(v=_variable_in_a_graph()))


@row(within=graph)
def in_a_graph_and_the_root_another_object(at: Path) -> Pair:
    return Pair(saved(at, module(v=var())), lambda: ckpt(module(v=_variable_in_a_graph())))


@row(within=graph)
def in_a_graph_a_reference_variable(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=_variable_in_a_graph(use_resource=False)))


@row(within=graph)
def in_a_graph_a_wrong_shape_passes(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=_variable_in_a_graph([0.0])))


@row(within=graph)
def in_a_graph_a_wrong_dtype_passes(at: Path) -> Pair:
    return Pair(saved(at, v=var(1)), lambda: ckpt(v=_variable_in_a_graph()))


@row(within=graph)
def in_a_graph_a_missing_tensor_passes(at: Path) -> Pair:
    path = rewritten(at, saved(at, v=var()), lambda proto, values: drop(values, value_key("v")))
    return Pair(path, lambda: ckpt(v=_variable_in_a_graph()))


@row(within=graph)
def in_a_graph_a_missing_shard_passes(at: Path) -> Pair:
    prefix, _, data = in_two_shards(at)
    data.unlink()
    return Pair(prefix, lambda: ckpt(v=_variable_in_a_graph([0.0] * 3)))


@row("consumed", within=graph)
def in_a_graph_the_checkpoint_has_more(at: Path) -> Pair:
    return Pair(saved(at, v=var(), w=var()), lambda: ckpt(v=_variable_in_a_graph()))


@row("existing", within=graph)
def in_a_graph_the_program_has_more(at: Path) -> Pair:
    return Pair(
        saved(at, v=var()),
        lambda: ckpt(v=_variable_in_a_graph(), w=module(x=_variable_in_a_graph())),
    )


@row("existing", within=graph)
def in_a_graph_written_and_restored(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(v=_variable_in_a_graph()))


@row(within=graph)
def in_a_graph_written_and_read(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(v=_variable_in_a_graph()), "read")


@row("consumed", within=graph)
def in_a_graph_slots_are_not_made(at: Path) -> Pair:
    path = saved_training(at, v1_momentum(), shapes=(2,))

    def live() -> Any:
        return ckpt(model=module(vs=[_variable_in_a_graph([0.0, 0.0])]), optimizer=v1_momentum())

    return Pair(path, live)


@row(within=graph)
def in_a_graph_slots_are_there(at: Path) -> Pair:
    path = saved_training(at, v1_adam(), shapes=(2,))

    def live() -> Any:
        import tensorflow as tf

        variable, optimizer = _variable_in_a_graph([0.0, 0.0]), v1_adam()
        optimizer.apply_gradients([(tf.ones_like(variable), variable)])
        return ckpt(model=module(vs=[variable]), optimizer=optimizer)

    return Pair(path, live)


@row("consumed", within=graph)
def in_a_graph_a_module_takes_no_values(at: Path) -> Pair:
    return Pair(saved(at, x=var()), lambda: ckpt(x=module()))


@row(within=graph)
def in_a_graph_python_state_is_read_at_once(at: Path) -> Pair:
    path = saved(at, v=var(), state=state_of_python())
    return Pair(path, lambda: ckpt(v=_variable_in_a_graph(), state=state_of_python()))


@row(raises="NotFoundError", within=graph)
def in_a_graph_missing_python_state_is_found_at_once(at: Path) -> Pair:
    key = "state/.ATTRIBUTES/py_state"
    path = rewritten(
        at, saved(at, state=state_of_python()), lambda proto, values: drop(values, key)
    )
    return Pair(path, lambda: ckpt(state=state_of_python()))


@row(raises="ValueError", within=graph)
def in_a_graph_a_poisoned_list(at: Path) -> Pair:
    path = saved(at, m=module(items=[var(), var()]))

    def live() -> Any:
        items = [_variable_in_a_graph(), _variable_in_a_graph()]
        return ckpt(m=holding_a_poisoned_list(items))

    return Pair(path, live)


@row(raises="ValueError", within=graph)
def in_a_graph_a_registered_saver_refuses(at: Path) -> Pair:
    return Pair(saved(at, m=registered("Strict")()), lambda: ckpt(m=module()))


@row(raises="NotFoundError", within=graph)
def in_a_graph_no_such_checkpoint(at: Path) -> Pair:
    return Pair(str(at / "ckpt-7"), lambda: ckpt(v=_variable_in_a_graph()))


@row(ALL, within=graph)
def in_a_graph_restore_of_none(at: Path) -> Pair:
    return Pair(None, lambda: ckpt(v=_variable_in_a_graph()))


@row(ALL, within=graph)
def in_a_graph_nothing_is_named_before_the_session_runs(at: Path) -> Pair:
    return Pair(tensors(at, v=1.0), lambda: ckpt(x=_variable_in_a_graph()))


@row(ALL, within=graph)
def in_a_graph_a_named_file_of_version_1(at: Path) -> Pair:
    return Pair(tensors_of_version_1(at, v=1.0), lambda: ckpt(x=_variable_in_a_graph()), "read")


@row(within=graph)
def in_a_graph_two_nodes_of_one_object(at: Path) -> Pair:
    def live() -> Any:
        shared = _variable_in_a_graph()
        return ckpt(a=shared, b=shared)

    return Pair(saved(at, a=var(), b=var()), live)


@row(within=graph)
def in_a_graph_a_keras_2_layer(at: Path) -> Pair:
    keras = keras_2()

    def layer() -> Any:
        made = keras.layers.Dense(2)
        made.build((None, 3))
        return made

    return Pair(saved(at, layer=layer()), lambda: ckpt(layer=layer()))


@row(within=graph)
def saved_in_a_graph(at: Path) -> Pair:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = _variable_in_a_graph()
        source = ckpt(v=variable)
        assert source.save_counter is not None
        session.run([variable.initializer, source.save_counter.initializer])
        with session.as_default():
            path = source.save(str(at / "ckpt"))
    return Pair(path, lambda: ckpt(v=_variable_in_a_graph()))


@row()
def saved_in_a_graph_and_restored_eagerly(at: Path) -> Pair:
    return Pair(saved_in_a_graph(at).path, lambda: ckpt(v=var()))

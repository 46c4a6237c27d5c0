"""Pairs for the findings on errors, in the restore or in every assert.

process_abort, poisoned_container, slot_reused, strategy_scope, shape, dtype, partial_overwrite.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.objects import (
    dense_table,
    in_a_graph,
    mutable_table,
    replaced_block,
    saved_with,
    two_blocks,
)
from tests.check_findings.table import DEFERRED, ERROR, FAIL, WARNING, Pair, Rows
from tests.check_rows.objects import unlistable
from tests.support.programs import (
    ckpt,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    made_within,
    module,
    save_any,
    saved,
    stepped,
    v1_adam,
    var,
    with_adam,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- process_abort


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process", "keys of shape 1")
def one_entry_into_a_dense_table(at: Path) -> Pair:
    path = saved(at, t=mutable_table(1))
    return Pair(
        path,
        lambda: ckpt(t=dense_table()),
        fixed=lambda: Pair(path, lambda: ckpt(t=mutable_table())),
    )


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process")
def one_string_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(1, "string")), lambda: ckpt(t=dense_table(key="string")))


@shows(Kind.PROCESS_ABORT, ERROR, "(root).t", "(root).t", "ends the process", "keys of shape 3")
def three_entries_into_a_dense_table_of_triples(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(3)), lambda: ckpt(t=dense_table(0, [3])))


@silent(Kind.PROCESS_ABORT)
def two_entries_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def no_entries_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table()), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_of_other_dtypes_into_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(1, "string")), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_from_dense_table_to_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=dense_table(1)), lambda: ckpt(t=dense_table()))


@silent(Kind.PROCESS_ABORT)
def one_entry_from_a_dense_table(at: Path) -> Pair:
    return Pair(saved(at, t=dense_table(1)), lambda: ckpt(t=mutable_table()))


# --- poisoned_container


@shows(
    Kind.POISONED_CONTAINER,
    ERROR,
    "(root).model.blocks",
    "(root).model.blocks",
    "Unable to save the object",
    "Assign a new list",
)
def item_of_a_list_replaced(at: Path) -> Pair:
    path = saved(at, model=two_blocks())

    def fixed() -> Any:
        model = two_blocks()
        model.blocks = [module(v=var()), module(v=var())]
        return ckpt(model=model)

    return Pair(path, lambda: ckpt(model=replaced_block()), fixed=lambda: Pair(path, fixed))


@shows(
    Kind.POISONED_CONTAINER,
    FAIL,
    None,
    "(root).other.blocks",
    "every assert and the next save raise ValueError",
)
def poisoned_where_the_checkpoint_has_nothing(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), other=replaced_block()))


@shows(Kind.POISONED_CONTAINER, ERROR, "(root).m.d", "(root).m.d", "non-string key")
def dict_with_a_number_for_a_key(at: Path) -> Pair:
    path = saved(at, m=module(d={"1": var()}))
    return Pair(path, lambda: ckpt(m=module(d={1: var()})))


@silent(Kind.POISONED_CONTAINER)
def item_appended_to_a_list(at: Path) -> Pair:
    def live() -> Any:
        model = two_blocks()
        model.blocks.append(module(v=var()))
        return ckpt(model=model)

    return Pair(saved(at, model=two_blocks()), live)


@silent(Kind.POISONED_CONTAINER)
def none_in_a_list_replaced(at: Path) -> Pair:
    def make() -> Any:
        model = module(blocks=[None, module(v=var())])
        model.blocks[0] = module(v=var())
        return ckpt(model=model)

    return Pair(save_any(at, make()), make)


@silent(Kind.POISONED_CONTAINER)
def object_that_refuses_to_list_its_children(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var())), lambda: ckpt(m=unlistable()()))


# --- slot_reused


@shows(
    Kind.SLOT_REUSED,
    FAIL,
    None,
    "(root).model.again",
    "'m'",
    "every assert and the next save raise",
)
def slot_of_tensorflow_1_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(v1_adam)
        target.model.again = target.optimizer.get_slot(target.model.a, "m")
        return target

    path = save_any(at, with_adam(v1_adam))
    return Pair(path, live, fixed=lambda: Pair(path, lambda: with_adam(v1_adam)))


@shows(Kind.SLOT_REUSED, FAIL, None, "(root).model.again", "'v'", "next save")
def slot_of_legacy_keras_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(legacy_adam)
        target.model.again = target.optimizer.get_slot(target.model.a, "v")
        return target

    return Pair(save_any(at, with_adam(legacy_adam)), live)


@silent(Kind.SLOT_REUSED)
def state_of_keras_3_is_an_attribute(at: Path) -> Pair:
    def live() -> Any:
        target = with_adam(keras_3_adam)
        target.model.again = target.optimizer._momentums[0]
        return target

    return Pair(save_any(at, live()), live)


# --- strategy_scope


@cache
def strategy(number: int = 1) -> Any:
    """Return a strategy; each number has one of its own."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["CPU:0"])


def scope(number: int = 1) -> AbstractContextManager[Any]:
    context: AbstractContextManager[Any] = strategy(number).scope()
    return context


def another_scope() -> AbstractContextManager[Any]:
    return scope(2)


def in_scope(make: Callable[[], Any]) -> Callable[[], Any]:
    return made_within(scope, make)


def model_of_one() -> Any:
    return module(a=var([1.0, 2.0]))


def before_the_first_step() -> Any:
    """Return a model and a legacy optimizer that has no slot variables yet."""
    return ckpt(model=model_of_one(), optimizer=legacy_adam())


@shows(
    Kind.STRATEGY_SCOPE,
    ERROR,
    "(root).optimizer's state 'm' for (root).model.a",
    "(root).optimizer",
    "ValueError: Trying to create optimizer slot variable under the scope",
    "inside the scope() of the strategy",
)
def optimizer_outside_of_the_scope_of_its_variables(at: Path) -> Pair:
    path = saved_with(at, legacy_adam)
    return Pair(
        path,
        lambda: ckpt(model=in_scope(model_of_one)(), optimizer=legacy_adam()),
        fixed=lambda: Pair(path, in_scope(before_the_first_step), within=scope),
        passes="assert_existing_objects_matched",
    )


@shows(Kind.STRATEGY_SCOPE, ERROR, None, None, "ValueError", "different from the scope")
def restored_in_the_scope_of_another_strategy(at: Path) -> Pair:
    path = saved_with(at, legacy_adam)
    return Pair(path, in_scope(before_the_first_step), within=another_scope)


@shows(Kind.STRATEGY_SCOPE, ERROR, None, None, "RuntimeError: Mixing different tf.distribute")
def keras_3_restored_in_the_scope_of_another_strategy(at: Path) -> Pair:
    return Pair(
        saved_with(at, keras_3_adam),
        in_scope(lambda: with_adam(keras_3_adam)),
        within=another_scope,
    )


@shows(
    Kind.STRATEGY_SCOPE,
    DEFERRED,
    "(root).optimizer's state 'm' for (root).model.a",
    "(root).optimizer",
    "2 slot variables wait",
    "outside of the scope",
)
def slots_are_not_made_in_a_foreign_scope(at: Path) -> Pair:
    path = saved_with(at, legacy_adam)
    return Pair(
        path,
        before_the_first_step,
        within=another_scope,
        fixed=lambda: Pair(path, before_the_first_step),
        passes="assert_existing_objects_matched",
        after=lambda target: stepped(target.optimizer, [target.model.a]),
    )


@silent(Kind.STRATEGY_SCOPE)
def all_made_and_restored_in_one_scope(at: Path) -> Pair:
    def build(target: Any) -> None:
        with scope():  # as a step does in a replica's context
            target.optimizer._create_all_weights([target.model.a])

    path = saved_with(at, legacy_adam)
    return Pair(path, in_scope(before_the_first_step), within=scope, after=build)


@silent(Kind.STRATEGY_SCOPE)
def plain_variables_restored_in_a_foreign_scope(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var()), within=another_scope)


@silent(Kind.STRATEGY_SCOPE)
def mirrored_variables_restored_outside_of_their_scope(at: Path) -> Pair:
    return Pair(saved(at, v=var()), in_scope(lambda: ckpt(v=var())))


# --- shape


@shows(Kind.SHAPE, ERROR, "(root).v", "(root).v", "has shape 2, the program's 3")
def variable_of_another_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return Pair(
        path,
        lambda: ckpt(v=var([1.0, 2.0, 3.0])),
        fixed=lambda: Pair(path, lambda: ckpt(v=var([0.0, 0.0]))),
    )


@shows(Kind.SHAPE, ERROR, None, None, "has shape 3×5, the program's 3×4", "the saved shape.")
def classes_of_the_head_changed(at: Path) -> Pair:
    return Pair(saved(at, model=keras_3_sequential(5)), lambda: ckpt(model=keras_3_sequential(4)))


@shows(Kind.SHAPE, ERROR, None, None, "has shape 3×5", "its 2 slot variables fail, too")
def layer_of_another_width_with_its_optimizer(at: Path) -> Pair:
    def make(units: int) -> Any:
        model = keras_3_sequential(units)
        return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))

    return Pair(str(make(5).save(str(at / "ckpt"))), lambda: make(4))


@shows(Kind.SHAPE, ERROR, "(root).t", "(root).t", "has shape 2, the program's 1")
def entries_of_a_table_in_the_wrong_place(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=dense_table()))


@shows(Kind.SHAPE, WARNING, "(root).v", "(root).v", "shape 2", "takes it without an error")
def graph_takes_another_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return in_a_graph(path, [5.0])


@silent(Kind.SHAPE)
def variable_of_any_length(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, v=var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(v=var([1.0], shape=tf.TensorShape([None]))))


@silent(Kind.SHAPE)
def graph_takes_the_same_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return in_a_graph(path, [5.0, 6.0])


# --- dtype


@shows(Kind.DTYPE, ERROR, "(root).v", "(root).v", "has dtype float32, the program's float64")
def variable_of_another_dtype(at: Path) -> Pair:
    path = saved(at, v=var([1.0]))
    return Pair(
        path,
        lambda: ckpt(v=var([1.0], dtype="float64")),
        fixed=lambda: Pair(path, lambda: ckpt(v=var([0.0]))),
    )


@shows(Kind.DTYPE, WARNING, "(root).v", "(root).v", "float32", "float64", "run_restore_ops()")
def graph_takes_another_dtype_until_it_runs(at: Path) -> Pair:
    return in_a_graph(saved(at, v=var([1.0])), [5.0], dtype="float64")


@silent(Kind.DTYPE)
def layer_that_computes_in_half_precision(at: Path) -> Pair:
    def make(policy: str) -> Any:
        layer = keras_3().layers.Dense(2, dtype=policy)
        layer.build((None, 3))
        return ckpt(layer=layer)

    path = save_any(at, make("float32"))
    return Pair(path, lambda: make("mixed_float16"))


# --- partial_overwrite


@shows(Kind.PARTIAL_OVERWRITE, ERROR, "(root).a", "(root).a", "overwritten 1 value")
def shape_of_the_last_of_two(at: Path) -> Pair:
    path = saved(at, a=var(1.0), z=var([1.0, 2.0]))
    return Pair(
        path,
        lambda: ckpt(a=var(5.0), z=var([1.0])),
        fixed=lambda: Pair(path, lambda: ckpt(a=var(5.0), z=var([5.0, 5.0]))),
    )


@shows(Kind.PARTIAL_OVERWRITE, ERROR, "(root).v", "(root).v", "overwritten 1 value")
def dtype_of_what_is_attached_to_the_root(at: Path) -> Pair:
    path = saved(at, module(v=var(1.0)), step=var(1))
    return Pair(path, lambda: ckpt(module(v=var(5.0)), step=var(1.0)))


@silent(Kind.PARTIAL_OVERWRITE)
def shape_of_the_first_of_two(at: Path) -> Pair:
    path = saved(at, a=var([1.0, 2.0]), z=var(1.0))
    return Pair(path, lambda: ckpt(a=var([1.0]), z=var(5.0)))


@silent(Kind.PARTIAL_OVERWRITE)
def dtype_of_the_last_of_two(at: Path) -> Pair:
    path = saved(at, a=var(1.0), z=var(1.0))
    return Pair(path, lambda: ckpt(a=var(5.0), z=var(5)))

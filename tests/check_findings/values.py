"""Pairs for the findings on values that go wrong although the asserts pass.

misplaced, swapped, untied, value_lost, never_restored, tensor_ignored, saver_unknown,
overwritten, unknowable.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.objects import in_a_graph, mutable_table, saved_with
from tests.check_findings.table import ERROR, FAIL, INFO, WARNING, Pair, Rows
from tests.check_rows.objects import registered, serializing, state_of_python, unlistable
from tests.check_rows.saving import saved_by_unknown_saver
from tests.support.programs import (
    ckpt,
    differently,
    keras_2,
    keras_2_adam,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    module,
    rewritten,
    save_any,
    saved,
    var,
    with_adam,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- misplaced


def frozen(first: bool, units: Sequence[int] = (3, 3, 3)) -> Any:
    model = keras_3_sequential(*units)
    model.layers[0].trainable = not first
    return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))


@shows(
    Kind.MISPLACED,
    FAIL,
    "(root).optimizer._trainable_variables.0",
    "(root).optimizer._trainable_variables.0",
    "The lists of optimizer and the model disagree about 4 saved values. ",
    ", but the restore puts it into model.dense",
)
def layer_frozen_since(at: Path) -> Pair:
    path = save_any(at, frozen(False))
    return Pair(path, lambda: frozen(True), fixed=lambda: Pair(path, lambda: frozen(False)))


@shows(
    Kind.OPTIMIZER_CHANGED,
    *(ERROR, "(root).optimizer", "(root).optimizer"),
    *("The optimizer no longer trains dense", "fix().apply()"),
)
def layer_of_another_shape_frozen_since(at: Path) -> Pair:
    path = save_any(at, frozen(False, (4, 5, 2)))
    return Pair(path, lambda: frozen(True, (4, 5, 2)))


@shows(Kind.MISPLACED, FAIL, None, None, "and the model disagree about")
def layer_frozen_when_it_was_saved(at: Path) -> Pair:
    path = save_any(at, frozen(True))
    return Pair(path, lambda: frozen(False))


def in_an_untracked_list(
    *names: str | None, frozen: int | None = None, called: str | None = None
) -> Any:
    """Return a model whose layers only the optimizer leads to: Keras 3 hides them in a list."""
    base: Any = keras_3().Model

    class Net(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name=called)
            self.blocks = [keras_3().layers.Dense(3, name=name) for name in names]

        def call(self, x: Any) -> Any:
            for layer in self.blocks:
                x = layer(x)
            return x

    model = Net()
    model(np.ones((1, 3), "float32"))
    if frozen is not None:
        model.blocks[frozen].trainable = False
    return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))


@shows(Kind.MISPLACED, FAIL, None, None, "and the order of names disagree about")
def layer_that_only_the_optimizer_leads_to_frozen_since(at: Path) -> Pair:
    path = save_any(at, differently(in_an_untracked_list("fc_a", "fc_b", "fc_c")))
    return Pair(
        path,
        lambda: in_an_untracked_list("fc_a", "fc_b", "fc_c", frozen=1),
        fixed=lambda: Pair(path, lambda: in_an_untracked_list("fc_a", "fc_b", "fc_c")),
    )


@shows(
    Kind.MISPLACED, WARNING, None, None, "disagree about 4 saved values", "belongs in optimizer.2"
)
def layers_that_only_the_optimizer_leads_to_in_another_order(at: Path) -> Pair:
    path = save_any(at, differently(in_an_untracked_list("fc_a", "fc_b")))
    return Pair(
        path,
        lambda: in_an_untracked_list("fc_b", "fc_a"),
        fixed=lambda: Pair(path, lambda: in_an_untracked_list("fc_a", "fc_b")),
    )


def gan(exchanged: bool) -> Any:
    generator, discriminator = keras_3_sequential(3, 3), keras_3_sequential(3, 3)
    optimizers = [keras_3_adam(*model.trainable_variables) for model in (generator, discriminator)]
    first, second = reversed(optimizers) if exchanged else optimizers
    return ckpt(
        generator=generator,
        discriminator=discriminator,
        generator_optimizer=first,
        discriminator_optimizer=second,
    )


@shows(
    Kind.MISPLACED,
    WARNING,
    "(root).discriminator_optimizer._trainable_variables.0",
    "(root).discriminator_optimizer._trainable_variables.0",
    "The lists of discriminator_optimizer and the model disagree about 4",
    ", but the restore puts it into generator.dense",
)
def two_optimizers_exchanged(at: Path) -> Pair:
    path = save_any(at, differently(gan(False)))
    return Pair(path, lambda: gan(True), fixed=lambda: Pair(path, lambda: gan(False)))


@shows(Kind.MISPLACED, WARNING, None, None, "4 values of the optimizer's state change places")
def optimizer_built_in_another_order(at: Path) -> Pair:
    def make(order: int) -> Any:
        model = module(a=var([1.0]), b=var([2.0]))
        return ckpt(model=model, optimizer=keras_3_adam(*[model.a, model.b][::order]))

    return Pair(save_any(at, differently(make(1))), lambda: make(-1))


@shows(Kind.MISPLACED, WARNING, None, None, "of the optimizer's state change places")
def keras_2_optimizer_built_in_another_order(at: Path) -> Pair:
    def make(order: int) -> Any:
        model = module(a=var([1.0], name="a"), b=var([2.0], name="b"))
        return ckpt(model=model, optimizer=keras_2_adam(*[model.a, model.b][::order]))

    return Pair(save_any(at, differently(make(1))), lambda: make(-1))


@shows(Kind.MISPLACED, WARNING, None, None, "of the optimizer's state change places")
def keras_2_optimizer_of_long_names_built_in_another_order(at: Path) -> Pair:
    names = [f"{'x' * 1001}{letter}" for letter in "ab"]  # sentences cut them, to equal ones

    def make(order: int) -> Any:
        variables = [var([1.0], name="a"), var([2.0], name="b")]
        model = module(**dict(zip(names, variables, strict=True)))
        return ckpt(model=model, optimizer=keras_2_adam(*variables[::order]))

    return Pair(save_any(at, differently(make(1))), lambda: make(-1))


@silent(Kind.MISPLACED)
def two_optimizers_where_they_were(at: Path) -> Pair:
    return Pair(save_any(at, gan(False)), lambda: gan(False))


@silent(Kind.MISPLACED)
def dropout_inserted_that_shifts_only_the_path_in_the_model(at: Path) -> Pair:
    def make(*names: str) -> Any:
        layers = keras_3().layers
        made = [layers.Dense(3) if name == "dense" else layers.Dropout(0.5) for name in names]
        model = keras_3().Sequential([keras_3().Input((3,)), *made])
        return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))

    path = save_any(at, differently(make("dense", "dense", "dense")))
    return Pair(path, lambda: make("dropout", "dense", "dropout", "dense", "dense"))


@silent(Kind.MISPLACED)
def layer_frozen_on_both_sides(at: Path) -> Pair:
    return Pair(save_any(at, frozen(True)), lambda: frozen(True))


@silent(Kind.MISPLACED)
def optimizer_not_built_and_layer_frozen(at: Path) -> Pair:
    path = save_any(at, frozen(False))
    return Pair(
        path,
        lambda: ckpt(model=keras_3_sequential(3, 3, 3), optimizer=keras_3_adam()),
        after=lambda target: target.optimizer.build(target.model.trainable_variables),
    )


# --- swapped


def branches(*names: str) -> Any:
    keras = keras_2()
    inputs = keras.Input((3,))
    outputs = [keras.layers.Dense(4, name=name)(inputs) for name in names]
    return ckpt(model=keras.Model(inputs, outputs))


@shows(Kind.REORDERED, WARNING, None, None, "left and right are swapped (4 values)", "check.fix()")
def branches_in_another_order(at: Path) -> Pair:
    path = save_any(at, differently(branches("left", "right")))
    return Pair(
        path,
        lambda: branches("right", "left"),
        fixed=lambda: Pair(path, lambda: branches("left", "right")),
    )


@shows(
    Kind.REORDERED,
    WARNING,
    "(root).l.0",
    "(root).l.2",
    "l.0 is in another place (3 values)",
)
def items_of_a_list_in_another_order(at: Path) -> Pair:
    def make(*names: str) -> Any:
        return ckpt(l=[var(float(i), name=name) for i, name in enumerate(names)])

    path = save_any(at, differently(make("a", "b", "c")))
    return Pair(
        path, lambda: make("b", "c", "a"), fixed=lambda: Pair(path, lambda: make("a", "b", "c"))
    )


@shows(Kind.REORDERED, WARNING, None, None, "block_1 and block_2 are swapped (4 values)")
def branches_of_chosen_names_with_numbers_in_another_order(at: Path) -> Pair:
    path = save_any(at, differently(branches("block_1", "block_2")))
    return Pair(
        path,
        lambda: branches("block_2", "block_1"),
        fixed=lambda: Pair(path, lambda: branches("block_1", "block_2")),
    )


def with_a_model_inside(*names: str, called: str = "net") -> Any:
    """Return a model whose variables have no layer in their own names, only in their slots'."""
    base, layers = keras_3().Model, keras_3().layers

    class Net(base):  # type: ignore[misc, valid-type]
        def __init__(self, **how: Any) -> None:
            super().__init__(**how)
            self.inner = keras_3().Sequential([layers.Dense(3, name=name) for name in names])

        def call(self, x: Any) -> Any:
            return self.inner(x)

    model = Net(name=called)
    model(np.ones((1, 3), "float32"))
    return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))


@shows(Kind.REORDERED, WARNING, None, None, "fc_a and fc_b are swapped (12 values)")
def layers_in_another_order_whose_slots_alone_have_names(at: Path) -> Pair:
    path = save_any(at, differently(with_a_model_inside("fc_a", "fc_b")))
    return Pair(
        path,
        lambda: with_a_model_inside("fc_b", "fc_a"),
        fixed=lambda: Pair(path, lambda: with_a_model_inside("fc_a", "fc_b")),
    )


@shows(Kind.REORDERED, WARNING, None, None, "fc_a and fc_b are swapped (12 values)")
def layers_in_another_order_in_a_model_of_another_name(at: Path) -> Pair:
    path = save_any(at, differently(with_a_model_inside("fc_a", "fc_b")))
    return Pair(
        path,
        lambda: with_a_model_inside("fc_b", "fc_a", called="other"),
        fixed=lambda: Pair(path, lambda: with_a_model_inside("fc_a", "fc_b", called="other")),
    )


@silent(Kind.SWAPPED)
def layers_in_their_order_whose_slots_alone_have_names(at: Path) -> Pair:
    path = save_any(at, differently(with_a_model_inside("fc_a", "fc_b")))
    return Pair(path, lambda: with_a_model_inside("fc_a", "fc_b"))


@silent(Kind.SWAPPED)
def branches_that_only_a_number_tells_apart(at: Path) -> Pair:
    path = save_any(at, branches("dense_1", "dense_2"))
    return Pair(path, lambda: branches("dense_2", "dense_1"))


@shows(
    Kind.SWAPPED, WARNING, "(root).a", "(root).a", "the value of 'a' into 'b'", "by name, 'b' has"
)
def one_for_the_other_and_that_for_a_third(at: Path) -> Pair:
    path = saved(at, a=var(1.0, name="a"), b=var(2.0, name="b"))
    return Pair(path, lambda: ckpt(a=var(0.0, name="b"), b=var(0.0, name="c")))


@silent(Kind.SWAPPED)
def one_full_name_changed(at: Path) -> Pair:
    path = saved(at, a=var(1.0, name="a"), b=var(2.0, name="b"))
    return Pair(path, lambda: ckpt(a=var(0.0, name="x"), b=var(0.0, name="b")))


@shows(
    Kind.SWAPPED,
    WARNING,
    None,
    None,
    "2 values of the optimizer's state change places: the state 'momentum' of model.a goes",
)
def states_of_an_optimizer_in_another_order(at: Path) -> Pair:
    def exchange(graph: Any, values: dict[str, Any]) -> None:
        optimizer = graph.nodes[_child(graph, graph.nodes[0], "optimizer")]
        states = graph.nodes[_child(graph, optimizer, "_variables")].children
        momentum, velocity = (c for c in states if c.local_name in ("2", "3"))
        momentum.node_id, velocity.node_id = velocity.node_id, momentum.node_id

    path = rewritten(at, save_any(at, differently(with_adam(keras_3_adam))), exchange)
    return Pair(path, lambda: with_adam(keras_3_adam))


def _child(graph: Any, node: Any, local_name: str) -> int:
    return int(next(c.node_id for c in node.children if c.local_name == local_name))


# --- untied


@shows(
    Kind.UNTIED,
    FAIL,
    "(root).decoder",
    "(root).decoder",
    "The program has decoder and encoder for one saved object.",
    "The restore fills only decoder, so encoder lacks 1 value.",
)
def shared_variable_is_two_now(at: Path) -> Pair:
    shared = var([2.0])
    path = saved(at, encoder=shared, decoder=shared)

    def fixed() -> Any:
        both = var([0.0])
        return ckpt(encoder=both, decoder=both)

    return Pair(
        path,
        lambda: ckpt(encoder=var([0.0]), decoder=var([0.0])),
        fixed=lambda: Pair(path, fixed),
    )


@shows(Kind.UNTIED, FAIL, "(root).a.v", "(root).a.v", "a.v and b.v")
def shared_module_is_two_now(at: Path) -> Pair:
    inner = var([2.0])
    path = saved(at, a=module(v=inner), b=module(v=inner))
    return Pair(path, lambda: ckpt(a=module(v=var([0.0])), b=module(v=var([0.0]))))


@shows(Kind.UNTIED, FAIL, None, None, "fills only a, so b lacks 2 values", "check.fix()")
def shared_layer_is_two_now(at: Path) -> Pair:
    inner = module(w=var([2.0]), b=var([3.0]))
    path = saved(at, a=inner, b=inner)

    def live() -> Any:
        return ckpt(**{name: module(w=var([0.0]), b=var([0.0])) for name in "ab"})

    return Pair(path, live)


@silent(Kind.UNTIED)
def shared_on_both_sides(at: Path) -> Pair:
    def make() -> Any:
        shared = var([2.0])
        return ckpt(a=shared, b=shared)

    return Pair(save_any(at, make()), make)


@silent(Kind.UNTIED)
def shared_object_without_a_value_is_two_now(at: Path) -> Pair:
    empty = module()
    path = saved(at, a=empty, b=empty, v=var())
    return Pair(path, lambda: ckpt(a=module(), b=module(), v=var()))


# --- value_lost


def tied() -> Any:
    shared = var([0.0])
    return ckpt(a=shared, b=shared)


@shows(Kind.VALUE_LOST, WARNING, "(root).b", "(root).a", ": a is restored", "two objects")
def two_variables_are_one_now(at: Path) -> Pair:
    path = saved(at, a=var([1.0]), b=var([2.0]))
    return Pair(path, tied, fixed=lambda: Pair(path, lambda: ckpt(a=var([0.0]), b=var([0.0]))))


@silent(Kind.VALUE_LOST)
def layer_gone_whose_index_another_one_has(at: Path) -> Pair:
    def make(**variables: Any) -> Any:
        return ckpt(model=module(**variables), optimizer=keras_3_adam(*variables.values()))

    path = save_any(at, differently(make(a=var([1.0]), b=var([2.0]))))
    return Pair(path, lambda: make(b=var([0.0])))


@silent(Kind.VALUE_LOST)
def two_variables_of_one_value_are_one_now(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), b=var([1.0])), tied)


@silent(Kind.VALUE_LOST)
def two_objects_without_values_are_one_now(at: Path) -> Pair:
    def live() -> Any:
        shared = module()
        return ckpt(a=shared, b=shared, v=var())

    return Pair(saved(at, a=module(), b=module(), v=var()), live)


# --- never_restored


@shows(Kind.NEVER_RESTORED, WARNING, "(root).x", "(root).x", "without a value", "no assert fails")
def variable_where_a_module_was_saved(at: Path) -> Pair:
    path = saved(at, x=module(), v=var())
    return Pair(path, lambda: ckpt(x=var([3.0]), v=var()))


@silent(Kind.NEVER_RESTORED)
def variable_below_a_module_that_was_saved_empty(at: Path) -> Pair:
    path = saved(at, x=module(), v=var())
    return Pair(path, lambda: ckpt(x=module(w=var()), v=var()))


@silent(Kind.NEVER_RESTORED)
def object_that_serializes_nothing(at: Path) -> Pair:
    return Pair(saved(at, x=serializing(), v=var()), lambda: ckpt(x=serializing(), v=var()))


@silent(Kind.NEVER_RESTORED)
def optimizer_that_scales_the_loss(at: Path) -> Pair:
    def make() -> Any:
        keras = keras_2()
        model = module(a=var([1.0]))
        optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())
        optimizer.build([model.a])
        return ckpt(model=model, optimizer=optimizer)

    return Pair(save_any(at, make()), make)


# --- tensor_ignored


@shows(Kind.TENSOR_IGNORED, WARNING, "(root).h", "(root).h", "reads 1 of", "leaves upper unread")
def object_reads_fewer_tensors_than_it_saved(at: Path) -> Pair:
    path = saved(at, h=serializing(lower=1.0, upper=1.0))
    return Pair(
        path,
        lambda: ckpt(h=serializing(lower=1.0)),
        fixed=lambda: Pair(path, lambda: ckpt(h=serializing(lower=1.0, upper=1.0))),
    )


@shows(Kind.TENSOR_IGNORED, WARNING, "(root).h", "(root).h", "reads 0 of", "leaves upper unread")
def object_reads_no_tensor_of_those_it_saved(at: Path) -> Pair:
    path = saved(at, h=serializing(upper=1.0))
    return Pair(
        path,
        lambda: ckpt(h=serializing()),
        fixed=lambda: Pair(path, lambda: ckpt(h=serializing(upper=1.0))),
    )


@silent(Kind.TENSOR_IGNORED)
def registered_saver_takes_what_a_variable_saved(at: Path) -> Pair:
    return Pair(saved(at, m=var(1.0)), lambda: ckpt(m=registered("Strict")()))


@silent(Kind.TENSOR_IGNORED)
def object_reads_all_its_tensors(at: Path) -> Pair:
    path = saved(at, h=serializing(lower=1.0, upper=1.0))
    return Pair(path, lambda: ckpt(h=serializing(lower=1.0, upper=1.0)))


@silent(Kind.TENSOR_IGNORED)
def table_reads_its_keys_and_values(at: Path) -> Pair:
    return Pair(saved(at, t=mutable_table(2)), lambda: ckpt(t=mutable_table()))


# --- saver_unknown


@shows(Kind.SAVER_UNKNOWN, WARNING, "(root).m", "(root).m", "'elsewhere.Saver'", "Import the mod")
def saver_of_a_module_that_is_not_imported(at: Path) -> Pair:
    return Pair(saved_by_unknown_saver(at), lambda: ckpt(m=module(), v=var()))


@shows(
    Kind.SAVER_UNKNOWN,
    ERROR,
    "(root).m",
    "(root).m",
    "'check_table.Strict' saved this object, and refuses",
)
def saver_refuses_the_object(at: Path) -> Pair:
    path = saved(at, m=registered("Strict")(), v=var())
    return Pair(path, lambda: ckpt(m=module(), v=var()))


@silent(Kind.SAVER_UNKNOWN)
def saver_of_the_class_that_was_saved(at: Path) -> Pair:
    path = saved(at, m=registered("Strict")(), v=var())
    return Pair(path, lambda: ckpt(m=registered("Strict")(), v=var()))


# --- overwritten


@shows(
    Kind.OVERWRITTEN,
    INFO,
    "(root).optimizer._learning_rate",
    "(root).optimizer._learning_rate",
    "learning_rate from 0.001 to the saved 0.1",
)
def learning_rate_of_keras_3_set_anew(at: Path) -> Pair:
    path = saved_with(at, lambda *v: keras_3_adam(*v, learning_rate=0.1))
    return Pair(path, lambda: with_adam(lambda *v: keras_3_adam(*v, learning_rate=0.001)))


@shows(Kind.OVERWRITTEN, INFO, None, None, "beta_1 from 0.9 to the saved 0.5")
def beta_of_legacy_keras_set_anew(at: Path) -> Pair:
    path = saved_with(at, lambda *v: legacy_adam(*v, beta_1=0.5))
    return Pair(path, lambda: with_adam(legacy_adam))


@silent(Kind.OVERWRITTEN)
def learning_rate_is_the_same(at: Path) -> Pair:
    path = saved_with(at, lambda *v: keras_3_adam(*v, learning_rate=0.1))
    return Pair(path, lambda: with_adam(lambda *v: keras_3_adam(*v, learning_rate=0.1)))


@silent(Kind.OVERWRITTEN)
def learning_rate_of_a_model_is_a_weight(at: Path) -> Pair:
    return Pair(
        saved(at, m=module(learning_rate=var(1.0))), lambda: ckpt(m=module(learning_rate=var(2.0)))
    )


def scaled(**options: Any) -> Any:
    def make(*variables: Any) -> Any:
        optimizers = keras_3().optimizers
        optimizer = optimizers.LossScaleOptimizer(optimizers.SGD(**options))
        optimizer.build(list(variables))
        return optimizer

    return make


@shows(
    Kind.OVERWRITTEN,
    INFO,
    None,
    "(root).optimizer.inner_optimizer._learning_rate",
    "learning_rate from 0.001 to the saved 0.1",
)
def learning_rate_of_an_optimizer_in_another(at: Path) -> Pair:
    path = saved_with(at, scaled(learning_rate=0.1))
    return Pair(path, lambda: with_adam(scaled(learning_rate=0.001)))


@silent(Kind.OVERWRITTEN)
def learning_rate_of_an_optimizer_that_scales_the_loss(at: Path) -> Pair:
    def inner(*variables: Any) -> Any:
        optimizer = keras_3().optimizers.SGD(learning_rate=0.1)
        optimizer.build(list(variables))
        return optimizer

    return Pair(saved_with(at, inner), lambda: with_adam(scaled(learning_rate=0.1)))


# --- unknowable


@shows(Kind.UNKNOWABLE, INFO, "(root).s", "(root).s", "The object's own code", "copy")
def python_state(at: Path) -> Pair:
    return Pair(saved(at, s=state_of_python()), lambda: ckpt(s=state_of_python()))


@shows(Kind.UNKNOWABLE, INFO, "(root).h", "(root).h", "The object's own code")
def object_that_restores_itself(at: Path) -> Pair:
    return Pair(saved(at, h=serializing(lower=1.0)), lambda: ckpt(h=serializing(lower=1.0)))


@shows(Kind.UNKNOWABLE, ERROR, "(root).m", "(root).m", "RuntimeError: no list for you")
def object_raises_when_it_is_asked(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var())), lambda: ckpt(m=unlistable()()))


@shows(Kind.UNKNOWABLE, INFO, None, None, "In a graph", "run_restore_ops()")
def graph_is_being_built(at: Path) -> Pair:
    return in_a_graph(saved(at, v=var([1.0])), [5.0])


@shows(Kind.UNKNOWABLE, INFO, None, None, "the checkpoint has 3, the program 2", "12 values")
def layers_without_names_of_which_only_the_optimizer_tells(at: Path) -> Pair:
    path = save_any(at, differently(in_an_untracked_list(None, None, None)))
    return Pair(
        path,
        lambda: in_an_untracked_list(None, None, None, frozen=1),
        fixed=lambda: Pair(path, lambda: in_an_untracked_list(None, None, None)),
    )


@shows(Kind.UNKNOWABLE, INFO, "(root).l.0.v", "(root).l.0.v", "look alike, the checkpoint has 2")
def item_of_a_list_that_may_have_been_put_anywhere(at: Path) -> Pair:
    def make(items: int) -> Any:
        return ckpt(l=[module(v=var([1.0])) for _ in range(items)])

    path = save_any(at, differently(make(2)))
    return Pair(path, lambda: make(3), fixed=lambda: Pair(path, lambda: make(2)))


@shows(Kind.UNKNOWABLE, INFO, "(root).l.3.v", None, "the checkpoint has 3, the program 4")
def items_after_the_one_that_a_shifted_index_tells_of(at: Path) -> Pair:
    def make(letters: str) -> Any:
        return ckpt(l=[module(v=var([1.0])) if one == "v" else module() for one in letters])

    path = save_any(at, differently(make("--vvv")))
    return Pair(path, lambda: make("-v-vvv"), fixed=lambda: Pair(path, lambda: make("--vvv")))


@silent(Kind.UNKNOWABLE)
def layer_added_of_which_the_slots_alone_have_the_name(at: Path) -> Pair:
    path = save_any(at, differently(in_an_untracked_list(None, None, called="net")))
    return Pair(path, lambda: in_an_untracked_list(None, None, "fc_new", called="net"))


@silent(Kind.UNKNOWABLE)
def layer_added_in_a_model_of_another_name(at: Path) -> Pair:
    path = save_any(at, differently(in_an_untracked_list("fc_a", "fc_b", called="net")))
    return Pair(path, lambda: in_an_untracked_list("fc_a", "fc_b", "fc_new", called="other"))


@silent(Kind.UNKNOWABLE)
def item_of_another_look_appended(at: Path) -> Pair:
    path = save_any(at, differently(ckpt(l=[module(v=var([1.0])), module(v=var([1.0]))])))
    return Pair(
        path,
        lambda: ckpt(
            l=[module(v=var([1.0])), module(v=var([1.0])), module(v=var([1.0, 2.0]))],
        ),
    )


@silent(Kind.UNKNOWABLE)
def layers_appended_that_names_tell_apart(at: Path) -> Pair:
    path = save_any(at, differently(branches("left", "right")))
    return Pair(path, lambda: branches("left", "right", "middle"))


@silent(Kind.UNKNOWABLE)
def table_and_iterator_of_tensorflow(at: Path) -> Pair:
    import tensorflow as tf

    def make() -> Any:
        return ckpt(t=mutable_table(2), i=iter(tf.data.Dataset.range(3)), v=var())

    return Pair(save_any(at, make()), make)

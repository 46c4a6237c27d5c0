"""Slot variables: optimizers of TensorFlow 1 and of Keras before TensorFlow 2.11."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.check_rows.contexts import creator_scope, skipping_slots
from tests.check_rows.objects import (
    applied,
    devices,
    mirrored,
    scaled,
    special,
    tracking_its_slot,
    training,
    v1_momentum,
    with_optimizer,
)
from tests.check_rows.saving import saved_training
from tests.check_rows.table import ALL, Pair, Topic
from tests.support import optimizers
from tests.support.programs import (
    ckpt,
    keras_2,
    keras_2_adam,
    keras_3_adam,
    legacy_adam,
    module,
    rewritten,
    saved,
    v1_adam,
    var,
)

row = Topic()


_OLD_KINDS: Mapping[str, tuple[str, ...]] = {
    "tensorflow_1": (
        "GradientDescent", "ProximalGradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad",
        "AdagradDA", "Adadelta", "Ftrl", "ProximalAdagrad",
    ),
    "keras_2_legacy": (
        "SGD", "SGD with schedule", "SGD momentum", "Adam", "Adam amsgrad", "Adamax", "Nadam",
        "Adagrad", "Adadelta", "RMSprop", "Ftrl",
    ),
}  # fmt: skip


def _same_optimizer(source: str, kind: str, steps: bool) -> Callable[[Path], Pair]:
    def pair(at: Path) -> Pair:
        if source == "keras_2_legacy":
            keras_2()

        def made() -> Any:
            return getattr(optimizers, source)()[kind]

        return Pair(saved_training(at, made()), lambda: training(made(), steps=steps))

    return pair


# Legacy Keras optimizers make their hyperparameters at the first step, TensorFlow 1's Adam its
# powers: till then these are unresolved.
_LATE = {"tensorflow_1": {"Adam"}}


for _source, _kinds in _OLD_KINDS.items():
    for _kind in _kinds:
        row(name=f"{_source} {_kind}, slots there")(_same_optimizer(_source, _kind, True))
        _is_late = _source == "keras_2_legacy" or _kind in _LATE[_source]
        row("consumed" if _is_late else "", name=f"{_source} {_kind}, slots to be made")(
            _same_optimizer(_source, _kind, False)
        )


@row("existing")
def live_has_slots_and_file_has_none(at: Path) -> Pair:
    path = saved_training(at, v1_adam(), steps=False)
    return Pair(path, lambda: training(v1_adam()))


@row("existing")
def legacy_live_has_slots_and_file_has_none(at: Path) -> Pair:
    path = saved_training(at, legacy_adam(), steps=False)
    return Pair(path, lambda: training(legacy_adam()))


def _touched() -> Any:
    optimizer = legacy_adam()
    assert optimizer.iterations is not None  # to ask for it makes it
    return optimizer


def _module_with_the_root_is_gone(make: Callable[[], Any], method: str) -> Callable[[Path], Pair]:
    """Return a pair with a module that leads to no value but those of the optimizer, the root."""

    def pair(at: Path) -> Pair:
        optimizer = make()
        held = module(optimizer=optimizer)
        held.itself = held
        path = saved(at, optimizer, kernel=held)
        return Pair(path, lambda: ckpt(make()) if method == "restore" else make(), method)

    return pair


for _name, _make, _read in (
    ("tensorflow_1", v1_adam, "consumed nontrivial"),
    ("keras_2_legacy", legacy_adam, "consumed nontrivial"),
    ("keras_2_legacy, touched", _touched, "consumed"),
    ("keras_3", keras_3_adam, "consumed"),
):
    for _method, _fails in {"restore": "", "read": _read}.items():
        row(_fails, name=f"{_name}, {_method} without a module that holds the root")(
            _module_with_the_root_is_gone(_make, _method)
        )


@row("consumed")
def optimizer_is_missing(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: ckpt(model=training(v1_adam()).model))


@row("consumed")
def optimizer_is_a_module(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: ckpt(model=training(v1_adam()).model, optimizer=module()))


@row("consumed")
def optimizer_is_a_checkpoint_of_its_power(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(
        path,
        lambda: ckpt(
            model=training(v1_adam()).model, optimizer=ckpt(beta1_power=var(), beta2_power=var())
        ),
    )


@row(raises="AttributeError", says=["_create_or_restore_slot_variable"])
def optimizer_is_a_module_and_the_variable_shallower(at: Path) -> Pair:
    variable = var()
    path = saved(at, v=variable, z=module(optimizer=applied(v1_adam(), variable)))
    return Pair(path, lambda: ckpt(v=var(), z=module(optimizer=module())))


@row(raises="AttributeError", says=["_create_or_restore_slot_variable"])
def optimizer_is_a_checkpoint_and_the_variable_shallower(at: Path) -> Pair:
    variable = var()
    path = saved(at, v=variable, z=module(optimizer=applied(legacy_adam(), variable)))
    return Pair(path, lambda: ckpt(v=var(), z=module(optimizer=ckpt())))


@row(raises="AttributeError", says=["_create_or_restore_slot_variable"])
def optimizer_is_keras_3_and_the_variable_shallower(at: Path) -> Pair:
    variable = var()
    path = saved(at, v=variable, z=module(optimizer=applied(legacy_adam(), variable)))
    return Pair(path, lambda: ckpt(v=var(), z=module(optimizer=keras_3_adam())))


@row("existing")
def optimizer_is_keras_3(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(keras_3_adam(), steps=False))


@row("existing")
def optimizer_is_keras_3_and_built(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())

    def live() -> Any:
        optimizer = keras_3_adam()
        target = training(optimizer, steps=False)
        optimizer.build(list(target.model.vs))
        return target

    return Pair(path, live)


@row(raises="ValueError", says=["v2.11+", "legacy.Adam"])
def optimizer_is_keras_2_of_the_new_kind(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(keras_2_adam(), steps=False))


@row(raises="ValueError", says=["v2.11+"])
def optimizer_is_keras_2_of_the_new_kind_for_tensorflow_1_slots(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: training(keras_2_adam(), steps=False))


@row()
def keras_2_of_the_new_kind(at: Path) -> Pair:
    path = saved_training(at, keras_2_adam())
    return Pair(path, lambda: training(keras_2_adam()))


@row("consumed")
def keras_2_of_the_new_kind_is_not_built(at: Path) -> Pair:
    path = saved_training(at, keras_2_adam())
    return Pair(path, lambda: training(keras_2_adam(), steps=False))


@row("existing")
def keras_2_of_the_new_kind_saved_and_legacy_live(at: Path) -> Pair:
    path = saved_training(at, keras_2_adam())
    return Pair(path, lambda: training(legacy_adam()))


@row()
def loss_scaled_legacy_optimizer(at: Path) -> Pair:
    path = saved_training(at, scaled(legacy_adam()))
    return Pair(path, lambda: training(scaled(legacy_adam())))


@row("consumed")
def loss_scaled_legacy_optimizer_makes_its_slots(at: Path) -> Pair:
    path = saved_training(at, scaled(legacy_adam()))
    return Pair(path, lambda: training(scaled(legacy_adam()), steps=False))


@row()
def loss_scaled_optimizer_of_the_new_kind(at: Path) -> Pair:
    path = saved_training(at, scaled(keras_2_adam()))
    return Pair(path, lambda: training(scaled(keras_2_adam())))


@row("existing")
def loss_scale_is_new(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(scaled(legacy_adam())))


@row("consumed")
def loss_scale_is_gone(at: Path) -> Pair:
    path = saved_training(at, scaled(legacy_adam()))
    return Pair(path, lambda: training(legacy_adam()))


@row("consumed")
def slots_of_another_optimizer(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: training(v1_momentum(), steps=False))


@row("existing")
def slots_of_another_optimizer_beside_its_own(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: training(v1_momentum()))


@row("existing")
def slots_of_another_legacy_optimizer(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(keras_2().optimizers.legacy.SGD(0.1, momentum=0.9)))


@row("existing")
def slots_of_legacy_keras_in_a_tensorflow_1_optimizer(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(v1_adam()))


@row()
def skipped_slots(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: training(v1_adam()), options=skipping_slots())


@row("consumed")
def skipped_slots_of_an_optimizer_without_its_powers(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: training(v1_adam(), steps=False), options=skipping_slots())


@row()
def skipped_slots_that_would_have_to_be_made(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())
    return Pair(path, lambda: training(v1_momentum(), steps=False), options=skipping_slots())


@row()
def skipped_slots_without_an_optimizer(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())
    return Pair(path, lambda: ckpt(model=training(v1_adam()).model), options=skipping_slots())


@row("consumed")
def skipped_slots_without_an_optimizer_whose_powers_are_left(at: Path) -> Pair:
    path = saved_training(at, v1_adam())
    return Pair(path, lambda: ckpt(model=training(v1_adam()).model), options=skipping_slots())


@row()
def skipped_slots_that_were_not_saved(at: Path) -> Pair:
    path = saved_training(at, v1_momentum(), steps=False)
    return Pair(path, lambda: training(v1_momentum()), options=skipping_slots())


@row("consumed")
def skipped_slots_in_a_legacy_optimizer(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(legacy_adam(), steps=False), options=skipping_slots())


@row("existing")
def skipped_slots_in_an_optimizer_that_takes_none(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(
        path, lambda: training(keras_2_adam(), steps=False), "read", options=skipping_slots()
    )


@row("existing")
def skipped_slot_that_is_tracked_elsewhere(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())

    def live() -> Any:
        target = training(v1_momentum())
        target.again = target.optimizer.get_slot(target.model.vs[0], "momentum")
        return target

    return Pair(path, live, options=skipping_slots())


@row("consumed")
def variable_of_a_slot_is_missing(at: Path) -> Pair:
    variable, other = var(), var()
    path = saved(at, v=variable, w=other, optimizer=applied(v1_momentum(), variable, other))
    return Pair(path, lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row("consumed")
def variable_of_a_slot_without_a_value_is_missing(at: Path) -> Pair:
    def empty(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            if node.attributes and not node.attributes[0].checkpoint_key.startswith("save"):
                del node.attributes[:]

    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(rewritten(at, path, empty), lambda: ckpt(optimizer=v1_momentum()))


@row()
def variable_of_a_skipped_slot_without_a_value_is_missing(at: Path) -> Pair:
    pair = variable_of_a_slot_without_a_value_is_missing(at)
    return pair._replace(options=skipping_slots())


@row(raises="AttributeError", says=["_unique_id"])
def slotted_object_is_no_variable(at: Path) -> Pair:
    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(path, lambda: ckpt(v=module(), optimizer=v1_momentum()))


@row(raises="AttributeError")
def slotted_object_of_a_legacy_optimizer_is_no_variable(at: Path) -> Pair:
    variable = var()
    path = saved(at, v=variable, optimizer=applied(legacy_adam(), variable))
    return Pair(path, lambda: ckpt(v=module(), optimizer=legacy_adam()))


@row("consumed")
def slotted_object_is_no_variable_and_the_optimizer_no_optimizer(at: Path) -> Pair:
    variable = var()
    path = saved(at, optimizer=applied(v1_momentum(), variable), v=variable)
    return Pair(path, lambda: ckpt(v=module(), optimizer=module()))


@row(raises="ValueError", says=["(2,)", "()"])
def slot_of_another_shape(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=[1.0, 2.0])
    return Pair(path, lambda: with_optimizer(v1_momentum(), var()))


@row(raises="ValueError", says=["(2,)", "()"])
def slot_to_be_made_in_another_shape(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=[1.0, 2.0])
    return Pair(path, lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row(raises="ValueError", says=["(2,)", "()"])
def slot_and_variable_of_another_shape(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row("consumed")
def slot_to_be_made_by_a_legacy_optimizer_in_another_shape(at: Path) -> Pair:
    path = saved_slot(at, legacy_adam(), lambda: var(1.0), slot=[1.0, 2.0])
    return Pair(path, lambda: ckpt(v=var(), optimizer=legacy_adam()))


@row(raises="ValueError", says=["(2,)", "()"])
def slot_of_a_legacy_optimizer_and_variable_of_another_shape(at: Path) -> Pair:
    path = saved_slot(at, legacy_adam(), lambda: var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(v=var(), optimizer=legacy_adam()))


@row(raises="InvalidArgumentError", says=["int32", "float"])
def slot_of_another_dtype(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=1)
    return Pair(path, lambda: with_optimizer(v1_momentum(), var()))


@row(raises="ValueError", says=["int32", "float32"])
def slot_to_be_made_of_another_dtype(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=1)
    return Pair(path, lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row(raises="ValueError", says=["int32", "float32"])
def slot_to_be_made_by_a_legacy_optimizer_of_another_dtype(at: Path) -> Pair:
    path = saved_slot(at, legacy_adam(), lambda: var(1.0), slot=1)
    return Pair(path, lambda: ckpt(v=var(), optimizer=legacy_adam()))


@row(raises="KeyError")
def slot_to_be_made_whose_tensor_is_missing(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=None)
    return Pair(path, lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row(raises="KeyError")
def slot_to_be_made_by_a_legacy_optimizer_whose_tensor_is_missing(at: Path) -> Pair:
    path = saved_slot(at, legacy_adam(), lambda: var(1.0), slot=None)
    return Pair(path, lambda: ckpt(v=var(), optimizer=legacy_adam()))


@row(raises="NotFoundError", says=["OPTIMIZER_SLOT"])
def slot_whose_tensor_is_missing(at: Path) -> Pair:
    path = saved_slot(at, v1_momentum(), lambda: var(1.0), slot=None)
    return Pair(path, lambda: with_optimizer(v1_momentum(), var()))


def saved_slot(
    at: Path, optimizer: Any, variable: Callable[[], Any], slot: Any = "as it is"
) -> str:
    """Save a variable and its optimizer; the slots get this value, or no value at all."""
    path = with_optimizer(optimizer, variable()).save(str(at / "ckpt"))

    def change(proto: Any, values: dict[str, Any]) -> None:
        import numpy as np

        for key in [key for key in values if ".OPTIMIZER_SLOT" in key]:
            if slot is None:
                del values[key]
            elif slot != "as it is":
                values[key] = np.array(slot, np.int32 if slot == 1 else np.float32)

    return rewritten(at, path, change)


@row("consumed")
def slot_with_a_child_is_not_made(at: Path) -> Pair:
    def add(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            if node.attributes and "SLOT" in node.attributes[0].checkpoint_key:
                node.children.add(local_name="child", node_id=0)

    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(rewritten(at, path, add), lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row("consumed", within=creator_scope)
def slots_to_be_made_within_a_variable_creator_scope(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())
    return Pair(path, lambda: training(v1_momentum(), steps=False))


@row("consumed", within=creator_scope)
def slots_of_a_legacy_optimizer_within_a_variable_creator_scope(at: Path) -> Pair:
    path = saved_training(at, legacy_adam())
    return Pair(path, lambda: training(legacy_adam(), steps=False))


@row("existing")
def one_live_variable_for_two_saved_ones_with_slots(at: Path) -> Pair:
    path = saved_training(at, v1_momentum(), shapes=(2, 2))

    def live() -> Any:
        target = training(v1_momentum(), shapes=(2,))
        target.model.vs.append(target.model.vs[0])
        target.more = var()
        return target

    return Pair(path, live)


@row()
def one_live_variable_for_two_saved_ones_whose_slots_are_made(at: Path) -> Pair:
    path = saved_training(at, v1_momentum(), shapes=(2, 2))

    def live() -> Any:
        target = training(v1_momentum(), steps=False, shapes=(2,))
        target.model.vs.append(target.model.vs[0])
        return target

    return Pair(path, live)


@row()
def one_live_variable_for_two_saved_ones_whose_legacy_slots_are_made(at: Path) -> Pair:
    sgd = "SGD momentum"
    keras_2()
    path = saved_training(at, optimizers.keras_2_legacy()[sgd], shapes=(2, 2))

    def live() -> Any:
        target = training(optimizers.keras_2_legacy()[sgd], shapes=(2,))
        target.model.vs.append(target.model.vs[0])
        return target

    return Pair(path, live)


@row("existing")
def two_optimizers_exchanged(at: Path) -> Pair:
    def make(first: str, second: str, steps: bool = True) -> Any:
        one, two = var([1.0]), var([1.0, 2.0])
        found = {first: v1_momentum(), second: v1_momentum()}
        if steps:
            applied(found[first], one)
            applied(found[second], two)
        return ckpt(v=one, w=two, **found)

    path = make("a", "b").save(str(at / "ckpt"))
    return Pair(path, lambda: make("b", "a"))


@row()
def two_optimizers_of_one_variable(at: Path) -> Pair:
    def make(steps: bool) -> Any:
        variable = var([1.0])
        found = [v1_momentum(), v1_momentum()]
        for optimizer in found if steps else ():
            applied(optimizer, variable)
        return ckpt(v=variable, first=found[0], second=found[1])

    return Pair(make(True).save(str(at / "ckpt")), lambda: make(False))


@row()
def one_live_optimizer_for_two_saved_ones(at: Path) -> Pair:
    variable = var([1.0])
    path = saved(
        at,
        v=variable,
        first=applied(v1_momentum(), variable),
        second=applied(v1_momentum(), variable),
    )

    def live() -> Any:
        optimizer = v1_momentum()
        return ckpt(v=var([0.0]), first=optimizer, second=optimizer)

    return Pair(path, live)


@row()
def optimizer_attached_beside_the_root(at: Path) -> Pair:
    def make(steps: bool) -> Any:
        root = module(v=var([1.0]))
        optimizer = v1_momentum()
        if steps:
            applied(optimizer, root.v)
        return ckpt(root, optimizer=optimizer)

    return Pair(make(True).save(str(at / "ckpt")), lambda: make(False))


@row(raises="AttributeError")
def module_attached_beside_the_root_in_place_of_an_optimizer(at: Path) -> Pair:
    root = module(v=var([1.0]))
    path = saved(at, root, optimizer=applied(v1_momentum(), root.v))
    return Pair(path, lambda: ckpt(module(v=var([0.0])), optimizer=module()))


@row("nontrivial existing")
def slot_is_tracked_elsewhere(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0])), tracking_its_slot)


@row(ALL)
def slot_has_children(at: Path) -> Pair:
    def live() -> Any:
        variable = var([1.0])
        optimizer = applied(v1_momentum(), variable)
        optimizer.get_slot(variable, "momentum")._track_trackable(var(), name="child")
        return ckpt(v=variable, optimizer=optimizer)

    return Pair(saved(at, v=var([1.0])), live)


@row("existing")
def optimizer_of_a_class_of_its_own(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())

    def live() -> Any:
        import tensorflow as tf

        class Own(tf.compat.v1.train.MomentumOptimizer):  # type: ignore[misc]
            pass

        return training(Own(0.1, 0.9), shapes=(2, 3, 4))

    return Pair(path, live)


@row("consumed")
def optimizer_that_defers_every_slot(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())
    return Pair(
        path, lambda: training(special(_create_or_restore_slot_variable=_nothing)(), steps=False)
    )


def _nothing(self: Any, slot_variable_position: Any, slot_name: str, variable: Any) -> None:
    pass


def _under_mirrored(make: Callable[[], Any]) -> Any:
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(devices()).scope():
        return make()


def _mirrored_scope() -> AbstractContextManager[Any]:
    import tensorflow as tf

    context: AbstractContextManager[Any] = tf.distribute.MirroredStrategy(devices()).scope()
    return context


def _fresh_model_with_legacy_sgd() -> Any:
    """Return a model and an optimizer that has its hyperparameters and no slots."""
    optimizer = keras_2().optimizers.legacy.SGD(0.1, momentum=0.9)
    optimizer._create_hypers()
    assert optimizer.iterations is not None
    return ckpt(v=var([1.0, 2.0]), optimizer=optimizer)


def _saved_legacy_sgd(at: Path) -> str:
    keras_2()
    source = _fresh_model_with_legacy_sgd()
    applied(source.optimizer, source.v)
    return str(source.save(str(at / "ckpt")))


@row()
def legacy_slots_are_made_without_a_strategy(at: Path) -> Pair:
    return Pair(_saved_legacy_sgd(at), _fresh_model_with_legacy_sgd)


@row(raises="ValueError", says=["Strategy", "scope"])
def legacy_slots_of_mirrored_variables_outside_the_scope(at: Path) -> Pair:
    path = _saved_legacy_sgd(at)
    return Pair(path, lambda: _mixed_up(mirrored([1.0, 2.0])))


def _mixed_up(variable: Any) -> Any:
    target = _fresh_model_with_legacy_sgd()
    target.v = variable
    return target


@row()
def legacy_slots_of_a_model_made_in_a_scope_that_is_left(at: Path) -> Pair:
    path = _saved_legacy_sgd(at)
    return Pair(path, lambda: _under_mirrored(_fresh_model_with_legacy_sgd))


@row("consumed", within=_mirrored_scope)
def legacy_slots_within_a_foreign_scope(at: Path) -> Pair:
    path = _saved_legacy_sgd(at)
    return Pair(path, _made_before(_fresh_model_with_legacy_sgd))


def _made_before(make: Callable[[], Any]) -> Callable[[], Any]:
    """Return what gives out objects that are made here and now."""
    return [make() for _ in range(3)].pop


@row(within=_mirrored_scope)
def legacy_slots_within_the_scope(at: Path) -> Pair:
    return Pair(_saved_legacy_sgd(at), _fresh_model_with_legacy_sgd)


@row("consumed", within=_mirrored_scope)
def tensorflow_1_slots_within_a_scope(at: Path) -> Pair:
    path = saved_training(at, v1_momentum())
    return Pair(path, lambda: training(v1_momentum(), steps=False))


@row()
def one_slot_declared_twice(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            for slot in list(node.slot_variables):
                again = proto.nodes.add()
                again.CopyFrom(proto.nodes[slot.slot_variable_node_id])
                node.slot_variables.add(
                    original_variable_node_id=slot.original_variable_node_id,
                    slot_name=slot.slot_name,
                    slot_variable_node_id=len(proto.nodes) - 1,
                )

    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(rewritten(at, path, change), lambda: ckpt(v=var(), optimizer=v1_momentum()))


@row("existing")
def slot_that_is_a_child_as_well(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            for slot in node.slot_variables:
                proto.nodes[0].children.add(local_name="again", node_id=slot.slot_variable_node_id)

    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(
        rewritten(at, path, change), lambda: ckpt(v=var(), optimizer=v1_momentum(), again=var())
    )


@row("existing")
def slot_whose_node_is_the_variable_itself(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes:
            for slot in node.slot_variables:
                slot.slot_variable_node_id = slot.original_variable_node_id
        del proto.nodes[-1]

    variable = var()
    path = saved(at, v=variable, optimizer=applied(v1_momentum(), variable))
    return Pair(rewritten(at, path, change), lambda: ckpt(v=var(), optimizer=v1_momentum()))

"""Pairs for the findings that tell what happened to the program since it was saved.

migrated, inserted, removed, reordered, container_changed, wrapped, unwrapped, moved,
optimizer_changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.table import ERROR, FAIL, WARNING, Pair, Rows
from tests.support.programs import (
    ckpt,
    differently,
    keras_2,
    keras_2_sequential,
    keras_3,
    keras_3_sequential,
    module,
    save_any,
    saved,
    stepped,
    var,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


def layer(width: int, value: float = 0.0) -> Any:
    return module(w=var([[value] * width] * width), b=var([value] * width))


def trained(optimizer: Any, *layers: Any) -> Any:
    """Return a checkpoint of a Keras 3 model of these layers, and its optimizer."""
    model = keras_3().Sequential([keras_3().Input((3,)), *layers])
    model.compile(optimizer, "mse")
    stepped(optimizer, model.trainable_variables)
    return ckpt(model=model, optimizer=optimizer)


def dense(*units: int) -> list[Any]:
    return [keras_3().layers.Dense(number, name=f"fc_{number}") for number in units]


# --- inserted and removed


def with_frozen(*names: str, inside: Sequence[str] = ()) -> Any:
    """Return a trained model of equal layers; what is called frozen is not trained."""
    layers = keras_3().layers
    made = [layers.Dense(3, name=name, trainable=name != "frozen") for name in names]
    nested = [keras_3().Sequential([layers.Dense(3, name=name)], name=name) for name in inside]
    return trained(keras_3().optimizers.Adam(), *made, *nested)


@silent(Kind.UNRESOLVED)
def frozen_layer_removed_whose_value_nothing_takes(at: Path) -> Pair:
    path = save_any(at, differently(with_frozen("first", "frozen", "last")))
    return Pair(path, lambda: with_frozen("first", "last"))


@shows(Kind.UNRESOLVED, FAIL, None, None, "frozen is gone (2 values)")
def frozen_layer_removed_before_one_that_the_optimizer_leads_to(at: Path) -> Pair:
    path = save_any(at, differently(with_frozen("first", "frozen", inside=["last"])))
    return Pair(path, lambda: with_frozen("first", inside=["last"]))


def in_order(*names: str) -> Any:
    keras = keras_2()
    model = keras.Sequential([keras.Input((3,))])
    for name in names:
        model.add(keras.layers.Dense(3, name=name))
    return ckpt(model=model)


@shows(
    Kind.UNRESOLVED, WARNING, None, None, "new is in place of third (2 values)", "Restore the rest"
)
def layer_gone_whose_value_goes_into_one_that_moved(at: Path) -> Pair:
    path = save_any(at, differently(in_order("first", "second", "third")))
    return Pair(path, lambda: in_order("new", "second", "first"))


@shows(
    Kind.UNMATCHED, WARNING, None, None, "new is in place of third (2 values)", "Restore the rest"
)
def new_layer_that_gets_the_value_of_one_that_moved(at: Path) -> Pair:
    return layer_gone_whose_value_goes_into_one_that_moved(at)


@shows(Kind.INSERTED, ERROR, None, None, "between is new", "check.fix().apply()")
def batch_normalization_and_another_head(at: Path) -> Pair:
    keras = keras_3()
    path = save_any(at, differently(trained(keras.optimizers.Adam(), *dense(4, 5, 2))))

    def live() -> Any:
        first, second, head = dense(4, 5, 3)
        between = keras.layers.BatchNormalization(name="between")
        return trained(keras.optimizers.Adam(), first, between, second, head)

    return Pair(path, live)


@shows(Kind.INSERTED, ERROR, None, None, "them.1 seems to be new (4 values are affected)")
def part_without_values_in_a_list(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(3, 1.0), layer(4, 1.0)]))

    def live() -> Any:
        return ckpt(parts=module(them=[layer(2), module(), layer(3), layer(4)]))

    return Pair(path, live)


@silent(Kind.INSERTED)
def item_at_the_end_of_a_list(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(3, 1.0)]))
    return Pair(path, lambda: ckpt(parts=module(them=[layer(2), layer(3), layer(4)])))


@shows(Kind.REMOVED, ERROR, None, None, "them.0 seems to be gone (6 values are affected)")
def first_item_of_a_list_is_gone(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(3, 1.0), layer(4, 1.0)]))
    return Pair(path, lambda: ckpt(parts=module(them=[layer(3), layer(4)])))


@silent(Kind.REMOVED)
def last_item_of_a_list_is_gone(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(3, 1.0)]))
    return Pair(path, lambda: ckpt(parts=module(them=[layer(2)])))


# --- in another order


@shows(Kind.REORDERED, ERROR, None, None, "them.2 seems to be in another place (6 values)")
def items_of_a_list_exchanged(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(3, 1.0), layer(4, 1.0)]))
    return Pair(path, lambda: ckpt(parts=module(them=[layer(4), layer(2), layer(3)])))


@shows(Kind.REORDERED, WARNING, None, None, "head_a and head_b are swapped (4 values)")
def two_heads_exchanged(at: Path) -> Pair:
    def model(*names: str) -> Any:
        keras = keras_3()
        inputs = keras.Input((3,))
        body = keras.layers.Dense(4, name="body")(inputs)
        heads = [keras.layers.Dense(2, name=f"head_{name}")(body) for name in names]
        return ckpt(model=keras.Model(inputs, heads))

    return Pair(save_any(at, differently(model("a", "b"))), lambda: model("b", "a"))


@silent(Kind.REORDERED)
def items_that_nothing_tells_apart(at: Path) -> Pair:
    path = saved(at, parts=module(them=[layer(2, 1.0), layer(2, 2.0)]))
    return Pair(path, lambda: ckpt(parts=module(them=[layer(2), layer(2)])))


# --- other containers


@shows(
    Kind.CONTAINER_CHANGED,
    FAIL,
    None,
    None,
    "parts.0 and parts.1 seem to be small and large now (4 values)",
)
def list_has_become_a_dict(at: Path) -> Pair:
    path = saved(at, parts=[layer(2, 1.0), layer(3, 1.0)])
    return Pair(path, lambda: ckpt(parts={"small": layer(2), "large": layer(3)}))


@silent(Kind.CONTAINER_CHANGED)
def keys_of_a_dict_renamed(at: Path) -> Pair:
    path = saved(at, parts={"a": layer(2, 1.0), "b": layer(3, 1.0)})
    return Pair(path, lambda: ckpt(parts={"small": layer(2), "large": layer(3)}))


# --- other levels


@shows(Kind.WRAPPED, FAIL, None, None, "query and key are wrapped now (4 values)", "check.fix()")
def low_rank_adapters_around_layers(at: Path) -> Pair:
    def attention(value: float) -> dict[str, Any]:
        return {"query": layer(3, value), "key": layer(4, value)}

    def adapted() -> dict[str, Any]:
        return {
            name: module(base=one, down=var([0.0] * 7), up=var([0.0] * 8))
            for name, one in attention(0.0).items()
        }

    path = saved(at, model=module(attention=module(**attention(1.0)), norm=var([1.0])))
    return Pair(path, lambda: ckpt(model=module(attention=module(**adapted()), norm=var([0.0]))))


@silent(Kind.WRAPPED)
def wrapper_that_was_saved_too(at: Path) -> Pair:
    path = saved(at, model=module(query=module(base=layer(3, 1.0))))
    return Pair(path, lambda: ckpt(model=module(query=module(base=layer(3)), more=var([1.0, 2.0]))))


@shows(Kind.UNWRAPPED, FAIL, None, None, "The encoder is inlined now (4 values)")
def level_taken_away(at: Path) -> Pair:
    parts = {"first": 2, "second": 3}

    def made(value: float) -> dict[str, Any]:
        return {name: layer(width, value) for name, width in parts.items()}

    path = saved(at, model=module(encoder=module(**made(1.0)), head=layer(4, 1.0)))
    return Pair(path, lambda: ckpt(model=module(**made(0.0), head=layer(4))))


@silent(Kind.UNWRAPPED)
def level_with_another_name(at: Path) -> Pair:
    path = saved(at, model=module(encoder=module(a=layer(2, 1.0)), head=layer(4, 1.0)))
    return Pair(path, lambda: ckpt(model=module(body=module(a=layer(2)), head=layer(4))))


@shows(Kind.MOVED, FAIL, "(root).model.encoder.norm", "(root).model.decoder.norm")
def part_of_one_holder_in_another(at: Path) -> Pair:
    def model(value: float, **norm: Any) -> Any:
        holders = {name: {"a": layer(width, value)} for name, width in WIDTHS.items()}
        (where,) = norm
        holders[where]["norm"] = norm[where]
        return module(**{name: module(**parts) for name, parts in holders.items()})

    path = saved(at, model=model(1.0, encoder=layer(5, 1.0)))
    return Pair(path, lambda: ckpt(model=model(0.0, decoder=layer(5))))


WIDTHS = {"encoder": 2, "decoder": 3}


@silent(Kind.MOVED)
def part_of_one_holder_renamed(at: Path) -> Pair:
    path = saved(at, model=module(encoder=module(a=layer(2, 1.0), norm=layer(5, 1.0))))
    return Pair(path, lambda: ckpt(model=module(encoder=module(a=layer(2), ln=layer(5)))))


@shows(
    Kind.INSERTED,
    FAIL,
    None,
    None,
    "stem seems to be new (24 values are affected)",
    "check.fix().apply()",
)
def named_layer_before_layers_that_keras_names(at: Path) -> Pair:
    layers, adam = keras_3().layers, keras_3().optimizers.Adam
    path = save_any(at, differently(trained(adam(), *[layers.Dense(3) for _ in range(3)])))

    def live() -> Any:
        stem = layers.Dense(3, name="stem")
        return trained(adam(), stem, *[layers.Dense(3) for _ in range(3)])

    return Pair(path, live)


def listed(*items: Any) -> Any:
    """Return a checkpoint of a list of layers, and the optimizer that trains them."""
    variables = [variable for item in items if item.built for variable in item.trainable_variables]
    optimizer = stepped(keras_3().optimizers.SGD(momentum=0.9), variables)
    return ckpt(zoo=[*items], optimizer=optimizer)


def built(name: str | None = None) -> Any:
    layer = keras_3().layers.Dense(3, name=name)
    layer.build((None, 3))
    return layer


@silent(Kind.UNTIED)
@shows(Kind.UNMATCHED, FAIL, None, None, "added is new after dense")
def named_layer_at_the_place_of_a_layer_that_keras_names(at: Path) -> Pair:
    """The optimizer's list, not the place in the list of layers, leads to the variables."""
    activation = keras_3().layers.Activation("relu")
    path = save_any(at, differently(listed(activation, built())))
    return Pair(path, lambda: listed(built(), built("added")))


# --- optimizers


@shows(
    Kind.OPTIMIZER_CHANGED,
    *(ERROR, "(root).optimizer", "(root).optimizer"),
    "SGD is in place of Adam (10 values)",
)
def adam_has_become_momentum(at: Path) -> Pair:
    optimizers = keras_3().optimizers
    path = save_any(at, differently(trained(optimizers.Adam(), *dense(4, 2))))
    return Pair(path, lambda: trained(optimizers.SGD(momentum=0.9), *dense(4, 2)))


@shows(
    Kind.OPTIMIZER_CHANGED,
    ERROR,
    "(root).optimizer",
    None,
    "The optimizer averages the variables now (14 values)",
)
def averages_are_kept_now(at: Path) -> Pair:
    optimizers = keras_3().optimizers
    path = save_any(at, differently(trained(optimizers.Adam(), *dense(4, 2))))
    return Pair(path, lambda: trained(optimizers.Adam(use_ema=True), *dense(4, 2)))


@shows(
    Kind.OPTIMIZER_CHANGED,
    FAIL,
    "(root).optimizer",
    None,
    "Adam is in place of SGD (10 values)",
)
def descent_without_state_has_become_adam(at: Path) -> Pair:
    optimizers = keras_3().optimizers
    path = save_any(at, differently(trained(optimizers.SGD(), *dense(4, 2))))
    return Pair(path, lambda: trained(optimizers.Adam(), *dense(4, 2)))


def pair_of_equal_layers(*, is_frozen: bool = False) -> Any:
    layers = keras_3().layers
    first = layers.Dense(3, name="first", trainable=not is_frozen)
    return trained(keras_3().optimizers.Adam(), first, layers.Dense(3, name="second"))


@shows(Kind.MISPLACED, WARNING, None, None, "4 values of the optimizer's state change places")
def state_of_a_frozen_layer_in_that_of_the_next(at: Path) -> Pair:
    path = save_any(at, differently(pair_of_equal_layers()))
    return Pair(path, lambda: pair_of_equal_layers(is_frozen=True))


def first_layer_with_a_bias(*, has_bias: bool) -> Any:
    layers = keras_3().layers
    first = layers.Dense(4, name="first", use_bias=has_bias)
    return trained(keras_3().optimizers.Adam(), first, layers.Dense(3, name="second"))


@shows(Kind.UNMATCHED, ERROR, None, None, "first.bias is new (3 values)")
def bias_that_shifts_the_lists_of_an_optimizer(at: Path) -> Pair:
    path = save_any(at, differently(first_layer_with_a_bias(has_bias=False)))
    return Pair(path, lambda: first_layer_with_a_bias(has_bias=True))


@shows(Kind.UNRESOLVED, ERROR, None, None, "first.bias is gone (3 values)")
def bias_whose_loss_shifts_the_lists_of_an_optimizer(at: Path) -> Pair:
    path = save_any(at, differently(first_layer_with_a_bias(has_bias=True)))
    return Pair(path, lambda: first_layer_with_a_bias(has_bias=False))


@shows(
    Kind.OPTIMIZER_CHANGED,
    ERROR,
    None,
    None,
    "The optimizer no longer trains first.kernel (12 values)",
)
def low_rank_adaptation(at: Path) -> Pair:
    path = save_any(at, differently(first_layer_with_a_bias(has_bias=True)))

    def live() -> Any:
        layers = keras_3().layers
        first, second = layers.Dense(4, name="first"), layers.Dense(3, name="second")
        first.build((None, 3))
        first.enable_lora(2)
        return trained(keras_3().optimizers.Adam(), first, second)

    return Pair(path, live)


@silent(Kind.OPTIMIZER_CHANGED)
def optimizer_that_follows_its_model(at: Path) -> Pair:
    optimizers = keras_3().optimizers
    path = save_any(at, differently(trained(optimizers.Adam(), *dense(4, 2))))
    return Pair(path, lambda: trained(optimizers.Adam(), *dense(4, 5)))


# --- other versions of Keras


@shows(Kind.MIGRATED, FAIL, None, None, "Another major version of Keras wrote the file (4 values)")
def sequential_of_keras_2_in_keras_3(at: Path) -> Pair:
    path = save_any(at, differently(ckpt(model=keras_2_sequential(4, 2))))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4, 2)))


@silent(Kind.MIGRATED)
def sequential_of_keras_3_with_another_head(at: Path) -> Pair:
    path = save_any(at, differently(ckpt(model=keras_3_sequential(4, 2))))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4, 3)))

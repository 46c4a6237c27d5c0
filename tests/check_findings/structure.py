"""Pairs for the findings on programs that differ in structure from the checkpoint.

Other levels, unrelated models, items that have moved, other names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.table import ERROR, FAIL, Pair, Rows
from tests.support.programs import (
    called,
    ckpt,
    differently,
    keras_2,
    keras_2_adam,
    keras_2_sequential,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    module,
    save_any,
    saved,
    stepped,
    var,
    with_adam,
    with_children,
    written,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- root_shifted


def tower(value: float = 1.0) -> dict[str, Any]:
    return {"v": var([value]), "w": module(x=var([value, value]))}


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root).model",
    "(root)",
    "Everything seems to be outside of the model now (2 values)",
    "(2 values)",
    "puts each value in its new place",
)
def saved_as_a_keyword_and_restored_as_the_root(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower(2.0))), lambda: ckpt(module(**tower())))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root).model", "(root)", "puts each value in its new place")
def saved_as_a_keyword_and_read_as_a_trackable(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower(2.0))), lambda: module(**tower()))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).model", "puts each value in its new place")
def saved_as_the_root_and_restored_as_a_keyword(at: Path) -> Pair:
    return Pair(written(at, module(**tower(2.0))), lambda: ckpt(model=module(**tower())))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root)",
    "(root).model",
    "puts each value in its new place",
)
def model_of_keras_saved_as_the_root(at: Path) -> Pair:
    path = save_any(at, ckpt(keras_3_sequential(4, 2)))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4, 2)))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root).model",
    "(root)",
    "puts each value in its new place",
)
def model_of_keras_restored_as_the_root(at: Path) -> Pair:
    path = save_any(at, ckpt(model=keras_3_sequential(4, 2)))
    return Pair(path, lambda: ckpt(keras_3_sequential(4, 2)))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root).a.b",
    "(root)",
    "Everything seems to be outside of b now (2 values)",
)
def saved_two_levels_lower(at: Path) -> Pair:
    return Pair(saved(at, a=module(b=module(**tower(2.0)))), lambda: ckpt(**tower()))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).a.b", "puts each value in its new place")
def saved_two_levels_higher(at: Path) -> Pair:
    return Pair(saved(at, **tower(2.0)), lambda: ckpt(a=module(b=module(**tower()))))


@shows(
    Kind.UNWRAPPED,
    FAIL,
    "(root).model._part",
    "(root).part",
    "The model is inlined now (2 values)",
    "in its new place",
)
def saved_below_another_part(at: Path) -> Pair:
    model = module(_part=module(**tower(2.0)), head=var([1.0, 2.0, 3.0]))
    return Pair(saved(at, model=model), lambda: ckpt(part=module(**tower())))


@shows(Kind.ROOT_SHIFTED, FAIL, "(root).class", "(root)", "puts each value in its new place")
def saved_under_a_word_of_python(at: Path) -> Pair:
    path = saved(at, **{"class": module(**tower(2.0))})
    return Pair(
        path,
        lambda: ckpt(**tower()),
        fixed=lambda: Pair(path, lambda: ckpt(**{"class": ckpt(**tower())})),
    )


@shows(
    Kind.WRAPPED,
    FAIL,
    "(root).v",
    "(root).net.v",
    "v and w are in net now (2 values)",
    "puts each value in its new place",
)
def saved_as_the_root_with_a_keyword_that_stays(at: Path) -> Pair:
    path = saved(at, module(**tower(2.0)), step=var(3))
    return Pair(
        path,
        lambda: ckpt(net=module(**tower()), step=var(0)),
        fixed=lambda: Pair(path, lambda: ckpt(module(**tower()), step=var(0))),
    )


@shows(
    Kind.MOVED,
    FAIL,
    "(root).net.body",
    "(root).body",
    "net.body is outside of net now (2 values)",
    "puts each value in its new place",
)
def saved_between_others_that_stay(at: Path) -> Pair:
    path = saved(at, step=var(3), net=module(body=module(**tower(2.0)), head=var([1.0] * 3)))

    def live() -> Any:
        return ckpt(step=var(0), net=module(head=var([0.0] * 3)), body=module(**tower()))

    def fixed() -> Any:
        made = live()
        return ckpt(step=made.step, net=ckpt(head=made.net.head, body=made.body))

    return Pair(path, live, fixed=lambda: Pair(path, fixed))


def trained(layers: int, optimizer: str) -> Any:
    keras = keras_2()
    optimizers = keras.optimizers.legacy if optimizer == "legacy" else keras.optimizers
    model = called(keras_2_sequential(*range(4, 4 + layers)))
    model.compile(optimizers.Adam(), "mse")
    stepped(model.optimizer, model.variables)
    return model


def _weights_of_a_trained_model(at: Path, layers: int, optimizer: str) -> Pair:
    path = str(at / "weights")
    differently(trained(layers, optimizer)).save_weights(path, save_format="tf")
    return Pair(
        path,
        lambda: ckpt(model=trained(layers, optimizer)),
        method="read",
        fixed=lambda: Pair(path, lambda: ckpt(trained(layers, optimizer)), method="read"),
    )


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).model", "14 values", "in its new place")
def weights_of_a_trained_model_below_a_keyword(at: Path) -> Pair:
    return _weights_of_a_trained_model(at, 2, "new")


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).model", "182 values", "in its new place")
def weights_of_a_trained_model_of_many_layers(at: Path) -> Pair:
    return _weights_of_a_trained_model(at, 30, "new")


@shows(Kind.ROOT_SHIFTED, FAIL, "(root)", "(root).model", "65 values", "in its new place")
def weights_of_a_trained_model_with_slot_variables(at: Path) -> Pair:
    return _weights_of_a_trained_model(at, 10, "legacy")


def wrapped(adam: Any) -> Any:
    """Return an optimizer in the wrapper that compile() puts it in under mixed_float16."""
    return keras_3().optimizers.LossScaleOptimizer(adam)


def training(wrap: Callable[[Any], Any], frozen: int = 1) -> Any:
    model = module(a=var(1.0), b=var([1.0, 2.0]), frozen=[var([0.0] * 3) for _ in range(frozen)])
    optimizer = wrap(keras_3_adam())
    optimizer.build([model.a, model.b])
    return ckpt(model=model, optimizer=optimizer)


def as_it_is(optimizer: Any) -> Any:
    return optimizer


@shows(
    Kind.WRAPPED,
    ERROR,
    "(root).optimizer",
    "(root).optimizer.inner_optimizer",
    "The optimizer is wrapped in LossScaleOptimizer now (6 values)",
    "check.fix()",
)
def optimizer_wrapped_since(at: Path) -> Pair:
    return _optimizer_wrapped_since(at, 1)


@shows(Kind.WRAPPED, ERROR, "(root).optimizer", "(root).optimizer.inner_optimizer", "6 values")
def optimizer_of_few_variables_wrapped_since(at: Path) -> Pair:
    return _optimizer_wrapped_since(at, 20)


def _optimizer_wrapped_since(at: Path, frozen: int) -> Pair:
    path = save_any(at, differently(training(as_it_is, frozen)))

    def fixed() -> Any:
        live = training(wrapped, frozen)
        return ckpt(model=live.model, optimizer=live.optimizer.inner_optimizer)

    return Pair(path, lambda: training(wrapped, frozen), fixed=lambda: Pair(path, fixed))


@shows(
    Kind.UNWRAPPED,
    ERROR,
    "(root).optimizer.inner_optimizer",
    "(root).optimizer",
    "The optimizer is unwrapped now (6 values)",
    "in its new place",
)
def optimizer_not_wrapped_any_more(at: Path) -> Pair:
    path = save_any(at, differently(training(wrapped)))

    def fixed() -> Any:
        live = training(as_it_is)
        return ckpt(model=live.model, optimizer=ckpt(inner_optimizer=live.optimizer))

    # No object takes the saved scale of the loss.
    return Pair(
        path,
        lambda: training(as_it_is),
        fixed=lambda: Pair(path, fixed, passes="assert_existing_objects_matched"),
        passes="assert_existing_objects_matched",
    )


@shows(
    Kind.WRAPPED,
    ERROR,
    "(root).d_opt",
    "(root).d_opt.inner_optimizer",
    "d_opt and g_opt are wrapped in LossScaleOptimizer now (12 values)",
    "check.fix()",
)
def two_optimizers_wrapped_since(at: Path) -> Pair:
    def both(wrap: Callable[[Any], Any]) -> Any:
        d, g = training(wrap), training(wrap)
        return ckpt(d=d.model, d_opt=d.optimizer, g=g.model, g_opt=g.optimizer)

    path = save_any(at, differently(both(as_it_is)))

    def fixed() -> Any:
        live = both(wrapped)
        inner = (live.d_opt.inner_optimizer, live.g_opt.inner_optimizer)
        return ckpt(d=live.d, d_opt=inner[0], g=live.g, g_opt=inner[1])

    return Pair(path, lambda: both(wrapped), fixed=lambda: Pair(path, fixed))


@silent(Kind.ROOT_SHIFTED)
def optimizer_wrapped_on_both_sides(at: Path) -> Pair:
    path = save_any(at, training(wrapped))
    return Pair(path, lambda: training(wrapped, frozen=2))


@silent(Kind.ROOT_SHIFTED)
def trained_model_with_another_optimizer(at: Path) -> Pair:
    path = saved(at, model=trained(2, "new"))
    return Pair(path, lambda: ckpt(model=trained(2, "legacy")))


@silent(Kind.ROOT_SHIFTED)
def more_beside_it_than_can_be_listed(at: Path) -> Pair:
    def others() -> dict[str, Any]:
        return {f"v{i}": var([1.0]) for i in range(30)}

    path = saved(at, net=module(**{f"x{i}": var([2.0] * i) for i in range(40)}), **others())

    def live() -> Any:
        inner = {f"x{i}": var([1.0] * i) for i in range(40)}
        return ckpt(a=module(net=module(**inner)), **others())

    return Pair(path, live)


@silent(Kind.ROOT_SHIFTED)
def both_on_one_level_under_two_names(at: Path) -> Pair:
    return Pair(saved(at, model=module(**tower())), lambda: ckpt(net=module(**tower())))


@silent(Kind.ROOT_SHIFTED)
def on_two_levels_and_of_other_shapes(at: Path) -> Pair:
    other = module(v=var([1.0, 2.0]), w=module(x=var([1.0])))
    return Pair(saved(at, model=module(**tower())), lambda: ckpt(other))


@silent(Kind.ROOT_SHIFTED)
def one_value_of_many_on_another_level(at: Path) -> Pair:
    path = saved(at, m=module(v=var([1.0])), a=var([1.0, 2.0]), b=var(1), c=var([3]))
    return Pair(path, lambda: ckpt(v=var([1.0]), a=var([1.0, 2.0]), b=var(1), c=var([3]), d=var()))


# --- root_shifted: parts that are equal


def net(value: float = 0.0) -> Any:
    return module(**tower(value))


_BOTH = "puts each value in its new place"


@shows(Kind.MOVED, FAIL, "(root).parts.enc", "(root).enc_net", _BOTH)
def twins_of_a_dict_made_attributes(at: Path) -> Pair:
    path = saved(at, parts={"enc": net(1.0), "dec": net(2.0)})

    def fixed() -> Any:
        live = ckpt(enc_net=net(), dec_net=net())
        return ckpt(parts=ckpt(enc=live.enc_net, dec=live.dec_net))

    return Pair(
        path,
        lambda: ckpt(enc_net=net(), dec_net=net()),
        fixed=lambda: Pair(path, fixed),
    )


@shows(
    Kind.MOVED,
    FAIL,
    "(root).parts.dec",
    "(root).dec_net",
    "in its new place",
)
def twins_in_another_order(at: Path) -> Pair:
    path = saved(at, parts={"dec": net(1.0), "enc": net(2.0)})
    return Pair(path, lambda: ckpt(enc_net=net(), dec_net=net()))


@shows(
    Kind.MOVED,
    FAIL,
    "(root).parts.a",
    "(root).x",
    "a may be x now, but equal parts fit as well (2 values)",
    "equal parts fit as well",
    "check.fix(guesses=True)",
)
def twins_whose_names_tell_nothing(at: Path) -> Pair:
    path = saved(at, parts={"a": net(1.0), "b": net(2.0)})
    return Pair(path, lambda: ckpt(x=net(), y=net()))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root).ema",
    "(root)",
    "Everything may be outside of ema now, but equal parts fit as well (2 values)",
    "equal parts fit as well",
)
def averages_beside_a_model_that_is_the_root_now(at: Path) -> Pair:
    return Pair(saved(at, model=net(1.0), ema=net(2.0)), lambda: ckpt(net()))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root)",
    "(root).ema",
    "Everything may be inside ema now, but equal parts fit as well (2 values)",
    "equal parts fit as well",
)
def model_saved_as_the_root_and_averages_beside_it_now(at: Path) -> Pair:
    return Pair(written(at, net(1.0)), lambda: ckpt(model=net(), ema=net()))


@shows(
    Kind.MOVED,
    FAIL,
    "(root).nets.ema",
    "(root).ema_net",
    "ema is ema_net now (2 values)",
    "puts each value in its new place",
)
def averages_whose_name_tells_and_a_model_whose_name_does_not(at: Path) -> Pair:
    path = saved(at, nets={"model": net(1.0), "ema": net(2.0)})
    return Pair(path, lambda: ckpt(ema_net=net(), latest=net()))


@shows(Kind.MOVED, FAIL, "(root).nets.model", "(root).latest", "equal parts fit as well")
def names_that_fit_two(at: Path) -> Pair:
    path = saved(at, nets={"model": net(1.0), "ema": net(2.0)})
    return Pair(path, lambda: ckpt(ema_model=net(), latest=net()))


@shows(
    Kind.MOVED,
    FAIL,
    "(root).parts.enc",
    "(root).enc_net",
    "in its new place",
)
def twins_and_an_odd_one(at: Path) -> Pair:
    def head() -> Any:
        return module(scale=var([[1.0]]), shift=var([3.0]))

    path = saved(at, parts={"enc": net(1.0), "dec": net(2.0), "head": head()})
    return Pair(path, lambda: ckpt(top=differently(head()), dec_net=net(), enc_net=net()))


@shows(
    Kind.MOVED,
    FAIL,
    "(root).parts.enc",
    "(root).enc_net",
    "in its new place",
    "(4 values)",
)
def twins_of_twins(at: Path) -> Pair:
    def nested(value: float = 0.0) -> Any:
        return module(first=net(value), second=net(value + 10))

    path = saved(at, parts={"enc": nested(1.0), "dec": nested(2.0)})
    return Pair(path, lambda: ckpt(dec_net=nested(), enc_net=nested()))


@shows(
    Kind.MOVED,
    FAIL,
    "(root).parts.enc",
    "(root).enc_net",
    "in its new place",
    "(6 values)",
)
def twins_with_lists_of_equal_blocks(at: Path) -> Pair:
    def listed(value: float = 0.0) -> Any:
        return module(blocks=[net(value + 10 * i) for i in range(3)])

    path = saved(at, parts={"enc": listed(1.0), "dec": listed(2.0)})
    return Pair(path, lambda: ckpt(dec_net=listed(), enc_net=listed()))


def _two_optimizers(at: Path, adam: Callable[..., Any], *, in_a_dict: bool) -> Pair:
    def live() -> tuple[Any, Any, Any, Any]:
        d, g = net(), net()
        return d, g, adam(*d.trainable_variables), adam(*g.trainable_variables)

    d, g, d_opt, g_opt = live()
    optimizers = {"d": d_opt, "g": g_opt} if in_a_dict else module(d=d_opt, g=g_opt)
    path = save_any(at, differently(ckpt(d=d, g=g, optimizers=optimizers)))

    def now() -> Any:
        d, g, d_opt, g_opt = live()
        return ckpt(g=g, d=d, g_optimizer=g_opt, d_optimizer=d_opt)

    return Pair(path, now)


@shows(
    Kind.UNWRAPPED,
    FAIL,
    "(root).optimizers.d",
    "(root).d_optimizer",
    "optimizers is inlined now (12 values)",
    "in its new place",
)
def two_keras_3_optimizers_of_equal_nets(at: Path) -> Pair:
    return _two_optimizers(at, keras_3_adam, in_a_dict=False)


@shows(
    Kind.UNWRAPPED,
    FAIL,
    "(root).optimizers.d",
    "(root).d_optimizer",
    "optimizers is inlined now (12 values)",
    "in its new place",
)
def two_keras_2_optimizers_of_equal_nets(at: Path) -> Pair:
    return _two_optimizers(at, keras_2_adam, in_a_dict=False)


@shows(
    Kind.UNWRAPPED,
    FAIL,
    "(root).optimizers.d",
    "(root).d_optimizer",
    "optimizers is inlined now (12 values)",
    "in its new place",
)
def dict_of_optimizers_of_equal_nets(at: Path) -> Pair:
    return _two_optimizers(at, keras_3_adam, in_a_dict=True)


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root)",
    "(root).model",
    "Everything is inside the model now (11 values)",
    "check.fix()",
)
def code_that_would_raise_for_one_value_of_many(at: Path) -> Pair:
    def wide(last: int) -> Any:
        return module(**{f"v{i}": var([1.0] * i) for i in range(1, 12)}, last=var([1.0] * last))

    return Pair(saved(at, wide(2)), lambda: ckpt(model=wide(3)))


@shows(
    Kind.ROOT_SHIFTED,
    FAIL,
    "(root)",
    "(root).model",
    "Everything is inside the model now (3 values)",
)
def code_that_would_lose_a_value(at: Path) -> Pair:
    def tied() -> Any:
        one = module(**tower(), a=var([1.0] * 3))
        return with_children(one, b=one.a)

    path = written(at, module(**tower(2.0), a=var([5.0] * 3), b=var([6.0] * 3)))
    return Pair(path, lambda: ckpt(model=tied()))


# --- unrelated


@shows(Kind.UNRELATED, FAIL, "(root)", "(root)", "another model (4 values against 6)")
def two_models_with_nothing_in_common(at: Path) -> Pair:
    return Pair(
        saved(at, generator=keras_2_sequential(4, 5)),
        lambda: ckpt(classifier=keras_2_sequential(7, 6, 8)),
    )


@shows(Kind.UNRELATED, FAIL, "(root)", "(root)", "Nothing of the checkpoint fits")
def two_models_that_both_count_their_steps(at: Path) -> Pair:
    path = saved(at, step=var(1), a=var([1.0, 2.0]), b=var([[1.0]]))
    return Pair(path, lambda: ckpt(step=var(0), x=var([1.0, 2.0, 3.0]), y=var([1.0, 2.0, 3.0])))


@silent(Kind.UNRELATED)
def one_model_under_two_names(at: Path) -> Pair:
    return Pair(
        saved(at, a=module(k=var([1.0]), b=var([2.0]))),
        lambda: ckpt(x=module(p=var([1.0]), q=var([2.0]))),
    )


@silent(Kind.UNRELATED)
def a_part_of_the_model_is_still_the_same(at: Path) -> Pair:
    path = saved(at, body=var([1.0, 2.0]), head=var([1.0, 2.0, 3.0]))
    return Pair(path, lambda: ckpt(body=var([0.0, 0.0]), top=var([1.0, 2.0, 3.0, 4.0])))


@shows(Kind.UNRELATED, FAIL, "(root)", "(root)", "another model (7 values against 7)")
def two_models_with_one_name_in_common(at: Path) -> Pair:
    def model(width: int) -> dict[str, Any]:
        return {f"of_{width}_{i}": var([[1.0] * width] * i) for i in range(1, 7)}

    path = saved(at, head=var([1.0, 2.0]), **model(2))
    return Pair(path, lambda: ckpt(head=var([1.0, 2.0, 3.0]), **model(3)))


def _dense(dtype: str, width: int = 4, **counters: Any) -> Any:
    import tensorflow as tf

    kernel, bias = tf.ones([width, width], dtype), tf.ones([width], dtype)
    return module(w=var(kernel), b=var(bias), **counters)


@silent(Kind.UNRELATED)
def one_model_in_two_dtypes(at: Path) -> Pair:
    path = saved(at, model=_dense("float32", old=var(1)))
    return Pair(path, lambda: ckpt(model=_dense("float64", new=var(1))))


@silent(Kind.UNRELATED)
def one_model_in_two_dtypes_under_two_names(at: Path) -> Pair:
    return Pair(saved(at, a=_dense("float32")), lambda: ckpt(b=_dense("float64")))


@silent(Kind.UNRELATED)
def one_model_in_two_widths(at: Path) -> Pair:
    path = saved(at, model=_dense("float32", old=var(1)))
    return Pair(path, lambda: ckpt(model=_dense("float32", width=8, new=var(1))))


# --- items of sequences


def widths(*lengths: int) -> Any:
    return ckpt(layers=[var([1.0] * length) for length in lengths])


def _of_widths(at: Path, *lengths: int) -> str:
    return save_any(at, widths(*lengths))


def _shifted(at: Path, was: Sequence[int], now: Sequence[int]) -> Pair:
    path = _of_widths(at, *was)
    return Pair(path, lambda: widths(*now), fixed=lambda: Pair(path, lambda: widths(*was)))


@shows(
    Kind.INSERTED,
    ERROR,
    None,
    "(root).layers.1",
    "layers.1 seems to be new (3 values are affected)",
)
def item_inserted_into_a_list(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 5, 2, 3])


@shows(
    Kind.REMOVED,
    ERROR,
    "(root).layers.0",
    None,
    "layers.0 and layers.1 seem to be gone (5 values are affected)",
)
def two_items_taken_from_the_front(at: Path) -> Pair:
    return _shifted(at, [6, 5, 1, 2, 3], [1, 2, 3])


@shows(
    Kind.INSERTED,
    ERROR,
    None,
    "(root).model.layer_with_weights-1",
    " seems to be new (8 values are affected)",
)
def layer_with_weights_inserted(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5, 2))
    return Pair(path, lambda: ckpt(model=keras_2_with(keras_2().layers.BatchNormalization())))


def keras_2_with(layer: Any) -> Any:
    layers = keras_2().layers
    dense = [layers.Dense(4), layer, layers.Dense(5), layers.Dense(2)]
    return keras_2().Sequential([keras_2().Input((3,)), *dense])


@shows(
    Kind.REMOVED,
    ERROR,
    "(root).m.layer-0",
    None,
    "layers[0] seems to be gone (3 values are affected)",
)
def layer_by_number_taken_away(at: Path) -> Pair:
    def make(*lengths: int) -> Any:
        layers = {f"layer-{i}": module(w=var([1.0] * n)) for i, n in enumerate(lengths)}
        return ckpt(m=module(**layers))

    path = save_any(at, make(1, 2, 3))
    return Pair(path, lambda: make(2, 3), fixed=lambda: Pair(path, lambda: make(1, 2, 3)))


@shows(
    Kind.INSERTED,
    ERROR,
    None,
    "(root).model._functional._operations.2",
    " seems to be new (4 values are affected)",
)
def dropout_inserted_into_a_keras_3_model(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 5, 2))
    layers = keras_3().layers

    def live() -> Any:
        dense = [layers.Dense(4), layers.Dropout(0.5), layers.Dense(5), layers.Dense(2)]
        return ckpt(model=keras_3().Sequential([keras_3().Input((3,)), *dense]))

    return Pair(
        path, live, fixed=lambda: Pair(path, lambda: ckpt(model=keras_3_sequential(4, 5, 2)))
    )


def keras_3_chain(names: str, optimizer: bool = False) -> Any:
    """Return a model of layers by the letters of a string: capitals are dropouts."""
    layers = keras_3().layers
    made = [
        layers.Dense(3, name=f"fc_{name}") if name.islower() else layers.Dropout(0.5)
        for name in names
    ]
    model = keras_3().Sequential([keras_3().Input((3,)), *made])
    variables = model.trainable_variables
    return ckpt(model=model, **({"optimizer": keras_3_adam(*variables)} if optimizer else {}))


@shows(
    Kind.INSERTED,
    FAIL,
    None,
    "(root).model._functional._operations.0",
    " are new (6 values are affected)",
)
def dropouts_at_two_places_cross_layers_of_one_shape(at: Path) -> Pair:
    path = save_any(at, differently(keras_3_chain("abc")))
    return Pair(
        path,
        lambda: keras_3_chain("XaYbc"),
        fixed=lambda: Pair(path, lambda: keras_3_chain("abc")),
    )


@shows(
    Kind.REMOVED,
    FAIL,
    "(root).l.0",
    None,
    "l.0 seems to be gone (2 values are affected)",
)
def item_without_values_moved(at: Path) -> Pair:
    def make(names: str) -> Any:
        return ckpt(l=[module(v=var([1.0])) if name != "-" else module() for name in names])

    path = save_any(at, differently(make("-aa")))
    return Pair(path, lambda: make("aa-"), fixed=lambda: Pair(path, lambda: make("-aa")))


@silent(Kind.INSERTED)
def dropouts_inserted_where_an_optimizer_leads_to_every_variable(at: Path) -> Pair:
    path = save_any(at, differently(keras_3_chain("abc", optimizer=True)))
    return Pair(path, lambda: keras_3_chain("XaYbc", optimizer=True))


def with_rate(scheduled: bool) -> Any:
    rate: Any = 0.1
    if scheduled:
        rate = keras_3().optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    return with_adam(lambda *variables: keras_3_adam(*variables, learning_rate=rate))


@shows(
    Kind.OPTIMIZER_CHANGED,
    ERROR,
    "(root).optimizer",
    None,
    "The optimizer has a learning-rate schedule now (4 values)",
)
def learning_rate_has_become_a_schedule(at: Path) -> Pair:
    path = save_any(at, with_rate(False))
    return Pair(
        path,
        lambda: with_rate(True),
        fixed=lambda: Pair(path, lambda: with_rate(False)),
    )


@shows(
    Kind.OPTIMIZER_CHANGED,
    ERROR,
    "(root).optimizer",
    None,
    "The optimizer has no learning-rate schedule now (4 values)",
)
def schedule_has_become_a_learning_rate(at: Path) -> Pair:
    path = save_any(at, with_rate(True))
    return Pair(path, lambda: with_rate(False), fixed=lambda: Pair(path, lambda: with_rate(True)))


@silent(Kind.INSERTED)
def item_appended_at_the_end(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 2, 3, 4])


@silent(Kind.INSERTED)
def items_that_all_look_alike(at: Path) -> Pair:
    return _shifted(at, [2, 2, 2], [2, 2, 2, 2])


@silent(Kind.INSERTED)
def items_inserted_and_changed(at: Path) -> Pair:
    return _shifted(at, [1, 2, 3], [1, 5, 6, 7])


@silent(Kind.INSERTED)
def dropout_inserted_into_a_keras_2_model(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5, 2))
    return Pair(path, lambda: ckpt(model=keras_2_with(keras_2().layers.Dropout(0.5))))


# --- renamed


@shows(
    Kind.RENAMED, FAIL, "(root).model.old", "(root).model.new", "old seems to be new now (1 value)"
)
def attribute_renamed(at: Path) -> Pair:
    path = saved(at, model=module(old=var([2.0]), other=var(1)))

    def fixed() -> Any:
        model = module(new=var([1.0]), other=var(0))
        return ckpt(model=with_children(model, old=model.new))

    return Pair(
        path,
        lambda: ckpt(model=module(new=var([1.0]), other=var(0))),
        fixed=lambda: Pair(path, fixed),
    )


@shows(Kind.RENAMED, FAIL, "(root).encoder", "(root).backbone", "Call check.fix().apply()")
def subtree_renamed(at: Path) -> Pair:
    path = saved(at, encoder=module(**tower()), step=var(1))
    return Pair(
        path,
        lambda: ckpt(backbone=module(**tower()), step=var(0)),
        fixed=lambda: Pair(path, lambda: ckpt(encoder=module(**tower()), step=var(0))),
    )


@shows(Kind.RENAMED, FAIL, "(root).a", "(root).y", "a is y now (1 value)")
def two_renamed_that_only_their_full_names_tell_apart(at: Path) -> Pair:
    path = saved(at, a=var([1.0], name="p"), b=var([1.0], name="q"))
    return Pair(path, lambda: ckpt(x=var([1.0], name="q"), y=var([1.0], name="p")))


@shows(
    Kind.MIGRATED,
    FAIL,
    None,
    None,
    "Another major version of Keras wrote the file (4 values)",
    "(4 values)",
)
def model_of_keras_2_in_keras_3(at: Path) -> Pair:
    path = saved(at, model=keras_2_sequential(4, 5))
    return Pair(
        path,
        lambda: ckpt(model=keras_3_sequential(4, 5)),
        fixed=lambda: Pair(path, lambda: ckpt(model=keras_2_sequential(4, 5))),
    )


@shows(
    Kind.MIGRATED,
    FAIL,
    None,
    None,
    "Another major version of Keras wrote the file (4 values)",
    "check.fix()",
)
def model_of_keras_3_in_keras_2(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 5))
    return Pair(path, lambda: ckpt(model=keras_2_sequential(4, 5)))


@shows(
    Kind.RENAMED,
    FAIL,
    "(root).a",
    "(root).x",
    "a may be x now, but equal parts fit as well (1 value)",
    "equal parts fit as well",
    "guesses=True",
)
def two_renamed_that_nothing_tells_apart(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), b=var([1.0])), lambda: ckpt(x=var([1.0]), y=var([1.0])))


@shows(Kind.RENAMED, FAIL, "(root).enc", "(root).enc_net", "enc is enc_net now (2 values)")
def twins_renamed_by_names_that_tell(at: Path) -> Pair:
    path = saved(at, enc=net(1.0), dec=net(2.0))
    return Pair(
        path,
        lambda: ckpt(dec_net=net(), enc_net=net()),
        fixed=lambda: Pair(path, lambda: ckpt(dec=net(), enc=net())),
    )


@silent(Kind.RENAMED)
def renamed_while_its_twin_has_moved(at: Path) -> Pair:
    path = saved(at, first=net(1.0), parts=module(second=net(2.0), third=net(3.0)), step=var(1))
    return Pair(path, lambda: ckpt(parts=module(second=net(), first=net()), step=var(0)))


@silent(Kind.RENAMED)
def renamed_and_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, a=var([1.0]), c=var()), lambda: ckpt(b=var([1.0, 2.0]), c=var()))


@silent(Kind.RENAMED)
def moved_to_another_object(at: Path) -> Pair:
    path = saved(at, m=module(a=var([1.0])), n=module(c=var()))
    return Pair(path, lambda: ckpt(m=module(), n=module(b=var([1.0]), c=var())))

"""Optimizers and models of Keras 3 and Keras 2, and problems that users have with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.check_rows.objects import applied, mutable_table, sequential
from tests.check_rows.table import ALL, Pair, Topic
from tests.support import live_objects, optimizers
from tests.support.programs import ckpt, keras_2, keras_3, module, rewritten, save_any, saved, var

row = Topic()


def _with_variables(optimizer: Any, *, built: bool = True) -> Any:
    import tensorflow as tf

    variables = [tf.Variable(tf.ones([3, 2])), tf.Variable(tf.ones([2]))]
    if built:
        optimizer.build(variables)
    return ckpt(vs=variables, optimizer=optimizer)


def _kind_pair(kind: Any, needs: Callable[[], Any], *, built: bool) -> Callable[[Path], Pair]:
    def pair(at: Path) -> Pair:
        needs()
        path = _with_variables(kind.make()).save(str(at / "ckpt"))
        return Pair(path, lambda: _with_variables(kind.make(), built=built))

    return pair


for _number, (_kinds_of, _needs) in enumerate(
    ((optimizers.KERAS_3, keras_3), (optimizers.KERAS_2, keras_2))
):
    for _each in _kinds_of:
        _name = f"keras_{3 - _number} {_each.name}"
        # Muon goes by the names of variables; some have no slots to miss.
        if not _each.name.startswith("Muon"):
            row(name=f"{_name}, built")(_kind_pair(_each, _needs, built=True))
            if _name != "keras_3 SGD":
                row("consumed", name=f"{_name}, not built")(_kind_pair(_each, _needs, built=False))


_KERAS_3_MODELS = (
    "functional", "sequential", "subclassed", "frozen", "shared", "nested",
    "equal_names_everywhere", "kernels_of_all_ranks",
)  # fmt: skip


_KERAS_2_MODELS = ("functional", "subclassed", "nested", "named_like_slots")


def _trained(model: Any, optimizer: Any) -> Any:
    optimizer.build(list(model.trainable_variables))
    return ckpt(model=model, optimizer=optimizer)


def _model_pair(kind: str, maker: str, needs: Callable[[], Any]) -> Callable[[Path], Pair]:
    def pair(at: Path) -> Pair:
        keras = needs()

        def make() -> Any:
            return _trained(getattr(optimizers, maker)()[kind](), keras.optimizers.Adam())

        return Pair(make().save(str(at / "ckpt")), make)

    return pair


for _model in _KERAS_3_MODELS:
    row(name=f"keras_3 model, {_model}")(_model_pair(_model, "keras_3_models", keras_3))


for _model in _KERAS_2_MODELS:
    row(name=f"keras_2 model, {_model}")(_model_pair(_model, "keras_2_models", keras_2))


@row("consumed")
def keras_3_model_that_is_not_built(at: Path) -> Pair:
    keras = keras_3()
    path = saved(at, model=sequential(keras, 2, 2))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2, 2, built=False)))


@row("consumed")
def keras_2_model_that_is_not_built(at: Path) -> Pair:
    keras = keras_2()
    path = saved(at, model=sequential(keras, 2, 2))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2, 2, built=False)))


@row("existing")
def keras_3_model_saved_before_it_was_built(at: Path) -> Pair:
    keras = keras_3()
    path = saved(at, model=sequential(keras, 2, 2, built=False))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2, 2)))


@row("consumed")
def keras_3_subclassed_model_without_build(at: Path) -> Pair:
    keras = keras_3()

    def make(built: bool) -> Any:
        import tensorflow as tf

        class Net(keras.Model):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.first, self.second = keras.layers.Dense(2), keras.layers.Dense(3)

            def call(self, x: Any) -> Any:
                return self.second(self.first(x))

        model = Net()
        if built:
            model(tf.zeros((1, 3)))
        return ckpt(model=model)

    return Pair(make(True).save(str(at / "ckpt")), lambda: make(False))


@row("consumed")
def inference_without_the_optimizer(at: Path) -> Pair:
    keras = keras_3()
    path = _trained(sequential(keras, 2), keras.optimizers.Adam()).save(str(at / "ckpt"))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2)))


@row(raises="ValueError", says=["(2, 5)", "(2, 4)"])
def head_with_another_number_of_classes(at: Path) -> Pair:
    keras = keras_3()
    path = saved(at, model=sequential(keras, 2, 5))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2, 4)))


@row(raises="ValueError", says=["(5,)", "(4,)"])
def keras_2_head_with_another_number_of_classes(at: Path) -> Pair:
    keras = keras_2()
    path = saved(at, model=sequential(keras, 2, 5))
    return Pair(path, lambda: ckpt(model=sequential(keras, 2, 4)))


def _functional(keras: Any, *layers: Any) -> Any:
    inputs = x = keras.Input((3,))
    for layer in layers:
        x = layer(x)
    return keras.Model(inputs, x)


@row("existing")
def keras_3_layer_without_weights_inserted(at: Path) -> Pair:
    keras = keras_3()
    dense, dropout = keras.layers.Dense, keras.layers.Dropout
    path = saved(at, model=_functional(keras, dense(3), dense(3)))
    return Pair(path, lambda: ckpt(model=_functional(keras, dense(3), dropout(0.5), dense(3))))


@row()
def keras_2_layer_without_weights_inserted(at: Path) -> Pair:
    keras = keras_2()
    dense, dropout = keras.layers.Dense, keras.layers.Dropout
    path = saved(at, model=_functional(keras, dense(3), dense(3)))
    return Pair(path, lambda: ckpt(model=_functional(keras, dense(3), dropout(0.5), dense(3))))


@row(raises="ValueError")
def keras_2_layer_with_weights_inserted(at: Path) -> Pair:
    keras = keras_2()
    dense = keras.layers.Dense
    path = saved(at, model=_functional(keras, dense(3), dense(4)))
    return Pair(path, lambda: ckpt(model=_functional(keras, dense(3), dense(5), dense(4))))


@row("existing")
def keras_2_layer_of_another_type_at_an_index(at: Path) -> Pair:
    keras = keras_2()
    layers = keras.layers
    path = saved(at, model=_functional(keras, layers.Dense(3), layers.BatchNormalization()))
    return Pair(
        path,
        lambda: ckpt(model=_functional(keras, layers.BatchNormalization(), layers.Dense(3))),
    )


@row()
def keras_2_branches_in_another_order(at: Path) -> Pair:
    keras = keras_2()

    def make(*names: str) -> Any:
        inputs = keras.Input((3,))
        branches = [keras.layers.Dense(3, name=name)(inputs) for name in names]
        return ckpt(model=keras.Model(inputs, keras.layers.Add()(branches)))

    return Pair(make("a", "b").save(str(at / "ckpt")), lambda: make("b", "a"))


@row("existing")
def keras_2_saved_and_keras_3_live(at: Path) -> Pair:
    old, new = keras_2(), keras_3()
    path = saved(at, model=sequential(old, 2, 2))
    return Pair(path, lambda: ckpt(model=sequential(new, 2, 2)))


def _net_with_containers(keras: Any, kind: str) -> Any:
    """Return a model that holds its layers in a list, a dict or a tuple."""
    import tensorflow as tf

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            blocks = [keras.layers.Dense(3), keras.layers.Dense(3)]
            named = dict(zip("ab", blocks, strict=True))
            held: dict[str, Any] = {"list": blocks, "tuple": tuple(blocks), "dict": named}
            self.blocks = held[kind]

        def call(self, x: Any) -> Any:
            blocks = self.blocks.values() if kind == "dict" else self.blocks
            for block in blocks:
                x = block(x)
            return x

    model = Net()
    model(tf.zeros((1, 3)))
    return ckpt(model=model)


for _kind in ("list", "dict", "tuple"):
    for _version, _needs in ((3, keras_3), (2, keras_2)):

        def _held_pair(at: Path, kind: str = _kind, needs: Callable[[], Any] = _needs) -> Pair:
            keras = needs()
            path = _net_with_containers(keras, kind).save(str(at / "ckpt"))
            return Pair(path, lambda: _net_with_containers(keras, kind))

        row(name=f"keras_{_version} layers in a {_kind}")(_held_pair)


@row("consumed")
def keras_2_layers_in_a_list_are_not_built(at: Path) -> Pair:
    keras = keras_2()
    path = _net_with_containers(keras, "list").save(str(at / "ckpt"))

    def live() -> Any:
        model = keras.Model()
        model.blocks = [keras.layers.Dense(3), keras.layers.Dense(3)]
        return ckpt(model=model)

    return Pair(path, live)


def _with_frozen(keras: Any, *frozen: int) -> Any:
    model = sequential(keras, 3, 3, 3)
    for index in frozen:
        model.layers[index].trainable = False
    return _trained(model, keras.optimizers.Adam())


@row("existing")
def keras_3_layer_frozen_in_the_program(at: Path) -> Pair:
    keras = keras_3()
    return Pair(_with_frozen(keras).save(str(at / "ckpt")), lambda: _with_frozen(keras, 0))


@row("existing")
def keras_3_layer_frozen_in_the_checkpoint(at: Path) -> Pair:
    keras = keras_3()
    return Pair(_with_frozen(keras, 0).save(str(at / "ckpt")), lambda: _with_frozen(keras))


@row()
def keras_3_optimizers_of_two_models_exchanged(at: Path) -> Pair:
    keras = keras_3()

    def make(first: str, second: str) -> Any:
        models = {name: sequential(keras, 3) for name in ("a", "b")}
        optimizers_of = {name: keras.optimizers.Adam() for name in models}
        for name, optimizer in optimizers_of.items():
            optimizer.build(models[name].trainable_variables)
        return ckpt(**models, a_optimizer=optimizers_of[first], b_optimizer=optimizers_of[second])

    return Pair(make("a", "b").save(str(at / "ckpt")), lambda: make("b", "a"))


def _schedule(keras: Any) -> Any:
    return keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)


@row("consumed")
def keras_3_rate_becomes_a_schedule(at: Path) -> Pair:
    keras = keras_3()
    path = _with_variables(keras.optimizers.SGD(0.1)).save(str(at / "ckpt"))
    return Pair(path, lambda: _with_variables(keras.optimizers.SGD(_schedule(keras))))


@row(raises="ValueError")
def keras_3_adam_gets_a_schedule_in_its_constructor(at: Path) -> Pair:
    keras = keras_3()
    path = _with_variables(keras.optimizers.Adam(0.1)).save(str(at / "ckpt"))
    return Pair(path, lambda: _with_variables(keras.optimizers.Adam(_schedule(keras))))


@row(raises="ValueError")
def keras_3_rate_is_set_to_a_schedule_later(at: Path) -> Pair:
    keras = keras_3()

    def make(later: bool) -> Any:
        target = _with_variables(keras.optimizers.Adam(0.1))
        if later:
            target.optimizer.learning_rate = _schedule(keras)
        return target

    probe = make(later=True)
    try:
        probe.write(str(at / "probe"))
    except ValueError:
        return Pair(make(later=False).save(str(at / "ckpt")), lambda: make(later=True))
    pytest.skip("this Keras does not take the rate out of the optimizer's variables")


@row()
def keras_3_moments_grouped_or_interleaved(at: Path) -> Pair:
    keras = keras_3()

    def regroup(proto: Any, values: dict[str, Any]) -> None:
        (variables,) = (
            node
            for node in proto.nodes
            if any(child.local_name == "5" for child in node.children)
            and not any(child.local_name == "optimizer" for child in node.children)
        )
        by_name = {child.local_name: child for child in variables.children}
        by_name["3"].local_name, by_name["4"].local_name = "4", "3"
        for node in proto.nodes:
            for child in list(node.children):
                if child.local_name in ("_momentums", "_velocities"):
                    node.children.remove(child)

    def make() -> Any:
        import tensorflow as tf

        optimizer = keras.optimizers.Adam()
        variables = [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])]
        optimizer.build(variables)
        return ckpt(vs=variables, optimizer=optimizer)

    path = rewritten(at, make().save(str(at / "ckpt")), regroup)
    return Pair(path, make)


@row()
def keras_3_multi_optimizer_loses_what_is_in_it(at: Path) -> Pair:
    keras = keras_3()
    multi = getattr(keras.optimizers, "MultiOptimizer", None)
    if multi is None:
        pytest.skip("this Keras has no MultiOptimizer")

    def make() -> Any:
        model = sequential(keras, 2)
        inner = keras.optimizers.Adam()
        optimizer = multi(lambda variable: inner)
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    return Pair(make().save(str(at / "ckpt")), make)


@row()
def keras_3_loss_scaled_optimizer(at: Path) -> Pair:
    keras = keras_3()

    def make() -> Any:
        return _with_variables(keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam()))

    return Pair(make().save(str(at / "ckpt")), make)


@row(raises="InvalidArgumentError")
def loss_scale_is_new_in_keras_3(at: Path) -> Pair:
    keras = keras_3()
    path = _with_variables(keras.optimizers.Adam()).save(str(at / "ckpt"))
    return Pair(
        path,
        lambda: _with_variables(keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())),
    )


@row("existing")
def feature_extractor_where_the_checkpoint_has_a_model(at: Path) -> Pair:
    path = saved(at, model=module(features=module(v=var()), head=module(w=var())))
    return Pair(path, lambda: ckpt(feature_extractor=module(v=var())))


@row("consumed")
def checkpoints_in_place_of_objects_select_a_subtree(at: Path) -> Pair:
    path = saved(at, model=module(features=module(v=var()), head=module(w=var())))
    return Pair(path, lambda: ckpt(model=ckpt(features=module(v=var()))))


@row("existing")
def table_of_a_text_layer_is_new(at: Path) -> Pair:
    return Pair(
        saved(at, layer=module(v=var())), lambda: ckpt(layer=module(v=var(), table=mutable_table()))
    )


@row()
def values_of_python_are_not_saved(at: Path) -> Pair:
    path = saved(at, m=module(v=var(), epoch=5, name_of="run", rates=[0.1, 0.2]))
    return Pair(path, lambda: ckpt(m=module(v=var(), epoch=0, name_of="", rates=[0.0])))


@row()
def keras_2_weights_saved_by_the_model(at: Path) -> Pair:
    keras = keras_2()
    model = sequential(keras, 2, 2)
    model.save_weights(str(at / "weights"), save_format="tf")
    return Pair(str(at / "weights"), lambda: sequential(keras, 2, 2))


@row(ALL)
def keras_2_weights_saved_by_the_model_into_a_checkpoint_of_it(at: Path) -> Pair:
    keras = keras_2()
    sequential(keras, 2, 2).save_weights(str(at / "weights"), save_format="tf")
    return Pair(str(at / "weights"), lambda: ckpt(model=sequential(keras, 2, 2)))


@row()
def keras_2_weights_of_a_trained_model(at: Path) -> Pair:
    keras = keras_2()

    def make() -> Any:
        model = sequential(keras, 2, 2)
        model.compile(keras.optimizers.legacy.Adam(), "mse")
        applied(model.optimizer, *model.trainable_variables)
        return model

    make().save_weights(str(at / "weights"), save_format="tf")
    return Pair(str(at / "weights"), make)


@row("existing")
def keras_2_saved_model(at: Path) -> Pair:
    import tensorflow as tf

    keras = keras_2()
    tf.saved_model.save(sequential(keras, 2, 2), str(at / "model"))
    return Pair(str(at / "model"), lambda: ckpt(sequential(keras, 2, 2)))


@row("existing")
def keras_3_saved_model(at: Path) -> Pair:
    import tensorflow as tf

    keras = keras_3()
    tf.saved_model.save(sequential(keras, 2, 2), str(at / "model"))
    return Pair(str(at / "model"), lambda: ckpt(sequential(keras, 2, 2)))


@row()
def keras_2_auto_cast_variables_shared(at: Path) -> Pair:
    keras = keras_2()

    def make(dtype: str) -> Any:
        layer = keras.layers.Dense(2, dtype=dtype)
        layer.build((None, 3))
        return ckpt(a=layer, b=module(kernel=layer.kernel, bias=layer.bias))

    path = make("float32").save(str(at / "ckpt"))
    return Pair(path, lambda: make("mixed_bfloat16"))


for _make in live_objects.KINDS:
    if _make.__name__ not in (
        "status_of_a_restore",
        "objects_that_serialize_themselves",  # counts how often it is asked
        "python_state",  # refuses to be loaded
        "keras2_optimizer_before_and_after_its_first_look",
        "keras2_subclassed_with_optimizer",  # take seconds
        "keras3_model_with_lists_and_seeds",
    ):

        def _own_pair(at: Path, make: Callable[[], Any] = _make) -> Pair:
            for word, needs in (("keras3", keras_3), ("keras2", keras_2), ("guide", keras_3)):
                if word in make.__name__:
                    needs()
            if make.__name__ in ("loss_scaled_optimizers", "unbuilt_models"):
                keras_3()
            return Pair(save_any(at, make()), make)

        row(name=f"itself, {_make.__name__}")(_own_pair)

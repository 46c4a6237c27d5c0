"""Pairs for the finding on objects that TensorFlow does not follow: not_tracked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.objects import replaced_block, two_blocks
from tests.check_findings.table import INFO, WARNING, Maker, Pair, Rows
from tests.check_rows.objects import mirrored, serializing, sharded, state_of_python
from tests.support.programs import (
    ckpt,
    differently,
    keras_2,
    keras_2_adam,
    keras_3,
    made_within,
    module,
    save_any,
    saved,
    var,
    with_children,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


def _net(base: Any, **attributes: Callable[[], Any]) -> Any:
    """Return an object of a new class that has these attributes, called `Net`."""

    def init(self: Any) -> None:
        base.__init__(self)
        for name, make in attributes.items():
            setattr(self, name, make())

    return type("Net", (base,), {"__init__": init})()


def dense(*units: int) -> list[Any]:
    layers = [keras_3().layers.Dense(number) for number in units]
    for layer in layers:
        layer.build((None, 3))
    return layers


def _keras_3_net(at: Path, hidden: Callable[[Any], list[Any]], **attributes: Any) -> Pair:
    def make() -> Any:
        return ckpt(model=_net(keras_3().Model, out=lambda: dense(2)[0], **attributes))

    path = save_any(at, differently(make()))
    return Pair(path, make, hidden=lambda target: hidden(target.model))


def _kernels(layers: Iterable[Any]) -> list[Any]:
    return [layer.kernel for layer in layers]


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model.blocks: 4 variables are in")
def list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.blocks), blocks=lambda: dense(4, 5))


@shows(
    *(Kind.NOT_TRACKED, WARNING, None, "(root).model", "a restore leaves 4 variables as"),
    "4 trained values in the optimizer's list alone",
    "Build the optimizer for this model and restore both",
)
def list_of_keras_3_layers_without_its_optimizer(at: Path) -> Pair:
    def model() -> Any:
        return _net(keras_3().Model, out=lambda: dense(2)[0], blocks=lambda: dense(4, 5))

    saved_model = differently(model())
    optimizer = keras_3().optimizers.Adam()
    optimizer.build([*saved_model.out.weights, *(w for b in saved_model.blocks for w in b.weights)])
    path = save_any(at, ckpt(model=saved_model, optimizer=optimizer))
    return Pair(path, lambda: ckpt(model=model()))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model._blocks: ", "track the TrackedList")
def private_list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net._blocks), _blocks=lambda: dense(4))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model.by_name: ", "the TrackedDict")
def dict_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(
        at,
        lambda net: _kernels(net.by_name.values()),
        by_name=lambda: dict(zip("ab", dense(4, 5), strict=True)),
    )


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model.some: ", "the TrackedSet")
def set_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.some), some=lambda: set(dense(4)))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "weights of this", "The object graph lacks")
def cells_of_a_keras_3_layer(at: Path) -> Pair:
    def make() -> Any:
        layers = keras_3().layers
        cells = layers.StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(2)])
        model = keras_3().Sequential([keras_3().Input((3, 4)), layers.RNN(cells)])
        return ckpt(model=model)

    path = save_any(at, make())
    return Pair(path, make, hidden=lambda target: target.model.weights)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).optimizer", "TensorFlow does not track")
def inner_optimizers_of_keras_3(at: Path) -> Pair:
    def make() -> Any:
        from keras.src.optimizers.multi_optimizer import MultiOptimizer, OptimizerMap

        optimizers = keras_3().optimizers
        (layer,) = dense(2)
        optimizer = MultiOptimizer(OptimizerMap(optimizers.SGD(momentum=0.9)))
        optimizer.build(layer.trainable_variables)
        return ckpt(layer=layer, optimizer=optimizer)

    try:
        path = save_any(at, make())
    except ImportError:
        pytest.skip("this Keras has no MultiOptimizer")
    return Pair(path, make)


@shows(
    Kind.NOT_TRACKED, WARNING, None, "(root).m", "m.queue: ", "the deque", "attribute of its own"
)
def queue_of_variables(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(m=module(v=var(), queue=deque([var(2.0), var(3.0)])))

    path = save_any(at, make())
    return Pair(path, make, hidden=lambda target: list(target.m.queue))


@silent(Kind.NOT_TRACKED)
def tuple_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: [], blocks=lambda: tuple(dense(4, 5)))


@silent(Kind.NOT_TRACKED)
def list_of_keras_2_layers(at: Path) -> Pair:
    def make() -> Any:
        net = _net(keras_2().Model, blocks=lambda: [keras_2().layers.Dense(2)])
        net.blocks[0].build((None, 3))
        return ckpt(model=net)

    return Pair(save_any(at, make()), make)


# --- state that training does not change


def variables_of(metrics: Iterable[Any]) -> list[Any]:
    return [variable for metric in metrics for variable in metric.variables]


_shows_state = partial(shows, Kind.NOT_TRACKED, INFO, None)


@_shows_state("(root).model", "restores model.loss_tracker (Mean), ", "(TrackedList) and 4 more: ")
def metrics_and_seeds_of_keras_3(at: Path) -> Pair:
    keras = keras_3()
    mean = keras.metrics.Mean

    def make() -> Any:
        model = _net(
            keras.Model,
            out=lambda: dense(2)[0],
            loss_tracker=mean,
            some=lambda: [mean()],
            seed=lambda: keras.random.SeedGenerator(1),
            _private=mean,
            nested=lambda: {"a": [(mean(),)]},
            plain=lambda: SimpleNamespace(metric=mean()),
            dropout=lambda: keras.layers.Dropout(0.5),
        )
        return ckpt(model=model)

    def hidden(target: Any) -> list[Any]:
        net = target.model
        metrics = (net.loss_tracker, *net.some, net._private, net.nested["a"][0][0])
        return [*variables_of((*metrics, net.plain.metric)), net.seed.state]

    def with_variables() -> Any:
        metric = mean()
        return ckpt(model=module(v=var()), metric=metric.variables)

    fixed = save_any(at / "fixed", with_variables())
    return Pair(
        save_any(at, make()), make, hidden=hidden, fixed=lambda: Pair(fixed, with_variables)
    )


@_shows_state("(root).net", "net.metrics (ListWrapper) and net.some (_DictWrapper)")
def metrics_of_keras_3_in_a_list(at: Path) -> Pair:
    def make() -> Any:
        metrics = keras_3().metrics
        some = {"mean": metrics.Mean(), "sums": [metrics.Sum()]}
        return ckpt(net=module(v=var(), metrics=[metrics.Mean(), var()], some=some))

    return _same(at, make, hidden=lambda target: target.net.metrics[0].variables)


@_shows_state("(root)", "restores metrics (ListWrapper): ")
def metrics_of_keras_3_in_a_checkpoint(at: Path) -> Pair:
    return _same(
        at,
        lambda: ckpt(metrics=[keras_3().metrics.Mean()]),
        hidden=lambda target: target.metrics[0].variables,
    )


def fitted(keras: Any, **attributes: Any) -> Any:
    """Return a checkpoint of a model that was trained with metrics, and was given attributes."""
    import numpy as np

    layers = [keras.layers.Dense(2), keras.layers.Dropout(0.5)]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile("sgd", "mse", metrics=["mae", keras.metrics.AUC()], run_eagerly=True)
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    return ckpt(model=with_children(model, **attributes))


@_shows_state("(root).model", "model.tracker (Mean): ")
def metric_hung_on_a_model_of_keras_3(at: Path) -> Pair:
    return _same(
        at,
        lambda: fitted(keras_3(), tracker=keras_3().metrics.Mean()),
        hidden=lambda target: target.model.tracker.variables,
    )


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model.blocks: ", "the TrackedList")
def layers_hung_on_a_model_of_keras_3(at: Path) -> Pair:
    return _same(
        at,
        lambda: fitted(keras_3(), blocks=dense(2)),
        hidden=lambda target: _kernels(target.model.blocks),
    )


@_shows_state("(root).net", "net.some (set) and net.plain (SimpleNamespace): ")
def metrics_of_keras_2_out_of_sight(at: Path) -> Pair:
    def make() -> Any:
        mean = keras_2().metrics.Mean
        return ckpt(net=module(v=var(), some={mean()}, plain=SimpleNamespace(metric=mean())))

    return _same(at, make, hidden=lambda target: target.net.plain.metric.variables)


@silent(Kind.NOT_TRACKED)
def metrics_of_keras_2(at: Path) -> Pair:
    def make() -> Any:
        mean = keras_2().metrics.Mean
        net = _net(keras_2().Model, loss_tracker=mean, some=lambda: [mean()])
        return ckpt(net=net, m=module(metric=mean(), some={"a": [mean()]}))

    return _same(at, make)


# --- plain objects in what TensorFlow follows


class Block:
    """A plain object with a variable."""

    def __init__(self) -> None:
        self.w = var([1.0])


def tracked_block() -> Any:
    return module(w=var([1.0]))


def _holding(at: Path, make: Callable[[Callable[[], Any]], Any]) -> Pair:
    """Return a pair with what holds plain objects; fixed, they are modules."""

    def net(block: Callable[[], Any]) -> Any:
        return ckpt(net=module(head=var(), blocks=make(block)))

    def fixed() -> Pair:
        path = save_any(at / "fixed", net(tracked_block))
        return Pair(path, lambda: net(tracked_block))

    return Pair(save_any(at, net(Block)), lambda: net(Block), fixed=fixed)


FOLLOWED = "the plain objects in the "


@shows(
    Kind.NOT_TRACKED, WARNING, None, "(root).net", FOLLOWED + "ListWrapper", "blocks: 2 variables"
)
def plain_objects_in_a_list(at: Path) -> Pair:
    return _holding(at, lambda block: [block(), block()])


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).net", FOLLOWED + "_DictWrapper", "tf.Module")
def plain_object_in_a_dict(at: Path) -> Pair:
    return _holding(at, lambda block: {"a": block()})


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).net", FOLLOWED, "blocks: 3 variables are in")
def plain_objects_in_lists_in_a_list(at: Path) -> Pair:
    return _holding(at, lambda block: [[block()], (block(), {"b": block()})])


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).net", "does not track the Bl")
def plain_object_in_an_attribute(at: Path) -> Pair:
    return _holding(at, lambda block: block())


@silent(Kind.NOT_TRACKED)
def plain_objects_without_values_in_a_list(at: Path) -> Pair:
    def make() -> Any:
        plain = Block()
        net = module(w=plain.w, plain=[plain, object(), [object()], "text"], blocks=[module()])
        return ckpt(net=net)

    return Pair(save_any(at, make()), make)


@silent(Kind.NOT_TRACKED)
def items_of_a_poisoned_list(at: Path) -> Pair:
    return Pair(saved(at, model=two_blocks()), lambda: ckpt(model=replaced_block()))


# --- one value under several identities


def _same(at: Path, make: Callable[[], Any], **options: Any) -> Pair:
    """Return a pair of a program with itself."""
    return Pair(save_any(at, make()), make, **options)


def _raw(variables: Iterable[Any]) -> deque[Any]:
    return deque(variable.value for variable in variables)


@silent(Kind.NOT_TRACKED)
def values_of_keras_3_variables(at: Path) -> Pair:
    def make() -> Any:
        layers = dense(2, 3)
        weights = [weight for layer in layers for weight in layer.weights]
        plain = type("Plain", (), {})()
        plain.kernel = weights[0].value
        net = _net(keras_3().Model, layers_=lambda: tuple(layers), raw=lambda: list(_raw(weights)))
        return ckpt(net=net, m=module(v=var(), raw=_raw(weights), plain=plain))

    return _same(at, make)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).m", "m.raw: 2 variables are in", "the deque")
def values_of_keras_3_variables_that_nothing_tracks(at: Path) -> Pair:
    def make() -> Any:
        tracked, other = dense(2, 2)
        return ckpt(m=module(d=tracked, raw=_raw((*tracked.weights, *other.weights))))

    return _same(at, make, hidden=lambda target: list(target.m.raw))


@silent(Kind.NOT_TRACKED)
def variables_behind_those_that_cast(at: Path) -> Pair:
    def make() -> Any:
        layer = keras_2().layers.Dense(2, dtype="mixed_float16")
        layer.build((None, 3))
        return ckpt(m=module(d=layer, raw=deque(weight._variable for weight in layer.weights)))

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def components_of_a_mirrored_variable(at: Path) -> Pair:
    def make() -> Any:
        whole = mirrored()
        return ckpt(m=module(v=whole, raw=deque(whole.values)))

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def sharded_variable_of_tracked_shards(at: Path) -> Pair:
    def make() -> Any:
        whole = sharded(2, 2)
        return ckpt(m=module(v=list(whole.variables), raw=deque([whole])))

    return _same(at, make)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).m", "m.raw: 1 variable is in", "the deque")
def sharded_variable_of_which_one_shard_is_tracked(at: Path) -> Pair:
    def make() -> Any:
        whole = sharded(2, 2)
        return ckpt(m=module(v=whole.variables[0], raw=deque([whole])))

    return _same(at, make, hidden=lambda target: [target.m.raw[0], target.m.raw[0].variables[1]])


@silent(Kind.NOT_TRACKED)
def optimizer_of_a_sharded_variable(at: Path) -> Pair:
    def make() -> Any:
        whole = sharded(2, 2)
        return ckpt(v=whole, optimizer=keras_2_adam(*whole.variables))

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def model_of_sharded_variables(at: Path) -> Pair:
    import tensorflow as tf

    def creator(create: Any, **options: Any) -> Any:
        from tensorflow.python.distribute.sharded_variable import ShardedVariable

        shard = create(**options)
        return ShardedVariable([shard]) if shard.shape.rank else shard  # counters are whole

    def model() -> Any:
        keras = keras_2()
        return ckpt(model=keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)]))

    return _same(at, made_within(lambda: tf.variable_creator_scope(creator), model))


@silent(Kind.NOT_TRACKED)
def layer_of_a_saved_model(at: Path) -> Pair:
    keras = keras_3()
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.export(str(at / "exported"))

    def make() -> Any:
        options = {"call_endpoint": "serve", "trainable": True}
        return ckpt(layer=keras.layers.TFSMLayer(str(at / "exported"), **options))

    return _same(at, make)


# --- what others keep for themselves


@silent(Kind.NOT_TRACKED)
def attribute_of_a_checkpoint_set_anew(at: Path) -> Pair:
    def make() -> Any:
        checkpoint = ckpt(model=module(v=var()))
        checkpoint.model = module(v=var())
        return checkpoint

    return _same(at, make)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "before: ", "the deque")
def attribute_of_a_checkpoint_set_anew_and_kept(at: Path) -> Pair:
    def make() -> Any:
        checkpoint = ckpt(model=module(v=var()))
        checkpoint.model = module(v=var(), before=deque([checkpoint.model]))
        return checkpoint

    return _same(at, make, hidden=lambda target: [target.model.before[0].v])


@silent(Kind.NOT_TRACKED)
def state_of_python_made_of_variables(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(state=with_children(state_of_python(), v=var(), history=[var()]))

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def variables_of_an_object_that_serializes_itself(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(made=with_children(serializing(x=1.0), v=var(), queue=deque([var()])))

    return _same(at, make)


def _bidirectional(**attributes: Any) -> Any:
    keras = keras_2()
    layer = type("Both", (keras.layers.Bidirectional,), attributes)(keras.layers.LSTM(2))
    return ckpt(model=keras.Sequential([keras.Input((5, 3)), layer]))


@silent(Kind.NOT_TRACKED)
def subclass_of_bidirectional(at: Path) -> Pair:
    return _same(at, _bidirectional)


@shows(
    Kind.NOT_TRACKED,
    WARNING,
    None,
    "(root).model.layer_with_weights-0",
    ".more: 1 variable is in",
    "the Resource",
)
def subclass_of_bidirectional_with_a_variable_of_its_own(at: Path) -> Pair:
    return _same(
        at,
        lambda: _bidirectional(more=var()),
        hidden=lambda target: [target.model.layers[0].more],
    )


# --- the states of recurrent layers


def _recurrent(keras: Any, layer: str, stateful: bool = True, **options: Any) -> Any:
    shape = (5, 4, 4, 1) if "Conv" in layer else (5, 4)
    made = getattr(keras.layers, layer)(3, stateful=stateful, **options)
    return ckpt(model=keras.Sequential([keras.Input(shape, batch_size=2), made]))


def _states_of_keras_2(at: Path, layer: str, **options: Any) -> Pair:
    def make() -> Any:
        return _recurrent(keras_2(), layer, **options)

    def with_states() -> Any:
        made = make()
        return ckpt(model=made.model, states=made.model.layers[-1].states)

    return _same(
        at,
        make,
        hidden=lambda target: target.model.layers[-1].states,
        fixed=lambda: _same(at / "fixed", with_states),
    )


_shows_states = shows(
    Kind.NOT_TRACKED, WARNING, None, "(root).model.layer_with_weights-0", "._stat"
)


@_shows_states
def stateful_lstm_of_keras_2(at: Path) -> Pair:
    return _states_of_keras_2(at, "LSTM")


@_shows_states
def stateful_gru_of_keras_2(at: Path) -> Pair:
    return _states_of_keras_2(at, "GRU")


@_shows_states
def stateful_simple_rnn_of_keras_2(at: Path) -> Pair:
    return _states_of_keras_2(at, "SimpleRNN")


@_shows_states
def stateful_convolution_of_keras_2(at: Path) -> Pair:
    return _states_of_keras_2(at, "ConvLSTM2D", kernel_size=2)


@silent(Kind.NOT_TRACKED)
def lstm_of_keras_2_without_states(at: Path) -> Pair:
    return _same(at, lambda: _recurrent(keras_2(), "LSTM", stateful=False))


@silent(Kind.NOT_TRACKED)
def stateful_lstm_of_keras_3(at: Path) -> Pair:
    return _same(at, lambda: _recurrent(keras_3(), "LSTM"))


# --- on a class


def _of_class(**members: Any) -> Any:
    """Return a module of a new class with these members, and a variable."""
    import tensorflow as tf

    return module(net=type("Net", (tf.Module,), members)(), v=var())


@shows(
    Kind.NOT_TRACKED,
    WARNING,
    None,
    "(root).m.net",
    "m.net.w: 1 variable is",
    "the ResourceVariable",
)
def variable_on_a_class(at: Path) -> Pair:
    return _same(at, lambda: ckpt(m=_of_class(w=var())), hidden=lambda target: [target.m.net.w])


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).m.net", "m.net.w: 1 variable is in", "the Resource")
def variable_on_a_base_of_the_class(at: Path) -> Pair:
    def make() -> Any:
        base = type(_of_class(w=var()).net)
        nets = [type("Derived", (base,), {})() for _ in range(2)]
        return ckpt(m=module(net=nets[0], other=nets[1]))

    return _same(at, make, hidden=lambda target: [target.m.net.w])


@silent(Kind.NOT_TRACKED)
def members_of_a_class_that_hold_no_value(at: Path) -> Pair:
    import tensorflow as tf

    def make() -> Any:
        ran: list[str] = []
        net = _of_class(
            w=var(),
            step=tf.function(lambda self: self.w + 1.0),
            value=property(lambda self: ran.append("value")),
        )
        net.net.w = var()  # hides that of the class
        assert not ran
        return ckpt(m=net)

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def variable_on_a_class_that_is_tracked_elsewhere(at: Path) -> Pair:
    def make() -> Any:
        shared = var()
        return ckpt(m=_of_class(w=shared), w=shared)

    return _same(at, make)


# --- not built yet


def built_norm() -> Any:
    norm = keras_3().layers.BatchNormalization()
    norm.build((None, 3))
    return norm


def _unbuilt(at: Path, make: Callable[[], Any]) -> Pair:
    def built() -> Any:
        net = make()
        net.build((None, 3))
        return ckpt(model=net)

    return Pair(
        save_any(at, built()),
        lambda: ckpt(model=make()),
        after=lambda target: target.model.build((None, 3)),
    )


@silent(Kind.NOT_TRACKED)
def unbuilt_sequential_of_a_built_layer(at: Path) -> Pair:
    return _unbuilt(at, lambda: keras_3().Sequential([built_norm(), keras_3().layers.Dense(2)]))


@silent(Kind.NOT_TRACKED)
def unbuilt_subclass_of_sequential(at: Path) -> Pair:
    subclass = type("Net", (keras_3().Sequential,), {})
    return _unbuilt(at, lambda: subclass([built_norm(), keras_3().layers.Dense(2)]))


@silent(Kind.NOT_TRACKED)
def unbuilt_sequential_in_a_model(at: Path) -> Pair:
    def make() -> Any:
        sequential = keras_3().Sequential([built_norm()])
        return _net(keras_3().Model, inner=lambda: sequential, out=lambda: dense(2)[0])

    path = save_any(at, ckpt(model=make()))
    return Pair(path, lambda: ckpt(model=make()))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "model.blocks: ", "the TrackedList")
def list_of_layers_of_a_model_that_is_not_built(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(model=_net(keras_3().Model, blocks=lambda: dense(4)))

    return Pair(save_any(at, make()), make)


# --- layers that are adapted to data


LIBRARIES = {"keras_3": keras_3, "keras_2": keras_2}


def for_both(
    add: Callable[[Maker], Maker], pair: Callable[[Path, Any], Pair], *libraries: str
) -> None:
    """Add a pair for each Keras, by the name of what makes it."""
    for name in libraries or LIBRARIES:

        def make(at: Path, library: Callable[[], Any] = LIBRARIES[name]) -> Pair:
            return pair(at, library())

        make.__name__ = f"{pair.__name__}_of_{name}"
        add(make)


def adapted(layer: Any, *data: Any) -> Any:
    import numpy as np

    layer.adapt(np.array(data))
    return layer


def normalized(keras: Any, *data: float, **options: Any) -> Any:
    """Return a checkpoint of a model that normalizes, adapted to data if there are some."""
    layer = keras.layers.Normalization(axis=None, **options)
    if data:
        adapted(layer, *data)
    inputs = keras.Input((1,))
    return ckpt(model=keras.Model(inputs, keras.layers.Dense(1)(layer(inputs))))


def _means(target: Any) -> list[Any]:
    return [layer.mean for layer in target.model.layers if hasattr(layer, "mean")]


def normalization_adapted_since(at: Path, keras: Any) -> Pair:
    path = save_any(at, normalized(keras, 1.0, 2.0))
    return Pair(
        path,
        lambda: normalized(keras),
        fixed=lambda: Pair(path, lambda: normalized(keras, 1.0, 2.0)),
        hidden=_means,
    )


def normalization_adapted_to_other_data(at: Path, keras: Any) -> Pair:
    path = save_any(at, normalized(keras, 1.0, 2.0))
    return Pair(path, lambda: normalized(keras, 5.0, 9.0), hidden=_means)


def normalization_in_half_precision(at: Path, keras: Any) -> Pair:
    path = save_any(at, normalized(keras, 0.1, 0.2, dtype="mixed_bfloat16"))
    return Pair(path, lambda: normalized(keras, dtype="mixed_bfloat16"), hidden=_means)


for _pair in (
    normalization_adapted_since,
    normalization_adapted_to_other_data,
    normalization_in_half_precision,
):
    for_both(
        shows(
            Kind.NOT_TRACKED,
            WARNING,
            None,
            None,
            "This Normalization keeps using its old",
            "adapt_mean and adapt_variance",
            "Call the layer's finalize_state()",
        ),
        _pair,
    )


def normalization_adapted_to_the_same_data(at: Path, keras: Any) -> Pair:
    path = save_any(at, normalized(keras, 0.1, 0.2, dtype="mixed_bfloat16"))
    return Pair(path, lambda: normalized(keras, 0.1, 0.2, dtype="mixed_bfloat16"))


def normalization_not_adapted(at: Path, keras: Any) -> Pair:
    return Pair(save_any(at, normalized(keras)), lambda: normalized(keras))


def normalization_that_was_given_its_mean(at: Path, keras: Any) -> Pair:
    path = save_any(at, normalized(keras, mean=1.0, variance=2.0))
    return Pair(path, lambda: normalized(keras, mean=3.0, variance=4.0))


def variable_called_like_one_of_keras(at: Path, keras: Any) -> Pair:
    def make(value: float) -> Any:
        return _net(keras.layers.Layer, adapt_mean=lambda: var(value), mean=lambda: [value])

    return Pair(save_any(at, ckpt(layer=make(1.0))), lambda: ckpt(layer=make(2.0)))


for _pair in (
    normalization_adapted_to_the_same_data,
    normalization_not_adapted,
    variable_called_like_one_of_keras,
):
    for_both(silent(Kind.NOT_TRACKED), _pair)
for_both(
    _shows_state(None, "holds the mean and variance of the Normalization 'normalization"),
    normalization_that_was_given_its_mean,
)


def weights_of_words_adapted_since(at: Path, keras: Any) -> Pair:
    def make(*data: Any) -> Any:
        return ckpt(layer=adapted(keras.layers.StringLookup(output_mode="tf_idf"), *data))

    path = save_any(at, make(["a", "b"], ["a", "c"]))
    same = Pair(path, lambda: make(["a", "b"], ["a", "c"]))
    return Pair(path, lambda: make(["a", "b"], ["a", "c"], ["b", "c"]), fixed=lambda: same)


for_both(
    shows(
        Kind.NOT_TRACKED, WARNING, "(root).layer", "(root).layer", "its old idf_weights, because"
    ),
    weights_of_words_adapted_since,
)


def model_that_was_trained(at: Path, keras: Any) -> Pair:
    return _same(at, lambda: fitted(keras))


for_both(silent(Kind.NOT_TRACKED), model_that_was_trained)


def discretized(keras: Any, *data: float) -> Any:
    layer = keras.layers.Discretization(num_bins=2)
    if data:
        adapted(layer, *data)
    else:
        layer.build((None, 1))
    return ckpt(layer=layer)


def bins_adapted_since(at: Path, keras: Any) -> Pair:
    path = save_any(at, discretized(keras, 1.0, 2.0, 3.0))
    same = Pair(path, lambda: discretized(keras, 1.0, 2.0, 3.0))
    return Pair(path, lambda: discretized(keras), fixed=lambda: same)


def bins_adapted_to_other_data(at: Path, keras: Any) -> Pair:
    path = save_any(at, discretized(keras, 1.0, 2.0, 3.0))
    return Pair(path, lambda: discretized(keras, 4.0, 5.0, 6.0))


def bins_not_adapted(at: Path, keras: Any) -> Pair:
    return Pair(save_any(at, discretized(keras)), lambda: discretized(keras))


for _pair in (bins_adapted_since, bins_adapted_to_other_data):
    for_both(
        shows(
            Kind.NOT_TRACKED, WARNING, "(root).layer", "(root).layer", "its old summary, because"
        ),
        _pair,
        "keras_2",
    )
for_both(silent(Kind.NOT_TRACKED), bins_not_adapted, "keras_2")
for_both(  # which has no variable for them
    _shows_state("(root).layer", "holds the boundaries of the Discretization", "(1 entry): "),
    bins_adapted_to_other_data,
    "keras_3",
)
for_both(
    shows(Kind.NOT_TRACKED, WARNING, "(root).layer", "(root).layer", "has no list of boundaries"),
    bins_adapted_since,
    "keras_3",
)


def lookup(keras: Any, *data: str, **options: Any) -> Any:
    layer = keras.layers.StringLookup(**options)
    return ckpt(layer=adapted(layer, *data) if data else layer)


def words_adapted_since(at: Path, keras: Any) -> Pair:
    path = save_any(at, lookup(keras, "a", "b"))
    same = Pair(path, lambda: lookup(keras, "a", "b"))
    return Pair(path, lambda: lookup(keras), fixed=lambda: same)


def words_adapted_to_other_data(at: Path, keras: Any) -> Pair:
    return Pair(save_any(at, lookup(keras, "a", "b")), lambda: lookup(keras, "c"))


def words_given(at: Path, keras: Any) -> Pair:
    path = save_any(at, lookup(keras, vocabulary=["a"]))
    return Pair(path, lambda: lookup(keras, vocabulary=["a"]))


def text_adapted_since(at: Path, keras: Any) -> Pair:
    def make(*data: str) -> Any:
        layer = keras.layers.TextVectorization()
        if data:
            adapted(layer, *data)
        inputs = keras.Input((1,), dtype="string")
        return ckpt(model=keras.Model(inputs, layer(inputs)))

    path = save_any(at, make("a b"))
    return Pair(path, make, fixed=lambda: Pair(path, lambda: make("a b")))


for_both(
    shows(
        Kind.NOT_TRACKED,
        WARNING,
        "(root).layer",
        "(root).layer",
        "This StringLookup has no vocabulary yet",
    ),
    words_adapted_since,
)
for_both(
    shows(Kind.NOT_TRACKED, WARNING, None, None, "This TextVectorization has no vocabulary yet"),
    text_adapted_since,
)
for _pair in (words_adapted_to_other_data, words_given):
    for_both(
        _shows_state(
            "(root).layer", "holds the vocabulary of the StringLookup", "(1 word of 2 entries)"
        ),
        _pair,
    )


# --- vocabularies and embeddings

WORDS = tuple(f"word {number}" for number in range(1000))


def read_by_row(
    keras: Any,
    words: Sequence[Any],
    rows: int | None = None,
    *,
    layer: str = "StringLookup",
    is_remainder: bool = False,
    **options: Any,
) -> Any:
    """Return a checkpoint of a model that gives words their rows of an embedding."""
    lookup = getattr(keras.layers, layer)(vocabulary=list(words), **options)
    inputs = keras.Input((1,), dtype="int64" if layer == "IntegerLookup" else "string")
    index = lookup(inputs)
    if is_remainder:
        index = index % 100
    embedding = keras.layers.Embedding(rows or lookup.vocabulary_size(), 2)
    return ckpt(model=keras.Model(inputs, embedding(index)))


def _words(
    at: Path, was: Callable[[], Any], now: Callable[[], Any], *, is_mended: bool = False
) -> Pair:
    path = save_any(at, was())
    return Pair(path, now, fixed=(lambda: Pair(path, was)) if is_mended else None)


def other_words(at: Path, keras: Any) -> Pair:
    return _words(at, lambda: read_by_row(keras, WORDS), lambda: read_by_row(keras, WORDS[::-1]))


def other_numbers(at: Path, keras: Any) -> Pair:
    def make(*numbers: int) -> Any:
        return read_by_row(keras, numbers, layer="IntegerLookup")

    return _words(at, lambda: make(1, 2), lambda: make(3, 4))


def other_text(at: Path, keras: Any) -> Pair:
    def make(*words: str) -> Any:
        return read_by_row(keras, words, layer="TextVectorization")

    return _words(at, lambda: make("a", "b"), lambda: make("b", "a"))


def embedding_for_more_words_than_there_are(at: Path, keras: Any) -> Pair:
    return _same(at, lambda: read_by_row(keras, WORDS, 5000, max_tokens=5000))


def embedding_with_rows_to_spare(at: Path, keras: Any) -> Pair:
    return _same(at, lambda: read_by_row(keras, WORDS, len(WORDS) + 3))


def embedding_of_a_round_size(at: Path, keras: Any) -> Pair:
    return _same(at, lambda: read_by_row(keras, WORDS, 5000))


def label_beside_an_embedding_of_text(at: Path, keras: Any) -> Pair:
    def make() -> Any:
        lookup, embedding = (
            keras.layers.StringLookup(vocabulary=["a"]),
            keras.layers.Embedding(57, 2),
        )
        embedding.build((None,))
        return ckpt(net=_net(keras.Model, labels=lambda: lookup, embedding=lambda: embedding))

    return _same(at, make)


def two_vocabularies_for_one_embedding(at: Path, keras: Any) -> Pair:
    def make() -> Any:
        inputs = [keras.Input((1,), dtype="string") for _ in range(2)]
        few, many = (keras.layers.StringLookup(vocabulary=WORDS[:size]) for size in (3, 56))
        embedding = keras.layers.Embedding(57, 2)
        rows = [embedding(few(inputs[0])), embedding(many(inputs[1]))]
        return ckpt(model=keras.Model(inputs, rows))

    return _same(at, make)


def words_that_share_rows(at: Path, keras: Any) -> Pair:
    return _same(at, lambda: read_by_row(keras, WORDS, 100, is_remainder=True))


def many_features(at: Path, keras: Any) -> Pair:
    def make() -> Any:
        layers = [keras.layers.StringLookup(vocabulary=WORDS[:2], name=name) for name in "abcd"]
        return ckpt(net=module(layers=layers))

    return _same(at, make)


for _pair, _said in {
    other_words: "the StringLookup 'string_lookup",
    other_numbers: "the IntegerLookup 'integer_lookup",
    other_text: "the TextVectorization 'text_vectorization",
    embedding_for_more_words_than_there_are: " (1,000 words of 1,001 entries): ",
    embedding_with_rows_to_spare: " (1,000 words of 1,001 entries): ",
    embedding_of_a_round_size: " (1,000 words of 1,001 entries): ",
    label_beside_an_embedding_of_text: " (1 word of 2 entries): ",
    two_vocabularies_for_one_embedding: " (3 words of 4 entries): ",
    words_that_share_rows: "changes word indices, and no assert fails",
    many_features: "vocabulary of net.layers.a (3 entries), net.layers.b (3 entries) and 2",
}.items():
    for_both(_shows_state(None, "No checkpoint holds the vocabulary of ", _said), _pair)


def more_words_than_rows(at: Path, keras: Any) -> Pair:
    rows = len(WORDS) + 1
    return _words(
        at,
        lambda: read_by_row(keras, WORDS, rows),
        lambda: read_by_row(keras, (*WORDS, "new"), rows),
        is_mended=True,
    )


def more_words_than_rows_in_a_class(at: Path, keras: Any) -> Pair:
    def make(*words: str) -> Any:
        net = _net(
            keras.Model,
            lookup=lambda: keras.layers.StringLookup(vocabulary=[*words]),
            embedding=lambda: keras.layers.Embedding(3, 2),
        )
        net.embedding.build((None,))
        return ckpt(net=net)

    return _words(at, lambda: make("a", "b"), lambda: make("a", "b", "c"), is_mended=True)


def weights_of_more_words(at: Path, keras: Any) -> Pair:
    def make(*data: Any) -> Any:
        return ckpt(layer=adapted(keras.layers.TextVectorization(output_mode="tf_idf"), *data))

    return _words(at, lambda: make("a b", "a"), lambda: make("a b c d"), is_mended=True)


def fewer_words_than_rows(at: Path, keras: Any) -> Pair:
    rows = len(WORDS) + 1
    return _words(
        at,
        lambda: read_by_row(keras, WORDS, rows),
        lambda: read_by_row(keras, WORDS[:900], rows),
        is_mended=True,
    )


def words_of_which_the_embedding_has_another_number(at: Path, keras: Any) -> Pair:
    return _words(
        at,
        lambda: read_by_row(keras, WORDS),
        lambda: read_by_row(keras, WORDS[1:]),
        is_mended=True,
    )


for _pair, _said in {
    more_words_than_rows: "was saved with 1,001 rows: the saved program had another vocabulary.",
    more_words_than_rows_in_a_class: "has 4 entries, but net.embedding was saved with 3 ",
    weights_of_more_words: "idf_weights was saved with 3 rows: the saved program had",
    fewer_words_than_rows: "has 901 entries",
    words_of_which_the_embedding_has_another_number: "has 1,000 entries",
}.items():
    for_both(shows(Kind.NOT_TRACKED, WARNING, None, None, "The vocabulary of the", _said), _pair)


# --- static tables


@_shows_state(
    "(root).table", "holds the entries of this StaticHashTable (2 entries): the restore keeps those"
)
def static_table(at: Path) -> Pair:
    import tensorflow as tf

    def make() -> Any:
        pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        return ckpt(table=tf.lookup.StaticHashTable(pairs, -1), v=var())

    return _same(at, make)


@silent(Kind.NOT_TRACKED)
def table_that_is_saved(at: Path) -> Pair:
    import tensorflow as tf

    def make() -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
        table.insert(["a"], tf.constant([1], tf.int64))
        return ckpt(table=table)

    return _same(at, make)

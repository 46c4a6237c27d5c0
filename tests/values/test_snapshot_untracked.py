"""A snapshot holds every variable of Keras models, also those that TensorFlow does not follow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import keras_2, keras_3, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

ONE = np.ones((2, 3), np.float32)
KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])


def net(keras: Any, hidden: Callable[[Any, Callable[[], Any]], list[Any]], name: str = "x") -> Any:
    """A built model; `hidden` gives it layers out of sight, and returns them in their order."""

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name=name)
            self.first = keras.layers.Dense(3)
            hidden_layers = hidden(self, lambda: keras.layers.Dense(3))
            self.order: Callable[[], list[Any]] = lambda: [self.first, *hidden_layers]

        def call(self, inputs: Any) -> Any:
            for layer in self.order():
                inputs = layer(inputs)
            return inputs

    model = Net()
    model(ONE)
    return model


def in_a_list(model: Any, layer: Callable[[], Any]) -> list[Any]:
    model.blocks = [layer(), layer()]
    return list(model.blocks)


def in_nested_containers(model: Any, layer: Callable[[], Any]) -> list[Any]:
    layers = [layer() for _ in range(4)]
    model.deep = {"a": [layers[0], (layers[1],)], "b": {"c": [layers[2]]}}
    model.pairs = [("name", layers[3])]
    return layers


def out_of_keras_sight(model: Any, layer: Callable[[], Any]) -> list[Any]:
    layers = [layer() for _ in range(3)]
    model._plain = SimpleNamespace(layer=layers[0])
    model._queue = deque([layers[1]])
    model._set = {layers[2]}
    model._average = [var(1.0), deque([var([2.0, 3.0], trainable=False)])]
    return layers


def with_dropout(model: Any, layer: Callable[[], Any]) -> list[Any]:
    import keras

    model.blocks = [layer(), keras.layers.Dropout(0.5, seed=3), keras.layers.BatchNormalization()]
    return list(model.blocks)


def of_layers(keras: Any) -> Any:
    """Layers with lists of layers in a list of a model."""

    class Block(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.parts = [keras.layers.Dense(3), keras.layers.Dense(3)]

        def call(self, inputs: Any) -> Any:
            for part in self.parts:
                inputs = part(inputs)
            return inputs

    def blocks(model: Any, layer: Any) -> list[Any]:
        model.blocks = [Block(), Block()]
        return list(model.blocks)

    return net(keras, blocks)


def compiled(keras: Any) -> Any:
    model = net(keras, in_a_list)
    metrics = ["mae", keras.metrics.AUC(from_logits=True)]
    model.compile("adam", "mse", metrics=metrics)
    model.fit(ONE, ONE, verbose=0)
    return model


def stepped(keras: Any) -> Any:
    """A model with an optimizer and metrics of its own, as for a train step by hand."""

    def parts(model: Any, layer: Callable[[], Any]) -> list[Any]:
        model.meters = {"loss": keras.metrics.Mean()}
        model.optimizers = [keras.optimizers.Adam()]
        return in_a_list(model, layer)

    model = net(keras, parts)
    model.meters["loss"].update_state(2.0)
    model.optimizers[0].build(model.trainable_variables)
    return model


def a_model_in_a_list(keras: Any, model: Any, layer: Callable[[], Any]) -> list[Any]:
    model.inner = [net(keras, in_a_list)]
    return list(model.inner)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda keras: net(keras, in_a_list),
    "nested": lambda keras: net(keras, in_nested_containers),
    "out of sight": lambda keras: net(keras, out_of_keras_sight),
    "lists in lists": of_layers,
    "compiled": compiled,
    "own train step": stepped,
    "in a module": lambda keras: module(models=deque([net(keras, in_a_list)])),
    "model in a list": lambda keras: net(keras, partial(a_model_in_a_list, keras)),
}


def state(obj: Any, seen: dict[int, Any] | None = None) -> list[Any]:
    """Return every variable that Python's references reach from an object's attributes."""
    import tensorflow as tf

    seen = {} if seen is None else seen
    found: list[Any] = []
    stack = [obj]
    while stack:
        one = stack.pop()
        cls = type(one)
        if id(one) in seen or isinstance(one, (str, bytes, type, np.ndarray, tf.Tensor)):
            continue
        seen[id(one)] = one
        if isinstance(one, tf.Variable):
            found.append(one)
        elif isinstance(one, dict):
            stack += list(one.values())
        elif isinstance(one, (list, tuple, set, deque)):
            stack += list(one)
        elif cls.__module__.partition(".")[0] in ("keras", "tf_keras", "tests", "types") or (
            isinstance(one, tf.Module)
        ):
            stack += [
                value for name, value in getattr(one, "__dict__", {}).items() if name not in _ASIDE
            ]
    return found


# Calls, and what only a running epoch has.
_ASIDE = {"_inbound_nodes", "_outbound_nodes", "_functional", "order", "history", "_thread_local"}


def change(variables: list[Any]) -> None:
    for variable in variables:
        dtype = variable.dtype.as_numpy_dtype
        variable.assign(~variable.numpy() if dtype is np.bool_ else variable + dtype(1))


def values(variables: list[Any]) -> list[Any]:
    return [np.asarray(one.numpy()).tolist() for one in variables]


@KERAS
@pytest.mark.parametrize("name", MAKERS)
def test_a_block_that_raises_brings_every_variable_back(keras: Any, name: str) -> None:
    import tensorflow as tf

    made = MAKERS[name](keras())
    for source in (made, tf.train.Checkpoint(model=made)):
        every = state(made)
        old = values(every)
        before = cv.snapshot(source)
        assert before.left == ()
        assert before.nbytes >= sum(one.numpy().nbytes for one in every)
        with pytest.raises(KeyError), before:
            change(every)
            raise KeyError
        assert values(every) == old
        assert before.restore().is_complete


def test_seeds_and_moving_averages_of_hidden_layers_come_back() -> None:
    model = net(keras_3(), with_dropout)
    variables = [one.value for one in model.variables]
    assert len(variables) == 9
    old, before = values(variables), cv.snapshot(model)
    model(ONE, training=True)
    assert values(variables) != old
    assert before.restore().is_complete
    assert values(variables) == old


def test_hidden_values_have_names_and_are_in_no_file(tmp_path: Path) -> None:
    model = net(keras_3(), in_a_list)
    before = cv.snapshot(model)
    assert before.untracked == tuple(
        f"(root).blocks[{place}].{name}" for place in range(2) for name in ("_kernel", "bias")
    )
    assert "2 values, 4 untracked, 144 bytes" in repr(before)
    import tensorflow as tf

    path = tf.train.Checkpoint(model).write(str(tmp_path / "theirs"))
    with pytest.warns(RuntimeWarning, match=r"the trained values of \(root\)\.blocks\[0\] and"):
        ours = before.write(tmp_path / "ours")
    assert cv.diff(ours, path, values=True).is_empty  # TensorFlow's file lacks them, too


def test_what_is_hidden_later_or_gone_is_named() -> None:
    holder = module(layers=deque([var([1.0]), var([2.0])]))
    before = cv.snapshot(holder)
    gone = holder.layers.pop()
    gone.assign([5.0])
    holder.layers.append(var([3.0]))
    later = "it was made after the snapshot; it keeps its value"
    assert [str(one) for one in before.restore().left] == [f"(root).layers[1]: {later}"]
    assert (gone.numpy(), holder.layers[1].numpy()) == (2.0, 3.0)  # the program still holds it
    del gone
    assert [str(one) for one in before.restore().left] == [
        "(root).layers[1]: the program has dropped it, and nothing is in its place",
        f"(root).layers[1]: {later}",
    ]


def test_a_set_that_has_grown_gives_no_value_to_another_variable() -> None:
    first = [var([float(n)]) for n in range(8)]
    holder = module(all={one.ref() for one in first})
    before = cv.snapshot(holder)
    later = [var([100.0 + n]) for n in range(8)]
    holder.all |= {one.ref() for one in later}
    change(first)
    restored = before.restore()
    assert values(first) == [[float(n)] for n in range(8)]
    assert values(later) == [[100.0 + n] for n in range(8)]
    assert len(restored.left) == 8


@KERAS
def test_a_model_that_is_built_in_the_block_is_named(keras: Any) -> None:
    keras = keras()

    class Late(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [keras.layers.Dense(2)]

        def call(self, inputs: Any) -> Any:
            return self.blocks[0](inputs)

    model = Late()
    before = cv.snapshot(model)
    model(ONE)
    left = before.restore().left
    assert len(left) == 2
    assert {one.why for one in left} == {"it was made after the snapshot; it keeps its value"}


def momentum(keras: Any) -> Any:
    return keras.optimizers.legacy.SGD(0.1, momentum=0.9)


def own_momentum(keras: Any) -> Any:
    class Own(keras.optimizers.legacy.SGD):  # type: ignore[misc]
        """An optimizer of the program."""

    return Own(0.1, momentum=0.9)


def momentum_of_tensorflow_1(keras: Any) -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)


@pytest.mark.parametrize("make", [momentum, own_momentum, momentum_of_tensorflow_1])
def test_slots_of_hidden_variables_come_back(make: Any, tmp_path: Path) -> None:
    import tensorflow as tf

    model, optimizer = net(keras_2(), out_of_keras_sight), make(keras_2())
    weights = [weight for layer in model.order() for weight in layer.weights]
    optimizer.apply_gradients([(weight * 0 + 1, weight) for weight in weights])
    slots = [optimizer.get_slot(weight, "momentum") for weight in weights]
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    old, before = values([*weights, *slots]), cv.snapshot(checkpoint)
    theirs = checkpoint.write(str(tmp_path / "theirs"))
    change([*weights, *slots])
    assert before.left == ()
    assert before.restore().is_complete
    assert values([*weights, *slots]) == old
    with pytest.warns(RuntimeWarning, match="trained values"):
        ours = before.write(tmp_path / "ours")
    assert cv.diff(ours, theirs, values=True).is_empty


def test_a_vocabulary_in_a_hidden_layer_comes_back() -> None:
    keras = keras_3()
    lookup = keras.layers.StringLookup()
    lookup.adapt(np.array(["a", "b"]))
    model = net(keras, lambda model, layer: [])
    holder = module(parts=deque([model, lookup]))
    before = cv.snapshot(holder)
    assert before.left == () and before.restore().is_complete
    assert lookup.get_vocabulary() == ["[UNK]", "b", "a"]

"""Pairs of the finding on what TensorFlow does not follow: not_tracked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.restore_check.finding import Kind
from tests.check_findings.table import WARNING, Pair, Rows
from tests.programs import ckpt, differently, keras_2, keras_3, module, save_any, var

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


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'blocks' (TrackedList)", "holds 2 objects")
def list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.blocks), blocks=lambda: dense(4, 5))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'_blocks' (TrackedList)", "1 object")
def private_list_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net._blocks), _blocks=lambda: dense(4))


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'by_name' (TrackedDict)")
def dict_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(
        at,
        lambda net: _kernels(net.by_name.values()),
        by_name=lambda: dict(zip("ab", dense(4, 5), strict=True)),
    )


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).model", "'some' (TrackedSet)")
def set_of_keras_3_layers(at: Path) -> Pair:
    return _keras_3_net(at, lambda net: _kernels(net.some), some=lambda: set(dense(4)))


@shows(
    Kind.NOT_TRACKED, WARNING, None, "(root).model", "weights of this", "not in the object graph"
)
def cells_of_a_keras_3_layer(at: Path) -> Pair:
    def make() -> Any:
        layers = keras_3().layers
        cells = layers.StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(2)])
        model = keras_3().Sequential([keras_3().Input((3, 4)), layers.RNN(cells)])
        return ckpt(model=model)

    path = save_any(at, make())
    return Pair(path, make, hidden=lambda target: target.model.weights)


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).optimizer", "TensorFlow does not follow")
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


@shows(Kind.NOT_TRACKED, WARNING, None, "(root).m", "'queue' (deque)", "attribute of its own")
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


@silent(Kind.NOT_TRACKED)
def metrics_and_seeds_of_keras_3(at: Path) -> Pair:
    def make() -> Any:
        keras = keras_3()
        model = _net(
            keras.Model,
            out=lambda: dense(2)[0],
            loss_tracker=lambda: keras.metrics.Mean(),
            seed=lambda: keras.random.SeedGenerator(1),
            dropout=lambda: keras.layers.Dropout(0.5),
        )
        return ckpt(model=model)

    return Pair(save_any(at, make()), make)

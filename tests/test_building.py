"""The predicted variables of unbuilt layers and optimizers match those that they get when built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.live.objects.building import WITHOUT_WEIGHTS, Plan, optimizer_plan_of, plan_of
from ckpt_viz.matching.changes.kind import Kind
from tests.support import optimizers
from tests.support.programs import ckpt, keras_2, keras_3, stepped, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

LIBRARIES = {"keras_3": keras_3, "keras_2": keras_2}
_In = tuple[int, ...]
_Layer = Callable[[Any], Any]
_VECTOR, _SERIES, _PICTURE = (2, 3), (2, 5, 3), (2, 6, 6, 3)
LAYERS: Sequence[tuple[str, _Layer, _In]] = (
    ("dense", lambda k: k.Dense(4), _VECTOR),
    ("dense_without_bias", lambda k: k.Dense(4, use_bias=False), _VECTOR),
    ("embedding", lambda k: k.Embedding(5, 4), _VECTOR),
    ("conv", lambda k: k.Conv2D(4, (2, 3)), _PICTURE),
    ("conv_transpose", lambda k: k.Conv2DTranspose(4, 2), _PICTURE),
    ("depthwise_conv", lambda k: k.DepthwiseConv2D(2, depth_multiplier=2), _PICTURE),
    ("separable_conv", lambda k: k.SeparableConv1D(4, 2, depth_multiplier=2), _SERIES),
    ("batch_normalization", lambda k: k.BatchNormalization(), _VECTOR),
    ("batch_normalization_without_scale", lambda k: k.BatchNormalization(scale=False), _VECTOR),
    ("layer_normalization", lambda k: k.LayerNormalization(center=False), _VECTOR),
    ("group_normalization", lambda k: k.GroupNormalization(1), _VECTOR),
    ("prelu", lambda k: k.PReLU(), _VECTOR),
    ("simple_rnn", lambda k: k.SimpleRNN(4, use_bias=False), _SERIES),
    ("gru", lambda k: k.GRU(4), _SERIES),
    ("gru_of_version_1", lambda k: k.GRU(4, reset_after=False), _SERIES),
    ("lstm", lambda k: k.LSTM(4, dropout=0.1), _SERIES),
    ("bidirectional", lambda k: k.Bidirectional(k.LSTM(4)), _SERIES),
    ("time_distributed", lambda k: k.TimeDistributed(k.Dense(4)), _SERIES),
    ("frozen", lambda k: k.Dense(4, trainable=False), _VECTOR),
)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize(("name", "make", "inputs"), LAYERS, ids=[name for name, *_ in LAYERS])
def test_a_layer_has_what_its_plan_says(
    name: str, make: _Layer, inputs: _In, library: Callable[[], Any]
) -> None:
    layer = make(library().layers)
    planned = dict(_planned(layer, ""))
    assert planned
    _call(layer, inputs)
    graph = cv.graph(layer)
    found: dict[str, tuple[Any, Any]] = {
        ".".join(graph.path(node_id)): (graph.object(node_id), node.attributes[0].shape)
        for node_id, node in enumerate(graph.nodes)
        if node.attributes
    }
    assert planned.keys() == found.keys()
    for path, (shape, is_trained) in planned.items():
        variable, real = found[path]
        assert real is not None
        assert shape is None or len(shape) == len(real)
        assert shape is None or all(a in (None, b) for a, b in zip(shape, real, strict=True))
        if name != "frozen":
            assert is_trained == variable.trainable


def _planned(layer: object, path: str) -> Any:
    plan = plan_of(layer)
    assert isinstance(plan, Plan)
    for new in plan.variables:
        yield f"{path}{new.name}", (new.shape, new.is_trained)
    for name, part in plan.parts.items():
        yield from _planned(part, f"{path}{name}.")


def _call(layer: Any, inputs: _In) -> None:
    import tensorflow as tf

    layer(tf.ones(inputs))


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_layers_without_weights_have_none(library: Callable[[], Any]) -> None:
    import tensorflow as tf

    asked = set()
    for name in sorted(WITHOUT_WEIGHTS & set(vars(library().layers)) - {"InputLayer"}):
        layer_class = getattr(library().layers, name)
        for arguments, inputs in [((), _SERIES), ((1,), _SERIES), ((), _PICTURE), ((1,), _VECTOR)]:
            try:
                layer = layer_class(*arguments)
                layer(tf.ones(inputs))
            except Exception:  # not for these
                continue
            asked.add(name)
            assert layer.weights == []
    assert {"Dropout", "ReLU", "MaxPooling1D", "GlobalMaxPooling2D", "Flatten"} <= asked


def test_a_layer_of_the_programs_own_has_no_plan() -> None:
    for library in LIBRARIES.values():
        base: Any = library().layers.Dense
        assert plan_of(type("Dense", (base,), {})(4)) is None


_LEGACY = ("SGD", "SGD momentum", "SGD with schedule", "Adam", "Adam amsgrad", "Adamax", "Nadam")
_MORE_LEGACY = ("Adagrad", "Adadelta", "RMSprop", "Ftrl")
_OLD = ("GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad", "Adadelta", "Ftrl")


def _legacy(name: str) -> Any:
    return optimizers.keras_2_legacy()[name]


def _tensorflow_1(name: str) -> Any:
    return optimizers.tensorflow_1()[name]


def _all_optimizers() -> dict[str, Callable[[], Any]]:
    return {
        **{f"keras_3 {kind}": kind.make for kind in optimizers.KERAS_3},
        **{f"keras_2 {kind}": kind.make for kind in optimizers.KERAS_2},
        **{f"legacy {name}": partial(_legacy, name) for name in _LEGACY + _MORE_LEGACY},
        **{f"tensorflow_1 {name}": partial(_tensorflow_1, name) for name in _OLD},
    }


@pytest.mark.parametrize("make", _all_optimizers().values(), ids=_all_optimizers())
def test_an_optimizer_has_what_its_plan_says(make: Callable[[], Any]) -> None:
    optimizer = make()
    plan = optimizer_plan_of(optimizer)
    if plan is None:
        assert type(optimizer).__name__ in ("Adafactor", "Muon")
        return
    before = _children(optimizer)
    variables = [var([1.0, 2.0]), var([[1.0], [2.0]])]
    if hasattr(optimizer, "build"):
        optimizer.build(variables)
    else:
        stepped(optimizer, variables)
    graph = cv.graph(ckpt(optimizer=optimizer, variables=variables))
    node = graph.nodes[graph.nodes[0].children[0].node_id]
    groups = [name for group in plan.slots for name in group]
    declared = {slot.slot_name for slot in node.slot_variables}
    lists = [] if declared else groups
    assert declared == (set(groups) if declared else set())
    assert _children(optimizer) - before == {*lists, *plan.own}
    if lists:
        _assert_order(graph, node, plan, len(before))


def _children(optimizer: Any) -> set[str]:
    """Return the local names under which an optimizer keeps values of its own."""
    graph = cv.graph(ckpt(optimizer=optimizer))
    node = graph.nodes[graph.nodes[0].children[0].node_id]
    aside = {"_variables", "_trainable_variables"}
    return {
        child.local_name
        for child in node.children
        if child.local_name not in aside
        and (graph.nodes[child.node_id].attributes or _values(graph, child.node_id))
    }


def _values(graph: Any, node_id: int) -> list[int]:
    children = graph.nodes[node_id].children
    return [child.node_id for child in children if graph.nodes[child.node_id].attributes]


def _assert_order(graph: Any, node: Any, plan: Any, number: int) -> None:
    named = {child.local_name: child.node_id for child in node.children}
    made = []
    for group in plan.slots:
        rows = zip(*(_values(graph, named[name]) for name in group), strict=True)
        made += [one for row in rows for one in row]
    made += [named[name] for name in plan.listed]
    assert _values(graph, named["_variables"])[-len(made) :] == made


def test_the_class_in_a_saved_model_tells_that_a_layer_had_no_weights(tmp_path: Path) -> None:
    keras = keras_2()

    def model(*layers: Any) -> Any:
        return keras.Sequential([keras.Input((3,)), *layers])

    layers, path = keras.layers, str(tmp_path / "model")
    model(layers.Dropout(0.5), layers.ReLU()).save(path, save_format="tf")
    live = ckpt(model(layers.BatchNormalization(), layers.PReLU()))
    (finding,) = (found for found in cv.check(live, path).findings if found.saved)
    assert finding.kind is Kind.UNMATCHED
    assert finding.why.endswith("what was saved in its place has no weights.")

"""What live layers say of themselves: arguments, shapes, and what a training does to them."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Any
from unittest.mock import patch

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.layers.layer_config import stated_facts
from ckpt_viz.graphs.layers.training import Training
from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.graphs.object_graph.graph import Graph

both = pytest.mark.parametrize("keras", ["keras", "tf_keras"])


def layer(graph: Graph, name: str) -> Node:
    (node,) = (node for node in graph.nodes if node.own_name == name)
    return node


def facts(graph: Graph, name: str) -> dict[str, str]:
    of_layer = layer(graph, name).facts
    return {} if of_layer is None else dict(of_layer.stated)


def shapes(graph: Graph, name: str) -> tuple[Any, Any]:
    of_layer = layer(graph, name).facts
    assert of_layer is not None
    return of_layer.gets, of_layer.gives


def listed(layers: list[Any]) -> Any:
    """Return what tracks layers; a Sequential model of Keras 3 does so only once it is built."""
    import tensorflow as tf

    return tf.train.Checkpoint(layers=layers)


def two_inputs(keras: str) -> Any:
    """Return a model with a frozen base and a head, a branch of text, and two outputs."""
    k: Any = importlib.import_module(keras)
    photo, text = k.Input((32, 32, 3), name="photo"), k.Input((16,), name="text")
    base = k.Sequential(
        [
            k.Input((32, 32, 3)),
            k.layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False, name="conv"),
            k.layers.BatchNormalization(name="bn"),
            k.layers.ReLU(6, name="relu"),
        ],
        name="base",
    )
    base.trainable = False
    pooled = k.layers.GlobalAveragePooling2D(name="pool")(base(photo))
    words = k.layers.Embedding(50, 4, name="embed")(text)
    words = k.layers.LSTM(5, return_sequences=True, name="lstm")(words)
    words = k.layers.LSTM(6, kernel_regularizer="l2", name="last")(words)
    both = k.layers.Concatenate(name="join")([pooled, words])
    both = k.layers.Dropout(0.3, name="drop")(both)
    outputs = [
        k.layers.Dense(3, "softmax", name="topic")(both),
        k.layers.Dense(1, name="urgent")(both),
    ]
    return k.Model([photo, text], outputs, name="model")


@pytest.mark.tf
@both
def test_facts_are_the_arguments_that_tell_something(keras: str) -> None:
    graph = cv.graph(two_inputs(keras))
    assert facts(graph, "topic") == {
        "units": "3",
        "activation": "softmax",
    }
    assert list(facts(graph, "conv").items())[:6] == [
        ("filters", "8"),
        ("kernel_size", "3×3"),
        ("strides", "2×2"),
        ("activation", "linear"),
        ("padding", "same"),
        ("use_bias", "False"),
    ]
    assert facts(graph, "drop") == {"rate": "0.3"}
    assert facts(graph, "lstm")["return_sequences"] == "True"
    assert facts(graph, "last")["units"] == "6"
    assert facts(graph, "last")["kernel_regularizer"] == "L2"
    assert facts(graph, "relu")["max_value"] == "6"
    assert facts(graph, "embed")["input_dim"] == "50"
    assert facts(graph, "bn") == facts(graph, "pool") == {}


@pytest.mark.tf
@both
def test_facts_of_live_layers_are_those_of_their_configuration(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    layers = [
        k.layers.Dense(3, "gelu", kernel_initializer="he_normal", name="a"),
        k.layers.SeparableConv2D(4, (3, 5), dilation_rate=2, name="b"),
        k.layers.GRU(4, recurrent_activation="tanh", go_backwards=True, name="c"),
        k.layers.MultiHeadAttention(2, 8, dropout=0.1, name="d"),
        k.layers.MaxPooling2D((2, 3), name="e"),
        k.layers.Reshape((2, -1), name="f"),
        k.layers.LayerNormalization(epsilon=1e-6, name="g"),
        k.layers.UpSampling2D(interpolation="bilinear", name="h"),
    ]
    model = listed(layers)
    for built in layers:
        config = json.loads(json.dumps(built.get_config()))
        expected, known = dict(stated_facts(config)), facts(cv.graph(model), built.name)
        shared = known.keys() & expected.keys()
        assert {name: known[name] for name in shared} == {name: expected[name] for name in shared}
        assert known and expected.keys() - known.keys() <= {"output_shape"}, built.name


@pytest.mark.tf
@both
def test_shapes_are_those_of_keras_without_the_batch(keras: str) -> None:
    model = two_inputs(keras)
    graph = cv.graph(model)

    def sizes(tensors: Any) -> Any:
        tensors = tensors if isinstance(tensors, list) else [tensors]
        return tuple(tuple(tensor.shape)[1:] for tensor in tensors)

    for part in model.layers[2:]:
        is_input = type(part).__name__ == "InputLayer"
        expected = (None if is_input else sizes(part.input), sizes(part.output))
        assert shapes(graph, part.name) == expected, part.name
    assert shapes(graph, "join") == (((8,), (6,)), ((14,),))
    of_root = graph.nodes[0].facts
    assert of_root is not None
    assert (of_root.gets, of_root.gives) == (((32, 32, 3), (16,)), ((3,), (1,)))


@pytest.mark.tf
@both
def test_a_layer_called_on_several_shapes_says_only_what_they_share(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    small, large, flat = k.Input((8, 8, 3)), k.Input((8, 16, 3)), k.Input((3,))
    conv, dense = k.layers.Conv2D(2, 1, name="conv"), k.layers.Dense(2, name="dense")
    model = k.Model([small, large, flat], [conv(small), conv(large), dense(flat), dense(small)])
    assert shapes(cv.graph(model), "conv") == (((8, None, 3),), ((8, None, 2),))
    assert shapes(cv.graph(model), "dense") == (None, None)


@pytest.mark.tf
@both
def test_masks_are_no_tensors_that_a_layer_gets(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    words = k.Input((7,), name="words")
    embedded = k.layers.Embedding(9, 4, mask_zero=True)(words)
    model = k.Model(words, k.layers.LSTM(3, name="lstm")(embedded))
    assert shapes(cv.graph(model), "lstm") == (((7, 4),), ((3,),))


@pytest.mark.tf
@both
def test_layers_without_symbolic_calls_know_what_they_were_built_for(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    dense = k.layers.Dense(2, name="dense")
    dense.build((None, 7))
    assert shapes(cv.graph(listed([dense])), "dense")[0] == ((7,),)


@pytest.mark.tf
@both
def test_only_dtypes_that_differ_from_most_are_facts(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    layers = [k.layers.Dense(2, name=name) for name in "abc"]
    half = k.layers.Dense(2, dtype="mixed_float16", name="half")
    graph = cv.graph(listed([*layers, half]))
    assert facts(graph, "half")["dtype"] == "mixed_float16"
    assert "dtype" not in facts(graph, "a")


@pytest.mark.tf
@both
def test_trainings_count_as_keras_does(keras: str) -> None:
    model = two_inputs(keras)
    counts = elements(cv.graph(model))
    assert counts[Training.TRAINED] == sum(prod(v.shape) for v in model.trainable_variables)
    assert counts[Training.FROZEN] == 3 * 3 * 3 * 8 + 2 * 8
    assert counts[Training.NEVER] == 2 * 8
    assert sum(counts.values()) == model.count_params()


def elements(graph: Graph) -> Counter[Training | None]:
    counts: Counter[Training | None] = Counter()
    for training, count in zip(graph.trainings, graph.parameters, strict=True):
        counts[training] += count
    return +counts


@pytest.mark.tf
@both
@pytest.mark.parametrize("frozen", ["outer", "model"])
def test_a_layer_thawed_below_a_frozen_one_is_what_keras_says(keras: str, frozen: str) -> None:
    k: Any = importlib.import_module(keras)
    inner = k.layers.Dense(2, name="inner")
    outer = k.Sequential([k.Input((2,)), inner], name="outer")
    model = k.Sequential([k.Input((2,)), outer, k.layers.Dense(3)])
    (outer if frozen == "outer" else model).trainable = False
    inner.trainable = True
    trained = sum(prod(variable.shape) for variable in model.trainable_variables)
    counts = elements(cv.graph(model))
    assert counts[Training.TRAINED] == trained
    assert counts[Training.FROZEN] == model.count_params() - trained


@pytest.mark.tf
def test_a_weight_that_alone_is_not_trainable_is_frozen() -> None:
    k: Any = importlib.import_module("keras")
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2)])
    model.layers[0].bias.trainable = False
    assert elements(cv.graph(model)) == {Training.TRAINED: 6, Training.FROZEN: 2}


@pytest.mark.tf
def test_variables_of_modules_say_it_themselves() -> None:
    import tensorflow as tf

    class Linear(tf.Module):  # type: ignore[misc]
        def __init__(self, size: int, scale: float = 0.5) -> None:
            super().__init__()
            self.size, self._scale = size, scale
            self.kernel = tf.Variable(tf.ones((size, 2)))
            self.moving = tf.Variable(tf.zeros(2), trainable=False)
            self.step = tf.Variable(0, dtype=tf.int64)

    graph = cv.graph(tf.train.Checkpoint(net=Linear(3)))
    said = {graph.tree.labels[i]: t.value for i, t in enumerate(graph.trainings) if t is not None}
    assert said == {"kernel": "trained", "moving": "never", "step": "never"}
    (net,) = (node.facts for node in graph.nodes if node.facts is not None)
    assert dict(net.stated) == {"size": "3", "scale": "0.5"}


@pytest.mark.tf
@both
def test_a_generator_and_a_frozen_discriminator(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    import tensorflow as tf

    generator = k.Sequential([k.Input((2,)), k.layers.Dense(4)], name="generator")
    critic = k.Sequential([k.Input((4,)), k.layers.Dense(1)], name="critic")
    critic.trainable = False
    gan = k.Sequential([k.Input((2,)), generator, critic])
    counts = elements(cv.graph(tf.train.Checkpoint(gan=gan, generator=generator, critic=critic)))
    trained = sum(prod(variable.shape) for variable in gan.trainable_variables)
    assert counts == {Training.TRAINED: trained, Training.FROZEN: 5}


@pytest.mark.tf
def test_a_layer_added_after_the_optimizer_was_built_is_left_out() -> None:
    k: Any = importlib.import_module("keras")

    class Net(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = k.layers.Dense(2, name="body"), k.layers.Dense(2, name="head")
            self.body.build((None, 2))

    net = Net()
    net.compile("adam")
    net.optimizer.build(net.trainable_variables)
    assert set(elements(cv.graph(net))) == {Training.TRAINED}
    net.head.build((None, 2))
    assert elements(cv.graph(net)) == {Training.TRAINED: 6, Training.LEFT_OUT: 6}


@pytest.mark.tf
@both
def test_reading_facts_runs_no_code_of_layers_and_changes_nothing(keras: str) -> None:
    k: Any = importlib.import_module(keras)
    import tensorflow as tf

    class Refusing(k.layers.Layer):  # type: ignore[misc]
        def __init__(self, width: int) -> None:
            super().__init__(name="refusing")
            self.width = width

        def get_config(self) -> Any:
            raise NotImplementedError

        def call(self, x: Any) -> Any:
            return x

        def compute_output_shape(self, shape: Any) -> Any:
            raise AssertionError("called")

    text = k.layers.TextVectorization(max_tokens=50, output_sequence_length=4, name="words")
    text.adapt(tf.constant(["a b c", "d e"]))
    layers = [text, k.layers.Embedding(50, 2), Refusing(7), k.layers.LSTM(2)]
    model = listed(layers)
    before = dict(snapshot(layers))
    called = AssertionError("called")
    with (
        patch("tensorflow.python.eager.execute.execute", side_effect=called),
        patch.object(k.layers.Layer, "get_config", side_effect=called),
    ):
        graph = cv.graph(model)
    assert dict(snapshot(layers)) == before
    assert facts(graph, "words")["output_sequence_length"] == "4"
    assert facts(graph, "refusing") == {"width": "7"}
    assert "a b c" not in repr(graph.nodes)


def snapshot(layers: Any) -> Iterator[tuple[int, Any]]:
    """Yield what layers hold, and how many variables there are."""
    for part in layers:
        yield id(part), {name: id(value) for name, value in vars(part).items()}
        yield id(part) + 1, len(part.variables)


@pytest.mark.tf
@both
@pytest.mark.parametrize(
    "garbage",
    [None, 7, [None], [[1, "a"]], {"a": object()}, "x" * 10_000],
    ids=["nothing", "number", "list", "pair", "object", "long text"],
)
def test_garbage_in_the_attributes_of_layers_hurts_nothing(keras: str, garbage: Any) -> None:
    k: Any = importlib.import_module(keras)
    model = k.Sequential([k.Input((2,)), k.layers.Dense(2, name="dense")])
    dense = model.layers[0]
    names = ("units", "activation", "_inbound_nodes", "_inbound_nodes_value", "_dtype_policy")
    more = ("_trainable", "_trainable_variables", "_trainable_weights", "_build_shapes_dict")
    for name in (*names, *more):
        if name in vars(dense):
            vars(dense)[name] = garbage
    nodes = cv.graph(model).nodes
    stated = [fact for node in nodes if node.facts is not None for fact in node.facts.stated]
    assert all(len(fact.value) <= 60 for fact in stated)


def test_a_hostile_configuration_gives_short_texts() -> None:
    html = "<img src=x onerror=alert(1)>" * 100
    config: dict[str, Any] = {
        html: html,
        "units": {"class_name": {"class_name": html}},
        "activation": {"class_name": "function", "config": {"a": 1}},
        "deep": [[[[[[1]]]]]],
        "long": list(range(1000)),
        "nan": float("nan"),
        "big": 10**50,
        **{f"x{i}": i for i in range(1000)},
    }
    stated = stated_facts(config)
    assert len(stated) == 12
    assert all(len(name) <= 60 and len(value) <= 60 for name, value in stated)

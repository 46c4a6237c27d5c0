"""What a save leaves out has a grade: a trained value is lost, or a mere note."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.render.row_words import line_of, rows_of
from ckpt_viz.graphs.render.text import render_tree
from ckpt_viz.live.objects.live_source import walked
from ckpt_viz.live.objects.untracked import Search, attributes_of
from tests.support import live_objects, programs

pytestmark = pytest.mark.tf


def grades(source: Any) -> dict[str, bool]:
    """Return which attributes a save leaves out, and whether a trained value is lost with them."""
    return {one.name: one.is_lost for node in cv.graph(source).nodes for one in node.not_saved}


def sequential_with_dropout() -> Any:
    import keras
    import tensorflow as tf

    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(2), layers.Dropout(0.5), layers.BatchNormalization()]
    )
    metrics = ["mae", keras.metrics.AUC(from_logits=True)]
    model.compile("adam", "mse", metrics=metrics, run_eagerly=True)
    model.fit(tf.ones([2, 3]), tf.ones([2, 2]), verbose=0)
    return model


def test_compiled_sequential_with_dropout_loses_nothing_that_was_trained() -> None:
    model = sequential_with_dropout()
    found = grades(model)
    assert not any(found.values())
    graph = cv.graph(model)
    for view in ("layers", "objects"):
        lines = [line_of(graph, row) for row in rows_of(graph, 300, view)]
        said = " ".join(f"{line.note} {line.sentence}" for line in lines)
        assert "!" not in said
        assert all(f"not tracked: {name}" in said for name in found)
    assert "! " not in render_tree(graph)
    assert all(f"(not tracked: {name} " in render_tree(graph) for name in found)


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
@pytest.mark.parametrize("is_own", [False, True])
def test_a_model_cut_out_of_another_loses_nothing(package: str, is_own: bool) -> None:
    keras = pytest.importorskip(package)
    inputs = keras.Input((3,))
    own = type("Own", (keras.layers.Dense,), {})
    last = (own if is_own else keras.layers.Dense)(2)
    cut = last(keras.layers.Dense(4)(inputs))
    whole = keras.Model(inputs, keras.layers.Dense(5)(cut))
    part = keras.Model(inputs, cut)
    assert len(whole.weights) == len(part.weights) + 2
    assert not any(grades(part).values())


def test_trained_variables_and_layers_out_of_sight_are_lost() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.variables_in_deque = deque([tf.Variable([1.0])])
    module.plain = SimpleNamespace(w=tf.Variable(1.0))
    module.averages = {tf.Variable([0.5], trainable=False).ref()}
    found = grades(module)
    assert found == {"variables_in_deque": True, "plain": True, "averages": True}
    assert "! not saved: plain" in render_tree(cv.graph(module))


def test_counters_metrics_and_random_numbers_are_notes() -> None:
    import keras
    import tensorflow as tf

    module = tf.Module()
    module.steps = deque([tf.Variable(0, trainable=False, dtype=tf.int64)])
    module.random = deque([tf.random.Generator.from_seed(1)])
    module.meters = {"train": deque([[keras.metrics.AUC()], keras.metrics.Mean()])}
    assert set(grades(module).values()) == {False}


def test_layers_in_a_list_of_keras_3_are_lost_also_before_they_are_built() -> None:
    import keras
    import tensorflow as tf

    if keras.__version__.startswith("2."):
        pytest.skip("Keras 2 tracks lists of layers")

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [keras.layers.Dense(2)]
            self.activations = [keras.layers.ReLU(name="activation_of_test")]

        def call(self, x: Any) -> Any:
            return self.activations[0](self.blocks[0](x))

    model = Net()
    assert grades(model)["blocks"] is True
    model(tf.ones([1, 2]))
    assert grades(model) == {"blocks": True, "activations": False}


def test_values_that_the_optimizer_saves_are_not_lost() -> None:
    import keras
    import tensorflow as tf

    if keras.__version__.startswith("2."):
        pytest.skip("the optimizers of Keras 2 do not track the variables that they train")
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    optimizer = keras.optimizers.Adam()
    optimizer.build(layer.trainable_variables)
    root = tf.train.Checkpoint(optimizer=optimizer)
    root.holder = tf.Module()
    root.holder.layers = deque([layer])
    assert grades(root) == {"layers": False}
    assert not any(grades(live_objects.keras3_model_with_lists_and_seeds()).values())


@pytest.mark.parametrize("name", ["keras_3", "keras_2"])
def test_data_of_layers_and_tables_are_notes_at_the_layer_that_the_program_knows(name: str) -> None:
    import tensorflow as tf

    keras = getattr(programs, name)()
    layers = keras.layers
    pairs = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    root = tf.train.Checkpoint(
        words=layers.StringLookup(vocabulary=["a", "b"]),
        text=layers.TextVectorization(vocabulary=["a", "b"]),
        later=layers.IntegerLookup(),
        bins=layers.Discretization(bin_boundaries=[1.0, 2.0]),
        given=layers.Normalization(mean=1.0, variance=2.0),
        learned=layers.Normalization(axis=None),
        hashed=layers.Hashing(10, salt=1),
        table=tf.lookup.StaticHashTable(pairs, -1),
        saved=tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0),
    )
    graph = cv.graph(root)
    found = {
        graph.name(i).removeprefix("(root)."): (one.name, one.type_name, one.is_lost)
        for i, node in enumerate(graph.nodes)
        for one in node.not_saved
    }
    assert found == {
        "words": ("vocabulary", "StringLookup", False),
        "text": ("vocabulary", "TextVectorization", False),
        "bins": ("boundaries", "Discretization", False),
        "given": ("mean and variance", "Normalization", False),
        "table": ("entries", "StaticHashTable", False),
    }
    assert "(not tracked: vocabulary StringLookup)" in render_tree(graph)


def test_metrics_of_keras_3_in_plain_objects_are_notes() -> None:
    import tensorflow as tf

    keras = programs.keras_3()
    module = tf.Module()
    module.plain = SimpleNamespace(metric=keras.metrics.Mean())
    module.both = SimpleNamespace(metric=keras.metrics.Mean(), w=tf.Variable([1.0]))
    assert grades(module) == {"plain": False, "both": True}


@pytest.mark.parametrize("make", live_objects.KINDS, ids=lambda make: make.__name__)
def test_first_look_passes_over_nothing_that_the_search_finds(make: Callable[[], Any]) -> None:
    source = make()
    objects = walked(source).objects
    for known in ({id(obj) for obj in objects}, set[int]()):
        search = Search(known, set(), opens_state=True)
        for obj in objects:
            attributes = attributes_of(obj).items()
            leading = {name for name, _ in search.leading_on(attributes)}
            for name, value in attributes:
                trackables = {id(missed.trackable) for missed in search.trackables_in(value)}
                assert name in leading or trackables <= known


@pytest.mark.parametrize(("library", "news"), [("keras", ["seen"]), ("tf_keras", [])])
def test_what_keras_keeps_for_a_compiled_model_is_no_news(library: str, news: list[str]) -> None:
    keras = pytest.importorskip(library)

    class Own(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.seen = [keras.metrics.Mean()]

    model = Own()
    model.compile("sgd", "mse")
    notes = [
        note.name for node in cv.graph(programs.ckpt(model=model)).nodes for note in node.not_saved
    ]
    assert notes == news  # Keras 2 tracks the metrics in a list


@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_an_optimizer_that_another_one_replaced_is_no_lost_value(library: str) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(library)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")  # keeps this one in its configuration
    model.optimizer = keras.optimizers.Adam()
    model.optimizer.build(model.trainable_variables)
    assert "in no checkpoint" not in str(cv.graph(tf.train.Checkpoint(model=model)))


def test_an_unbuilt_layer_that_another_one_replaced_is_no_lost_value() -> None:
    """Keras 3 lists it in the model's `_tracker` for ever; the model has no weights of it."""
    import tensorflow as tf

    keras = programs.keras_3()

    class Net(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.head = keras.layers.Dense(10)

        def call(self, values: Any) -> Any:
            return self.head(values)

    model = Net()
    model.head = keras.layers.Dense(5)
    model(tf.zeros((1, 8)))
    checkpoint = tf.train.Checkpoint(model=model)
    assert len(model.weights) == 2 and "in no checkpoint" not in str(cv.graph(checkpoint))

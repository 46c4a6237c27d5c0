"""Keras' own files as graphs: Keras, and h5py for the bytes, tell what each value is."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import FormatError, UnsupportedError
from tests.support.amounts import some

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Build = Callable[[Any], Any]
FORMS = (".h5", ".keras", ".weights.h5", " only.h5", ".weights.json")


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


def saved(model: Any, path: Path, form: str, is_3: bool = True) -> Path:
    """Save a model, or its weights alone, as files of this name."""
    whole = path.parent / (path.name + form)
    if form in (".h5", ".keras"):
        model.save(whole)
    elif form == ".weights.json":
        model.save_weights(whole, max_shard_size=1e-6)
    elif is_3 and form == " only.h5":
        pytest.skip("Keras 3 writes no weights alone by names")
    else:
        model.save_weights(whole)
    return whole


def functional(keras: Any) -> Any:
    """Return a model with inner models, shared, recurrent, wrapped and frozen layers."""
    layers = keras.layers
    words = keras.Input((4,), name="words")
    embedded = layers.Embedding(7, 6, name="table")(words)
    inner = keras.Sequential(
        [layers.Dense(6, name="first"), layers.BatchNormalization()], name="inner"
    )
    shared = layers.Dense(6, use_bias=False, name="shared")
    x = shared(inner(shared(embedded)))
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True), name="both")(x)
    x = layers.TimeDistributed(layers.Dense(6, activation="relu"), name="each")(x)
    x = layers.MultiHeadAttention(2, 3, name="heads")(x, x)
    x = layers.LayerNormalization(center=False, name="norm")(x)
    x = layers.RNN(layers.StackedRNNCells([layers.GRUCell(3), layers.GRUCell(2)]), name="stack")(x)
    frozen = layers.Dense(5, name="frozen", trainable=False)
    x = layers.Dropout(0.5, name="drop")(frozen(x))
    return keras.Model(words, layers.Dense(2, name="head")(x), name="net")


def subclassed(keras: Any) -> Any:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [keras.layers.Dense(3) for _ in range(3)]
            self.by_name = {"a": keras.layers.Dense(2), "b": keras.layers.Conv1D(2, 1)}
            self.head = keras.layers.Dense(1)

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.head(self.by_name["b"](self.by_name["a"](x)))

    model = Net()
    model(np.ones((2, 4, 3), "float32"))
    return model


def trained(model: Any, optimizer: Any) -> Any:
    """Return a model and its optimizer with another value for each variable."""
    model.compile(optimizer, "mse", metrics=["mae"])
    make = getattr(optimizer, "_create_all_weights", getattr(optimizer, "build", None))
    assert make is not None
    make(model.trainable_variables)
    for number, variable in enumerate([*model.weights, *_variables(model.optimizer)]):
        value = np.full(variable.shape, number + 1)
        variable.assign(value.astype(getattr(variable.dtype, "name", variable.dtype)))
    return model


def in_file(path: Path) -> dict[str, Any]:
    """Return the values in a file by path, as h5py reads them."""
    import h5py

    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            path = Path(archive.extract("model.weights.h5", path.parent / "unpacked"))
    if path.suffix == ".json":
        shards = sorted(path.parent.glob(f"{path.name.removesuffix('.weights.json')}_*.weights.h5"))
        return {key: value for shard in shards for key, value in in_file(shard).items()}
    values: dict[str, Any] = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda key, item: values.update({key: item[()]}) if hasattr(item, "shape") else None
        )
    return values


def test_layers_in_h5_do_not_repeat_the_model_and_themselves(
    keras: ModuleType, tmp_path: Path
) -> None:
    layers = keras.layers
    both = layers.Bidirectional(layers.LSTM(2, name="rnn"), name="both")
    model = keras.Sequential([keras.Input((4, 3)), both, layers.Dense(1, name="head")])
    path = tmp_path / "x.h5"
    model.save(path)
    graph = cv.graph(path)
    assert [child.local_name for child in graph.nodes[0].children] == ["both", "head"]
    below = graph.nodes[graph.node_id("both")].children
    assert [child.local_name for child in below] == ["forward_rnn", "backward_rnn"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("build", [functional, subclassed])
def test_each_value_is_in_the_graph_once(
    keras: ModuleType, build: Build, form: str, tmp_path: Path
) -> None:
    if form == ".weights.json" and keras.__name__ == "tf_keras":
        pytest.skip("tf_keras writes no shards")
    if form == ".h5" and build is subclassed:
        pytest.skip("Keras writes no subclassed models so")
    model = build(keras)
    model.compile("adam", "mse")
    path = saved(model, tmp_path / "x", form, keras.__name__ == "keras")
    graph = cv.graph(path)
    keys = [a.checkpoint_key for node in graph.nodes for a in node.attributes]
    values = in_file(path)
    assert sorted(keys) == sorted(values)
    for key, value in values.items():
        read = graph.read(key)
        assert (read.dtype, read.shape) == (value.dtype, value.shape)
        np.testing.assert_array_equal(read, value)
        stored = graph.stored(key)
        assert stored is not None
        assert (stored.dtype, stored.shape, stored.error) == (str(value.dtype), value.shape, None)


NAMES = {
    "table": "embeddings",
    "first": "kernel bias",
    "shared": "kernel",
    "norm": "gamma",
    "head": "kernel bias",
    "frozen": "kernel bias",
}


@pytest.mark.parametrize("form", FORMS[:3])
def test_variables_have_the_names_of_their_layers(
    keras: ModuleType, form: str, tmp_path: Path
) -> None:
    model = functional(keras)
    graph = cv.graph(saved(model, tmp_path / "x", form))
    by_name = {node.own_name: node for node in graph.nodes if node.own_name}
    if form == ".weights.h5" and keras.__name__ == "tf_keras":
        return  # it writes no names of layers
    for layer, names in NAMES.items():
        node = by_name[layer]
        if layer == "norm" and form == ".weights.h5":  # one variable: gamma or beta
            names = "0"
        assert [child.local_name for child in node.children] == names.split()
        live = (
            model.get_layer("inner").get_layer(layer)
            if layer == "first"
            else model.get_layer(layer)
        )
        for child, variable in zip(node.children, live.weights, strict=True):
            (attribute,) = graph.nodes[child.node_id].attributes
            np.testing.assert_array_equal(graph.read(attribute.checkpoint_key), variable.numpy())


OPTIMIZERS: dict[str, Build] = {
    "Adam": lambda o: o.Adam(),
    "Adam amsgrad": lambda o: o.Adam(amsgrad=True),
    "AdamW ema": lambda o: o.AdamW(use_ema=True),
    "SGD": lambda o: o.SGD(),
    "SGD momentum": lambda o: o.SGD(momentum=0.9),
    "RMSprop": lambda o: o.RMSprop(),
    "RMSprop all": lambda o: o.RMSprop(momentum=0.5, centered=True),
    "Nadam": lambda o: o.Nadam(),
    "Adamax": lambda o: o.Adamax(),
    "Adagrad": lambda o: o.Adagrad(),
    "Adadelta": lambda o: o.Adadelta(),
    "Ftrl": lambda o: o.Ftrl(),
    "Lion": lambda o: o.Lion(),
}


def _small(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Dense(3, name="one"),
            layers.BatchNormalization(name="norm"),
            layers.Dense(3, name="still", trainable=False),
            layers.Dense(3, name="two"),
        ],
        name="small",
    )
    return model


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_slots_belong_to_the_variables_that_keras_made_them_for(
    keras: ModuleType, optimizer: str, tmp_path: Path
) -> None:
    """Each slot has a value of its own; the optimizer's lists tell whose it is."""
    made = OPTIMIZERS[optimizer](keras.optimizers)
    model = trained(_small(keras), made)
    # `.h5` comes last: it takes the optimizer out of the model's words.
    for form in (".keras", ".weights.h5", ".h5"):
        _assert_slots(model, tmp_path, form)


@pytest.mark.parametrize(
    "optimizer",
    ["Adam", "Adam amsgrad", "SGD momentum", "RMSprop all", "Nadam", "Adamax", "Adadelta", "Ftrl"],
)
def test_slots_of_legacy_optimizers_belong_to_their_variables(
    optimizer: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip("tf_keras")
    made = OPTIMIZERS[optimizer](keras.optimizers.legacy)
    model = trained(_small(keras), made)
    _assert_slots(model, tmp_path, ".h5")


def _assert_slots(model: Any, tmp_path: Path, form: str) -> None:
    graph = cv.graph(saved(model, tmp_path / "x", form))
    slots = {
        _scalar(graph, node.attributes[0].checkpoint_key): (
            node.slot.name,
            _scalar(graph, graph.nodes[node.slot.variable].attributes[0].checkpoint_key),
        )
        for node in graph.nodes
        if node.slot is not None
    }
    expected = {
        float(np.ravel(value)[0]): float(np.ravel(variable)[0])
        for value, variable in _slots_of_keras(model)
    }
    owners = {value: of for value, (_, of) in slots.items()}
    if form == ".weights.h5":  # it does not tell which layers are frozen
        assert owners.items() <= expected.items()
    else:
        assert owners == expected
        assert not any(name.startswith("state") for name, _ in slots.values())


def _scalar(graph: cv.ObjectGraph, key: str) -> float:
    return float(np.ravel(graph.read(key))[0])


def _slots_of_keras(model: Any) -> list[tuple[Any, Any]]:
    """Return the values of slots with those of their variables, from the optimizer's own lists."""
    optimizer, variables = model.optimizer, model.trainable_variables
    if hasattr(optimizer, "get_slot_names"):
        return [
            (optimizer.get_slot(variable, name).numpy(), variable.numpy())
            for name in optimizer.get_slot_names()
            for variable in variables
        ]
    pairs = []
    own = {id(v) for v in _variables(optimizer)}
    for name, held in vars(optimizer).items():
        held = list(held) if isinstance(held, list | tuple) or "List" in type(held).__name__ else []
        is_of_slots = len(held) == len(variables) and all(id(v) in own for v in held)
        if is_of_slots and name not in ("_variables", "_tracked"):
            pairs += [(v.numpy(), w.numpy()) for v, w in zip(held, variables, strict=True)]
    return pairs


def _variables(optimizer: Any) -> list[Any]:
    variables = optimizer.variables
    return list(variables() if callable(variables) else variables)


@pytest.mark.parametrize("form", [".h5", ".keras"])
def test_layers_have_the_facts_and_calls_of_the_live_model(
    keras: ModuleType, form: str, tmp_path: Path
) -> None:
    model = functional(keras)
    graph, live = cv.graph(saved(model, tmp_path / "x", form)), cv.graph(model)
    assert _facts(graph) == _facts(live)
    assert {(a, b) for a, b in _calls(graph) if None not in (a, b)} >= {
        ("table", "shared"),
        ("shared", "inner"),
        ("heads", "norm"),
        ("drop", "head"),
    }
    frozen = [node.own_name for node in graph.nodes if node.is_frozen and node.own_name]
    assert frozen == ["frozen"]


def _facts(graph: cv.ObjectGraph) -> dict[str, Any]:
    return {
        node.own_name: node.facts.stated
        for node in graph.nodes
        if node.own_name in ("table", "shared", "each", "heads", "drop", "head", "norm")
        and node.facts is not None
    }


def _calls(graph: cv.ObjectGraph) -> set[tuple[str | None, str | None]]:
    nodes = graph.nodes
    return {(nodes[c.producer].own_name, nodes[c.consumer].own_name) for c in graph.calls}


def test_missing_shards_are_named(tmp_path: Path) -> None:
    import keras

    model = functional(keras)
    path = saved(model, tmp_path / "x", ".weights.json")
    count = len(cv.graph(path).nodes)
    (tmp_path / "x_00001.weights.h5").unlink()
    graph = cv.graph(path)
    assert graph.nodes[0].error == (
        f"1 shard is missing, {tmp_path}/x_00001.weights.h5 first; the values in it are not shown"
    )
    assert len(graph.nodes) < count
    assert cv.graph(tmp_path / "x_00000.weights.h5").provenance == (
        cv.Provenance(
            f"{tmp_path}/x_00000.weights.h5",
            str(path),
            cv.Format.KERAS_WEIGHTS,
            f"{tmp_path}/x_00000.weights.h5 is a shard of the weights {path}",
            written_by="Keras (version unknown)",
            opened_by="load_weights of a model with the same layers",
        )
    )


def test_layers_in_a_missing_shard_are_not_new(tmp_path: Path) -> None:
    import keras

    path = saved(functional(keras), tmp_path / "x", ".weights.json")
    (tmp_path / "x_00001.weights.h5").unlink()
    text = str(cv.check(functional(keras), path))
    assert "x_00001.weights.h5 is missing" in text and "added" not in text and "new" not in text
    assert "  not in these files  " in text


def _rewritten(source: Path, target: Path, changed: dict[str, bytes]) -> None:
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as new:
        for name in archive.namelist():
            new.writestr(name, changed.get(name, archive.read(name)))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (b"{", "config.json is no JSON"),
        (b"[" * 100_000, "config.json is no JSON"),
        (b"[1]", "config.json is no JSON object"),
    ],
)
def test_bad_configurations_are_refused(config: bytes, said: str, tmp_path: Path) -> None:
    import keras

    path = saved(_small(keras), tmp_path / "x", ".keras")
    _rewritten(path, tmp_path / "bad.keras", {"config.json": config})
    with pytest.raises(FormatError, match=said):
        cv.graph(tmp_path / "bad.keras")


def test_any_words_in_a_configuration_leave_the_values_alone(tmp_path: Path) -> None:
    """All of it may have another type; nothing of it is imported or run."""
    import keras

    path = saved(_small(keras), tmp_path / "x", ".keras")
    with zipfile.ZipFile(path) as archive:
        words = json.loads(archive.read("config.json"))
    count = len(cv.graph(path).nodes)
    places = [(holder, key) for holder in _mappings(words) for key in list(holder)]
    others: list[Any] = [None, 7, [], {}, "x", [[{}]], {"class_name": "os.system", "config": "x"}]
    for number, (holder, key) in enumerate(places):
        for other in some(others, number):
            before, holder[key] = holder[key], other
            _rewritten(path, tmp_path / "bad.keras", {"config.json": json.dumps(words).encode()})
            holder[key] = before
            assert len(cv.graph(tmp_path / "bad.keras").nodes) == count


def _mappings(value: Any) -> list[dict[str, Any]]:
    items = list(value.values()) if isinstance(value, dict) else value
    below = [m for item in items if isinstance(item, dict | list) for m in _mappings(item)]
    return [*([value] if isinstance(value, dict) else []), *below]


def test_other_hdf5_and_zip_files_are_named(tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "table.h5", "w") as file:
        file["frame/values"] = np.ones(3)
    with pytest.raises(UnsupportedError, match=r"not one of Keras: found frame/values; expected"):
        cv.graph(tmp_path / "table.h5")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(UnsupportedError, match=r"a zip archive of 1 file \(a\.txt\), not a T"):
        cv.graph(tmp_path / "x.zip")


@pytest.mark.parametrize("form", [".keras", ".weights.h5", ".h5"])
def test_files_of_one_model_differ_in_nothing(form: str, tmp_path: Path) -> None:
    """Whatever the format of the other file; a checkpoint and the live model differ in no value."""
    import keras
    import tensorflow as tf

    model = trained(functional(keras), keras.optimizers.Adam())
    path = saved(model, tmp_path / "x", form)
    tf.train.Checkpoint(model).write(str(tmp_path / "ckpt"))
    others = [saved(model, tmp_path / "y", other) for other in (".keras", ".weights.h5", ".h5")]
    for other in (*others, str(tmp_path / "ckpt"), model, cv.graph(model, as_saved_by="keras")):
        diff = cv.diff(path, other, values=True)
        assert (other, diff.value) == (other, ())
        common = [a for a in diff.places if diff.a.nodes[a].attributes]
        if other in others:
            assert (diff.only_a, diff.only_b) == ((), ())
            moved = [diff.a.names.place_or_state(node) for node in diff.moved_ids]
            assert all("stack" in name or "norm" in name for name in moved)
        else:  # TensorFlow does not track the cells in the list of a layer
            assert len(common) >= 99 - 3 * 6


def test_a_file_of_keras_2_has_the_values_of_keras_3_in_their_places(tmp_path: Path) -> None:
    import keras

    tf_keras = pytest.importorskip("tf_keras")
    older, newer = (_small(module) for module in (tf_keras, keras))
    newer.set_weights(trained(older, tf_keras.optimizers.Adam()).get_weights())
    newer.compile(keras.optimizers.Adam())
    newer.optimizer.build(newer.trainable_variables)
    a, b = saved(older, tmp_path / "x", ".h5"), saved(newer, tmp_path / "y", ".keras")
    diff = cv.diff(a, b, values=True)
    assert (diff.only_a, diff.moved) == ((), ())
    assert diff.only_b == ("(root).optimizer.learning_rate",)
    changed = {change.b for change in diff.changed}
    assert all("optimizer" in name for name in changed)


@pytest.mark.parametrize("form", [".keras", ".weights.h5"])
def test_layers_are_in_the_order_of_the_model(form: str, tmp_path: Path) -> None:
    """HDF5 puts groups into space that it has freed, so addresses alone tell no order."""
    import keras

    inputs = x = keras.Input((3,))
    for number in range(40):
        x = keras.layers.Dense(3, name=f"d{number}")(x)
        x = keras.layers.LayerNormalization(name=f"n{number}")(x)
    model = trained(keras.Model(inputs, x), keras.optimizers.Adam())
    graph = cv.graph(saved(model, tmp_path / "x", form))
    slots = {
        _scalar(graph, node.attributes[0].checkpoint_key): _scalar(
            graph, graph.nodes[node.slot.variable].attributes[0].checkpoint_key
        )
        for node in graph.nodes
        if node.slot is not None
    }
    expected = {
        float(np.ravel(value)[0]): float(np.ravel(variable)[0])
        for value, variable in _slots_of_keras(model)
    }
    names = [node.own_name for node in graph.nodes if node.own_name]
    print(len(slots), len(expected), names)
    assert slots.items() <= expected.items()
    if form == ".keras":
        assert slots == expected
        layers = [layer.name for layer in model.layers[1:]]
        assert [name for name in names if name in layers] == layers


def test_an_optimizer_without_variables_of_a_model_has_no_slots(tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "x.weights.h5"
    with h5py.File(path, "w") as file:
        for number, value in enumerate((np.int64(1), np.float32(1), np.ones(3))):
            file[f"optimizer/vars/{number}"] = value
    graph = cv.graph(path)
    assert [node.slot for node in graph.nodes] == [None] * 5

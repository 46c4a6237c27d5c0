"""Layers models of TensorFlow.js, as its converter has written them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import CheckpointNotFoundError, CkptVizError, FormatError, UnsupportedError

_DATA = Path(__file__).parent / "data" / "tfjs"
FORMS = ("raw", "uint8", "uint16", "float16")


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Return a directory with models of TensorFlow.js and the Keras files that they come from."""
    with zipfile.ZipFile(_DATA / "models.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def _keys(graph: cv.ObjectGraph) -> list[str]:
    return [value.checkpoint_key for node in graph.nodes for value in node.attributes]


@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_that_tensorflowjs_reads(form: str, models: Path) -> None:
    graph = cv.graph(models / form / "model.json")
    with np.load(models / form / "values.npz") as values:
        assert len(_keys(graph)) == len(values.files) == 15
        for key in _keys(graph):
            read = graph.read(key)
            expected = values[key.split("/", 2)[2]]
            assert read.dtype == expected.dtype
            assert np.array_equal(read, expected)


def test_file_directory_and_shard_lead_to_the_model(models: Path) -> None:
    model = models / "raw" / "model.json"
    for given in (model, model.parent, model.parent / "group1-shard3of4.bin"):
        provenance = cv.graph(given).provenance
        assert provenance is not None
        assert provenance.prefix == str(model)
        assert provenance.format is cv.Format.TFJS
        assert provenance.written_by == "TensorFlow.js Converter v4.22.0 from Keras 2.21.0"


def test_layers_are_those_of_the_keras_model(models: Path) -> None:
    for whole, converted in (("model.h5", "raw"), ("model.keras", "keras3")):
        diff = cv.diff(models / whole, models / converted, values=True, progress=False)
        assert "none of 15 common values differs" in str(diff)
        of_keras, of_js = cv.graph(models / whole), cv.graph(models / converted)
        layers = [
            {node.own_name for node in graph.nodes if node.type_name == "Dense"}
            for graph in (of_keras, of_js)
        ]
        assert layers[0] == layers[1] == {"deep", "head"}
        assert len(of_js.calls) == len(of_keras.calls) > 3


def test_quantized_model_differs_by_less_than_a_step(models: Path) -> None:
    raw, quantized = cv.graph(models / "raw"), cv.graph(models / "uint8")
    words = json.loads((models / "uint8" / "model.json").read_text("utf-8"))
    steps = {
        weight["name"]: weight["quantization"]["scale"]
        for group in words["weightsManifest"]
        for weight in group["weights"]
    }
    for key in _keys(raw):
        step = steps[key.split("/", 2)[2]]
        assert np.abs(raw.read(key) - quantized.read(key)).max() <= step / 2 * 1.001


def test_model_that_javascript_has_saved_opens(models: Path) -> None:
    """`model.save` of TensorFlow.js writes no frame around the configuration, and one shard."""
    path = models / "raw" / "model.json"
    words = json.loads(path.read_text("utf-8"))
    topology = words["modelTopology"]
    words["modelTopology"] = topology["model_config"] | {"keras_version": "tfjs-layers 4.22.0"}
    (group,) = words["weightsManifest"]
    data = b"".join((path.parent / name).read_bytes() for name in group["paths"])
    (path.parent / "weights.bin").write_bytes(data)
    group["paths"] = ["./weights.bin"]
    expected = cv.graph(path)
    read = {key: expected.read(key) for key in _keys(expected)}
    path.write_text(json.dumps(words))
    graph = cv.graph(path.parent / "weights.bin")
    assert _keys(graph) == list(read)
    assert all(np.array_equal(graph.read(key), value) for key, value in read.items())


# --- the check


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


def _model(keras: Any) -> Any:
    spec = importlib.util.spec_from_file_location("write_tfjs", _DATA / "write_tfjs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module._model(keras)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_check_tells_what_load_weights_does_by_names(keras: Any, models: Path) -> None:
    model = _model(keras)
    check = cv.check(model, models / "raw")
    assert "Restores all 15 values" in str(check)
    assert "tensorflowjs_converter" in str(check)
    model.load_weights(models / "model.h5", by_name=True)  # the oracle
    expected = [weight.numpy() for weight in model.weights]
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    exec(check.fix().code, {"ckpt": model})
    assert all(map(np.array_equal, [weight.numpy() for weight in model.weights], expected))
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    check.fix().apply()
    assert all(map(np.array_equal, [weight.numpy() for weight in model.weights], expected))
    with pytest.raises((ValueError, OSError)):
        model.load_weights(models / "raw" / "model.json")


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_check_names_what_has_no_weights_of_its_name(keras: Any, models: Path) -> None:
    layers = keras.layers
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="other")])
    assert "other" in str(cv.check(model, models / "raw").details)
    model.load_weights(models / "model.h5", by_name=True)  # raises nothing, loads nothing


# --- damage


def _changed(path: Path, change: Callable[[Any], object]) -> None:
    words = json.loads(path.read_text("utf-8"))
    change(words)
    path.write_text(json.dumps(words))


def test_missing_or_short_shard_is_named_and_the_rest_is_read(models: Path) -> None:
    directory = models / "raw"
    shard = directory / "group1-shard2of4.bin"
    data = shard.read_bytes()
    shard.unlink()
    graph = cv.graph(directory)
    said = str(graph)
    assert "group1-shard2of4.bin is missing" in said
    unreadable = [value for node in graph.nodes for value in node.attributes if value.error]
    assert 0 < len(unreadable) < 15
    with pytest.raises(FormatError, match=r"group1-shard2of4\.bin: no such file"):
        graph.read(unreadable[0].checkpoint_key)
    shard.write_bytes(data)
    last = directory / "group1-shard4of4.bin"
    last.write_bytes(last.read_bytes()[:-4])
    graph = cv.graph(directory)
    errors = [value.error for node in graph.nodes for value in node.attributes if value.error]
    assert errors == [
        f"its shards have 4 bytes less than {directory}/model.json tells; copy them again"
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda g: g.update(paths=["../secret"]), "expected a file in the same directory"),
        (lambda g: g.update(paths=["/etc/passwd"]), "expected a file in the same directory"),
        (lambda g: g.update(paths=["http://host/a.bin"]), "expected a file in the same directory"),
        (lambda g: g["weights"].append(g["weights"][0]), "different names"),
    ],
    ids=["above", "absolute", "remote", "twice"],
)
def test_bad_lists_are_refused(change: Callable[[Any], object], said: str, models: Path) -> None:
    path = models / "raw" / "model.json"
    _changed(path, lambda words: change(words["weightsManifest"][0]))
    with pytest.raises(CkptVizError, match=said):
        cv.graph(path)


@pytest.mark.parametrize(
    "weight",
    [
        {"shape": [1 << 39, 1 << 39]},
        {"shape": [-1]},
        {"shape": "x"},
        {"dtype": "string"},
        {"dtype": 7},
        {"quantization": {"dtype": "int4"}},
        {"quantization": {"dtype": "uint8", "scale": "x"}},
    ],
    ids=["huge", "negative", "text", "strings", "number", "int4", "scale"],
)
def test_weight_that_cannot_be_is_marked_and_takes_no_memory(
    weight: dict[str, Any], models: Path
) -> None:
    path = models / "raw" / "model.json"
    _changed(path, lambda words: words["weightsManifest"][0]["weights"][-1].update(weight))
    graph = cv.graph(path)
    errors = [value.error for node in graph.nodes for value in node.attributes if value.error]
    assert len(errors) == 1


def test_graph_model_is_named(models: Path) -> None:
    path = models / "raw" / "model.json"
    _changed(path, lambda words: words.update(format="graph-model"))
    with pytest.raises(UnsupportedError, match="a graph model of Tens"):
        cv.graph(path)


def test_shard_without_its_model_is_no_checkpoint(models: Path) -> None:
    shutil.copy(models / "raw" / "group1-shard1of4.bin", models / "alone.bin")
    with pytest.raises((CheckpointNotFoundError, UnsupportedError)):
        cv.graph(models / "alone.bin")

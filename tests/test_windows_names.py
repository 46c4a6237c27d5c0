r"""Files that Keras 2.15 has saved on Windows, with groups called `layers\dense`."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz import CkptVizError, SourceError
from ckpt_viz.cli import main

_PACKED = Path(__file__).parent / "data" / "old_versions" / "tf2.15" / "windows_files.zip"
FORMS = ("model.keras", "model.weights.h5")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a directory with files as Keras 2.15 writes them on Windows."""
    with zipfile.ZipFile(_PACKED) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def _values(directory: Path) -> dict[str, Any]:
    with np.load(directory / "values.npz") as values:
        return dict(values)


@pytest.mark.parametrize("form", FORMS)
def test_backslash_in_a_group_is_a_slash(form: str, files: Path) -> None:
    graph = cv.graph(files / form)
    values = _values(files)
    for name, path in {"first": "dense", "inner": "sequential.layers.dense"}.items():
        node = graph.nodes[graph.node_id(f"layers.{path}.kernel")]
        key = node.attributes[0].checkpoint_key
        assert "\\" in key  # as the file has it
        assert np.array_equal(graph.read(key), values[f"{name}/0"])
    assert sum(node.slot is not None for node in graph.nodes) == 12


@pytest.mark.parametrize("form", FORMS)
def test_cause_and_the_call_that_writes_a_copy_are_named(form: str, files: Path) -> None:
    said = CliRunner().invoke(main, ["show", str(files / form)]).output
    assert "Keras 2 names groups so on Windows" in said
    assert "cv.graph(path).write(new_path)" in said
    assert "`ckpt-viz rewrite`" in said


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_keras_loads_the_copy_and_not_the_file(keras: Any, files: Path) -> None:
    with pytest.raises(ValueError, match="expected 2 variables, but received 0"):
        keras.models.load_model(files / "model.keras", compile=False)
    for form in FORMS:
        path = files / f"copy_of_{form}"
        result = CliRunner().invoke(main, ["rewrite", str(files / form), str(path)])
        assert result.exit_code == 0
        assert result.output.splitlines()[0].endswith(f"{form}.")
    model = keras.models.load_model(files / "copy_of_model.keras", compile=False)
    values = _values(files)

    def are_loaded() -> bool:
        return all(
            np.array_equal(weight.numpy(), values[f"{layer.name}/{place}"])
            for layer in model.layers
            for place, weight in enumerate(layer.weights)
        )

    assert are_loaded()
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    model.load_weights(files / "copy_of_model.weights.h5")
    assert are_loaded()


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_check_predicts_the_error_and_names_the_cause(keras: Any, files: Path) -> None:
    layers = keras.layers
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(3, name="deep")], name="inner")
    stack = [keras.Input((2,)), layers.Dense(3, name="first"), inner, layers.Dense(1, name="last")]
    model = keras.Sequential(stack)
    path = files / "model.weights.h5"
    check = cv.check(model, path)
    assert check.raises is not None
    assert "Keras looks for layers/dense, and the file has layers\\dense" in str(check.details)
    with pytest.raises(ValueError, match="expected 2 variables, but received 0"):
        model.load_weights(path)
    check.fix().apply()
    assert np.array_equal(model.layers[0].kernel.numpy(), _values(files)["first/0"])
    cv.graph(path).write(files / "new.weights.h5")
    assert cv.check(model, files / "new.weights.h5").raises is None


@pytest.mark.parametrize("form", FORMS)
def test_copy_has_every_value_once_and_replaces_no_file(form: str, files: Path) -> None:
    graph, path = cv.graph(files / form), files / f"new_{form}"
    graph.write(path)
    copy = cv.graph(path)
    assert {key.replace("\\", "/") for key in graph.stored_in.entries} == {*copy.stored_in.entries}
    for key in graph.stored_in.entries:
        assert np.array_equal(graph.read(key), copy.read(key.replace("\\", "/")))
    assert not any("\\" in group for group in copy.stored_in.groups)
    with pytest.raises(CkptVizError, match="exists already"):
        graph.write(path)


def test_copy_of_an_edited_graph_or_of_another_kind_is_refused(files: Path) -> None:
    graph = cv.graph(files / "model.keras")
    for other, path in ((graph.without("optimizer"), "new.keras"), (graph, "new.weights.h5")):
        with pytest.raises(SourceError, match="the unedited graph of a file that ends so"):
            other.write(files / path)


def test_names_that_clash_are_refused(files: Path) -> None:
    shutil.copy(files / "model.weights.h5", files / "both.weights.h5")
    with h5py.File(files / "both.weights.h5", "r+") as file:
        file["layers/dense/vars/0"] = np.zeros(3, "f4")
    with pytest.raises(CkptVizError, match="two values have the path 'layers/dense/vars/0'"):
        cv.graph(files / "both.weights.h5").write(files / "new.weights.h5")
    assert not (files / "new.weights.h5").exists()

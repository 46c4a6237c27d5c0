"""Keras' own files as Keras 2.15, 3.3 and 3.9 wrote them: read, compared, checked and fixed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

import ckpt_viz as cv
from tests.data.old_versions.write_keras_files import FORMS, HERE, model, values

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
VERSIONS = ("tf2.15", "keras3.3", "keras3.9")


@pytest.fixture
def keras_3() -> ModuleType:
    return pytest.importorskip("keras")  # type: ignore[no-any-return]


@pytest.fixture(params=VERSIONS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with zipfile.ZipFile(HERE / request.param / "keras_files.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def _data_sets(path: Path) -> dict[str, Any]:
    """Return all data sets of a file by path, as h5py reads them."""
    arrays: dict[str, Any] = {}

    def add(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]

    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            path = Path(archive.extract("model.weights.h5", path.parent / "unpacked"))
    with h5py.File(path) as file:
        file.visititems(add)
    return arrays


def _built(keras: Any, units: int = 1) -> Any:
    built = model(keras) if units == 1 else _with_head(keras, units)
    built.compile(keras.optimizers.Adam(0.01), "mse")
    built.optimizer.build(built.trainable_variables)
    return built


def _with_head(keras: Any, units: int) -> Any:
    old = model(keras)
    return keras.Model(old.input, keras.layers.Dense(units, name="head")(old.layers[-2].output))


@pytest.mark.parametrize("name", FORMS)
def test_every_data_set_is_read_as_h5py_reads_it(written: Path, name: str) -> None:
    graph, expected = cv.graph(written / name), _data_sets(written / name)
    attributes = [value for node in graph.nodes for value in node.attributes]
    assert sorted(value.checkpoint_key for value in attributes) == sorted(expected)
    for key, array in expected.items():
        np.testing.assert_array_equal(graph.read(key), array)


def test_the_formats_of_a_version_differ_in_nothing(written: Path) -> None:
    for name in FORMS[1:]:
        diff = cv.diff(written / FORMS[0], written / name)
        # `.h5` has no metrics. States have names if the class is known, or the optimizer's name.
        graph = cv.graph(written / name)
        optimizer = graph.nodes[graph.node_id("optimizer")]
        has_names = optimizer.type_name is not None or optimizer.own_name is not None
        parts = {"(root).metrics", *([] if has_names else ["(root).optimizer"])}
        others = (part for part in (*diff.only_a, *diff.only_b) if not part.startswith((*parts,)))
        assert ([*others], diff.value) == ([], ())


def _version(written: Path) -> str:
    """Return the version of Keras that wrote the files."""
    with zipfile.ZipFile(written / "model.keras") as archive:
        version: str = json.loads(archive.read("metadata.json"))["keras_version"]
    return version


@pytest.mark.parametrize("name", FORMS)
def test_the_fix_gives_each_value_to_its_variable(
    written: Path, keras_3: ModuleType, name: str
) -> None:
    expected = np.load(written / "values.npz")
    new = _built(keras_3)
    cv.check(new, written / name).fix().apply()
    got = values(new)
    weights = {key for key in expected.files if not key.startswith("optimizer")}
    assert weights == {key for key in got if not key.startswith("optimizer")}
    # Weights alone of Keras 2 do not tell the class: Keras 3 has one variable more, so no order.
    is_untold = "weights" in name and _version(written).startswith("2.")
    for key in weights if is_untold else expected.files:
        np.testing.assert_array_equal(got[key], expected[key], err_msg=key)


@pytest.mark.parametrize("units", (1, 3))
@pytest.mark.parametrize("name", FORMS)
def test_the_check_says_what_this_version_of_keras_does(
    written: Path, keras_3: ModuleType, name: str, units: int
) -> None:
    new = _built(keras_3, units)
    check = cv.check(new, written / name)
    try:
        new.load_weights(written / name)
    except Exception as error:
        assert check.raises is not None
        assert type(error).__name__ == check.raises.type
        assert str(error).startswith(check.raises.message.split("\n")[0][:200])
    else:
        assert check.raises is None

"""Write one Keras model as TensorFlow.js' converter does, raw and quantized, with its values.

`models.zip` beside this script has the `.h5` of the model, a directory for each form, and
`values.npz` of each: what `tensorflowjs.read_weights` reads of it. The converter needs many
packages, so only its modules for layers models are imported:

    pip install --no-deps --target tfjs tensorflowjs==4.22.0
    PYTHONPATH=tfjs python tests/data/tfjs/write_tfjs.py
"""

from __future__ import annotations

import json
import sys
import types
import zipfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FORMS: dict[str, Any] = {"raw": None, **{name: {name: "*"} for name in ("uint8", "uint16")}}
FORMS["float16"] = {"float16": "*"}


def _without_init(name: str, path: Path) -> None:
    """Let modules of a package be imported without its `__init__`."""
    package = types.ModuleType(name)
    package.__path__ = [str(path)]
    sys.modules[name] = package


def _model(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((6,), name="words")
    x = layers.Embedding(9, 4, name="embed")(inputs)
    x = layers.Bidirectional(layers.LSTM(2), name="both_ways")(x)
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(3, name="deep")], name="inner")
    x = layers.BatchNormalization(name="norm")(inner(x))
    return keras.Model(inputs, layers.Dense(2, name="head")(x), name="net")


def _of_keras_3(directory: Path, conversion: Any) -> None:
    """Write the model as the converter does from a `.keras` of Keras 3."""
    keras = import_module("keras")
    target = directory / "keras3"
    target.mkdir()
    model = _model(keras)
    model.save(directory / "model.keras")
    with zipfile.ZipFile(directory / "model.keras") as archive:
        archive.extract("model.weights.h5", directory)
        words = [json.loads(archive.read(name)) for name in ("metadata.json", "config.json")]
    with import_module("h5py").File(directory / "model.weights.h5") as weights:
        topology, groups = conversion.h5_v3_merged_saved_model_to_tfjs_format(weights, *words)
        conversion.write_artifacts(topology, groups, str(target))
    (directory / "model.weights.h5").unlink()


def main() -> None:
    """Write `models.zip`."""
    spec = find_spec("tensorflowjs")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = Path(spec.submodule_search_locations[0])
    _without_init("tensorflowjs", package)
    _without_init("tensorflowjs.converters", package / "converters")
    conversion = import_module("tensorflowjs.converters.keras_h5_conversion")
    reading = import_module("tensorflowjs.read_weights")
    keras = import_module("tf_keras")
    keras.utils.set_random_seed(1)
    model = _model(keras)
    with TemporaryDirectory() as directory:
        model.compile("adam", "mse")
        model.save(f"{directory}/model.h5")
        for form, quantization in FORMS.items():
            target = Path(directory) / form
            target.mkdir()
            topology, groups = conversion.h5_merged_saved_model_to_tfjs_format(
                f"{directory}/model.h5"
            )
            conversion.write_artifacts(
                topology, groups, str(target), quantization, weight_shard_size_bytes=200
            )
            manifest = json.loads((target / "model.json").read_text("utf-8"))
            read = reading.read_weights(manifest["weightsManifest"], str(target), flatten=True)
            np.savez(target / "values.npz", **{entry["name"]: entry["data"] for entry in read})
        _of_keras_3(Path(directory), conversion)
        with zipfile.ZipFile(HERE / "models.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(directory).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(directory))


if __name__ == "__main__":
    main()

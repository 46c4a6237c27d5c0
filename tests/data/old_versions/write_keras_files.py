"""Write the files of one trained model as the installed Keras does, and the values that it has.

`keras_files.zip` in each directory beside this script holds `model.h5`, `model.keras` and
`model.weights.h5`, and `values.npz`: the weights by layer and place, and the optimizer's variables.
The versions are those of `write.py`:

    old/bin/python tests/data/old_versions/write_keras_files.py keras3.3
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
FORMS = ("model.h5", "model.keras", "model.weights.h5")


def model(keras: Any) -> Any:
    """Return a model with layers that versions of Keras store in different ways."""
    layers = keras.layers
    inputs = keras.Input((6,))
    x = layers.Embedding(5, 4, name="embed")(inputs)
    x = layers.Bidirectional(layers.LSTM(2, return_sequences=True), name="both_ways")(x)
    attended = layers.MultiHeadAttention(2, 2, name="attend")(x, x)
    x = layers.LayerNormalization(name="norm")(layers.Add(name="add")([x, attended]))
    x = layers.BatchNormalization(name="batch_norm")(layers.GRU(2, name="gru")(x))
    dense = [layers.Dense(3, name="wide"), layers.Dense(2, use_bias=False, name="narrow")]
    x = keras.Sequential([keras.Input((2,)), *dense], name="inner")(x)
    return keras.Model(inputs, layers.Dense(1, name="head")(x))


def values(trained: Any) -> dict[str, Any]:
    """Return the weights by layer and place, and the optimizer's variables that have a shape."""
    weights = {
        f"{layer.name}/{place}": weight.numpy()
        for layer in trained.layers
        for place, weight in enumerate(layer.weights)
    }
    every = [variable.numpy() for variable in trained.optimizer.variables]
    states = [value for value in every if value.shape]
    return weights | {f"optimizer/{place}": value for place, value in enumerate(states)}


def main() -> None:
    """Write `keras_files.zip` into the directory that the command names."""
    import keras
    import numpy as np

    trained = model(keras)
    trained.compile(keras.optimizers.Adam(0.01), "mse")
    trained.fit(np.arange(24).reshape(4, 6) % 5, np.ones((4, 1)), epochs=2, verbose=0)
    with TemporaryDirectory() as directory:
        for name in FORMS:
            save = trained.save_weights if "weights" in name else trained.save
            save(f"{directory}/{name}")
        np.savez(f"{directory}/values.npz", **values(trained))
        packed = HERE / sys.argv[1] / "keras_files.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in (*FORMS, "values.npz"):
                archive.write(f"{directory}/{name}", name)


if __name__ == "__main__":
    main()

r"""Write the files of a small trained model as Keras 2.15 does on Windows.

There `tf.io.gfile.join` takes `\`, so a group is called `layers\dense`. On other systems this
script gives it that rule, and changes nothing else. `windows_files.zip` beside this script holds
`model.keras`, `model.weights.h5` and `values.npz`, the weights by layer and place:

    old/bin/python tests/data/old_versions/write_windows_files.py tf2.15
"""

from __future__ import annotations

import ntpath
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write `windows_files.zip` into the directory that the command names."""
    import tensorflow as tf

    keras = tf.keras
    layers = keras.layers
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(3, name="deep")], name="inner")
    stack = [keras.Input((2,)), layers.Dense(3, name="first"), inner, layers.Dense(1, name="last")]
    model = keras.Sequential(stack)
    model.compile("adam", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    values = {
        f"{layer.name}/{place}": weight.numpy()
        for layer in model.layers
        for place, weight in enumerate(layer.weights)
    }
    with TemporaryDirectory() as directory:
        np.savez(f"{directory}/values.npz", **values)
        gfile = tf.compat.v2.io.gfile
        join, gfile.join = gfile.join, ntpath.join
        try:
            model.save_weights(f"{directory}/model.weights.h5")
            model.save(f"{directory}/model.keras")
        finally:
            gfile.join = join
        packed = HERE / sys.argv[1] / "windows_files.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in ("model.keras", "model.weights.h5", "values.npz"):
                archive.write(f"{directory}/{name}", name)


if __name__ == "__main__":
    main()

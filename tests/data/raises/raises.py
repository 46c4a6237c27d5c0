"""Prints what versions of Keras, h5py and Orbax raise, for `raises.json` beside it.

Each environment ran it once. `raises.json` has each text once, with the versions that raised it.
The script needs only what it imports:

    python raises.py keras|tensorflow|orbax [DIRECTORY]

With a directory, it also writes `.h5` files, which newer versions cannot load. Those beside it are
of TensorFlow 2.4.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

VERSIONS: dict[str, str] = {"python": sys.version.split()[0]}


def tell(entry: str, call: Callable[[], object]) -> None:
    """Print what a call raises: the versions, the entry of the page that explains it, the text."""
    try:
        call()
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        text = text.replace(HERE, "/tmp/here")[:600]
        print(json.dumps({"entry": entry, "versions": VERSIONS, "text": text}))


HERE = tempfile.mkdtemp()


def of_hdf5(keras: Any) -> None:
    import h5py

    layers, models = keras.layers, keras.models
    VERSIONS.update(keras=keras.__version__, h5py=h5py.__version__)

    def path(name: str) -> str:
        return os.path.join(HERE, name)

    def dense(use_bias: bool = True) -> Any:
        return models.Sequential([layers.Dense(3, input_shape=(2,), use_bias=use_bias, name="d")])

    class Twice(layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            for _ in range(2):
                self.add_weight(name="w", shape=(2,), initializer="zeros")
            self.built = True

        def call(self, inputs: Any) -> Any:
            return inputs

    def loss(a: Any, b: Any) -> Any:
        return a - b

    model = dense()
    model.save(path("model.h5"))
    model.save_weights(path("weights.h5"))
    model.compile("adam", loss)
    model.save(path("loss.h5"))
    with open(path("model.h5"), "rb") as whole, open(path("cut.h5"), "wb") as cut:
        cut.write(whole.read()[:3000])
    with open(path("page.h5"), "w") as page:
        page.write("<!DOCTYPE html>")
    with h5py.File(path("config.h5"), "w") as new, h5py.File(path("model.h5"), "r") as old:
        new.attrs["model_config"] = old.attrs["model_config"]
    conv = models.Sequential([layers.Conv2D(3, 1, input_shape=(4, 4, 2), name="d")])
    try:
        models.load_model(path("model.h5"))
    except AttributeError:
        tell("h5py-3", lambda: models.load_model(path("model.h5")))
        tell("h5py-3", lambda: dense().load_weights(path("weights.h5")))
    else:
        tell("weights-count", lambda: dense(use_bias=False).load_weights(path("weights.h5")))
        tell("weights-kernels", lambda: conv.load_weights(path("weights.h5")))
        tell("load-loss", lambda: models.load_model(path("loss.h5")))
        models.load_model(path("loss.h5"), compile=False)
        if sys.argv[1] == "tensorflow":
            tell("load-not-whole", lambda: models.load_model(path("config.h5")))
    tell("load-file", lambda: dense().load_weights(path("page.h5")))
    tell("load-file", lambda: models.load_model(path("cut.h5")))
    tell("load-file", lambda: dense().load_weights(path("none.h5")))
    twice = models.Sequential([Twice(input_shape=(2,))])
    tell("save-names", lambda: twice.save_weights(path("twice.h5")))
    if len(sys.argv) > 2:
        models.Sequential([layers.Lambda(lambda x: x * 2 + 1, input_shape=(2,))]).save(
            os.path.join(sys.argv[2], "lambda.h5")
        )
        inputs = keras.Input((4, 4, 2))
        base = keras.Model(inputs, layers.ReLU()(layers.Conv2D(2, 3)(inputs)), name="base")
        pool = layers.GlobalAveragePooling2D
        models.Sequential([base, pool(), layers.Dense(2)]).save(
            os.path.join(sys.argv[2], "nested.h5")
        )
        head = models.Sequential([layers.Dense(2, input_shape=(2,))])
        models.Sequential([models.Sequential([base, pool()]), head]).save(
            os.path.join(sys.argv[2], "nested_in_nested.h5")
        )


def of_orbax() -> None:
    import jax
    import jax.numpy as jnp
    import orbax.checkpoint as ocp

    VERSIONS.update(orbax=ocp.__version__, jax=jax.__version__)
    tree = {"dense": {"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}, "step": 5}
    where = os.path.join(HERE, "tree")
    checkpointer = ocp.StandardCheckpointer()
    checkpointer.save(where, tree)
    checkpointer.wait_until_finished()
    manager = ocp.CheckpointManager(os.path.join(HERE, "run"))
    manager.save(1, args=ocp.args.StandardSave(tree))
    manager.wait_until_finished()
    lost, bare = os.path.join(HERE, "lost"), os.path.join(HERE, "bare")
    shutil.copytree(where, lost)
    shutil.rmtree(os.path.join(lost, "d"))
    shutil.copytree(where, bare)
    os.remove(os.path.join(bare, "manifest.ocdbt"))
    head = {"head": tree["dense"], "step": 5}
    larger = {"dense": {"kernel": jnp.ones((4, 3)), "bias": jnp.zeros(3)}, "step": 5}
    restore = checkpointer.restore
    tell("orbax-tree", lambda: restore(where, head))
    tell("orbax-shape", lambda: restore(where, larger))
    tell("orbax-path", lambda: restore(os.path.join(HERE, "run", "1")))
    tell("orbax-path", lambda: restore(os.path.join(HERE, "none")))
    tell("orbax-path", lambda: restore("run"))
    tell("orbax-path", lambda: manager.restore(7, args=ocp.args.StandardRestore()))
    tell("orbax-path", lambda: ocp.CheckpointManager(os.path.join(HERE, "empty")).restore(None))
    tell("orbax-files", lambda: restore(lost))
    tell("orbax-files", lambda: restore(bare))
    tell("orbax-exists", lambda: checkpointer.save(where, tree))
    restore(where)
    restore(os.path.join(HERE, "run", "1", "default"))


def main() -> None:
    """Print all that one library raises."""
    if sys.argv[1] == "orbax":
        of_orbax()
        return
    library = importlib.import_module(sys.argv[1])
    if sys.argv[1] == "tensorflow":
        VERSIONS["tensorflow"] = library.__version__
        of_hdf5(library.keras)
    else:
        of_hdf5(library)


if __name__ == "__main__":
    main()

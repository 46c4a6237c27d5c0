"""Writes the samples of Orbax beside this file, and `orbax.json`: what is in them.

Orbax and JAX are no requirements of the tests. So run it in environments of their own, with the
packages that its argument needs:

    python -m venv new && new/bin/pip install keras tensorflow-cpu jax orbax-checkpoint
    KERAS_BACKEND=tensorflow new/bin/python tests/data/seeds/write_orbax.py keras
    KERAS_BACKEND=jax new/bin/python tests/data/seeds/write_orbax.py jax
    new/bin/python tests/data/seeds/write_orbax.py trees
    python -m venv old && old/bin/pip install orbax-checkpoint==0.5.20 "jax<0.8"
    old/bin/python tests/data/seeds/write_orbax.py old

The samples are of Keras 3.15.1 with Orbax 0.12.8, and of Orbax 0.5.20.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

DIRECTORY = Path(__file__).parent
FACTS = DIRECTORY / "orbax.json"


def _fresh(name: str) -> Path:
    shutil.rmtree(DIRECTORY / name, ignore_errors=True)
    return DIRECTORY / name


def _note(name: str, facts: Any) -> None:
    """Write down what a sample holds; delete of it what only marks the end of a save.

    The stores of single processes are joined by then; only that of `orbax_tree` has values.
    """
    for path in (DIRECTORY / name).rglob("commit_success.txt"):
        path.unlink()
    for path in (DIRECTORY / name).rglob("ocdbt.process_0"):
        if name != "orbax_tree":
            shutil.rmtree(path)
    known = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    known[name] = facts
    FACTS.write_text(json.dumps(dict(sorted(known.items()))) + "\n")


def _facts(value: Any) -> Any:
    array = np.asarray(value)
    numbers = (float(number) for number in array.ravel())
    whole_or_not = [int(number) if number.is_integer() else number for number in numbers]
    return [str(array.dtype), list(array.shape), whole_or_not]


# --- Keras


def _facts_of(model: Any) -> dict[str, Any]:
    """Return dtype, shape and values of each variable, by its kind and its path."""
    kinds = {
        "trainable": model.trainable_variables,
        "non_trainable": model.non_trainable_variables,
        "optimizer": model.optimizer.variables,
        "metrics": model.metrics_variables,
    }
    return {
        kind: {variable.path: _facts(variable.numpy()) for variable in variables}
        for kind, variables in kinds.items()
    }


def _save(name: str, model: Any, epochs: int = 1, **how: Any) -> None:
    import keras

    saver = keras.callbacks.OrbaxCheckpoint(str(_fresh(name)), **how)
    x = np.arange(8.0, dtype="float32").reshape(4, 2)
    model.fit(x, x[:, :1], epochs=epochs, verbose=0, callbacks=[saver])
    saver.wait_until_finished()
    _note(name, _facts_of(model))


def _functional() -> Any:
    """Return the model of the other seeds of Keras."""
    import keras

    keras.utils.set_random_seed(1)
    inputs = keras.Input((2,), name="x")
    normal = keras.layers.BatchNormalization(name="norm")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, name="head")(normal), name="net")
    model.compile(keras.optimizers.Adam(0.1), "mse")
    return model


def _subclassed() -> Any:
    import keras

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = keras.layers.Dense(2, name="first")
            self.inner = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(1)])

        def call(self, x: Any) -> Any:
            return self.inner(self.first(x))

    model = Net()
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    return model


def write_keras() -> None:
    _save("orbax_keras", _functional(), epochs=2, max_to_keep=2)
    _save("orbax_weights", _functional(), save_weights_only=True, save_on_background=False)


def write_jax() -> None:
    _save("orbax_jax", _subclassed())


# --- other programs


def _tree(rows: int = 3, columns: int = 2) -> dict[str, Any]:
    jnp = import_module("jax.numpy")
    kernel = (jnp.arange(1.0 * rows * columns) * 7919 % 1009).reshape(rows, columns)
    return {
        "params": {"dense": {"kernel": kernel, "bias": jnp.ones(2, jnp.bfloat16)}},
        "layers": [jnp.ones(2), jnp.zeros(3, jnp.int32)],
        "step": 7,
        "nothing": None,
    }


def _note_tree(name: str, tree: dict[str, Any]) -> None:
    dense = tree["params"]["dense"]
    leaves = {
        **{f"params.dense.{own}": value for own, value in dense.items()},
        **{f"layers.{i}": value for i, value in enumerate(tree["layers"])},
        "step": tree["step"],
    }
    _note(name, {leaf: _facts(value) for leaf, value in leaves.items()})


def write_trees() -> None:
    jax, ocp = import_module("jax"), import_module("orbax.checkpoint")
    checkpointer = ocp.StandardCheckpointer()
    large = _tree(30, 20)  # too many bytes for the tree of a store
    checkpointer.save(_fresh("orbax_tree"), large)
    checkpointer.wait_until_finished()
    _note_tree("orbax_tree", large)
    small_chunks = jax.tree.map(lambda _: ocp.SaveArgs(chunk_byte_size=24), _tree())
    handler = ocp.PyTreeCheckpointHandler(use_ocdbt=False, use_zarr3=True)
    arguments = ocp.args.PyTreeSave(_tree(5, 4), save_args=small_chunks)
    ocp.Checkpointer(handler).save(_fresh("orbax_files"), args=arguments)
    _note_tree("orbax_files", _tree(5, 4))


def write_old() -> None:
    ocp = import_module("orbax.checkpoint")
    manager = ocp.CheckpointManager(_fresh("orbax_old"))
    for step in (5, 10):
        manager.save(step, args=ocp.args.StandardSave({**_tree(), "step": step}))
    manager.wait_until_finished()
    _note_tree("orbax_old", {**_tree(), "step": 10})


WRITERS: dict[str, Callable[[], None]] = {
    "keras": write_keras,
    "jax": write_jax,
    "trees": write_trees,
    "old": write_old,
}

if __name__ == "__main__":
    WRITERS[sys.argv[1]]()

"""How each kind of file is written, loaded, checked and read; TensorFlow and Keras do all of it."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.journeys.journeys import BY_NAMES, CHECKPOINTS
from tests.journeys.truth import addresses
from tests.programs.keras_making import Key, Made, inner_optimizer
from tests.programs.keras_programs import Program
from tests.support.keras_files import read_file

SAVE_COUNTER: Key = ("save_counter",)
OPTIMIZER = "optimizer"
ITERATIONS: Key = (OPTIMIZER, "iterations")
LEARNING_RATE: Key = (OPTIMIZER, "learning_rate")
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def save(made: Made, program: Program, file: str, directory: Path, number: int) -> str:
    """Save a program as people do with this kind of file; return the path to restore."""
    import tensorflow as tf

    if file == "manager":
        return str(_manager(made, directory).save())
    if file in CHECKPOINTS:
        return str(made.checkpoint.save(str(directory / "ckpt")))
    if file in BY_NAMES:
        saver = tf.compat.v1.train.Saver(named(made, program))
        return str(saver.save(None, str(directory / "model"), global_step=number))
    path = directory / f"epoch-{number}{file}"
    if file == ".keras" or (file == ".h5" and program.library == "keras"):
        made.model.save(path)
    else:
        made.model.save_weights(path)
    return str(path)


def _manager(made: Made, directory: Path) -> Any:
    import tensorflow as tf

    return tf.train.CheckpointManager(made.checkpoint, str(directory), max_to_keep=5)


def subject(made: Made, program: Program, file: str) -> Any:
    """Return what is checked: the checkpoint, the model, the Saver or the assignment map."""
    import tensorflow as tf

    if file in CHECKPOINTS:
        return made.checkpoint
    if file == "saver":
        return tf.compat.v1.train.Saver(named(made, program))
    return named(made, program) if file in BY_NAMES else made.model


def load(made: Made, program: Program, file: str, path: str) -> None:
    """Make the plain call, which a check is about."""
    import tensorflow as tf

    live = subject(made, program, file)
    if file in CHECKPOINTS:
        live.restore(path).expect_partial()
    elif file == "saver":
        live.restore(None, path)
    elif file in BY_NAMES:
        tf.compat.v1.train.init_from_checkpoint(path, live)
    else:
        live.load_weights(path)


def named(made: Made, program: Program) -> dict[str, Any]:
    """Return the variables by names that the program gives them."""
    paths = addresses(program)
    return {
        "/".join([*paths[role].path, own]): variable
        for (role, own), variable in made.variables.items()
    }


def variables(made: Made) -> dict[Key, Any]:
    """Return everything with a value in a program: also what optimizers and checkpoints count."""
    found = {**made.variables, **_state(made)}
    counter = made.checkpoint._save_counter
    return found if counter is None else {**found, SAVE_COUNTER: counter}


def _state(made: Made) -> dict[Key, Any]:
    if made.optimizer is None:
        return {}
    inner = inner_optimizer(made.optimizer)
    found = {ITERATIONS: inner.iterations}
    if hasattr(inner._learning_rate, "assign"):
        found[LEARNING_RATE] = inner._learning_rate
    known = {id(one) for one in (*made.variables.values(), *found.values())}
    for holder in {id(one): one for one in (made.optimizer, inner)}.values():
        owned = holder.variables
        for number, variable in enumerate(owned if isinstance(owned, list) else owned()):
            if id(variable) not in known:
                known.add(id(variable))
                found[OPTIMIZER, f"{type(holder).__name__} {number}"] = variable
    return found


def values(made: Made) -> dict[Key, Any]:
    """Return the values of everything in a program."""
    return {key: np.array(variable.numpy()) for key, variable in variables(made).items()}


def content(path: str, file: str) -> Mapping[str, Any]:
    """Return all values of a file by their keys."""
    import tensorflow as tf

    if file in (*CHECKPOINTS, *BY_NAMES):
        reader = tf.train.load_checkpoint(path)
        keys = reader.get_variable_to_shape_map()
        return {key: reader.get_tensor(key) for key in sorted(keys) if key != _OBJECT_GRAPH}
    if file != ".keras":
        return read_file(Path(path))[0]
    with tempfile.TemporaryDirectory() as directory, zipfile.ZipFile(path) as archive:
        return read_file(Path(archive.extract("model.weights.h5", directory)))[0]

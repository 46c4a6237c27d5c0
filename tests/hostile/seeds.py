"""The good files from which fuzzing starts, as TensorFlow wrote them: `tests/data/seeds/`.

`python -m tests.hostile.seeds` wrote them, with TensorFlow 2.21, Keras 3.15 and tf_keras 2.21, and
writes them again; nothing else here needs TensorFlow.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ckpt_viz.formats.storage.sstable import read_table
from tests.support.tables import table

DIRECTORY = Path(__file__).parents[1] / "data" / "seeds"
# What to open in the directory of that name.
_PATHS = {
    "adam": "ckpt-1",  # Keras 3: only names and order show the slots
    "compressed": "ckpt-1",  # the same, its index compressed with Snappy
    "compressed_v1": "model",  # as TensorFlow up to 1.1 wrote the V1 format
    "declared_slots": "ckpt",  # Keras 2's legacy Adam
    "keras_archive": "model.keras",  # Keras 3, as all that is not called keras_2
    "keras_h5": "model.h5",
    "keras_run": "",  # what ModelCheckpoint leaves behind
    "keras_shards": "model.weights.json",
    "keras_weights": "model.weights.h5",
    "keras_2_archive": "model.keras",  # tf_keras
    "keras_2_h5": "model.h5",
    "keras_2_weights": "model.weights.h5",
    "name_based": "model",  # tf.compat.v1.train.Saver, with its MetaGraph
    "name_based_v1": "model",  # the same in the format of before TensorFlow 0.12
    "partitioned": "model",  # slices
    "saved_model": "",  # tf_keras, with keras_metadata.pb
    "several_shards": "ckpt",
    "state": "",  # a directory with a `checkpoint` file
    "values": "ckpt",  # strings, and two tensors to an attribute
}
# Written by `write_orbax.py` in that directory, with packages that the tests do not need.
_PATHS_OF_ORBAX = {
    "orbax_files": "",  # a directory for each array
    "orbax_jax": "",  # Keras on JAX, a subclassed model
    "orbax_keras": "",  # two steps of OrbaxCheckpoint
    "orbax_tree": "",  # of a program without Keras
}
_ALL_PATHS = _PATHS | _PATHS_OF_ORBAX
HEALTHY = "adam"


class Seed(NamedTuple):
    """A directory's files by name, which path in it to open, and the seed to compare that with."""

    files: dict[str, bytes]
    opened: str
    healthy: str = HEALTHY

    @property
    def compared_with(self) -> str:
        """The path of the checkpoint to compare it with, as TensorFlow wrote that."""
        return str(DIRECTORY / self.healthy / _ALL_PATHS[self.healthy])


@cache
def seeds() -> dict[str, Seed]:
    return {name: _seed(DIRECTORY / name, opened) for name, opened in _ALL_PATHS.items()}


def _seed(directory: Path, opened: str) -> Seed:
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    if not paths:
        raise FileNotFoundError(f"{directory}: has no files; run python -m tests.hostile.seeds")
    return Seed({str(path.relative_to(directory)): path.read_bytes() for path in paths}, opened)


def _write_all(directory: Path) -> None:
    from tests.support import live_objects

    for name in _PATHS:
        shutil.rmtree(directory / name, ignore_errors=True)
        (directory / name).mkdir(parents=True)
    _write_adam(directory / "adam" / "ckpt-1")
    live_objects.keras2_with_legacy_adam().write(str(directory / "declared_slots" / "ckpt"))
    _write_values(directory / "values" / "ckpt")
    _write_saved_model(directory / "saved_model")
    _write_shards(directory / "several_shards" / "ckpt")
    _write_state(directory / "state")
    _write_name_based(directory / "name_based" / "model", v1=False)
    _write_name_based(directory / "name_based_v1" / "model", v1=True)
    _write_partitioned(directory / "partitioned" / "model")
    _write_keras(directory)
    _compress(directory / "adam", directory / "compressed", "ckpt-1.index")
    _compress(directory / "name_based_v1", directory / "compressed_v1", "model")


def _compress(source: Path, target: Path, name: str) -> None:
    """Copy files, a table of them with compressed blocks: no TensorFlow of today writes those."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    rows = read_table((source / name).read_bytes(), name)
    (target / name).write_bytes(table(rows, rows_per_block=8, snappy=True))


def _write_adam(prefix: Path) -> None:
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(str(prefix))


def _write_keras(directory: Path) -> None:
    import keras
    import tf_keras

    for library, name in ((keras, "keras"), (tf_keras, "keras_2")):
        model = _trained(library)
        model.save(directory / f"{name}_archive" / "model.keras")
        model.save(directory / f"{name}_h5" / "model.h5")
        model.save_weights(directory / f"{name}_weights" / "model.weights.h5")
    shards = directory / "keras_shards" / "model.weights.json"
    _trained(keras).save_weights(shards, max_shard_size=1e-7)
    saver = keras.callbacks.ModelCheckpoint(
        str(directory / "keras_run" / "m.{epoch:02d}-{loss:.2f}.weights.h5"),
        save_weights_only=True,
    )
    _trained(keras, epochs=3, callbacks=[saver])


def _trained(library: Any, **how: Any) -> Any:
    """Return a model after a training of Keras 3 or of tf_keras."""
    import numpy as np

    library.utils.set_random_seed(1)
    layers = library.layers
    inputs = library.Input((2,), name="x")
    normal = layers.BatchNormalization(name="norm")(inputs)
    model = library.Model(inputs, layers.Dense(1, name="head")(normal), name="net")
    model.compile(library.optimizers.Adam(0.1), "mse")
    x = np.arange(8.0, dtype="float32").reshape(4, 2)
    model.fit(x, x[:, :1], verbose=0, **how)
    return model


def _write_values(prefix: Path) -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    names = tf.Variable(["a", "", "long" * 50])
    tf.train.Checkpoint(table=table, names=names, data={"x/y.z": tf.Variable(1 + 2j)}).write(
        str(prefix)
    )


def _write_saved_model(directory: Path) -> None:
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf_keras.optimizers.SGD(momentum=0.9), "mse")
    model.save(directory, save_format="tf", save_traces=False)
    for path in (directory / "fingerprint.pb", directory / "assets"):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    _drop_functions(directory / "saved_model.pb")


def _drop_functions(path: Path) -> None:
    """Take the program, which nothing here reads, out of a SavedModel: it is most of the file."""
    from tensorflow.core.protobuf import saved_model_pb2

    proto = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for meta_graph in proto.meta_graphs:
        meta_graph.graph_def.Clear()
        meta_graph.meta_info_def.Clear()
        meta_graph.object_graph_def.concrete_functions.clear()
    path.write_bytes(proto.SerializeToString(deterministic=True))


def _write_shards(prefix: Path) -> None:
    import tensorflow as tf

    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=600)
    variables = {letter: tf.Variable(tf.ones([100])) for letter in "abc"}
    tf.train.Checkpoint(**variables).write(
        str(prefix), tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    )


def _write_state(directory: Path) -> None:
    import tensorflow as tf

    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(a=tf.Variable(1), b=[tf.Variable([1.0, 2.0])]), str(directory), 2
    )
    for _ in range(2):
        manager.save()


def _write_name_based(prefix: Path, *, v1: bool) -> None:
    import tensorflow as tf

    v1_api: Any = tf.compat.v1
    with tf.Graph().as_default(), v1_api.Session() as session:
        kernel = v1_api.get_variable("dense/kernel", [2, 2], use_resource=False)
        v1_api.get_variable("dense/name", initializer=tf.constant(["a", "bc"]), trainable=False)
        v1_api.train.AdamOptimizer().minimize(tf.reduce_sum(kernel), var_list=[kernel])
        session.run(v1_api.global_variables_initializer())
        version = v1_api.train.SaverDef.V1 if v1 else v1_api.train.SaverDef.V2
        saver = v1_api.train.Saver(write_version=version)
        saver.save(session, str(prefix), write_state=False, write_meta_graph=not v1)


def _write_partitioned(prefix: Path) -> None:
    import tensorflow as tf

    v1_api: Any = tf.compat.v1
    with tf.Graph().as_default(), v1_api.Session() as session:
        with v1_api.variable_scope("scope", partitioner=v1_api.fixed_size_partitioner(2)):
            v1_api.get_variable("w", [3, 2], use_resource=False)
        session.run(v1_api.global_variables_initializer())
        v1_api.train.Saver().save(session, str(prefix), write_state=False)


if __name__ == "__main__":
    _write_all(DIRECTORY)

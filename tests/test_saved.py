"""Saved checkpoints: the content that is read, with TensorFlow's own reader as the oracle."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import FormatError, NoSuchTensorError, Role, SourceError
from tests.support import live_objects

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("ckpts")
    return str(live_objects.containers().write(str(directory / "ckpt-1")))


@pytest.fixture(scope="module")
def keras2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the prefix of a checkpoint with declared slots."""
    directory = tmp_path_factory.mktemp("keras2")
    return str(live_objects.keras2_with_legacy_adam().write(str(directory / "ckpt")))


def test_reading_imports_neither_tensorflow_nor_jupyter(prefix: str) -> None:
    program = (
        "import sys, ckpt_viz as cv; graph = cv.graph(sys.argv[1]); print(graph); "
        "graph.read('(root).shared'); "
        "sys.exit(not {'tensorflow', 'keras', 'IPython', 'ipywidgets'}.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program, prefix], check=True, capture_output=True)


def test_path_objects_are_paths_too(prefix: str) -> None:
    assert cv.graph(Path(prefix)) == cv.graph(prefix)


def test_every_value_is_read_as_tensorflow_reads_it(prefix: str, keras2: str) -> None:
    import tensorflow as tf

    for path in (prefix, keras2):
        graph, reader = cv.graph(path), tf.train.load_checkpoint(path)
        read = 0
        for node_id, node in enumerate(graph.nodes):
            for attribute in node.attributes:
                expected = reader.get_tensor(attribute.checkpoint_key)
                np.testing.assert_array_equal(graph.read(attribute.checkpoint_key), expected)
                np.testing.assert_array_equal(graph.read(graph.name(node_id)), expected)
                read += 1
        assert read == len(reader.get_variable_to_shape_map()) - 1  # the object graph


def test_value_stored_in_several_tensors_is_read_by_the_key_of_each(tmp_path: Path) -> None:
    path = live_objects.values_that_are_no_variables().write(str(tmp_path / "ckpt"))
    graph = cv.graph(path)
    assert graph.read("table/.ATTRIBUTES/table-keys").tolist() == [b"a"]
    with pytest.raises(NoSuchTensorError, match=r"is stored as table/\.ATTRIBUTES/table-keys and"):
        graph.read("(root).table")


def test_unknown_name_is_answered_with_close_ones(prefix: str) -> None:
    with pytest.raises(NoSuchTensorError, match=r"did you mean \(root\)\.shared"):
        cv.graph(prefix).read("(root).share")


def test_saved_checkpoint_has_no_live_objects(prefix: str) -> None:
    graph = cv.graph(prefix)
    assert graph.object(0) is None
    with pytest.raises(SourceError, match="has no live objects"):
        graph.accessor(0)


def test_empty_base_name_is_a_checkpoint(tmp_path: Path) -> None:
    path = f"{tmp_path}/published/"
    live_objects.containers().write(path)
    assert (tmp_path / "published" / ".index").exists()
    for given in (path, path.rstrip("/"), Path(path)):
        graph = cv.graph(given)
        assert graph.read("(root).shared") == 1.0


def test_names_beyond_ascii(tmp_path: Path) -> None:
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(**{"größe/名前": tf.Variable(7)})
    path = checkpoint.write(str(tmp_path / "ключ-1"))
    assert cv.graph(path).read("(root).größe/名前") == 7


def test_several_shards_and_slices_are_one_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    source = live_objects.distributed_variables()
    path = source.write(str(tmp_path / "ckpt"))
    graph = cv.graph(path)
    node = next(n for i, n in enumerate(graph.nodes) if graph.name(i) == "(root).sharded")
    (attribute,) = node.attributes
    assert [(s.start, s.shape) for s in attribute.slices] == [((0, 0), (1, 2)), ((1, 0), (2, 2))]
    expected = tf.train.load_checkpoint(path).get_tensor(attribute.checkpoint_key)
    assert graph.read("(root).sharded").tolist() == expected.tolist() == [[1, 2], [3, 4], [5, 6]]


# --- copies that are not whole


def _copy(prefix: str, to: Path, data_bytes: int | None) -> str:
    """Copy a checkpoint, with so many bytes of its shard, or without the shard."""
    shutil.copy(f"{prefix}.index", to / "copy.index")
    if data_bytes is not None:
        data = Path(f"{prefix}.data-00000-of-00001").read_bytes()
        (to / "copy.data-00000-of-00001").write_bytes(data[:data_bytes])
    return str(to / "copy")


@pytest.mark.parametrize("source", ["prefix", "keras2"])
def test_index_alone_shows_the_tree_of_its_keys(
    source: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    whole = cv.graph(request.getfixturevalue(source))
    graph = cv.graph(_copy(request.getfixturevalue(source), tmp_path, None))
    assert "copy.data-00000-of-00001: no such file" in str(graph.nodes[0].error)
    expected = {
        a.checkpoint_key: (n.role, n.slot and n.slot.name, a.dtype, a.shape)
        for n in whole.nodes
        for a in n.attributes
    }
    found = {
        a.checkpoint_key: (n.role, n.slot and n.slot.name, a.dtype, a.shape)
        for n in graph.nodes
        for a in n.attributes
    }
    assert found == expected
    values = [a for n in graph.nodes for a in n.attributes]
    assert all("no such file" in str(a.error) for a in values)
    with pytest.raises(FormatError, match="no such file"):
        graph.read(values[0].checkpoint_key)


def test_value_cut_off_is_marked_and_the_others_read(tmp_path: Path) -> None:
    import tensorflow as tf

    checkpoint = tf.train.Checkpoint(a=tf.Variable([1.0] * 10), z=tf.Variable([2.0] * 10))
    graph = cv.graph(_copy(checkpoint.write(str(tmp_path / "whole")), tmp_path, 79))
    errors = {a.checkpoint_key: a.error for n in graph.nodes for a in n.attributes}
    assert errors["a/.ATTRIBUTES/VARIABLE_VALUE"] is None
    assert "has 79 bytes, expected" in str(errors["z/.ATTRIBUTES/VARIABLE_VALUE"])
    assert graph.read("(root).a").tolist() == [1.0] * 10


def test_shard_that_is_missing_marks_its_values_alone(tmp_path: Path) -> None:
    import tensorflow as tf

    if not hasattr(tf.train.experimental, "MaxShardSizePolicy"):
        pytest.skip("this TensorFlow writes one shard")
    policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=2000)
    checkpoint = tf.train.Checkpoint(**{c: tf.Variable(tf.ones([400])) for c in "abcdef"})
    prefix = checkpoint.write(
        str(tmp_path / "ckpt"), tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    )
    whole = cv.graph(prefix)
    shards = sorted(tmp_path.glob("ckpt.data-*"))
    assert len(shards) > 2
    kept_all = {a.checkpoint_key: a.error for n in whole.nodes for a in n.attributes}
    assert set(kept_all.values()) == {None}
    for shard in shards:
        data = shard.read_bytes()
        shard.unlink()
        graph = cv.graph(prefix)
        if graph.nodes[0].error is None:  # it is not the shard with the object graph
            assert graph.edges_to == whole.edges_to
            errors = [a.error for n in graph.nodes for a in n.attributes]
            assert any(errors) and not all(errors)
            assert all(shard.name in error for error in errors if error)
        shard.write_bytes(data)


def test_damaged_value_is_found_by_its_checksum(prefix: str, tmp_path: Path) -> None:
    copy = _copy(prefix, tmp_path, 1 << 20)
    shard = tmp_path / "copy.data-00000-of-00001"
    whole = cv.graph(copy)
    for node in whole.nodes:
        for attribute in node.attributes:
            assert attribute.error is None
    data = shard.read_bytes()
    value = whole.read("(root).shared").tobytes()
    at = data.index(value)
    shard.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
    assert len(cv.graph(copy).nodes) == len(whole.nodes)  # values are not read to show it
    with pytest.raises(FormatError, match=r"masked crc32c is 0x.*, the index says 0x"):
        cv.graph(copy).read("(root).shared")


def test_truncated_index_is_named(prefix: str, tmp_path: Path) -> None:
    whole = Path(f"{prefix}.index").read_bytes()
    for kept in (0, 1, 100, -1, -48):
        (tmp_path / "cut.index").write_bytes(whole[:kept])
        with pytest.raises(FormatError, match=r"cut\.index: .*expected"):
            cv.graph(tmp_path / "cut")


# --- remote paths


def test_remote_checkpoint_is_read_in_ranges(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(prefix + ".index", "/run/ckpt-1.index")
    memory.put(prefix + ".data-00000-of-00001", "/run/ckpt-1.data-00000-of-00001")
    try:
        local = cv.graph(prefix)
        for path in ("memory://run/ckpt-1", "memory://run", "memory://run/ckpt-1.index"):
            remote = cv.graph(path)
            assert remote.nodes == local.nodes
        assert remote.read("(root).shared") == local.read("(root).shared")
        with pytest.raises(cv.CheckpointNotFoundError, match="did you mean memory://run/ckpt-1"):
            cv.graph("memory://run/ckpt-x")
    finally:
        memory.rm("/run", recursive=True)


# --- types from a SavedModel


def _saved_models(directory: Path) -> dict[str, Any]:
    import tensorflow as tf
    import tf_keras

    keras2 = tf_keras.Sequential(
        [tf_keras.layers.Dense(2, input_shape=(3,)), tf_keras.layers.BatchNormalization()]
    )
    keras2.compile("adam", "mse", metrics=["mae"])
    keras2.fit(tf.ones([2, 3]), tf.ones([2, 2]), verbose=0)
    keras2.save(directory / "keras2", save_format="tf")
    legacy = tf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(3,))])
    legacy.compile(tf_keras.optimizers.legacy.Adam(), "mse")
    legacy.fit(tf.ones([2, 3]), tf.ones([2, 2]), verbose=0)
    legacy.save(directory / "legacy", save_format="tf")
    tf.saved_model.save(live_objects.containers().module, str(directory / "module"))
    models = {"keras2": keras2, "legacy": legacy}
    if not hasattr(tf.keras, "__internal__"):  # that of Keras 2, in TensorFlow 2.15
        keras3 = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
        keras3.export(str(directory / "keras3"))
        tf.saved_model.save(keras3, str(directory / "keras3_saved"))
    return models


@pytest.fixture(scope="module")
def saved_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("saved_models")
    _saved_models(directory)
    return directory


def test_types_of_a_saved_model_are_joined_by_node_id(saved_models: Path) -> None:
    for path in saved_models.iterdir():
        graph = cv.graph(path)
        assert graph.provenance is not None
        assert graph.provenance.format is cv.Format.SAVED_MODEL
        assert "without types" not in graph.provenance.resolved, path
        bare = cv.graph(path / "variables" / "variables.index")
        assert bare.nodes == graph.nodes  # found from the files' own place, too


def test_keras_2_saved_model_tells_classes_and_configurations(saved_models: Path) -> None:
    graph = cv.graph(saved_models / "keras2")
    by_name = {graph.name(i): node for i, node in enumerate(graph.nodes)}
    root, dense = by_name["(root)"], by_name["(root).layer_with_weights-0"]
    assert (root.role, root.type_name) == (Role.LAYER, "Sequential")
    assert (dense.role, dense.type_name) == (Role.LAYER, "Dense")
    assert '"units": 2' in str(dense.config)
    assert by_name["(root).optimizer"].role is Role.OPTIMIZER
    assert by_name["(root).layer_with_weights-0.variables"].role is Role.CONTAINER
    assert by_name["(root).keras_api.metrics.0"].type_name == "Mean"
    assert by_name["(root).layer_with_weights-1.moving_mean"].trainable is False
    assert by_name["(root).layer_with_weights-1.gamma"].trainable is True


def test_slots_of_saved_models_are_found(saved_models: Path) -> None:
    for name in ("keras2", "legacy"):
        graph = cv.graph(saved_models / name)
        slots = [
            (graph.path(n.slot.variable), n.slot.name) for n in graph.nodes if n.slot is not None
        ]
        layers = 1 if name == "legacy" else 2
        assert sorted({slot for _, slot in slots}) == ["m", "v"]
        assert len(slots) == len(set(slots)) == 2 * 2 * layers


def test_saved_model_of_another_checkpoint_gives_no_types(
    saved_models: Path, tmp_path: Path
) -> None:
    shutil.copytree(saved_models / "module", tmp_path / "mixed")
    shutil.copy(saved_models / "legacy" / "saved_model.pb", tmp_path / "mixed")
    graph = cv.graph(tmp_path / "mixed")
    assert graph.provenance is not None
    assert "does not describe the objects of this graph" in graph.provenance.resolved
    assert {node.type_name for node in graph.nodes} == {None}


@pytest.mark.parametrize("damage", ["", "cut", "noise"])
def test_damaged_saved_model_still_shows_its_checkpoint(
    saved_models: Path, tmp_path: Path, damage: str
) -> None:
    shutil.copytree(saved_models / "keras2", tmp_path / "model")
    path = tmp_path / "model" / "saved_model.pb"
    whole = path.read_bytes()
    path.write_bytes({"": b"", "cut": whole[:-100], "noise": b"\xff" * 100}[damage])
    graph = cv.graph(tmp_path / "model")
    assert graph.provenance is not None and "without types" in graph.provenance.resolved
    assert len(graph.nodes) > 50

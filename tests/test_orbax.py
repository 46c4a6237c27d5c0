"""Orbax checkpoints as graphs: what Orbax and Keras have written, and stores that are made here.

`orbax.json` has the paths, dtypes, shapes and values of the saved variables, from the live objects.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz import FormatError, UnsupportedError
from ckpt_viz.cli import main
from ckpt_viz.entrances.server.graphs import look_at, read_page
from ckpt_viz.entrances.server.messages import Asked
from ckpt_viz.errors import OutsideError
from ckpt_viz.formats.orbax.ocdbt import Ocdbt, open_ocdbt
from ckpt_viz.formats.orbax.zarr import zarr_array
from ckpt_viz.formats.storage.unpacking import Allowance
from tests.hostile.use import use
from tests.support import ocdbt
from tests.support.keras_models import MODELS, library

SEEDS = Path(__file__).parent / "data" / "seeds"
FACTS = json.loads((SEEDS / "orbax.json").read_text())
OF_KERAS = ("orbax_jax", "orbax_keras", "orbax_weights")
OF_OTHERS = ("orbax_files", "orbax_old", "orbax_tree")


def assert_has(graph: cv.ObjectGraph, key: str, fact: Any, dtype: str | None = None) -> None:
    """Assert that a graph has the dtype, the shape and the value of a variable under a key."""
    (node,) = (n for n in graph.nodes if n.attributes and n.attributes[0].checkpoint_key == key)
    (attribute,) = node.attributes
    assert (attribute.dtype, attribute.shape, attribute.error) == (
        dtype or fact[0],
        tuple(fact[1]),
        None,
    )
    value = graph.read(key)
    assert value.dtype.name == attribute.dtype
    np.testing.assert_array_equal(value.astype("float64").ravel(), np.array(fact[2]))


# --- what Orbax has written


@pytest.mark.parametrize("sample", OF_KERAS)
def test_each_variable_of_a_keras_model_has_its_dtype_shape_and_value(sample: str) -> None:
    graph = cv.graph(SEEDS / sample)
    assert graph.provenance is not None and graph.provenance.format is cv.Format.KERAS_ORBAX
    kinds = ["trainable", "non_trainable"]
    kinds += ["optimizer", "metrics"] if sample != "orbax_weights" else []
    variables = {
        f"{kind}_variables.{path.replace('/', '.')}": fact
        for kind in kinds
        for path, fact in FACTS[sample][kind].items()
    }
    assert {a.checkpoint_key for node in graph.nodes for a in node.attributes} == variables.keys()
    for key, fact in variables.items():
        assert_has(graph, key, fact)


@pytest.mark.parametrize("sample", OF_OTHERS)
def test_each_leaf_of_another_tree_has_its_dtype_shape_and_value(sample: str) -> None:
    graph = cv.graph(SEEDS / sample)
    assert graph.provenance is not None and graph.provenance.format is cv.Format.ORBAX
    for key, fact in FACTS[sample].items():
        assert_has(graph, key, fact)
    assert graph.node_id("params.dense.kernel") is not None
    inner = {graph.nodes[i].role for i, node in enumerate(graph.nodes) if node.children}
    assert inner == {cv.Role.CONTAINER}


@pytest.mark.parametrize("sample", ("orbax_jax", "orbax_keras"))
def test_state_of_an_optimizer_is_that_of_its_variables(sample: str) -> None:
    graph = cv.graph(SEEDS / sample)
    of_variable = {path.replace("/", "_"): path for path in FACTS[sample]["trainable"]}
    slots = {
        graph.nodes[i].attributes[0].checkpoint_key: node.slot
        for i, node in enumerate(graph.nodes)
        if node.slot is not None
    }
    states = [p.partition("/")[2] for p in FACTS[sample]["optimizer"]]
    expected = {name for name in states if name not in ("iteration", "learning_rate")}
    assert len(slots) == len(expected) > 0
    for key, slot in slots.items():
        name = key.rpartition(".")[2]
        variable = of_variable[name.removesuffix(f"_{slot.name}")]
        key_of_variable = graph.nodes[slot.variable].attributes[0].checkpoint_key
        assert key_of_variable == f"trainable_variables.{variable.replace('/', '.')}"


def test_a_configuration_tells_classes_facts_calls_and_the_order_of_layers() -> None:
    graph = cv.graph(SEEDS / "orbax_keras")
    layers = [
        (child.local_name, graph.nodes[child.node_id].type_name)
        for child in graph.nodes[0].children
    ]
    assert layers[:3] == [("x", "InputLayer"), ("norm", "BatchNormalization"), ("head", "Dense")]
    norm = graph.nodes[graph.node_id("norm")]
    names = [child.local_name for child in norm.children]
    assert names == ["gamma", "beta", "moving_mean", "moving_variance"]
    head = graph.nodes[graph.node_id("head")].facts
    assert head is not None and ("units", "1") in head.stated
    assert len(graph.calls) >= 2
    assert graph.nodes[graph.node_id("optimizer")].type_name == "Adam"


def test_a_subclassed_model_has_no_layer_for_itself() -> None:
    graph = cv.graph(SEEDS / "orbax_jax")
    names = [child.local_name for child in graph.nodes[0].children]
    assert names == ["first", "sequential", "optimizer", "metrics"]
    assert graph.nodes[0].type_name == "Net"


@pytest.mark.parametrize(
    "other", ("keras_weights/model.weights.h5", "keras_h5/model.h5", "keras_archive/model.keras")
)
def test_other_files_of_the_same_model_differ_in_the_metrics_alone(other: str) -> None:
    diff = cv.diff(SEEDS / "orbax_keras", SEEDS / other)
    lines = [line.strip() for line in str(diff.details).splitlines()]
    assert any("only in a  metrics" in line for line in lines)
    assert lines[-1].startswith("differs: 2 values only in a;")


def test_two_steps_differ_in_their_values() -> None:
    run = SEEDS / "orbax_keras"
    diff = cv.diff(run / "0", run / "1", values=True, progress=False)
    changed = FACTS["orbax_keras"]["trainable"]
    assert not diff.is_empty and diff.values is not None
    assert "head.kernel" in str(diff) and len(changed) == 4


# --- where it is


def test_a_directory_of_steps_means_the_latest() -> None:
    run = SEEDS / "orbax_old"
    graph = cv.graph(run)
    assert graph.provenance is not None
    assert graph.provenance.prefix == str(run / "10")
    assert (
        graph.provenance.resolved
        == f"{run / '10'} is the latest of 2 steps that Orbax has saved in {run}"
    )
    assert [Path(kept.prefix).name for kept in graph.provenance.kept] == ["5", "10"]


@pytest.mark.parametrize(
    "path",
    ("0", "0/pytree", "0/pytree/_METADATA", "0/_CHECKPOINT_METADATA", "0/pytree/manifest.ocdbt"),
)
def test_a_step_its_tree_and_its_files_mean_the_step(path: str) -> None:
    graph = cv.graph(SEEDS / "orbax_keras" / path)
    assert graph.provenance is not None
    assert graph.provenance.prefix == str(SEEDS / "orbax_keras" / "0")
    assert graph.provenance.format is cv.Format.KERAS_ORBAX


def test_a_history_has_the_steps_by_the_counter_of_the_optimizer() -> None:
    history = cv.history(SEEDS / "orbax_keras", progress=False)
    assert [checkpoint.title for checkpoint in history.sources] == ["0", "1"]
    assert "by the step variable" in str(history)
    assert [checkpoint.step for checkpoint in history.sources] == [1, 2]


def test_files_of_keras_beside_the_steps_are_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SEEDS / "orbax_weights", run)
    shutil.copy(SEEDS / "keras_weights" / "model.weights.h5", run)
    graph = cv.graph(run)
    assert graph.provenance is not None
    assert graph.provenance.resolved.endswith("model.weights.h5 is there too, as files of Keras")


def test_steps_of_other_names_and_unfinished_ones(tmp_path: Path) -> None:
    for name in ("step_2", "step_10", "11.orbax-checkpoint-tmp"):
        ocdbt.write_tree(tmp_path / name / "state", [["a"]])
    (tmp_path / "12").mkdir()  # empty
    graph = cv.graph(tmp_path)
    assert graph.provenance is not None and graph.provenance.prefix == str(tmp_path / "step_10")


def test_several_trees_are_below_their_names(tmp_path: Path) -> None:
    (tmp_path / "_CHECKPOINT_METADATA").write_text("{}")
    ocdbt.write_tree(tmp_path / "params", [["a"]])
    ocdbt.write_tree(tmp_path / "opt", [["a"]])
    graph = cv.graph(tmp_path)
    assert graph.read("params.a").tolist() == [0, 0]
    assert {a.checkpoint_key for node in graph.nodes for a in node.attributes} == {
        "params/a",
        "opt/a",
    }


def test_the_command_line_and_the_server_open_a_run() -> None:
    result = CliRunner().invoke(main, ["show", str(SEEDS / "orbax_keras")])
    assert result.exit_code == 0 and "latest of 2 steps" in result.output, result.output
    asked = Asked(str(SEEDS), False, "orbax_keras", None)
    page = read_page(asked, 1 << 24)
    assert page.title == "orbax_keras/1"
    assert look_at(asked, "1", 1 << 24) == look_at(asked, "1", 1 << 24)


# --- what cannot be read


def test_an_unknown_codec_names_the_package_that_reads_it(tmp_path: Path) -> None:
    words = ocdbt.described(compressor={"id": "blosc"})
    graph = cv.graph(ocdbt.write_tree(tmp_path / "t", [["a"]], words))
    (attribute,) = graph.nodes[graph.node_id("a")].attributes
    assert (attribute.dtype, attribute.shape) == ("float32", (2,))
    with pytest.raises(UnsupportedError, match=r"the codec 'blosc'; read it with tensorstore"):
        graph.read("a")
    assert "blosc" in str(graph.values(progress=False))


def test_a_tree_without_its_store_shows_names(tmp_path: Path) -> None:
    shutil.copytree(SEEDS / "orbax_keras" / "0", tmp_path / "0")
    manifest = tmp_path / "0" / "pytree" / "manifest.ocdbt"
    manifest.write_bytes(manifest.read_bytes()[:-1])
    graph = cv.graph(tmp_path)
    assert graph.nodes[0].error is not None and "orbax-checkpoint" in graph.nodes[0].error
    assert graph.nodes[graph.node_id("head.kernel")].attributes[0].error
    with pytest.raises(UnsupportedError, match=r"manifest.ocdbt.*restore it with orbax-checkpoint"):
        graph.read("head.kernel")
    diff = cv.diff(graph, SEEDS / "keras_weights" / "model.weights.h5")
    assert "head" not in "".join(line for line in str(diff).splitlines() if "only in" in line)


def test_a_data_file_that_is_missing_is_named(tmp_path: Path) -> None:
    shutil.copytree(SEEDS / "orbax_tree", tmp_path / "t")
    shutil.rmtree(tmp_path / "t" / "ocdbt.process_0")
    graph = cv.graph(tmp_path / "t")
    assert graph.read("step") == 7
    with pytest.raises(UnsupportedError, match=r"the data file .*ocdbt.process_0/d/.* is missing"):
        graph.read("params.dense.kernel")


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([[["a"]]], "found the key .*expected a text or a number"),
        ([[None]], "found the key None"),
        ([["a", "b"], ["a.b"]], "two values have the name 'a.b'"),
        ([["a"] * 10_000], "is 10000 steps deep, expected at most 64"),
        ([["a" * 5_000]], "expected a path of at most 4096 characters"),
    ],
)
def test_paths_that_no_program_has_are_refused(tmp_path: Path, paths: Any, said: str) -> None:
    (tmp_path / "_METADATA").write_bytes(ocdbt.metadata({str(i): p for i, p in enumerate(paths)}))
    with pytest.raises((FormatError, UnsupportedError), match=said):
        cv.graph(tmp_path)


@pytest.mark.parametrize(
    "text", ("", "[]", "{}", '{"tree_metadata": 1}', '{"tree_metadata": {"a": {}}}')
)
def test_metadata_of_other_kinds_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "_METADATA").write_text(text)
    with pytest.raises(FormatError, match="_METADATA"):
        cv.graph(tmp_path)


@pytest.mark.slow
def test_too_many_values_are_refused(tmp_path: Path) -> None:
    (tmp_path / "_METADATA").write_bytes(ocdbt.metadata({str(i): [i] for i in range(150_000)}))
    with pytest.raises(UnsupportedError, match=r"JSON of some \d+ values, expected at most"):
        cv.graph(tmp_path)


def test_an_empty_tree_is_a_graph(tmp_path: Path) -> None:
    graph = cv.graph(ocdbt.write_tree(tmp_path / "t", []))
    assert len(graph.nodes) == 1


def test_links_and_directories_in_place_of_files(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    ocdbt.write_tree(outside, [["a"]])
    root = tmp_path / "root"
    (root / "run" / "1").mkdir(parents=True)
    (root / "run" / "1" / "_METADATA").symlink_to(outside / "_METADATA")
    (root / "run" / "2" / "_METADATA").mkdir(parents=True)
    with pytest.raises((OutsideError, cv.CheckpointNotFoundError)):
        read_page(Asked(str(root), False, "run", None), 1 << 24)
    ocdbt.write_tree(root / "t", [["a"]])
    (root / "t" / ocdbt.DATA).unlink()
    (root / "t" / ocdbt.DATA).symlink_to(outside / ocdbt.DATA)
    with pytest.raises(OutsideError):
        read_page(Asked(str(root), False, "t", None), 1 << 24)


# --- stores


def store(directory: Path, manifest: bytes, data: bytes = b"") -> Path:
    """Write the files of a store."""
    (directory / "d").mkdir()
    (directory / "manifest.ocdbt").write_bytes(manifest)
    (directory / ocdbt.DATA).write_bytes(data)
    return directory


def _open(directory: Path) -> Ocdbt:
    return open_ocdbt(str(directory), Allowance(0))


def test_a_value_in_a_data_file_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    node = ocdbt.leaf({b"a": (0, 4)}, number=1)
    with pytest.raises(FormatError, match="refers to data file 1 of 1"):
        _open(store(tmp_path, ocdbt.manifest(0, len(node)), node))


def test_a_tree_of_several_nodes_has_the_beginnings_of_its_keys(tmp_path: Path) -> None:
    first = ocdbt.leaf({b"1": b"one", b"2": (0, 4)})  # of the keys that begin with "a"
    second = ocdbt.leaf({b"b": b"two"})
    data = b"here" + first + second
    at = 4 + len(first)
    top = ocdbt.inner([(b"a1", 1, 4, len(first)), (b"b", 0, at, len(second))])
    manifest = ocdbt.manifest(len(data), len(top), height=1, keys=3)
    opened = _open(store(tmp_path, manifest, data + top))
    assert {key: opened.get(key, 4) for key in opened.entries} == {
        b"a1": b"one",
        b"a2": b"here",
        b"b": b"two",
    }
    assert opened.get_small([b"a2", b"b", b"c"], 10) == {b"a2": b"here", b"b": b"two"}
    assert opened.get_small([b"a2"], 3) == {}
    for key in (b"a1", b"a2"):
        with pytest.raises(FormatError, match=rf"{key!r}: has \d bytes, expected at most 2"):
            opened.get(key, 2)


@pytest.mark.parametrize(
    "path", ("../x", "/etc/passwd", "d/../../x", "", "a\0b", "gs://x/y", "a\\b")
)
def test_no_data_file_is_outside_of_the_store(tmp_path: Path, path: str) -> None:
    node = ocdbt.leaf({b"a": b"b"})
    with pytest.raises(FormatError, match="expected one below the directory"):
        _open(store(tmp_path, ocdbt.manifest(0, len(node), path=path), node))


def damaged(kind: str) -> tuple[bytes, bytes]:
    """Return a manifest and a data file, one of them damaged."""
    node = ocdbt.leaf({b"a": b"b"})
    good = ocdbt.manifest(0, len(node))
    again = ocdbt.inner([(b"a", 0, 0, len(node))], height=1)
    return {
        "cut": (good[:-1], node),
        "checksum": (good[:-1] + bytes([good[-1] ^ 1]), node),
        "another file": (b"x" * 100, node),
        "node": (good, node[:-5] + b"\0" + node[-4:]),
        "node is short": (good, node[:-1]),
        "height": (ocdbt.manifest(0, len(node), height=3), node),
        "circle": (
            ocdbt.manifest(len(node), len(again), height=1),
            node + again.replace(b"a", b"b"),
        ),
        "empty": (b"", b""),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ("cut", "checksum", "another file", "node", "node is short", "height", "circle", "empty"),
)
def test_damage_of_a_store_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(FormatError, match=str(tmp_path)):
        _open(store(tmp_path, *damaged(kind)))


def test_other_versions_of_a_store_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"manifest of kind 1.*tensorstore"):
        _open(store(tmp_path, ocdbt.manifest(0, 0, kind=1)))
    framed = ocdbt.framed(ocdbt.MANIFEST_MAGIC, b"", version=1)
    (tmp_path / "manifest.ocdbt").write_bytes(framed)
    with pytest.raises(UnsupportedError, match="has version 1"):
        _open(tmp_path)


def test_a_store_without_values_is_empty(tmp_path: Path) -> None:
    assert _open(store(tmp_path, ocdbt.manifest(0, 0, keys=0, path=""))).entries == {}


# --- arrays


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"shape": [-1]}, "has the shape"),
        ({"shape": ["2"]}, "has the shape"),
        ({"shape": [1 << 61, 1 << 61], "chunks": [1, 1]}, "expected fewer elements"),
        ({"shape": 3}, "has the shape"),
        ({"chunks": [0]}, "has the chunk shape"),
        ({"chunks": [1, 1]}, "has chunks of 2 sizes, expected 1"),
        ({"dimension_separator": "x"}, "has the separator"),
        ({"compressor": 1}, "lacks a part"),
    ],
)
def test_descriptions_that_are_not_sound_are_refused(words: Mapping[str, Any], said: str) -> None:
    with pytest.raises(FormatError, match=said):
        zarr_array(json.loads(ocdbt.described()) | words, 2)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"filters": [{"id": "delta"}]}, "filters"),
        ({"order": "F"}, "order of columns"),
        ({"dtype": "<U4"}, "no dtype"),
        ({"dtype": [["a", "<f4"]]}, "no dtype"),
    ],
)
def test_arrays_that_need_another_reader_say_why(words: Mapping[str, Any], fault: str) -> None:
    array = zarr_array(json.loads(ocdbt.described()) | words, 2)
    assert array.fault is not None and fault in array.fault


@pytest.mark.parametrize("damaged", [b"{", b'{"shape": [2]}'])
def test_a_damaged_description_leaves_the_other_arrays(damaged: bytes, tmp_path: Path) -> None:
    path = ocdbt.write_tree(tmp_path / "t", [["a"], ["b"]])
    entries = {b"a/.zarray": damaged, b"b/.zarray": ocdbt.described(), b"b/0": bytes(8)}
    ocdbt.write_store(path, entries)
    graph = cv.graph(path)
    notes = {row.key: row.note or "" for row in graph.values(progress=False)}
    assert "description" in notes["a"] and not notes["b"]


def test_an_array_that_is_larger_than_its_bytes_is_not_made(tmp_path: Path) -> None:
    huge = ocdbt.described([1 << 40], chunks=[1 << 40])
    graph = cv.graph(ocdbt.write_tree(tmp_path / "t", [["a"]], huge))
    with pytest.raises(UnsupportedError, match=r"for \d+ stored bytes"):
        graph.read("a")
    many = ocdbt.described([1 << 40], chunks=[1])
    graph = cv.graph(ocdbt.write_tree(tmp_path / "u", [["a"]], many))
    with pytest.raises(UnsupportedError, match=r"for \d+ stored bytes"):
        graph.read("a")


def _in(parts: Mapping[str, bytes]) -> Callable[[str, int], bytes | None]:
    return lambda key, most: parts.get(key)


def test_parts_that_are_not_stored_have_the_value_that_fills(tmp_path: Path) -> None:
    words = ocdbt.described([3, 2], ">i2", chunks=[2, 2], fill_value=258)
    array = zarr_array(json.loads(words), 2)
    parts = {"1.0": np.array([[1, 2], [0, 0]], ">i2").tobytes()}
    assert array.read(_in(parts), "here").tolist() == [[258, 258], [258, 258], [1, 2]]
    with pytest.raises(FormatError, match=r"here: chunk 1\.0: has 3 bytes, expected 8"):
        array.read(_in({"1.0": b"abc"}), "here")


def test_a_shard_may_begin_with_its_index() -> None:
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
    sharding = {"chunk_shape": [2], "codecs": codecs, "index_codecs": codecs}
    description = {
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"configuration": {"chunk_shape": [4]}},
        "codecs": [
            {"name": "sharding_indexed", "configuration": {**sharding, "index_location": "start"}}
        ],
    }
    array = zarr_array(description, 3)
    index = np.array([32, 8, 40, 8], "<u8").tobytes()
    shard = index + np.arange(4, dtype="<i4").tobytes()
    assert array.read(_in({"c/0": shard}), "x").tolist() == [0, 1, 2, 3]
    with pytest.raises(FormatError, match="has 47 bytes, but its index names bytes 40 to 48"):
        array.read(_in({"c/0": shard[:-1]}), "x")


@pytest.mark.parametrize("sample", (*OF_KERAS, *OF_OTHERS))
def test_all_that_people_do_with_a_graph_works(sample: str, tmp_path: Path) -> None:
    shutil.copytree(SEEDS / sample, tmp_path / "run")
    assert use(os.fspath(tmp_path / "run"), os.fspath(tmp_path)).startswith("graph of ")


# --- what restores it


@pytest.mark.parametrize("path", ["orbax_keras", "orbax_keras/1", "orbax_keras/0", "orbax_tree"])
@pytest.mark.tf
def test_tensorflow_raises_what_the_check_of_a_program_predicts(path: str) -> None:
    import tensorflow as tf

    program = tf.train.Checkpoint(v=tf.Variable(1.0))
    check = cv.check(program, str(SEEDS / path))
    with pytest.raises(tf.errors.OpError) as raised:
        program.restore(str(SEEDS / path))
    assert check.raises is not None
    assert check.raises.type == type(raised.value).__name__
    assert check.raises.message == raised.value.message
    (finding,) = check.findings
    assert "by Orbax" in str(check)
    run = str(SEEDS / "orbax_keras")
    remedies = {
        "orbax_keras/0": "Copy .* into a directory of its own",
        "orbax_tree": "Restore it with orbax-checkpoint",
    }
    remedy = remedies.get(path, re.escape(f"model.load_weights({run!r})"))
    assert re.search(remedy, str(finding.remedy))
    with pytest.raises(cv.SourceError, match=f"a fix needs .* by Orbax. .*{remedy[:10]}"):
        check.fix()


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.tf
def test_a_check_of_a_keras_model_tells_what_keras_does() -> None:
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    run = SEEDS / "orbax_keras"
    for source in (run, run / "1", cv.graph(run)):
        with pytest.raises(UnsupportedError, match="variable of the same path") as raised:
            cv.check(model, source)
        assert f"model.load_weights({str(run)!r})" in str(raised.value)
    with pytest.raises(UnsupportedError, match="Restore it with orbax-checkpoint"):
        cv.check(model, SEEDS / "orbax_tree")


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.tf
def test_keras_gives_each_value_to_the_variable_of_its_path_and_needs_a_compiled_model() -> None:
    import keras

    if not hasattr(keras.callbacks, "OrbaxCheckpoint"):
        pytest.skip("this Keras has no OrbaxCheckpoint")
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="head")])
    with pytest.raises(AttributeError, match="optimizer"):
        model.get_state_tree()
    model.compile("sgd", "mse")
    (path,) = (v.path for v in model.variables if v.name == "kernel")
    *scopes, name = path.split("/")
    tree: Any = {name: np.full((2, 1), 5.0)}
    for scope in reversed(scopes):
        tree = {scope: tree}
    model.set_state_tree({"trainable_variables": tree | {"absent": {"kernel": np.ones(3)}}})
    assert model.get_layer("head").kernel.numpy().tolist() == [[5.0], [5.0]]
    for scope in scopes:
        tree = tree[scope]
    tree[name] = np.ones((3, 1))
    wrong: Any = tree
    for scope in reversed(scopes):
        wrong = {scope: wrong}
    with pytest.raises(ValueError, match="shape"):
        model.set_state_tree({"trainable_variables": wrong})


@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.tf
def test_a_live_model_and_its_checkpoint_differ_in_the_metrics_alone(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    inputs = keras.Input((2,), name="x")
    normal = keras.layers.BatchNormalization(name="norm")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, name="head")(normal), name="net")
    model.compile(keras.optimizers.Adam(0.1), "mse", run_eagerly=True)
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    tf.train.Checkpoint(model=model).write(str(tmp_path / "ckpt"))
    sources = (model, cv.graph(model, as_saved_by="keras"), tmp_path / "ckpt")
    for source in sources:
        headline = cv.diff(source, SEEDS / "orbax_keras").headline
        assert "2 values only in b" in headline and "only in a" not in headline


def saved_by_keras(model: Any, directory: Path) -> Path:
    """Write the tree and the configuration that OrbaxCheckpoint passes to Orbax."""
    from keras.src.saving import saving_lib

    step = directory / "3"
    leaves = dict(flattened(model.get_state_tree(value_format="numpy_array")))
    ocdbt.write_values(step / "pytree", leaves)
    (step / "model_config").mkdir()
    (step / "model_config" / "_METADATA").write_bytes(ocdbt.metadata({"c": ["config"]}, "string"))
    config = saving_lib._serialize_model_as_json(model)[0]
    (step / "model_config" / "_strings.json").write_text(json.dumps({"config": config}))
    ocdbt.write_values(step / "assets", {("vocabulary",): np.zeros(1)})
    return directory


def flattened(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from flattened(value, (*path, name))
        else:
            yield (*path, name), value


KINDS = (
    *("attention", "frozen_layer", "lists", "nested_deep", "operations"),
    *("recurrent", "stacked_cells", "text_vectorization", "trained_muon"),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.tf
def test_models_of_all_kinds_differ_from_their_h5_in_metrics_and_seeds_alone(
    kind: str, tmp_path: Path
) -> None:
    import keras

    if not hasattr(keras.callbacks, "OrbaxCheckpoint"):
        pytest.skip("this Keras has no OrbaxCheckpoint")
    model = MODELS[kind](library("keras"))
    if getattr(model, "optimizer", None) is None:
        model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    model.save(tmp_path / "model.h5")
    graph = cv.graph(saved_by_keras(model, tmp_path / "run"))
    assert graph.provenance is not None and graph.provenance.format is cv.Format.KERAS_ORBAX
    diff = cv.diff(graph, tmp_path / "model.h5", values=True, progress=False)
    for line in str(diff.details).splitlines()[2:]:
        is_same = line.startswith(("      ", "differs", "values", "no difference"))
        assert is_same or re.search("only in a +(metrics|.*seed_generator)", line), line
    assert diff.values is not None
    assert not [change for change in diff.values if change.relative]

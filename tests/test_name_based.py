"""Checkpoints of `tf.compat.v1.train.Saver`: TensorFlow's values show whose each slot is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import Node, Role, SlotRule
from ckpt_viz.errors import UnsupportedError
from ckpt_viz.files.saved.name_based import read_name_based
from ckpt_viz.formats.arrays.slices import SliceExtent as StoredSlice
from ckpt_viz.formats.bundles.bundle import Bundle, open_bundle
from ckpt_viz.formats.bundles.meta_graph import MetaGraph, MetaVariable, SaveSlice, open_meta_graph
from ckpt_viz.formats.bundles.saver_v1 import SaverV1, open_saver_v1
from ckpt_viz.graphs.nodes.nodes import Slice
from ckpt_viz.graphs.slots import scopes

OPTIMIZERS: Mapping[str, Callable[[Any], Any]] = {
    "Adadelta": lambda train: train.AdadeltaOptimizer(0.1),
    "Adagrad": lambda train: train.AdagradOptimizer(0.1),
    "AdagradDA": lambda train: train.AdagradDAOptimizer(0.1, train.get_or_create_global_step()),
    "Adam": lambda train: train.AdamOptimizer(),
    "Adam by another name": lambda train: train.AdamOptimizer(name="adam_d"),
    "Ftrl": lambda train: train.FtrlOptimizer(0.1),
    "GradientDescent": lambda train: train.GradientDescentOptimizer(0.1),
    "Momentum": lambda train: train.MomentumOptimizer(0.1, 0.9),
    "ProximalAdagrad": lambda train: train.ProximalAdagradOptimizer(0.1),
    "ProximalGradientDescent": lambda train: train.ProximalGradientDescentOptimizer(0.1),
    "RMSProp": lambda train: train.RMSPropOptimizer(0.1),
    "centered RMSProp": lambda train: train.RMSPropOptimizer(0.1, centered=True),
}


@contextmanager
def graph_mode() -> Iterator[Any]:
    """Give `tf.compat.v1` inside a graph of its own."""
    import tensorflow as tf

    with tf.Graph().as_default():
        yield tf.compat.v1


def dense(v1: Any, use_resource: bool = True, parts: int = 0) -> list[Any]:
    """Return a kernel and a bias, the kernel in parts if any are asked for."""
    with v1.variable_scope("dense", use_resource=use_resource):
        cut = v1.fixed_size_partitioner(parts) if parts else None
        kernel = v1.get_variable("kernel", (5, 3), partitioner=cut)
        return [kernel, v1.get_variable("bias", (3,))]


def minimize(v1: Any, optimizer: Any, variables: list[Any], scope: str = "") -> None:
    """Have the optimizer make its slots, in a variable scope or in none."""
    tensors = [v1.convert_to_tensor(variable) for variable in variables]
    loss = v1.add_n([v1.reduce_sum(tensor * tensor) for tensor in tensors])
    if scope:
        with v1.variable_scope(scope):
            optimizer.minimize(loss)
    else:
        optimizer.minimize(loss)


def save(v1: Any, prefix: Path, saver: Any = None, **options: Any) -> tuple[str, dict[str, Any]]:
    """Save, each variable filled with a number of its own.

    Returns the prefix, and the values by the names of the variables' operations.
    """
    saver = saver or v1.train.Saver()
    with v1.Session() as session:
        for variable in v1.global_variables():  # in turn: averages start from their variables
            session.run(variable.initializer)
        values = {}
        for number, variable in enumerate(v1.global_variables()):
            if variable.dtype.base_dtype.is_floating:
                value = np.full(variable.shape.as_list(), number + 1, np.float32)
                session.run(variable.assign(value))
            values[variable.op.name] = session.run(variable)
        return saver.save(session, str(prefix), **options), values


def slots(nodes: tuple[Node, ...]) -> dict[tuple[str, str], str]:
    """Return the names of the slot variables, by variable and slot."""
    return {
        (nodes[node.slot.variable].attributes[0].full_name, node.slot.name): (
            node.attributes[0].full_name
        )
        for node in nodes
        if node.slot
    }


def roles(nodes: tuple[Node, ...]) -> dict[str, Role]:
    return {node.attributes[0].full_name: node.role for node in nodes if node.attributes}


def named(nodes: tuple[Node, ...], name: str) -> Node:
    (found,) = (n for n in nodes if n.attributes and n.attributes[0].full_name == name)
    return found


# --- against TensorFlow


def assert_slots_are_those_of_get_slot(
    directory: Path, make: Callable[[Any], Any], scope: str, use_resource: bool, version: str
) -> None:
    with graph_mode() as v1:
        variables = dense(v1, use_resource)
        optimizer = make(v1.train)
        minimize(v1, optimizer, variables, scope)
        expected = {
            (variable.op.name, slot): optimizer.get_slot(variable, slot).op.name
            for variable in variables
            for slot in optimizer.get_slot_names()
        }
        saver = v1.train.Saver(
            write_version=v1.train.SaverDef.CheckpointFormatVersion.Value(version)
        )
        prefix, values = save(v1, directory / "ckpt", saver)
    tensors: Bundle | SaverV1 = open_saver_v1(prefix) if version == "V1" else open_bundle(prefix)
    nodes = read_name_based(tensors)
    assert slots(nodes) == expected
    for name in expected.values():
        np.testing.assert_array_equal(tensors.read(name), values[name])
    assert {n.slot.rule for n in nodes if n.slot} == ({SlotRule.SCOPE} if expected else set())
    others = values.keys() - expected.values()
    assert roles(nodes) == dict.fromkeys(others, Role.VARIABLE) | dict.fromkeys(
        expected.values(), Role.SLOT
    )


@pytest.mark.tf
@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("scope", ["", "a/b"])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
def test_slots_are_those_of_get_slot(
    tmp_path: Path, make: Callable[[Any], Any], scope: str, use_resource: bool
) -> None:
    assert_slots_are_those_of_get_slot(tmp_path, make, scope, use_resource, "V2")


@pytest.mark.tf
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
def test_slots_in_v1_files_are_those_of_get_slot(
    tmp_path: Path, make: Callable[[Any], Any]
) -> None:
    assert_slots_are_those_of_get_slot(tmp_path, make, "train", False, "V1")


@pytest.mark.tf
@pytest.mark.parametrize("sharded", [False, True])
def test_both_formats_give_the_same_nodes(tmp_path: Path, sharded: bool) -> None:
    with graph_mode() as v1:
        minimize(v1, v1.train.AdamOptimizer(), dense(v1, parts=2))
        v1.get_variable("text", initializer="four")
        v1_file = v1.train.Saver(write_version=v1.train.SaverDef.V1, sharded=sharded)
        old, _ = save(v1, tmp_path / "old", v1_file)
        new, _ = save(v1, tmp_path / "new")
    meta = open_meta_graph(f"{new}.meta")
    expected = read_name_based(open_bundle(new), meta)
    text = named(expected, "text")
    (value,) = text.attributes
    assert value.nbytes == 9  # its length, a checksum, the string
    unknown = text._replace(attributes=(value._replace(nbytes=None),))
    assert read_name_based(open_saver_v1(old), meta) == tuple(
        unknown if node is text else node for node in expected
    )


@pytest.mark.tf
def test_two_optimizers_of_one_name_and_averages(tmp_path: Path) -> None:
    with graph_mode() as v1:
        variables = dense(v1)
        optimizers = [v1.train.AdamOptimizer(), v1.train.AdamOptimizer()]
        for optimizer in optimizers:
            minimize(v1, optimizer, variables)
        average = v1.train.ExponentialMovingAverage(0.9)
        average.apply(variables)
        expected = {
            **{
                optimizer.get_slot(variable, slot).op.name: (variable.op.name, slot)
                for optimizer in optimizers
                for variable in variables
                for slot in optimizer.get_slot_names()
            },
            **{average.average(v).op.name: (v.op.name, "average") for v in variables},
        }
        prefix, _ = save(v1, tmp_path / "ckpt")
    nodes = read_name_based(open_bundle(prefix))
    assert len(expected) == 10
    assert {
        node.attributes[0].full_name: (
            nodes[node.slot.variable].attributes[0].full_name,
            node.slot.name,
        )
        for node in nodes
        if node.slot
    } == expected


@pytest.mark.tf
def test_generator_and_discriminator_with_an_optimizer_each(tmp_path: Path) -> None:
    with graph_mode() as v1:
        expected = {}
        for part in ("generator", "discriminator"):
            with v1.variable_scope(part):
                variables = dense(v1)
                optimizer = v1.train.AdamOptimizer(name=f"adam_{part[0]}")
                minimize(v1, optimizer, variables)
            for variable in variables:
                for slot in ("m", "v"):
                    name = optimizer.get_slot(variable, slot).op.name
                    assert name.startswith(f"{part}/{part}/dense/")  # the scope comes twice
                    expected[variable.op.name, slot] = name
        prefix, _ = save(v1, tmp_path / "ckpt")
    assert slots(read_name_based(open_bundle(prefix))) == expected


@pytest.mark.tf
@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
def test_partitions_are_slices_of_one_value_with_slots(tmp_path: Path, use_resource: bool) -> None:
    with graph_mode() as v1:
        variables = dense(v1, use_resource, parts=2)
        minimize(v1, v1.train.AdamOptimizer(), variables)
        v1.train.ExponentialMovingAverage(0.9).apply(list(variables[0]))
        prefix, values = save(v1, tmp_path / "ckpt")
    bundle = open_bundle(prefix)
    for meta in (None, open_meta_graph(f"{prefix}.meta")):
        nodes = read_name_based(bundle, meta)
        assert slots(nodes) == {
            ("dense/kernel", "m"): "dense/kernel/Adam",
            ("dense/kernel", "v"): "dense/kernel/Adam_1",
            ("dense/kernel", "average"): "dense/kernel/ExponentialMovingAverage",
            ("dense/bias", "m"): "dense/bias/Adam",
            ("dense/bias", "v"): "dense/bias/Adam_1",
        }
        for name, suffix in (("dense/kernel", ""), ("dense/kernel/Adam_1", "/Adam_1")):
            (attribute,) = named(nodes, name).attributes
            names = [f"dense/kernel/part_{i}{suffix}" for i in (0, 1)]
            assert (attribute.shape, attribute.nbytes, attribute.error) == ((5, 3), 60, None)
            assert attribute.slices == (
                Slice((0, 0), (3, 3), names[0] if meta else ""),
                Slice((3, 0), (2, 3), names[1] if meta else ""),
            )
            whole = np.concatenate([values[name] for name in names])
            np.testing.assert_array_equal(bundle.read(name), whole)


@pytest.mark.tf
def test_meta_graph_tells_trainable_and_collections(tmp_path: Path) -> None:
    with graph_mode() as v1:
        variables = dense(v1, parts=2)
        v1.add_to_collection("mine", variables[1])
        minimize(v1, v1.train.AdamOptimizer(), variables)
        v1.train.create_global_step()
        prefix, _ = save(v1, tmp_path / "ckpt")
    bundle = open_bundle(prefix)
    nodes = read_name_based(bundle, open_meta_graph(f"{prefix}.meta"))
    told = {n.attributes[0].full_name: (n.trainable, n.collections) for n in nodes if n.attributes}
    slot = (False, ("variables",))
    assert told == {
        "beta1_power": slot,
        "beta2_power": slot,
        "dense/bias": (True, ("mine", "trainable_variables", "variables")),
        "dense/bias/Adam": slot,
        "dense/bias/Adam_1": slot,
        "dense/kernel": (True, ("trainable_variables", "variables")),
        "dense/kernel/Adam": slot,
        "dense/kernel/Adam_1": slot,
        "global_step": (False, ("global_step", "variables")),
    }
    alone = read_name_based(bundle)
    assert all(node.trainable is None and node.collections == () for node in alone)
    assert slots(alone) == slots(nodes)


@pytest.mark.tf
def test_partial_savers_and_several_checkpoints_in_one_directory(tmp_path: Path) -> None:
    with graph_mode() as v1:
        kernel, bias = dense(v1)
        minimize(v1, v1.train.AdamOptimizer(), [kernel, bias])
        model = v1.train.Saver([kernel, bias])
        renamed = v1.train.Saver({"v2": bias, "/odd//": kernel})
        prefixes = [
            save(v1, tmp_path / name, saver)[0]
            for name, saver in (("all", None), ("model", model), ("renamed", renamed))
        ]
    found = [
        roles(read_name_based(open_bundle(prefix), open_meta_graph(f"{prefix}.meta")))
        for prefix in prefixes
    ]
    assert len(found[0]) == 8
    assert found[1:] == [
        {"dense/bias": Role.VARIABLE, "dense/kernel": Role.VARIABLE},
        {"/odd//": Role.VARIABLE, "v2": Role.VARIABLE},
    ]


@pytest.mark.tf
def test_partitions_with_slots_in_a_scope_are_as_tensorflow_misnames_them(tmp_path: Path) -> None:
    """TensorFlow cuts the slot's name at the wrong place and saves each part by itself."""
    with graph_mode() as v1:
        variables = dense(v1, parts=2)
        minimize(v1, v1.train.MomentumOptimizer(0.1, 0.9), variables[:1], "train")
        prefix, _ = save(v1, tmp_path / "ckpt")
    nodes = read_name_based(open_bundle(prefix), open_meta_graph(f"{prefix}.meta"))
    torn = [name for name in roles(nodes) if name.endswith("Momentum")]
    assert len(torn) == 2 and "dense/kernel/Momentum" not in torn
    for name in torn:
        node = named(nodes, name)
        assert node.role is Role.VARIABLE
        assert len(node.attributes[0].slices) == 1
        assert node.attributes[0].error is not None  # its slices do not cover it


# --- by hand


@dataclass
class Stored:
    """A tensor of a file."""

    dtype: str = "float32"
    shape: tuple[int, ...] | None = (5, 3)
    size: int = 60
    slices: tuple[StoredSlice, ...] = ()


@dataclass
class Opened:
    """An opened file, of whatever format."""

    entries: dict[str, Stored]
    unreadable: dict[str, str] = field(default_factory=dict)

    def why_unreadable(self, key: str) -> str | None:
        return self.unreadable.get(key)


def test_tensor_that_cannot_be_read_says_why() -> None:
    nodes = read_name_based(Opened({"w": Stored(), "b": Stored()}, {"w": "no shard"}))
    assert [node.attributes[0].error for node in nodes[1:]] == [None, "no shard"]


def test_bytes_that_only_the_values_tell_are_not_known() -> None:
    stored = {"a": Stored("string", (2,), 0), "b": Stored("float32", (0, 3), 0)}
    nodes = read_name_based(Opened(stored))
    assert [node.attributes[0].nbytes for node in nodes[1:]] == [None, 0]


def test_meta_graph_of_partitions_of_another_shape_is_not_believed() -> None:
    part = SaveSlice("w", (7, 3), (0, 0), (5, 3))
    meta = MetaGraph("x.meta", (MetaVariable("w/part_0", True, ("variables",), part),))
    nodes = read_name_based(Opened({"w": Stored()}), meta)
    assert (nodes[1].trainable, nodes[1].collections) == (None, ())


def test_partitions_that_disagree_are_neither_trainable_nor_not() -> None:
    meta = MetaGraph(
        "x.meta",
        tuple(
            MetaVariable(f"w/part_{i}", i == 0, (f"c{i}",), SaveSlice("w", (5, 3), (i, 0), (1, 3)))
            for i in (1, 0)
        ),
    )
    nodes = read_name_based(Opened({"w": Stored()}), meta)
    assert (nodes[1].trainable, nodes[1].collections) == (None, ("c0", "c1"))


def test_slices_are_in_order_whatever_the_files() -> None:
    stored = (StoredSlice((3, 0), (2, 3)), StoredSlice((0, 0), (3, 3)))
    nodes = read_name_based(Opened({"w": Stored(slices=stored)}))
    assert nodes[1].attributes[0].slices == (Slice((0, 0), (3, 3)), Slice((3, 0), (2, 3)))


def test_error_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scopes, "MAX_SCOPES", 2)
    with pytest.raises(UnsupportedError, match=r"^ckpt-1: the names have more than 2 scopes"):
        read_name_based(Opened({"a/b/c": Stored()}), place="ckpt-1")


def test_bundle_without_tensors_is_a_root_alone() -> None:
    assert read_name_based(Bundle("ckpt", "ckpt.index", 1, "little", {})) == (Node(),)


@pytest.mark.tf
def test_saved_model_of_tensorflow_1_tells_collections_as_a_meta_file_does(tmp_path: Path) -> None:
    import tensorflow as tf

    tf1 = tf.compat.v1
    directory = tmp_path / "model"
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.get_variable("w", [2])
        tf1.get_variable("frozen", [3], trainable=False)
        session.run(tf1.global_variables_initializer())
        builder = tf1.saved_model.Builder(str(directory))
        builder.add_meta_graph_and_variables(session, ["serve"])
        builder.save()
    graph = cv.graph(directory)
    by_path = {graph.path(i): node for i, node in enumerate(graph.nodes)}
    assert by_path[("w",)].trainable is True
    assert by_path[("frozen",)].trainable is False
    assert "variables" in by_path[("frozen",)].collections


@pytest.fixture
def saved_by_tf1(tmp_path: Path) -> Path:
    """Return a directory with two checkpoints of one Saver, a partial one, and V1 files."""
    import tensorflow as tf

    tf1 = tf.compat.v1
    with tf.Graph().as_default(), tf1.Session() as session:
        with tf1.variable_scope("dense"):
            w = tf1.get_variable("kernel", [4, 2])
        v2 = tf1.get_variable("v2", [3])
        tf1.train.AdamOptimizer().minimize(tf.reduce_sum(w) + tf.reduce_sum(v2))
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver()
        for step in (1, 2):
            saver.save(session, str(tmp_path / "model.ckpt"), global_step=step)
        partial = tf1.train.Saver({"renamed": v2})
        partial.save(session, str(tmp_path / "partial"), latest_filename="other_state")
        v1 = tf1.train.Saver(write_version=tf1.train.SaverDef.V1)
        v1.save(session, str(tmp_path / "old.ckpt"), latest_filename="old_state")
    return tmp_path


@pytest.mark.tf
def test_checkpoints_of_a_saver_are_found_by_the_paths_that_people_type(
    saved_by_tf1: Path,
) -> None:
    latest = cv.graph(saved_by_tf1)
    assert latest.provenance is not None
    assert latest.provenance.format is cv.Format.NAME_BASED
    named = [kept for kept in latest.provenance.kept if kept.is_named]
    assert [kept.prefix[-1] for kept in named] == ["1", "2"]
    for given in ("model.ckpt", "model.ckpt-2", "model.ckpt-2.meta", "model.ckpt-2.index"):
        assert cv.graph(saved_by_tf1 / given).nodes == latest.nodes
    by_path = {latest.path(i): node for i, node in enumerate(latest.nodes)}
    assert by_path[("dense", "kernel")].trainable is True
    assert by_path[("beta1_power",)].trainable is False
    slot = by_path[("dense", "kernel", "Adam_1")].slot
    assert slot is not None and (slot.name, slot.rule) == ("v", SlotRule.SCOPE)
    partial = cv.graph(saved_by_tf1 / "partial")
    assert [child.local_name for child in partial.nodes[0].children] == ["renamed"]
    assert partial.read("renamed").shape == (3,)


@pytest.mark.tf
def test_v1_file_is_the_same_graph_with_the_same_values(saved_by_tf1: Path) -> None:
    old, new = cv.graph(saved_by_tf1 / "old.ckpt"), cv.graph(saved_by_tf1 / "model.ckpt-2")
    assert old.provenance is not None
    assert old.provenance.format is cv.Format.NAME_BASED_V1
    assert old.nodes == new.nodes
    np.testing.assert_array_equal(old.read("dense/kernel"), new.read("(root).dense.kernel"))


@pytest.mark.tf
def test_meta_file_may_be_given_and_a_damaged_one_does_not_hide_the_checkpoint(
    saved_by_tf1: Path,
) -> None:
    meta = saved_by_tf1 / "model.ckpt-2.meta"
    elsewhere = meta.rename(saved_by_tf1 / "elsewhere.meta")
    path = saved_by_tf1 / "model.ckpt-2"
    assert {node.trainable for node in cv.graph(path).nodes} == {None}
    assert True in {node.trainable for node in cv.graph(path, meta=elsewhere).nodes}
    meta.write_bytes(elsewhere.read_bytes()[:-100])
    damaged = cv.graph(path)
    assert damaged.provenance is not None
    assert "without the MetaGraph's facts" in damaged.provenance.resolved
    with pytest.raises(cv.FormatError, match=r"model\.ckpt-2\.meta"):
        cv.graph(path, meta=meta)

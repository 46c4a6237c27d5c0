"""A file of an edited graph: TensorFlow lists it, reads it and restores it; NumPy casts."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from tests.hostile.makers import entries_that_overlap
from tests.support.programs import (
    ckpt,
    keras_2_adam,
    keras_3_adam,
    legacy_adam,
    module,
    save_by_name,
    saved,
    v1_adam,
    var,
    written,
)
from tests.support.registered_stack import stack_class

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
OPTIMIZERS = (keras_3_adam, keras_2_adam, legacy_adam, v1_adam)


def _program(maker: Callable[..., Any] | None = keras_3_adam, **parts: Any) -> Any:
    net = module(kernel=var([[1.5, 2.0], [3.0, -4.0]]), bias=var([0.5, 1e-3]))
    optimizer = {} if maker is None else {"optimizer": maker(net.kernel, net.bias)}
    return ckpt(net=net, step=var(3), **optimizer, **parts)


def _tensors(path: str) -> dict[str, Any]:
    import tensorflow as tf

    reader = tf.train.load_checkpoint(path)
    return {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map()}


# --- without an optimizer


@pytest.mark.parametrize("maker", OPTIMIZERS)
def test_a_file_without_the_optimizer_is_the_one_of_a_program_without_it(
    maker: Callable[..., Any], tmp_path: Path
) -> None:
    path = _program(maker).save(str(tmp_path / "ckpt"))
    slim = cv.graph(path).without("role:slot|opt", "save_counter").write(tmp_path / "slim")
    expected = str(_program(None).write(str(tmp_path / "expected")))
    found, known = _tensors(slim), _tensors(expected)
    assert found.keys() == known.keys()
    program = _program(None)
    program.net.kernel.assign([[0.0, 0.0], [0.0, 0.0]])
    program.read(slim).assert_consumed().assert_existing_objects_matched()
    assert program.net.kernel.numpy().tolist() == [[1.5, 2.0], [3.0, -4.0]]
    assert cv.diff(expected, slim, values=True).is_empty


@pytest.mark.parametrize("maker", OPTIMIZERS)
def test_slots_alone_go_and_the_optimizer_stays(maker: Callable[..., Any], tmp_path: Path) -> None:
    path = _program(maker).save(str(tmp_path / "ckpt"))
    slim = cv.graph(path).without("role:slot").write(tmp_path / "slim")
    assert not any(node.slot for node in cv.graph(slim).nodes)
    check = cv.check(_program(maker), cv.graph(path).without("role:slot"))
    assert check.consumed == cv.check(_program(maker), slim).consumed
    assert check.unmatched == cv.check(_program(maker), slim).unmatched


# --- values


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_a_cast_is_that_of_tensorflow(dtype: str, tmp_path: Path) -> None:
    import tensorflow as tf

    value = np.random.default_rng(3).normal(size=(300, 7)).astype(np.float32)
    value.flat[:4] = [0.0, -0.0, np.inf, np.nan]
    path = written(tmp_path, net=module(kernel=tf.Variable(value)))
    graph = cv.graph(path).cast({"net": dtype})
    assert graph.nodes[graph.node_id("net.kernel")].attributes[0].dtype == dtype
    half = graph.write(tmp_path / "half")
    expected = tf.cast(value, dtype)
    restored = tf.Variable(tf.zeros((300, 7), dtype))
    ckpt(net=module(kernel=restored)).read(half).assert_consumed()
    assert restored.numpy().tobytes() == expected.numpy().tobytes()
    assert graph.read("net.kernel").tobytes() == expected.numpy().tobytes()
    key = graph.nodes[graph.node_id("net.kernel")].attributes[0].checkpoint_key
    assert graph.beginning(key, 9).tobytes() == graph.read(key).reshape(-1)[:9].tobytes()
    (row,) = cv.graph(half).values("kernel", progress=False)
    assert (row.dtype, row.nan, row.inf) == (dtype, 1, 1)


def test_values_take_the_place_of_others_in_any_shape(tmp_path: Path) -> None:
    path = _program().save(str(tmp_path / "ckpt"))
    array, count = np.arange(6.0).reshape(3, 2), np.array(7, np.int32)
    given = cv.graph(path).with_values({"net.kernel": array, "step": count})
    array[:], count[...] = 0, 0  # the graph has copies
    renamed = given.renamed({"net": "model"}).cast({"model.kernel": "float16"})
    new = renamed.without("optimizer").write(tmp_path / "new")
    import tensorflow as tf

    kernel, step = tf.Variable(tf.zeros((3, 2), tf.float16)), var(0)
    program = ckpt(model=module(kernel=kernel, bias=var([0.0, 0.0])), step=step)
    program.restore(new).assert_consumed()
    assert kernel.numpy().tolist() == [[0, 1], [2, 3], [4, 5]] and int(step) == 7
    assert cv.graph(path).read("net.kernel").shape == (2, 2)


def test_an_inserted_part_gets_its_values(tmp_path: Path) -> None:
    path = written(tmp_path, net=module(a=module(w=var([1.0]))))
    inserted = cv.graph(path).inserted("net", "b", like="net.a")
    with pytest.raises(cv.EditError, match=r"net.b.w has no value.*with_values"):
        inserted.write(tmp_path / "new")
    assert not (tmp_path / "new.index").exists()
    new = inserted.with_values({"net.b.w": [2.0, 3.0]}).write(tmp_path / "new")
    program = ckpt(net=module(a=module(w=var([0.0])), b=module(w=var([0.0, 0.0]))))
    program.read(new).assert_consumed()
    assert program.net.b.w.numpy().tolist() == [2.0, 3.0]


def test_strings_and_values_of_code_keep_their_bytes(tmp_path: Path) -> None:
    import tensorflow as tf

    def make(text: str) -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        table.insert(tf.constant([text]), tf.constant([1], tf.int64))
        return ckpt(old=module(text=tf.Variable([text, "é"]), table=table))

    path = make("a\0b").write(str(tmp_path / "ckpt"))
    graph = cv.graph(path).renamed({"old": "new"})
    new = graph.with_values({"new.text": np.array([b"x", b"y"], object)}).write(tmp_path / "new")
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    text = tf.Variable(["", ""])
    ckpt(new=module(text=text, table=table)).read(new).assert_consumed()
    assert text.numpy().tolist() == [b"x", b"y"]
    assert table.lookup(tf.constant(["a\0b"])).numpy().tolist() == [1]


def test_a_registered_saver_finds_its_tensors_under_the_new_name(tmp_path: Path) -> None:
    import tensorflow as tf

    stack = stack_class()
    path = written(tmp_path, old=module(stack=stack(1.0, 2.0)), w=var(5.0))
    edited = cv.graph(path).renamed({"old": "new"}).with_values({"w": 6.0})
    new, program = edited.write(tmp_path / "new"), ckpt(new=module(stack=stack()), w=var(0.0))
    program.read(new).assert_consumed()
    assert (program.new.stack.parts, float(program.w)) == ([1.0, 2.0], 6.0)
    assert tf.train.load_checkpoint(new).has_tensor("new/stack_stack")
    inserted = cv.graph(path).inserted("old", "more", like="old.stack")
    with pytest.raises(cv.EditError, match=r"old.more has no value.*leave it out"):
        inserted.write(tmp_path / "inserted")


# --- names


def _names(tmp_path: Path) -> str:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("bert"):
            kernel = v1.get_variable("kernel", initializer=[[1.0, 2.0]])
            bias = v1.get_variable("bias", initializer=[3.0])
        other = v1.get_variable("bertha", initializer=[4.0])
        v1.get_variable("global_step", initializer=np.int64(9))
        v1.train.AdamOptimizer().minimize(kernel @ tf.ones((2, 1)) + bias + other)
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(tmp_path / "model")))


def test_a_scope_gets_another_name_and_a_saver_restores_it(tmp_path: Path) -> None:
    import tensorflow as tf

    v1, path = tf.compat.v1, _names(tmp_path)
    graph = (
        cv.graph(path).renamed({"bert/": "encoder/layer"}).without("role:slot", "/beta\\d_power/")
    )
    new = graph.write(tmp_path / "new")
    assert sorted(_tensors(new)) == [
        *("bertha", "encoder/layer/bias", "encoder/layer/kernel", "global_step")
    ]
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("encoder/layer"):
            kernel = v1.get_variable("kernel", [1, 2])
            v1.get_variable("bias", [1])
        v1.train.Saver().restore(session, new)
        assert session.run(kernel).tolist() == [[1.0, 2.0]]
    assert cv.graph(new).is_name_based and graph.is_name_based
    assert cv.diff(graph, new, values=True).is_empty


def test_names_with_dots_stand_for_names_with_slashes(tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "old", {"enc/w": np.ones(2)})
    for number, new in enumerate(("dec.w", "enc.v", "dec/w")):
        written = cv.graph(path).renamed({"enc.w": new}).write(tmp_path / f"new{number}")
        assert [name for name, _ in tf.train.list_variables(written)] == [new.replace(".", "/")]


def test_two_scopes_exchange_their_names(tmp_path: Path) -> None:
    saved = {"a/w": np.ones(1), "b/w": np.zeros(1), "b/v": np.ones(2)}
    path = save_by_name(tmp_path / "model", saved)
    edited = cv.graph(path).renamed({"a": "b/", "b/": "a", "a/v": "a/u"})
    values = {key: edited.read(key).tolist() for key in ("a/w", "a/u", "b/w")}
    assert values == {"a/w": [0.0], "a/u": [1.0, 1.0], "b/w": [1.0]}
    inner = cv.graph(path).renamed({"b": "c", "b/v": "b/x"})
    assert sorted(_tensors(inner.write(tmp_path / "new"))) == ["a/w", "c/w", "c/x"]


def test_names_stay_apart(tmp_path: Path) -> None:
    graph = cv.graph(_names(tmp_path))
    with pytest.raises(cv.EditError, match="bert/bias and bertha become one name, bertha"):
        graph.renamed({"bert/bias": "bertha"})
    with pytest.raises(cv.EditError, match="found an empty name for 'bertha'"):
        graph.renamed({"bertha": ""})
    with pytest.raises(cv.NoSuchNodeError, match="bret"):
        graph.renamed({"bret/": "b/"})
    with pytest.raises(cv.EditError, match="holds names and no objects"):
        graph.moved("bertha", "bert")
    without_scope = graph.only("bert").without("role:slot").renamed({"bert/": ""})
    assert sorted(_tensors(without_scope.write(tmp_path / "new"))) == ["bias", "kernel"]


# --- what does not fit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda graph: graph.cast({"step": "float16"}), "step: found int32, expected variables"),
        (lambda graph: graph.cast({"net": "int8"}), "found the dtype 'int8', expected one of"),
        (lambda graph: graph.cast({"nothing": "float16"}), "found no node for 'nothing'"),
        (lambda graph: graph.with_values({"net": 1.0}), "net holds 0 values, expected a variable"),
        (
            lambda graph: graph.with_values({"step": 1.0}),
            "step: found float64 scalar, expected int32",
        ),
        (lambda graph: graph.with_values({"net.bias": ["a"]}), "net.bias: found str"),
        (lambda graph: graph.without(""), "found no node for ''"),
    ],
)
def test_an_edit_of_values_that_does_not_fit_says_why(
    edit: Callable[[cv.ObjectGraph], Any], message: str, tmp_path: Path
) -> None:
    graph = cv.graph(_program().save(str(tmp_path / "ckpt")))
    with pytest.raises(cv.EditError, match=message):
        edit(graph)


def test_a_number_too_large_for_its_dtype_is_named_before_a_file_is_there(tmp_path: Path) -> None:
    path = written(tmp_path, net=module(kernel=var([1.0, 1e20])))
    graph = cv.graph(path).cast({"net": "float16"})
    with pytest.raises(cv.CkptVizError, match=r"found 1e\+20, too large for float16"):
        graph.write(tmp_path / "half")
    assert [*tmp_path.glob("half*")] == []


def test_a_source_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    path = _program().save(str(tmp_path / "ckpt"))
    edited = cv.graph(path).without("optimizer")
    data = Path(f"{path}.data-00000-of-00001")
    data.write_bytes(bytes(len(data.read_bytes())))
    with pytest.raises(cv.FormatError, match="crc32c"):
        edited.write(tmp_path / "new")
    assert [*tmp_path.glob("new*")] == []


@pytest.mark.parametrize("way", [cv.ObjectGraph.write, cv.ObjectGraph.to_npz])
def test_tensors_in_the_same_bytes_are_not_multiplied(
    way: Callable[[cv.ObjectGraph, Path], str], tmp_path: Path
) -> None:
    graph = cv.graph(entries_that_overlap(tmp_path, 100))
    with pytest.raises(cv.CkptVizError, match="shares bytes with other tensors"):
        way(graph, tmp_path / "new")
    assert not list(tmp_path.glob("new*"))


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    import tensorflow as tf

    path = written(tmp_path, net=module(kernel=tf.Variable(tf.zeros((1 << 18,)))))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    edited = cv.graph(path).renamed({"net": "model"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        for write in (edited.write, edited.to_npz):
            with pytest.raises(cv.CkptVizError, match="new"):
                write(tmp_path / "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [*tmp_path.glob("new*")] == []


def test_live_objects_are_written_by_a_snapshot(tmp_path: Path) -> None:
    program = _program()
    with pytest.raises(cv.SourceError, match=r"cv.snapshot\(live\).graph"):
        cv.graph(program).without("optimizer").write(tmp_path / "new")
    edited = cv.snapshot(program).graph.without("optimizer")
    program.net.kernel.assign([[0.0, 0.0], [0.0, 0.0]])
    other = _program(None)
    other.read(edited.write(tmp_path / "new")).assert_consumed()
    assert other.net.kernel.numpy().tolist() == [[1.5, 2.0], [3.0, -4.0]]


# --- sources of other functions


def test_an_edited_graph_is_a_checkpoint_to_check_and_to_fix(tmp_path: Path) -> None:
    path = _program().save(str(tmp_path / "ckpt"))
    edited = cv.graph(path).renamed({"net": "model"})
    file = edited.write(tmp_path / "new")
    program = _program()
    dry, real = cv.check(program, edited), cv.check(program, file)
    assert (dry.consumed, dry.unresolved, dry.unmatched) == (
        *(real.consumed, real.unresolved, real.unmatched),
    )
    program.net.kernel.assign([[0.0, 0.0], [0.0, 0.0]])
    dry.fix().apply()
    assert program.net.kernel.numpy().tolist() == [[1.5, 2.0], [3.0, -4.0]]
    assert dry.fix().code.startswith("# No file has these values.")
    assert "checksums" not in " ".join(dry.notes)


# --- archives


def test_numpy_loads_an_archive(tmp_path: Path) -> None:
    import tensorflow as tf

    net = module(kernel=var([[1.5, 2.0]]), half=tf.Variable(tf.constant([1.0], tf.bfloat16)))
    text = tf.Variable(["a", "bc"])
    path = ckpt(net=net, text=text, step=var(3)).save(str(tmp_path / "ckpt"))
    archive = np.load(cv.graph(path).to_npz(tmp_path / "model.npz"))
    assert {name: archive[name].tolist() for name in archive.files} == {
        "net.half": [1.0],
        "net.kernel": [[1.5, 2.0]],
        "save_counter": 1,
        "step": 3,
        "text": [b"a", b"bc"],
    }
    assert archive["net.half"].dtype == np.float32
    with pytest.raises(cv.CkptVizError, match="exists already"):
        cv.graph(path).to_npz(tmp_path / "model.npz")
    names = np.load(cv.graph(_names(tmp_path)).to_npz(tmp_path / "names.npz"))
    assert names["bert/kernel"].tolist() == [[1.0, 2.0]]
    ended = written(tmp_path / "ended", text=tf.Variable(["a\0"]))
    with pytest.raises(cv.UnsupportedError, match="NUL byte at its end"):
        cv.graph(ended).to_npz(tmp_path / "ended.npz")


# --- on the command line


def test_rewrite_prints_what_it_wrote_and_what_stays_out(tmp_path: Path) -> None:
    path = _program(legacy_adam).save(str(tmp_path / "ckpt"))
    slim = str(tmp_path / "slim")
    edits = ["--without", "role:slot|opt", "--rename", "net=model", "--cast", "model=bfloat16"]
    result = CliRunner().invoke(main, ["rewrite", path, slim, *edits])
    assert result.exit_code == 0, result.output
    assert result.output == (
        f"Wrote 4 values, 6 parameters, 24 bytes to {slim}.index and {slim}.data-00000-of-00001.\n"
        "Before: 13 values, 6 parameters, 108 bytes.\n"
        "Left out: optimizer (5 values) and 4 slot variables.\n"
    )
    assert sorted(shape for _, shape in _listed(slim)) == [[], [], [2], [2, 2]]
    again = CliRunner().invoke(main, ["rewrite", path, slim, *edits])
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    wrong = CliRunner().invoke(main, ["rewrite", path, f"{slim}2", "--rename", "net"])
    assert (wrong.exit_code, "expected two sides of a =" in wrong.output) == (2, True)


def _listed(path: str) -> list[Any]:
    import tensorflow as tf

    return [one for one in tf.train.list_variables(path) if not one[0].startswith("_")]


def test_export_writes_an_archive(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(kernel=var([1.0])))
    file = str(tmp_path / "model.npz")
    result = CliRunner().invoke(main, ["export", path, file])
    assert result.output == f"Wrote 2 values, 1 parameter, 12 bytes to {file}.\n"
    assert np.load(file)["net.kernel"].tolist() == [1.0]
    assert os.listdir(tmp_path).count("model.npz.part") == 0

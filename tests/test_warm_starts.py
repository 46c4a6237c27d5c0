"""Warm starts: checks of assignment maps and settings, each compared with TensorFlow."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.cli import main
from ckpt_viz.errors import SourceError
from tests.programs.law import Law, UnfitError
from tests.support import name_based
from tests.support.amounts import amount
from tests.support.counted import DOUBLED, steps_of
from tests.support.damage import flipped
from tests.support.programs import keras_2, keras_3
from tests.support.warm_starts import Variables, compare, compare_eagerly

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Make = Callable[[Variables], Any]

HOSTILE = "a'\"\n\u202e\\{x}%s"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The files of all pairs: what `path` of a pair names."""
    import tensorflow as tf

    directory = tmp_path_factory.mktemp("files")
    tensors = {
        "w": np.arange(20, 26, dtype="float32").reshape(3, 2),
        "a/w": np.arange(6, dtype="float32").reshape(3, 2),
        "a/b": np.array([5, 6], "float32"),
        "a/s/w": np.arange(10, 16, dtype="float32").reshape(3, 2),
        "step": np.array(7, "int64"),
        "double/w": np.arange(6, dtype="float64").reshape(3, 2),
        f"{HOSTILE}/w": np.full((3, 2), 9, "float32"),
    }
    (directory / "runs").mkdir()
    (directory / "empty").mkdir()
    named = name_based.write(directory / "named", **tensors)
    name_based.write(directory / "runs" / "ckpt-1", **tensors)
    tf.compat.v1.train.update_checkpoint_state(
        str(directory / "runs"), str(directory / "runs" / "ckpt-1")
    )
    held = tf.train.Checkpoint(x=tf.Variable(tf.fill((3, 2), 7.0), name="net/w"))
    return {
        "named": named,
        "directory": str(directory / "runs"),
        "empty": str(directory / "empty"),
        "missing": str(directory / "nothing"),
        "index": f"{named}.index",
        "data": f"{named}.data-00000-of-00001",
        "bytes": named.encode(),
        "pathlib": directory / "named",
        "none": None,
        "objects": str(held.write(str(directory / "objects"))),
        "v1": _v1_file(str(directory / "v1")),
    }


def _v1_file(prefix: str) -> str:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("a/w", initializer=np.arange(6, dtype="float32").reshape(3, 2))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver(write_version=1).save(session, prefix))


# --- pairs of a program and a map: TensorFlow says what happens

PAIRS: dict[str, tuple[Make, str, bool]] = {}


def _pair(path: str = "named", *, text: bool = True) -> Callable[[Make], Make]:
    """Add a pair under the name of what makes it; `text` says whether the texts begin alike."""

    def add(make: Make) -> Make:
        PAIRS[make.__name__] = make, path, text
        return make

    return add


def _of(
    name: str,
    mapped: Any,
    *variables: str,
    path: str = "named",
    text: bool = True,
    **options: Any,
) -> None:
    """Add a pair whose map has names alone, and whose variables have the same options."""

    def make(program: Variables) -> Any:
        for variable in variables:
            program.get(variable, **options)
        return mapped

    PAIRS[name] = make, path, text


_of("scope_to_scope", {"a/s/": "b/"}, "b/w")
_of("scope_without_slash_in_the_file", {"a": "b/"}, "b/w")
_of("scope_without_slash_in_the_program", {"a/": "b"}, "b/w")
_of("last_part_of_a_value_is_ignored", {"a/s/": "x/b"}, "x/w")
_of("nested_scope", {"a/s/": "x/y/"}, "x/y/w", "x/w")
_of("scope_is_no_beginning_of_another", {"a/s/": "b/"}, "b/w", "bb/other")
_of("root_to_scope", {"/": "b/"}, "b/a/w", "b/w")
_of("root_to_root", {"/": "/"}, "a/w", "w")
_of("scope_to_root", {"a/s/": "/"}, "w")
_of("empty_value", {"a/": ""}, "w")
_of("empty_key", {"": "w"}, "w")
_of("empty_key_for_a_scope", {"": "b/"}, "b/w")
_of("two_slashes", {"a/": "b//"}, "b/w")
_of("scope_that_the_program_lacks", {"a/": "c/"}, "b/w")
_of("scope_that_both_lack", {"zzz/": "c/"}, "b/w")
_of("scope_that_the_file_lacks", {"zzz/": "b/"}, "b/w")
_of("name_in_a_scope_that_the_file_lacks", {"a/": "b/"}, "b/w", "b/zzz")
_of("name_of_a_variable_as_a_scope", {"a/w/": "b/w/"}, "b/w")
_of("name_to_name", {"a/w": "b/w"}, "b/w", "c/w")
_of("name_that_the_program_lacks", {"a/w": "b/nope"}, "b/w")
_of("name_that_the_file_lacks", {"a/nope": "b/w"}, "b/w")
_of("one_raises_after_another", {"a/nope": "b/w", "a/b": "c", "a/z": "d"}, "b/w", "d", "c")
_of("raises_after_a_replaced_initializer", {"a/w": "b/w", "zzz": "c"}, "b/w", "c")
_of("pairs_from_one_tensor", [("a/w", "b/w"), ("a/w", "c/w")], "b/w", "c/w")
_of("pairs_as_lists", [["a/w", "b/w"]], "b/w")
_of("pairs_to_one_variable", [("w", "b/w"), ("a/w", "b/w")], "b/w")
_of("scope_and_name_to_one_variable", {"w": "b/w", "a/s/": "b/"}, "b/w")
_of("other_shape", {"a/w": "b/w"}, "b/w", shape=(2, 3))
_of("other_shape_in_a_scope", {"a/s/": "b/"}, "b/w", shape=(2, 3))
_of("other_shape_of_a_reference", {"a/s/": "b/"}, "b/w", shape=(2, 3), use_resource=False)
_of("reference", {"a/s/": "b/"}, "b/w", use_resource=False)
_of("other_dtype", {"a/w": "b/w"}, "b/w", dtype="float64")
_of("other_dtype_in_a_scope", {"a/s/": "b/"}, "b/w", dtype="float64")
_of("number_to_float", {"step": "step"}, "step", shape=())
_of("integer", {"step": "step"}, "step", shape=(), dtype="int64")
_of("hostile_names", {f"{HOSTILE}/": "b/"}, "b/w")
_of("hostile_name_that_the_program_lacks", {"a/": f"{HOSTILE}/"}, "b/w")
_of("hostile_value", {"a/w": HOSTILE}, "b/w")
_of("part_in_a_scope", {"a/": "b/"}, "b/part_x/w")
_of("directory", {"a/w": "w"}, "w", path="directory")
_of("directory_without_the_name", {"a/nope": "w"}, "w", path="directory")
_of("empty_directory", {"a/w": "w"}, "w", path="empty")
_of("missing_file", {"a/w": "w"}, "w", path="missing")
_of("index_file", {"a/w": "w"}, "w", path="index")
_of("data_file", {"a/w": "w"}, "w", path="data")
_of("path_of_bytes", {"a/w": "w"}, "w", path="bytes")
_of("path_object", {"a/w": "w"}, "w", path="pathlib")
_of("no_path", {"a/w": "w"}, "w", path="none")
_of("objects_by_key", {"x/.ATTRIBUTES/VARIABLE_VALUE": "w"}, "w", path="objects")
_of("objects_by_name", {"net/w": "w"}, "w", path="objects")
_of("v1_file", {"a/": "b/"}, "b/w", path="v1")
_of("v1_file_with_another_dtype", {"a/": "b/"}, "b/w", path="v1", dtype="float64")


@_pair()
def variable_itself(program: Variables) -> Any:
    return {"a/w": program.get("b/w"), "w": program.new("outside")}


@_pair()
def variable_outside_of_the_store_by_name(program: Variables) -> Any:
    program.new("b/w")
    return {"a/w": "b/w"}


@_pair()
def variable_outside_of_the_store_by_scope(program: Variables) -> Any:
    program.new("b/w")
    return {"a/": "b/"}


@_pair()
def partitions_by_name(program: Variables) -> Any:
    program.parts("b/w")
    return {"a/w": "b/w"}


@_pair()
def partitions_by_scope(program: Variables) -> Any:
    program.parts("b/w")
    program.get("b/b", (2,))
    return {"a/": "b/"}


@_pair()
def partitions_as_a_list(program: Variables) -> Any:
    return {"a/w": program.parts("b/w", number=3)}


@_pair()
def some_partitions(program: Variables) -> Any:
    return {"a/w": program.parts("b/w")[1:]}


@_pair()
def partition_twice(program: Variables) -> Any:
    return {"a/w": [program.parts("b/w")[0]] * 2}


@_pair()
def one_partition(program: Variables) -> Any:
    return {"a/w": program.parts("b/w")[1]}


@_pair()
def one_partition_by_name(program: Variables) -> Any:
    program.parts("b/w")
    return {"a/w": "b/w/part_0"}


@_pair()
def partitions_from_two_tensors(program: Variables) -> Any:
    first, second = program.parts("b/w")
    return {"a/w": [first], "w": [second]}


@_pair()
def partitions_of_two_variables(program: Variables) -> Any:
    return {"a/w": [program.parts("b/w")[0], program.parts("c/w")[0]]}


@_pair()
def partitioned_variable(program: Variables) -> Any:
    program.parts("b/w")
    return {"a/w": program["b/w"]}


@_pair()
def partitions_of_another_full_shape(program: Variables) -> Any:
    program.parts("b/w", (4, 2))
    return {"a/w": "b/w"}


@_pair()
def partitions_of_another_dtype(program: Variables) -> Any:
    program.parts("b/w", dtype="float64", use_resource=False)
    return {"a/w": "b/w"}


@_pair()
def whole_variable_in_a_list(program: Variables) -> Any:
    return {"a/w": [program.parts("b/w")[0], program.get("c")]}


@_pair()
def empty_list(program: Variables) -> Any:
    program.get("b/w")
    return {"a/w": []}


@_pair()
def empty_list_of_a_missing_name(program: Variables) -> Any:
    return {"a/nope": []}


@_pair()
def reused_variable(program: Variables) -> Any:
    import tensorflow as tf

    program.get("b/w")
    with tf.compat.v1.variable_scope("b", reuse=True):
        return {"a/w": tf.compat.v1.get_variable("w")}


@_pair()
def name_of_an_operation_that_is_taken(program: Variables) -> Any:
    import tensorflow as tf

    with tf.name_scope("b/"):
        tf.constant(1, name="w")
    program.get("b/w")
    return {"a/w": "b/w"}


@_pair()
def unknown_shape(program: Variables) -> Any:
    import tensorflow as tf

    value = tf.compat.v1.placeholder_with_default(np.full((1,), -5, "float32"), None)
    program.made["w"] = tf.compat.v1.Variable(value, validate_shape=False, name="w")
    return {"a/w": program["w"]}


@_pair(text=False)
def variable_of_another_graph(program: Variables) -> Any:
    import tensorflow as tf

    with tf.Graph().as_default():
        return {"a/w": program.get("b/w")}


@_pair()
def eager_variable(program: Variables) -> Any:
    import tensorflow as tf

    with tf.init_scope():
        return {"a/w": program.new("b/w")}


@_pair()
def finalized_graph(program: Variables) -> Any:
    mapped = {"a/w": program.get("b/w")}
    program["b/w"].graph.finalize()
    return mapped


@_pair()
def finalized_graph_without_the_name(program: Variables) -> Any:
    mapped = {"a/nope": program.get("b/w")}
    program["b/w"].graph.finalize()
    return mapped


@_pair()
def keras_variable(program: Variables) -> Any:
    return {"a/w": keras_3().Variable(np.zeros((3, 2), "float32"))}


@_pair()
def keras_variable_in_a_list(program: Variables) -> Any:
    return {"a/w": [keras_3().Variable(np.zeros((3, 2), "float32"))]}


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name: str, files: dict[str, Any]) -> None:
    make, path, text = PAIRS[name]
    compare(make, files[path], text=text)


@pytest.mark.parametrize("name", [*PAIRS][::4])
def test_an_object_graph_of_the_map_means_the_map(name: str, files: dict[str, Any]) -> None:
    import tensorflow as tf

    make, path, _ = PAIRS[name]
    with tf.Graph().as_default():
        mapped = make(Variables())
        graph = cv.graph(mapped)
        by_map, by_graph = (cv.check(live, files[path]) for live in (mapped, graph))
        named = {a.full_name for node in graph.nodes for a in node.attributes}
        every = {a.full_name for node in by_map.live.nodes for a in node.attributes}
    assert named <= every
    assert by_graph.raises == by_map.raises
    assert by_graph.trace == by_map.trace
    assert by_graph.findings == by_map.findings


# --- executed eagerly


def _eager_pairs() -> dict[str, tuple[Make, bool]]:
    def partly(program: Variables) -> Any:
        return {"a/b": program.new("b", (2,)), "w": program.new("w", (2, 2))}

    def tied(program: Variables) -> Any:
        both = program.new("w")
        return {"a/w": both, "w": both}

    def of_graph(program: Variables) -> Any:
        import tensorflow as tf

        with tf.Graph().as_default():
            return {"a/w": program.get("w")}

    def of_keras(program: Variables) -> Any:
        return {"a/w": keras_3().Variable(np.zeros((3, 2), "float32"))}

    def of_keras_2(program: Variables) -> Any:
        layer = keras_2().layers.Dense(2)
        layer.build((None, 3))
        layer.kernel.assign(-np.ones((3, 2), "float32"))
        program.made["kernel"] = layer.kernel
        return {"a/w": layer.kernel}

    def mirrored(program: Variables) -> Any:
        import tensorflow as tf

        with tf.distribute.MirroredStrategy(["cpu:0"]).scope():
            return {"a/w": program.new("w")}

    def partly_unknown_shape(program: Variables) -> Any:
        import tensorflow as tf

        return {"a/w": program.new("w", (4, 2)), "w": program.new("x", shape=(3, 2))} | (
            {"a/w": tf.Variable(-np.ones((4, 2), "float32"), shape=(None, 2))}
        )

    return {
        "variable": (lambda program: {"a/w": program.new("w")}, True),
        "other_dtype": (lambda program: {"a/w": program.new("w", dtype="float64")}, False),
        "other_shape": (lambda program: {"a/w": program.new("w", (2, 2))}, True),
        "missing_name": (lambda program: {"a/nope": program.new("w", (2, 2))}, True),
        "name": (lambda program: {"a/w": "w"}, True),
        "scope": (lambda program: {"a/": "w/"}, True),
        "list": (lambda program: {"a/w": [program.new("w")]}, True),
        "empty_list": (lambda program: {"a/w": []}, True),
        "same_names": (lambda p: {"a/w": p.new("w"), "w": p.new("w")}, True),
        "partly": (partly, True),
        "tied": (tied, True),
        "of_graph": (of_graph, False),
        "of_keras": (of_keras, True),
        "of_keras_2": (of_keras_2, True),
        "mirrored": (mirrored, True),
        "partly_unknown_shape": (partly_unknown_shape, True),
    }


@pytest.mark.parametrize("name", _eager_pairs())
def test_eager_pair(name: str, files: dict[str, Any]) -> None:
    make, text = _eager_pairs()[name]
    compare_eagerly(make, files["named"], text=text)


def test_names_work_eagerly_in_a_store_of_eager_variables(files: dict[str, Any]) -> None:
    from tensorflow.python.ops.variable_scope import EagerVariableStore

    with EagerVariableStore().as_default():
        for mapped in ({"a/s/": "b/"}, {"a/w": "b/w"}, {"a/": "b/"}, {"a/w": "b/z"}):

            def make(program: Variables, mapped: Any = mapped) -> Any:
                import tensorflow as tf

                with tf.compat.v1.variable_scope("", reuse=tf.compat.v1.AUTO_REUSE):
                    program.get("b/w")
                program["b/w"].assign(-np.ones((3, 2), "float32"))
                return mapped

            compare_eagerly(make, files["named"])


# --- the settings of a warm start


def _settings(path: Any, chosen: Any = ".*", **options: Any) -> Any:
    fields = {"var_name_to_vocab_info": None, "var_name_to_prev_var_name": None} | options
    return SimpleNamespace(ckpt_to_initialize_from=path, vars_to_warm_start=chosen, **fields)


def _as_settings(path: str, chosen: Any = ".*", **options: Any) -> Make:
    def make(program: Variables) -> Any:
        program.get("a/w")
        program.parts("w")
        program.get("step", (), "int64", trainable=False)
        return _settings(path, chosen, **options)

    return make


@pytest.mark.parametrize(
    ("chosen", "former"),
    [
        (".*", None),
        ("a/", None),
        (["w", "step"], None),
        (["nothing"], None),
        (None, None),
        (".*", {"w": "a/w"}),
        (".*", {"w": "a/w", "a/w": "a/w"}),
        (".*", {"w": "zzz"}),
        (".*", {"zzz": "w"}),
        ("a/", {"w": "a/w"}),
    ],
)
def test_settings(chosen: Any, former: Any, files: dict[str, Any]) -> None:
    make = _as_settings(files["named"], chosen, var_name_to_prev_var_name=former)
    check = compare(make, None)
    assert check.method == "warm_start"


def test_settings_with_variables(files: dict[str, Any]) -> None:
    compare(lambda p: _settings(files["named"], [p.get("a/w"), p.new("a/b", (2,))]), None)


@pytest.mark.parametrize("name", ["net/w", "zzz"])
def test_settings_with_a_file_of_objects(name: str, files: dict[str, Any]) -> None:
    def make(program: Variables) -> Any:
        program.get(name)
        return _settings(files["objects"])

    compare(make, None, text=name == "net/w")


@pytest.mark.parametrize("path", ["empty", "missing", "index", "directory"])
def test_settings_with_another_path(path: str, files: dict[str, Any]) -> None:
    compare(_as_settings("unused"), files[path], text=path != "empty")


def test_a_vocabulary_is_not_read(tmp_path: Path, files: dict[str, Any]) -> None:
    import tensorflow as tf

    (tmp_path / "words").write_text("x\ny\nz\n")
    words = str(tmp_path / "words")
    info = tf.compat.v1.train.VocabInfo(words, 3, 0, words)
    with tf.Graph().as_default():
        tf.compat.v1.get_variable("a/w", (3, 2))
        tf.compat.v1.get_variable("w", (3, 2))
        settings = _settings(files["named"], var_name_to_vocab_info={"a/w": info})
        check = cv.check(settings)
        assert check.raises is None
        assert check.bound == {"w": "(root).w"}
        (finding,) = [f for f in check.findings if f.kind.value == "unknowable"]
        assert finding.live == "(root).a.w"
        settings.var_name_to_vocab_info["zzz"] = info
        assert cv.check(settings).raises == cv.check(settings).raises
        raised = cv.check(settings).raises
        assert raised is not None and raised.type == "ValueError" and "zzz" in raised.message


def test_settings_that_choose_no_variables_are_refused(files: dict[str, Any]) -> None:
    with pytest.raises(SourceError, match="vars_to_warm_start: found int"):
        cv.check(_settings(files["named"], 3))


# --- what is a map


def test_a_dict_of_trackables_is_no_map(files: dict[str, Any]) -> None:
    import tensorflow as tf

    variable, module = tf.Variable(1.0), tf.Module()
    others: list[Any] = [
        {},
        [],
        {"model": module, "w": None},
        {"w": None},
        {"w": ["name"]},
        [("w", variable, 1)],
        ["a/w", "w"],
    ]
    expected = "expected a (checkpoint's path or a trackable|variable or another trackable object)"
    for other in others:
        with pytest.raises(SourceError, match=expected):
            cv.graph(other)
        with pytest.raises(SourceError, match=expected):
            cv.check(other, files["named"])
    assert not cv.graph({"w": (variable,)}).is_name_based


def test_a_plain_list_or_dict_is_one_source_for_all(tmp_path: Path) -> None:
    import tensorflow as tf

    variable, module = tf.Variable([1.0, 2.0]), tf.Module()
    module.bias = tf.Variable([3.0])
    sources: list[Any] = [
        {"w": variable},
        {"model": module, "w": variable},
        {1: variable},
        [variable, module],
        (module.bias, variable),
    ]
    for number, source in enumerate(sources):
        snapshot = cv.snapshot(source)
        graph, diff = cv.graph(source), cv.diff(snapshot, source, values=True, progress=False)
        keys, held = (
            [a.checkpoint_key for node in one.nodes for a in node.attributes]
            for one in (graph, snapshot.graph)
        )
        assert keys == held
        assert diff.is_empty and not diff.values
        for node in range(1, len(graph.nodes)):
            assert eval(graph.accessor(node, "live"), {"live": source}) is graph.object(node)
        history = cv.history([snapshot, source], progress=False)
        assert {cell.state.value for row in history.rows for cell in row.cells} == {
            "first",
            "equal",
        }
        path = snapshot.write(tmp_path / f"{number}")
        assert cv.diff(path, source).is_empty
        for saved in (snapshot, path):
            variable.assign([7.0, 8.0])
            if number == 0 and saved is path:  # what TensorFlow takes a map for
                assert cv.check(source, saved).method == "init_from_checkpoint"
                continue
            check = cv.check(source, saved)
            assert check.consumed and check.existing_objects_matched
            check.fix().apply()
            assert variable.numpy().tolist() == [1.0, 2.0]
            variable.assign([7.0, 8.0])
            if saved is path:
                code = check.fix().code
                exec(code, {"ckpt": source, "path": path})
                assert variable.numpy().tolist() == [1.0, 2.0]
        variable.assign([1.0, 2.0])


def test_a_tracked_dict_stays_a_trackable() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.held = {"a": tf.Variable(1.0)}
    assert not cv.graph(module.held).title.startswith("init_from_checkpoint")


def test_another_method_is_refused(files: dict[str, Any]) -> None:
    import tensorflow as tf

    mapped = {"w": tf.Variable(1.0)}
    assert cv.check(mapped, files["named"], method="init_from_checkpoint").raises is not None
    with pytest.raises(SourceError, match="found method 'restore'"):
        cv.check(mapped, files["named"], method="restore")


def test_a_snapshot_is_no_file(files: dict[str, Any]) -> None:
    import tensorflow as tf

    snapshot = cv.snapshot(tf.train.Checkpoint(w=tf.Variable(1.0)))
    with pytest.raises(SourceError, match="reads files"):
        cv.check([("w", tf.Variable(1.0))], snapshot.graph.renamed({"w": "v"}))
    assert cv.check({"w": tf.Variable(1.0)}, snapshot).consumed


# --- findings and pictures


def _findings(make: Make, path: Any, **options: Any) -> tuple[RestoreCheck, dict[str, str]]:
    """Return a check, and by severity and kind of each finding its sentences."""
    check = compare(make, path, **options)
    texts: dict[str, str] = {}
    for finding in check.findings:
        key = f"{finding.severity.value} {finding.kind.value}"
        texts[key] = f"{texts.get(key, '')}{finding.why} {finding.remedy}"
    return check, texts


def test_a_silent_scope_is_a_warning(files: dict[str, Any]) -> None:
    make, _, _ = PAIRS["scope_that_the_program_lacks"]
    check, texts = _findings(make, files["named"])
    assert "Scope 'c/': the program has no variable in it" in texts["warning unresolved"]
    assert "b/w" in texts["info unmatched"]
    assert "a/b, a/s/w, a/w" in texts["info leftover"]
    assert check.overlay.headline == "init_from_checkpoint() sets 0 of 1 variable"


def test_variables_outside_of_the_store_are_named(files: dict[str, Any]) -> None:
    for name in ("variable_outside_of_the_store_by_scope", "variable_outside_of_the_store_by_name"):
        make, _, _ = PAIRS[name]
        _, texts = _findings(make, files["named"])
        assert "get_variable did not make" in "".join(texts.values())


def test_a_similar_name_is_suggested(files: dict[str, Any]) -> None:
    def make(program: Variables) -> Any:
        program.get("encoder/bert/w")
        return {"a/w": "encoder/bret/w"}

    _, texts = _findings(make, files["named"])
    assert "'encoder/bert/w'" in texts["error unresolved"]


@pytest.mark.parametrize(
    ("key", "saved", "advice"),
    [
        ("net_1/", "net/", "Write 'net/' in place of 'net_1/' in the keys"),
        ("net_1/", "tower/net/", "Write 'tower/net/' in place of 'net_1/' in the keys"),
        ("tower/", "tower/net/", "Give 'tower/net/' a pair of its own in the map."),
    ],
)
def test_a_changed_scope_of_the_file_is_one_finding(
    key: str, saved: str, advice: str, tmp_path: Path
) -> None:
    def make(program: Variables) -> Any:
        inner = "net_1/" if key == "tower/" else ""
        program.get(f"net/{inner}w", (3, 2))
        program.get(f"net/{inner}b", (2,))
        return {key: "net/"}

    shapes = {"w": (3, 2), "b": (2,)}
    arrays = {f"{saved}{name}": np.ones(shape, "float32") for name, shape in shapes.items()}
    _, texts = _findings(make, name_based.write(tmp_path / "ckpt", **arrays))
    assert advice in texts["error scope_changed"]


def test_what_is_replaced_before_an_error_is_named(files: dict[str, Any]) -> None:
    make, _, _ = PAIRS["raises_after_a_replaced_initializer"]
    check, texts = _findings(make, files["named"])
    assert "replaced 1 initializer" in texts["warning partial_overwrite"]
    (finding,) = [f for f in check.findings if f.kind.value == "partial_overwrite"]
    assert finding.live == "(root).b.w"


def test_a_silently_reshaped_variable_is_a_warning(files: dict[str, Any]) -> None:
    make, _, _ = PAIRS["other_shape_in_a_scope"]
    check, texts = _findings(make, files["named"])
    assert "3×2" in texts["warning shape"]
    assert "sets 0 of 1 variable" in check.overlay.headline


@pytest.mark.parametrize("by_saver", [False, True])
def test_a_variable_that_gets_a_wrong_shape_in_silence_is_not_restored(
    by_saver: bool, tmp_path: Path
) -> None:
    """Variables of a graph take any shape: a session tells which of them have their own."""
    import tensorflow as tf

    v1 = tf.compat.v1

    def make(scope: str, classes: int) -> list[Any]:
        shapes = {"a/w": (4, 8), "a/b": (8,), "logits/w": (8, classes), "logits/b": (classes,)}
        with v1.variable_scope(scope):
            return [
                v1.get_variable(name, shape, use_resource=True) for name, shape in shapes.items()
            ]

    with tf.Graph().as_default(), v1.Session() as session:
        make("net", 3)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "ckpt"))
    with tf.Graph().as_default(), v1.Session() as session:
        variables = make("net" if by_saver else "enc", 7)
        saver = v1.train.Saver()
        check = cv.check(saver if by_saver else {"net/": "enc/"}, path)
        session.run(v1.global_variables_initializer())
        if by_saver:
            saver.restore(session, path)
        else:
            v1.train.init_from_checkpoint(path, {"net/": "enc/"})
            session.run(v1.global_variables_initializer())
        are_whole = {v.op.name: session.run(v).shape == tuple(v.shape) for v in variables}
        in_rows = {
            check.table.live.nodes[row.live].attributes[0].full_name: row.plain.place.value
            for row in check.table.rows
            if row.live is not None
        }
        assert in_rows == {
            name: "here" if is_whole else "reshapes" for name, is_whole in are_whole.items()
        }
        text = str(check)
        call = "restore()" if by_saver else "init_from_checkpoint()"
        assert f"{call} restores 2 of 4 values, and gives 2 variables a wrong shape." in text
        assert "logits is larger: 3 → 7." in text and "✗ other shape" in text
        assert "keeps the wrong shape" not in text and "keeps the wrong" in str(check.details)
        if by_saver:
            assert "check.fix().apply(session) restores 2 of 4 values; 2 keep their own." in text
            session.run(v1.global_variables_initializer())
            check.fix().apply(session)
            assert session.run(variables[2]).shape == (8, 7)  # the fix leaves it alone


def test_notes_of_other_shapes_name_their_variables(files: dict[str, Any]) -> None:
    make, _, _ = PAIRS["other_shape_of_a_reference"]
    check, _ = _findings(make, files["named"])
    assert "✗ b.w: The saved value has shape 3×2, the program's 2×3." in str(check)


def test_the_last_of_two_values_is_named(files: dict[str, Any]) -> None:
    make, _, _ = PAIRS["scope_and_name_to_one_variable"]
    check, texts = _findings(make, files["named"])
    assert "keeps 'w'" in texts["warning value_lost"]
    assert check.bound == {"w": "(root).b.w"}


def test_variables_that_the_file_has_and_the_map_lacks_are_a_warning(files: dict[str, Any]) -> None:
    def make(program: Variables) -> Any:
        program.get("w")
        program.get("new")
        program.get("b/w")
        return {"a/w": "b/w"}

    _, texts = _findings(make, files["named"])
    assert ": w. Add" in texts["warning unmatched"]
    assert ": new." in texts["info unmatched"]


def test_damaged_bytes_are_found(tmp_path: Path) -> None:
    prefix = name_based.write(tmp_path / "ckpt", w=np.ones((3, 2), "float32"))
    flipped(prefix, "w", 3)

    def make(program: Variables) -> Any:
        program.get("w")
        return {"w": "w"}

    _, texts = _findings(make, prefix, verify=True)
    assert "DataLossError" in texts["fail damaged"]


def test_a_lost_data_file_is_found(tmp_path: Path) -> None:
    prefix = name_based.write(tmp_path / "ckpt", w=np.ones((3, 2), "float32"))
    (tmp_path / f"ckpt{name_based.DATA}").unlink()

    def make(program: Variables) -> Any:
        program.get("w")
        return {"w": "w"}

    _, texts = _findings(make, prefix)
    assert "fail damaged" in texts


def test_every_output_takes_a_map(files: dict[str, Any]) -> None:
    import tensorflow as tf

    for name in ("partitions_as_a_list", "hostile_names", "pairs_from_one_tensor", "other_dtype"):
        make, path, _ = PAIRS[name]
        with tf.Graph().as_default():
            mapped = make(Variables())
            graph, check = cv.graph(mapped), cv.check(mapped, files[path])
            assert "not saved" in graph.steps.end
            assert graph.to_dot().source and graph.to_svg() and graph.to_json()
            assert str(check) and check.to_svg() and check.to_json()
            assert len(check.steps) == len({step.obj for step in check.trace})
            assert "init_from_checkpoint() returns" in check.steps.end
            explorer = cv.show(mapped, against=files[path])
            assert "init_from_checkpoint" in str(explorer)
            with pytest.raises(SourceError, match="takes values by names"):
                check.fix()


def test_a_map_of_the_names_of_objects_is_told_from_a_checkpoint(tmp_path: Path) -> None:
    import tensorflow as tf

    saved = {"a": tf.Variable([1.0, 2.0]), "b": tf.Variable(3.0)}
    path = tf.train.Checkpoint(**saved).save(str(tmp_path / "ckpt"))
    check = cv.check(saved, path)
    assert any("Check tf.train.Checkpoint(**map)" in str(f.remedy) for f in check.findings)
    with pytest.raises(SourceError, match=r"such as tf\.train\.Checkpoint\(\*\*map\)"):
        check.fix()
    assert cv.fix(tf.train.Checkpoint(**saved), path).check.consumed


def test_code_for_a_variable_leads_to_it(files: dict[str, Any]) -> None:
    import tensorflow as tf

    with tf.Graph().as_default():
        program = Variables()
        parts, whole = program.parts("p"), program.get(HOSTILE.replace("\n", "") and "q")
        for live in ({HOSTILE: whole, "p": parts}, [(HOSTILE, whole), ("p", parts)]):
            graph = cv.graph(live)
            for node in range(len(graph.nodes)):
                obj = graph.object(node)
                if obj is not None:
                    assert eval(graph.accessor(node, "live"), {"live": live}) == obj


def test_the_command_line_checks_a_map_of_a_program(
    tmp_path: Path, files: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\nmapped = {'a/b': w}\n"
    (tmp_path / "warm.py").write_text(code)
    with pytest.raises(SystemExit) as ended:
        main(["check", "--run", f"{tmp_path}/warm.py:mapped", files["named"]])
    assert ended.value.code == 0
    assert "init_from_checkpoint() restores 1 of 1 value." in capsys.readouterr().out


# --- many


def test_the_steps_of_a_check_grow_no_faster_than_the_variables(tmp_path: Path) -> None:
    counted: list[list[int]] = []
    for count in (1_000, 1_000, 2_000):  # the first one counts what later ones have cached
        names = [f"s{number % (count // 100)}/v{number}" for number in range(count)]
        values = dict.fromkeys(names, np.zeros(1, "float32"))
        prefix = name_based.write(tmp_path / f"big{len(counted)}", **values)
        with _many_variables(names).as_default():
            counted.append(
                [
                    steps_of(lambda: _check_of(mapped, prefix))  # noqa: B023
                    for mapped in (
                        {"/": "/"},
                        {f"s{number}/": f"s{number}/" for number in range(count // 100)},
                        dict(zip(names, names, strict=True)),
                        {f"zz{number}/": f"zz{number}/" for number in range(count // 10)},
                    )
                ]
            )
    _, small, large = counted
    assert all(most < DOUBLED * few for few, most in zip(small, large, strict=True)), counted


def _check_of(mapped: dict[str, str], prefix: str) -> None:
    assert cv.check(mapped, prefix).raises is None


def _many_variables(names: list[str]) -> Any:
    """Return a store of variables with one handle, which are made faster. Half share a name."""
    import tensorflow as tf
    from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable
    from tensorflow.python.ops.variable_scope import EagerVariableStore

    store, handle = EagerVariableStore(), tf.Variable([0.0]).handle
    for number, name in enumerate(names):
        store._store._vars[name] = BaseResourceVariable(
            trainable=True,
            shape=tf.TensorShape([1]),
            dtype=tf.float32,
            handle=handle,
            handle_name=name if number % 2 else "Variable",
            in_graph_mode=False,
        )
    return store


# --- random programs, files and maps

_SCOPES = ("", "a/", "a/b/", "b/", "part_1/", "a/part_0/")
_NAMES = ("w", "v", "part_0", "b")
_DTYPES = ("float32", "float32", "float32", "float64", "int32")
_SHAPES = ((3, 2), (3, 2), (4, 2), (2,))


class Array(NamedTuple):
    """A tensor in a file."""

    shape: tuple[int, ...] = (3, 2)
    dtype: str = "float32"


class Made(NamedTuple):
    """A variable, in parts or whole. A `new` one is not in the variable store."""

    name: str
    array: Array = Array()
    is_new: bool = False
    parts: int = 0
    use_resource: bool = True


class Of(NamedTuple):
    """A variable as the value of a map; with `first`, a list of its first parts."""

    name: str
    first: int = 0


class Mapped(NamedTuple):
    """An item of a map."""

    key: str
    value: str | Of


class Start(NamedTuple):
    """A file, a program, and the map of a warm start, perhaps as a list of pairs."""

    file: Mapping[str, Array]
    variables: tuple[Made, ...]
    items: tuple[Mapped, ...]
    is_list: bool = False

    def make(self, program: Variables) -> Any:
        """Make the variables, and return the map."""
        for name, (shape, dtype), is_new, parts, use_resource in self.variables:
            with suppress(ValueError):  # the name is that of a partition
                if is_new:
                    program.new(name, shape, dtype)
                elif parts:
                    program.parts(name, shape, dtype=dtype, number=parts, use_resource=use_resource)
                else:
                    program.get(name, shape, dtype, use_resource=use_resource)
        pairs = [(key, _value_of(value, program)) for key, value in self.items]
        return pairs if self.is_list else dict(pairs)


def _value_of(value: str | Of, program: Variables) -> Any:
    if isinstance(value, str):
        return value
    if value.name not in program.made:
        raise UnfitError("no such variable was made")
    made = program[value.name]
    if not value.first:
        return made  # a PartitionedVariable, too
    return (list(made) if type(made).__name__ == "PartitionedVariable" else [made])[: value.first]


def _draw(rng: random.Random) -> Start:
    def name() -> str:
        return rng.choice(_SCOPES) + rng.choice(_NAMES)

    def array() -> Array:
        return Array(rng.choice(_SHAPES), rng.choice(_DTYPES))

    def names(most: int) -> list[str]:
        return list(dict.fromkeys(name() for _ in range(rng.randint(1, most))))

    file = {one: array() for one in names(14)}
    variables = tuple(
        Made(
            one,
            array(),
            is_new=(roll := rng.random()) < 0.15,
            parts=rng.randint(1, 3) if roll > 0.75 else 0,
            use_resource=rng.random() < 0.8,
        )
        for one in names(9)
    )

    def value() -> str | Of:
        made = rng.choice(variables)
        scope = rng.choice([*_SCOPES, "/", "a", "c/", "a//"])
        parts = Of(made.name, rng.randint(1, made.parts or 1))
        values: list[str | Of] = [Of(made.name), parts, name(), made.name, scope, scope]
        return rng.choice(values)

    items = tuple(
        Mapped(rng.choice([name(), rng.choice(_SCOPES), rng.choice(_SCOPES), "/"]), value())
        for _ in range(rng.randint(1, 4))
    )
    return Start(file, variables, items, rng.random() < 0.3)


def _judge(start: Start, at: Path) -> list[str]:
    arrays = {
        name: np.full(shape, number, dtype)
        for number, (name, (shape, dtype)) in enumerate(start.file.items())
    }
    raised = compare(start.make, name_based.write(at / "file", **arrays)).raises
    return ["passes" if raised is None else raised.type]


def test_random_maps(seed: int) -> None:
    law = Law("A check of a warm start and TensorFlow agree", _draw, _judge)
    assert {"passes", "ValueError"} <= law.hold(seed, amount(300, 600)).keys()

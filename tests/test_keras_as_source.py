"""Files of Keras where checkpoints are expected: edits, copies, averages, checks, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from click.testing import CliRunner, Result

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.graphs.overlay.remedy import LoadWithKeras
from ckpt_viz.graphs.render import payload
from ckpt_viz.matching.changes.kind import Kind
from tests.hostile.seeds import DIRECTORY, seeds
from tests.server.test_endpoints import header_of

_OF_KERAS = [name for name in seeds() if name.startswith("keras")]
_RUN = sorted(map(str, (DIRECTORY / "keras_run").iterdir()))
_KERNEL = "kernel"


def _path(name: str) -> Path:
    return DIRECTORY / name / seeds()[name].opened


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def _values(graph: cv.ObjectGraph) -> list[Any]:
    keys = [a.checkpoint_key for node in graph.nodes for a in node.attributes]
    return sorted(np.ravel(graph.read(key)).tolist() for key in keys)


@pytest.mark.parametrize("name", _OF_KERAS)
def test_the_summary_and_the_explorer_name_the_format(name: str) -> None:
    graph = cv.graph(_path(name))
    assert graph.provenance is not None
    kind = graph.provenance.format.value
    assert f"({kind}): {len(graph.nodes)} nodes" in str(graph)
    assert "checkpoint" not in str(graph).partition("\n")[0]
    assert header_of(payload.encode(graph))["kind"] == kind
    assert "Keras saves this file" in graph.steps.end
    assert len(graph.steps) == 0


_WAYS: dict[str, Callable[[cv.ObjectGraph], cv.ObjectGraph]] = {
    "unchanged": lambda graph: graph,
    "renamed": lambda graph: graph.renamed({"optimizer": "saved_optimizer"}),
    "average with itself": lambda graph: cv.average([graph, graph]),
    "in two casts": lambda graph: graph.cast({"dtype:float32": "float64"}).cast(
        {"dtype:float64": "float32"}
    ),
}


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("name", _OF_KERAS)
def test_every_value_of_a_copy_is_that_of_the_file(name: str, way: str, tmp_path: Path) -> None:
    graph = cv.graph(_path(name))
    copy = _WAYS[way](graph)
    assert _values(copy) == _values(graph)
    assert _values(cv.graph(copy.write(tmp_path / "new"))) == _values(graph)


@pytest.mark.parametrize("name", _OF_KERAS)
def test_a_copy_without_the_optimizer_has_the_weights_alone(name: str, tmp_path: Path) -> None:
    result = _run("rewrite", _path(name), tmp_path / "new", "--without", "role:slot|opt")
    assert result.exit_code == 0, result.output
    kept = cv.graph(tmp_path / "new")
    saved = cv.graph(_path(name))
    assert not kept.find("optimizer")
    for node in kept.find("role:variable"):
        place = kept.names.place(node)
        (own,) = [n for n in saved.find("role:variable") if _place_of(saved, n) == place]
        key = saved.nodes[own].attributes[0].checkpoint_key
        assert np.array_equal(kept.read(place), saved.read(key))


def _place_of(graph: cv.ObjectGraph, node: int) -> str:
    return ".".join(graph.path(node))


def test_parts_of_files_of_keras_are_merged_and_get_new_values(tmp_path: Path) -> None:
    graph = cv.graph(_path("keras_archive"))
    merged = cv.merged({"a": graph, "b": cv.graph(_path("keras_h5"))})
    written = cv.graph(merged.write(tmp_path / "merged"))
    kernel = graph.read("head.kernel")
    for place in ("a.layers.dense.kernel", "b.head.kernel"):
        assert np.array_equal(written.read(place), kernel)
    other = graph.with_values({"head.kernel": [[1.0], [2.0]]})
    assert cv.graph(other.write(tmp_path / "other")).read("layers.dense.kernel").tolist() == [
        [1.0],
        [2.0],
    ]


def test_an_average_has_the_means_of_floats_and_the_last_integers(tmp_path: Path) -> None:
    result = _run("average", *_RUN, "--to", tmp_path / "mean")
    assert result.exit_code == 0, result.output
    mean = cv.graph(tmp_path / "mean")
    kernels, steps = [], []
    for path in _RUN:
        with h5py.File(path) as file:
            kernels.append(file["layers/dense/vars/0"][()].astype("float64"))
            steps.append(int(file["optimizer/vars/0"][()]))
    expected = np.mean(kernels, axis=0).astype("float32")
    assert np.array_equal(mean.read("layers.dense.kernel"), expected)
    assert steps[0] < steps[-1] == mean.read("optimizer.iteration")


def test_a_file_without_checksums_has_nothing_to_verify() -> None:
    result = _run("verify", _path("keras_h5"))
    assert result.exit_code == 2
    assert "Keras stores no checksums in this file" in result.output
    assert "live objects" not in result.output


def test_a_file_of_keras_is_no_program_that_restores() -> None:
    result = _run("check", _path("keras_h5"), _path("adam"))
    assert result.exit_code == 2
    assert "found a file of Keras as the program" in result.output
    assert "ckpt-viz diff" in result.output


@pytest.mark.parametrize(
    ("name", "is_model", "library"),
    [
        ("keras_weights", False, "keras"),
        ("keras_2_h5", True, "tf_keras"),
        ("keras_archive", True, "keras"),
    ],
)
def test_a_check_against_a_file_of_keras_names_what_loads_it(
    name: str, is_model: bool, library: str
) -> None:
    path = str(_path(name))
    check = cv.check(cv.graph(_path("adam")), path)
    assert check.raises is not None
    assert check.raises.type == "DataLossError"
    (finding,) = check.findings
    assert finding.kind is Kind.WRONG_PATH
    assert finding.remedy == LoadWithKeras(path, is_model, library=library)
    assert (f"{library}.saving.load_model(" in str(finding.remedy)) == is_model
    _assert_is_of_every_value(check.fix(), path)


@pytest.mark.tf
@pytest.mark.parametrize("name", _OF_KERAS)
def test_tensorflow_raises_what_the_check_of_a_program_predicts(name: str) -> None:
    import tensorflow as tf

    path = str(_path(name))
    program = tf.train.Checkpoint(v=tf.Variable(1.0))
    check = cv.check(program, path)
    with pytest.raises(tf.errors.DataLossError) as raised:
        program.restore(path)
    assert check.raises is not None
    assert check.raises.message == raised.value.message
    (finding,) = check.findings
    assert isinstance(finding.remedy, LoadWithKeras)
    _assert_is_of_every_value(check.fix(), path)


def _assert_is_of_every_value(fix: Any, path: str) -> None:
    """Assert that a fix places each data set of the file, or says that it does not."""
    nodes = cv.graph(path).nodes
    keys = {attribute.checkpoint_key for node in nodes for attribute in node.attributes}
    assert {*fix.pairs, *fix.unused} == keys


@pytest.mark.tf
@pytest.mark.parametrize("name", _OF_KERAS)
def test_tensorflow_reads_the_copy(name: str, tmp_path: Path) -> None:
    import tensorflow as tf

    graph = cv.graph(_path(name))
    reader = tf.train.load_checkpoint(graph.without("role:slot").write(tmp_path / "new"))
    keys = [key for key in reader.get_variable_to_shape_map() if _KERNEL in key]
    assert len(keys) == 1
    (kernel,) = [node for node in graph.find(_KERNEL) if graph.nodes[node].role.value == "variable"]
    stored = graph.read(graph.nodes[kernel].attributes[0].checkpoint_key)
    assert np.array_equal(reader.get_tensor(keys[0]), stored)


def test_the_code_of_a_copy_says_in_which_format_it_writes() -> None:
    shown = show_of(str(_path("keras_archive")))
    copied, _ = answer(shown, {"ask": "copy", "kind": "without", "nodes": [3]})
    assert copied["text"].endswith("# slim.write('model-slim')  # as a TensorFlow checkpoint\n")


def test_a_pattern_of_files_of_keras_is_a_history_in_the_order_of_their_numbers() -> None:
    history = cv.history(DIRECTORY / "keras_run" / "m.0[12]*.h5", progress=False)
    assert [one.title for one in history.sources] == [
        "m.01-12.58.weights.h5",
        "m.02-9.77.weights.h5",
    ]
    with pytest.raises(cv.CheckpointNotFoundError, match=r"no checkpoint .* fits"):
        cv.history(DIRECTORY / "keras_run" / "x*.h5")

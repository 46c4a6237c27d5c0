import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.object_graph.merge import merge
from tests.support.graphs import keras3_adam
from tests.support.saved_graphs import write_graph


def test_import_brings_neither_tensorflow_nor_jupyter() -> None:
    program = (
        "import sys, ckpt_viz; ckpt_viz.graph; "
        "sys.exit(', '.join({'tensorflow', 'IPython', 'ipywidgets', 'anywidget', 'graphviz'} "
        "& set(sys.modules)) or None)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_everything_public_is_there_and_documented() -> None:
    for name in cv.__all__:
        doc = getattr(cv, name).__doc__
        # A dataclass or a named tuple without a docstring gets its signature as one.
        assert doc and not doc.startswith(f"{name}("), name


def test_all_is_complete() -> None:
    assert sorted(cv._PLACES) == cv.__all__
    assert dir(cv) == sorted(cv.__all__)


def test_graph_of_a_graph_is_itself() -> None:
    adam = keras3_adam()
    assert cv.graph(adam) is adam


def test_show_diff_and_the_command_line_read_from_the_first_side_to_the_second() -> None:
    first, second = replace(keras3_adam(), title="first"), replace(keras3_adam(), title="second")
    shown = cv.show(first, against=second)
    assert shown.graph.title == cv.diff(first, second).overlay.graph.title == "first → second"
    assert isinstance(shown.comparison, cv.GraphDiff)
    assert (shown.comparison.a, shown.comparison.b) == (first, second)


def test_a_check_reads_from_the_checkpoint_to_the_program(tmp_path: Path) -> None:
    path = write_graph(tmp_path / "ckpt-1", keras3_adam())
    assert cv.check(path, path).overlay.graph.title == f"{path} → {path}"


@pytest.mark.tf
def test_a_check_reads_from_the_checkpoint_whichever_side_comes_first(tmp_path: Path) -> None:
    import tensorflow as tf

    live = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = live.write(str(tmp_path / "ckpt"))
    titles = {cv.show(*sides).graph.title for sides in ((live, path), (path, live))}
    assert titles == {f"{path} → Checkpoint"}


@pytest.mark.tf
def test_every_graph_that_a_user_gets_can_draw_itself(tmp_path: Path) -> None:
    import tensorflow as tf

    live = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = live.write(str(tmp_path / "ckpt"))
    checks = cv.check(live, path), cv.check(path, path)
    diff, explorer = cv.diff(live, path), cv.show(live, against=path)
    graphs = [graph for check in checks for graph in (check.live, check.saved)]
    for graph in (*graphs, diff.a, diff.b, explorer.graph):
        assert isinstance(graph, cv.ObjectGraph)
        assert (
            "v" in graph.to_svg()
            and graph.to_json()["nodes"]
            and "[variable]" in graph.to_text("objects")
        )


def test_merged_graph_keeps_what_its_base_is() -> None:
    adam = keras3_adam()
    merged = merge(adam, adam, {}).graph
    assert isinstance(merged, cv.ObjectGraph)
    assert (merged.origin, merged.provenance) == (adam.origin, adam.provenance)
    assert len(merged.nodes) == 2 * len(adam.nodes)

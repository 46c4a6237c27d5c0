"""The widget's Python half; tests/ui covers the browser."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import traitlets

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.layer_text import render_layers
from tests.support import live_objects
from tests.support.graphs import keras3_adam


def test_selection_is_a_node_of_the_graph() -> None:
    explorer = cv.show(keras3_adam())
    assert (explorer.selected, explorer.selected_node, explorer.selected_object) == (None,) * 3
    explorer.selected = 7
    assert explorer.selected_node is explorer.graph.nodes[7]
    assert explorer.selected_object is None


def test_a_node_is_selected_by_its_name_or_id() -> None:
    explorer = cv.show(keras3_adam())
    assert explorer.select("layer.bias") == explorer.selected == 8
    assert explorer.select(7) == explorer.selected == 7
    with pytest.raises(cv.NoSuchNodeError, match=r"found 'layer\.none'"):
        explorer.select("layer.none")
    assert explorer.selected == 7


def test_selection_outside_the_graph_is_refused() -> None:
    explorer = cv.show(keras3_adam())
    with pytest.raises(traitlets.TraitError, match="selected: found node id 11, expected 0 to 10"):
        explorer.selected = 11
    with pytest.raises(traitlets.TraitError, match="expanded: found node id -1"):
        explorer.expanded = [0, -1]


def test_query_and_mode_are_synced_and_a_query_may_be_any_text() -> None:
    explorer = cv.show(keras3_adam())
    assert (explorer.query, explorer.mode) == ("", "highlight")
    explorer.query, explorer.mode = 'role:foo "', "filter"
    assert {"query", "mode"} <= set(explorer.keys)
    with pytest.raises(traitlets.TraitError, match="mode"):
        explorer.mode = "hide"


@pytest.mark.tf
def test_selected_object_is_the_programs_own() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.kernel = tf.Variable(1.0)
    explorer = cv.show(module)
    explorer.selected = 1
    assert explorer.selected_object is module.kernel


@pytest.mark.tf
def test_picture_keeps_its_source_alive_but_not_what_was_replaced() -> None:
    import tensorflow as tf

    module = tf.Module()
    module.kernel = tf.Variable(1.0)
    graph = cv.graph(module)
    assert graph.object(1) is module.kernel
    module.kernel = tf.Variable(2.0)
    assert graph.object(1) is None
    del module
    assert graph.object(0) is not None


def test_output_holds_the_widget_and_a_snapshot_that_outlives_it() -> None:
    explorer = cv.show(keras3_adam())
    bundle = explorer._repr_mimebundle_()
    assert bundle is not None
    data = bundle[0]
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    snapshot = data[MIME_TYPE]
    assert snapshot["model_id"] == explorer.model_id
    assert base64.b64decode(snapshot["payload"]) == payload.encode(keras3_adam())
    assert data["text/plain"] == render_layers(keras3_adam())


def test_repr_is_one_line_without_the_payload() -> None:
    assert repr(cv.show(keras3_adam())) == (
        "<Explorer of test (saved checkpoint): 11 nodes: 5 object, 3 variable, 2 slot, 1 optimizer>"
    )


@pytest.mark.tf
def test_showing_a_file_imports_no_tensorflow(tmp_path: Path) -> None:
    prefix = live_objects.containers().write(str(tmp_path / "ckpt"))
    program = (
        "import sys, ckpt_viz as cv; cv.show(sys.argv[1]); sys.exit('tensorflow' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, prefix], check=True)


def test_explorer_is_saved_as_it_is(tmp_path: Path) -> None:
    explorer = cv.show(keras3_adam())
    explorer.selected, explorer.query = 7, "</script><script>"
    explorer.save_html(tmp_path / "explorer.html")
    page = (tmp_path / "explorer.html").read_text("utf-8")
    (state,) = re.findall(r'id="state">(.*?)</script>', page)
    saved = {"_edition": 0, "selected": {"of": 0, "ids": 7}, "expanded": None}
    saved |= {"query": explorer.query, "mode": "highlight", "view": None, "measure": None}
    assert json.loads(state) == saved | {"step": None}
    with pytest.raises(cv.CkptVizError, match="is a directory"):
        explorer.save_html(tmp_path)


def test_the_kernel_says_which_query_it_has() -> None:
    explorer = cv.show(keras3_adam())
    explorer.query = "layer"
    assert explorer._answer({"ask": "query"}) == ({"text": "layer"}, [])


def test_graphviz_is_sent_only_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = cv.show(keras3_adam())
    assert "hpcc-js" not in json.dumps(explorer.get_state(), default=str)
    said, (script,) = explorer._answer({"ask": "graphviz"})
    assert said == {}
    assert b"hpcc-js" in script
    monkeypatch.setattr("ckpt_viz.entrances.jupyter.widget._STATIC", Path("nowhere"))
    problem = "nowhere/graphviz.js is not built; run pip install to build it"
    assert explorer._answer({"ask": "graphviz"}) == ({"error": problem}, [])

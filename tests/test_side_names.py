"""What each side of a comparison calls the nodes of the merged graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.overlay import Overlay, State
from ckpt_viz.graphs.render.dot import to_dot
from ckpt_viz.live.sources.pictured import ObjectGraph
from tests.support.graphs import graph
from tests.support.programs import ckpt, module, saved, var

FAMILIES = ("keras", "tf_keras")
EDITS = (
    ("a b c", "a b c"),
    ("a b c", "a c"),
    ("a b c", "b c d"),
    ("a b c", "a new b c"),
    ("a b c", "c b a"),
    ("hidden logits", "hidden extra logits"),
    ("block_1 block_2 block_3", "block_2 block_3 block_4"),
    ("net_1_conv net_1_norm net_2_conv net_2_norm", "net_2_conv net_2_norm net_3_conv net_3_norm"),
)


def _dense(family: str, names: str) -> Any:
    """Return a model with a layer for each name; the first layer's kernel is all 1, and so on."""
    keras = pytest.importorskip(family)
    inputs = outputs = keras.Input((2,))
    for name in names.split():
        outputs = keras.layers.Dense(2, name=name)(outputs)
    model = keras.Model(inputs, outputs)
    for number, layer in enumerate(model.layers[1:], 1):
        layer.kernel.assign(np.full((2, 2), number))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("was", "now"), EDITS)
def test_a_row_has_the_same_layer_of_both_sides_and_says_whose_value_a_restore_brings(
    family: str, was: str, now: str, tmp_path: Path
) -> None:
    path = saved(tmp_path, model=_dense(family, was))
    model = _dense(family, now)
    live = ckpt(model=model)
    overlay = cv.check(live, path).overlay
    for layer in model.layers[1:]:
        layer.kernel.assign(np.zeros((2, 2)))
    live.restore(path).expect_partial()
    brought = {layer: int(layer.kernel.numpy()[0, 0]) for layer in model.layers[1:]}
    assert any(brought.values())
    assert overlay.passes or overlay.problems  # each failure has a reason
    marks, named = overlay.marks, was.split()
    sources = {mark.goes_to: node for node, mark in enumerate(marks) if mark.goes_to is not None}
    for layer, number in brought.items():
        node = _node_of(overlay, layer)
        in_file = overlay.names.name_in_other(node)
        assert in_file == layer.name or layer.name not in named
        # Rows in a block leave out its name.
        assert not in_file or in_file.endswith(_saved_title(overlay, node))
        kernel = _node_of(overlay, layer.kernel)
        gets_own = marks[kernel].state is State.MATCHED
        source = kernel if gets_own else sources.get(kernel)
        assert _layer_in_file(overlay, source) == (named[number - 1] if number else "")


def _node_of(overlay: Overlay, layer: Any) -> int:
    graph = overlay.graph
    return next(n for n in range(overlay.base_size) if graph.object(n) is layer)


def _layer_in_file(overlay: Overlay, kernel: int | None) -> str:
    """Return the layer in the file that holds the saved value of a node; "" for no node."""
    if kernel is None:
        return ""
    *_, layer, name = overlay.names.place_in_other(kernel).split(".")
    assert name == "kernel"
    return layer


def _saved_title(overlay: Overlay, node: int) -> str:
    row = overlay.layers.shown_in[node]
    return overlay.saved_titles.get(row, overlay.layers.title(row))


def test_what_the_checkpoint_alone_has_keeps_its_names(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(old=module(w=var(), gone=module(deep=var()))))
    overlay = cv.check(ckpt(net=module(new=module(w=var([1.0])))), path).overlay
    alone = range(overlay.base_size, len(overlay.graph.nodes))
    assert [overlay.names.place(n) for n in alone] == [
        "save_counter",
        "net.old.gone",
        "net.old.gone.deep",
    ]


def test_groups_have_the_ends_that_each_side_names(tmp_path: Path) -> None:
    path = saved(tmp_path, model=_dense("keras", "dense dense_1 dense_2"))
    overlay = cv.check(ckpt(model=_dense("keras", "dense_7 dense_8 dense_9")), path).overlay
    (group,) = (row for row in overlay.layers.preorder() if overlay.layers.group(row))
    assert overlay.layers.title(group) == "dense_7 … dense_9"
    assert overlay.saved_titles[group] == "dense … dense_2"


def test_a_run_of_blocks_has_two_ends_on_the_other_side(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    names = [f"b{block}_{layer}" for block in range(3) for layer in ("norm", "up", "down")]
    layers = keras.layers
    made = [layers.LayerNormalization if "norm" in name else layers.Dense for name in names]
    model = keras.Sequential([keras.Input((4,))])
    for make, name in zip(made, names, strict=True):
        model.add(make(name=name) if make is layers.LayerNormalization else make(4, name=name))
    path = ckpt(model=model).save(str(tmp_path / "ckpt"))
    model.save_weights(str(tmp_path / "m.weights.h5"))
    overlay = cv.diff(path, tmp_path / "m.weights.h5").overlay
    assert max(title.count("…") for title in overlay.saved_titles.values()) == 1
    assert "model.b0_norm … model.b2_down" in str(cv.diff(path, tmp_path / "m.weights.h5"))


@pytest.mark.parametrize(
    ("saved_side", "live_side", "place"),
    [
        (("(root).head", (1,)), ("(root).b", (2,)), "head → b"),
        (("(root).head", (1,)), (None, (2,)), "head"),
        ((None, (1,)), ("(root).b", (2,)), "b"),
        (("(root).head", (1,)), ("(root).other", ()), "head → other"),
        (("(root).other", (2,)), ("(root).b", (2,)), "b"),
        ((None, ()), (None, ()), ""),
    ],
)
def test_a_place_has_both_sides_if_they_differ(saved_side: Any, live_side: Any, place: str) -> None:
    live, was = (graph({0: {name: 1, "b": 2}}, (1, 2)) for name in ("a", "head"))
    names = SideNames(live, was, {1: 1, 2: 2})
    assert names.place_of_both(saved_side, live_side) == place


def _layer(name: str, *values: str) -> ObjectGraph:
    """Return a layer of a list, which only the full names of its variables name."""
    edges = {0: {"model": 1}, 1: {"_layers": 2}, 2: {"0": 3}}
    below = {value: place for place, value in enumerate(values, 4)}
    listed = graph({**edges, 3: below}, tuple(below.values()))
    nodes = [*listed.nodes]
    for value, node in below.items():
        (stored,) = nodes[node].attributes
        named = stored._replace(full_name=f"{name}/{value}", shape=(3,))
        nodes[node] = nodes[node]._replace(attributes=(named,))
    return replace(listed, nodes=tuple(nodes))


def test_what_one_side_alone_has_is_named_as_there() -> None:
    diff = cv.diff(_layer("was", "kernel", "bias"), _layer("now", "kernel"))
    explorer = cv.show(diff.a, against=diff.b)
    (bias,) = (i for i, label in enumerate(explorer.graph.tree.labels) if label == "bias")
    assert "model.was  in a (root).model._layers.0" in str(diff.details)
    assert "a: was; change: only in a" in diff.to_svg()
    drawn = to_dot(diff.overlay.graph, diff.overlay).source
    assert "model.was.bias at (root).model._layers.0.bias" in drawn
    assert explorer.select("model.was.bias") == explorer.select("was.bias") == bias
    assert explorer.find("model/was/bias") == explorer.find("was.bias") == (bias,)
    assert explorer.select("model.was.kernel") != explorer.select("model.now.kernel")
